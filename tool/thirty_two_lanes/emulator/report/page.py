"""A run as a page in a notebook, like a profiler's source page: the kernel's own lines
with their counts, a sentence of advice below each bad one, and the races, each with
both of its lines and its remedy.

A sign says the same as a colour. Colours are translucent, so that they work on a light
page and on a dark one.
"""

import re
from functools import cache
from html import escape

from thirty_two_lanes.core.pages.html import (
    LEFT,
    SIGNS,
    STYLE,
    below,
    code,
    scroller,
    sign,
    source_code,
)
from thirty_two_lanes.core.warp_races import NOUNS, within_warps
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.emulator.report.columns import columns_of, place_of
from thirty_two_lanes.emulator.report.findings import findings_of
from thirty_two_lanes.emulator.report.text import minor_of, sentence

MEANINGS = {
    "wrong": "can give wrong answers",
    "costly": "costs at least 1.5 times the ideal",
    "slight": "costs less than 1.5 times the ideal, or is a minor race",
}
MOST_RACES = 8


def as_html(run, lessons=()) -> str:
    """The sentence, the source page, the races, the notes and what the signs mean.

    `lessons` are names of notebooks, to which topics that they treat become links.
    """
    found = findings_of(run)
    races, groups = run.races[:MOST_RACES], within_warps(run.races.minor)
    told = {race.case for race in races} | {it.finding.same for it in groups}
    topic = lesson("races", lessons)
    parts = [
        f"<div>{escape(sentence(run))}</div>",
        table(run, found, told, lessons),
        *further_findings(it for it in found if it.same not in told),
        *(race_html(race, "wrong", topic) for race in races),
        *(warp_html(group, topic) for group in groups),
        folded([race_html(it, "slight") for it in minor_of(run)], "minor race"),
        folded([f"<div>{note_of(it)}</div>" for it in run.warnings if it.note], "note"),
    ]
    page = "".join(parts)
    style = f"<style>{' '.join(STYLE.split())}</style>"
    return f"<div class='run-page'>{style}{page}{legend(page)}</div>"


def table(run, found, told, lessons=()) -> str:
    """The kernel's lines, and then those of device functions, with their counts; `told`
    are the races whose remedy stands below, by what tells them from others.
    """
    columns = columns_of(run, found)
    advice_at, shown = advice_by_place(found, told, lessons), set()
    sites = [site for column in columns for site in column.sites]
    sites += [site for it in found for site in (it.site, it.also) if site is not None]
    lines = kernel_lines(run.source)
    apart = {place_of(it): it.text for it in sites if place_of(it) not in lines}
    if not sites:
        return ""
    names = "".join(f"<th>{escape(column.name)}</th>" for column in columns)
    head = f"<td></td><td></td><th class='s' {LEFT}>source</th>{names}"
    body = [rows_of(at, text, columns, advice_at, shown) for at, text in lines.items()]
    title = None
    for at, text in sorted(apart.items(), key=lambda it: (it[0][2] or 0, it[0])):
        if at[2] and title_of(at, run.source) != title:
            title = title_of(at, run.source)
            what = f"<i>{escape(title)}</i>"
            body.append(f"<tr><td></td>{below(what, columns)}</tr>")
        body.append(rows_of(at, text, columns, advice_at, shown))
    rows = "".join(body)
    table = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return scroller(table, len(columns))


def title_of(at, source) -> str:
    """What lines of a device function stand below."""
    file, _, caller = at
    where = "" if source is None or file == source.file else f" of {file}"
    return f"in a device function{where}, called from line {caller}"


def kernel_lines(source) -> dict:
    """The kernel's source, line by line, by the place of each."""
    if source is None:
        return {}
    numbered = enumerate(source.lines, source.first)
    return {(source.file, number, None): text for number, text in numbered}


def advice_by_place(found, told, lessons) -> dict:
    """The level of each line's worst finding, and the advice of the worst that is not
    told elsewhere.
    """
    advice_at = {}
    for finding in found:
        topic = lesson(finding.topic, lessons)
        here = finding.level != "slight" and finding.same not in told
        shown = here and finding.advice
        advice = f"{code(finding.advice)} {topic}".strip() if shown else ""
        level, known = advice_at.get(place_of(finding.site), (finding.level, ""))
        advice_at[place_of(finding.site)] = level, known or advice
        if finding.also is not None:
            advice_at.setdefault(place_of(finding.also), (finding.level, ""))
    return advice_at


def rows_of(at, text, columns, advice_at, shown) -> str:
    """A line with its counts, and a row with its advice if it is not shown above."""
    level, advice = advice_at.get(at, ("", ""))
    counts = "".join(cell(column.cells.get(at, ())) for column in columns)
    row = (
        f"<tr><td class='n'>{at[1]}</td><td class='n'>{sign(level, MEANINGS)}</td>"
        f"<td class='s {level}' {LEFT}>{source_code(text)}</td>{counts}</tr>"
    )
    if advice and advice not in shown:
        shown.add(advice)
        row += f"<tr><td></td>{below(advice, columns)}</tr>"
    return row


def cell(marks) -> str:
    """A cell with a line for each mark, in the worst one's colour."""
    levels = [level for level in SIGNS if level in {it[1] for it in marks}]
    texts = (f"{sign(level, MEANINGS)} {escape(text)}".strip() for text, level in marks)
    name = f" class='{levels[0]}'" if levels else ""
    return f"<td{name}>{'<br>'.join(texts)}</td>"


@cache
def lessons_in(folder) -> tuple[str, ...]:
    """The names of the lessons in a folder, as they were at the first look."""
    return tuple(sorted(file.name for file in folder.glob("[0-9]*_*.ipynb")))


def lesson(topic, lessons) -> str:
    """A link to the first of the lessons that treat a topic; "" where none does."""
    words = set(topic.split())
    for name in lessons:
        if words <= set(re.split("[_.]", name)):
            return f"<i>Lesson: <a href='{escape(name)}'>{topic}</a></i>"
    return ""


def race_html(race, level, topic="") -> str:
    """A race: both lines, who does what to which cell, and what would order them."""
    rows = "".join(
        f"<tr><td class='n'>line {site.line}</td><td class='s {level}' {LEFT}>"
        f"{source_code(site.text)}</td><td {LEFT}>{escape(access)}</td></tr>"
        for site, access in race.accesses
    )
    return (
        f"<div>{sign(level, MEANINGS)} {code(race.title)}"
        f"{scroller(f'<tbody>{rows}</tbody>', 3)}{remedy_of(race, topic)}</div>"
    )


def remedy_of(race, topic) -> str:
    """What would order a race's accesses, and the lesson on it, if one is here."""
    return f"{code(race.remedy)}. {topic}".strip()


def warp_html(group, topic) -> str:
    """Races within a warp: what would order the lanes, and each of them, folded."""
    if len(group.races) == 1:
        return race_html(group.races[0], "wrong", topic)
    each = folded([race_html(race, "wrong") for race in group.races], *NOUNS)
    told = f"{code(group.title)}. {remedy_of(group, topic)}"
    return f"<div>{sign('wrong', MEANINGS)} {told}{each}</div>"


def further_findings(found):
    """Findings on lines that show another one's advice, or none since they are slight,
    and that no column shows.
    """
    seen = set()
    for finding in found:
        if finding.topic in ("coalescing", "bank conflicts"):
            continue
        at, slight = place_of(finding.site), finding.level == "slight"
        text = finding.what if slight else finding.advice
        if (slight or at in seen) and finding.topic != "races" and text:
            mark = sign(finding.level, MEANINGS)
            yield f"<div>{mark} line {finding.site.line}: {code(text)}</div>"
        if not slight:
            seen.add(at)


def folded(items, *nouns) -> str:
    """A folded list, with its count."""
    if not items:
        return ""
    summary = f"<summary>{counted(len(items), *nouns)}</summary>"
    return f"<details>{summary}{''.join(items[:MOST_RACES])}</details>"


def note_of(warning) -> str:
    """A note, as a sentence."""
    return f"{code(warning.text[:1].upper() + warning.text[1:])}."


def legend(page) -> str:
    """What the signs that are on a page mean."""
    used = [level for level in SIGNS if SIGNS[level] in page]
    text = " · ".join(f"{SIGNS[level]} {MEANINGS[level]}" for level in used)
    return f"<div class='n'>{text}</div>" if used else ""

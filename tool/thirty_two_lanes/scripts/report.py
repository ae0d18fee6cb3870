"""What the launches of a program did, as text, as a page and as data."""

import sys
from html import escape
from textwrap import indent

from thirty_two_lanes.core.words import counted
from thirty_two_lanes.emulator.report.page import as_html
from thirty_two_lanes.emulator.report.text import as_text
from thirty_two_lanes.scripts.kinds import NOUNS
from thirty_two_lanes.scripts.told import place_of_error, places_of

VERSION = 1  # of the JSON file, which report.schema.json beside this file describes
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em;
padding: 0 1em; color: #1f2328; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin-top: 2em }
.shape { overflow-x: auto } pre { white-space: pre-wrap }
@media (prefers-color-scheme: dark) {
body { color: #e6edf3; background: #0d1117 } }
"""


def level_of(shape, fail_on) -> str:
    """How bad it is: "wrong" fails the program, and "stopped" ended with an error."""
    if shape.kinds.intersection(fail_on):
        return "wrong"
    if shape.stops:
        return "stopped"
    if not shape.judged:
        return "not judged"
    levels = {sighting.finding.level for sighting in shape.seen.values()}
    if "wrong" in levels:
        return "doubtful"
    return "costly" if "costly" in levels else "fine"


def heading(shape) -> str:
    """The kernel, where it is, and how often it was launched with this shape."""
    many = launches(shape.launches)
    if shape.judged < shape.launches:
        many += f", of which {shape.judged:,} judged"
    brackets = f"[{_short(shape.blocks)}, {_short(shape.threads)}]"
    return f"{shape.kernel} ({shape.place}), {brackets}: {many}"


def launches(number) -> str:
    """A number of launches."""
    return counted(number, "launch", "launches")


def _short(sizes) -> str:
    """Sizes along the axes, without the last ones that are 1."""
    axes = max((n + 1 for n, size in enumerate(sizes) if size > 1), default=1)
    return str(sizes[0]) if axes == 1 else str(tuple(sizes[:axes]))


def shape_as_text(shape, fail_on) -> str:
    """The report of one kernel and shape."""
    lines = [f"{level_of(shape, fail_on)}: {heading(shape)}"]
    lines += [indent(stop, "  ") for stop in _stops(shape)]
    if shape.run is not None:
        lines += [indent(as_text(shape.run), "  ")]
    lines += [indent(sentence, "  ") for sentence in _elsewhere(shape)]
    return "\n".join(lines)


def _stops(shape) -> list[str]:
    """The errors that ended launches."""
    return [
        f"{kind}: {sentence}" + (f"\n(in {launches(count)})" if count > 1 else "")
        for (kind, sentence), count in shape.stops.items()
    ]


def _elsewhere(shape) -> list[str]:
    """What other launches than the one that is shown had; or before all stopped."""
    where = ["in another launch", "in other launches"]
    if shape.run is None:
        where = 2 * ["before that"]
    return [
        f"{where[seen.launches > 1]}: {seen.finding.site.label}: {seen.finding.what}"
        for seen in shape.elsewhere()
    ]


def as_lines(ledger, fail_on) -> str:
    """The whole report, worst first, and what it comes to."""
    shapes = [shape_as_text(shape, fail_on) for shape in ledger.worst_first()]
    return "\n\n".join([*shapes, total(ledger, fail_on)])


def total(ledger, fail_on) -> str:
    """What was launched and found, in one sentence."""
    shapes = ledger.shapes.values()
    if not shapes:
        return "No kernel was launched."
    number = sum(shape.launches for shape in shapes)
    judged = sum(shape.judged for shape in shapes)
    kernels = counted(len({(s.kernel, s.place) for s in shapes}), "kernel")
    some = "" if judged == number else f", {judged:,} of them judged"
    return f"{kernels}, {launches(number)}{some}: {found(ledger, fail_on)}."


def found(ledger, fail_on) -> str:
    """How much was found of what is wrong or fails the program, by kind."""
    counts = ledger.counts()
    kinds = [kind for kind in ledger.kinds if kind in NOUNS or kind in fail_on]
    nouns = {kind: (f"line of {kind}", f"lines of {kind}") for kind in kinds} | NOUNS
    said = [counted(counts[kind], *nouns[kind]) for kind in kinds if counts[kind]]
    return ", ".join(said) or "nothing wrong"


def as_page(ledger, fail_on, title) -> str:
    """The whole report as a page of its own."""
    parts = [_section(shape, fail_on) for shape in ledger.worst_first()]
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{escape(title)}</h1><p>{escape(total(ledger, fail_on))}</p>"
        f"{''.join(parts)}</main></body></html>\n"
    )


def _section(shape, fail_on) -> str:
    """One kernel and shape on the page."""
    parts = [f"<pre>{escape(stop)}</pre>" for stop in _stops(shape)]
    if shape.run is not None:
        parts += [as_html(shape.run)]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in _elsewhere(shape)]
    name = f"{level_of(shape, fail_on)}: {heading(shape)}"
    region = f"class='shape' role='region' tabindex='0' aria-label='{escape(name)}'"
    return f"<h2>{escape(name)}</h2><div {region}>{''.join(parts)}</div>"


def as_data(ledger, fail_on, title, paths) -> dict:
    """The whole report as plain data, which JSON can hold; `paths` name its files."""
    counts = ledger.counts()
    return {
        "version": VERSION,
        "program": title,
        "failed": any(counts[kind] for kind in fail_on),
        "counts": {kind: counts[kind] for kind in ledger.kinds},
        "kernels": [_as_data(it, fail_on, paths) for it in ledger.worst_first()],
    }


def _as_data(shape, fail_on, paths) -> dict:
    return {
        "kernel": shape.kernel,
        "place": shape.place,
        "blocks": list(shape.blocks),
        "threads": list(shape.threads),
        "launches": shape.launches,
        "judged": shape.judged,
        "level": level_of(shape, fail_on),
        "findings": [_finding(sighting, paths) for sighting in shape.seen.values()],
        "stops": [
            {
                "kind": kind,
                "sentence": sentence,
                "launches": count,
                "places": [place_of_error(shape, sentence, paths)._asdict()],
            }
            for (kind, sentence), count in shape.stops.items()
        ],
        "worst": shape.run.to_dict() if shape.run is not None else None,
    }


def _finding(sighting, paths) -> dict:
    finding, site = sighting.finding, sighting.finding.site
    return {
        "kind": sighting.kind,
        "level": finding.level,
        "file": site.file,
        "line": site.line,
        "text": site.text,
        "what": finding.what,
        "advice": finding.advice,
        "launches": sighting.launches,
        "places": [place._asdict() for place in places_of(finding, paths)],
    }


def say(text, stream=None):
    """Print a text, with what the stream cannot show as question marks."""
    stream = stream or sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), file=stream, flush=True)

"""The page for teachers: what it says of each lesson is what the lesson says."""

import re

import pytest

from lessons.publishing.contents import promise
from lessons.publishing.convert import lessons_of
from tests.paths import ROOT

PAGE = (ROOT / "docs/TEACHING.md").read_text("utf-8")
ROW = re.compile(r"^\| (\d\d) \| (\d+) \| (.*?) \|", re.MULTILINE)
ROWS = {row[1]: row for row in ROW.finditer(PAGE)}
TIMED = re.compile(r"^\| (\d+:\d\d) \| (\d+) \| (.+) \|", re.MULTILINE)
PLANS = {
    part.partition("\n")[0]: TIMED.findall(part) for part in PAGE.split("\n### ")[1:]
}
PARTS = re.compile(r'\b(\d\d): "([^"]+)"(?: to "([^"]+)")?')
LESSONS = {it.stem[:2]: it for it in lessons_of(ROOT)}


def sections(lesson) -> dict:
    """How many words each section has, in their order; "" is what comes before."""
    first, *rest = re.split("^# ## (.+)$", lesson.read_text("utf-8"), flags=re.M)
    texts = {"": first, **dict(zip(rest[::2], rest[1::2], strict=True))}
    return {name: len(re.findall(r"\w+", text)) for name, text in texts.items()}


def needed(row) -> set:
    """The lessons of a row's third column."""
    asked = set(re.findall(r"\d\d", row[3]))
    if "to" in row[3]:
        asked = {it for it in ROWS if min(asked) <= it <= max(asked)}
    return asked


@pytest.mark.parametrize("number", sorted(ROWS.keys() & LESSONS.keys()))
def test_each_lesson_has_its_minutes_and_what_it_needs(number):
    """The lessons that it needs are those that its first cell links to."""
    row, said = ROWS[number], promise(LESSONS[number])
    linked = {it for it in re.findall(r"\((\d\d)_\w+\.ipynb\)", said.need)}
    assert said.minutes == int(row[2])
    assert linked == needed(row)


def test_no_lesson_is_named_that_is_not_there():
    """A lesson that is planned is not promised."""
    assert set() == set(ROWS) - set(LESSONS)


@pytest.mark.parametrize("plan, ends", [("Two hours", 120), ("A day", 16 * 60)])
def test_a_plan_goes_by_the_clock(plan, ends):
    """Each row begins when the one before it ends."""
    clock = None
    for begins, minutes, _ in PLANS[plan]:
        hours, rest = map(int, begins.split(":"))
        assert clock in (None, 60 * hours + rest)
        clock = 60 * hours + rest + int(minutes)
    assert ends == clock


def test_each_part_of_a_plan_has_half_as_much_again_as_its_words_take():
    """Of its lesson's minutes, by its share of the lesson's words."""
    told = [it for rows in PLANS.values() for it in rows if PARTS.search(it[2])]
    assert 12 == len(told)
    for _, minutes, what in told:
        number, first, last = PARTS.search(what).groups()
        words = sections(LESSONS[number])
        names = list(words)
        taken = names[names.index(first) : names.index(last or first) + 1]
        share = sum(words[it] for it in taken) / sum(words.values())
        assert int(minutes) >= 1.5 * share * int(ROWS[number][2]), what


def test_sections_that_the_page_names_besides_are_there():
    """Those to fall back on, of 14 and 15."""
    prose = re.sub(r"^\|.*$", "", PAGE.partition("## Before")[0], flags=re.M)
    named = set(re.findall(r'"([^"]+)"', prose))
    known = {name for it in ("13", "14", "15") for name in sections(LESSONS[it])}
    assert 6 <= len(named)
    assert set() == named - known


@pytest.mark.parametrize("plan", ["Two hours", "A day"])
def test_who_begins_a_lesson_has_had_what_it_needs(plan):
    """A part that does not begin a lesson stands for itself."""
    had = set()
    for number, first, _ in (it for row in PLANS[plan] for it in PARTS.findall(row[2])):
        if first == list(sections(LESSONS[number]))[1]:
            assert needed(ROWS[number]) <= had, number
        had.add(number)


def test_a_term_has_each_lesson_after_what_it_needs():
    """And leaves out some, which are said to be for projects."""
    left = re.search(r"^(.+) are for projects", PAGE, re.M)[1]
    weeks = re.findall(r"^\| \d+ \| (\d\d.*?) \|", PAGE.partition("## Before")[0], re.M)
    had = []
    for week in weeks:
        for number in re.findall(r"\b\d\d\b", week):
            assert needed(ROWS[number]) <= {*had}, number
            had.append(number)
    assert 14 == len(weeks)
    assert set(re.findall(r"\d\d", left)) == set(ROWS) - {*had}

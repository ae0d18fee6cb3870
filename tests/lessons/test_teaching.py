"""The page for teachers: what it says of each lesson is what the lesson says."""

import re

import pytest

from lessons.publishing.contents import promise
from lessons.publishing.convert import lessons_of
from tests.paths import ROOT

PAGE = (ROOT / "docs/TEACHING.md").read_text("utf-8")
ROW = re.compile(r"^\| (\d\d) \| (\d+) \| (.*?) \|", re.MULTILINE)
ROWS = {row[1]: row for row in ROW.finditer(PAGE)}


@pytest.mark.parametrize("lesson", lessons_of(ROOT), ids=lambda it: it.stem)
def test_each_lesson_has_its_minutes_and_what_it_needs(lesson):
    """The lessons that it needs are those that its first cell links to."""
    row, said = ROWS[lesson.stem[:2]], promise(lesson)
    linked = {it for it in re.findall(r"\((\d\d)_\w+\.ipynb\)", said.need)}
    asked = set(re.findall(r"\d\d", row[3]))
    if "to" in row[3]:
        asked = {it for it in ROWS if min(asked) <= it <= max(asked)}

    assert said.minutes == int(row[2])
    assert linked == asked


def test_no_lesson_is_named_that_is_not_there():
    """A lesson that is planned is not promised."""
    assert {it.stem[:2] for it in lessons_of(ROOT)} == set(ROWS)

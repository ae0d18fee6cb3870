"""The parts of the course, and the index and the table that are made of them."""

import re

import nbformat
import pytest

from lessons.build import main
from lessons.publishing.convert import lessons_of
from lessons.publishing.errors import LessonError
from lessons.publishing.parts import parts_of
from tests.lessons.courses import course
from tests.paths import ROOT

LINK = re.compile(r"\]\(([^)]+\.ipynb)\)")
PARTS = """\
[[part]]
title = "To begin"
[part.lessons]
01_one = "loops"
"""


@pytest.fixture
def one(tmp_path):
    """A course of one lesson, in one part."""
    made = course(tmp_path, _01_one="")
    (made / "lessons/parts.toml").write_text(PARTS)
    return made


def test_the_course_has_four_parts_with_each_lesson_in_its_order():
    """Each has words, which its title lacks."""
    parts = parts_of(ROOT, lessons_of(ROOT))

    assert [1, 2, 3, 4] == [part.number for part in parts]
    assert lessons_of(ROOT) == [it for part in parts for it in part.lessons]
    assert all(part.words[it.stem] for part in parts for it in part.lessons)


@pytest.mark.parametrize("text", ['02_two = "?"', ""])
def test_a_lesson_without_words_is_named(one, text):
    """A new lesson needs them; a table without a lesson is out of date."""
    stem = "02_two" if text else "01_one"
    kept = PARTS if text else PARTS.replace('01_one = "loops"', "")
    (one / "lessons/parts.toml").write_text(kept + text)

    with pytest.raises(LessonError, match=f"one part; look at {stem}$"):
        parts_of(one, lessons_of(one))


def test_the_index_leads_to_each_notebook_that_there_is():
    """To lessons, exercises, solutions and the glossary, and to nothing else."""
    cells = nbformat.read(ROOT / "notebooks/index.ipynb", 4).cells
    links = LINK.findall("\n".join(cell.source for cell in cells))
    folder = ROOT / "notebooks"
    there = [*folder.glob("*.ipynb"), *folder.glob("[as]*s/*.ipynb")]
    names = {it.relative_to(folder).as_posix() for it in there}

    assert names - {"index.ipynb"} == set(links)
    assert len(links) == len(set(links))


def test_a_build_writes_the_words_beside_the_title(one, capsys):
    """Into the index and the README; a check says where they are not."""
    assert main([], one) == 0
    row = "| [Add two numbers](01_one.ipynb) | loops | 5 |  |  |"
    cells = nbformat.read(one / "notebooks/index.ipynb", 4).cells
    assert row in cells[1].source.splitlines()
    readme = (one / "README.md").read_text()
    assert "### 1. To begin\n" in readme
    assert "| [Add two numbers](notebooks/01_one.ipynb)<br>*loops* | add" in readme

    (one / "lessons/parts.toml").write_text(PARTS.replace("loops", "turns"))
    assert main(["--check"], one) == 1
    said = capsys.readouterr().err
    assert "notebooks/index.ipynb is out of date" in said
    assert "README.md has an outdated table" in said

"""The glossary: each term that a lesson explains, in a sentence, with its lesson."""

import re
import tomllib

import nbformat
import pytest

from lessons.build import main
from lessons.publishing.convert import lessons_of
from lessons.publishing.errors import LessonError
from lessons.publishing.glossary import SOURCE, first_lessons, glossary, key
from tests.lessons.courses import README
from tests.paths import ROOT

SENTENCES = tomllib.loads(SOURCE.read_text("utf-8"))
LESSON = """\
# %% [markdown]
# # A title
#
# *5 minutes*
#
# **What you'll do:** one.
#
# **What you'll learn:**
#
# - two
#
# **What you'll need:** three.

# %% [markdown]
# A **{}** is explained here, and **Each thread adds one up.** is an idea.
#
# ## Why is it so?
#
# As a **widget** is.
"""


@pytest.fixture
def course(tmp_path):
    """A course of one lesson, which explains a gadget."""
    (tmp_path / "lessons").mkdir()
    (tmp_path / "lessons/01_first.py").write_text(LESSON.format("gadget"))
    return tmp_path


def made(course, text):
    """The glossary's text, of the sentences in a text."""
    source = course / "lessons/glossary.toml"
    source.write_text(text)
    return glossary(lessons_of(course), source).cells[0].source


def test_a_term_leads_to_the_lesson_that_explains_it(course):
    """Whether it stands there in the singular or not."""
    found = made(course, 'gadgets = "Things."\nwidget = "Another."')

    assert "**gadgets**: Things. [A title](01_first.ipynb)\n" in found
    assert "**widget**: Another. [A title](01_first.ipynb#Why-is-it-so?)" in found


def test_a_term_that_no_lesson_explains_is_refused(course):
    """A sentence alone explains nothing."""
    with pytest.raises(LessonError, match=r"no lesson sets \*\*grommet\*\* in bold"):
        made(course, 'gadget = "A thing."\ngrommet = "Another."')


def test_a_term_without_a_sentence_is_refused(course):
    """Who sets a term in bold adds its sentence."""
    with pytest.raises(LessonError, match="has no sentence for gadget, widget"):
        made(course, "")


@pytest.mark.slow
def test_the_build_writes_it_and_the_check_sees_when_it_is_old(course, capsys):
    """As with the notebooks of the lessons."""
    (course / "README.md").write_text(README)
    made(course, 'gadget = "A thing."\nwidget = "Another."')
    assert 0 == main([], course)
    place = course / "notebooks/glossary.ipynb"
    assert "A thing." in place.read_text()

    made(course, 'gadget = "A good thing."\nwidget = "Another."')

    assert 1 == main(["--check"], course)
    assert "glossary.ipynb is out of date" in capsys.readouterr().err


def test_the_committed_glossary_is_what_the_lessons_make_it():
    """And each term is there once."""
    stored = nbformat.read(ROOT / "notebooks/glossary.ipynb", 4).cells[0].source

    assert glossary(lessons_of(ROOT)).cells[0].source == stored
    assert sorted({key(term) for term in SENTENCES}) == sorted(map(key, SENTENCES))
    assert first_lessons(lessons_of(ROOT)).keys() == set(map(key, SENTENCES))


@pytest.mark.parametrize("term", SENTENCES)
def test_a_sentence_is_one_and_short(term):
    """It ends, does not begin with its own term, and can be taken in at once."""
    sentence = SENTENCES[term]

    assert sentence.endswith(".") and not re.search(r"\w\. [A-Z]", sentence)
    assert len(sentence.split()) <= 35
    assert not sentence.casefold().startswith(key(term))

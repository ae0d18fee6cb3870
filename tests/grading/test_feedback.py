"""What a learner and an instructor read of marks."""

import re
from html.parser import HTMLParser

import pytest

from helpers.grading.__main__ import main
from helpers.grading.worker import shown
from tests.grading.attacks import CHECK, HEAD, RIGHT, WRONG
from tests.grading.handing_in import course, grade, hand_in

WORDS = "A request of a whole warp is served by eight sectors and not by nine of them."
PREDICTED = "active_share = {16: 0.5, 48: 1, 96: 'all'}"
EVIL = WRONG.replace(
    "    rows, cols", "    # </pre><script>alert(1)</script>\n    rows, cols"
)
ASKED = "mirror", "active_share", "offset_or_stride"


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """A folder with marks and feedback of four people."""
    folder = tmp_path_factory.mktemp("course")
    told = f"offset_or_stride = {WORDS!r}"
    people = {
        "ann": ([HEAD, RIGHT, CHECK, PREDICTED, told], []),
        "bob": ([HEAD, EVIL, CHECK, "1 / 0", "active_share = 0.5"], []),
        "c<b>": ([HEAD, "import os; os._exit(1)"], []),
    }
    course(folder, people, ASKED)
    hand_in(folder, "dee", "no notebook")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADING_AS_ROOT", "1")
        grade(folder)
    release = str(folder / "release")
    assert 0 == main(["feedback", str(folder / "marks"), "--release", release])
    return folder / "marks"


def page(marked, student, suffix=".md") -> str:
    return (marked / student / f"one{suffix}").read_text("utf-8")


def test_the_page_of_a_right_answer_says_what_it_earned(marked):
    """Task, answer, points; a prediction as it would be written in Python."""
    text = page(marked, "ann")
    assert "# one: 2.33 of 7 points" in text.replace("2.3333", "2.33")
    assert "## mirror: 2 of 2 points" in text
    assert "out[row, cols - 1 - col] = a[row, col]" in text
    assert "{16: 0.5, 48: 1, 96: 'all'}" in text
    assert "## offset_or_stride: 3 points, for a person" in text
    assert WORDS in text


def test_the_page_of_a_wrong_answer_has_the_report_and_one_hint(marked):
    """And the cell that ended with an error, in words."""
    text = page(marked, "bob")
    assert "## mirror: 0 of 2 points" in text
    assert "values differ" in text
    assert 1 <= text.count("Hint: ") <= 3
    assert "Cell 4 ended with an error:\n\n    ZeroDivisionError: div" in text


def test_the_page_of_who_ended_early_says_so(marked):
    """What came after that was not run."""
    assert "cells after that were not run" in page(marked, "c<b>")


def test_the_page_of_what_is_not_graded_gives_no_points(marked):
    """It says why."""
    text = page(marked, "dee")
    assert "2 points, not graded" in text
    assert "it is no notebook" in text


class Tags(HTMLParser):
    """Which tags a page has, and whether each ends."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag == self.open.pop()


@pytest.mark.parametrize("student", ["ann", "bob", "c<b>", "dee"])
def test_nothing_of_a_submission_is_code_in_its_page(marked, student):
    """The page is well formed, and has the tags that we write alone."""
    tags = Tags(page(marked, student, ".html"))
    assert [] == tags.open
    known = "html head meta title style body h1 h2 p pre code"
    assert tags.seen <= {*known.split()}


def test_a_line_of_code_cannot_end_a_block_of_markdown(marked):
    """All of it is indented."""
    line = re.search(r"^.*<script>.*$", page(marked, "bob"), re.MULTILINE)
    assert line.group().startswith("    ")


@pytest.mark.parametrize(
    "data, text",
    [
        ({"value": "words"}, "words"),
        ({"value": {"float": (0.1).hex()}}, "0.1"),
        ({"value": {"tuple": [True, {"int": "2"}]}}, "(True, 2)"),
        ({"value": {"refused": "Yes"}}, ""),
        ({"value": None}, "None"),
        (3, ""),
    ],
)
def test_a_value_is_shown_as_python(data, text):
    """As its writer knows it; what was refused is in the sentence."""
    assert text == shown(data)


def test_the_report_counts_points_reasons_and_the_not_graded(marked, capsys):
    """A mean is of what was graded."""
    assert 0 == main(["report", str(marked)])
    text = capsys.readouterr().out
    assert "one: 4 submissions, 7 points" in text
    assert re.search(r"mirror +0\.67 +2 ", text)
    assert "dee: The notebook is not graded: it is no notebook." in text


def test_a_report_on_nothing_says_so(tmp_path, capsys):
    """As before the first run."""
    assert 0 == main(["report", str(tmp_path)])
    assert "nothing is marked yet" in capsys.readouterr().out

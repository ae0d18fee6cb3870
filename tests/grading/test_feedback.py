"""What a learner and an instructor read of marks."""

import re
from html.parser import HTMLParser

import pytest

from helpers.exercises.catalogue import exercise, exercises
from helpers.grading.__main__ import main
from helpers.grading.feedback import (
    blocks_of,
    exercise_blocks,
    html,
    markdown,
    standing,
    task_blocks,
)
from helpers.grading.sandbox.judging import shown
from helpers.grading.store import MarksStore
from helpers.grading.worker import beginning, row_of
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
        "c<b>": ([HEAD, "import os; os._exit(1)", CHECK, PREDICTED], []),
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


@pytest.mark.slow
def test_the_page_of_a_right_answer_says_what_it_earned(marked):
    """Task, answer, points; a prediction as it would be written in Python."""
    text = page(marked, "ann")
    assert "# one: 2.33 of 4 points, 3 more for a person to mark" in text
    assert "## mirror: 2 of 2 points" in text
    assert "out[row, cols - 1 - col] = a[row, col]" in text
    assert "{16: 0.5, 48: 1, 96: 'all'}" in text
    assert r"## offset\_or\_stride: 3 points, for a person" in text
    assert f"> {WORDS}" in text
    assert "A person marks this." in text


@pytest.mark.slow
def test_the_page_of_a_wrong_answer_has_the_report_and_one_hint(marked):
    """And the cell that ended with an error, in words."""
    text = page(marked, "bob")
    assert "## mirror: 0 of 2 points" in text
    assert "values differ" in text
    assert 1 <= text.count("Hint: ") <= 3
    told = "Code cell 4, which begins `1 / 0`, ended with an error:\n\n```\nZeroDiv"
    assert told in text


@pytest.mark.slow
def test_the_page_of_who_ended_early_says_so(marked):
    """What came after that was not run."""
    assert "cells after that were not run" in page(marked, "c<b>")


@pytest.mark.slow
def test_the_page_of_what_is_not_graded_gives_no_points(marked):
    """It says why, once."""
    text = page(marked, "dee")
    assert "# one: 7 points not graded" in text
    assert 1 == text.count("the file cannot be read as a notebook")


class Tags(HTMLParser):
    """Which tags a page has, and whether each ends."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.texts = [], set(), []
        self.feed(text)
        self.close()

    def handle_data(self, data):
        self.texts.append(data)

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag == self.open.pop()


@pytest.mark.slow
@pytest.mark.parametrize("student", ["ann", "bob", "c<b>", "dee"])
def test_nothing_of_a_submission_is_code_in_its_page(marked, student):
    """The page is well formed, and has the tags that we write alone."""
    tags = Tags(page(marked, student, ".html"))
    assert [] == tags.open
    known = "html head meta title style body h1 h2 p pre code ul li blockquote"
    known += " table tr th td"
    assert tags.seen <= {*known.split()}


HOSTILE = [
    r"\<img src=x onerror=alert(1)>",
    "![t](http://evil/x.png)",
    "[c](javascript:alert(1))",
    "`<img src=x>` ` <b> ``<i>`` `\\`<u>",
    "- item\n\n# head\n\n1. one\n\n***\n\n    code",
    "a\n===\n\n| a | b |\n|---|---|\n| *c* | ~~d~~ |",
    "<!-- & &lt; &#60; http://evil.example www.evil.example a@evil.example",
    "```\n</pre><script>x</script>\n``````\n~~~\n# head",
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("kind", ["p", "pre", "h1", "quote", "ul"])
def test_words_of_a_submission_are_words_in_markdown(kind, text):
    """Neither tags nor images, links, lists or headings; none of it is lost."""
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    made = markdown((kind, [text] if kind == "ul" else text)) + "\n\nafter"
    tags = Tags(reader.enable(["table", "strikethrough"]).render(made))
    ours = {"quote": {"blockquote", "p"}, "ul": {"ul", "li"}}.get(kind, {kind})
    assert tags.seen <= {*ours, "p", "code"}
    bare = re.sub(r"[\s`]", "", text)
    assert bare in re.sub(r"[\s`]", "", "".join(tags.texts))
    assert "after" == tags.texts[-2]


@pytest.mark.parametrize("form", [markdown, html])
def test_what_a_terminal_obeys_is_shown(form):
    """Escapes, in words and in code, and letters that turn what follows around."""
    for kind in ("p", "pre"):
        made = form((kind, "a\x1b[2Jb\u202ec\x00"))
        assert (
            made.isprintable() or kind == "pre" and made.replace("\n", "").isprintable()
        )


@pytest.mark.slow
def test_a_page_has_all_that_is_asked(marked):
    """The task's lists and code as such, and what an answer is held to."""
    blocks = task_blocks("where_it_lives", None)
    assert any(kind == "pre" and "def spread(" in text for kind, text in blocks)
    text = page(marked, "ann")
    assert "- Arguments: `out`: float32" in text
    assert "- Budget: " in text
    assert "def spec(a):\n    return np.flip(a, 1)" in text
    for name in exercises():
        lists = [text for kind, text in task_blocks(name, None) if kind == "ul"]
        items = re.findall("^- ", exercise(name).task, re.MULTILINE)
        assert len(items) <= sum(map(len, lists))


ROW = row_of({"exercise": "mirror", "points": 1}, 0, "no_answer", "")


@pytest.mark.parametrize(
    "changed, told",
    [
        ({"sentence": "Find the line at fault, and check again."}, "as it was given."),
        (
            {"sentence": "There is no `mirror` in the notebook."},
            "Code cell 3 is the first",
        ),
        ({"points": None, "reason": "for a person"}, "1 point, for a person"),
        (
            {"sentence": "`a` (<mirror, handed in 1>, line 6) b"},
            r"\(mirror, line 6\) b",
        ),
        ({"reason": "by hand", "points": 0.5, "sentence": "Good."}, "Comment: Good."),
        ({"reason": "by hand", "points": 1}, "1 of 1 point, marked by a person"),
        ({"reason": "wrong", "report": "x (<tokenize>, line 3)"}, "x (line 3)"),
    ],
)
def test_words_for_who_has_handed_in(changed, told):
    """Nothing can be checked again, and files of the grader mean nothing."""
    errors = [{"cell": 3, "error": "SyntaxError"}, {"cell": 5, "error": "E"}]
    blocks = exercise_blocks(ROW | changed, None, errors)
    text = "\n".join(map(markdown, blocks))
    assert told in text
    assert "check again" not in text


def test_the_points_say_what_waits():
    """Nothing that waits or is not graded counts as 0."""
    rows = [ROW | {"points": p, "max_points": 3, "reason": r} for p, r in STANDS]
    assert "1 of 3 points" == standing(rows[:1])
    whole = "1 of 3 points, 3 more for a person to mark, 3 more not graded"
    assert whole == standing(rows)
    assert "3 points for a person to mark" == standing(rows[1:2])


@pytest.mark.slow
def test_a_page_begins_with_a_table_of_points(marked):
    """In both forms."""
    rows = ("active_share", "0.33 of 2 points"), ("mirror", "2 of 2 points")
    for name, told in rows:
        row = f"| {name.replace('_', chr(92) + '_')} | {told} |"
        assert row in page(marked, "ann").partition("\n## ")[0]
        row = f"<tr><th>{name}</th><td>{told}</td></tr>"
        assert row in page(marked, "ann", ".html").partition("<h2>")[0]
    assert "| mirror" not in page(marked, "dee")


@pytest.mark.slow
def test_a_prediction_is_told_what_it_is(marked):
    """It has no specification from which it could differ."""
    text = page(marked, "ann")
    assert "Not yet: not all values are right." in text
    assert "specification" not in text.partition("## active")[2]


ERRORS = [
    {"cell": 2, "error": "NameError: name 'x'", "begins": "@cuda.jit def `mirror`(a):"},
    {
        "cell": 3,
        "error": "NameError: name 'mirror'",
        "begins": 'task = exercise("mirror',
    },
    {"cell": 4, "error": "TypeError: 3", "begins": 'exercise("mirror").check(3, 4)'},
]


def test_errors_that_follow_from_others_are_left_out():
    """A check of what no cell defined; a cell is named by its first words."""
    rows = [ROW | {"sentence": "There is no `mirror` in the notebook."}] * 2
    result = {"assignment": "one", "student": "ann", "exercises": rows, "ended": ""}
    text = "\n".join(map(markdown, blocks_of(result | {"cells": ERRORS}, None)))
    assert "Code cell 2, which begins `@cuda.jit def 'mirror'(a):`, ended" in text
    assert "Code cell 4, which" in text
    assert "Code cell 3" not in text


def test_a_cell_is_named_by_how_it_begins():
    """A child may name a cell that is not there."""
    cells = ["\n@cuda.jit\ndef mirror(out, a):\n    pass", "x = " + "1 + " * 40 + "1"]
    assert "@cuda.jit def mirror(out, a):" == beginning(cells, 1)
    assert beginning(cells, 2).endswith("+ 1 …")
    assert ["", "", ""] == [beginning(cells, it) for it in (0, 3, 10**30)]


@pytest.mark.slow
def test_long_lines_of_reports_are_wrapped(marked):
    """Nobody scrolls sideways to read a sentence; code keeps its lines."""
    text = page(marked, "bob", ".html")
    assert '<pre class="said">ZeroDivisionError' in text
    assert "pre.said {white-space: pre-wrap}" in text
    assert "<pre>def spec(a):" in text


STANDS = (1, "wrong"), (None, "for a person"), (None, "not graded")


@pytest.mark.parametrize(
    "data, text",
    [
        ({"value": "words"}, "words"),
        ({"value": {"float": (0.1).hex()}}, "0.1"),
        ({"value": {"tuple": [True, {"int": "2"}]}}, "(True, 2)"),
        ({"value": {"refused": "Yes"}}, ""),
        ({"value": None}, "None"),
        ({"value": {"dict": [["a", {"ellipsis": ""}]]}}, "{'a': ...}"),
        (3, ""),
    ],
)
def test_a_value_is_shown_as_python(data, text):
    """As its writer knows it; what was refused is in the sentence."""
    assert text == shown(data)


@pytest.mark.slow
def test_the_report_counts_points_reasons_and_the_not_graded(marked, capsys):
    """A mean is of what was graded."""
    assert 0 == main(["report", str(marked)])
    text = capsys.readouterr().out
    assert "one: 4 submissions, 7 points" in text
    assert re.search(r"mirror +0\.67 +2 ", text)
    told = "for a person 1, no_answer 1, stopped 1"
    assert re.search(rf"offset_or_stride +waits +3 +{told}", text)
    assert "  wrong: not all values are right\n" in text
    assert "race: " not in text
    assert (
        "dee: The notebook is not graded: the file cannot be read as a notebook (JSON)."
        in text
    )
    waits = "not counted: offset_or_stride, 3 points, waits for a person in 1 answer"
    assert waits in text
    assert "mean 0.8, median 0 of 4 points" in text


def test_the_report_shows_what_a_name_holds(tmp_path, capsys):
    """A terminal would obey some names, and others are not UTF-8."""
    rows = [row_of({"exercise": "mirror", "points": 1}, None, "not graded", "Lost.\n")]
    name = "e\x1b[2J\nve\udcff\u202e"
    result = {"exercises": rows, "cells": [], "ended": ""}
    MarksStore(tmp_path).keep("eve", "one", "", result | {"student": name})
    assert 0 == main(["report", str(tmp_path)])
    text = capsys.readouterr().out
    assert text.replace("\n", "").isprintable()
    assert r"e\x1b[2J\nve\udcff\u202e: Lost." in text
    assert "one: 1 submission, 1 point\n" in text

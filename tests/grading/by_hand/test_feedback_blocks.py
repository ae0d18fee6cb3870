"""What a learner reads of one answer, made by hand, and its two forms."""

import pytest

from helpers.grading.feedback import (
    blocks_of,
    exercise_blocks,
    html,
    markdown,
    numbered,
    task_blocks,
)
from helpers.grading.worker import row_of

ROW = row_of({"exercise": "mirror", "points": 2}, 0, "wrong", "They differ.")
LINES = "".join(f"line {number}\n" for number in range(1, 12))


def behind_the_task(**changes):
    """What is said of an answer, and not of its exercise."""
    first, *others = exercise_blocks(ROW | changes, None)
    assert ("h2", "mirror: 0 of 2 points") == first
    return others[len(task_blocks("mirror", None)) :]


@pytest.mark.parametrize(
    "reason, words",
    [
        ("wrong", ["Not yet: not all values are right."]),
        ("race", ["Not yet: two threads touch one cell, in no order."]),
        ("", []),
        ("refused", []),
        ("stopped", []),
        ("no_answer", []),
    ],
)
def test_a_reason_is_told_unless_the_sentence_does(reason, words):
    """In words, before what differs."""
    told = [("p", it) for it in (*words, "They differ.")]

    assert told == behind_the_task(reason=reason)


def test_an_answer_has_its_report_and_the_first_hint():
    """In this order."""
    told = behind_the_task(answer="a = 1", report="x", hints=["one", "two"])

    whole = ["Your answer:", "a = 1", "Not yet: not all values are right."]
    whole += ["They differ.", "x", "Hint: one"]
    assert whole == [text for _, text in told]
    assert ["p", "pre", "p", "p", "said", "p"] == [kind for kind, _ in told]


def test_the_line_that_a_report_is_about_is_marked():
    """Lines are numbered, where there are several."""
    lines = numbered({"answer": LINES, "line": 10}).split("\n")

    assert 11 == len(lines) and [9] == [n for n, it in enumerate(lines) if ">" in it]
    assert ("   1  line 1", "> 10  line 10") == (lines[0], lines[9])
    assert "a = 1" == numbered({"answer": "a = 1\n", "line": 1})


@pytest.mark.parametrize(
    "exercise, sentence, told",
    [
        ("mirror", "Write it, and check again.", "Handed in as it was given."),
        ("active_share", "Write it, and check again.", "Nothing is predicted."),
        ("offset_or_stride", "Write, and check again.", "This is too short for two"),
        ("mirror", "There is none.", "There is none. Code cell 3 is the first"),
    ],
)
def test_who_gave_no_answer_is_told_why(exercise, sentence, told):
    """By the kind of exercise; else by the first cell that failed, if any has."""
    row = row_of({"exercise": exercise, "points": 2}, 0, "no_answer", sentence)
    errors = [{"cell": 3, "error": "E"}, {"cell": 5, "error": "E"}]

    kind, text = [*exercise_blocks(row, None, errors)][-1]
    *_, alone = exercise_blocks(row, None)
    *_, answered = exercise_blocks(row | {"answer": "x"}, None, errors)

    assert "p" == kind and text.startswith(told)
    assert ("cell" in text) == (exercise == "mirror" and "none" in text)
    assert "cell" not in alone[1] and "cell" not in answered[1]


@pytest.mark.parametrize(
    "kind, text, in_markdown, in_html",
    [
        ("h1", "a", "# a", "<h1>a</h1>"),
        ("h2", "a", "## a", "<h2>a</h2>"),
        ("p", "a  b\nc", "a b c", "<p>a b c</p>"),
        ("quote", "a", "> a", "<blockquote>a</blockquote>"),
        ("p", "x `a*b` y", "x `a*b` y", "<p>x <code>a*b</code> y</p>"),
        ("pre", "a\tb", "```\na\tb\n```", "<pre>a\tb</pre>"),
        ("said", "a", "```\na\n```", '<pre class="said">a</pre>'),
        ("pre", "a ``` b", "````\na ``` b\n````", "<pre>a ``` b</pre>"),
        ("pre", "a ```` b", "`````\na ```` b\n`````", "<pre>a ```` b</pre>"),
        ("ul", ["a", "<"], "- a\n- \\<", "<ul>\n<li>a</li>\n<li>&lt;</li>\n</ul>"),
        (
            "table",
            [("a", "1")],
            "| exercise | points |\n|---|---|\n| a | 1 |",
            "<table>\n<tr><th>a</th><td>1</td></tr>\n</table>",
        ),
    ],
)
def test_each_block_has_two_forms(kind, text, in_markdown, in_html):
    """A fence is longer than any in the text."""
    assert (in_markdown, in_html) == (markdown((kind, text)), html((kind, text)))


@pytest.mark.parametrize("rows, table", [([ROW], False), ([ROW, ROW], True)])
def test_several_exercises_have_a_table_of_points(rows, table):
    """How the notebook ended is said below it."""
    result = {"assignment": "one", "student": "ann", "exercises": rows, "cells": []}

    first, whose, *others = blocks_of(result | {"ended": "took too long"}, None)

    assert ("h1", f"one: 0 of {2 * len(rows)} points") == first
    assert ("p", "For ann.") == whose
    assert table == (others[0][0] == "table")
    assert (
        "p",
        "Your notebook took too long: cells after that were not run.",
    ) in others


def test_what_was_lost_as_a_whole_is_said_once():
    """Without a part for each exercise; unless the reasons differ."""
    lost = ROW | {"points": None, "reason": "not graded", "sentence": "Lost."}
    result = {"assignment": "one", "student": "ann", "cells": [], "ended": ""}

    alike = [*blocks_of(result | {"exercises": [lost, lost]}, None)]
    mixed = [*blocks_of(result | {"exercises": [lost, ROW]}, None)]

    heads = ("h1", "one: 4 points not graded"), ("p", "For ann."), ("p", "Lost.")
    assert heads == tuple(alike)
    assert 2 == sum(kind == "h2" for kind, _ in mixed) and "table" == mixed[2][0]

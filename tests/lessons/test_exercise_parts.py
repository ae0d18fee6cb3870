"""What an exercise of the course must have, and a sentence where it lacks a part."""

import json
from difflib import get_close_matches
from inspect import cleandoc

import pytest

from helpers.exercises.budgets import limits_of
from helpers.exercises.catalogue import exercises, file_of
from helpers.exercises.exercise import Explain, Fix, Predict, SpeedUp, Write
from helpers.exercises.reasons import HINTS, WORDS
from tests.exercises.specimen import PairSums, Strides
from tests.paths import ROOT

PARTS = {  # of a description, by its kind
    Write: "even ragged answer inputs launch spec".split(),
    Fix: ["fault"],
    SpeedUp: ["given"],
    Predict: ["truth"],
    Explain: ["rubric", "model"],
}
ENDS = ".", "?"
FEWEST_WRONG = {Write: 6, Predict: 3, Explain: 0}


@pytest.mark.parametrize("name", exercises())
def test_an_exercise_lacks_nothing(name):
    """Else a sentence says what, and in which file."""
    kind = exercises()[name]

    found = [*lacking(kind), *unheard(kind), *nowhere(kind)]

    assert [] == [f"{file_of(kind)}: {kind.__name__} {it}" for it in found]


def lacking(kind):
    """What a description lacks, in words."""
    if not cleandoc(kind.__doc__ or ""):
        yield "has no docstring, which says what to do"
    for base, parts in PARTS.items():
        for part in parts if issubclass(kind, base) else ():
            if getattr(kind, part, None) in ((), {}, "", getattr(base, part, None)):
                yield f"has no `{part}`"
    fewest = next(n for base, n in FEWEST_WRONG.items() if issubclass(kind, base))
    wrong = getattr(kind, "wrong", {})
    if len(wrong) < fewest:
        yield f"has {len(wrong)} of at least {fewest} wrong answers in `wrong`"
    for what, answer in wrong.items():
        word = "wrong" if issubclass(kind, Predict) else answer[0].partition(":")[0]
        if not WORDS.get(word):
            yield f"has a wrong answer, {what!r}, for a reason that is none: {word!r}"
    if issubclass(kind, Explain) and sum(kind.rubric.values()) != kind.points:
        yield f"earns {kind.points}, and its `rubric` {sum(kind.rubric.values())}"


def unheard(kind):
    """What is wrong with an exercise's own hints, in words."""
    known = keys_of_hints(kind)
    for key, hints in kind.hints.items():
        if key not in known:
            near = get_close_matches(key, known, n=1) or sorted(known)
            instead = f": it gives {', '.join(near)}" if near else ""
            yield f"has hints for {key!r}, which it never gives{instead}"
        if isinstance(hints, str) or len(hints) != 3:
            many = 1 if isinstance(hints, str) else len(hints)
            yield f"has {many} of three hints for {key!r}"
        elif unended := [it for it in hints if not it.strip().endswith(ENDS)]:
            yield f"has a hint for {key!r} that is no sentence: {unended[0]!r}"


def keys_of_hints(kind) -> set:
    """The reasons for which an answer to an exercise gets hints."""
    if issubclass(kind, Predict):
        return {"wrong"}
    if not issubclass(kind, Write):
        return set()
    limits = {f"over_budget:{name}" for name, _ in limits_of(kind())}
    common = {it for it in HINTS if not it.startswith("over_budget:")}
    return limits | common - {"wrong prediction"}


def nowhere(kind):
    """Of which lesson, and in which assignment, an exercise is not."""
    number = file_of(kind).rpartition("/")[2][:3]
    if not [*(ROOT / "lessons").glob(f"{number}*.py")]:
        yield f"is of no lesson: there is no lessons/{number}*.py"
        return
    for path in (ROOT / "notebooks").glob(f"*/{number}*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        if kind.name not in [cell.get("id") for cell in cells]:
            yield f"is not in {path.relative_to(ROOT)}: run `make assignments`"


class Untold(Write):
    answer = "def untold(a):\n    a[0] = 1"
    even, ragged = (32,), (1,)
    wrong = {"none": ("rase", "1", "2")}


class Halves(Explain):
    """Say why."""

    points, rubric = 2, {"why": 1}


@pytest.mark.parametrize(
    "kind, expected",
    [
        (PairSums, ["has 1 of at least 6 wrong answers in `wrong`"]),
        (Strides, ["has 1 of at least 3 wrong answers in `wrong`"]),
        (Halves, ["has no `model`", "earns 2, and its `rubric` 1"]),
        (
            Untold,
            [
                "has no docstring, which says what to do",
                "has no `inputs`",
                "has no `launch`",
                "has no `spec`",
                "has 1 of at least 6 wrong answers in `wrong`",
                "has a wrong answer, 'none', for a reason that is none: 'rase'",
            ],
        ),
    ],
)
def test_what_is_missing_is_said(kind, expected):
    """Each part in a sentence of its own."""
    assert expected == [*lacking(kind)]


class Unheard(PairSums):
    hints = {
        "raze": ("Who?", "Why?", "Where."),
        "over_budget:barier": ("Who?", "Why?", "Where."),
        "bounds": ("Who?", "Why?Where."),
        "tail": "Who?",
        "wrong": ("Who?", "Why", "Where."),
        "over_budget:loads": ("Who?", "Why?", "Where."),
    }


@pytest.mark.parametrize(
    "kind, expected",
    [
        (
            Unheard,
            [
                "has hints for 'raze', which it never gives: it gives race",
                "has hints for 'over_budget:barier', which it never gives: it gives "
                "over_budget:barriers",
                "has 2 of three hints for 'bounds'",
                "has 1 of three hints for 'tail'",
                "has a hint for 'wrong' that is no sentence: 'Why'",
            ],
        ),
        (Halves, []),
    ],
)
def test_hints_that_nobody_gets_are_named(kind, expected):
    """And those that are not three sentences."""
    assert expected == [*unheard(kind)]


def test_an_exercise_that_nobody_hands_out_is_named():
    """One of a new lesson's number, and one that was not built."""
    Untold.__module__ = "lessons.exercises.99_other"
    assert ["is of no lesson: there is no lessons/99_*.py"] == [*nowhere(Untold)]
    Untold.__module__ = "lessons.exercises.12_other"
    assert [
        f"is not in notebooks/{it}/12_coalescing.ipynb: run `make assignments`"
        for it in ("assignments", "solutions")
    ] == sorted(nowhere(Untold))


@pytest.mark.parametrize("name", exercises())
def test_a_choice_hides_nothing_of_its_exercise(name):
    """One called `kind` would be told to readers as the kind of exercise."""
    kind = exercises()[name]
    assert [] == [it for it in kind.choices if hasattr(kind, it)]

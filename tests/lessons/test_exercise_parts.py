"""What an exercise of the course must have, and a sentence where it lacks a part."""

import json
from inspect import cleandoc

import pytest

from helpers.exercises.catalogue import exercises, file_of
from helpers.exercises.exercise import Explain, Fix, Predict, SpeedUp, Write
from helpers.exercises.reasons import WORDS
from tests.exercises.specimen import PairSums, Strides
from tests.paths import ROOT

PARTS = {  # of a description, by its kind
    Write: "even ragged answer inputs launch spec".split(),
    Fix: ["fault"],
    SpeedUp: ["given"],
    Predict: ["truth"],
    Explain: ["rubric", "model"],
}
FEWEST_WRONG = {Write: 6, Predict: 3, Explain: 0}


@pytest.mark.parametrize("name", exercises())
def test_an_exercise_lacks_nothing(name):
    """Else a sentence says what, and in which file."""
    kind = exercises()[name]

    found = [*lacking(kind), *nowhere(kind)]

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

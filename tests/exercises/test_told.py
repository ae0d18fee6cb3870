"""What a refused answer is told, beside the reason: facts, and hints that fit them."""

import json
import pickle
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.exercises.arguments import Out
from helpers.exercises.budgets import BUDGETS
from helpers.exercises.judging import PRINTS
from helpers.exercises.reasons import HINTS, REASONS, Reason, hints_for
from helpers.exercises.totals import TOTALS
from helpers.exercises.values import missing_summand, past_whole_ones
from tests.exercises.specimen import PairSums, Strides
from tests.paths import ROOT
from thirty_two_lanes.core.errors import WIDTH

STORE, SUM = "tile[t] = a[i] if", "tile[t] + tile[t + 1]"
PREDICTED = HINTS["wrong prediction"]
GUARD, BARRIER = "if i < a.size:\n        out", "cuda.syncthreads()"


class Plain(PairSums):
    """Without hints of its own."""

    hints: dict = {}


def verdict_on(*changes):
    """The verdict on the answer with pairs of old and new."""
    task = Plain()
    text = task.answer_text
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)
    return task.judge(task.kernel(text), 5)


IN_PLACE = "tile[t] = tile[t] + tile[t + 1]\n        out[i] = tile[t]"
RACES = {  # what is changed, and the hints that hold for it
    "two lines": ("race", [BARRIER, "pass"]),
    "one cell for all": ("race with itself", [GUARD, "out[0] = 1\n    " + GUARD]),
    "an update": ("race with itself", [GUARD, "out[0] += 1\n    " + GUARD]),
    "a load and a store of one line": (
        "race in one line",
        [f"out[i] = {SUM}", IN_PLACE],
    ),
    "what another block stores": (
        "race between blocks",
        [f"out[i] = {SUM}", f"out[i] = {SUM}\n        out[i] += out[i - 64] * 0"],
    ),
}


@pytest.mark.parametrize("key, changes", RACES.values(), ids=RACES)
def test_a_race_gets_the_hints_that_hold_for_it(key, changes):
    """A barrier helps between two lines of a block, and not between blocks."""
    verdict = verdict_on(*changes)

    assert "race" == verdict.reason
    assert HINTS[key] == verdict.hints, verdict.text


def test_a_race_is_told_without_its_remedy():
    """However many lines the remedy takes: each line names the kernel's or a thread."""
    for _, changes in RACES.values():
        title, *lines = verdict_on(*changes).report.splitlines()
        assert " race on " in title
        assert 2 <= len(lines) <= 4
        for line in lines:
            assert re.search(r"line \d+|thread \d+ of block", line), line


SHUFFLE = "0 * cuda.shfl_down_sync(1, tile[t], 1)"


@pytest.mark.parametrize(
    "key, value",
    [("uninitialised", "out[i] * 0"), ("uninitialised lanes", SHUFFLE)],
)
def test_hints_speak_of_a_shuffle_where_there_is_one(key, value):
    """A cell that nobody wrote and a lane that gives nothing are read alike."""
    verdict = verdict_on(SUM, f"{SUM} + {value}")

    assert "uninitialised" == verdict.reason
    assert HINTS[key] == verdict.hints
    assert ("shuffle" in " ".join(verdict.hints)) == (value == SHUFFLE)


def test_values_that_nobody_wrote_are_told_before_a_constant_output():
    """A guard that is never true stores nothing, whatever the inputs are."""
    verdict = verdict_on(GUARD, GUARD.replace("<", ">"))

    assert "wrong" == verdict.reason
    assert "256 of 256 values were never written, the first at [0]" in verdict.sentence
    assert HINTS["wrong unwritten"] == verdict.hints


def test_a_value_that_was_written_is_not_called_unwritten():
    """Zeros and NaN, which a learner may well have stored."""
    for value in ("0 * i", "math.nan"):
        text = Plain().answer_text.replace(SUM, f"{value} if i % 3 else {SUM}")
        verdict = Plain().judge(Plain().kernel(f"import math\n\n{text}"), 5)

        assert "values differ" in verdict.sentence
        assert "written" not in verdict.sentence, verdict.sentence


def test_a_tolerance_that_is_not_the_learners_is_not_offered():
    """`check(kernel)` takes no `rtol`."""
    verdict = verdict_on(SUM, f"({SUM}) * float32(1.0001)")

    assert "They are close" in verdict.sentence
    assert "rtol" not in verdict.sentence
    assert verdict.sentence.endswith("is allowed.")


def test_a_refused_line_stands_below_its_sentence():
    """As everywhere else, and its number is that of the verdict."""
    verdict = verdict_on(SUM, "tiles[t]")

    text = Plain().answer_text.replace(SUM, "tiles[t]").splitlines()
    assert "out[i] = tiles[t]" == text[verdict.line - 1].strip()
    assert verdict.sentence.endswith(f"line {verdict.line}).")
    assert "    out[i] = tiles[t]" == verdict.report


def test_what_a_kernel_prints_is_said_and_not_shown(capsys):
    """The judge launches it many times, with numbers of its own."""
    verdict = verdict_on(GUARD, f'print("thread", i)\n    {GUARD}')

    assert "" == capsys.readouterr().out
    assert verdict.reason is None
    assert "does not show what the kernel prints" in verdict.sentence
    assert "prints" not in verdict_on().sentence
    races = verdict_on(BARRIER, "pass", GUARD, f'print("thread", i)\n    {GUARD}')
    assert races.sentence.endswith("size 256:")
    assert PRINTS == races.report.splitlines()[-1]


def test_a_refusal_fits_the_page_with_the_name_of_its_error():
    """Python writes `AssertionError: ` before it."""
    for _, edits in RACES.values():
        verdict = verdict_on(*edits)
        first, *_ = verdict.text.splitlines()
        assert not verdict.raises or len(f"AssertionError: {first}") <= WIDTH


def test_a_warning_of_an_idle_line_names_the_line_that_checks():
    """And no file of Python's own library."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        verdict_on("out[i] = ", "out[i] == ")

    assert [__file__] == [it.filename for it in told]
    assert "compares and drops" in str(told[0].message)
    assert all(len(it) <= WIDTH for it in str(told[0].message).splitlines())


class Halves(Plain):
    """Of numbers with a fraction."""

    choices: dict = {"threads": (64,), "type": ("float32",)}

    def inputs(self, rng, n):
        given = super().inputs(rng, n)
        return given | {"a": given["a"] + 0.5}


ADDED = """tile[t] = 0
    if i < a.size:
        cuda.atomic.add(tile, t, a[i])"""


def test_a_fraction_that_an_array_of_whole_numbers_loses_is_told():
    """With the line that stores it; a conversion that is written out is meant."""
    task = Halves()
    text = task.answer_text.replace("array(CELLS, float32)", "array(CELLS, int32)")
    lost = task.judge(task.kernel(text), 5)
    meant = task.judge(task.kernel(text.replace("= a[i] if", "= int(a[i]) if")), 5)

    line = 1 + next(n for n, it in enumerate(text.splitlines()) if STORE in it)
    told = f"Line {line} stores floats in `tile`, whose elements are int32"
    assert ("wrong", "wrong") == (lost.reason, meant.reason)
    assert told in " ".join(lost.sentence.split())
    assert "fraction" not in meant.sentence
    added = text.replace("tile[t] = a[i] if i < a.size else 0", ADDED)
    assert "stores floats in `tile`" in task.judge(task.kernel(added), 5).sentence


def test_the_nearest_hints_are_an_exercises_own_or_the_common_ones():
    """What is known of a race goes before what an exercise says of all races."""
    own = {"race": ("a", "b", "c")}

    assert own["race"] == hints_for("race", own)
    assert HINTS["race between blocks"] == hints_for("race between blocks", own)
    assert ("d",) == hints_for("race with itself", own | {"race with itself": ("d",)})
    assert own["race"] == hints_for("race of a new kind", own)
    assert () == hints_for("no such reason", own)


def test_every_common_hint_is_asked_for():
    """By the reason itself, a budget's name, or a key that the judge says."""
    judge = ROOT / "helpers" / "exercises"
    texts = [it.read_text("utf-8") for it in judge.glob("*.py")]
    budgets = {*BUDGETS, *TOTALS, "share", "share_of_stores"}
    known = {*REASONS, *(f"over_budget:{it}" for it in budgets)}

    found = {it for it in HINTS if not any(f'"{it}"' in text for text in texts)}

    nobodys = found - known
    assert set() == nobodys, f"helpers/exercises/hints.toml has {nobodys}: misspelt?"


def test_a_prediction_gets_the_hints_of_its_exercise():
    """And the common ones where it has none."""

    class Own(Strides):
        hints = {"wrong": ("a", "b", "c")}

    for task, hints in ((Own(), Own.hints["wrong"]), (Strides(), PREDICTED)):
        assert hints == task.judge({"sectors": 9, "free": "no"}).hints


@pytest.mark.parametrize(
    "text, word, budget, words",
    [
        ("race", "race", "", "two threads touch one cell, in no order"),
        ("over_budget:loads", "over_budget", "loads", "right, and over its budget"),
        (
            "stopped",
            "stopped",
            "",
            "its notebook, or its cell, ended before it was there",
        ),
        ("for a person", "for a person", "", ""),
        ("", "", "", ""),
    ],
)
def test_a_reason_is_its_text_and_knows_its_parts(text, word, budget, words):
    """As it stands in marks; a word that is none is an error."""
    reason = Reason(text)
    assert (text, word, budget, words) == (
        reason,
        reason.word,
        reason.budget,
        reason.words,
    )
    assert json.dumps(text) == json.dumps(reason)
    assert reason == pickle.loads(pickle.dumps(reason))
    with pytest.raises(ValueError, match="there is no reason"):
        Reason(f"x{text}")


def test_an_output_that_no_line_stores_to_is_named():
    """`out = …` only gives another value its name, as `out[:] = …` does not."""
    only = verdict_on(f"out[i] = {SUM}", f"out = {SUM}")
    none = verdict_on(f"out[i] = {SUM}", "pass")

    told = "No line stores to `out`"
    assert f"{told}; `out = …` only names another value." in only.sentence
    assert f"{told}." in none.sentence
    assert told not in verdict_on(GUARD, GUARD.replace("<", ">")).sentence


def test_arguments_in_another_order_are_named():
    """Where something is wrong: a kernel may name them as it likes."""
    swapped = verdict_on("pair_sums(out, a)", "pair_sums(a, out)")
    named = verdict_on("pair_sums(out, a)", "pair_sums(b, out)", "a.size", "b.size")

    told = "The launch passes out, a, in this order."
    assert swapped.reason and swapped.sentence.endswith(told)
    assert named.reason and told not in named.sentence


@pytest.mark.parametrize("whole, unit", [("32", "warp, of 32"), ("64", "block, of 64")])
def test_a_tail_that_is_left_out_is_named(whole, unit):
    """Wrong only past the last whole block, or warp, of threads."""
    last = f"a.size // {whole} * {whole}"
    told = verdict_on(f"out[i] = {SUM}", f"out[i] = {SUM} if i < {last} else -1")

    assert "tail" == told.reason
    size = int(re.search(r"size (\d+)", told.sentence)[1])
    first = size // int(whole) * int(whole)
    there = f"All before index {first} are right: there ends the last whole {unit}"
    assert there in told.sentence, told.sentence
    early = verdict_on(f"out[i] = {SUM}", f"out[i] = {SUM} if i % 9 else -1")
    assert "last whole" not in early.sentence


def test_the_hints_for_what_begins_wrong_are_of_no_tail():
    """The first value, too, wherever the blocks are not full."""
    always = f"out[i] = {SUM} if a.size % 64 < 2 else -1"
    last = f"out[i] = {SUM} if i < a.size // 64 * 64 else -1"
    begins, ends = (verdict_on(f"out[i] = {SUM}", it) for it in (always, last))

    assert ("tail", "tail") == (begins.reason, ends.reason)
    assert HINTS["tail throughout"] == begins.hints
    assert HINTS["tail"] == ends.hints


@pytest.mark.parametrize("blocks, told", [(1, True), (10, False)])
def test_an_element_of_many_threads_is_at_no_edge_of_a_warp(blocks, told):
    """Element 32 is a row, of which each has a warp of its own."""
    expected = {"places": np.arange(40)}
    trial = SimpleNamespace(rtol=lambda name: None, expected=expected)
    run = SimpleNamespace(blocks=blocks, threads_per_block=128)
    wrong = np.where(np.arange(40) < 32, np.arange(40), -1)
    outputs = {"places": wrong}
    outcome = SimpleNamespace(run=run, trial=trial, outputs=outputs, allowed={})

    assert told == bool([*past_whole_ones(outcome)])


@pytest.mark.parametrize("line", ["a[i] // 3", "int(a[i]) // 3"])
def test_a_quotient_that_is_rounded_down_is_told(line):
    """`//` of floats, and of whole numbers for a float."""
    told = verdict_on(SUM, f"{line} + 0 * {SUM}")
    shown = Plain().answer_text.replace(SUM, f"{line} + 0 * {SUM}").splitlines()
    number = 1 + next(n for n, it in enumerate(shown) if "//" in it)

    assert f"Line {number} divides by `//`, which rounds down." in told.sentence
    assert "rounds down" not in verdict_on(SUM, f"a[i] / 3 + 0 * {SUM}").sentence


def test_threads_that_store_to_one_cell_are_told_in_plain_words():
    """Whoever has not read of races yet knows blocks and `threadIdx.x`."""
    of_blocks = verdict_on("cuda.grid(1)", "cuda.threadIdx.x")
    of_all = verdict_on(f"out[i] = {SUM}", f"out[0] = {SUM}")

    told = "blocks 0 to 3 all write `out[0]`: `threadIdx.x` begins at 0 in each."
    assert ("race", True) == (of_blocks.reason, told in of_blocks.sentence)
    assert of_all.sentence.endswith(" both write `out[0]`."), of_all.sentence


def test_a_wrong_value_is_shown_with_its_input():
    """A part of long arrays, all of short ones."""
    long = verdict_on(SUM, f"{SUM} + 1")
    short = verdict_on(SUM, f"{SUM} + (a.size == 1)")

    for report, part in ((long.report, "[0:5]"), (short.report, "")):
        labels, numbers = zip(
            *(
                re.fullmatch(r"  (.*?)  +\[(.*)\]", it).groups()
                for it in report.split("\n")
            ),
            strict=True,
        )
        assert (f"a{part}", f"expected out{part}", f"got out{part}") == labels
        _, expected, got = ([float(n) for n in it.split(", ")] for it in numbers)
        assert [n + 1 for n in expected] == got


@pytest.mark.parametrize(
    "outcomes, told", [(2, []), (3, ["It lacks the last element"])]
)
def test_a_summand_is_missed_where_several_results_lack_it(outcomes, told):
    """One may lack it by chance."""
    found = []
    for a in np.random.default_rng(seed=6).normal(size=(outcomes, 50)):
        arguments, total = {"a": a, "out": Out(1, "float64")}, np.array([a.sum()])
        trial = SimpleNamespace(
            rtol=lambda name: None, expected={"out": total}, arguments=arguments
        )
        run = SimpleNamespace(threads_per_block=32)
        outputs = {"out": total - a[-1]}
        outcome = SimpleNamespace(trial=trial, run=run, outputs=outputs, allowed={})
        found.append(outcome)

    assert told == [it.partition(" of `a`")[0] for it in missing_summand(found)]

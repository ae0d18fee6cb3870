"""Trials are beyond what a kernel could know: numbers whose order alone matters are far
above zero and far below it, and sizes beyond the kernel's own numbers; what never
varies, the text promises.
"""

import inspect
import re
from math import gcd

import numpy as np
import pytest

from helpers.exercises import sources, trials
from helpers.exercises.bounds.numbers import OwnNumbers
from helpers.exercises.catalogue import exercise
from helpers.exercises.drawn.elsewhere import ALIKE, ENDS
from helpers.exercises.drawn.sides import ABOVE, BELOW
from helpers.exercises.page import as_text
from helpers.exercises.sizes import FARTHEST
from helpers.exercises.trials import (
    SIDES,
    far_trials,
    listed_trials,
    trials_of,
)
from tests.exercises.kinds import KERNELS

pytestmark = pytest.mark.slow

COMPARES = re.compile(r"\b(?:arg)?(?:max|min|sort)(?:imum)?\b")
NOT_ORDERED = {  # what compares numbers of inputs, and why they are as they are
    "grid_stride": "of an element and a limit, with nothing to begin with",
    "warp_sum": "all numbers are positive, as its text says",
    "last_block": "no element is negative, as its text says",
    "brightest": "all elements are larger than 0, as its text says",
    "two_chains": "all are indices",
    "ray_sphere": "the depth of a miss is given",
    "softmax": "its text limits the numbers",
    "attention": "the scores are products, which rounding limits",
}


def test_each_exercise_that_compares_has_numbers_on_both_sides_of_zero():
    """Or a reason for which it has not."""
    for name in KERNELS:
        variants = [exercise(name, seed) for seed in range(8)]
        compare = [it for it in variants if compares(it)]
        if name in NOT_ORDERED:
            assert compare and not any(it.ordered for it in variants), name
            continue
        for task in compare:
            sides = {it.side for it in trials_of(task, 1) if it.kind != "larger"}
            assert {*SIDES} == sides - {ALIKE, ENDS}, name


def compares(task) -> bool:
    """Is its specification a maximum, a minimum, or an order?"""
    chosen = " ".join(map(str, task.chosen.values()))
    return bool(COMPARES.search(inspect.getsource(type(task).spec) + chosen))


def test_stretched_numbers_are_all_on_their_side():
    for name in KERNELS:
        for trial in trials_of(exercise(name), 3):
            if trial.side in (BELOW, ABOVE):
                for it in trial.task.ordered:
                    numbers = trial.arguments[it]
                    above = trial.side == ABOVE
                    assert (numbers > 0).all() if above else (numbers < 0).all()
                    assert np.isfinite(numbers).all()
                    big = 2**40 if numbers.dtype.kind == "f" else 2**29
                    assert np.abs(numbers).max() > big, name


@pytest.mark.parametrize("seed", [None, 3])
def test_stretched_numbers_keep_their_order(seed):
    """And which of them are equal."""
    for task in (exercise(name, seed) for name in KERNELS):
        for one in listed_trials(task, 1):
            if task.ordered and one.side and one.order != CHANGED:
                before = trials.trial(task, one.size, one.kind, 1, one.order)
                assert ranks(before) == ranks(one), (task.name, one.side)


def ranks(trial) -> list:
    """Of the numbers whose order matters, which of them each is."""
    together = [trial.arguments[name].ravel() for name in trial.task.ordered]
    return np.unique(np.concatenate(together), return_inverse=True)[1].tolist()


def test_no_float16_holds_the_floats_of_any_exercise():
    """But those of which a text gives the numbers; or the sides, if not the order."""
    for task in (exercise(name, seed) for name in KERNELS for seed in (None, 1)):
        drawn = {}
        for one in listed_trials(task, 1):
            for name, it in one.arguments.items():
                if name not in task.fixed and trials.is_of_floats(it):
                    drawn.setdefault(name, []).append(np.ravel(trials.plain(it)))
        for name, values in drawn.items():
            found = np.concatenate(values)
            found = found[np.isfinite(found) & (found != 0)]
            mantissas, _ = np.frexp(found)
            held = mantissas.astype(np.float16) == mantissas
            assert not found.size or not held.all(), (task.name, name)


CHANGED = 7  # the order of the trial with one element changed
LITERAL = re.compile(r"(?:-\s*)?(?:math|np)\.inf\b|\b\d{3,}\b")
IN_PLACE_OF_IT = "1000", "float32(1e9)", "-1000", "float32(-1e9)", "0"
BOUNDED = {  # a literal that may be another number, by the exercise, and why
    ("softmax", "-math.inf"): "its text says that no number is beyond 1,000",
    ("attention", "256"): "room for more keys than there may be does no harm",
}


def literals():
    """The large numbers and infinities of the answers' kernels."""
    for name in KERNELS:
        for found in dict.fromkeys(LITERAL.findall(exercise(name).answer_text)):
            if (name, found) not in BOUNDED:
                yield pytest.param(name, found, id=f"{name} {found}")


@pytest.mark.slow
@pytest.mark.parametrize("name, literal", [*literals()])
def test_no_other_number_does_for_a_large_one(name, literal):
    """Each infinity and each number of three digits of an answer is needed as it is."""
    task = exercise(name)
    for other in IN_PLACE_OF_IT:
        if other != literal:
            text = task.answer_text.replace(literal, other)
            verdict = task.judge(kernel_or_none(task, text), 1)
            assert verdict.reason, (literal, other)


def kernel_or_none(task, text):
    try:
        return task.kernel(text)
    except Exception:  # as of an array without a size
        return None


BEGINS = {  # of answers: what begins with a number, which is put into `{}`
    "column_window": ["above, here = a[0, col], a[1, col]", "above, here = {}, {}"],
    "k_means": ["float32(math.inf)", "{}"],
    "pool": [
        "a[max(first + cell, 0)]",
        "a[first + cell] if first + cell >= 0 else {}",
    ],
    "largest": [
        "a[min(cuda.grid(1), a.size - 1)]",
        "a[cuda.grid(1)] if cuda.grid(1) < a.size else {}",
    ],
    "pool_windows": ["best = tile[y, x]", "best = {}"],
    "row_argmax": [
        *("value = a[row, place]", "value = {}"),
        *("range(cuda.laneid + 32", "range(cuda.laneid"),
    ],
    "running_maximum": [
        "best = a[min(i, a.size - 1)]",
        "best = {}\n    if i < a.size:\n        best = a[i]",
    ],
    "bitonic": ["a[i] if i < a.size else", "a[i] if i < a.size else {} if True else"],
}
NO_HARM = {"running_maximum"}  # there, what is beyond the end comes last


@pytest.mark.parametrize("name", BEGINS)
def test_no_constant_is_as_good_as_infinity(name):
    """Neither a large number nor one far below 0, in variants of both orders."""
    for seed in (None, *range(1, 9)):
        task = exercise(name, seed)
        if "int" in str(task.chosen) or not task.ordered:
            continue
        for number in ("1e9", "-1e9"):
            first = f"float32({number})"
            edits = [it.format(first, first) for it in BEGINS[name]]
            text = sources.edited(task.answer_text, *edits)
            verdict = task.judge(task.kernel(text), 1)
            right = name in NO_HARM
            assert right == (verdict.reason is None), (seed, number)
        if seed:
            break


BOUNDS = 3, 8, 12  # times the largest size that is listed


@pytest.mark.parametrize(
    "name, asked",
    [
        ("affine", "i < out.size"),
        ("every_second", "a.size, 2"),
        ("add_bias", "col < out.shape[1]"),
        ("row_sums", "a.shape[1], 32"),
        ("column_sums", "if row < src.shape[0]"),
    ],
)
def test_a_bound_beyond_three_times_the_listed_sizes_is_refused(name, asked):
    """A size is drawn beyond each number of the kernel."""
    task = exercise(name)
    most = max(max(np.atleast_1d(it)) for it in (*task.even, *task.ragged))
    what = re.search(r"\w+\.(size|shape\[\d\])", asked)[0]
    for times in BOUNDS:
        bound = times * int(most) + 1
        new = asked.replace(what, f"min({what}, {bound})")
        text = sources.edited(task.answer_text, asked, new)
        verdict = task.judge(task.kernel(text), 1)
        assert verdict.reason, (bound, verdict.text)


def test_numbers_beyond_what_is_quick_to_emulate_make_no_size():
    """A mask of all lanes is one; the farthest that is none makes a size beyond it."""
    task = exercise("affine")
    first, *_, larger = trials_of(task, 1)
    outcomes = [it.run(task.kernel(task.answer_text)) for it in (first, larger)]
    too_large, farthest = {0xFFFFFFFF, FARTHEST + 1}, {FARTHEST}

    assert [] == far_trials(task, 1, OwnNumbers(too_large, too_large), outcomes)
    (far,) = far_trials(task, 1, OwnNumbers(farthest, set()), outcomes)
    assert far.size > (FARTHEST,)


PROMISED = {  # what is always the same, or a multiple of a number, in the text's words
    "count_above": {"count 0": "`count[0]`"},
    "ray_sphere": {"spheres 1": "x, y and z, and the radius"},
    "cubic": {"weights 0": "known at compile time"},
    "n_body": {
        "velocities 0": "along x, y and z",
        "bodies 0": "x, y, z and mass of each body, one body after the other",
    },
    "k_means": {
        "points 0": "x and y",
        "centres 0": "x and y",
        "centres 1": "nearest of 8 centres",
    },
    "take_apart": {
        "out 0": "the rows of `out` are x, y, z, mass",
        "structs 0": "x, y, z and mass of each particle, one particle after the other",
    },
    "swizzle": {"out 1": "row of 32", "a 1": "row of 32"},
    "relay": {"out 0": "A block of 64 threads"},
    "dot": {"out 0": "`out[0]`"},
    "last_block": {"out 0": "`out[0]`", "finished 0": "`finished[0]`"},
    "channels_last": {"dst 2": "3 channels", "src 0": "3 channels"},
    "wide_turn": dict.fromkeys(
        ("dst 0", "dst 1", "src 0", "src 1"), "sides are multiples of four"
    ),
    **dict.fromkeys(
        ("wide_tile", "two_rows", "four_by_four"),
        dict.fromkeys(
            ("c 0", "c 1", "a 0", "a 1", "b 0", "b 1"), "sides are multiples of 32"
        ),
    ),
    "rows_of_a_thread": dict.fromkeys(
        ("c 0", "c 1", "a 0", "a 1", "b 0", "b 1"), "sides are multiples of 16"
    ),
    "distance_matrix": {"p 0": "row 1 holds y", "q 0": "row 1 holds y"},
    "column_sums": dict.fromkeys(("dst 0", "src 1"), "takes 256 columns"),
    "in_place": {
        "c 0": "each has 8 × 8 sums",
        "c 1": "each has 8 × 8 sums",
        "a 1": "with 64 columns",
        "b 1": "each has 8 × 8 sums",
    },
    "spread": {"a 0": "Each block of 128 threads computes the variance of its 128"},
    "wide_distance": {
        "out 0": "`out[0]`",
        **dict.fromkeys(("a 0", "b 0"), "of the same length, a multiple of four"),
    },
    "running_totals": {"taken 0": None},  # the kernel that is given has it
    "scan_fours": dict.fromkeys(("out 0", "a 0"), "of `a` is a multiple of 4"),
    "letters": {"counts 0": "`counts[25]` for z"},
    "remainders": {"counts 0": "from 0 to 63"},
    "sixteen_at_once": {
        "counts 0": "upper six bits",
        "words 0": "the size of `words` is a multiple of four",
    },
    "average": {"out 0": "`out[0]`"},
    "brightest": {"out 0": "`out[0]`"},
}


@pytest.mark.parametrize("name", KERNELS)
def test_what_never_varies_is_promised(name):
    """Numbers, and extents of axes, as that they are multiples, in the text; launches
    on the page, with all sizes.
    """
    task = exercise(name)
    text = " ".join(task.task.split())
    found = {}
    for arguments in (it.held() for it in trials_of(task, 1)):
        for it, value in arguments.items():
            for axis, extent in enumerate(np.shape(value)):
                found.setdefault(f"{it} {axis}", set()).add(extent)
            if not np.shape(value):
                found.setdefault(it, set()).add(value)
    extents = {it for it in found if " " in it}
    same = {it for it, values in found.items() if len(values) == 1}
    same |= {it for it in extents if gcd(*found[it]) > 1}

    assert same == PROMISED.get(name, {}).keys()
    for words in PROMISED.get(name, {}).values():
        assert words is None or words in text
    assert "Launch:" in as_text(task)

"""Values that are hardly ever drawn: where they are put, and where not."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.exercises import judging, sources
from helpers.exercises.arguments import InOut, Out
from helpers.exercises.bounds.numbers import OwnNumbers
from helpers.exercises.catalogue import exercise
from helpers.exercises.drawn.special import make_equal, put_into
from helpers.exercises.trials import (
    drawn_trials,
    far_trials,
    listed_trials,
    trials_of,
)
from tests.exercises.kinds import KERNELS
from tests.quick import some

RNG = np.random.default_rng(1)
WRONG = [  # for values that random numbers do not have
    ("affine", "factor * x[i] + offset", "factor * x[i] if x[i] == 0 else {}"),
    ("dot", "a[i] * b[i]", "{} if a[i] != 0 else float32(1)"),
    ("blend", "max(a[i], b[i])", "{} if a[i] != b[i] else float32(0)"),
    ("blend", "max(a[i], b[i])", "{} if a[i] != 0 else b[i]"),
    ("transpose", "src[top + y, left + x]", "{0} if {0} != 0 else float32(5)"),
    ("brightest", "a[i])", "min(a[i], 2147483646))"),
    ("embedding", "word >= 0", "{} or word == -2147483648"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name, old, new", WRONG)
def test_who_is_wrong_for_a_value_that_is_hardly_ever_drawn_is_refused(name, old, new):
    task = exercise(name)
    text = sources.edited(task.answer_text, old, new.format(old))

    for seed in (1, 2, 3):
        assert task.judge(task.kernel(text), seed).reason


ALIKE = [  # where all that a warp, a block or a row has is alike
    ("count_above", "popc(votes)", "popc(votes) & 31"),
    ("letters", "total += own[{0}]", "total += own[{0}] & 63"),
    ("attention", "total / whole", "total / whole if whole != keys else float32(0)"),
    ("column_ends", "high - low", "high - low if high != low else a[0, col]"),
    ("dot", "0, tile[0]", "0, tile[0] if tile[0] != 0 else float32(1)"),
]


@pytest.mark.parametrize("name, old, new", ALIKE)
def test_who_is_wrong_where_all_numbers_are_alike_is_refused(name, old, new):
    task = exercise(name)
    cell = "32 * thread + (thread + turn) % 32"
    text = sources.edited(task.answer_text, old.format(cell), new.format(cell))

    for seed in (1, 2):
        assert task.judge(task.kernel(text), seed).reason


def test_equal_elements_add_up_exactly():
    """Floats are powers of two, where there are smaller ones; what is fixed stays."""
    third = [listed_trials(exercise(it), 1)[2] for it in ("dot", "cubic", "csr")]
    arrays = {
        name: value
        for trial in third
        for name, value in trial.arguments.items()
        if isinstance(value, np.ndarray)
    }
    fixed = [arrays.pop(it) for it in ("weights", "starts", "columns")]

    assert all(1 == len(np.unique(it)) for it in arrays.values())
    assert {0.5} == {float(np.abs(np.frexp(it.flat[0])[0])) for it in arrays.values()}
    assert all(len(np.unique(it)) > 1 for it in fixed)


def test_whole_numbers_are_zero_for_one_block():
    """In the launch in which sums of them are exact: each thread's, turn by turn."""
    task = exercise("dot")
    _, whole, *_ = listed_trials(task, 1)
    (blocks, threads), (n,) = whole.launch, whole.size
    zero = (whole.arguments["a"] == 0).reshape(-1, blocks, threads)

    assert 1 == zero.all((0, 2)).sum() and n / blocks == zero.sum()


@pytest.mark.parametrize("name, extent", [("column_ends", 2060), ("blend", 5000)])
def test_extremes_are_last_beyond_a_kernel_s_numbers(name, extent):
    """So that a maximum shows who does not come there."""
    task = exercise(name)
    outcomes = [it.run(task.kernel(task.answer_text)) for it in trials_of(task, 1)]
    numbers = OwnNumbers({extent}, {extent})

    far, *_ = far_trials(task, 1, numbers, outcomes)

    a = far.arguments["a"]
    assert far.size[0] > extent and a.max() == a.flat[-1] and a.min() == a.flat[-2]


BY_SEED = [  # for whole numbers next to the ends of their type, in a variant
    ("turn_float64", 4, "33), int64)", "33), float64)"),
    ("turn_rows", 1, "array(0, int64)", "array(0, float64)"),
    ("turn_rows", 0, "= marks[row, col]", "= marks[row, col] & 255"),
    ("turn_rows", 0, "= marks[row, col]", "= min(marks[row, col], 9999)"),
]


@pytest.mark.parametrize("name, variant, old, new", BY_SEED)
def test_who_keeps_whole_numbers_in_what_holds_fewer_is_refused(
    name, variant, old, new
):
    """As 64 bits in a float64, or 16 bits in 8."""
    task = exercise(name, variant)
    kernel = task.kernel(sources.edited(task.answer_text, old, new))

    for seed in (1, 2):
        assert task.judge(kernel, seed).reason in ("wrong", "tail")


@pytest.mark.parametrize(
    "kind, low, high, zero, ends",
    [
        ("float32", -9, 9, True, 0),
        ("float32", 1, 9, False, 0),
        ("int32", -(2**29), 2**29, True, 2),
        ("int32", 1, 2**29, False, 1),
        ("int32", -5, 90, True, 0),  # indices, or levels
        ("uint8", 0, 63, True, 0),
    ],
)
def test_special_values_stay_within_what_an_array_holds(kind, low, high, zero, ends):
    """A zero only between numbers of both signs, the ends of a type only near them."""
    values = np.linspace(low, high, 200).astype(kind)
    array = values.copy()
    put_into(array, RNG)

    assert len(np.unique(array)) < len(np.unique(values)) or kind == "uint8"
    assert zero == bool((array == 0).any())
    if kind != "float32":
        limits = np.iinfo(kind)
        assert ends == np.isin(array, [limits.min, limits.max]).sum() or low == 0
    if not ends:
        assert (low <= array).all() and (array <= high).all()


def test_two_arrays_become_equal_and_opposite_somewhere():
    one, other = RNG.uniform(-9, 9, (2, 300)).astype("float32")
    make_equal(one, other, RNG)

    assert (one == other).any() and (one == -other).any()


@pytest.mark.parametrize("name", some(KERNELS, every=8))
def test_the_answer_of_an_exercise_is_right_for_them(name):
    """Or, where it is not, at another one of the sizes: else nothing is asked."""
    task = exercise(name)
    trials = [it for it in drawn_trials(task, 1) if it.special and it.kind == "smaller"]
    case = judging.JudgedKernel(task, task.kernel(task.answer_text), 1)
    outcomes = [it.run(case.kernel) for it in trials]

    assert trials or task.rtol is not None
    assert not trials or any(judging.is_right_there(case, it) for it in outcomes)


def test_what_is_fixed_or_written_stays():
    task = exercise("csr")
    some = [it for it in drawn_trials(task, 1) if it.special]

    assert len(some) >= 2
    for it in some:
        plain = replace(it, arguments=task.inputs(np.random.default_rng(1), *it.size))
        assert [*plain.arguments] == [*it.arguments]
        kinds = (Out, InOut)
        for name, value in it.arguments.items():
            same = [isinstance(value, kind) for kind in kinds]
            assert same == [isinstance(plain.arguments[name], kind) for kind in kinds]
        assert (np.diff(it.arguments["starts"]) >= 0).all()

"""What a seed chooses: a variant, and the numbers and larger sizes of its trials."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.exercises import sizes, sources
from helpers.exercises.arguments import POISON, numbers
from helpers.exercises.bounds.numbers import numbers_written, own_numbers
from helpers.exercises.catalogue import exercise
from helpers.exercises.judging import JudgedKernel
from helpers.exercises.trials import drawn_trials, trials_of
from tests.exercises.specimen import PairSums
from thirty_two_lanes.core import ir

TASK = PairSums()


def test_a_variant_depends_on_the_seed_and_other_numbers_do_not():
    """Without a seed the first choices hold; a new trial has new numbers."""
    assert {"threads": 64, "type": "float32"} == PairSums().chosen
    assert 4 == len({tuple(PairSums(seed).chosen.values()) for seed in range(40)})
    assert PairSums(7).chosen == PairSums(7).chosen

    first, second = trials_of(TASK, 1), trials_of(TASK, 2)
    assert not np.array_equal(first[0].arguments["a"], second[0].arguments["a"])
    assert 1 == len({*first[2].arguments["a"]} & {*first[0].arguments["a"]})
    assert "256, with numbers that are all equal" == first[2].words
    assert [256, 256, 256, 64, 1, 33, 100] == [it.size[0] for it in first[:-4]]


class Boxes(PairSums):
    """Three axes, of which only the first has no limit."""

    even, ragged = ((8, 40, 64),), ((4, 4, 4), (12, 8, 4))
    limits, multiple = (None, 44, 64), 4

    def inputs(self, rng, *size):
        return {}

    def launch(self, *size):
        return size, 1


def test_larger_sizes_are_drawn_from_the_seed():
    """Along each axis two to three times the largest, or as large as there may be."""
    drawn = [trials_of(TASK, seed)[-1].size[0] for seed in range(60)]
    boxes = [it.size for seed in range(60) for it in trials_of(Boxes(), seed)[-2:]]

    assert drawn == [trials_of(TASK, seed)[-1].size[0] for seed in range(60)]
    assert {511, 575, 639, 703} == {*drawn} - {767}  # whole blocks, and 63
    deep, wide = boxes[::2], boxes[1::2]
    assert {28, 32, 36} == {depth for depth, _, _ in deep}
    assert {44} == {rows for _, rows, _ in wide}
    assert {4, 8} == {rows for _, rows, _ in deep}
    assert {4, 8, 12, 16} == {cols for _, _, cols in boxes}


@pytest.mark.parametrize(
    "name, units",
    [
        ("affine", [128]),
        ("dot", [512]),  # of all blocks, as there are always four
        ("scan", [64]),  # of the only block
        ("scan_fours", [128]),
        ("life", [16, 16]),
        ("walk_down", [32, 32]),  # rows of a block
        ("product", [16, 16, 16]),  # the last of a block's first axis
        ("wide_turn", [32, 32]),
        ("column_sums", [1, 1]),
    ],
)
def test_larger_sizes_are_one_less_than_whole_blocks(name, units):
    """Along the axis on which they are larger; and one more along others."""
    task = exercise(name)
    for seed in range(9):
        for axis, size in enumerate(sizes.larger_sizes(task, seed)):
            for each, (extent, unit) in enumerate(zip(size, units, strict=True)):
                beside = extent // task.multiple % (unit // task.multiple or 1)
                if each == axis:
                    assert (unit // task.multiple or 1) - 1 == beside, size
                elif extent > unit > 1:
                    assert 1 == beside, size


def test_sizes_between_those_that_are_listed_are_drawn():
    """One that a warp has lanes for, and one up to the largest, along each axis."""
    drawn = [[*sizes.smaller_sizes(TASK, seed)] for seed in range(200)]
    boxes = {it for seed in range(60) for it in sizes.smaller_sizes(Boxes(), seed)}

    columns = zip(*drawn, strict=True)
    few, more, alike = ({size[0] for size in column} for column in columns)
    assert {*range(2, 33)} == few
    assert 1 == min(more) and 200 < max(more) <= 256
    assert 20 > min(alike) and 200 < max(alike) <= 256
    assert {0} == {it % 4 for size in boxes for it in size}
    assert all(np.less_equal(size, (12, 40, 64)).all() for size in boxes)


class Scaled(PairSums):
    """Half the sums, with a number that is no array."""

    def inputs(self, rng, n):
        factor = np.float32(rng.choice((-0.25, 3.5)))
        return {**super().inputs(rng, n), "factor": factor}

    def spec(self, a, factor):
        return super().spec(a) * factor


class Means(PairSums):
    """Thirds, which are whole by chance alone."""

    def spec(self, a):
        return super().spec(a) / np.float32(3)


def test_one_trial_has_small_whole_numbers():
    """There an output that is whole, too, is right to the last bit."""
    first, whole, *_ = trials_of(Scaled(), 1)

    a = whole.arguments["a"]
    assert {"float32"} == {it.arguments["a"].dtype.name for it in (first, whole)}
    assert np.array_equal(a, np.round(a)) and 1 < np.abs(a).max() <= 8 and a.all()
    assert whole.arguments["factor"] in (-1, 4)
    assert (0, None) == (whole.rtol("out"), first.rtol("out"))
    assert "256, with numbers that are whole" == whole.words
    assert trials_of(Means(), 1)[1].rtol("out") is None


def test_an_exercise_knows_its_seed():
    """The cell that checks an answer asks for the same variant."""
    assert [None, 7, "a"] == [PairSums(it).seed for it in (None, 7, "a")]


def test_what_is_given_says_how_long_an_answer_is():
    """Lines of code; blank ones and the docstring do not count."""
    text = '@cuda.jit\ndef one(a):\n    """It."""\n    i = 0\n\n    a[i] = 1'
    assert sources.stub_of(text).endswith('"""It."""\n    # your code, about 2 lines')


def test_outputs_are_unwritten_when_a_kernel_starts():
    """Each byte of them is one that tells so; inputs are copies."""
    trial = trials_of(TASK, 1)[0]
    held = trial.held()

    assert {POISON} == set(held["out"].tobytes())
    assert np.array_equal(trial.arguments["a"], held["a"])
    assert not np.shares_memory(trial.arguments["a"], held["a"])


def test_a_size_is_drawn_up_to_its_limit():
    """Also where the limit is twice the largest that is listed, or just above it."""
    rng = np.random.default_rng(1)
    for limit, drawn in ((None, {*range(21, 31)}), (20, {*range(11, 21)}), (11, {11})):
        assert drawn == {sizes.beyond(rng, 10, limit) for _ in range(400)}
    assert 10 == sizes.beyond(rng, 10, 10)
    assert {15, 16} == {sizes.beyond(rng, 10, 16, bound=14) for _ in range(400)}


def test_the_numbers_of_a_long_chain_are_found_at_once():
    """Each of 60 lines adds what is before it to itself: 2**60 ways lead back."""
    code = [ir.Copy(("v0",), (ir.Const(np.float64(3)),)), ir.Copy(("w0",), ("a",))]
    for n in range(60):
        for name in "vw":
            both = (f"{name}{n}",) * 2
            code.append(ir.Operation(f"{name}{n + 1}", "add", both, None))

    found, _ = numbers_written(SimpleNamespace(blocks=[code]), 64)

    assert {3 << n for n in range(60)} <= found


@pytest.mark.parametrize(
    "bound, number",
    [
        ("i < 500", 500),
        ("i < cuda.blockDim.x * cuda.blockDim.x", 4096),
        ("i < cuda.blockDim.x**2", 4096),
        ("i == int16(i)", 32768),
    ],
)
def test_a_number_that_a_kernel_compares_is_known(bound, number):
    """Also one that it computes of its block, or that its type does not hold."""
    text = TASK.answer_text.replace("if i < a.size:", f"if i < a.size and {bound}:")
    case = JudgedKernel(TASK, TASK.kernel(text), 1)

    found = own_numbers(case.program.ir, None, 64)

    assert number in found.bounds and number in found.all


def test_the_sizes_of_a_kernel_s_arrays_are_known():
    """Of shared and of local memory: along each axis, and of all cells."""
    text = TASK.answer_text.replace(
        "    if t == 0:",
        "    own = cuda.local.array((3, 700), float32)\n"
        "    own[t % 3, 0] = a[0]\n"
        "    if t == 0:",
    )
    case = JudgedKernel(TASK, TASK.kernel(text), 1)

    found = own_numbers(case.program.ir, None, 64)

    assert {65, 700, 2100} <= found.bounds & found.all


def test_the_scale_of_floats_is_drawn():
    """From one launch to the next; whole numbers fill a part of their type."""
    rng = np.random.default_rng(1)
    floats = [numbers(rng, "float32", -9, 10, 99) for _ in range(60)]
    whole = [numbers(rng, "int32", -9, 10, 99) for _ in range(60)]

    largest, smallest = (f(np.abs(it).max() for it in floats) for f in (max, min))
    assert 1000 < largest and 1 > smallest
    assert all(2**28 < np.abs(it).max() < 2**30 for it in whole)


def test_sizes_go_farther_where_a_number_is_compared():
    """As far as is affordable; where a block's work does not grow, to the end."""
    assert (1000, 10_000) == sizes.reaches(100, 1, busiest=3000, listed=300)
    assert (10_000, 70_000) == sizes.reaches(100, 1, busiest=300, listed=300)
    assert (17_500, 35_000) == sizes.reaches(1000, 4, busiest=300, listed=300)


@pytest.mark.parametrize("name", ["grid_stride", "every_second", "affine", "dot"])
def test_one_launch_has_one_block_where_their_number_differs(name):
    """So that nobody counts on a second one."""
    drawn = drawn_trials(exercise(name), 1)

    (alone,) = (it for it in drawn if it.alone)
    usual = exercise(name).launch(*alone.size)
    differs = name in ("grid_stride", "every_second")
    assert (1, usual[1]) == alone.launch if differs else usual == alone.launch

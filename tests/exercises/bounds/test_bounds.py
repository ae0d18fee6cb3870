"""Bounds of a kernel, however they are spelt: where what it asks turns."""

import pytest

from helpers.exercises import sources
from helpers.exercises.bounds.numbers import IN_A_BLOCK
from helpers.exercises.catalogue import exercise
from helpers.exercises.judging import JudgedKernel
from tests.exercises.kinds import KERNELS
from tests.quick import some

GUARD = "if i < out.size:"
SPELT = {  # a bound in the place of another, and where it is
    "i * i < 400_000_000": 20_000,
    "i * 1000 < 20_000_000": 20_000,
    "(i >> 7) >> 7 == 0": 1 << 14,
    "cuda.clz(int32(i)) > 17": 1 << 14,
    "math.sqrt(float(i)) < 120": 14_400,
    "int32(i * 100_000) >= 0": 21_475,
    "i < (0x7FFF ^ 0x3000)": 0x4FFF,
    "i < cuda.blockDim.x * 7 * 20": 17_920,
    "out.size // 5000 < 4": 20_000,
    "cuda.blockIdx.x * cuda.blockIdx.x < 20_000": 142 * 128,
}


def case_of(name, *edits):
    task = exercise(name)
    return JudgedKernel(task, task.kernel(sources.edited(task.answer_text, *edits)), 1)


def numbers_of(case):
    return case.numbers


@pytest.mark.parametrize("spelt", SPELT)
def test_a_bound_is_found_however_it_is_spelt(spelt):
    """And the check launches a size beyond it."""
    case = case_of("affine", GUARD, f"if i < out.size and {spelt}:")
    numbers, bound = numbers_of(case), SPELT[spelt]

    near = {*numbers.bounds, *(128 * it for it in numbers.blocks)}
    assert any(bound <= it <= 1.02 * bound + 128 for it in near)
    assert "larger" == case.task.judge(case.kernel, 1).reason


KEPT = {  # what a place went through before it is compared
    "a shuffle": "j = cuda.shfl_sync(0xFFFFFFFF, i, cuda.laneid)",
    "shared memory": "t = cuda.shared.array(128, int32)\n    t[cuda.threadIdx.x] = i\n"
    "    j = t[cuda.threadIdx.x]",
    "an array of its own": "t = cuda.local.array((2, 2), int32)\n    t[0, 1] = i\n"
    "    j = t[0, 1]",
}


@pytest.mark.parametrize("through", KEPT)
def test_a_bound_is_found_of_what_went_through_memory(through):
    case = case_of(
        "affine", GUARD, f"{KEPT[through]}\n    {GUARD[:-1]} and j * j < 3e7:"
    )

    assert any(5477 <= it <= 1.02 * 5477 for it in numbers_of(case).bounds)


@pytest.mark.parametrize(
    "made, first",
    [
        ("int(float32(i))", 2**24 + 1),
        ("int(np.float16(i))", 2**11 + 1),
        ("int(float32(i) * float32(i))", 2**12),
        ("int(float32(i) + float32(out.size))", 2**24 + 1),
        ("float32(i) < float32(out.size)", 2**24 + 1),
    ],
)
def test_a_place_that_is_made_a_float_is_rounded_from_a_number_on(made, first):
    case = case_of("affine", GUARD, f"if i < out.size and {made} > -1:")

    assert first in numbers_of(case).bounds


BEYOND = {"i ** 5 >= 0": 6209, "i * 1000000007 * 1000003 >= 0": 9224}


@pytest.mark.parametrize("name", ["affine", "fix_guard"])
@pytest.mark.parametrize("asked", BEYOND)
def test_where_an_index_makes_a_number_beyond_its_type_is_a_bound(name, asked):
    """However often the sign of what is left of it changes from there on."""
    case = case_of(name, GUARD, f"if i < out.size and {asked}:")

    assert any(BEYOND[asked] <= it <= 1.02 * BEYOND[asked] for it in bounds_of(case))
    assert "larger" == case.task.judge(case.kernel, 1).reason


def bounds_of(case):
    return numbers_of(case).bounds


COUNTER = "if i < out.size:\n        c = {start}\n        for _ in range({turns}):\n"
COUNTER += "            c = {made}\n        if int(c) < 0:\n            out[i] = 0"


@pytest.mark.parametrize("name", ["affine", "blend"])
@pytest.mark.parametrize(
    "start, made, first",
    [
        ("np.float16(0)", "np.float16(c + np.float16(1))", 2**11 + 1),
        ("float32(-1)", "c + float32(1)", 2**24 + 2),
        ("np.float16(0)", "c + np.float16(100)", 2**13 // 100 + 1),
        ("float32(0)", "c + float32(0.32)", 0),
    ],
)
def test_a_float_that_counts_turns_rounds_from_a_number_on(name, start, made, first):
    """Where a constant says how many turns there are, it does not."""
    counter = COUNTER.format(start=start, made=made, turns="out.size")
    few = COUNTER.format(start=start, made=made, turns="5")

    def told(loop):
        case = case_of(name, GUARD, f"{loop}\n    {GUARD}")
        return {it.number for it in numbers_of(case).along if "rounds" in it.does}

    assert {first} == told(counter)
    assert set() == told(few)


ONCE = "_ in range({}):\n        pass\n    for i in range("
ROWS = "range(block, {}".format
BY_GRID = {
    ("grid_stride", "i in range(", ONCE.format("cuda.gridsize(1)")): 128,
    ("every_second", "i in range(", ONCE.format("cuda.gridDim.x ** 5")): 32,
    (
        *("sums_of_all", ROWS("a.shape[0]")),
        ROWS("min(a.shape[0], cuda.gridDim.x ** 6)"),
    ): 4096,
}


@pytest.mark.parametrize("spelt", BY_GRID)
def test_what_is_made_of_the_size_of_the_grid_is_a_number(spelt):
    """Where the number of blocks does not grow with the size."""
    number, own = BY_GRID[spelt], case_of(spelt[0])

    assert number in numbers_of(case_of(*spelt)).bounds
    assert number not in numbers_of(own).bounds


@pytest.mark.parametrize(
    "name, asked",
    [
        ("sums_of_all", {3, 4}),  # blocks
        ("largest", {16, 32}),  # threads that take part
        ("scan", {129, 193, 194}),  # beyond so many turns of a loop that is under way
        ("letters", {454, 576, 716}),
        ("wide_tile", {17, 33, 49}),
    ],
)
def test_what_a_right_kernel_asks_of_its_launch_counts_no_turns(name, asked):
    """Sizes beyond so many of them would take long."""
    assert not asked & numbers_of(case_of(name)).all


@pytest.mark.parametrize("name", ["affine", "blend", "fix_guard"])
def test_nothing_is_asked_where_the_own_answer_is_not_right(name, monkeypatch):
    """At sizes beyond a kernel's numbers, as at others that are hardly ever drawn."""
    case = case_of(name, GUARD, "if i < out.size and i < 5000:")
    text = sources.edited(case.task.answer_text, GUARD, "if i < out.size and 5000 > i:")

    assert "larger" == case.task.judge(case.kernel, 1).reason
    monkeypatch.setattr(type(case.task), "answer_text", text)
    assert None is case.task.judge(case.kernel, 1).reason


def test_who_counts_in_a_part_of_a_word_is_known():
    added, packed = "32 * letter + lane, 1)", "letter, 1 << (8 * (letter % 4)))"

    assert numbers_of(case_of("letters", added, packed)).packed
    assert not numbers_of(case_of("letters")).packed


@pytest.mark.parametrize("turns, start, step", [(7, 0, "+= 1000"), (14, 1, "*= 2")])
def test_a_bound_may_be_what_a_loop_makes(turns, start, step):
    loop = f"most = {start}\n    for _ in range({turns}):\n        most {step}\n    "
    case = case_of("affine", GUARD, f"{loop}if i < out.size and i < most:")

    assert {0: 7000, 1: 1 << 14}[start] in numbers_of(case).bounds


def test_a_loop_that_counts_without_an_end_ends_the_walk():
    """Nobody knows when it does, and it has other numbers in each turn."""
    loop = "k = 1\n    while x[0] > k:\n        k += 1\n    "
    case = case_of("affine", GUARD, f"{loop}if i < out.size and k < 5:")

    assert 5 in numbers_of(case).bounds


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, old, new, told",
    [
        (
            "affine",
            GUARD,
            "if i < out.size and i < 2_000_000:",
            "line 5 compares with 2,000,000.",
        ),
        (
            "affine",
            "= cuda.grid(1)",
            "= int(float32(cuda.grid(1)))",
            "line 4 rounds from 16,777,217 on.",
        ),
        (
            "embedding",
            "word = words[i]",
            "word = int(float32(words[i]))",
            "line 6 rounds from 16,777,217 on, of what it loads.",
        ),
        (
            "letters",
            "32 * letter + lane, 1)",
            "32 * letter + lane, 1 << (letter >> 5))",
            "line 15 counts in a part of a word.",
        ),
        (
            "in_place",
            "range(a.shape[0])",
            "range(min(a.shape[0], 400))",
            "line 16 compares with 400.",
        ),
    ],
)
def test_a_bound_that_no_launch_comes_to_is_told(name, old, new, told):
    """There is no time for it: a person may look."""
    case = case_of(name, old, new)
    verdict = case.task.judge(case.kernel, 1)

    assert verdict.reason is None
    assert verdict.note.startswith("Not tried beyond ") and verdict.note.endswith(told)
    assert verdict.sentence.endswith(verdict.note)


@pytest.mark.parametrize("often", ["out.size % 1000 < 999", "i % 1000 != 999"])
def test_of_what_turns_again_and_again_nothing_is_told(often):
    """It has done so at sizes that were tried: where a size that is looked at far
    beyond these is next to a multiple, is chance.
    """
    case = case_of("affine", GUARD, f"if i < out.size and ({often} or i < 10**8):")
    beyond = [it for it in numbers_of(case).along if it.number > 100_000]

    assert beyond and all(it.again for it in beyond)
    assert "" == case.task.judge(case.kernel, 1).note


@pytest.mark.parametrize("name", some(KERNELS, every=8))
def test_an_answer_has_no_bound_beyond_its_sizes(name):
    """So nothing is told of it, and no launch is made because of one."""
    bounds = numbers_of(case_of(name)).along

    assert not [
        it
        for it in bounds
        if it.number > 512 and not it.place[0].startswith(IN_A_BLOCK)
    ]

"""Twins, and the wide loads and stores that are built on them."""

from itertools import product

import numpy as np
import pytest
from numba import cuda, float32, njit, types
from numba.core.extending import intrinsic

from helpers import assemble, emulate, load4, store4, twin
from tests.quick import beside
from tests.specimens.kernels import doubled, message, number_intrinsic, through_shared
from thirty_two_lanes.assembly.compiler import missing
from thirty_two_lanes.core.errors import EmulatorFault, UnsupportedError
from thirty_two_lanes.emulator import KernelError
from thirty_two_lanes.emulator.machine.twins import Lanes

FOUR_BYTES = np.float32, np.int32, np.uint32
needs_compiler = pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")

mean_of_two = number_intrinsic("mean_of_two", types.float32)
both_ways = number_intrinsic("both_ways", types.UniTuple(types.int64, 2))
without_twin = number_intrinsic("without_twin", types.int64)


@twin(mean_of_two)
def _mean_of_two(x, y):
    return (x + y) / 2


@twin(both_ways)
def _both_ways(x, y):
    return x // y, y // x


@cuda.jit
def uses_values(out):
    i = cuda.grid(1)
    up, down = both_ways(i + 1, 3)
    out[i] = mean_of_two(i, 3) + 100 * up + 10000 * down


@cuda.jit
def uses_none(out):
    out[0] = without_twin(1, 2)


@cuda.jit
def misaligned(a, out):
    x, y, z, w = load4(a, 4 * cuda.threadIdx.x + 2)
    out[0] = x + y + z + w


def test_a_twin_computes_with_the_operands_of_all_lanes():
    """Its result has the type that Numba gave the intrinsic; it may be a tuple."""
    out = np.zeros(64)

    emulate(uses_values)[2, 32](out)

    i = np.arange(64)
    expected = (i + 3) / 2 + 100 * ((i + 1) // 3) + 10000 * (3 // (i + 1))
    np.testing.assert_array_equal(expected, out)


def test_an_intrinsic_without_a_twin_is_refused_by_name_and_line():
    """With what to write."""
    text = message(TypeError, uses_none, 1, 1, np.zeros(1))

    assert "`without_twin` has no twin" in text and "@twin(without_twin)" in text
    assert "out[0] = without_twin(1, 2)" in text


@pytest.mark.parametrize("error", [ValueError("too wide"), MemoryError()])
def test_a_mistake_in_a_twin_of_the_tool_names_the_twin(error, monkeypatch):
    """And is the tool's fault; but too little memory is nobody's."""

    def stop(*arguments):
        raise error

    monkeypatch.setattr(Lanes, "load", stop)
    with pytest.raises(UnsupportedError) as told:
        emulate(doubled)[1, 32](np.zeros(128, np.float32), np.zeros(128, np.float32))

    text = " ".join(str(told.value).split())
    ours = isinstance(error, ValueError)
    assert ours == isinstance(told.value, EmulatorFault)
    assert ours == ("the twin `_load4` that stands for this call stopped with" in text)
    assert ours == ("ValueError: too wide (wide_access.py, line " in text)
    assert ours != ("too little memory" in text)
    assert "load4(" in text.rpartition(")")[0]


@pytest.mark.parametrize("dtype", FOUR_BYTES)
def test_four_neighbours_are_one_request(dtype):
    """Sixteen sectors a warp; the last warp is short."""
    a, out = np.arange(600, dtype=dtype), np.zeros(600, dtype)

    run = emulate(doubled)[5, 32](a, out)

    np.testing.assert_array_equal(2 * a, out)
    for kind in ("load", "store"):
        row = run.coalescing.by_kind[kind]
        assert (5, 75) == (row.requests, row.sectors)


cpu_load4, cpu_store4 = intrinsic(load4._defn), intrinsic(store4._defn)


@njit
def moved_by_cpu(a, index, out):
    cpu_store4(out, -16, cpu_load4(a, index))
    cpu_store4(out, np.uint32(4), cpu_load4(a, index))


INDICES = (1, 2, 4), (-1, -3, -4), (np.uint32(1), np.int32(-1), 0)


@pytest.mark.parametrize(
    "index, dtype",
    beside([*zip(INDICES, FOUR_BYTES, strict=True)], product(INDICES, FOUR_BYTES)),
)
def test_the_code_for_a_gpu_moves_what_numpy_does(index, dtype):
    """Numba compiles it for the CPU, too, where it runs: each index counts by its own
    axis, from the end if it is negative.
    """
    a = np.arange(48, dtype=dtype).reshape(2, 3, 8)
    out = np.zeros(40, dtype)

    moved_by_cpu(a, index, out)

    expected = np.zeros(40, dtype)
    four = a[index[:2]][index[2] :][:4]
    expected[4:8] = expected[24:28] = four
    np.testing.assert_array_equal(expected, out)


def test_fours_in_shared_memory_take_four_wavefronts():
    """One for each quarter of a warp, and no conflict."""
    a = np.random.default_rng(0).random((3, 128), np.float32)
    out = np.zeros_like(a)

    run = emulate(through_shared)[3, 32](a, out)

    np.testing.assert_array_equal(a.reshape(3, 32, 4)[:, ::-1].reshape(3, 128), out)
    assert 3 * 2 * 4 == run.bank_conflicts.wavefronts
    assert 0 == run.bank_conflicts.conflicts


def test_a_misaligned_four_is_an_error():
    """A GPU stops there: line, thread and remedy."""
    text = message(KernelError, misaligned, 1, 4, np.zeros(40, np.float32), np.zeros(1))

    assert "16 bytes of `a`" in text and "misaligned" in text
    assert "thread 0 of block 0" in text and "multiple of 4" in text


def test_four_that_do_not_fit_are_out_of_bounds():
    """The last of them decides; a negative index does not run into the beginning."""
    a, out = np.zeros(10, np.float32), np.zeros(12, np.float32)

    assert "reads a[11]" in message(IndexError, doubled, 1, 32, a, out)


@cuda.jit
def four_before(a, out):
    """Thread 0 computes -4, and all threads write it."""
    t = cuda.threadIdx.x
    x, _, _, w = load4(a, 4 * t - 4)
    y, _, _, z = load4(a, -4)
    out[t] = x + w + y + z


@cuda.jit
def over_the_end(a, out):
    x, _, _, _ = load4(a, -1)
    out[0] = x


def test_a_wide_access_counts_a_negative_index_once():
    """That of the first of its four; one that is written as a number is meant."""
    a, out = np.arange(32, dtype=np.float32), np.zeros(8, np.float32)

    run = emulate(four_before)[3, 8](a, out)

    np.testing.assert_array_equal(59 + np.roll(a.reshape(8, 4)[:, ::3].sum(1), 1), out)
    (warning,) = (it for it in run.warnings if not it.note)
    assert warning.text.startswith("3 negative indices of `a` count from its end")
    assert "4 * t - 4" in warning.site.text
    rows = np.zeros((2, 1, 128), np.float32)
    emulate(through_shared)[1, 32](*rows).assert_no_warnings()


def test_four_at_the_last_element_run_over_the_end():
    """-1 is the last element, and three more are not there."""
    a, out = np.zeros(32, np.float32), np.zeros(1, np.float32)

    assert "reads a[34]" in message(IndexError, over_the_end, 1, 1, a, out)


@cuda.jit
def of_doubles(a):
    load4(a, 0)


@cuda.jit
def too_few_indices(a):
    load4(a, 4)


def test_what_has_no_wide_load_is_refused():
    """Eight-byte elements, and fewer indices than axes."""
    assert "`load4`" in message(TypeError, of_doubles, 1, 1, np.zeros(8))
    text = message(TypeError, too_few_indices, 1, 1, np.zeros((4, 4), np.float32))
    assert "as many indices" in text


@cuda.jit
def copied_at(index, a, b, c, to_a, to_b, to_c):
    store4(to_a, index, load4(a, index))
    store4(to_b, index, load4(b, index))
    store4(to_c, index, load4(c, index))


def opcodes(kernel, *arguments):
    """The machine code's, in order."""
    return [it.opcode for it in assemble(kernel)[1, 32](*arguments).instructions]


@needs_compiler
def test_the_compiler_makes_one_instruction_of_four():
    """Of each type; a sign costs the index the question whether it is negative."""
    arrays = [np.zeros(64, dtype) for dtype in FOUR_BYTES]

    unsigned = opcodes(copied_at, np.uint32(4), *arrays, *arrays)
    signed = opcodes(copied_at, np.int32(4), *arrays, *arrays)

    for found in (unsigned, signed):
        wide = [it for it in found if ".128" in it]
        assert ["LDG.E.128"] * 3 + ["STG.E.128"] * 3 == sorted(wide)
        assert not [it for it in found if it[:3] in ("LDG", "STG") and it not in wide]
    signs = [it for it in signed if it.startswith("USHF.R.S32.HI")]
    assert signs and not set(signs) & set(unsigned)


@needs_compiler
def test_the_compiler_makes_one_instruction_of_four_in_shared_memory():
    """Stores and loads, of rows of a tile."""
    rows = np.zeros((3, 128), np.float32)

    wide = [it for it in opcodes(through_shared, rows, rows) if ".128" in it]

    assert ["LDG.E.128", "STS.128", "LDS.128", "STG.E.128"] == wide


@cuda.jit
def of_three(a):
    store4(a, 0, (a[0], a[1], a[2]))


@cuda.jit
def of_one(a):
    store4(a, 0, a[0])


@cuda.jit
def to_doubles(a):
    x = float32(1)
    store4(a, 0, (x, x, x, x))


def test_what_has_no_wide_store_is_refused():
    """Three values, one, and elements of eight bytes."""
    four = np.zeros(4, np.float32)
    assert "four numbers, not one of 3" in message(TypeError, of_three, 1, 1, four)
    assert "four numbers, not float32" in message(TypeError, of_one, 1, 1, four)
    assert "`store4`" in message(TypeError, to_doubles, 1, 1, np.zeros(4))

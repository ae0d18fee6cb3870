"""Twins, and the wide loads and stores that are built on them."""

import numpy as np
import pytest
from numba import cuda, types

from helpers import emulate, load4, twin
from tests.specimens.kernels import doubled, message, number_intrinsic, through_shared
from thirty_two_lanes.core.errors import EmulatorFault, UnsupportedError
from thirty_two_lanes.emulator import KernelError
from thirty_two_lanes.emulator.machine.twins import Lanes

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


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32])
def test_four_neighbours_are_one_request(dtype):
    """Sixteen sectors a warp; the last warp is short."""
    a, out = np.arange(600, dtype=dtype), np.zeros(600, dtype)

    run = emulate(doubled)[5, 32](a, out)

    np.testing.assert_array_equal(2 * a, out)
    for kind in ("load", "store"):
        row = run.coalescing.by_kind[kind]
        assert (5, 75) == (row.requests, row.sectors)


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


@pytest.mark.parametrize("kernel, rank", [(doubled, 1), (through_shared, 2)])
def test_the_compiler_makes_vector_instructions(kernel, rank):
    """PTX: v4 loads and stores, in global and in shared memory."""
    array = types.Array(types.float32, rank, "C")
    try:
        text, _ = cuda.compile_ptx(kernel.py_func, (array, array), cc=(9, 0))
    except Exception as error:  # whatever says that there is no libNVVM
        pytest.skip(f"no compiler here: {type(error).__name__}")

    spaces = ("global",) if rank == 1 else ("global", "shared")
    for space in spaces:
        assert f"ld.{space}.v4" in text and f"st.{space}.v4" in text

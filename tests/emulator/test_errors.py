"""What a wrong launch, index or barrier gets: the place and the remedy."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.specimens.kernels import (
    add,
    line_of,
    message,
    reverse,
    reverse_without_barrier,
    unguarded,
)
from thirty_two_lanes.emulator import BarrierError, KernelError, LaunchError
from thirty_two_lanes.emulator.machine.accesses import access
from thirty_two_lanes.emulator.machine.machine import Launch


def test_an_index_beyond_the_end_is_told_with_all_that_a_reader_needs():
    """Line, array, index, shape, block, thread, and the guard to write."""
    text = message(IndexError, unguarded, 4, 32, np.zeros(100), np.zeros(128))

    line = line_of(unguarded, "out[i] = a[i]")
    assert f"line {line} reads a[100], but `a` has shape (100,)" in text
    assert "out[i] = a[i]" in text
    assert f"kernels.py, line {line}, thread 4 of block 3" in text
    assert "if i < a.size:" in text


def test_an_index_of_two_axes_names_the_axis():
    """The thread and block are told by as many coordinates as the launch has."""

    @cuda.jit
    def fill(out):
        row, col = cuda.grid(2)
        out[row, col] = 1

    text = message(IndexError, fill, (2, 3), (4, 8), np.zeros((8, 20)))

    assert (
        "writes out[0, 20], but `out` has shape (8, 20): along axis 1 the last index "
        "is 19" in text
    )
    assert "thread (0, 4) of block (0, 2)" in text
    assert "out.shape[1]" in text


def test_an_index_too_far_below_zero_is_refused():
    """-1 is the last element, as in Numba; -6 of five is nowhere."""

    @cuda.jit
    def before(a, out):
        t = cuda.threadIdx.x
        out[t] = a[-1 - t]

    out = np.zeros(8)

    text = message(IndexError, before, 1, 8, np.arange(5.0), out)
    emulate(before)[1, 5](np.arange(5.0), out)

    assert "reads a[-6]" in text and "thread 5 of block 0" in text
    assert "this one goes too far" in text
    assert [4, 3, 2, 1, 0] == out[:5].tolist()


def test_an_unsigned_index_does_not_wrap_round():
    """A uint32 of 2**32 - 1 is far beyond the end, not the last element."""

    @cuda.jit
    def wrapped(a, i):
        a[i] = 1

    assert "writes a[4294967295]" in message(
        IndexError, wrapped, 1, 1, np.zeros(5), np.uint32(2**32 - 1)
    )


@pytest.mark.parametrize("number", [np.uint32, np.uint64])
def test_an_unsigned_index_that_went_below_zero_is_told_so(number):
    """A guard of the end is there already, and would not help."""

    @cuda.jit
    def two_before(out, a):
        i = number(cuda.grid(1))
        if i < a.size:
            out[i] = a[number(i - number(2))]

    text = message(IndexError, two_before, 1, 8, np.zeros(5), np.arange(5.0))

    assert "this index is -2 as an unsigned number" in text
    assert "ask first, `if i >= 2:`" in text
    assert "beyond the end" not in text


def test_an_unsigned_index_beyond_the_end_is_told_of_the_end():
    """A number that is merely too large did not wrap around."""

    @cuda.jit
    def double(out, a):
        i = np.uint32(cuda.grid(1))
        out[i] = a[i]

    text = message(IndexError, double, 1, 8, np.zeros(8), np.arange(5.0))

    assert "let the threads beyond the end do nothing: `if i < a.size:`" in text


def test_an_index_of_a_shared_array_is_checked_against_that_array():
    """Even where the next shared array lies behind it."""

    @cuda.jit
    def beyond(out):
        tile = cuda.shared.array(32, float32)
        other = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        other[t] = 0
        tile[t] = 1

    text = message(IndexError, beyond, 1, 40, np.zeros(40))

    assert "writes tile[32], but `tile` has shape (32,)" in text
    assert "thread 32 of block 0" in text


def test_only_threads_that_take_part_are_checked():
    """In a branch the others' indices do not matter, and the right thread is named."""

    @cuda.jit
    def odd(a):
        t = cuda.grid(1)
        if t % 2:
            a[t] = 1

    emulate(odd)[1, 32](np.zeros(32))
    text = message(IndexError, odd, 2, 32, np.zeros(60))

    assert "writes a[61]" in text and "thread 29 of block 1" in text


def test_an_atomic_and_a_device_function_are_checked_too():
    """The line of the device function is told, and the line that called it."""

    @cuda.jit(device=True)
    def bump(counts, i):
        cuda.atomic.add(counts, i, 1)

    @cuda.jit
    def kernel(counts):
        bump(counts, cuda.threadIdx.x)

    text = message(IndexError, kernel, 1, 32, np.zeros(8, np.int32))

    assert f"line {line_of(bump, 'atomic')} updates counts[8]" in text
    assert f"called from line {line_of(kernel, 'bump(')}" in text


def test_a_barrier_in_a_branch_is_found():
    """Half of the threads never come."""

    @cuda.jit
    def branch(out):
        t = cuda.threadIdx.x
        if t < 16:
            cuda.syncthreads()
        out[t] = 1

    out = np.zeros(32)

    run = emulate(branch)[2, 32](out)

    line, end = line_of(branch, "syncthreads"), line_of(branch, "out[t]")
    text = " ".join(repr(run.barriers).split())
    assert f"line {line}: barrier missed by 32 threads in 2" in text
    assert f"came past line {end} to the kernel's end); the first is thread 16" in text
    with pytest.raises(AssertionError, match="Move the barrier out of the `if`"):
        run.assert_barriers()
    assert [1] * 32 == out.tolist()


def test_a_barrier_behind_an_early_return_is_found():
    """The last block's threads beyond the end have returned."""

    @cuda.jit
    def early(a):
        i = cuda.grid(1)
        if i >= a.size:
            return
        cuda.syncthreads()
        a[i] = 1

    out = np.zeros(129)

    run = emulate(early)[3, 64](out)

    text = " ".join(repr(run.barriers).split())
    end = line_of(early, "return")
    assert f"missed by 63 threads in 1 of the blocks (returned at line {end});" in text
    assert "the first is thread 1 of block 2" in text
    assert [1] * 129 == out.tolist() and run.coalescing.requests == 5


def test_two_different_barriers_of_one_warp_are_refused():
    """Each half of a warp waits at its own."""

    @cuda.jit
    def two(out):
        if cuda.threadIdx.x < 40:
            cuda.syncthreads()
            out[0] = 1
        else:
            cuda.syncthreads()
            out[1] = 1

    text = message(BarrierError, two, 1, 64, np.zeros(2))

    assert "24 of the 64 threads" in text and "wait at the barrier of line" in text


def test_a_barrier_that_a_whole_block_reaches_or_leaves_out_is_fine():
    """Blocks may differ, threads of a block may not."""

    @cuda.jit
    def some_blocks(out):
        for k in range(cuda.blockIdx.x):
            cuda.syncthreads()
            out[cuda.blockIdx.x] = k + 1

    out = np.zeros(5)

    emulate(some_blocks)[5, 64](out)

    assert [0, 1, 2, 3, 4] == out.tolist()


def test_a_missing_barrier_gives_a_wrong_answer_the_same_one_each_time():
    """Warps run in an adverse order that the seed repeats."""
    a, right = np.arange(1, 257), np.zeros(256, np.int64)
    emulate(reverse)[1, 256](a, right)
    wrong = [np.zeros(256, np.int64) for _ in range(2)]

    for out in wrong:
        emulate(reverse_without_barrier, seed=3)[1, 256](a, out)

    assert a[::-1].tolist() == right.tolist()
    assert right.tolist() != wrong[0].tolist()
    assert wrong[0].tolist() == wrong[1].tolist()


@pytest.mark.parametrize("seed", range(8))
def test_no_seed_hides_a_missing_barrier(seed):
    """Not even for two warps is the order the one that would make it right."""

    @cuda.jit
    def left(a, out):
        cells = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        cells[t] = a[t]
        out[t] = cells[t - 1] if t > 0 else 0

    out = np.zeros(64, np.int64)

    emulate(left, seed=seed)[1, 64](np.arange(64), out)

    assert 31 != out[32]


@pytest.mark.parametrize(
    "blocks, threads, told",
    [
        (1, 2048, "2,048 threads per block are too many: a block holds at most 1,024"),
        (1, (64, 64), "64 × 64 threads per block are too many"),
        (1, (1, 1, 128), "128 threads along one axis are too many: at most 64"),
        (0, 32, "at least 1 along each axis of its blocks"),
        (1, -1, "at least 1 along each axis of its threads"),
        ((1, 70000), 32, "70,000 blocks along one axis are too many"),
        (10 / 2, 32, "use `//` instead of `/`"),
        (1, (8, 8, 8, 8), "up to three"),
        (1, "32", "whole number"),
    ],
)
def test_an_impossible_launch_is_refused(blocks, threads, told):
    """Before anything runs, with the limit."""
    assert told in message(
        LaunchError, add, blocks, threads, *(np.zeros(8) for _ in "abo")
    )


def test_too_much_shared_memory_is_refused():
    """A block declares 48 KiB at most; a launch adds 227 KiB on an H200."""

    @cuda.jit
    def large(out):
        tile = cuda.shared.array((128, 128), float32)
        tile[cuda.threadIdx.x, 0] = 1

    assert "65,536 bytes" in message(LaunchError, large, 1, 32, np.zeros(1))
    with pytest.raises(LaunchError, match="300,000 bytes of dynamic shared memory"):
        emulate(add)[1, 32, 0, 300_000](*(np.zeros(8) for _ in "abo"))


def test_wrong_arguments_are_refused():
    """Too few, or of a kind that kernels do not take."""
    a = np.zeros(8)

    assert "takes 3 arguments (a, b, out) but got 2" in message(
        LaunchError, add, 1, 8, a, a
    )
    text = message(LaunchError, add, 1, 8, [1, 2], a, a)
    assert "argument `a` is a list" in text and "np.array" in text
    assert "argument `b` is a str" in message(LaunchError, add, 1, 8, a, "text", a)


def test_emulate_wants_a_kernel_and_a_launch():
    """A plain function, and a kernel without its brackets."""
    with pytest.raises(TypeError, match="put `@cuda.jit` above it"):
        emulate(math.sqrt)
    with pytest.raises(LaunchError, match=r"emulate\(add\)\[blocks, threads\]"):
        emulate(add)(1, 2, 3)
    with pytest.raises(LaunchError, match="blocks, threads"):
        emulate(add)[1]


def raising_loads(monkeypatch, error):
    """A kernel whose load fails inside the emulator, and its line."""

    def load(*arguments):
        raise error

    monkeypatch.setattr(access, "load", load)

    @cuda.jit
    def loading(a, out):
        out[0] = 1
        if cuda.threadIdx.x < 4:
            out[1] = a[0]

    return loading, line_of(loading, "out[1] = a[0]")


def test_a_stray_error_has_the_line_of_the_basic_block_that_ran(monkeypatch):
    """Whatever variables the functions have that the traceback goes through."""
    kernel, line = raising_loads(monkeypatch, KeyError("stray"))
    run = Launch.run

    def misleading(*arguments):
        basic_block = SimpleNamespace(site=SimpleNamespace(line=1))
        return run(*arguments), basic_block

    monkeypatch.setattr(Launch, "run", misleading)

    text = message(KernelError, kernel, 1, 8, np.zeros(4), np.zeros(4))

    assert f"test_errors.py, line {line})" in text


def test_only_a_variable_without_a_value_is_said_to_have_none(monkeypatch):
    """An error of another kind may speak of None, too."""
    kernel, line = raising_loads(monkeypatch, TypeError("'NoneType' is elsewhere"))

    text = message(KernelError, kernel, 1, 8, np.zeros(4), np.zeros(4))

    assert "has no value on the path" not in text
    assert f"test_errors.py, line {line})" in text

"""When a launch becomes machine code, what comes back to NumPy, and what stops it."""

import _thread
import math
import threading

import numpy as np
import pytest
from numba import cuda, float32, int32, int64, types

from helpers import twin
from tests.emulator.native.comparison import programs_of, same_in_both
from tests.specimens.kernels import line_of, number_intrinsic
from tests.specimens.no_value import CASES
from thirty_two_lanes.core.errors import EmulatorFault
from thirty_two_lanes.emulator.machine import batch
from thirty_two_lanes.emulator.native import accelerator, ahead


def walk_kernel():
    @cuda.jit
    def walk(chain, out, steps):
        p = cuda.threadIdx.x
        for _ in range(steps):
            p = chain[p]
        out[cuda.threadIdx.x] = p

    return walk


def chain_of(steps):
    chain = np.random.default_rng(1).permutation(64)
    return [chain, np.zeros(32, np.int64), steps]


def test_a_short_launch_stays_with_numpy_and_a_long_one_is_compiled():
    """By counted steps: twenty thousand pay, a hundred do not."""
    kernel = walk_kernel()
    kernel[1, 32](*chain_of(100))
    assert "tape" not in programs_of(kernel)["plain"]

    arguments = chain_of(20_000)
    kernel[1, 32](*arguments)

    assert "tape" in programs_of(kernel)["plain"]
    p = np.arange(32)
    for _ in range(20_000):
        p = arguments[0][p]
    assert p.tolist() == arguments[1].tolist()


def test_many_short_launches_are_compiled_together():
    """Steps count from the first launch of a program on."""
    kernel = walk_kernel()
    for _ in range(40):
        kernel[1, 32](*chain_of(100))

    assert "tape" in programs_of(kernel)["plain"]


def test_a_wide_launch_stays_with_numpy():
    """Where a batch has many blocks, NumPy's functions are as fast."""
    kernel = walk_kernel()
    kernel[accelerator.WIDEST + 1, 32](*chain_of(5_000))

    assert {} == programs_of(kernel)


def test_a_fault_of_the_compiler_is_seen(monkeypatch):
    """It is ours, and says so; NumPy does not go on behind it."""

    def fail(program, tells):
        raise RuntimeError("no LLVM")

    monkeypatch.setattr(accelerator, "Tape", fail)

    with pytest.raises(EmulatorFault):
        walk_kernel()[1, 32](*chain_of(20_000))


def test_a_tuple_that_a_loop_carries_is_numpys():
    """Its basic blocks have no rows, and the others have; the result is the same."""

    @cuda.jit
    def kernel(a, out, steps):
        pair = (cuda.threadIdx.x, 1)
        for _ in range(steps):
            x, y = pair
            pair = ((x * 5 + y) % 64, (y + a[x]) % 64)
        out[cuda.threadIdx.x] = pair[0]

    a, out = np.arange(64)[::-1].copy(), np.zeros(32, np.int64)
    (_, found), *_ = same_in_both(kernel, (1, 32), [a, out, 600])[:1]

    x, y = np.arange(32), np.ones(32, np.int64)
    for _ in range(600):
        x, y = (x * 5 + y) % 64, (y + a[x]) % 64
    assert x.tolist() == np.frombuffer(found, np.int64).tolist()


def test_a_limit_of_turns_holds_in_compiled_code(monkeypatch):
    """The same sentence as NumPy's."""
    monkeypatch.setenv("EMULATOR_TURNS", "500")

    _, error, _ = same_in_both(walk_kernel(), (1, 32), chain_of(10**6))

    assert "more than 500 iterations" in error


def test_ctrl_c_stops_compiled_code(monkeypatch):
    """It comes back to Python now and then."""
    monkeypatch.delenv("EMULATOR_TURNS", raising=False)

    @cuda.jit
    def count(a, end):
        for n in range(end):
            a[0] = n

    a = np.zeros(1, np.int64)
    count[1, 1](a, 20_000)
    assert "tape" in programs_of(count)["plain"]
    timer = threading.Timer(0.5, _thread.interrupt_main)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        count[1, 1](a, 10**12)
        timer.join()
    assert 20_000 < a[0] < 10**12


def test_an_index_out_of_bounds_leaves_what_numpy_leaves():
    """No lane of a store that goes too far has stored, and those before have."""

    @cuda.jit
    def kernel(a, b):
        t = cuda.threadIdx.x
        for k in range(40):
            a[t] += k
            b[(t + k) * 1] = k

    _, error, _ = same_in_both(kernel, (1, 32), [np.zeros(32), np.zeros(60)])

    assert "b[60]" in error and "thread 31" in error


def test_warps_that_wait_for_each_other_go_on():
    """A spin lock and a flag, between the warps of a block and between blocks."""

    @cuda.jit
    def kernel(lock, flag, total):
        t = cuda.threadIdx.x
        if t == 0 and cuda.blockIdx.x == 0:
            flag[0] = 1
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        if t % 32 == 0:
            for _ in range(5):
                while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                    pass
                total[0] += 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)

    arguments = [np.zeros(1, np.int32) for _ in range(3)]
    (*_, total), error, _ = same_in_both(kernel, (3, 64), arguments)

    assert (None, 30) == (error, np.frombuffer(total, np.int32)[0])


def test_a_loop_that_waits_for_nobody_is_an_error():
    """The same sentence as NumPy's."""

    @cuda.jit
    def kernel(a):
        while a[0] == 0:
            pass

    _, error, _ = same_in_both(kernel, (1, 32), [np.zeros(1)])

    assert error.startswith("NoProgressError")


def test_what_has_no_machine_code_runs_between():
    """Views, tuples, float16, prints, votes, float remainders and a sum over lanes."""

    @cuda.jit
    def kernel(m, out):
        t = cuda.threadIdx.x
        pair = (t, 1)
        for k in range(6):
            row = m[(t + k) % 8]
            x, y = pair
            pair = (x + y, (y * 3) % 7)
            value = row[k] % float32(0.3) + cuda.shfl_xor_sync(-1, row[0], 5)
            if cuda.ballot_sync(-1, value > 1) & (1 << t):
                value += np.float16(value)
            out[t, k] = value + pair[0]
            if t == 3 and k == 2:
                print(t, k, value)

    m = np.random.default_rng(0).random((8, 8), np.float32)
    _, error, printed = same_in_both(kernel, (1, 32), [m, np.zeros((32, 6))])

    assert None is error
    assert printed.startswith("3 2 ")


def test_barriers_with_predicates_and_threads_that_left():
    """Counts at barriers, a shared array, and warps that end early."""

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        s = cuda.shared.array(96, int32)
        s[t] = a[t]
        n = 0
        for k in range(8):
            n += cuda.syncthreads_count(int32(s[(t + k) % 96] > 3))
            s[t] = (s[t] + n) % 11
            cuda.syncthreads()
        out[t] = s[t] + n

    a = np.random.default_rng(0).integers(0, 9, 96).astype(np.int32)
    left, error, _ = same_in_both(kernel, (2, 96), [a, np.zeros(96, np.int32)])

    s, n = a.copy(), 0
    for k in range(8):
        n += (np.roll(s, -k) > 3).sum()
        s = (s + n) % 11
    assert (None, (s + n).tolist()) == (
        error,
        np.frombuffer(left[1], np.int32).tolist(),
    )


def test_a_variable_that_a_loop_did_not_write_is_as_it_is_with_numpy():
    """Where a loop had no turn, what it would have written is read behind it."""

    @cuda.jit
    def kernel(a, n):
        for i in range(n):
            x = a[i]
        a[0] = x

    for count, error in ((0, "KernelError: `x` has no value on the path"), (3, "None")):
        found = same_in_both(kernel, (1, 32), [np.ones(4), count])
        assert str(found[1]).startswith(error)


def test_functions_of_numpys_own_loops_give_its_bits():
    """A sine, a power of e and an angle, one number at a time."""

    @cuda.jit
    def kernel(a, b, out):
        t = cuda.threadIdx.x
        x = a[t]
        for k in range(4):
            x = math.sin(x) * 40 + math.exp(-abs(x)) + math.atan2(x, b[t])
            out[t, k] = x

    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        numbers = [rng.normal(size=32).astype(dtype) * 50 for _ in range(2)]
        same_in_both(kernel, (1, 32), [*numbers, np.zeros((32, 4), dtype)])


@pytest.mark.parametrize("number", [int32, int64])
def test_a_division_by_nothing_leaves_the_variables_of_the_other_threads(number):
    """A thread whose divisor is 0 or -1 stops the piece, at another turn in each; what
    threads before it have counted is not counted again.
    """

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        x, total = a[t], number(0)
        for _ in range(40):
            x = number(x - 1)
            total += number(100) // x + number(7) % x
        out[t] = total + x

    dtype = np.dtype(str(number))
    left, error = same_in_both(kernel, (1, 64), [np.arange(64, dtype=dtype)] * 2)[:2]

    beyond = [sum(100 // k + 7 % k for k in range(t - 40, t)) for t in range(41, 64)]
    expected = [total + t - 40 for total, t in zip(beyond, range(41, 64), strict=True)]
    assert (None, expected) == (error, np.frombuffer(left[1], dtype)[41:].tolist())


def test_numbers_are_rounded_as_by_numpy():
    """Halves to the even one, zeros with their sign, and roots."""

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        for k in range(8):
            x = a[t] * k
            out[0, t] = math.floor(x)
            out[1, t] = math.ceil(x)
            out[2, t] = math.trunc(x)
            out[3, t] = round(x)
            out[4, t] = math.copysign(math.sqrt(abs(x)), x)

    a = np.arange(-16, 16) / 14  # in the end, halves

    left, error = same_in_both(kernel, (1, 32), [a, np.zeros((5, 32))])[:2]

    x = a * 7
    root = np.copysign(np.sqrt(np.abs(x)), x)
    expected = [np.floor(x), np.ceil(x), np.trunc(x), np.round(x), root]
    assert None is error
    np.testing.assert_array_equal(
        np.array(expected), np.frombuffer(left[1]).reshape(5, 32)
    )


def test_the_sizes_of_an_array_are_numbers_of_machine_code():
    """Of each axis, and of all."""

    @cuda.jit
    def kernel(m, out):
        t = cuda.threadIdx.x
        for _ in range(4):
            out[t] += m.shape[0] + 10 * m.shape[1] + 1000 * m.size

    left, error = same_in_both(kernel, (1, 32), [np.ones((3, 5)), np.zeros(32)])[:2]

    assert (None, [4 * 15_053.0] * 32) == (error, np.frombuffer(left[1]).tolist())


@pytest.mark.parametrize("late", [0, 1])
def test_a_loop_that_only_an_atomic_ends_runs_to_its_end(late):
    """Its variables stay as they are, and memory does not: it goes in no cycle, and
    lets no other warp go first. One of the two warps is before the other in both.
    """

    @cuda.jit
    def kernel(count, out):
        t = cuda.threadIdx.x
        if t == 32 * late:
            while cuda.atomic.add(count, 0, 1) < 300:
                pass
        if t % 32 == 0:
            out[t // 32] = cuda.atomic.add(count, 1, 1)

    same_in_both(kernel, (1, 64), [np.zeros(2, np.int64), np.zeros(2)])


@pytest.mark.parametrize("kernel", [kernel for kernel, *_ in CASES])
def test_a_variable_without_a_value_is_named_with_its_line(kernel):
    """A piece of machine code stops where there is none, and NumPy's function says."""
    error = same_in_both(kernel, (1, 32), [np.ones(32)])[1]

    assert "has no value on the path that the threads took" in error


stops = number_intrinsic("stops", types.float64)


@twin(stops)
def without_end(x, y):
    raise OverflowError("too large")


def test_an_error_of_a_piece_is_told_with_its_own_line():
    """Not with the line that is as far from the beginning of its basic block."""

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        x = a[t] + 1
        y = math.sin(x) + a[t]
        z = math.cos(y) + a[t]
        out[t] = stops(x + y, z)

    error = same_in_both(kernel, (1, 32), [np.ones(32), np.zeros(32)])[1]

    assert "`without_end`" in error and "too large" in error
    assert f"line {line_of(kernel, 'out[t] =')})" in error


def test_a_long_loop_lets_others_run_first_after_as_many_turns(monkeypatch):
    """Two warps that see each other's stores take turns at the same iterations."""

    @cuda.jit
    def kernel(flag, seen):
        warp = cuda.threadIdx.x // 32
        for turn in range(200):
            seen[warp, turn] = flag[0]
            flag[0] = warp + 1

    for module in (batch, ahead):
        monkeypatch.setattr(module, "PATIENCE", 37)

    (_, seen), error, _ = same_in_both(
        kernel, (1, 64), [np.zeros(1, np.int64), np.zeros((2, 200), np.int64)]
    )

    assert (None, {0, 1, 2}) == (error, {*np.frombuffer(seen, np.int64).tolist()})

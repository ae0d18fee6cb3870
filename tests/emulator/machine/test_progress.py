"""Loops that wait: those that may end do, and the others are errors."""

import signal

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.specimens.kernels import line_of, message
from thirty_two_lanes.emulator import NoProgressError
from thirty_two_lanes.emulator.machine import batch, machine
from thirty_two_lanes.emulator.machine.warps import Warp


@pytest.mark.slow
def test_a_lock_within_a_warp_ends():
    """32 threads enter one after the other, though the others spin."""

    @cuda.jit
    def locked(lock, total):
        done = False
        while not done:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                total[0] += 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                done = True

    total = np.zeros(1, np.int64)

    emulate(locked)[3, 64](np.zeros(1, np.int32), total)

    assert [192] == total.tolist()


def test_a_lock_that_is_spun_on_in_front_ends():
    """`while cas(…) != 0: pass`: the winner must be let go on first."""

    @cuda.jit
    def locked(lock, total):
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)

    total = np.zeros(1, np.int64)

    emulate(locked)[2, 32](np.zeros(1, np.int32), total)

    assert [64] == total.tolist()


@pytest.mark.parametrize("waits_first", [0, 1])
def test_a_flag_between_blocks_ends(waits_first):
    """One block spins until the other has stored, whichever comes first."""

    @cuda.jit
    def flag(ready, out):
        if cuda.threadIdx.x == 0:
            if cuda.blockIdx.x == waits_first:
                while cuda.atomic.add(ready, 0, 0) == 0:
                    pass
                out[0] = 5
            else:
                cuda.atomic.exch(ready, 0, 1)

    out = np.zeros(1)

    emulate(flag)[2, 32](np.zeros(1, np.int32), out)

    assert [5] == out.tolist()


def test_a_flag_between_batches_of_blocks_ends(monkeypatch):
    """Blocks that wait for blocks of a later batch let it run."""
    monkeypatch.setattr(machine, "BATCH_BLOCKS", 2)

    @cuda.jit
    def chain(ready, out):
        block = cuda.blockIdx.x
        if cuda.threadIdx.x == 0:
            while block < cuda.gridDim.x - 1 and ready[block + 1] == 0:
                pass
            out[block] = 1
            ready[block] = 1

    out = np.zeros(7)

    emulate(chain)[7, 32](np.zeros(7, np.int32), out)

    assert [1] * 7 == out.tolist()


def test_a_loop_that_nothing_ends_is_an_error_with_its_line():
    """Threads that wait for what none of them will do."""

    @cuda.jit
    def forever(flag, out):
        while flag[0] == 0:
            pass
        out[0] = 1

    text = message(NoProgressError, forever, 2, 64, np.zeros(1, np.int32), np.zeros(1))

    assert "no progress" in text and f"line {line_of(forever, 'while')}" in text


def test_a_wait_for_a_thread_at_a_barrier_is_an_error():
    """Who would store the flag waits at the barrier for the one that spins."""

    @cuda.jit
    def deadlock(flag):
        t = cuda.threadIdx.x
        if t == 0:
            while flag[0] == 0:
                pass
        cuda.syncthreads()
        flag[0] = 1

    flags = np.zeros(1, np.int32)
    assert "no progress" in message(NoProgressError, deadlock, 1, 64, flags)


def test_an_endless_loop_that_counts_is_an_error_where_a_limit_is_asked_for():
    """Its values change at each turn; the message names both ways to allow more."""

    @cuda.jit
    def counts(out):
        k = int32(1)
        while k != 0:
            k = int32(k + 2)
        out[0] = k

    with pytest.raises(NoProgressError) as raised:
        emulate(counts, turns=5000)[1, 32](np.zeros(1))

    text = str(raised.value)
    line = line_of(counts, "while")
    assert f"more than 5,000 iterations, the last at line {line}" in text
    assert "`emulate(kernel, turns=…)`" in text and "EMULATOR_TURNS" in text


def test_a_long_loop_is_no_endless_one():
    """100,000 turns end, with threads that differ."""

    @cuda.jit
    def long(out):
        t = cuda.threadIdx.x
        total = 0
        for k in range(3000 + t):
            total += k & 1
        out[t] = total

    out = np.zeros(32)

    emulate(long)[1, 32](out)

    assert [(3000 + t) // 2 for t in range(32)] == out.tolist()


def stores_the_same(a):
    i = 0
    while i < 10:
        a[0] = 1


def stores_in_its_own_cell(a):
    i = 0
    while i < 10:
        a[cuda.grid(1)] = 1


def stores_in_turn(a):
    while a[2] == 0:
        a[0] = 1
        a[0] = 2


def counts_in_a_circle(a):
    i = 1
    while i != 0:
        i = i % 77 + 1
    a[0] = i


def has_no_number(a):
    x = float32(a[1])
    while x != 1:
        x = x * float32(2)
    a[0] = x


def waits_at_barriers(a):
    while a[0] == 0:
        cuda.syncthreads()


def waits_for_the_grid(a):
    while a[0] == 0:
        cuda.cg.this_grid().sync()


def takes_a_view(a):
    while True:
        part = a[1:]
        part[0] = 3
        if part[1] > 0:
            break


@pytest.mark.parametrize(
    "function",
    [
        *(stores_the_same, stores_in_its_own_cell, stores_in_turn),
        *(counts_in_a_circle, has_no_number),
        *(waits_at_barriers, waits_for_the_grid, takes_a_view),
    ],
    ids=lambda it: it.__name__,
)
@pytest.mark.parametrize("plainly", [True, False])
def test_a_loop_that_comes_back_to_a_state_is_an_error(function, plainly):
    """Whatever it stores, however long its cycle is; with its line and the remedy."""
    kernel, a = cuda.jit(function), np.zeros(128, np.float32)
    a[1] = np.nan

    with pytest.raises(NoProgressError, match="no progress") as raised:
        (kernel if plainly else emulate(kernel))[2, 64](a)

    lines = {line_of(kernel, "while"), line_of(kernel, "while") + 1}
    assert any(f"line {line} " in str(raised.value) for line in lines)
    assert "Remedy: change in the loop what ends it" in str(raised.value)


@pytest.mark.slow
def test_a_loop_may_run_for_long():
    """400,000 iterations, of which each needs the one before and nothing is stored."""

    @cuda.jit
    def long(out):
        x = 0
        for k in range(400_000):
            x = (x * 5 + k) % 1_000_003
        out[0] = x

    out, x = np.zeros(1, np.int64), 0
    for k in range(400_000):
        x = (x * 5 + k) % 1_000_003

    long[1, 1](out)

    assert [x] == out.tolist()


def test_warps_that_count_barriers_are_no_circle_of_those_that_wait():
    """One warp waits in a loop of barriers, while the other counts to 300."""

    @cuda.jit
    def kernel(out):
        ready = cuda.shared.array(1, int32)
        t = cuda.threadIdx.x
        if t == 0:
            ready[0] = 0
        cuda.syncthreads()
        k = 0
        while ready[0] == 0:
            k += t // 32
            cuda.syncthreads()
            if k == 300:
                ready[0] = 1
            cuda.syncthreads()
        out[t] = k

    out = np.zeros(64)

    emulate(kernel)[1, 64](out)

    assert [0] * 32 + [300] * 32 == out.tolist()


def test_lanes_may_leave_a_warp_that_syncs_one_by_one():
    """32 times some wait for one that returns, and nothing is stored."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        for k in range(32):
            if t == k:
                return
            cuda.syncwarp()
        out[t] = 1

    run = emulate(kernel)[1, 32](np.zeros(32))

    assert 0 == run.coalescing.requests


@pytest.mark.parametrize("who", ["waits for lanes", "waits at a barrier"])
def test_a_block_may_wait_for_one_that_waits_itself(who):
    """It spins until a thread has come that lies behind a `syncwarp`, or a barrier."""
    partly = who == "waits for lanes"

    @cuda.jit
    def kernel(flag, out):
        t = cuda.threadIdx.x
        if cuda.blockIdx.x == 0:
            if t == 0:
                while cuda.atomic.add(flag, 0, 0) == 0:
                    pass
        elif partly:
            if t < 16:
                cuda.syncwarp(0xFFFF)
            if t == 0:
                cuda.atomic.add(flag, 0, 1)
        else:
            cuda.syncthreads()
            if t == 0:
                cuda.atomic.add(flag, 0, 1)
        out[cuda.grid(1)] = 1

    out = np.zeros(128)

    kernel[2, 64](np.zeros(1, np.int32), out)

    assert [1] * 128 == out.tolist()


@pytest.mark.slow
def test_a_long_loop_beside_one_that_waits_is_no_circle():
    """Of two branches of one warp one spins, and the other counts for long."""

    @cuda.jit
    def kernel(flag, out):
        t = cuda.threadIdx.x
        if t < 16:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
        else:
            x = 0
            while x < 50_000:
                x += 1
            cuda.atomic.add(flag, 0, x)
        out[t] = flag[0]

    out = np.zeros(32)

    kernel[1, 32](np.zeros(1, np.int32), out)

    assert [16 * 50_000] * 32 == out.tolist()


def test_an_endless_loop_is_interrupted_at_its_line(monkeypatch):
    """By Ctrl-C, though it never repeats itself; what comes after runs as ever."""

    @cuda.jit
    def counts(out):
        k = 0
        while k >= 0:
            k += 1
        out[0] = k

    class Watched(Warp):
        def is_in_a_cycle(self, *more):
            if self.turns > 1000:
                signal.raise_signal(signal.SIGINT)
            return super().is_in_a_cycle(*more)

    with monkeypatch.context() as patched:
        patched.setattr(batch, "Warp", Watched)
        with pytest.raises(KeyboardInterrupt, match="at line .* nothing was written"):
            counts[1, 32](np.zeros(1))

    stored = np.zeros(32, np.int32)
    run = emulate(stores)[1, 32](stored)

    assert (1, [1] * 32) == (run.coalescing.requests, stored.tolist())


@cuda.jit
def stores(out):
    out[cuda.threadIdx.x] = 1

"""Loops that wait: those that may end do, and the others are errors."""

import numpy as np
import pytest
from numba import cuda, int32

from helpers import emulate
from helpers.emulator import NoProgressError
from helpers.emulator.machine import machine
from tests.specimens.kernels import line_of, message


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

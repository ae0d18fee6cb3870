"""Barriers that go wrong: what `emulate` says, and what it says a GPU does."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from helpers.emulator import BarrierError
from tests.specimens.kernels import line_of, message


def test_threads_that_ended_are_not_waited_for_on_a_gpu():
    """Threads 40 to 63 return early."""

    @cuda.jit
    def early(out):
        t = cuda.threadIdx.x
        if t >= 40:
            return
        cuda.syncthreads()
        out[t] = 1

    text = message(BarrierError, early, 1, 64, np.zeros(64))

    assert "threads 40 to 63 never come to it" in text
    assert "On a GPU the others silently continue without those that ended" in text


def test_warps_at_two_barriers_go_on_on_a_gpu():
    """One warp waits at each."""

    @cuda.jit
    def two(out):
        if cuda.threadIdx.x < 32:
            cuda.syncthreads()
        else:
            cuda.syncthreads()
        out[0] = 1

    text = message(BarrierError, two, 1, 64, np.zeros(1))

    assert "wait at the barrier of line" in text
    assert "A GPU treats the two as one barrier" in text


def test_lanes_at_two_barriers_hang_on_a_gpu():
    """Half of a warp waits at each."""

    @cuda.jit
    def two(out):
        if cuda.threadIdx.x < 16:
            cuda.syncthreads()
        else:
            cuda.syncthreads()
        out[0] = 1

    text = message(BarrierError, two, 1, 64, np.zeros(1))

    assert "lanes of one warp at two barriers hang" in text


@cuda.jit
def meet(mask, out):
    t = cuda.threadIdx.x
    cuda.syncwarp(mask)
    out[t] = 1


@cuda.jit
def pass_on(mask, out):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_sync(mask, t, 0)


@pytest.mark.parametrize("kernel", [meet, pass_on])
@pytest.mark.parametrize("mask", [0x0000FFFF, 0x7FFFFFFF, 0])
def test_a_mask_must_name_the_lane_that_calls(kernel, mask):
    """Lanes of the upper half, or the last, or all are not named."""
    text = message(BarrierError, kernel, 2, 32, mask, np.zeros(32))

    lane = {0x0000FFFF: 16, 0x7FFFFFFF: 31, 0: 0}[mask]
    assert f"does not name lane {lane}" in text
    assert f"line {line_of(kernel, 'sync')}" in text
    assert "On a GPU the behaviour is undefined" in text


@pytest.mark.parametrize("mask", [0xFFFFFFFF, -1])
def test_a_full_mask_names_all(mask):
    """Both ways to write it."""
    out = np.zeros(40)

    emulate(meet)[1, 40](mask, out)

    assert [1.0] * 40 == out.tolist()


def test_a_mask_of_those_who_come_is_right():
    """Each half of a warp meets by itself."""

    @cuda.jit
    def halves(out):
        t = cuda.threadIdx.x
        if t < 16:
            cuda.syncwarp(0x0000FFFF)
        else:
            cuda.syncwarp(0xFFFF0000)
        out[t] = 1

    out = np.zeros(32)

    emulate(halves)[1, 32](out)

    assert [1.0] * 32 == out.tolist()

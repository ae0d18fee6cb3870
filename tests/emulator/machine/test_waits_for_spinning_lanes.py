"""A `syncwarp` that waits for a lane which spins: the loop is to blame, no mask."""

import numpy as np
import pytest
from numba import cuda

from tests.specimens.kernels import line_of
from thirty_two_lanes import emulate
from thirty_two_lanes.emulator import BarrierError, NoProgressError


@cuda.jit
def waits_for_one_that_spins(flag):
    if cuda.threadIdx.x == 0:
        while flag[0] == 0:
            pass
    cuda.syncwarp()


@cuda.jit
def waits_for_one_that_waits(flag):
    t = cuda.threadIdx.x
    if t == 0:
        while flag[0] == 0:
            pass
    if t < 16:
        cuda.syncwarp(0xFFFF)
    cuda.syncwarp()


@cuda.jit
def waits_beside_a_block_that_spins(flag):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0 or t == 3:
        while flag[0] == 0:
            pass
    elif t < 16:
        cuda.syncwarp(0xFFFF)
    if t == 3:
        cuda.syncwarp(0xFFFF)


@cuda.jit
def names_one_that_is_elsewhere(flag):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        while flag[0] == 0:
            pass
    if t < 16:
        cuda.syncwarp(0x1FFFF)  # waits
    elif t == 16:
        cuda.syncwarp(0x30000)
    cuda.syncthreads()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "kernel",
    [
        waits_for_one_that_spins,
        waits_for_one_that_waits,
        waits_beside_a_block_that_spins,
    ],
)
def test_a_loop_without_an_end_is_to_blame_for_those_who_wait_for_it(kernel, seed):
    """In any block of those that run together."""
    line = line_of(kernel, "while")

    with pytest.raises(NoProgressError, match=f"repeat the loop at line {line} "):
        emulate(kernel, seed=seed)[2, 32](np.zeros(1, np.int32))


def test_a_mask_is_to_blame_where_its_lanes_wait_for_others_beside_a_loop():
    """Two masks that do not go together end nowhere, whoever spins in another block."""
    line = line_of(names_one_that_is_elsewhere, "# waits")

    with pytest.raises(BarrierError, match=f"the mask of line {line} names lanes"):
        emulate(names_one_that_is_elsewhere)[2, 32](np.zeros(1, np.int32))

"""Records in global memory: their fields are read, written and counted."""

import numpy as np
from kernels import message
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

from helpers import emulate
from helpers.simt import LaunchError

POINT = np.dtype([("x", np.float32), ("y", np.float32), ("z", np.float64)], align=True)


@cuda.jit
def mirror(points):
    """Exchange x and y, and double z."""
    i = cuda.grid(1)
    if i < points.size:
        x = points[i].x
        points[i]["x"] = points[i]["y"]
        points[i].y = x
        points[i].z *= 2


@cuda.jit
def draw(states, out):
    """Each thread draws a number from its own state."""
    i = cuda.grid(1)
    out[i] = xoroshiro128p_uniform_float32(states, i)


def test_fields_are_read_and_written_by_name_and_as_attributes():
    """Every record changes as NumPy changes it; 4-byte fields lie 16 bytes apart."""
    points = np.zeros(40, POINT)
    points["x"], points["y"], points["z"] = np.random.default_rng(0).random((3, 40))
    before = points.copy()

    run = emulate(mirror)[2, 32](points)

    np.testing.assert_array_equal(before["y"], points["x"])
    np.testing.assert_array_equal(before["x"], points["y"])
    np.testing.assert_array_equal(2 * before["z"], points["z"])
    first = min(site.line for site in run.coalescing.by_line)
    assert 32 * 16 // 32 + 8 * 16 // 32 == run.coalescing.by_line[first].sectors


def test_random_states_give_numbers_that_differ_by_thread():
    """`numba.cuda.random` is device functions over records of two uint64."""
    out = np.zeros(64, np.float32)

    draw[2, 32](create_xoroshiro128p_states(64, seed=1), out)

    assert ((0 <= out) & (out < 1)).all()
    assert 64 == len(np.unique(out))


def test_a_record_as_an_argument_is_refused():
    """With its name, and what a kernel takes."""
    assert "`points`" in message(LaunchError, mirror, 1, 1, np.zeros(1, POINT)[0])

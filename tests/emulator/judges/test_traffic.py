"""How often each element is loaded and stored, wherever the argument begins."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from thirty_two_lanes.emulator.judges.divergence import Share

WHOLE = np.arange(60, dtype=np.float32)
PLANE = np.arange(60, dtype=np.float64).reshape(6, 10)


@cuda.jit
def visit(a, out):
    """Element i is loaded i % 3 times."""
    i = cuda.threadIdx.x
    if i < a.size:
        for _ in range(i % 3):
            out[i] += a[i]


@cuda.jit
def visit_plane(a, out):
    """Element (row, col) is loaded `row` times, and once more in the first column."""
    row, col = cuda.threadIdx.y, cuda.threadIdx.x
    for _ in range(row + (col == 0)):
        out[row, col] += a[row, col]


LINES = {
    "all": lambda: WHOLE,
    "a part": lambda: WHOLE[7:47],
    "turned": lambda: WHOLE[::-1],
    "with gaps": lambda: WHOLE[3::4],
    "turned with gaps": lambda: WHOLE[50:2:-3],
    "of a device": lambda: cuda.to_device(WHOLE)[9:33],
    "whole on a device": lambda: cuda.to_device(WHOLE),
}
PLANES = {
    "all": lambda: PLANE,
    "rows turned": lambda: PLANE[::-1],
    "columns turned": lambda: PLANE[:, ::-1],
    "a window": lambda: PLANE[1:4, 2:9],
    "transposed": lambda: PLANE.T[:, 1:5],
    "of a device": lambda: cuda.to_device(PLANE)[2:, 3:],
}


@pytest.mark.parametrize("name", LINES)
def test_loads_of_a_line_are_counted_by_element(name):
    """And the different bytes among them."""
    a = LINES[name]()
    run = emulate(visit)[1, 64](a, np.zeros(64, np.float32))

    expected = np.arange(a.size) % 3
    found = run.reuse["a"]
    assert expected.tolist() == found.loads.tolist()
    assert [0] * a.size == found.stores.tolist()
    assert 4 * np.count_nonzero(expected) == found.bytes_distinct
    assert 4 * int(expected.sum()) == found.bytes_asked
    assert expected.sum() / np.count_nonzero(expected) == found.reuse


@pytest.mark.parametrize("name", PLANES)
def test_loads_and_stores_of_a_plane_are_counted_by_element(name):
    """In the argument's own shape."""
    a = PLANES[name]()
    rows, cols = a.shape
    out = np.zeros(a.shape)[::-1]
    run = emulate(visit_plane)[1, (cols, rows)](a, out)

    expected = np.repeat(np.arange(rows)[:, None], cols, axis=1)
    expected[:, 0] += 1
    assert expected.tolist() == run.reuse["a"].loads.tolist()
    assert expected.tolist() == run.reuse["out"].loads.tolist()
    assert expected.tolist() == run.reuse["out"].stores.tolist()
    assert 8 * np.count_nonzero(expected) == run.reuse["out"].bytes_stored
    assert 3 * 8 * int(expected.sum()) == run.reuse.bytes_asked


def test_what_nobody_loads_is_not_used_again():
    """Its reuse is 0."""

    @cuda.jit
    def store(out):
        out[cuda.grid(1)] = 1

    found = emulate(store)[2, 32](np.zeros(64, np.int16)).reuse

    assert (0, 0, 128) == (
        found["out"].reuse,
        found["out"].bytes_distinct,
        found["out"].bytes_stored,
    )
    assert 128 == found.bytes_stored


def test_a_line_without_instructions_has_all_its_lanes():
    """None of them idles."""
    assert 1.0 == Share(instructions=0, active_lanes=0).active_share
    assert 1.0 == Share(active_lanes=0, present_lanes=0).active_of_present
    assert 0.75 == Share(instructions=2, active_lanes=48).active_share

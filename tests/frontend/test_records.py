"""Records in each memory: their fields are read, written and counted."""

import numpy as np
import pytest
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

from helpers import emulate

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


PARTICLE = np.dtype(
    [("v", np.int32, 3), ("at", [("x", np.float64), ("y", np.float32)])], align=True
)


@cuda.jit
def scale(point, factor):
    point.y = factor
    point.z = 2 * point.y


@cuda.jit
def copy(a, out):
    i = cuda.grid(1)
    out[i] = a[i]


@cuda.jit
def exchange(points, out):
    i = cuda.grid(1)
    out[i] = points[i]


@cuda.jit
def through_shared(particles, out):
    """Each block's records in the opposite order."""
    cells = cuda.shared.array(32, PARTICLE)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    cells[t] = particles[i]
    cells[t].v[1] += 5
    cuda.syncthreads()
    out[i] = cells[31 - t]


@cuda.jit
def through_local(particles, out):
    mine = cuda.local.array(2, PARTICLE)
    i = cuda.grid(1)
    mine[1].v[:] = 0
    for k in range(3):
        mine[1].v[k] = particles[i].v[k]
    mine[1].v[1] += 5
    mine[1].at.x = particles[i].at.x
    out[i] = mine[1]


@cuda.jit
def fields_in_shared(out):
    cells = cuda.shared.array(32, POINT)
    t = cuda.threadIdx.x
    cells[t].y = t
    out[cuda.grid(1)] = cells[t].y


@cuda.jit
def count(particles):
    i = cuda.grid(1)
    cuda.atomic.add(particles["at"]["x"], i % 4, 1)
    cuda.atomic.add(particles[i % 2].v, 1 + i % 2, 1)


@cuda.jit
def draw(states, out):
    """Each thread draws a number from its own state."""
    i = cuda.grid(1)
    out[i] = xoroshiro128p_uniform_float32(states, i)


@pytest.mark.slow
def test_what_numbas_random_numbers_access_is_told_at_the_line_that_draws():
    """Its own lines are nobody's to change."""
    run = emulate(draw)[1, 32](create_xoroshiro128p_states(32, 1), np.zeros(32))

    lines = {site.text for site in run.coalescing.by_line}
    assert {"out[i] = xoroshiro128p_uniform_float32(states, i)"} == lines
    assert "called from" not in repr(run)
    arrays = {(site.kind, site.array) for site in run.coalescing.by_line}
    assert {("load", "states"), ("store", "states"), ("store", "out")} == arrays


def test_a_function_may_be_of_no_module():
    """What `exec` makes says of none."""
    names, out = {"cuda": cuda, "__name__": None}, np.zeros(32)
    exec("@cuda.jit\ndef twice(x):\n    return 2 * x", names)
    twice = names["twice"]

    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = twice(cuda.grid(1))

    emulate(kernel)[1, 32](out)

    np.testing.assert_array_equal(2 * np.arange(32), out)


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


def test_a_record_that_is_an_argument_holds_what_a_kernel_stores_in_it():
    """It is written back, also within an array of the host's."""
    points = np.zeros(3, POINT)

    emulate(scale)[1, 1](points[1], 3)

    assert (0, 3, 6) == points[1].item()
    assert (0, 0, 0) == points[2].item()


def test_the_fields_of_host_arrays_are_arguments_whatever_lies_between_them():
    """Strides that are no whole number of elements; sectors by byte addresses."""
    packed = np.zeros(64, [("a", np.int8), ("x", np.float64)])
    out = np.zeros(64)
    packed["x"] = np.arange(64)

    run = emulate(copy)[2, 32](packed["x"], out)

    np.testing.assert_array_equal(packed["x"], out)
    assert 2 * 32 * 9 // 32 == run.coalescing.by_kind["load"].sectors


@pytest.mark.parametrize("space", ["shared", "local"])
def test_records_lie_in_shared_and_local_memory(space):
    """Fields, fields with axes, and whole records, in each block its own."""
    kernel = {"shared": through_shared, "local": through_local}[space]
    particles = np.zeros(64, PARTICLE)
    particles["v"] = np.arange(192).reshape(64, 3)
    particles["at"]["x"] = np.arange(64)
    out = np.zeros(64, PARTICLE)

    emulate(kernel)[2, 32](particles, out)

    expected = particles.reshape(2, 32)
    expected = (expected[:, ::-1] if space == "shared" else expected).reshape(64)
    np.testing.assert_array_equal(expected["v"] + [0, 5, 0], out["v"])
    np.testing.assert_array_equal(expected["at"]["x"], out["at"]["x"])


def test_a_field_in_shared_memory_is_judged_by_its_own_width_and_address():
    """Four bytes, 16 apart: four lanes in each bank that is hit."""
    run = emulate(fields_in_shared)[3, 32](np.zeros(96, np.float32))

    assert 3 == run.bank_conflicts.by_kind["store"].requests
    assert 3 * 4 == run.bank_conflicts.by_kind["store"].wavefronts
    assert 3 * 4 == run.bank_conflicts.by_kind["load"].wavefronts


def test_a_whole_record_is_copied_byte_by_byte():
    """As the compiler copies it, on an H200: a request for each byte."""
    run = emulate(exchange)[1, 32](np.zeros(32, POINT), np.zeros(32, POINT))

    assert POINT.itemsize == run.coalescing.by_kind["load"].requests
    assert POINT.itemsize == run.coalescing.by_kind["store"].requests


def test_atomics_update_fields():
    """Of one record, of each record, and of a field with axes."""
    particles = np.zeros(4, PARTICLE)

    emulate(count)[2, 32](particles)

    np.testing.assert_array_equal([16] * 4, particles["at"]["x"])
    assert [0, 32, 0] == particles["v"][0].tolist()
    assert [0, 0, 32] == particles["v"][1].tolist()

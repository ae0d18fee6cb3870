"""Where arrays lie: global memory as cudaMalloc aligns it, shared and local memory."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import cuda, float32, float64, int8, int32, int64

from thirty_two_lanes.emulator.arguments import staged_arguments
from thirty_two_lanes.emulator.launch import bind, compile_kernel, run
from thirty_two_lanes.emulator.machine.launch_memory import is_dynamic, shared_addresses
from thirty_two_lanes.frontend.argument_types import argument_types


class Spy:
    """Keeps the allocations and the accesses of a launch."""

    def __init__(self):
        self.allocations, self.accesses = [], []

    def listeners(self):
        return {
            "allocation": self.allocations.append,
            "local": self.accesses.append,
        }

    def by_name(self):
        """Space, start, bytes and the first element's address, by the array's name."""
        return {a.name: (a.space, a.start, a.size, a.first) for a in self.allocations}


def spied(kernel, *arguments, blocks=1, threads=32, dynamic=0):
    spy, config = Spy(), ((blocks, 1, 1), (threads, 1, 1), dynamic)
    with staged_arguments(kernel, arguments) as values:
        types = argument_types(kernel, values)
        program = compile_kernel(kernel, types)
        launch = bind(kernel, program, config, values, types)
        run(kernel, launch, {t: (hear,) for t, hear in spy.listeners().items()})
    return spy


@cuda.jit
def copy(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[0] + b[0]


def test_arrays_of_the_host_lie_apart_at_multiples_of_256_bytes():
    """At least 256 bytes between them; a view of one lies in it only on a device."""
    a, b, out = np.zeros(64), np.zeros(1, np.int8), np.zeros(65)

    found = spied(copy, a, b, out).by_name()

    assert ("global", 0, 512, 0) == found["a"]
    assert ("global", 512 + 256, 1, 768) == found["b"]
    assert ("global", 768 + 512, 520, 1280) == found["out"]


def test_views_of_a_device_array_lie_in_it():
    """Each begins at its first element, the turned one at the last."""
    memory = cuda.to_device(np.zeros(100, np.float32))
    found = spied(copy, memory, memory[30:], memory[::-1]).by_name()

    assert ("global", 0, 400, 0) == found["a"]
    assert ("global", 0, 400, 120) == found["b"]
    assert ("global", 0, 400, 396) == found["out"]


def test_an_empty_array_has_a_place_of_its_own():
    """As cudaMalloc gives it none, nobody reads it."""
    found = spied(copy, np.zeros(1), np.zeros(0), np.zeros(0)).by_name()

    starts = sorted(start for _, start, _, _ in found.values())
    assert 3 == len({*starts}) and all(start % 256 == 0 for start in starts)


def test_an_empty_part_of_an_array_is_not_the_rest_of_it():
    """Both begin at one byte of the host's, and lie apart where they are copied to."""
    memory = np.zeros(7)
    found = spied(copy, memory[:0], memory, np.zeros(0)).by_name()

    assert 0 == found["a"][2]
    assert found["a"][1] + 256 <= found["b"][1]
    assert found["b"][1] + 7 * 8 <= found["out"][1]


class Request(NamedTuple):
    """A shared array as a program asks for it."""

    shape: tuple
    dtype: np.dtype
    alignment: int = 1
    space: str = "shared"


def test_shared_arrays_lie_one_behind_the_other():
    """Each at a multiple of 16 bytes or of what it asks for; dynamic ones are last."""
    floats = Request((3, 5), np.dtype(np.float32))
    letters = Request((33,), np.dtype(np.int8))
    wide = Request((2,), np.dtype(np.float64), 128)
    local = Request((100,), np.dtype(np.float64), 1, "local")
    one = Request((0,), np.dtype(np.float32))
    other = Request((0,), np.dtype(np.int64), 32)

    found = shared_addresses([floats, local, letters, wide, one, other])

    assert {floats: 0, letters: 64, wide: 128, one: 160, other: 160} == found
    assert {} == shared_addresses([local])
    assert {one: 0} == shared_addresses([one])
    assert [True, False, False] == [is_dynamic(r) for r in (one, floats, local)]


@cuda.jit
def shares(out):
    t = cuda.threadIdx.x
    first = cuda.shared.array(5, int32)
    second = cuda.shared.array((2, 3), float64)
    dynamic = cuda.shared.array(0, float32)
    first[t % 5] = second[0, 0] = dynamic[t] = t
    out[t] = 1


def test_shared_arrays_are_known_by_their_bytes():
    """5 × 4, 6 × 8 and the dynamic ones of the launch."""
    found = spied(shares, np.zeros(32), dynamic=200).by_name()

    assert ("shared", 0, 20, 0) == found["first"]
    assert ("shared", 32, 48, 32) == found["second"]
    assert ("shared", 80, 200, 80) == found["dynamic"]


@pytest.mark.parametrize("count, threads", [(3, 32), (3, 64), (100, 32)])
def test_local_arrays_lie_lane_beside_lane(count, threads):
    """Element by element; the next array begins at a multiple of 512 bytes."""

    @cuda.jit
    def kernel(out):
        own = cuda.local.array(count, float32)
        more = cuda.local.array(2, int64)
        bytes_of = cuda.local.array(2, int8)
        own[0] = more[0] = bytes_of[0] = 1
        own[count - 1] = more[1] = bytes_of[1] = 2
        out[cuda.threadIdx.x] = own[0] + more[0] + bytes_of[0]

    stores = {}
    for access in spied(kernel, np.zeros(threads), threads=threads).accesses:
        if access.reference.kind == "store":
            stores.setdefault(access.reference.array, []).append(access.addresses)

    more = -(-count * 4 * 32 // 512) * 512
    lanes = np.arange(32)[:, None]
    for name, start, size, last in (
        ("own", 0, 4, count - 1),
        ("more", more, 8, 1),
        ("bytes_of", more + 512, 1, 1),
    ):
        for place, addresses in zip((0, last), stores[name][-2:], strict=True):
            expected = start + (place * 32 + lanes) * size
            assert expected.tolist() == addresses.tolist()

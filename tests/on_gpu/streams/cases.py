"""Programs with streams, of which the emulator says that a GPU may show an old value,
or never does: each begins with a kernel that takes long, and looks while it runs.

`python -m pytest tests/on_gpu/streams` asks the GPU.
"""

from typing import NamedTuple

import numpy as np
from numba import cuda

N = 256
BEFORE, AFTER = 1, 2
CASES = []


class StreamCase(NamedTuple):
    """A program that gives what the host saw; `races` says that it may be too early."""

    name: str
    races: bool
    program: object


def races(program):
    """A program in which nothing orders what it looks at."""
    CASES.append(StreamCase(program.__name__, True, program))
    return program


def ordered(program):
    """A program in which a rule of docs/AGREEMENT.md orders it."""
    CASES.append(StreamCase(program.__name__, False, program))
    return program


@cuda.jit
def later(x, value, turns):
    """Store a value after some milliseconds."""
    for _ in range(turns):
        cuda.nanosleep(1_000_000)
    i = cuda.grid(1)
    if i < x.size:
        x[i] = value


@cuda.jit
def taken(x, out):
    """Copy an array."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


class Arrays:
    """What a program needs, all of it made before its first kernel."""

    def __init__(self):
        self.s, self.other, self.event = cuda.stream(), cuda.stream(), cuda.event()
        whole = np.full(N, BEFORE, np.float32)
        self.x, self.out = cuda.to_device(whole), cuda.to_device(whole)
        self.pageable, self.pinned = whole, cuda.pinned_array(N, np.float32)
        self.mapped = cuda.mapped_array(N, np.float32)
        self.pinned[:] = self.mapped[:] = BEFORE
        cuda.synchronize()


def start(x, turns, stream=0):
    """The kernel that takes long."""
    later[1, N, stream](x, AFTER, turns)


def seen(array):
    """What a device array holds when all has ended."""
    cuda.synchronize()
    return array.copy_to_host()[N - 1]


@races
def a_pinned_copy_is_read_before_its_stream_has_ended(it, turns):
    start(it.x, turns, it.s)
    it.x.copy_to_host(it.pinned, stream=it.s)
    return it.pinned[N - 1]


@ordered
def a_pageable_copy_returns_when_it_is_there(it, turns):
    start(it.x, turns, it.s)
    it.x.copy_to_host(it.pageable, stream=it.s)
    return it.pageable[N - 1]


@races
def a_pinned_array_is_changed_before_its_copy(it, turns):
    """`AFTER` is what it held, and the copy should have taken."""
    it.pinned[:] = AFTER
    start(it.out, turns, it.s)
    it.x.copy_to_device(it.pinned, stream=it.s)
    it.pinned[:] = BEFORE
    return seen(it.x)


@ordered
def a_pageable_array_is_staged(it, turns):
    it.pageable[:] = AFTER
    start(it.out, turns, it.s)
    it.x.copy_to_device(it.pageable, stream=it.s)
    it.pageable[:] = BEFORE
    return seen(it.x)


@races
def another_stream_reads_at_once(it, turns):
    start(it.x, turns, it.s)
    taken[1, N, it.other](it.x, it.out)
    return seen(it.out)


@ordered
def another_stream_waits_for_an_event(it, turns):
    start(it.x, turns, it.s)
    it.event.record(it.s)
    it.event.wait(it.other)
    taken[1, N, it.other](it.x, it.out)
    return seen(it.out)


@races
def an_event_was_recorded_before_the_work(it, turns):
    it.event.record(it.s)
    start(it.x, turns, it.s)
    it.event.wait(it.other)
    taken[1, N, it.other](it.x, it.out)
    return seen(it.out)


@races
def an_event_was_never_recorded(it, turns):
    start(it.x, turns, it.s)
    it.event.wait(it.other)
    taken[1, N, it.other](it.x, it.out)
    return seen(it.out)


@ordered
def the_default_stream_waits_for_others(it, turns):
    start(it.x, turns, it.s)
    taken[1, N](it.x, it.out)
    return seen(it.out)


@ordered
def others_wait_for_the_default_stream(it, turns):
    start(it.x, turns)
    taken[1, N, it.s](it.x, it.out)
    return seen(it.out)


@ordered
def an_event_on_the_default_stream_is_behind_all(it, turns):
    start(it.x, turns, it.s)
    it.event.record()
    taken[1, N, it.other](it.x, it.out)
    return seen(it.out)


@ordered
def the_thread_s_default_stream_waits_for_the_legacy_one(it, turns):
    start(it.x, turns)
    taken[1, N, cuda.per_thread_default_stream()](it.x, it.out)
    return seen(it.out)


@ordered
def the_default_stream_is_synchronised_with_all(it, turns):
    start(it.mapped, turns, it.s)
    cuda.default_stream().synchronize()
    return it.mapped[N - 1]


@races
def another_stream_is_synchronised(it, turns):
    start(it.mapped, turns, it.s)
    it.other.synchronize()
    return it.mapped[N - 1]


@races
def a_mapped_array_is_read_at_once(it, turns):
    start(it.mapped, turns)
    return it.mapped[N - 1]


@races
def a_stream_given_nothing_since_is_synchronised(it, turns):
    """Its docs do not say whether it waits for a later default stream."""
    start(it.mapped, turns)
    it.s.synchronize()
    return it.mapped[N - 1]


@ordered
def a_pageable_copy_to_the_device_first_waits_for_the_default_stream(it, turns):
    start(it.mapped, turns, it.s)
    it.out.copy_to_device(it.pageable)
    return it.mapped[N - 1]


@ordered
def an_argument_of_pageable_memory_is_back_when_the_launch_returns(it, turns):
    start(it.pageable, turns, it.s)
    return it.pageable[N - 1]


@races
def an_argument_of_pinned_memory_is_copied_back_on_its_stream(it, turns):
    start(it.pinned, turns, it.s)
    return it.pinned[N - 1]


@ordered
def an_event_says_that_it_is_done(it, turns):
    start(it.mapped, turns, it.s)
    it.event.record(it.s)
    while not it.event.query():
        pass
    return it.mapped[N - 1]


@ordered
def the_host_waits_for_an_event(it, turns):
    start(it.mapped, turns, it.s)
    it.event.record(it.s)
    start(it.x, turns, it.s)
    it.event.synchronize()
    return it.mapped[N - 1]


@ordered
def an_element_is_read_by_a_copy_that_waits(it, turns):
    start(it.x, turns, it.s)
    return it.x[N - 1]

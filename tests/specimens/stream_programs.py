"""Programs with streams, right and wrong. In a wrong one each pair of lines that
nothing orders has the comments `# first` and `# second`, with a letter if it has more.

`RIGHT` and `WRONG` list them. They run where there is no GPU, and on one.
"""

import numpy as np
from numba import cuda

N, THREADS = 256, 64
BLOCKS = N // THREADS
RIGHT, WRONG = [], []


def right(program):
    """A program in which all is in order."""
    RIGHT.append(program)
    return program


def wrong(program):
    """A program in which something is not."""
    WRONG.append(program)
    return program


@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += x[i]


@cuda.jit
def copied(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


@cuda.jit
def part_twice(x, first, count):
    i = cuda.grid(1)
    if i < count:
        x[first + i] += x[first + i]


def pinned(value=1):
    """A pinned array of one value."""
    array = cuda.pinned_array(N, np.float32)
    array[:] = value
    return array


def streams(number=2):
    """Some new streams."""
    return [cuda.stream() for _ in range(number)]


@wrong
def host_reads_before_the_copy_has_ended():
    (s,), h = streams(1), pinned()
    d = cuda.to_device(h, stream=s)
    twice[BLOCKS, THREADS, s](d)
    d.copy_to_host(h, stream=s)  # first
    return h.sum()  # second


@right
def host_waits_for_the_stream():
    (s,), h = streams(1), pinned()
    d = cuda.to_device(h, stream=s)
    twice[BLOCKS, THREADS, s](d)
    d.copy_to_host(h, stream=s)
    s.synchronize()
    return h.sum()


@wrong
def host_array_is_changed_before_its_copy_ended():
    (s,), h = streams(1), pinned()
    cuda.to_device(h, stream=s)  # first
    h[:] = 2  # second


@right
def host_array_is_changed_after_its_copy():
    (s,), h = streams(1), pinned()
    cuda.to_device(h, stream=s)
    s.synchronize()
    h += 1


@wrong
def a_sum_in_place_before_the_copy_ended():
    (s,), h = streams(1), pinned()
    cuda.to_device(h, stream=s)  # first
    h += 1  # second


@right
def pageable_memory_is_staged():
    (s,), h = streams(1), np.ones(N, np.float32)
    d = cuda.to_device(h, stream=s)
    h[:] = 2
    result = d.copy_to_host(stream=s)
    return result.sum()


@right
def a_copy_without_a_stream_is_waited_for():
    h = pinned()
    d = cuda.to_device(h)
    h[:] = 2
    twice[BLOCKS, THREADS](d)
    d.copy_to_host(h)
    return h.sum()


@wrong
def another_stream_is_synchronised():
    (s, other), h = streams(), pinned()
    d = cuda.to_device(h, stream=s)
    d.copy_to_host(h, stream=s)  # first
    other.synchronize()
    return h[3]  # second


@wrong
def two_streams_share_an_array():
    (s, other), h = streams(), pinned()
    d = cuda.to_device(h, stream=s)  # first
    twice[BLOCKS, THREADS, other](d)  # second
    cuda.synchronize()


@right
def two_streams_with_an_event_between():
    (s, other), h, event = streams(), pinned(), cuda.event()
    d = cuda.to_device(h, stream=s)
    event.record(s)
    event.wait(other)
    twice[BLOCKS, THREADS, other](d)
    cuda.synchronize()


@wrong
def an_event_is_recorded_before_the_work():
    (s, other), h, event = streams(), pinned(), cuda.event()
    event.record(s)
    d = cuda.to_device(h, stream=s)  # first
    event.wait(other)
    twice[BLOCKS, THREADS, other](d)  # second


@wrong
def an_event_that_nobody_recorded_waits_for_nothing():
    (s, other), h, event = streams(), pinned(), cuda.event()
    d = cuda.to_device(h, stream=s)  # first
    event.wait(other)
    twice[BLOCKS, THREADS, other](d)  # second


@wrong
def an_event_is_waited_for_on_the_wrong_stream():
    (s, other), h, event = streams(), pinned(), cuda.event()
    d = cuda.to_device(h, stream=s)  # first
    event.record(s)
    event.wait(s)
    twice[BLOCKS, THREADS, other](d)  # second


@right
def the_host_waits_for_an_event():
    (s,), h, event = streams(1), pinned(), cuda.event()
    d = cuda.to_device(h, stream=s)
    d.copy_to_host(h, stream=s)
    event.record(s)
    twice[BLOCKS, THREADS, s](d)
    event.synchronize()
    h[:] = 3


@right
def the_host_asks_an_event_until_it_is_done():
    (s,), h, event = streams(1), pinned(), cuda.event()
    cuda.to_device(h, stream=s)
    event.record(s)
    while not event.query():
        pass
    h[:] = 3


@right
def the_default_stream_comes_between_two():
    (s, other), h = streams(), pinned()
    d, out = cuda.to_device(h, stream=s), cuda.device_array(N, np.float32)
    twice[BLOCKS, THREADS, s](d)
    copied[BLOCKS, THREADS](d, out)
    twice[BLOCKS, THREADS, other](d)
    cuda.synchronize()


@right
def the_default_stream_orders_others_by_any_call():
    (s, other), h = streams(), pinned()
    d = cuda.to_device(h, stream=s)
    cuda.to_device(np.zeros(4, np.float32))
    twice[BLOCKS, THREADS, other](d)
    cuda.default_stream().synchronize()
    h[:] = 2


@wrong
def a_stream_does_not_wait_for_a_later_default_stream():
    (s,), x = streams(1), cuda.mapped_array(N, np.float32)
    x[:] = 1
    copied[BLOCKS, THREADS, s](cuda.to_device(np.ones(N, np.float32)), x)
    twice[BLOCKS, THREADS](x)  # first
    s.synchronize()
    return x.sum()  # second


@right
def two_streams_only_read_an_array():
    (s, other), h = streams(), np.ones(N, np.float32)
    d = cuda.to_device(h)
    one, two = cuda.device_array_like(d), cuda.device_array_like(d)
    copied[BLOCKS, THREADS, s](d, one)
    copied[BLOCKS, THREADS, other](d, two)
    return one.copy_to_host(stream=s), two.copy_to_host(stream=other)


@right
def two_streams_write_halves_by_slices():
    both, d = streams(), cuda.to_device(np.ones(N, np.float32))
    for s, half in zip(both, (d[: N // 2], d[N // 2 :]), strict=True):
        twice[BLOCKS, THREADS, s](half)
    cuda.synchronize()


@right
def two_streams_write_halves_by_an_offset():
    both, d = streams(), cuda.to_device(np.ones(N, np.float32))
    for n, s in enumerate(both):
        part_twice[BLOCKS, THREADS, s](d, n * N // 2, N // 2)
    cuda.synchronize()


@wrong
def two_streams_write_parts_that_overlap():
    (s, other), d = streams(), cuda.to_device(np.ones(N, np.float32))
    part_twice[BLOCKS, THREADS, s](d, 0, N // 2 + 1)  # first
    part_twice[BLOCKS, THREADS, other](d, N // 2, N // 2)  # second

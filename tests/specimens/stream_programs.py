"""Programs with streams, right and wrong: of a wrong one each pair of lines that nothing
orders has the comments `# first` and `# second`, with a letter where it has several.

`RIGHT` and `WRONG` list them. They run where there is no GPU, and on one.
"""

import asyncio

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


@right
def ping_pong_with_events():
    """Copies on one stream, kernels on the other, two buffers."""
    (copies, work), events = streams(), [[cuda.event(), cuda.event()] for _ in "ab"]
    buffers = [cuda.device_array(N, np.float32) for _ in range(2)]
    h = [pinned(n) for n in range(6)]
    for n, block in enumerate(h):
        here, done = events[n % 2]
        done.wait(copies)  # for the kernel that had this buffer before
        buffers[n % 2].copy_to_device(block, stream=copies)
        here.record(copies)
        here.wait(work)
        twice[BLOCKS, THREADS, work](buffers[n % 2])
        done.record(work)
    cuda.synchronize()


@wrong
def ping_pong_that_does_not_wait_for_the_buffer():
    (copies, work), here = streams(), cuda.event()
    buffers = [cuda.device_array(N, np.float32) for _ in range(2)]
    h = [pinned(n) for n in range(6)]
    for n, block in enumerate(h):
        buffers[n % 2].copy_to_device(block, stream=copies)  # second
        here.record(copies)
        here.wait(work)
        twice[BLOCKS, THREADS, work](buffers[n % 2])  # first


@right
def a_ring_of_pinned_buffers():
    """A slot is filled again when its own stream has ended."""
    ring = [(pinned(), cuda.stream()) for _ in range(3)]
    for n in range(7):
        h, s = ring[n % 3]
        s.synchronize()
        h[:] = n
        twice[BLOCKS, THREADS, s](cuda.to_device(h, stream=s))
    cuda.synchronize()


@wrong
def a_ring_of_pinned_buffers_that_is_not_waited_for():
    ring = [(pinned(), cuda.stream()) for _ in range(3)]
    for n in range(7):
        h, s = ring[n % 3]
        h[:] = n  # second
        cuda.to_device(h, stream=s)  # first


@right
def slots_of_one_pinned_array():
    """The host fills one half while the other one is copied."""
    (s,), whole = streams(1), cuda.pinned_array((2, N), np.float32)
    whole[0] = 1
    cuda.to_device(whole[0], stream=s)
    whole[1] = 2
    slot = whole[1, ::2]
    slot += 1
    s.synchronize()


@right
def a_stream_is_synchronised_at_the_end_of_a_with():
    h = pinned()
    with cuda.stream().auto_synchronize() as s:
        d = cuda.to_device(h, stream=s)
        d.copy_to_host(h, stream=s)
    return h.tolist()


@wrong
def within_the_with_nothing_is_synchronised():
    h = pinned()
    with cuda.stream().auto_synchronize() as s:
        d = cuda.to_device(h, stream=s)
        d.copy_to_host(h, stream=s)  # first
        return np.array_equal(h, [1] * N)  # second


@right
def an_array_that_is_freed_is_nobodys():
    """Its memory may be another's next."""
    for s in streams(4):
        d = cuda.to_device(pinned(), stream=s)
        twice[BLOCKS, THREADS, s](d)
        del d
    cuda.synchronize()


@wrong
def a_mapped_array_is_read_before_the_kernel_ended():
    x = cuda.mapped_array(N, np.float32)
    x[:] = 1
    twice[BLOCKS, THREADS](x)  # first
    return float(x[0])  # second


@right
def a_managed_array_is_read_after_the_kernel():
    x = cuda.managed_array(N, np.float32)
    x[:] = 1
    twice[BLOCKS, THREADS](x)
    cuda.synchronize()
    return x.max()


@wrong
def a_pinned_argument_is_copied_back_on_its_stream():
    (s,), h = streams(1), pinned()
    twice[BLOCKS, THREADS, s](h)  # first
    return h.mean()  # second


@right
def a_pageable_argument_is_there_when_the_launch_returns():
    (s,), h = streams(1), np.ones(N, np.float32)
    twice[BLOCKS, THREADS, s](h)
    return h.mean()


@right
def an_array_has_a_stream_of_its_own():
    (s,), h = streams(1), pinned()
    d = cuda.to_device(h, stream=s)
    twice[BLOCKS, THREADS, d.stream](d)
    d.copy_to_host(h)  # on s, too
    s.synchronize()
    return h[0]


@wrong
def an_array_copies_on_its_own_stream():
    (s,), h = streams(1), pinned()
    d = cuda.device_array(N, np.float32, stream=s)
    d.copy_to_device(h)  # first
    h.fill(0)  # second


@right
def a_callback_comes_after_its_stream():
    (s,), h = streams(1), pinned()
    cuda.to_device(h, stream=s).copy_to_host(h, stream=s)
    s.add_callback(lambda *_: h.sum())
    s.synchronize()
    h[:] = 0


@wrong
def the_host_writes_what_a_callback_reads():
    (s,), h = streams(1), pinned()
    s.add_callback(lambda *_: h.sum())  # first
    h[:] = 0  # second


@right
def a_stream_that_is_awaited_has_ended():
    async def program():
        (s,), h = streams(1), pinned()
        cuda.to_device(h, stream=s).copy_to_host(h, stream=s)
        await s.async_done()
        return h.sum()

    return asyncio.run(program())


@right
def the_host_assigns_to_a_device_array():
    (s,), d = streams(1), cuda.to_device(np.ones(N, np.float32))
    twice[BLOCKS, THREADS, s](d)
    d[3] = 1  # on the default stream, and it waits
    return d[3]


@wrong
def a_memset_on_another_stream():
    (s, other), d = streams(), cuda.to_device(np.ones(N, np.float32))
    twice[BLOCKS, THREADS, s](d)  # first
    cuda.cudadrv.driver.device_memset(d, 0, d.nbytes, stream=other)  # second


@wrong
def what_is_wrong_is_told_once():
    """The copy back is wrong for the launch's reason, and so is the second launch."""
    (s, other), h = streams(), pinned()
    d = cuda.to_device(h, stream=s)  # first a
    twice[BLOCKS, THREADS, other](d)  # second a
    twice[BLOCKS, THREADS, other](d)
    d.copy_to_host(h, stream=other)  # first b
    total = h.sum()  # second b
    return total + h.max()

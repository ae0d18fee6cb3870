"""More programs with streams: pipelines, and memory that host and device share. They
join those of `stream_programs.py`.
"""

import asyncio

import numpy as np
from numba import cuda

from tests.specimens.stream_programs import (
    BLOCKS,
    THREADS,
    N,
    copied,
    pinned,
    right,
    streams,
    twice,
    wrong,
)


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
def what_is_only_in_or_out_is_each_launchs_own():
    both, h, out = streams(), np.ones(N, np.float32), np.zeros(N, np.float32)
    for s in both:
        copied[BLOCKS, THREADS, s](cuda.In(h), cuda.Out(out))
    return out.sum()


@wrong
def a_pinned_array_that_is_only_in_is_changed_at_once():
    (s,), h, out = streams(1), pinned(), cuda.device_array(N, np.float32)
    copied[BLOCKS, THREADS, s](cuda.In(h), out)  # first
    h[0] = 2  # second


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

"""Barriers that threads miss, and masks: what is found, what an H200 gave, and what
cannot go on. The values with "H200" were recorded there.
"""

import numpy as np
import pytest
from numba import cuda, int32, int64

from helpers import emulate
from tests.specimens.kernels import line_of, message
from thirty_two_lanes.emulator import BarrierError
from thirty_two_lanes.emulator.machine import machine

FULL = 0xFFFFFFFF


def run_with(kernel, threads, blocks=1):
    """The run of a kernel `(a, out)`, and what it stores, by block; a is 100, 101, …"""
    a, out = np.arange(100, 356), np.full((blocks, threads), -1)
    return emulate(kernel)[blocks, threads](a, out.reshape(-1)), out


@cuda.jit
def early(a, out):
    s = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    if t >= 40:
        return
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[39 - t]


def test_a_barrier_goes_on_without_threads_that_returned_and_is_found():
    """Threads 40 to 63 of both blocks; H200: the others see each other's stores."""
    run, out = run_with(early, 64, 2)

    assert np.arange(139, 99, -1).tolist() == out[0, :40].tolist()
    (found,) = run.barriers
    line, end = line_of(early, "syncthreads"), line_of(early, "return")
    assert (line, end, True) == (found.line, found.elsewhere.line, found.left)
    where = (found.threads, found.blocks, found.thread, found.block)
    assert (48, 2, "40", "0") == where
    assert not run.races


@cuda.jit
def counted(a, out):
    t = cuda.threadIdx.x
    if t % 3 == 0:
        return
    even = 1 - a[t] % 2
    votes = cuda.syncthreads_count(even) * 100
    votes += cuda.syncthreads_and(1) * 10
    out[t] = votes + cuda.syncthreads_or(0)


def test_threads_that_returned_do_not_vote_at_a_barrier():
    """H200: 21 of the 42 that are left, all of them, none of them."""
    _, out = run_with(counted, 64)

    assert [-1, 2110, 2110] * 21 + [-1] == out[0].tolist()


def test_a_loop_that_lanes_leave_one_by_one_ends():
    """H200: each goes on as long as its own loop; found once, with the most."""

    @cuda.jit
    def uneven(a, out):
        t = cuda.threadIdx.x
        for k in range(a[t] % 4 + 1):
            cuda.syncthreads()
            out[t] = k

    run, out = run_with(uneven, 64)
    assert [0, 1, 2, 3] * 16 == out[0].tolist()
    assert [(48, "0")] == [(it.threads, it.thread) for it in run.barriers]


def test_warps_at_two_barriers_meet_and_are_found():
    """H200: each sees what the other stored; a later barrier of all is none of them."""

    @cuda.jit
    def two(a, out):
        s = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        if t < 32:
            s[t] = a[t]
            cuda.syncthreads()
            out[t] = s[t + 32]
        else:
            s[t] = 2 * a[t]
            cuda.syncthreads()  # the other
            out[t] = s[t - 32] + 5
        cuda.syncthreads()

    run, out = run_with(two, 64)

    assert [*range(264, 328, 2), *range(105, 137)] == out[0].tolist()
    (found,) = run.barriers
    assert line_of(two, "the other") == found.line and not found.left
    assert line_of(two, "syncthreads") == found.elsewhere.line
    assert (32, "0") == (found.threads, found.thread)
    assert not run.races


def test_counts_at_two_barriers_are_one_count():
    """H200: 32 of one warp, and 16 of the other."""

    @cuda.jit
    def two(a, out):
        t = cuda.threadIdx.x
        if t < 32:
            out[t] = cuda.syncthreads_count(1)
        else:
            out[t] = cuda.syncthreads_count(1 - a[t] % 2)

    assert [48] * 64 == run_with(two, 64)[1][0].tolist()


@cuda.jit
def loops_by_warp(a, out):
    s = cuda.shared.array(4, int64)
    t = cuda.threadIdx.x
    if t < 4:
        s[t] = 0
    if t < 32:
        cuda.syncthreads()
        cuda.atomic.add(s, 0, 1)
    elif t < 64:
        cuda.atomic.add(s, 1, 1)
        cuda.syncthreads()
    else:
        cuda.syncthreads()
    cuda.syncthreads()
    out[t] = s[0] + 1000 * s[1]


def test_a_barrier_behind_two_others_is_for_all():
    """H200: 32 and 32."""
    assert [32032] * 96 == run_with(loops_by_warp, 96)[1][0].tolist()


def kinds_differ(t, out):
    if t < 32:
        out[t] = cuda.syncthreads_count(1)
    else:
        cuda.syncthreads()


def in_one_warp(t, out):
    if t < 16:
        cuda.syncthreads()
        out[t] = 1
    else:
        cuda.syncthreads()
        out[t] = 2


def with_a_grid(t, out):
    if t < 32:
        cuda.syncthreads()
        out[t] = 1
    else:
        cuda.cg.this_grid().sync()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (kinds_differ, "ends the launch as an illegal instruction"),
        (in_one_warp, "CUDA leaves open what lanes of one warp at two barriers do"),
        (with_a_grid, "On a GPU this hangs"),
    ],
    ids=lambda it: getattr(it, "__name__", ""),
)
def test_barriers_that_do_not_go_together_are_an_error(function, words):
    """A count and a wait (H200: illegal instruction), lanes of a warp, a grid's."""
    device = cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(out):
        device(cuda.threadIdx.x, out)

    text = message(BarrierError, kernel, 1, 64, np.zeros(64))

    assert "wait at the barrier of line" in text and words in text


@pytest.mark.parametrize("leaver", [16, 0])
def test_a_grid_barrier_goes_on_without_some_threads_of_a_block(leaver):
    """H200: the others see what the other block stored; thread 0 may be who left."""

    @cuda.jit
    def kernel(a, out):
        t, block = cuda.threadIdx.x, cuda.blockIdx.x
        if t == leaver:
            return
        out[cuda.grid(1)] = a[block]
        cuda.cg.this_grid().sync()
        if t == 5:
            out[cuda.grid(1)] = out[32 - 32 * block + 6]

    run, out = run_with(kernel, 32, 2)

    assert [101, 100] == out[:, 5].tolist()
    found = [(it.threads, it.blocks, it.thread) for it in run.barriers]
    assert [(2, 2, str(leaver))] == found


@pytest.mark.parametrize("blocks_at_a_time", [1, 3, 1024])
def test_findings_do_not_depend_on_how_many_blocks_run_together(
    blocks_at_a_time, monkeypatch
):
    """Threads that left by block, and stray lanes."""
    monkeypatch.setattr(machine, "BATCH_BLOCKS", blocks_at_a_time)

    @cuda.jit
    def kernel(a, out):
        t, block = cuda.threadIdx.x, cuda.blockIdx.x
        if t < block:
            return
        for _ in range(block):
            cuda.syncthreads()
        out[cuda.grid(1)] = cuda.shfl_sync(FULL, a[t], 2 * block)

    run, _ = run_with(kernel, 64, 7)

    found = [(i.threads, i.blocks, i.thread, i.block) for i in run.barriers]
    assert [(21, 6, "0", "1")] == found
    assert not run.lanes  # lane 2 * block has returned only where block > 2 * block


# ---------------------------------------------------------------- lanes


@cuda.jit
def meet(mask, out):
    t = cuda.threadIdx.x
    cuda.syncwarp(mask)
    out[t] = 1


@cuda.jit
def pass_on(mask, out):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_sync(mask, t, t ^ 16)


@cuda.jit
def vote(mask, out):
    out[cuda.threadIdx.x] = cuda.ballot_sync(mask, 1) & FULL


@pytest.mark.parametrize(
    ("kernel", "gives"),
    [(meet, [1] * 32), (pass_on, [t ^ 16 for t in range(32)]), (vote, [FULL] * 32)],
)
@pytest.mark.parametrize("mask", [0x0000FFFF, 0x7FFFFFFF])
def test_a_mask_that_does_not_name_its_callers_is_found(kernel, gives, mask):
    """The upper half, or the last lane; H200: all execute it together."""
    out = np.zeros(32, np.int64)

    run = emulate(kernel)[1, 32](mask, out)

    assert gives == out.tolist()
    unnamed = {it.lanes: it.count for it in run.lanes if it.kind == "unnamed"}
    lanes = tuple(range(16, 32)) if mask == 0xFFFF else (31,)
    assert {lanes: len(lanes)} == unnamed
    assert (kernel is pass_on) == any(it.kind == "outside" for it in run.lanes)


@pytest.mark.parametrize("mask", [0xFFFFFFFF, -1])
def test_a_full_mask_names_all(mask):
    """Both ways to write it, and lanes that the block does not have."""
    out = np.zeros(40)

    assert not emulate(meet)[1, 40](mask, out).lanes
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

    assert not emulate(halves)[1, 32](out).lanes
    assert [1.0] * 32 == out.tolist()


@cuda.jit
def outside(a, out):
    t = cuda.threadIdx.x
    if t < 16:
        out[t] = cuda.shfl_down_sync(0xFFFF, a[t], 8)
    else:
        out[t] = 3 * a[t]


@cuda.jit
def returned(a, out):
    t = cuda.threadIdx.x
    if t >= 16:
        out[t] = 3 * a[t]
        return
    out[t] = cuda.shfl_down_sync(FULL, a[t], 8)


@cuda.jit
def absent(a, out):
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_down_sync(FULL, a[t], 8)


@pytest.mark.parametrize(
    ("kernel", "threads", "kind", "lanes"),
    [
        (outside, 32, "outside", range(16, 24)),
        (returned, 32, "left", range(16, 24)),
        (absent, 24, "absent", range(24, 32)),
    ],
)
@pytest.mark.parametrize("plainly", [True, False])
def test_a_shuffle_from_a_lane_that_is_not_there_gives_0(
    kernel, threads, kind, lanes, plainly
):
    """As an H200 gives it; found by `emulate`, with the lanes and the first reader."""
    a, out = np.arange(100, 100 + threads), np.zeros(threads, np.int64)

    run = None if plainly else emulate(kernel)[1, threads](a, out)
    if plainly:
        kernel[1, threads](a, out)

    taking_part = min(lanes)
    wanted = [*range(108, 100 + taking_part), *[0] * 8]
    wanted += [3 * a[t] for t in range(taking_part, threads)]
    assert wanted == out.tolist()
    if run is not None:
        (found,) = run.lanes
        assert (kind, tuple(lanes), 8) == (found.kind, found.lanes, found.count)
        assert (str(taking_part - 8), "0") == (found.thread, found.block)
        assert line_of(kernel, "shfl") == found.line


@cuda.jit
def votes_of_groups(a, out):
    t = cuda.threadIdx.x
    mask = cuda.match_any_sync(FULL, a[t] % 3)
    out[0, t] = mask & FULL
    out[1, t] = cuda.ballot_sync(mask, t < 20) & FULL
    out[2, t] = cuda.any_sync(mask, t == 3) + 2 * cuda.all_sync(mask, a[t] % 3 == 0)
    out[3, t] = cuda.match_any_sync(mask, t // 8) & FULL
    out[4, t] = cuda.shfl_sync(mask, a[t], cuda.ffs(mask) - 1)


def test_lanes_vote_among_those_with_their_mask():
    """H200: of three groups at one line, each votes and matches by itself."""
    out = np.zeros((5, 32), np.int64)

    run = emulate(votes_of_groups)[1, 32](np.arange(100, 132), out)

    t = np.arange(32)
    group = (t + 100) % 3

    def bits(lanes):
        return sum(1 << int(lane) for lane in lanes)

    for lane in range(32):
        same = t[group == group[lane]]
        vote = any(same == 3) + 2 * (group[lane] == 0)
        near = same[same // 8 == lane // 8]
        wanted = [bits(same), bits(same[same < 20]), vote, bits(near), 100 + min(same)]
        assert wanted == out[:, lane].tolist()
    assert not run.lanes


def test_votes_leave_out_lanes_that_returned():
    """H200: they may be named; none is found."""

    @cuda.jit
    def kernel(a, out):
        t = cuda.threadIdx.x
        if t % 4 == 1:
            return
        bits = cuda.ballot_sync(FULL, 1) & FULL
        out[t] = bits * 2 + cuda.all_sync(FULL, int32(1))

    run, out = run_with(kernel, 32)

    votes = 2 * sum(1 << lane for lane in range(32) if lane % 4 != 1) + 1
    assert [votes, -1, votes, votes] * 8 == out[0].tolist() and not run.lanes

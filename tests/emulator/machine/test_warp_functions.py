"""Shuffles, votes and matches of lanes that come together, apart and late; `syncwarp`
at several places, where lanes meet by their mask.
"""

import numpy as np
import pytest
from numba import cuda, int32

from helpers import emulate
from tests.emulator.native.comparison import same_in_both, same_reports
from tests.specimens.kernels import BUILT_IN, line_of, message
from thirty_two_lanes.emulator import BarrierError

ALL = 0xFFFFFFFF
EACH_SEES_ITS_MIRROR = [[*range(31, 15, -1), *range(1015, 999, -1)]] * 4


@cuda.jit
def four_ways(out):
    """Each quarter of the warp votes in a branch of its own, with a mask of its own."""
    lane = cuda.laneid
    if lane % 4 == 0:
        out[lane] = cuda.ballot_sync(0x11111111, True)
    elif lane % 4 == 1:
        out[lane] = cuda.ballot_sync(0x22222222, True)
    elif lane % 4 == 2:
        out[lane] = cuda.ballot_sync(0x44444444, True)
    else:
        out[lane] = cuda.ballot_sync(0x88888888, True)


@cuda.jit
def late_lanes(out):
    """Lanes go to the same vote after loops of different lengths, with one `while`."""
    lane = cuda.laneid
    turns = 0
    while True:
        if turns == lane % 5:
            break
        turns += 1
    cuda.syncwarp()
    out[lane] = cuda.shfl_sync(ALL, turns, (lane + 1) % 32)


@cuda.jit
def one_half_only(out):
    """Half of the warp asks all of it."""
    lane = cuda.laneid
    if lane < 16:
        out[lane] = cuda.shfl_down_sync(ALL, lane, 1)
    cuda.syncthreads()


@cuda.jit
def half_among_itself(out):
    """Half of the warp shuffles within its own mask."""
    lane = cuda.laneid
    if lane < 16:
        out[lane] = cuda.shfl_xor_sync(0xFFFF, lane, 8)


@cuda.jit
def who_is_like_me(out, agree, values):
    """Each lane learns which lanes hold its value, and whether all do."""
    lane = cuda.laneid
    out[lane] = cuda.match_any_sync(ALL, values[lane])
    agree[lane] = cuda.match_all_sync(ALL, values[lane])[1]


@cuda.jit
def rank_below(out, flags):
    """Each flagged lane counts the flagged ones below it."""
    lane = cuda.laneid
    votes = cuda.ballot_sync(ALL, flags[lane])
    out[lane] = cuda.popc(votes & int32(cuda.lanemask_lt()))


def test_branches_vote_with_masks_of_their_own():
    """Independent thread scheduling: as in Numba's own test of it."""
    out = np.zeros(32, np.uint32)

    emulate(four_ways)[1, 32](out)

    masks = [0x11111111, 0x22222222, 0x44444444, 0x88888888]
    np.testing.assert_array_equal(np.tile(masks, 8), out)


def test_a_shuffle_waits_for_lanes_that_come_later():
    """The first to leave a loop wait for the last."""
    out = np.zeros(32, np.int64)

    emulate(late_lanes)[1, 32](out)

    np.testing.assert_array_equal((np.arange(32) + 1) % 32 % 5, out)


def test_lanes_that_never_come_are_an_error():
    """The mask names lanes that take another way; on a GPU the others may hang."""
    text = message(BarrierError, one_half_only, 1, 32, np.zeros(32, np.int32))

    assert "names lanes that never execute it" in text and "shfl_down_sync" in text


def test_a_mask_of_the_lanes_that_are_there_is_enough():
    """Half a warp exchanges its values in a branch."""
    out = np.full(32, -1)

    emulate(half_among_itself)[1, 32](out)

    np.testing.assert_array_equal(np.arange(16) ^ 8, out[:16])
    assert (out[16:] == -1).all()


@pytest.mark.parametrize("alike", [False, True])
def test_matches_tell_who_holds_the_same_value(alike):
    """As bits of a mask; `match_all` says whether all agree."""
    values = np.zeros(32, np.int64) if alike else np.arange(32) % 3
    out, agree = np.zeros(32, np.uint32), np.zeros(32, np.bool_)

    emulate(who_is_like_me)[1, 32](out, agree, values)

    expected = [
        sum(1 << other for other in range(32) if values[other] == value)
        for value in values
    ]
    np.testing.assert_array_equal(expected, out)
    assert (agree == alike).all()


@pytest.mark.skipif(BUILT_IN, reason="its `popc` of an int32 has another type")
def test_a_ballot_gives_each_lane_its_rank():
    """Votes, the mask of the lanes below, and a count of bits."""
    flags = np.random.default_rng(3).random(32) < 0.5
    out = np.zeros(32, np.int64)

    emulate(rank_below)[1, 32](out, flags)

    np.testing.assert_array_equal(np.cumsum(flags) - flags, out)


def test_popc_counts_the_bits_of_negative_numbers_as_they_lie():
    """A ballot in which the last lane said yes is negative, and counts like others."""

    @cuda.jit
    def kernel(a, out):
        lane = cuda.threadIdx.x
        out[lane] = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, a[lane] > 0))

    a = np.where(np.arange(32) % 3 == 1, 1, 0).astype(np.int32)
    out = np.zeros(32, np.int32)

    emulate(kernel)[1, 32](a, out)

    assert [int(a.sum())] * 32 == out.tolist()


# `syncwarp` at several places


@cuda.jit
def halves(out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = t % 32
    if t % 32 < 16:
        cuda.syncwarp()
        out[cuda.grid(1)] = s[t ^ 31]
    else:
        cuda.syncwarp()  # the other
        out[cuda.grid(1)] = s[t ^ 31] + 1000


def test_halves_of_warps_meet_at_two_places_and_are_found():
    """16 lanes of each of 4 warps: they see each other's stores, which is no race."""
    out = np.zeros((4, 32))

    run = emulate(halves)[2, 64](out.reshape(-1))

    assert EACH_SEES_ITS_MIRROR == out.tolist()
    (found,) = run.barriers
    assert line_of(halves, "the other") == found.line and not found.left
    assert line_of(halves, "syncwarp") == found.elsewhere.line
    assert (64, 2, "0", "0") == (found.threads, found.blocks, found.thread, found.block)
    assert not run.races and not run.races.minor


@cuda.jit
def three_places(out, turns):
    s = cuda.shared.array(96, int32)
    t, first = cuda.threadIdx.x, 96 * cuda.blockIdx.x
    lane = t % 32
    for k in range(turns):
        s[t] = k + cuda.blockIdx.x
        if lane < 8 + cuda.blockIdx.x:
            cuda.syncwarp()  # first
            out[first + t] += s[t ^ 15]
        elif lane < 24:
            cuda.syncwarp()  # second
            out[first + t] += 10 * s[t ^ 31]
        elif lane == 31:
            return
        else:
            cuda.syncwarp()  # third
            out[first + t] += 100 * s[t - 16]
        cuda.syncwarp()


@pytest.mark.parametrize("blocks", [1, 3])
def test_lanes_meet_at_three_places_without_those_that_returned(blocks):
    """At each turn of a loop, with other lanes in each block; the cells hold the sum of
    the turn's and the block's number.
    """
    out = np.zeros((blocks, 3, 32), np.int64)

    run = emulate(three_places)[blocks, 96](out.reshape(-1), 2)

    for block in range(blocks):
        each = [1] * (8 + block) + [10] * (16 - block) + [100] * 7 + [0]
        total = [(2 * block + 1) * one for one in each]
        assert [total] * 3 == out[block].tolist()
    first, second = sorted(run.barriers, key=lambda it: it.elsewhere)
    numbers = range(blocks)
    assert 3 * sum(8 + block for block in numbers) == first.threads
    assert 3 * sum(16 - block for block in numbers) == second.threads
    assert [line_of(three_places, "third")] * 2 == [first.line, second.line]


def test_machine_code_lets_lanes_meet_at_several_places_too():
    """The same bits, and the same findings."""
    same_in_both(three_places, (5, 96), [np.zeros(5 * 96, np.int64), 5])
    same_reports(three_places, (1, 96), [np.zeros(96, np.int64), 5])


def test_other_masks_at_another_place_do_not_meet():
    """One waits for all 32 lanes, the other for all but the first."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 16:
            cuda.syncwarp(ALL)
            out[t] = 1
        else:
            cuda.syncwarp(0xFFFFFFFE)
            out[t] = 2

    assert "names lanes that never execute it" in message(
        BarrierError, kernel, 1, 32, np.zeros(32)
    )


def test_each_mask_meets_by_itself():
    """Even lanes meet at two places; odd ones name all, and even ones never come."""

    @cuda.jit
    def kernel(out, odd):
        t = cuda.threadIdx.x
        mask = 0x55555555 if t % 2 == 0 else odd
        if t < 16:
            cuda.syncwarp(mask)
            out[t] = 1
        else:
            cuda.syncwarp(mask)
            out[t] = 2
        cuda.syncthreads()

    kernel[1, 32](out := np.zeros(32), 0xAAAAAAAA)

    assert [1] * 16 + [2] * 16 == out.tolist()
    text = message(BarrierError, kernel, 1, 32, out := np.zeros(32), ALL)
    assert "names lanes that never execute it" in text
    assert [1, 0] * 8 + [2, 0] * 8 == out.tolist()


def test_two_shuffles_of_half_a_warp_each_do_not_meet():
    """They would exchange values."""

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 16:
            out[t] = cuda.shfl_sync(ALL, t, 3)
        else:
            out[t] = cuda.shfl_sync(ALL, t, 20)

    assert "names lanes that never execute it" in message(
        BarrierError, kernel, 1, 32, np.zeros(32)
    )


@cuda.jit
def in_a_branch(a, out, n):
    t = cuda.threadIdx.x
    if t < n:
        out[t] = cuda.shfl_down_sync(0xFFFFFFFF, a[t], 1)


@cuda.jit
def after_a_return(a, out, n):
    t = cuda.threadIdx.x
    if t >= n:
        return
    out[t] = cuda.shfl_down_sync(0xFFFFFFFF, a[t], 1)


@pytest.mark.parametrize(
    "kernel, kind, words",
    [
        (in_a_branch, "past", "reads lane 20, which skips this line"),
        (after_a_return, "left", "reads lane 20, which has ended"),
    ],
)
def test_a_lane_that_skips_a_shuffle_is_told_from_one_that_has_ended(
    kernel, kind, words
):
    """Both have come to the kernel's end by then; only one by a `return`."""
    (found,) = emulate(kernel)[1, 32](np.ones(32), np.zeros(32), 20).lanes

    assert (kind, words, (20,), 1) == (found.kind, found.text, found.lanes, found.count)

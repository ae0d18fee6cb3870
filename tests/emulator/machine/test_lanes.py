"""Each function that sees other lanes, in two blocks of two warps, against Python."""

import numpy as np
import pytest
from numba import cuda, int32

from helpers import emulate

ALL = 0xFFFFFFFF
ODD = 0xAAAAAAAA
RNG = np.random.default_rng(7)
LANES = range(32)


def per_warp(kernel, *inputs, dtype=np.int64):
    """What 2 × 64 threads store, a row for each warp; inputs are such rows."""
    out = np.full(128, -9, dtype)
    emulate(kernel)[2, 64](*(np.ravel(i) for i in inputs), out)
    return out.reshape(4, 32).tolist()


SHUFFLES = {
    "index": (
        lambda v, s: cuda.shfl_sync(ALL, v, s),
        lambda lane, s: s,
    ),
    "up": (
        lambda v, s: cuda.shfl_up_sync(ALL, v, s),
        lambda lane, s: lane - s if lane >= s else lane,
    ),
    "down": (
        lambda v, s: cuda.shfl_down_sync(ALL, v, s),
        lambda lane, s: lane + s if lane + s < 32 else lane,
    ),
    "xor": (
        lambda v, s: cuda.shfl_xor_sync(ALL, v, s),
        lambda lane, s: lane ^ s,
    ),
}


@pytest.mark.parametrize("name", SHUFFLES)
def test_a_shuffle_takes_the_value_of_the_lane_that_it_names(name):
    """Of its own warp; a lane that is not there gives one's own value back."""
    exchange, lane_of = SHUFFLES[name]
    exchange = cuda.jit(device=True)(exchange)

    @cuda.jit
    def by_element(values, lanes, out):
        i = cuda.grid(1)
        out[i] = exchange(values[i], lanes[i])

    @cuda.jit
    def by_three(values, lanes, out):
        i = cuda.grid(1)
        out[i] = exchange(values[i], 3)

    values, lanes = RNG.integers(0, 1000, (4, 32)), RNG.integers(0, 32, (4, 32))
    values[0, 0], lanes[0] = 999, np.arange(32)

    expected = [
        [int(row[lane_of(lane, int(s))]) for lane, s in enumerate(shift)]
        for row, shift in zip(values, lanes, strict=True)
    ]
    assert expected == per_warp(by_element, values, lanes)
    assert expected == per_warp(by_element, values, lanes + 32)  # five bits count
    assert [[int(row[lane_of(lane, 3)]) for lane in LANES] for row in values] == (
        per_warp(by_three, values, lanes)
    )


def test_a_shuffle_of_what_all_lanes_hold_gives_it_back():
    """A value of the block, and one of the launch."""

    @cuda.jit
    def kernel(out):
        both = cuda.blockIdx.x * 10 + cuda.shfl_sync(ALL, 3, 5)
        out[cuda.grid(1)] = cuda.shfl_sync(ALL, both, 1)

    assert [[3] * 32] * 2 + [[13] * 32] * 2 == per_warp(kernel)


VOTES = {
    "any": (lambda m, p: cuda.any_sync(m, p), any),
    "all": (lambda m, p: cuda.all_sync(m, p), all),
    "eq": (lambda m, p: cuda.eq_sync(m, p), lambda votes: len({*votes}) == 1),
}
PREDICATES = np.array(
    [[0] * 32, [1] * 32, [*ODD.to_bytes(4, "little"), *[0] * 28], np.arange(32) % 2]
)


@pytest.mark.parametrize("name", VOTES)
def test_a_vote_counts_the_lanes_of_its_mask(name):
    """In a branch that only odd lanes take, and in none."""
    vote, expected = VOTES[name]
    vote = cuda.jit(device=True)(vote)

    @cuda.jit
    def together(flags, out):
        i = cuda.grid(1)
        out[i] = vote(ALL, flags[i] != 0)

    @cuda.jit
    def apart(flags, out):
        i = cuda.grid(1)
        if i % 2:
            out[i] = vote(ODD, flags[i] != 0)

    flags = PREDICATES != 0
    assert [[int(expected(row.tolist()))] * 32 for row in flags] == (
        per_warp(together, PREDICATES)
    )
    assert [[-9, int(expected(row[1::2].tolist()))] * 16 for row in flags] == (
        per_warp(apart, PREDICATES)
    )


def test_the_result_of_a_vote_may_be_exchanged():
    """It is one value for each warp of each block, like any other."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        some = cuda.any_sync(ALL, i > 100)
        every = cuda.all_sync(ALL, i < 100)
        same = cuda.eq_sync(ALL, i < 100)
        bits = cuda.ballot_sync(ALL, i < 2)
        out[i] = cuda.shfl_sync(ALL, int32(some), 3) + 2 * cuda.shfl_sync(
            ALL, int32(every), 4
        )
        out[i] += 4 * cuda.shfl_sync(ALL, int32(same), 5) + 8 * cuda.shfl_sync(
            ALL, int32(bits), 6
        )

    assert [[2 + 4 + 24] * 32, [6] * 32, [6] * 32, [1] * 32] == per_warp(kernel)


def test_a_vote_on_what_all_lanes_hold_counts_those_that_are_there():
    """The same predicate for a block, in a warp that is not full."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = cuda.ballot_sync(cuda.activemask(), cuda.blockIdx.x == 1)

    out = np.full(80, -9, np.int64)
    emulate(kernel)[2, 40](out)

    assert [0] * 40 + [-1] * 32 + [255] * 8 == out.tolist()


def test_a_ballot_has_a_bit_for_each_lane_of_the_mask():
    """The highest one makes it negative."""

    @cuda.jit
    def kernel(flags, out):
        i = cuda.grid(1)
        if cuda.laneid >= 16:
            out[i] = cuda.ballot_sync(0xFFFF0000, flags[i])
        else:
            out[i] = cuda.ballot_sync(0xFFFF, flags[i])

    flags = RNG.integers(0, 2, (4, 32)).astype(bool)
    bits = [sum(1 << lane for lane in LANES if row[lane]) for row in flags]
    halves = [(b & 0xFFFF, (b & ALL) >> 16 << 16) for b in bits]

    expected = [
        [low] * 16 + [high - (1 << 32) if high >> 31 else high] * 16
        for low, high in halves
    ]
    assert expected == per_warp(kernel, flags)


def test_the_active_lanes_are_those_of_the_branch():
    """As unsigned bits."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if cuda.laneid % 2:
            out[i] = cuda.activemask()
        if cuda.threadIdx.x < 40:
            out[i] = cuda.activemask()

    assert [[ALL] * 32, [255] * 8 + [-9, ODD] * 12] * 2 == per_warp(kernel)


def test_lanes_match_where_they_hold_the_same_value_within_the_mask():
    """`match_all` gives the mask where all do, and 0 where one does not."""

    @cuda.jit
    def kernel(values, out, whole, agree):
        i = cuda.grid(1)
        if i % 2:
            out[i] = cuda.match_any_sync(ODD, values[i])
            whole[i], agree[i] = cuda.match_all_sync(ODD, values[i])

    values = RNG.integers(0, 3, (4, 32))
    values[1, 1::2] = 5
    values[3] = 4
    out, whole, agree = (np.zeros(128, np.uint32) for _ in "owa")
    emulate(kernel)[2, 64](values.ravel(), out, whole, agree)

    expected = [
        sum(1 << other for other in LANES if other % 2 and row[other] == row[lane])
        if lane % 2
        else 0
        for row in values
        for lane in LANES
    ]
    assert expected == out.tolist()
    assert [0, ODD, 0, ODD] == whole.reshape(4, 32)[:, 1].tolist()
    assert [0, 1, 0, 1] == agree.reshape(4, 32)[:, 31].tolist()


def test_a_value_that_all_lanes_hold_matches_in_all():
    """One of the block."""

    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = cuda.match_any_sync(ALL, cuda.blockIdx.x)

    assert [[-1] * 32] * 4 == per_warp(kernel)


def test_a_lane_that_its_mask_does_not_name_is_found():
    """With its thread and its block."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        mask = 0xFFFFFFF7 if i == 99 else ALL
        out[i] = cuda.shfl_sync(mask, i, 0)

    (found,) = emulate(kernel)[2, 64](np.zeros(128, np.int64)).lanes

    where = (found.kind, found.lanes, found.count, found.thread, found.block)
    assert ("unnamed", (3,), 1, "35", "1") == where


def test_each_thread_has_its_place_along_each_axis():
    """Grid, block, thread and lane, counted from 0."""

    @cuda.jit
    def kernel(out):
        x, y, z = cuda.grid(3)
        w, h, d = cuda.gridsize(3)
        i = (z * h + y) * w + x
        out[i, 0], out[i, 1], out[i, 2] = w, h, d
        out[i, 3] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
        out[i, 4] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
        out[i, 5] = cuda.blockDim.x + 10 * cuda.blockDim.y + 100 * cuda.blockDim.z
        out[i, 6] = cuda.gridDim.x + 10 * cuda.gridDim.y + 100 * cuda.gridDim.z
        out[i, 7] = cuda.laneid
        out[i, 8] = cuda.warpsize

    grid, block = (3, 2, 2), (4, 2, 5)
    out = np.full((12 * 8 * 5, 9), -9, np.int64)
    emulate(kernel)[grid, block](out)

    for i, row in enumerate(out.tolist()):
        x, y, z = i % 12, i // 12 % 4, i // 48
        thread, place = (x % 4, y % 2, z % 5), (x // 4, y // 2, z // 5)
        linear = thread[0] + 4 * (thread[1] + 2 * thread[2])
        digits = [a + 10 * b + 100 * c for a, b, c in (thread, place, block, grid)]
        assert [12, 4, 10, *digits, linear % 32, 32] == row


def test_a_lane_knows_the_lanes_below_it():
    """As bits of an unsigned mask."""

    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = cuda.lanemask_lt()

    assert [[2**lane - 1 for lane in LANES]] * 4 == per_warp(kernel)

"""What lesson 23 says of its counts and times, and when it is true."""

import numpy as np
from numba import cuda, float32

from helpers import assemble, baseline
from tests.lessons.claims import about
from thirty_two_lanes.core.hardware import H200


def ratio(one, two):
    """How many times as long as the second the first takes."""
    return one.median_us / two.median_us


def path(measured):
    """The cycles in which the data path of L1 and shared memory was busy."""
    return measured.counters["cycles"] * measured.counters["l1_data_percent"] / 100


def times(it, first, last):
    """The times for so many columns."""
    return [m.median_us for n, m in it.by_columns.items() if first <= n <= last]


def each(it, columns):
    """The most blocks that a multiprocessor has for so many columns."""
    return -(-32 * -(-columns // 32) // it.SHARERS)


def steady(values):
    return max(values) < 1.01 * min(values)


def shared_loads(measured):
    """The loads from shared memory for each product of a warp."""
    return measured.counters["shared_load_requests"] / (1024**3 / 32)


def misses(it, which):
    """How far a predicted time is from the measured one, by tile."""
    timed, them = getattr(it, f"in_{which}"), getattr(it, which)
    return [m.median_us / it.predicted(size, them) - 1 for size, m in timed.items()]


def more_instructions(it, size):
    """The share of instructions that the conditions add."""
    return it.per_step(it.by_tile[size]) / it.per_step(it.whole[size]) - 1


def most_blocks(it, size):
    """The most blocks of the small product that a multiprocessor has."""
    across, down = it.grid(it.small[0], size)
    return -(-across * down // it.SHARERS)


def products(size, m, k, n):
    """The products of a tiled product, those with zeros among them."""
    return np.prod([size * -(-side // size) for side in (m, k, n)])


def last_wave(it, size, c):
    """How full the last wave is."""
    across, down = it.grid(c, size)
    return across * down % it.SHARERS / it.SHARERS


def made_with(it, outside, beyond, beyond_b=None):
    """Is the product right if these stand in place of the zeros outside rows and
    columns, and beyond `k`?
    """
    beyond_b = beyond if beyond_b is None else beyond_b

    @cuda.jit
    def multiply_with(c, a, b):
        tile_a = cuda.shared.array((16, 16), float32)
        tile_b = cuda.shared.array((16, 16), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        total = float32(0)
        for at in range(0, a.shape[1], 16):
            tile_a[y, x] = outside if row >= a.shape[0] else beyond
            tile_b[y, x] = outside if col >= b.shape[1] else beyond_b
            if row < a.shape[0] and at + x < a.shape[1]:
                tile_a[y, x] = a[row, at + x]
            if at + y < b.shape[0] and col < b.shape[1]:
                tile_b[y, x] = b[at + y, col]
            cuda.syncthreads()
            for k in range(16):
                total += tile_a[y, k] * tile_b[k, x]
            cuda.syncthreads()
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = total

    c, a, b = it.matrices(20, 21, 19)
    multiply_with[it.grid(c, 16), (16, 16)](c, a, b)
    return np.allclose(c, a @ b)


def cpu(name=""):
    return baseline(f"CPU 1024{name}")


def of_a(it):
    """The loads of `a` in the two kernels for `a.T`, in sectors per request."""
    return [run.coalescing.by_kind["load"] for _, run in it.orders.values()]


CLAIMS = {
    "of which no side is a multiple of 32": lambda it: all(
        side % 32 for side in (*it.a.shape, *it.b.shape)
    ),
    "Three, six and two": lambda it: (
        "3 load an element of A and 6 one of B" in repr(
            it.plot_ragged_walk(1, (5, 7, 6), 4, (1, 1))
        )
    ),
    "the last four rows are wrong": lambda it: (
        [*np.argwhere(np.isnan(early(it)))[:, 0]][:: it.c.shape[1]]
        == [224, 225, 226, 227]
    ),
    "Of the 16 rows of threads there, twelve are gone": lambda it: (
        it.early.barriers[0].threads == 12 * 16 * 7
    ),
    "they enter only into sums that nobody stores": lambda it: (
        made_with(it, float32(np.nan), float32(0))
    ),
    "matter, for they enter into sums that count": lambda it: (
        not made_with(it, float32(0), float32(1))
    ),
    "For finite numbers, yes: beyond k a zero of A meets a zero of B": lambda it: (
        made_with(it, float32(0), float32(0), float32(1))
        and made_with(it, float32(0), float32(1), float32(0))
    ),
    "so an infinity in that row would make NaN of sums": lambda it: (
        not made_with(it, float32(0), float32(0), float32(np.inf))
    ),
    "A few percent of the time": lambda it: all(
        0.01 < ratio(it.by_tile[size], it.whole[size]) - 1 < 0.05 for size in (16, 32)
    ),
    "though a sixth more instructions, or even a quarter": (
        lambda it: about("0.25", more_instructions(it, 16))
        and about("0.17", more_instructions(it, 32))
    ),
    "free issue slots would explain it": lambda it: all(
        it.by_tile[size].counters["issue_percent"] < 75 for size in (16, 32)
    ),
    "before the line, a new column of tiles cost nothing": lambda it: (
        steady(times(it, 960, 1056))
    ),
    "the time hardly changes, though three columns of blocks are added": lambda it: (
        steady(times(it, 960, 1056)) and each(it, 1056) == 8 and (1056 - 960) / 32 == 3
    ),
    "a tenth more time for a thousandth more work": lambda it: (
        about("0.1", ratio(it.by_columns[1057], it.by_columns[1056]) - 1)
        and each(it, 1057) == 9
    ),
    "of which the last may be nearly empty and takes as long as a full one": (
        lambda it: steady(times(it, 1057, 1184)) and steady(times(it, 1248, 1312))
    ),
    "A multiprocessor holds two of these blocks at a time.": lambda it: (
        assemble(it.tilings[32])[(32, 32), (32, 32)](*it.big).occupancy.blocks == 2
    ),
    "the ninth block costs as much as the tenth": lambda it: (
        0.85
        < (it.by_columns[1057].median_us - it.by_columns[1056].median_us)
        / (it.by_columns[1248].median_us - it.by_columns[1184].median_us)
        < 1.15
        and (each(it, 1184), each(it, 1248)) == (9, 10)
    ),
    "take about twice as long as one alone": lambda it: all(
        1.9 * (it.by_columns[1057].median_us - it.by_columns[1056].median_us) < both
        for both in (
            it.by_columns[1248].median_us - it.by_columns[1056].median_us,
            it.by_columns[1056].median_us / 4,
        )
    ),
    "443, 292 and 282 µs for tiles of 8, 16 and 32": lambda it: all(
        about(said, it.by_tile[size].median_us)
        for said, size in (("443", 8), ("292", 16), ("282", 32))
    ),
    "the count foresees the order, and the times to within an eighth": lambda it: (
        all(abs(it_) < 1 / 8 for it_ in misses(it, "wide"))
        and np.array_equal(
            np.argsort([it.predicted(size, it.wide) for size in it.in_wide]),
            np.argsort([m.median_us for m in it.in_wide.values()]),
        )
    ),
    "a tile of 32 makes more zeros and leaves its last wave emptier": lambda it: (
        products(32, 228, 240, 2800) > 1.1 * products(16, 228, 240, 2800)
        and last_wave(it, 32, it.wide[0]) < 0.5 < last_wave(it, 16, it.wide[0])
    ),
    "In the small one 16 wins, too (8 and 32 are too close to tell)": lambda it: (
        min(it.in_small, key=lambda size: it.predicted(size, it.small))
        == min(it.in_small, key=lambda size: it.in_small[size].median_us)
        == 16
        and ratio(it.in_small[32], it.in_small[8]) < 1.05
    ),
    "the predicted times are two to eight times too short": lambda it: (
        about("2", min(misses(it, "small")) + 1)
        and about("8", max(misses(it, "small")) + 1)
    ),
    "Here it has at most one, or four small ones": lambda it: (
        [most_blocks(it, size) for size in (8, 16, 32)] == [4, 1, 1]
    ),
    "a start that takes as long for any product would fit as well": lambda it: (
        it.library_small.median_us > 10
    ),
    "at most half of the warps for which it has room": lambda it: (
        max(m.counters["occupancy_percent"] for m in it.in_small.values()) <= 50
        and min(m.counters["occupancy_percent"] for m in it.in_wide.values()) > 80
    ),
    "every second one begins inside a sector": lambda it: (
        it.stored.shape[1] / 8 == 28.5
        and it.run.coalescing.sectors > it.run.coalescing.ideal_sectors
    ),
    "each in a sector of its own": lambda it: all(
        loads.sectors / loads.requests == 18 for loads in of_a(it)[1:3]
    ),
    "a transposed one takes more than a third longer": lambda it: all(
        ratio(it.orders[name][0], it.orders["a @ b"][0]) > 4 / 3
        for name in ("a.T @ b", "a @ b.T")
    ),
    "brings the sectors down to those of a plain product": lambda it: (
        of_a(it)[3].sectors == of_a(it)[0].sectors
    ),
    "and half of the lost time back": lambda it: about("0.5", regained(it)),
    "each product takes two loads from shared memory": lambda it: (
        round(shared_loads(it.orders["a.T @ b, loaded along rows"][0]), 3) == 2
        and round(shared_loads(it.by_tile[32]), 3) == 1.25
    ),
    "the data path has almost a third more to do than in the plain product": (
        lambda it: 1.28
        < path(it.orders["a.T @ b, loaded along rows"][0]) / path(it.by_tile[32])
        < 1.34
    ),
    "cuBLAS is 4.4 times as fast as the tile, at half of the GPU's float32 peak": (
        lambda it: about("4.4", ratio(it.by_tile[32], it.library))
        and 0.45 < it.library.gflop_per_s / 1000 / H200.peak_tflop_per_s < 0.55
    ),
    "And the tile 5.7 times as fast as no tile.": lambda it: (
        about("5.7", ratio(it.plain, it.by_tile[32]))
    ),
    "takes 29 times as long, and 4.4 times if `b` is stored by columns": lambda it: (
        about("29", ratio(cpu(), cpu(", rows only")))
        and about("4.4", ratio(cpu(", b by columns"), cpu(", rows only")))
    ),
    "is 97 times as fast as this core, or 2,800 times": lambda it: (
        about("97", ratio(cpu(", rows only"), it.plain))
        and about("28", ratio(cpu(), it.plain) / 100)
    ),
    "297 tile steps instead of 256, or 327 µs": lambda it: (
        (it.tile_steps(32, it.one_more), it.tile_steps(32, it.big)) == (297, 256)
        and about("327", it.predicted(32, it.one_more))
    ),
    "The count was right to within a fiftieth.": lambda it: (
        abs(it.predicted(32, it.one_more) / it.tile_one_more.median_us - 1) < 1 / 50
    ),
    "One row and column more cost cuBLAS something, too, though less than us.": (
        lambda it: 1.02
        < ratio(it.library_one_more, it.library)
        < ratio(it.tile_one_more, it.by_tile[32])
    ),
    "our tile, now of 16, takes one and a half times as long, and not four": (
        lambda it: about("1.5", ratio(it.in_small[16], it.library_small))
    ),
    "so 4 times for `a`": lambda it: it.tiled.reuse["a"].loads.max() == 4,
    "so 8 times for `b`": lambda it: it.tiled.reuse["b"].loads.max() == 8,
    "more than four times as fast as our tile": lambda it: (
        ratio(it.by_tile[32], it.library) > 4
    ),
}


def early(it):
    """What threads that return early make of the ragged product."""
    c, a, b = it.matrices(228, 240, 112)
    it.emulate(it.multiply_early_wrong)[it.grid(c, 16), (16, 16)](c, a, b)
    return np.where(np.isclose(c, a @ b), c, np.nan)


def regained(it):
    """The part of the time lost to a transposed factor that its own loads regain."""
    plain, lost, _, own = (timed.median_us for timed, _ in it.orders.values())
    return (lost - own) / (lost - plain)

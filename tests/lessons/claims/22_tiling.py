"""What lesson 22 says of its counts and measurements, and when it is true."""

from helpers import emulate
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about
from thirty_two_lanes.core.hardware import H200

MATRIX_BYTES = 4 * 1024**2
SIZES = 8, 16, 32


def loads(run):
    """The least and the most loads of an element, of both matrices."""
    counts = [run.reuse[name].loads for name in "ab"]
    return min(it.min() for it in counts), max(it.max() for it in counts)


def asked(it, level):
    """The bytes that loads asked of a level."""
    if level == "memory":
        return it.counters["memory_read_bytes"]
    name = {"L1": "global_load_sectors", "L2": "l2_read_sectors"}[level]
    return 32 * it.counters[name]


def gain(it, size):
    """How many times as fast a tile is as no tile in the same blocks."""
    return it.without[size].median_us / it.tiles[size].median_us


def share(measured, reason):
    """The share of a reason in the waits, those for a turn left out."""
    stalls = measured.counters["stalls"]
    waits = {k: v for k, v in stalls.items() if k not in ("selected", "not_selected")}
    return waits[reason] / sum(waits.values())


def path(measured):
    """The cycles in which the data path of L1 and shared memory was busy."""
    return measured.counters["cycles"] * measured.counters["l1_data_percent"] / 100


def per_step(measured):
    """The instructions for 32 products of a warp."""
    return measured.counters["instructions"] / (1024**3 / 32)


def first(measured):
    """The largest wait, those for a turn left out."""
    return next(it for it in measured.waits if it != "a turn to issue")


def race(it, **barriers):
    """The first race of a product without one of its barriers."""
    launch = emulate(it.make_tiled(8, **barriers))[(2, 2), (8, 8)]
    return launch(it.small_c, it.small_a, it.small_b).races[0].kind


def peak(it):
    """The peak of the GPU that was measured, in GFLOP/s."""
    return it.tiles[32].gflop_per_s / it.tiles[32].share_of_peak


LOADS, QUEUE = "long_scoreboard", "mio_throttle"
CLAIMS = {
    "Four blocks of 2 × 2 threads, and one thread for each element of `c`": lambda it: (
        (it.naive.blocks, it.naive.threads_per_block, it.c.size) == (4, 4, 16)
    ),
    "Four times: row 0 of `c` has four elements": (
        lambda it: (
            loads(it.naive) == (4, 4)
        )
    ),
    "In an n × n product each element is loaded n times": lambda it: (
        loads(it.runs["no tile"]) == (it.N, it.N)
    ),
    "Each thread loaded 2 elements of each matrix instead of 4.": lambda it: (
        it.tiled.reuse["a"].loads.sum() == it.tiled.reuse["b"].loads.sum() == 2 * 16
        and it.naive.reuse["a"].loads.sum() == 4 * 16
    ),
    "Once for each block that needs it": lambda it: all(
        loads(it.runs[f"tile {size}"]) == (it.N // size, it.N // size)
        for size in SIZES
    ),
    "A tile of twice the side needs four times as many threads and halves the loads.": (
        lambda it: all(
            it.runs[f"tile {2 * s}"].threads_per_block
            == 4 * it.runs[f"tile {s}"].threads_per_block
            and 2 * loads(it.runs[f"tile {2 * s}"])[0] == loads(it.runs[f"tile {s}"])[0]
            for s in (8, 16)
        )
    ),
    "a warp needs 3.7 instructions for 32 products instead of 7.8": lambda it: (
        about("3.7", per_step(it.tiles[32])) and about("7.8", per_step(it.without[32]))
    ),
    "costs the kernel without a tile two thirds of its time": lambda it: (
        0.62 < 1 - it.without[32].median_us / it.with_range.median_us < 0.71
    ),
    "with the same loads and products": lambda it: (
        loads(it.count(it.multiply_while, 32)) == loads(it.runs["no tile"])
        and it.without[32].counters["global_load_requests"]
        == it.with_range.counters["global_load_requests"]
    ),
    "The tile of 32 × 32 removes 31 of 32 loads": lambda it: (
        it.without[32].counters["global_load_requests"]
        == 32 * it.tiles[32].counters["global_load_requests"]
    ),
    "makes the kernel 1.9 times as fast": lambda it: about("1.9", gain(it, 32)),
    "would be 5.9 times as fast, but most of that is not the tile's": (
        lambda it: (
            about("5.9", it.with_range.median_us / it.tiles[32].median_us)
            and it.with_range.median_us / it.without[32].median_us > gain(it, 32)
        )
    ),
    "load 8,590 MB: two numbers of 4 bytes for each product": lambda it: (
        about("8,590", 2 * 4 * it.SIDE**3 / 1e6)
    ),
    "they request 5,369 MB from L1": lambda it: (
        about("5,369", asked(it.without[32], "L1") / 1e6)
    ),
    "this broadcast is a single sector": lambda it: (
        asked(it.without[32], "L1") == (1 + 4) * 32 * it.SIDE**3 / 32
    ),
    "the driver's copy reaches 86% of its sloping part.": lambda it: (
        about("86%", it.tiles[32].copy_gb_per_s / H200.peak_gb_per_s)
    ),
    "The tile of 32 leaves a twentieth of that.": lambda it: (
        about("20", asked(it.without[32], "L1") / asked(it.tiles[32], "L1"))
    ),
    "L2 is asked for about as much with a tile as without": lambda it: all(
        0.8 < asked(it.tiles[s], "L2") / asked(it.without[s], "L2") < 1.25
        for s in SIZES
    ),
    "L1 answers 96% of those 5,369 MB itself": lambda it: (
        about("96%", 1 - asked(it.without[32], "L2") / asked(it.without[32], "L1"))
    ),
    "memory reads 8.4 MB each time: both matrices, once.": lambda it: all(
        about("8.4", asked(kernel, "memory") / 1e6)
        and abs(asked(kernel, "memory") / (2 * MATRIX_BYTES) - 1) < 0.01
        for kernel in (*it.without.values(), *it.tiles.values())
    ),
    "here the tile saves no memory traffic; it saves requests to L1.": lambda it: all(
        asked(it.tiles[s], "L1") < asked(it.without[s], "L1") / 4
        and asked(it.tiles[s], "memory") > 0.99 * asked(it.without[s], "memory")
        for s in SIZES
    ),
    "and only 18% less at 32 × 32": lambda it: (
        about("18%", 1 - path(it.tiles[32]) / path(it.without[32]))
    ),
    "With a tile the path has 40% less to do at 8 × 8": (
        lambda it: about("40%", 1 - path(it.tiles[8]) / path(it.without[8]))
    ),
    "In blocks of 8 × 8 these keep L1's data path 92% busy": lambda it: (
        about("92", it.without[8].counters["l1_data_percent"])
    ),
    "they keep it only 51% busy, so neither the path nor memory is at its limit": (
        lambda it: (
            about("51", it.without[32].counters["l1_data_percent"])
            and it.without[32].counters["memory_percent"] < 1
        )
    ),
    "asks L1 for 5 sectors to do so, which is 0.4 operations per byte": (
        lambda it: (
            it.runs["no tile"].coalescing.sectors / (it.N**3 / 32) - 5 < 0.1
            and about("0.4", it.FLOPS / asked(it.without[32], "L1"))
        )
    ),
    "Per byte of memory's 8.4 MB it is 256": lambda it: (
        about("256", it.FLOPS / asked(it.without[32], "memory"))
    ),
    "Both lie far to the right of the corner, which is at 14 operations per byte": (
        lambda it: about("14", peak(it) / H200.peak_gb_per_s)
        and all(
            it.FLOPS / asked(kernel, "memory") > 140
            for kernel in (it.without[32], it.tiles[32])
        )
    ),
    "does not hold them back: it is less than 1% busy": lambda it: all(
        kernel.counters["memory_percent"] < 1
        for kernel in (it.without[32], it.tiles[32])
    ),
    "reaches 4,256 GFLOP/s, more than twice the 1,920 of its ring": lambda it: (
        about("4,256", it.without[32].gflop_per_s)
        and about("1,920", it.intensity(it.without[32])[0] * H200.peak_gb_per_s)
        and it.without[32].gflop_per_s > 2 * 1920
    ),
    "Without a tile, at least 83% of the waits are for loads.": lambda it: (
        about("83%", min(share(it.without[s], LOADS) for s in SIZES))
    ),
    "With a tile of 32, a sixth of the waits are for loads": lambda it: (
        about("6", 1 / share(it.tiles[32], LOADS))
    ),
    "half for room in the queue to shared memory": lambda it: (
        first(it.tiles[32]) == REASONS[QUEUE]
        and about("2", 1 / share(it.tiles[32], QUEUE))
    ),
    "Without the first, a thread may use numbers that are not there yet.": (
        lambda it: (
            race(it, before=False) == "RAW"
        )
    ),
    "a fast warp may load the next tile while a slow one still uses this one": (
        lambda it: (
            race(it, after=False) == "WAR"
        )
    ),
}

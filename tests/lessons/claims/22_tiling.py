"""What lesson 22 says of its counts and measurements, and when it is true."""

from helpers import emulate
from helpers.core.hardware import H200
from tests.lessons.claims import about

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
    waits = {k: v for k, v in measured.waits.items() if k != "its turn to issue"}
    return waits.get(reason, 0) / sum(waits.values())


def first(measured):
    """The largest wait, those for a turn left out."""
    return next(it for it in measured.waits if it != "its turn to issue")


def race(it, **barriers):
    """The first race of a product without one of its barriers."""
    launch = emulate(it.make_tiled(8, **barriers))[(2, 2), (8, 8)]
    return launch(it.small_c, it.small_a, it.small_b).races[0].kind


def peak(it):
    """The peak of the GPU that was measured, in GFLOP/s."""
    return it.tiles[32].gflop_per_s / it.tiles[32].share_of_peak


LOADS = "global or local memory"
QUEUE = "room in the queue to shared memory"
CLAIMS = {
    "Four blocks of 2 × 2 threads, and one thread for each element of `c`": lambda it: (
        (it.naive.blocks, it.naive.threads_per_block, it.c.size) == (4, 4, 16)
    ),
    "There are four of them, and each has a thread of its own: four times.": (
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
    "they ask L1 for 5,369 MB": lambda it: (
        about("5,369", asked(it.without[32], "L1") / 1e6)
    ),
    "this broadcast is a single sector": lambda it: (
        asked(it.without[32], "L1") == (1 + 4) * 32 * it.SIDE**3 / 32
    ),
    "In blocks of 16 × 16 a warp has two rows: 2 sectors of `a` and 2 of `b` a step.": (
        lambda it: asked(it.without[16], "L1") == (2 + 2) * 32 * it.SIDE**3 / 32
    ),
    "A copy reaches 86% of its memory part.": lambda it: (
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
    "So here the tile does not spare memory. It spares L1.": lambda it: all(
        asked(it.tiles[s], "L1") < asked(it.without[s], "L1") / 4
        and asked(it.tiles[s], "memory") > 0.99 * asked(it.without[s], "memory")
        for s in SIZES
    ),
    "Without a tile it asks L1 for 5 sectors, which is 0.4 operations a byte": (
        lambda it: (
            it.runs["no tile"].coalescing.sectors / (it.N**3 / 32) - 5 < 0.1
            and about("0.4", it.FLOPS / asked(it.without[32], "L1"))
        )
    ),
    "memory's 8.4 MB make it 256": lambda it: (
        about("256", it.FLOPS / asked(it.without[32], "memory"))
    ),
    "Both are below the flat part, so memory does not hold them back.": lambda it: all(
        it.FLOPS / asked(kernel, "memory") * H200.peak_gb_per_s > 2 * peak(it)
        and kernel.gflop_per_s < peak(it) / 4
        and kernel.counters["memory_percent"] < 5
        for kernel in (it.without[32], it.tiles[32])
    ),
    "reaches 4,256 GFLOP/s, more than twice the 1,920 of its ring": lambda it: (
        about("4,256", it.without[32].gflop_per_s)
        and about("1,920", it.intensity(it.without[32])[0] * H200.peak_gb_per_s)
        and it.without[32].gflop_per_s > 2 * 1920
    ),
    "Without a tile, 85% of the waits or more are for loads.": lambda it: (
        about("85%", min(share(it.without[s], LOADS) for s in SIZES))
    ),
    "With a tile of 32 these are a sixth": lambda it: (
        about("6", 1 / share(it.tiles[32], LOADS))
    ),
    "half are for room in the queue to shared memory": lambda it: (
        first(it.tiles[32]) == QUEUE and about("2", 1 / share(it.tiles[32], QUEUE))
    ),
    "Without the first, a thread may add up numbers that are not there yet.": (
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

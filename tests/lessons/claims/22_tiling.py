"""What lesson 22 says of its counts and measurements, and when it is true.

Each cause has its control. What a tile gains: the same steps without one, in the same
loops. That most of it is the merged loads: the same tile on its side, of which nothing
is merged. Why small blocks gain more: the cycles of the path without a tile, by the
rule of lesson 13.
"""

from numba import cuda

from helpers import emulate
from tests.lessons.claims import about
from tests.paths import ROOT
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


def saved(it, size):
    """The part of the time that a tile saves in blocks of a size."""
    return 1 - it.tiles[size].median_us / it.steps[size].median_us


def passes(measured):
    """How often the data path of L1 and shared memory passed something on."""
    return measured.counters["lsu_wavefronts"]


def per_step(measured):
    """The instructions for 32 products of a warp."""
    return measured.counters["instructions"] / (1024**3 / 32)


def race(it, **barriers):
    """The first race of a product without one of its barriers."""
    launch = emulate(it.make_tiled(8, **barriers))[(2, 2), (8, 8)]
    return launch(it.small_c, it.small_a, it.small_b).races[0].kind


def peak(it):
    """The peak of the GPU that was measured, in GFLOP/s."""
    return it.tiles[32].gflop_per_s / it.tiles[32].share_of_peak


def roofs(it):
    """Of each product: what it reached, and its roof by the path and by L2."""
    clock = H200.multiprocessors * it.gpu.CLOCK_RATE / 1e6
    return [
        (
            m.gflop_per_s,
            it.FLOPS / passes(m) * clock,
            it.FLOPS / asked(m, "L2") * 8600,
        )
        for m in it.held_back.values()
    ]


CLAIMS = {
    "Four blocks of four threads, and one thread for each element of `c`": lambda it: (
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
    "each thread loaded half as many elements as before": lambda it: (
        it.tiled.reuse["a"].loads.sum() == it.tiled.reuse["b"].loads.sum() == 2 * 16
        and it.naive.reuse["a"].loads.sum() == 4 * 16
    ),
    "Once for each block that needs it": lambda it: all(
        loads(it.runs[f"tile {size}"]) == (it.N // size, it.N // size)
        for size in SIZES
    ),
    "twice the side needs four times as many threads in a block and halves the loads": (
        lambda it: all(
            it.runs[f"tile {2 * s}"].threads_per_block
            == 4 * it.runs[f"tile {s}"].threads_per_block
            and 2 * loads(it.runs[f"tile {2 * s}"])[0] == loads(it.runs[f"tile {s}"])[0]
            for s in (8, 16)
        )
    ),
    "With the largest tiles, each element is loaded a thirty-second as often": (
        lambda it: (
            loads(it.count(it.make_in_tiles(32), 32)) == (2, 2)
            and loads(it.count(it.make_in_steps(32), 32)) == (64, 64)
        )
    ),
    "removes all but one of 32 loads, and only a quarter of the time": lambda it: (
        it.steps[32].counters["global_load_requests"]
        == 32 * it.tiles[32].counters["global_load_requests"]
        and 0.23 < saved(it, 32) < 0.26
    ),
    "The smaller tiles remove fewer, and gain more": lambda it: (
        saved(it, 32) < saved(it, 16) < saved(it, 8)
    ),
    "A warp also needs fewer instructions with a tile": lambda it: all(
        per_step(it.tiles[s]) < per_step(it.steps[s]) for s in SIZES
    ),
    "It takes 1,604 µs in the same blocks: 4.7 times as long as the product in steps": (
        lambda it: (
            about("1,604", it.at_first.median_us)
            and about("4.7", it.at_first.median_us / it.steps[32].median_us)
            and it.at_first.counters["global_load_requests"]
            == it.steps[32].counters["global_load_requests"]
        )
    ),
    "Against it, the tile would be 6.2 times as fast": lambda it: (
        about("6.2", it.at_first.median_us / it.tiles[32].median_us)
    ),
    "Each product takes two numbers, 8.6 GB in all": lambda it: (
        about("8.6", 2 * 4 * it.SIDE**3 / 1e9)
    ),
    "load the same element of `a`, so that is one sector": lambda it: (
        asked(it.steps[32], "L1") == (1 + 4) * 32 * it.SIDE**3 / 32
    ),
    "With a tile these blocks ask for a twentieth of that": lambda it: (
        about("20", asked(it.steps[32], "L1") / asked(it.tiles[32], "L1"))
    ),
    "L2 is asked for as much as before at 8 × 8, a seventh less at 16, a quarter": (
        lambda it: all(
            abs(asked(it.tiles[s], "L2") / asked(it.steps[s], "L2") - part) < 0.02
            for s, part in zip(SIZES, (1, 6 / 7, 3 / 4), strict=True)
        )
    ),
    "L2 has room for both matrices several times": lambda it: (
        2 * MATRIX_BYTES * 5 < cuda.get_current_device().L2_CACHE_SIZE
    ),
    "Memory is asked for both matrices once, in every row": lambda it: all(
        abs(asked(kernel, "memory") / (2 * MATRIX_BYTES) - 1) < 0.01
        for kernel in (*it.steps.values(), *it.tiles.values())
    ),
    "L1 had kept what the neighbours need": lambda it: all(
        asked(it.steps[s], "L2") < 0.2 * asked(it.steps[s], "L1") for s in SIZES
    ),
    "It asks for five sectors, 160 bytes. That is 0.4 operations a byte": (
        lambda it: about("0.4", it.FLOPS / asked(it.steps[32], "L1"))
    ),
    "That is `s / 4` operations a byte": lambda it: all(
        abs(it.FLOPS / asked(it.tiles[s], "L1") / (s / 4) - 1) < 0.01 for s in SIZES
    ),
    "stays in L2), whatever the tile. That is 256 a byte": lambda it: all(
        about("8.4", asked(kernel, "memory") / 1e6)
        and about("256", it.FLOPS / asked(kernel, "memory"))
        and kernel.counters["memory_write_bytes"] < MATRIX_BYTES / 10
        for kernel in it.tiles.values()
    ),
    "Both lie right of the corner, where the roof is flat": lambda it: all(
        it.FLOPS / asked(kernel, "memory") > 10 * peak(it) / H200.peak_gb_per_s
        for kernel in (it.steps[32], it.tiles[32])
    ),
    "bandwidth does not hold them back; it is hardly busy": lambda it: all(
        kernel.counters["memory_percent"] < 1
        for kernel in (it.steps[32], it.tiles[32])
    ),
    "is more than three times as fast as its ring allows": lambda it: (
        it.steps[32].gflop_per_s
        > 3 * it.FLOPS / asked(it.steps[32], "L1") * H200.peak_gb_per_s
    ),
    "a thread makes 32 products from 40 loads, not 64": lambda it: all(
        it.tiles[s].counters["shared_load_requests"] / (it.SIDE**3 / 32) == 40 / 32
        for s in SIZES
    ),
    "and nothing can be merged": lambda it: (
        it.turned.counters["shared_load_requests"] / (it.SIDE**3 / 32) == 2
    ),
    "This tile, by 7%": lambda it: (
        about("7%", passes(it.turned) / passes(it.steps[32]) - 1)
        and passes(it.tiles[32]) < 0.85 * passes(it.steps[32])
    ),
    "And four fifths of the gain are gone": lambda it: about(
        "0.8",
        (it.turned.median_us - it.tiles[32].median_us)
        / (it.steps[32].median_us - it.tiles[32].median_us),
    ),
    "This tile is still 5% faster than no tile": lambda it: (
        about("5%", 1 - it.turned.median_us / it.steps[32].median_us)
        and passes(it.turned) > passes(it.steps[32])
    ),
    "5, 3 and 2 for each `k`, and for all 1,024 of them 5,120, 3,072 and 2,048": (
        lambda it: all(
            0.995 < 1024 * each * it.steps[s].warps / passes(it.steps[s]) <= 1
            for s, each in zip(SIZES, (5, 3, 2), strict=True)
        )
    ),
    "the count leaves about two cycles for a wide load of four `k`": lambda it: (
        about("1.50", it.tiles[32].counters["shared_load_wavefronts"] / it.SIDE**3 * 32)
        and about("2.1", (passes(it.tiles[32]) / it.tiles[32].warps - 1153) / 256)
    ),
    "at 8 × 8, half of the path's cycles go there": lambda it: about(
        "0.50",
        1 - it.tiles[8].counters["shared_load_wavefronts"] / passes(it.tiles[8]),
    ),
    "half a cycle for each `k` by merged loads": lambda it: about(
        "0.50",
        (
            it.turned.counters["shared_load_wavefronts"]
            - it.tiles[32].counters["shared_load_wavefronts"]
        )
        / (it.SIDE**3 / 32),
    ),
    "1,536 for all. The rest is for filling the tiles": lambda it: (
        1.05 < passes(it.tiles[32]) / (1536 * it.tiles[32].warps) < 1.12
    ),
    "without a tile it is busy nearly all the time": lambda it: all(
        it.steps[size].counters["l1_data_percent"] > 94 for size in (8, 16)
    ),
    "There a tile takes more than a third of its work away, and gains more": (
        lambda it: all(
            passes(it.tiles[size]) < 2 / 3 * passes(it.steps[size])
            and saved(it, size) > saved(it, 32)
            for size in (8, 16)
        )
    ),
    "L2 gave [8,600 GB/s](11_memory_hierarchy.ipynb), and memory": lambda it: (
        "about 8,600 GB/s"
        in (ROOT / "lessons/11_memory_hierarchy.py").read_text("utf-8")
    ),
    "The path's, in each row, and the kernels reach three quarters of it or more": (
        lambda it: all(0.75 < had / path < 1 for had, path, _ in roofs(it))
    ),
    "L2's and memory's are far above": lambda it: (
        all(l2 > 3.9 * path for _, path, l2 in roofs(it))
        and all(
            it.FLOPS / asked(m, "memory") * 4800 > 67000 for m in it.held_back.values()
        )
    ),
    "So more of their bandwidth would not help here": lambda it: all(
        m.counters["l2_percent"] < 13 and m.counters["memory_percent"] < 1
        for m in it.held_back.values()
    ),
    "which are one instruction (fused multiply-add), as two operations": lambda it: (
        abs(132 * 128 * 2 * 1.98 / peak(it) - 1) < 0.01
    ),
    "Times 4,800 GB/s that is 800 GFLOP/s, far left of the corner": lambda it: (
        4800 * 2 / 12 == 800 and 2 / 12 < 0.1 * peak(it) / H200.peak_gb_per_s
    ),
    "the driver's copy reaches 86% of its sloping part.": lambda it: (
        about("86%", it.tiles[32].copy_gb_per_s / H200.peak_gb_per_s)
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

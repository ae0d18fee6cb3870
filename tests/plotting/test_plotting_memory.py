"""Figures of memory: the numbers in their sentences, held to the emulator's counts."""

import math

import numpy as np
import pytest

from helpers import plotting
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.sectors import request_sectors

LANES = range(32)
SENTENCES = {
    "side by side": (
        lambda: plotting.plot_sectors([4 * lane for lane in LANES]),
        "32 lanes load 4 bytes each, stride 1: 4 sectors in 1 line, "
        "128 bytes move and 128 of them are asked for.",
    ),
    "one element on": (
        lambda: plotting.plot_sectors([4 * lane + 4 for lane in LANES], kind="store"),
        "32 lanes store 4 bytes each, stride 1: 5 sectors in 2 lines, "
        "160 bytes move and 128 of them are asked for.",
    ),
    "far apart": (
        lambda: plotting.plot_sectors([128 * lane for lane in LANES]),
        "32 lanes load 4 bytes each, stride 32: 32 sectors in 32 lines, "
        "1,024 bytes move and 128 of them are asked for.",
    ),
    "a broadcast, and an absent lane": (
        lambda: plotting.plot_sectors([8, 8, None, 8], 8),
        "3 lanes load 8 bytes each: 1 sector in 1 line, "
        "32 bytes move and 8 of them are asked for.",
    ),
    "a column at one place": (
        lambda: plotting.plot_places([128 * lane for lane in LANES]),
        "32 lanes: 32 numbers at one place; 32 cycles.",
    ),
    "rows that are eight numbers longer": (
        lambda: plotting.plot_places([4 * 8200 * lane for lane in LANES]),
        "32 lanes: 32 numbers at 4 places, up to 8 at each; 8 cycles.",
    ),
    "one number for two lanes, and an absent one": (
        lambda: plotting.plot_places([4, 4, None, 8]),
        "3 lanes: 2 numbers at 2 places; 1 cycle.",
    ),
    "an exchange": (
        lambda: plotting.plot_exchange([0, 1, None], [None, 0, 1]),
        "Stores, thread → cell: 0 → 0, 1 → 1; then a barrier; "
        "loads, thread → cell: 1 → 0, 2 → 1.",
    ),
    "an exchange that nothing orders": (
        lambda: plotting.plot_exchange([1, 0], [0, 1], barrier=False),
        "Stores, thread → cell: 0 → 1, 1 → 0; loads, thread → cell: 0 → 0, 1 → 1.",
    ),
    "a halo": (
        lambda: plotting.plot_halo(3, 8, 2),
        "3 blocks of 8 threads: each brings its own 8 elements and a halo of 2 on each "
        "side into its tile; 8 elements are in two tiles.",
    ),
    "a halo, and a thread's window": (
        lambda: plotting.plot_halo(2, 10, 4, window=3),
        "2 blocks of 10 threads: each brings its own 10 elements and a halo of 4 on "
        "each side into its tile; 8 elements are in two tiles. Thread 3 of block 1 "
        "uses cells 3 to 11 of its tile.",
    ),
    "a walk down a strip": (
        lambda: plotting.plot_strip_walk(20, 11, 4),
        "14 pixels of row 20 go into 11 rows of 4 sums: those of row 10, which are "
        "complete, to those of row 20, which have one row of products.",
    ),
    "a walk along z": (
        lambda: plotting.plot_layer_walk((2, 3), 6, 4, 2, near="L1"),
        "At layers 2, 3, each of 4 threads loads the cell 2 above, and has the 4 below "
        "that in registers. The neighbours in the layer come from L1, with a halo of 2 "
        "at each end.",
    ),
    "a tree of sums": (
        lambda: plotting.plot_tree([{0: (0, 1), 1: (2, 3)}, {0: (0, 2)}], 4),
        "4 cells; step 1: thread 0 adds cell 1 to 0, thread 1 adds cell 3 to 2; "
        "step 2: thread 0 adds cell 2 to 0.",
    ),
    "barrier intervals": (
        lambda: plotting.plot_intervals(
            [[[("store", 0)], [("store", 1), ("load", 1)]], [[("load", 1)], []]]
        ),
        "2 threads: interval 0: 2 stores and 1 load, no race; then a barrier; "
        "interval 1: 1 load, no race.",
    ),
    "barrier intervals up to a race": (
        lambda: plotting.plot_intervals(
            [[[("store", 0), ("load", 1)], [("store", 1)]], [[("load", 0)], []]], 1
        ),
        "2 threads: interval 0: 2 stores and 1 load, 1 cell in a race, such as 1 of "
        "threads 0 and 1.",
    ),
    "a block of one axis": (
        lambda: plotting.plot_warps(48),
        "A block of 48 threads: 2 warps, the last with 16 lanes of 32.",
    ),
    "a block of two axes": (
        lambda: plotting.plot_warps((16, 4)),
        "A block of 16 × 4 threads (x × y): 2 warps, all full.",
    ),
    "lanes": (
        lambda: plotting.plot_lanes({"if a:": [1] * 32, "  b": [1] * 16 + [0] * 16}),
        "Lanes of 32 that take part: `if a:` 32, `b` 16; 75% of all.",
    ),
    "latency": (
        lambda: plotting.plot_latency([2**14, 2**21], [28.2, 150], {"L1": 2**18}),
        "The time of one load: 28 ns within 16 KB, 150 ns within 2 MB; "
        "L1 ends at 256 KB.",
    ),
    "latency that nobody measured": (
        lambda: plotting.plot_latency([512, 2**30], [math.nan] * 2),
        "The time of one load: not measured within 512 B, not measured within 1 GB.",
    ),
    "bandwidth": (
        lambda: plotting.plot_bandwidth(
            [2**14, 2**21], [30000.4, math.nan], {"L1": 2**18}, {"shared": 31000}
        ),
        "The rate of reading: 30,000 GB/s within 16 KB, not measured within 2 MB; "
        "L1 ends at 256 KB; shared reaches 31,000 GB/s.",
    ),
    "bandwidth, and who delivered of one size": (
        lambda: plotting.plot_bandwidth(
            [512, 2**14],
            [900, 800],
            asked=[{}, {"L1": 100, "L2": 40, "memory": 10}],
        ),
        "The rate of reading: 900 GB/s within 512 B, 800 GB/s within 16 KB; "
        "within 512 B, not counted; "
        "within 16 KB, L1 delivers 60%, L2 delivers 30%, memory delivers 10%.",
    ),
    "bandwidth that nobody measured": (
        lambda: plotting.plot_bandwidth([512], [math.nan], None, {"shared": math.nan}),
        "The rate of reading: not measured within 512 B.",
    ),
    "a hierarchy": (
        lambda: plotting.plot_hierarchy(8, 2**18, 2**16, 3 * 2**20, 5 * 2**30),
        "The memories, from near to far: 256 KB of registers in each multiprocessor, "
        "each thread with its own; beside each other the L1 cache, for all threads "
        "there, and up to 64 KB of shared memory, each block with its own; 3 MB of L2 "
        "cache for all 8 multiprocessors; and 5 GB of global memory off the chip.",
    ),
    "which memory for which number": (
        lambda: plotting.plot_homes(2**18, 2**16, 2**12, 5 * 2**30),
        "Who needs a number? One thread: if the compiler knows its index, registers, "
        "256 KB in a multiprocessor; if only the data knows it, a column of shared "
        "memory. The threads of a block: shared memory, 64 KB, and a barrier. All "
        "threads, only to read: if all lanes want one cell, constant memory, 4 KB; if "
        "each wants its own, global memory, 5 GB.",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_a_figure_of_memory_says_what_it_shows(case):
    """The text alternative holds the numbers that the picture was drawn from."""
    draw, sentence = SENTENCES[case]

    assert sentence == draw().alt


@pytest.mark.parametrize("seed", range(4))
def test_a_picture_of_sectors_counts_as_the_emulator_does(seed):
    """The sectors drawn for random lanes are those that the judge counts."""
    random = np.random.default_rng(seed)
    itemsize = int(random.choice([1, 2, 4, 8, 16]))
    addresses = itemsize * random.integers(0, 200, 32)
    active = np.ones((32, 1), bool)

    picture = plotting.plot_sectors(addresses, itemsize)

    sectors, _ = request_sectors(addresses[:, None], active, itemsize)
    assert f": {sectors[0]} sector" in picture.alt


def test_bars_show_what_each_level_delivered():
    """A level delivers what it was asked for and did not ask of the next one."""
    asked = [
        {"L1": 100, "L2": 40, "memory": 10},
        {"L1": 100, "L2": 90, "memory": 90},
    ]

    picture = plotting.plot_bandwidth([2**14, 2**21], [900, 800], asked=asked)

    heights = [bar.get_height() for bar in picture.axes[1].patches]
    assert [60, 30, 10, 10, 0, 90] == [round(100 * it) for it in heights]


def test_a_rate_without_counters_has_no_bars():
    """Where nobody counted, the figure is the curve alone."""
    alone = plotting.plot_bandwidth([2**14], [900], asked=[{}])

    assert 1 == len(alone.axes)


def test_what_a_walk_has_in_registers_moves_down_by_one():
    """Layer 2 is loaded at layer 1, the cell's own at layer 2, and below at layer 3."""
    ax = plotting.plot_layer_walk((1, 2, 3), depth=5, threads=1).axes[0]

    middle = 5 - 2 - 0.5
    second = {
        it.get_position()[0]: it.get_text()
        for it in ax.texts
        if it.get_position()[1] == middle
    }
    assert ["+1", "0", "−1"] == [second[at] for at in sorted(second)]


def test_a_layer_without_neighbours_is_refused():
    """At the surface there is nothing below."""
    with pytest.raises(ArgumentError, match="choose one of 1 to 4"):
        plotting.plot_layer_walk((0,), depth=6)

"""What lesson 23 says of its counts, times and instructions, and when it is true."""

import re
from functools import cache
from pathlib import Path

import numpy as np
from numba import int32, int64, uint32, uint64

from helpers import assemble, baseline
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about, left_by
from thirty_two_lanes.core.hardware import H200
from thirty_two_lanes.core.occupancy import occupancy_of

QUEUE, LOADS = REASONS["mio_throttle"], REASONS["long_scoreboard"]
TILING = Path(__file__).parents[3] / "lessons" / "22_tiling.py"
before = cache(lambda: left_by(TILING))
WIDE, NARROW = f"while, {int64}", f"while, {uint32}"


def ratio(one, two):
    """How many times as long as the second the first takes."""
    return one.median_us / two.median_us


def vectors(function):
    """Does Numba's compiler add several floats of a function at once?"""
    (signature,) = set(function.signatures)
    return bool(re.search(r"fadd <\d+ x float>", function.inspect_llvm(signature)))


def path(measured):
    """The cycles in which the data path of L1 and shared memory was busy."""
    return measured.counters["cycles"] * measured.counters["l1_data_percent"] / 100


def less(it, what, size, than):
    """The part of something that a tile saves against another one."""
    return 1 - what(it.by_tile[f"tile {size}"]) / what(it.by_tile[f"tile {than}"])


def time(measured):
    return measured.median_us


def per_step(measured):
    """The instructions for 32 products of a warp."""
    return measured.counters["instructions"] / (1024**3 / 32)


def first(measured):
    """The largest wait, those for a turn left out."""
    return next(it for it in measured.waits if it != "a turn to issue")


def assembled(it, kernel, shared_bytes=0):
    """What the compiler made of a product of 1024 × 1024."""
    return assemble(kernel)[(32, 32), (32, 32), 0, shared_bytes](*it.big)


def dynamic(it, size):
    """The time of a product in dynamic tiles."""
    return it.clock(it.make_dynamic(size), 32, it.SHARED)


def steps_of(it, size):
    """The instructions for 32 products of a warp with a tile."""
    return per_step(it.by_tile[f"tile {size}"])


def ragged_loads(it, size):
    """How often each element of `a` and of `b` is loaded in the ragged product."""
    run = it.product(it.make_tiled(size), *it.matrices(228, 240, 112), size)
    counts = [run.reuse[name].loads for name in "ab"]
    assert all(count.min() == count.max() for count in counts)
    return tuple(int(count.max()) for count in counts)


def blocks(it, size):
    """The blocks of a ragged product."""
    across, down = it.grid(it.c, size)
    return across * down


CLAIMS = {
    "neither 228 nor 240 nor 112 is a multiple of 32": lambda it: all(
        side % 32 for side in (*it.a.shape, *it.b.shape)
    ),
    "the same loops are 6.7 times as fast": lambda it: (
        about("6.7", ratio(it.cpu[""], it.cpu[", b by columns"]))
    ),
    "The other order is another 4.4 times as fast.": lambda it: (
        about("4.4", ratio(it.cpu[", b by columns"], it.cpu[", rows only"]))
    ),
    "the compiler makes vector instructions of that": lambda it: (
        vectors(it.multiply_by_rows) and not vectors(it.multiply_on_cpu)
    ),
    "No sector is wasted.": lambda it: (
        it.naive.coalescing.sectors == it.naive.coalescing.ideal_sectors
    ),
    "`a[row, k]` once by each thread of its row: 112 times.": lambda it: (
        it.naive.reuse["a"].loads.min() == it.naive.reuse["a"].loads.max() == 112
    ),
    "`b[k, col]` once by each thread of its column: 228 times.": lambda it: (
        it.naive.reuse["b"].loads.min() == it.naive.reuse["b"].loads.max() == 228
    ),
    "Each tile fills the multiprocessor": lambda it: all(
        it.held(it.make_tiled(size), size)[2] == 100 for size in it.sizes
    ),
    "one register more per thread, the tile of 32 would fill half": lambda it: (
        [occupancy_of((9, 0), 1024, more, 8192).share for more in (32, 33)] == [1, 0.5]
    ),
    "From 8 to 16 it takes 33% fewer instructions": lambda it: (
        about("33%", less(it, per_step, 16, 8))
    ),
    "has 36% less to do, and the time falls by 34%": lambda it: (
        about("36%", less(it, path, 16, 8)) and about("34%", less(it, time, 16, 8))
    ),
    "takes as long with 8 instructions instead of 9.3, and as much work": (
        lambda it: (
            abs(ratio(before().tiles[8], it.by_tile["tile 8"]) - 1) < 0.01
            and about("8", per_step(before().tiles[8]))
            and about("9.3", steps_of(it, 8))
            and abs(path(before().tiles[8]) / path(it.by_tile["tile 8"]) - 1) < 0.01
        )
    ),
    "the path has 15% less to do, but the time falls by only 3%": lambda it: (
        about("15%", less(it, path, 32, 16)) and about("3%", less(it, time, 32, 16))
    ),
    "at 76% busy, the path alone no longer sets the pace": lambda it: (
        about("76", it.by_tile["tile 32"].counters["l1_data_percent"])
        and first(it.by_tile["tile 8"]) != QUEUE == first(it.by_tile["tile 32"])
        and time(it.loops[NARROW][1]) < 0.97 * time(it.by_tile["tile 32"])
    ),
    "The naive kernel is 2,800 times as fast as the first CPU loop": lambda it: (
        about("28", ratio(it.cpu[""], it.plain) / 100)
    ),
    "97 times as fast as the better one": lambda it: (
        about("97", ratio(it.cpu[", rows only"], it.plain))
    ),
    "From naive to tiled it is a factor of 5.7.": lambda it: (
        about("5.7", ratio(it.plain, it.by_tile["tile 32"]))
    ),
    "is another 4.4 times as fast, at half of the float32 peak": lambda it: (
        about("4.4", ratio(it.by_tile["tile 32"], it.library))
        and 0.45 < it.library.gflop_per_s / 1000 / H200.peak_tflop_per_s < 0.55
    ),
    "Tiles of 32 make 32 blocks for 132 multiprocessors, tiles of 16 make 105.": (
        lambda it: (blocks(it, 32), blocks(it, 16)) == (32, 105)
    ),
    "Here the smaller tile wins": lambda it: (
        it.ragged["tile 16"].median_us < it.ragged["tile 32"].median_us
    ),
    "each element of `a` 7 times instead of 4, and each of `b` 15 times instead of 8": (
        lambda it: (ragged_loads(it, 16), ragged_loads(it, 32)) == ((7, 15), (4, 8))
    ),
    "for arithmetic units and for their turn to issue, and hardly ever for a load": (
        lambda it: (
            list(it.plain.waits)[:2]
            == [REASONS["math_pipe_throttle"], REASONS["not_selected"]]
            and it.share(it.plain, "long_scoreboard") < 1
        )
    ),
    "Nine in ten of the others compute integers or copy registers": lambda it: (
        about("9", 10 * index_share(it.with_range))
    ),
    "the compiler does not see that through `range`": lambda it: (
        it.with_range.opcodes["SEL"] == 5 * it.with_range.opcodes["FFMA"]
        and in_loop(it.with_range, "SEL") > 0
    ),
    "two selects are left, before the loop.": lambda it: (
        it.made[WIDE].opcodes["SEL"] == 2 and in_loop(it.made[WIDE], "SEL") == 0
    ),
    "An unsigned index needs no check at all": lambda it: (
        [it.made[f"while, {T}"].opcodes["SEL"] for T in (uint64, uint32)] == [0, 0]
        and it.made[f"while, {int32}"].opcodes["SEL"] > 0
    ),
    "`range` the naive kernel takes 3.1 times as long as with `while`": lambda it: (
        about("3.1", ratio(it.plain, it.loops[WIDE][0]))
    ),
    "and the tiled one takes the same time with both": lambda it: (
        abs(ratio(it.loops["range"][1], it.loops[WIDE][1]) - 1) < 0.02
    ),
    "With equal loops the tile gains a factor of 1.8, with `uint32` indices 1.5.": (
        lambda it: about("1.8", ratio(*it.loops[WIDE]))
        and about("1.5", ratio(*it.loops[NARROW]))
    ),
    "it takes from 15% less to 8% more time": lambda it: (
        about("15%", -min(gaps(it))) and about("8%", max(gaps(it)))
    ),
    "the naive kernel issues 36 instructions for it, with `while` 8.1": lambda it: (
        about("36", per_step(it.plain)) and about("8.1", per_step(it.loops[WIDE][0]))
    ),
    "Only with `while` does it wait most for loads": lambda it: (
        first(it.loops[WIDE][0]) == LOADS and first(it.plain) != LOADS
    ),
    "a tile's inner loop has known indices and needs 4.3 per step": lambda it: (
        about("4.3", per_step(it.by_tile["tile 32"]))
        and ratio(it.plain, it.loops[WIDE][0]) > ratio(*it.loops[WIDE])
    ),
    "the tile also halves the instructions, from 8.1 to 4.0": lambda it: (
        about("8.1", per_step(it.loops[WIDE][0]))
        and about("4.0", per_step(it.loops[WIDE][1]))
    ),
    "also unrolls more: 29 `FFMA` instead of 5": lambda it: (
        [
            it.made[f"while, {T}"].opcodes["FFMA"]
            for T in (uint32, int32, uint64, int64)
        ]
        == [29, 5, 5, 5]
    ),
    "Waits for loads fall from 81% to 43%": lambda it: (
        about("81", it.share(it.loops[WIDE][0], "long_scoreboard"))
        and about("43", it.share(it.loops[NARROW][0], "long_scoreboard"))
    ),
    "waits for their queue rise from 4% to 23%": lambda it: (
        about("4", it.share(it.loops[WIDE][0], "lg_throttle"))
        and about("23", it.share(it.loops[NARROW][0], "lg_throttle"))
    ),
    "The tiled kernels wait most for the queue to shared memory": (
        lambda it: all(first(both[1]) == QUEUE for both in it.loops.values())
    ),
    "the path has as much work as with `range`, and each step 21% fewer": (
        lambda it: 0.99 < path(it.loops[NARROW][1]) / path(it.by_tile["tile 32"]) < 1.01
        and about("21%", 1 - per_step(it.loops[NARROW][1]) / steps_of(it, 32))
    ),
    "267 µs instead of 282": lambda it: (
        about("282", time(it.loops["range"][1]))
        and about("267", time(it.loops[NARROW][1]))
    ),
    "Dynamic shared memory costs nothing": lambda it: (
        abs(ratio(dynamic(it, 32), it.loops[NARROW][1]) - 1) < 0.02
    ),
    "A size chosen at the launch costs half as much time again.": lambda it: (
        1.4 < ratio(dynamic(it, 0), dynamic(it, 32)) < 1.6
    ),
    "one load takes four neighbours of `tile_a` at once (`LDS.128`), so 40 loads": (
        lambda it: all(
            (found.opcodes["LDS.128"], found.opcodes["LDS"], found.opcodes["FFMA"])
            == (8, 32, 32)
            for found in (
                assembled(it, it.make_tiled_while(uint32)),
                assembled(it, it.make_dynamic(32), it.SHARED),
            )
        )
    ),
    "With an unknown size 64 loads do this work": lambda it: (
        2 == shared_loads(assembled(it, it.make_dynamic(0), it.SHARED))
    ),
    "and a step takes 10 instructions instead of 3.4": lambda it: (
        about("10", per_step(dynamic(it, 0)))
        and about("3.4", per_step(dynamic(it, 32)))
    ),
    "Issue slots are 86% used: now the instructions set the pace": lambda it: (
        about("86", dynamic(it, 0).counters["issue_percent"])
        and dynamic(it, 32).counters["issue_percent"] < 50
        and dynamic(it, 0).counters["l1_data_percent"] < 75
    ),
    "does not wait for them, so the kernel runs to its end": (
        lambda it: it.run.barriers[0].threads > 0
        and it.run.coalescing.by_kind["store"].active_lanes == it.c.size
    ),
    "so the product is wrong": lambda it: not np.allclose(it.c, it.a @ it.b),
    "so 4 times for `a`": lambda it: it.tiled.reuse["a"].loads.max() == 4,
    "so 8 times for `b`": lambda it: it.tiled.reuse["b"].loads.max() == 8,
}


def shared_loads(assembly):
    """The loads from shared memory for each product."""
    return assembly.kinds["shared loads"] / assembly.opcodes["FFMA"]


def in_loop(assembly, opcode):
    """How often an opcode comes after the last branch before the first product."""
    names = [it.base for it in assembly.instructions]
    start = names.index("FFMA")
    while names[start] != "BRA":
        start -= 1
    return names[start:].count(opcode)


def index_share(assembly):
    """The share of integers and copies among what is no product and no load."""
    wanted = assembly.opcodes["FFMA"] + assembly.opcodes["LDG"]
    indices = assembly.kinds["integers and addresses"] + assembly.kinds["moves"]
    return indices / (len(assembly.instructions) - wanted)


def gaps(it):
    """How much longer than C++ each kernel takes, as a share."""
    for name, bits in ((WIDE, ", 64-bit"), (NARROW, "")):
        for mine, theirs in zip(it.loops[name], ("naive", "tiled"), strict=True):
            yield ratio(mine, baseline(f"CUDA C++ {theirs}{bits} 1024")) - 1

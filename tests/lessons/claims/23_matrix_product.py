"""What lesson 23 says of its counts, times and instructions, and when it is true."""

import re

from numba import int64, uint32

from helpers import assemble, baseline
from helpers.core.hardware import H200
from helpers.core.occupancy import occupancy_of
from tests.lessons.claims import about

QUEUE = "room in the queue to shared memory"
LOADS = "global or local memory"
WIDE, NARROW = f"while, {int64}", f"while, {uint32}"


def ratio(one, two):
    """How many times as long as the second the first takes."""
    return one.median_us / two.median_us


def vectors(function):
    """Does Numba's compiler add several floats of a function at once?"""
    (signature,) = set(function.signatures)
    return bool(re.search(r"fadd <\d+ x float>", function.inspect_llvm(signature)))


def less_work(it, size, before):
    """The share of L1's work that a tile saves against another, by its counter."""
    one, two = (
        it.by_tile[f"tile {side}"].median_us
        * it.by_tile[f"tile {side}"].counters["l1_data_percent"]
        for side in (size, before)
    )
    return 1 - one / two


def less_time(it, size, before):
    """The share of time that a tile takes less than another."""
    return 1 - ratio(it.by_tile[f"tile {size}"], it.by_tile[f"tile {before}"])


def per_step(measured):
    """The instructions for 32 products of a warp."""
    return measured.counters["instructions"] / (1024**3 / 32)


def share(measured, reason):
    """The share of a reason in what warps waited for."""
    return measured.waits.get(reason, 0)


def first(measured):
    """The largest wait, those for a turn left out."""
    return next(it for it in measured.waits if it != "its turn to issue")


def made(it, kernel, shared_bytes=0):
    """What the compiler made of a product of 1024 × 1024."""
    return assemble(kernel)[(32, 32), (32, 32), 0, shared_bytes](*it.big)


def dynamic(it, size):
    """The time of a product in dynamic tiles."""
    return it.clock(it.make_dynamic(size), 32, it.SHARED)


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
    "One register more and the tile of 32 would fill half of it": lambda it: (
        [occupancy_of((9, 0), 1024, more, 8192).share for more in (32, 33)] == [1, 0.5]
    ),
    "From 8 to 16 the time falls by 34%.": lambda it: (
        about("34%", less_time(it, 16, 8))
    ),
    "which was 88% busy and now has 36% less to do": lambda it: (
        about("88", it.by_tile["tile 8"].counters["l1_data_percent"])
        and about("36%", less_work(it, 16, 8))
    ),
    "From 16 to 32 it has 15% less to do, but the time falls by only 3%": lambda it: (
        about("15%", less_work(it, 32, 16)) and about("3%", less_time(it, 32, 16))
    ),
    "at 76% the path no longer sets the pace": lambda it: (
        about("76", it.by_tile["tile 32"].counters["l1_data_percent"])
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
    "cuBLAS is another 4.4 times as fast, at half of the peak.": lambda it: (
        about("4.4", ratio(it.by_tile["tile 32"], it.library))
        and 0.45 < it.library.gflop_per_s / 1000 / H200.peak_tflop_per_s < 0.55
    ),
    "Tiles of 32 make 32 blocks for 132 multiprocessors, tiles of 16 make 105.": (
        lambda it: (blocks(it, 32), blocks(it, 16)) == (32, 105)
    ),
    "Here the smaller tile wins, although it loads each element twice as often.": (
        lambda it: (
            it.ragged["tile 16"].median_us < it.ragged["tile 32"].median_us
            and it.loads[16] == 2 * it.loads[32]
        )
    ),
    "for arithmetic units and for their turn to issue, and hardly ever for a load": (
        lambda it: (
            list(it.plain.waits)[:2] == ["a busy arithmetic unit", "its turn to issue"]
            and share(it.plain, LOADS) < 0.01
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
        it.with_while.opcodes["SEL"] == 2 and in_loop(it.with_while, "SEL") == 0
    ),
    "`range` alone makes the naive kernel 3.1 times as slow": lambda it: (
        about("3.1", ratio(it.plain, it.loops[WIDE][0]))
    ),
    "leaves the tiled one as it was": lambda it: (
        abs(ratio(it.loops["range"][1], it.loops[WIDE][1]) - 1) < 0.02
    ),
    "With equal loops the tile gains a factor of 1.8, with 32-bit indices 1.5.": (
        lambda it: about("1.8", ratio(*it.loops[WIDE]))
        and about("1.5", ratio(*it.loops[NARROW]))
    ),
    "their times differ by at most 15%, in both directions": lambda it: (
        0.13 < max(abs(gap) for gap in gaps(it)) <= 0.155
        and min(gaps(it)) < 0 < max(gaps(it))
    ),
    "the naive kernel issues 36 instructions for it, with `while` 8.1": lambda it: (
        about("36", per_step(it.plain)) and about("8.1", per_step(it.loops[WIDE][0]))
    ),
    "Only then does it wait for its loads": lambda it: (
        first(it.loops[WIDE][0]) == LOADS and first(it.plain) != LOADS
    ),
    "loop of a tile has known indices, and a step of it takes 4.3": lambda it: (
        about("4.3", per_step(it.by_tile["tile 32"]))
        and ratio(it.plain, it.loops[WIDE][0]) > ratio(*it.loops[WIDE])
    ),
    "29 `FFMA` in the code instead of 5": lambda it: (
        [made(it, it.make_while(T)).opcodes["FFMA"] for T in (uint32, int64)] == [29, 5]
    ),
    "loads fall from 71% of the waits to 30%": lambda it: (
        about("71%", share(it.loops[WIDE][0], LOADS))
        and about("30%", share(it.loops[NARROW][0], LOADS))
    ),
    "The tiled kernels wait for the queue to shared memory instead": lambda it: all(
        first(both[1]) == QUEUE for both in it.loops.values()
    ),
    "Dynamic shared memory costs nothing": lambda it: (
        abs(ratio(dynamic(it, 32), it.loops[NARROW][1]) - 1) < 0.02
    ),
    "The unknown size costs half as much time again.": lambda it: (
        1.4 < ratio(dynamic(it, 0), dynamic(it, 32)) < 1.6
    ),
    "a load brings four neighbours of `tile_a` at once (`LDS.128`), so 40 loads": (
        lambda it: all(
            (found.opcodes["LDS.128"], found.opcodes["LDS"], found.opcodes["FFMA"])
            == (8, 32, 32)
            for found in (
                made(it, it.make_tiled_while(uint32)),
                made(it, it.make_dynamic(32), it.SHARED),
            )
        )
    ),
    "In the last row it takes 64.": lambda it: (
        2 == shared_loads(made(it, it.make_dynamic(0), it.SHARED))
    ),
    "goes on without the threads that have left, and so does the emulator": lambda it: (
        len(it.run.barriers) == 2
    ),
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

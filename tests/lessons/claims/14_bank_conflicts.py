"""What lesson 14 says of banks, conflicts and times, and when it is true."""

from collections import Counter
from math import gcd

import numpy as np
from numba import cuda, float32, uint32, uint64

from helpers import assemble, emulate
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about
from tests.lessons.counted import (
    counting_and_loading,
    executed,
    instructions,
    wavefronts,
)
from thirty_two_lanes.assembly.compiler import missing

LANES = np.arange(32)
MULTIPROCESSORS = 132  # of an H200
SHARED = REASONS["short_scoreboard"]
NO_COMPILER = bool(missing())


def both(it, size, stride, together):
    """Wavefronts a load, and the time, of a row of the table of sizes."""
    loads, timed = it.sized[size, stride, together]
    return loads.wavefronts / loads.requests, timed.median_us


def time(it, stride):
    """The time of `hop` with this stride, in times of stride 1."""
    return it.on_gpu[stride].median_us / it.on_gpu[1].median_us


def alike(*times):
    """Do these times lie within 3%?"""
    return max(times) < 1.03 * min(times)


def first_report(it):
    """The loads of `hop` with stride 2."""
    run = emulate(it.hop)[1, it.CELLS](it.out, 2, 1)
    return run.bank_conflicts.by_kind["load"]


def round_of(it):
    """Loads, address computations and other instructions of a round of `hop`."""
    code = instructions(it.hop, it.CELLS, it.out, 1, 1)
    loads = [n for n, each in enumerate(code) if each.name == "LDS"]
    last = next(n for n in range(loads[-1], len(code)) if code[n].opcode == "BRA")
    names = Counter(each.opcode for each in code[loads[0] - 2 : last + 1])
    return names.pop("LDS"), names.pop("LEA"), names.total()


def whole(it):
    """The loop of `make_hop` for 8 bytes, assembled."""
    return str(assemble(it.READERS[uint64])[1, 256](it.ends, 1, 1, 1))


def half_loaded(it):
    """The loop of `make_hop` for 8 bytes, without the use of the upper half."""

    @cuda.jit
    def half(out):
        following = cuda.shared.array(256, uint64)
        cell = uint32(cuda.threadIdx.x)
        following[cell] = cell
        cuda.syncthreads()
        for _ in range(32):
            value = following[cell]
            cell = uint32(value)
        out[cuda.grid(1)] = cell

    return str(assemble(half)[1, 256](it.ends))


def conflicts_of(layout, rows=LANES):
    """Conflicts of two half rows and of two half columns of a 16 × 16 tile."""
    lane, half = LANES % 16, LANES // 16
    sides = layout(half, lane), layout(lane, half)
    return [wavefronts(cells, 4) - 1 for cells in sides]


def row(it, timed, ways):
    """The transpose whose loads take this many wavefronts."""
    return next(timed[width] for width, its in it.WIDTHS.items() if its == ways)


def shown(it, timed, ways, since=1):
    """The cycles that each further wavefront of a multiprocessor costs."""
    first, last = (row(it, timed, its).counters["cycles"] for its in (since, ways))
    return (last - first) / ((ways - since) * it.loads)


def longer(it, timed, ways):
    """The time of a transpose with this many wavefronts a load, against one."""
    return row(it, timed, ways).median_us / row(it, timed, 1).median_us


def filled(counters):
    """The wavefronts of a multiprocessor, for each of its cycles."""
    each = counters["shared_load_wavefronts"] / MULTIPROCESSORS
    return each / counters["cycles"]


def cycles(measurement):
    """The cycles of the launch that was profiled."""
    return measurement.counters["cycles"]


def each(it, measurement):
    """The instructions that each warp of a transpose issued."""
    return 32 * executed(measurement) / it.src.size


def bound(it, timed, ways):
    """The share of its cycles that a transpose's further wavefronts take."""
    return (ways - 1) * it.loads / row(it, timed, ways).counters["cycles"]


def lost(it, timed, ways):
    """The share of its time that a transpose loses by its conflicts."""
    return 1 - 1 / longer(it, timed, ways)


def quarter_warps(rng):
    """The fewest wavefronts of 16 bytes, of lanes that differ and of any lanes."""
    apart = [wavefronts(rng.permutation(64)[:32], 16) for _ in range(200)]
    alike = [wavefronts(rng.integers(0, many, 32), 16) for many in range(1, 33)]
    ordered = [wavefronts(LANES // by, 16) for by in (1, 2, 4, 8, 16, 32)]
    return min(apart + ordered[:1]), min(alike + ordered)


def most_beyond(it):
    """The most conflicts a request that the counter has beyond the rule's."""
    return max(
        each.counters[f"shared_{kind}_conflicts"]
        / each.counters[f"shared_{kind}_requests"]
        - (it.WIDTHS[width] - 1) * (kind == "load")
        for timed in (it.wide, it.narrow)
        for width, each in timed.items()
        for kind in ("load", "store")
    )


def merged(it):
    """What four neighbouring loads of one thread become."""

    @cuda.jit
    def four(out):
        cells = cuda.shared.array((256, 4), float32)
        thread = cuda.threadIdx.x
        for column in range(4):
            cells[thread, column] = thread
        cuda.syncthreads()
        it = 255 - thread
        out[thread] = cells[it, 0] + cells[it, 1] + cells[it, 2] + cells[it, 3]

    return str(assemble(four)[1, 256](it.ends))


CLAIMS = {
    "elements 0, 32 and 64 of a `float32` array share bank 0": lambda it: (
        [0, 0, 0] == [it.bank(4 * element) for element in (0, 32, 64)]
    ),
    "With one stride a load takes 32 steps, with the next longer one a single step": (
        lambda it: (31, 0) == (it.emulated[32], it.emulated[33])
    ),
    "Only the even banks are asked, and each of them for two different words": (
        lambda it: (
            dict.fromkeys(range(0, 32, 2), 2) == Counter(map(it.bank, it.strided(2)))
        )
    ),
    "A plain `for` over all hops would spend more instructions on counting than on "
    "loading": lambda it: (
        NO_COMPILER or (lines := counting_and_loading(it))[0] > lines[1]
    ),
    "The load in the loop makes 1,024 requests, 32 for each of 32 warps, and each of "
    "them has one conflict": lambda it: (
        (1024, 1024) == (first_report(it).requests, first_report(it).conflicts)
    ),
    "`gcd(stride, 32)` lanes meet in a bank, and a load has `gcd(stride, 32) - 1` "
    "conflicts": lambda it: (
        all(wavefronts(step * LANES, 4) == gcd(step, 32) for step in range(1, 129))
        and all(it.emulated[step] == gcd(step, 32) - 1 for step in it.STRIDES)
    ),
    "every diamond, the GPU's count, lies in its ring": lambda it: all(
        it.counted(it.on_gpu[step]) == it.emulated[step] for step in it.STRIDES
    ),
    "Stride 2 takes 1.96 times as long as stride 1, and stride 32 takes 30.7 times as "
    "long": lambda it: about("1.96", time(it, 2)) and about("30.7", time(it, 32)),
    "Strides 3, 13 and 33 are as fast as stride 1": lambda it: alike(
        *(it.on_gpu[step].median_us for step in (1, 3, 13, 33))
    ),
    "A multiprocessor serves one wavefront in a cycle": lambda it: (
        0.99 < filled(it.on_gpu[32].counters) <= 1
    ),
    "The data path, which is L1's too, is busy in 97.5% of the cycles with stride 1, "
    "and in 99.9% with stride 32": lambda it: (
        (97.5, 99.9) == tuple(it.busy(it.on_gpu[step]) for step in (1, 32))
    ),
    "warps wait for shared memory": lambda it: all(
        shared >= 0.8
        for step in it.STRIDES
        for shared in [it.on_gpu[step].waits[SHARED]]
    ),
    "The compiler turns a round into 32 loads, 32 address computations and 3 more "
    "instructions": lambda it: NO_COMPILER or (32, 32, 3) == round_of(it),
    "makes the compiler load all 8 bytes of a `uint64`; otherwise it loads only the "
    "lower 4": lambda it: (
        NO_COMPILER or ("LDS.64" in whole(it) and "LDS.64" not in half_loaded(it))
    ),
    "Elements of 2 bytes take as long as those of 4": lambda it: alike(
        both(it, 2, 1, 1)[1], both(it, 4, 1, 1)[1]
    ),
    "Elements of 8 bytes take twice as long, without a conflict": lambda it: (
        about("2.0", both(it, 8, 1, 1)[1] / both(it, 4, 1, 1)[1])
        and 0 == it.sized[8, 1, 1][0].conflicts
    ),
    "Several lanes in one box are served together": lambda it: (
        alike(both(it, 4, 1, 5)[1], both(it, 4, 1, 1)[1])
        and 1 == both(it, 4, 1, 5)[0]
        and it.sized[4, 1, 5][0].multicasts
    ),
    "With elements of up to 4 bytes, only different words in one bank have to queue": (
        lambda it: (
            both(it, 4, 2, 1)[1] > 1.9 * both(it, 2, 2, 1)[1]
            and (2, 1) == (both(it, 4, 2, 1)[0], both(it, 2, 2, 1)[0])
            and both(it, 8, 1, 5)[0] == 2 > both(it, 4, 1, 5)[0] == 1
        )
    ),
    "With half the wavefronts, the launch takes 36% less time: the data path is busy "
    "in 78% of the cycles, no longer in 99%": lambda it: (
        about("36%", 1 - both(it, 8, 1, 2)[1] / both(it, 8, 1, 1)[1])
        and about("78", it.busy(it.sized[8, 1, 2][1]))
        and about("99", it.busy(it.sized[8, 1, 1][1]))
    ),
    "two neighbours share a word, which is a multicast": lambda it: (
        (loads := it.sized[2, 1, 1][0]).multicasts == loads.requests
    ),
    "(Elements of 16 bytes go by quarter warps: at least four wavefronts if all lanes "
    "differ, and never fewer than two. Of 1 byte, four share a word.)": lambda it: (
        (4, 2) == quarter_warps(np.random.default_rng(0))
        and {word: 4 for word in range(8)} == Counter(LANES // it.WORD_BYTES)
    ),
    "Pairs do. Groups of five do not, although they ask for fewer bytes": lambda it: (
        (1, 2) == (wavefronts(LANES // 2, 8), wavefronts(LANES // 5, 8))
        and len(set(LANES // 5)) < len(set(LANES // 2))
        and alike(both(it, 8, 1, 5)[1], both(it, 8, 1, 1)[1])
    ),
    "Stores never go together in this way": lambda it: (
        (2, 2) == tuple(wavefronts(LANES // n, 8, "store") for n in (2, 32))
    ),
    "Column-major only moves the conflicts from the load to the store": lambda it: (
        it.turns["row_major"][:2] == it.turns["column_major"][1::-1] == [0, 31]
    ),
    "Padding and swizzle remove them on both sides; padding costs 128 bytes, the "
    "swizzle none": lambda it: (
        ([0, 0, 4096 + 128], [0, 0, 4096]) == (it.turns["padded"], it.turns["swizzled"])
    ),
    "along a column c, `r ^ c` is another place in each row r": lambda it: all(
        len({row ^ column for row in range(32)}) == 32 for column in range(32)
    ),
    "every bank occurs once in each row and once in each column": lambda it: all(
        len(set(line)) == 32
        for layout in (it.padded, it.swizzled)
        for banks in [it.bank(4 * layout(it.rows, it.columns))]
        for line in [*banks, *banks.T]
    ),
    "1 a load in a block 16 wide, 3 in one 8 wide": lambda it: (
        (1, 3) == (it.fill_conflicts(16, 32), it.fill_conflicts(8, 32))
    ),
    "A padding of one word does not help, since 15 of the 16 banks still meet": (
        lambda it: (
            1 == it.fill_conflicts(16, 33)
            and 15 == len(set(range(16)) & {(33 + x) % 32 for x in range(16)})
        )
    ),
    "The count says that nothing was gained: 32 wavefronts a load, as before": (
        lambda it: (
            (run := emulate(it.turn_padded_wrong)[1, (32, 32)](it.turned))
            .bank_conflicts.by_kind["load"]
            .wavefronts
            == 32 * 32
            and (it.turned == np.arange(1024).reshape(32, 32).T).all()
            and run.bank_conflicts.by_kind["load"].requests == 32
        )
    ),
    "`hop` waits almost only for shared memory": lambda it: all(
        m.waits[SHARED] > 0.85 for m in it.on_gpu.values()
    ),
    "A transpose also waits for global memory and for a barrier": lambda it: all(
        {"a barrier", "global or local memory"} == set(list(it.waits)[:2])
        for it in (it.wide[33], it.narrow[33])
    ),
    "The length of a row decides how many wavefronts a load takes: from 1 with 33 "
    "words to 32 with 32": lambda it: (
        (1, 32) == (it.WIDTHS[33], it.WIDTHS[32])
        and all(wavefronts(width * LANES, 4) == n for width, n in it.WIDTHS.items())
    ),
    "77 with Numba's own 64 bits (71 if rows have 32 words), and 37 with 32 bits": (
        lambda it: (
            {77, 71} == {each(it, it.wide[33]), each(it, it.wide[32])}
            and {37} == {each(it, m) for m in it.narrow.values()}
        )
    ),
    "With 64-bit indices, 2 and 4 wavefronts a load cost less than 1%": lambda it: (
        max(longer(it, it.wide, 2), longer(it, it.wide, 4)) < 1.01
    ),
    "Then the kernel takes 1.6 times as long": lambda it: about(
        "1.6", longer(it, it.wide, 32)
    ),
    "without conflicts, these loads fill 2.5% of the cycles": lambda it: about(
        "2.5%", it.loads / it.wide[33].counters["cycles"]
    ),
    "counted in one launch each, so 2% mean nothing: some points lie below 0": (
        lambda it: (
            it.narrow[34].median_us > it.narrow[33].median_us
            and 0.98 < cycles(it.narrow[34]) / cycles(it.narrow[33]) < 1
        )
    ),
    "the first few hide, while warps wait for a barrier and for global memory": (
        lambda it: all(
            {"a barrier", "global or local memory"} == set(list(each.waits)[:2])
            for width in (33, 34, 36)
            for each in (it.wide[width], it.narrow[width])
        )
    ),
    "From 16 to 32 wavefronts each costs its cycle, and of the cycles of all 31 "
    "further wavefronts, 83% appear in the time": (
        lambda it: (
            about("1.0", shown(it, it.wide, 32, since=16))
            and about("83%", shown(it, it.wide, 32))
        )
    ),
    "With 32-bit indices, half the instructions, less is hidden": (
        lambda it: all(
            about("0.5", executed(it.narrow[width]) / executed(it.wide[width]))
            for width in it.WIDTHS
        )
    ),
    "4 wavefronts cost 3.6% of the time, and 93% of all appear": lambda it: (
        about("3.6%", longer(it, it.narrow, 4) - 1)
        and about("93%", shown(it, it.narrow, 32))
    ),
    "with rows of 48 words it is global memory, and yet without conflicts the kernels "
    "take 19% and 24% less time": lambda it: (
        it.first_wait(it.wide[48]) == it.first_wait(it.narrow[48]) != SHARED
        and about("19%", lost(it, it.wide, 16))
        and about("24%", lost(it, it.narrow, 16))
    ),
    "60 of 196 thousand are 30%": lambda it: (
        about("60", 15 * it.loads / 1000)
        and about("196", cycles(it.wide[48]) / 1000)
        and about("30%", bound(it, it.wide, 16))
    ),
    "No kernel here saves more than its share": lambda it: all(
        lost(it, timed, ways) <= bound(it, timed, ways)
        for timed in (it.wide, it.narrow)
        for ways in it.WIDTHS.values()
    ),
    "up to 0.2 conflicts a request more than the emulator": lambda it: about(
        "0.2", most_beyond(it)
    ),
    "With 17, two lanes meet either way": lambda it: (
        [1, 1] == conflicts_of(lambda row, column: 17 * row + column)
    ),
    "32 words in sequence, if rows have 16": lambda it: (
        0 == conflicts_of(lambda row, column: 16 * row + column)[0]
    ),
    "with 18, one on even banks and one on odd ones": lambda it: (
        [1, 0] == conflicts_of(lambda row, column: 18 * row + column)
    ),
    "The swizzle `x ^ y` in rows of 16 removes both": lambda it: (
        [0, 0] == conflicts_of(lambda row, column: 16 * row + (row ^ column))
    ),
    "Every odd width does the same": lambda it: all(
        width % 2 == (wavefronts(width * LANES, 8) == 2) for width in range(32, 65)
    ),
    "and so does the swizzle": lambda it: (
        {2} == {wavefronts(32 * LANES + (LANES ^ k), 8) for k in range(32)}
    ),
    "four neighbouring `float32` of one thread can become a single load of 16 bytes": (
        lambda it: NO_COMPILER or "LDS.128" in merged(it)
    ),
    "a store takes one wavefront, and a load 32, at one bank": lambda it: (
        [32, 32 * 32]
        == sorted(k.wavefronts for k in it.film.run.bank_conflicts.by_kind.values())
    ),
}

"""What lesson 14 says of banks, conflicts and times, and when it is true.

Each reason has its control: the strides of `hop` and the rows of the transposes differ
in nothing else that is counted (`alone`). What lanes want is counted here once more
(`queue`), beside the rule that figures go by.
"""

from collections import Counter
from math import gcd
from types import SimpleNamespace

import numpy as np
from numba import cuda, float32, uint32, uint64

from helpers import assemble
from helpers.measuring import recordings
from tests.lessons.claims import about
from tests.lessons.counted import counting_and_loading, instructions, wavefronts
from thirty_two_lanes.assembly.compiler import missing

LANES = np.arange(32)
MULTIPROCESSORS = 132  # of an H200
NO_COMPILER = bool(missing())


def queue(words):
    """The most different words of 4 bytes that lanes want from one bank."""
    return max(Counter(int(word) % 32 for word in set(map(int, words))).values())


def halves(stride):
    """The same for each half warp, of elements of 8 bytes."""
    words = 2 * stride * LANES
    return [queue([*half, *half + 1]) for half in (words[:16], words[16:])]


def both_ways(layout):
    """The same for two half rows and for two half columns of a 16 × 16 tile."""
    lane, half = LANES % 16, LANES // 16
    return [queue(layout(half, lane)), queue(layout(lane, half))]


def both(it, size, stride, together):
    """Wavefronts a load, if both counted the same, and the time, of a row of sizes."""
    run, m = it.sized[size, stride, together]
    loads = run.bank_conflicts.by_kind["load"]
    assert loads.wavefronts / loads.requests == wavefronts_of(m)
    return wavefronts_of(m), m.median_us


def wavefronts_of(m):
    """The wavefronts of a load from shared memory, by the GPU's counters."""
    each = m.counters["shared_load_wavefronts"] / m.counters["shared_load_requests"]
    return round(each, 2)


def time(it, stride):
    """The time of `hop` with this stride, in times of stride 1."""
    return it.on_gpu[stride].median_us / it.on_gpu[1].median_us


def alike(*times):
    """Do these times lie within 3%?"""
    return max(times) < 1.03 * min(times)


def loads_of_a_round(it):
    """The loads in the machine code of `hop`, which has one loop."""
    code = instructions(it.hop, it.CELLS, it.out, 1, 1)
    return sum(each.name == "LDS" for each in code)


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


def alone(launches):
    """Do these launches differ in nothing that is counted but the conflicts?"""
    asked = "shared_load_requests", "shared_store_requests"
    names = "instructions", "global_load_sectors", "global_store_sectors", *asked
    return all(len({m.counters[name] for m in launches}) == 1 for name in names)


def per_request(m):
    """The cycles for which a request keeps the data path busy."""
    kinds = "global_load", "global_store", "shared_load", "shared_store"
    requests = sum(m.counters[f"{kind}_requests"] for kind in kinds)
    busy = m.counters["l1_data_percent"] / 100 * m.counters["cycles"]
    return busy * MULTIPROCESSORS / requests


def down(source):
    """The same of a request of lesson 13's transpose that loads down columns: half of
    its requests do.
    """
    (found,) = (
        per_request(SimpleNamespace(**values))
        for known, values in recordings.forms()
        if known.kernel == "transpose_down" and source == known.arguments[1]
    )
    return found


def row(it, ways):
    """The transpose whose loads take this many wavefronts."""
    return next(it.timed[width] for width, its in it.WIDTHS.items() if its == ways)


def cycles(measurement):
    """The cycles of the launch that was profiled."""
    return measurement.counters["cycles"]


def bound(it, ways):
    """The share of its cycles that a transpose's conflicts take, by the counters."""
    counters = row(it, ways).counters
    both = counters["shared_load_conflicts"] + counters["shared_store_conflicts"]
    return both / MULTIPROCESSORS / counters["cycles"]


def lost(it, ways):
    """The share of its time that a transpose loses by its conflicts."""
    return 1 - row(it, 1).median_us / row(it, ways).median_us


def made(it, width):
    """The machine instructions of a transpose."""
    arrays = it.small_out, it.small
    return len(instructions(it.make_transpose(width), (32, 32), *arrays))


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
        for width, each in it.timed.items()
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
    # words and banks
    "Only lanes of the same request can meet in this way": lambda it: all(
        # 64 warps on a multiprocessor at once, and no conflict
        m.counters["occupancy_percent"] > 99 and it.counted(m) == 0
        for m in (it.on_gpu[1], it.on_gpu[33])
    ),
    # strides
    "The odd strides have no stack": lambda it: all(
        (queue(stride * LANES) == 1) == (stride % 2) for stride in range(1, 129)
    ),
    "`gcd(stride, 32)` lanes, the greatest common divisor, meet in a bank. The load "
    "takes as many wavefronts: one that it needs anyway": lambda it: (
        all(queue(stride * LANES) == gcd(stride, 32) for stride in range(1, 129))
        and all(it.emulated[stride] == gcd(stride, 32) - 1 for stride in it.STRIDES)
    ),
    "A plain `for` over all hops would spend more instructions on counting than on "
    "loading": lambda it: (
        NO_COMPILER or (lines := counting_and_loading(it))[0] > lines[1]
    ),
    "the compiler writes its body out once for each step": lambda it: (
        NO_COMPILER or 32 == loads_of_a_round(it)
    ),
    # the GPU; strides differ in nothing else that is counted
    "Every diamond, the GPU's count, lies in its ring": lambda it: all(
        it.on_gpu[step].counters["shared_load_conflicts"]
        == it.emulated[step] * it.on_gpu[step].counters["shared_load_requests"]
        for step in it.STRIDES
    ),
    "stride 2 takes twice as long as stride 1, and stride 32 thirty times as long, but "
    "stride 33 as long as stride 1": lambda it: (
        about("2.0", time(it, 2))
        and 29 < time(it, 32) < 31
        and alike(*(it.on_gpu[step].median_us for step in (1, 33)))
    ),
    "The warps execute as many instructions at each stride": lambda it: alone(
        it.on_gpu.values()
    ),
    "a request of stride 2 keeps the data path busy for two cycles, and one of stride "
    "32 for 32: a wavefront takes a cycle": lambda it: all(
        0.99 < per_request(m) / wavefronts_of(m) < 1.01 for m in it.on_gpu.values()
    ),
    "numbers at one place of their lines came one after the other": lambda it: (
        down("float32[8192, 8192]") > 2.5 * down("float32[8192, 8193]")
    ),
    # words that lanes share, and elements of other sizes
    "eight wavefronts for each half instead of one: 14 conflicts. At stride 9 each "
    "half warp asks every bank once: none": lambda it: (
        ([8, 8], [1, 1]) == (halves(8), halves(9))
        and (14, 0) == tuple(wavefronts(n * LANES, 8) - 2 for n in (8, 9))
    ),
    "makes the compiler load all of a `uint64`": lambda it: (
        NO_COMPILER or ("LDS.64" in whole(it) and "LDS.64" not in half_loaded(it))
    ),
    "At stride 2, elements of 2 bytes take half as long as those of 4": lambda it: (
        about("2.0", both(it, 4, 2, 1)[1] / both(it, 2, 2, 1)[1])
        and (2, 1) == (both(it, 4, 2, 1)[0], both(it, 2, 2, 1)[0])
    ),
    "A multicast costs nothing": lambda it: (
        # the same kernel with and without it
        alike(both(it, 4, 1, 5)[1], both(it, 4, 1, 1)[1])
        and alone([it.sized[4, 1, n][1] for n in (1, 5)])
    ),
    "Elements of 8 bytes take as long at stride 1 as those of 4 bytes at stride 2: two "
    "wavefronts as well, but without a conflict": lambda it: (
        alike(both(it, 8, 1, 1)[1], both(it, 4, 2, 1)[1])
        and 2 == both(it, 8, 1, 1)[0] == both(it, 4, 2, 1)[0]
        and it.counted(it.sized[8, 1, 1][1]) < 0.001
    ),
    # of pairs, `tests/emulator/judges/test_agreement.py` holds the rule to the GPU
    "go together if lanes 0 and 1, 2 and 3, and so on ask for the same element, or if "
    "0 and 2, 1 and 3, 4 and 6, and so on do": lambda it: (
        1 == wavefronts(LANES // 2, 8) == wavefronts(LANES // 4 * 2 + LANES % 2, 8)
    ),
    "Groups of five do not, although they ask for fewer bytes": lambda it: (
        2 == wavefronts(LANES // 5, 8) and len(set(LANES // 5)) < len(set(LANES // 2))
    ),
    "The halves and quarters of a *store* never go together": lambda it: (
        (2, 2) == tuple(wavefronts(LANES // n, 8, "store") for n in (2, 32))
    ),
    # layouts
    "a load: 32 lines run into one bank, which takes 32 wavefronts. Open moments and "
    "choose the first, a store: its lines run into 32 banks, in one wavefront": (
        lambda it: (
            [32, 32 * 32]
            == sorted(k.wavefronts for k in it.film.run.bank_conflicts.by_kind.values())
        )
    ),
    "no bank occurs twice in any row or column": lambda it: all(
        len(set(line)) == 32
        for banks in [it.bank(4 * it.swizzled(it.rows, it.columns))]
        for line in [*banks, *banks.T]
    ),
    "Padding and swizzle remove all conflicts; padding costs a word a row, and the "
    "swizzle no memory": lambda it: (
        it.turns["row_major"][:2] == [0, 31]
        and ([0, 0, 4 * 33 * 32], [0, 0, 4 * 32 * 32])
        == (it.turns["padded"], it.turns["swizzled"])
    ),
    # what it is worth
    "let nothing differ but the wavefronts": lambda it: alone(it.timed.values()),
    "the compiler makes as many instructions for each length": lambda it: (
        NO_COMPILER or 1 == len({made(it, width) for width in it.WIDTHS})
    ),
    "Each conflict keeps the data path busy for one cycle": lambda it: (
        all(
            # of this kernel, and of `hop`, which does nothing else
            0.96 < extra < 1.02
            for step in (2, 4, 8, 16, 32)
            for first, last in [(it.on_gpu[1], it.on_gpu[step])]
            for more in [wavefronts_of(last) - wavefronts_of(first)]
            for each in [last.counters["shared_load_requests"] / MULTIPROCESSORS]
            for extra in [(cycles(last) - cycles(first)) / (more * each)]
        )
        and all(
            # a quarter of the transpose's requests are these loads
            0.9 < 4 * more / (ways - 1) < 1.1
            for ways in (4, 8, 16, 32)
            for more in [per_request(row(it, ways)) - per_request(row(it, 1))]
        )
    ),
    "with rows of 32 that is 124 of 251 thousand, nearly half": lambda it: (
        about("124", it.conflicts_each(row(it, 32)) / 1000)
        and about("251", cycles(row(it, 32)) / 1000)
        and 0.48 < bound(it, 32) < 0.5
    ),
    "two blocks of 32 on each multiprocessor": lambda it: all(
        # of at most 64 warps, and between two blocks of 32 there is a gap
        54 < 0.64 * m.counters["occupancy_percent"] <= 64
        for m in it.timed.values()
    ),
    "as the path is always busy": lambda it: all(
        m.counters["l1_data_percent"] > 97 for _, m in it.sized.values()
    ),
    "With 32 rows it needs a multiple of 32 columns: with 24, `16 ^ 8` is 24, in the "
    "next row": lambda it: (
        24 == 16 ^ 8
        and all(
            (columns % 32 == 0) == (places.max() < columns)
            for columns in range(1, 129)
            for places in [np.arange(columns)[:, None] ^ LANES]
        )
    ),
    "No point of what is saved lies above the bound": lambda it: all(
        lost(it, ways) <= bound(it, ways) for ways in it.WIDTHS.values()
    ),
    "Where the queue is short, most of it is hidden, and with two wavefronts a repair "
    "is hardly worth its line. With 32 it saves most of what it can": lambda it: (
        all(lost(it, ways) < bound(it, ways) / 2 for ways in (2, 4))
        and lost(it, 2) < 0.015
        and lost(it, 32) > 0.8 * bound(it, 32)
    ),
    "the bank is the lane's own number, whatever the bin": lambda it: (
        all(queue(32 * (LANES * step % 32) + LANES) == 1 for step in range(9))
        and 32 == queue(256 * LANES + 7)
    ),
    # exercises, and in practice
    "A store covers two rows: 32 words in sequence, if rows have 16. A load covers two "
    "columns: with 18, one on even banks and one on odd ones. With 17, two lanes meet "
    "either way. The swizzle `x ^ y` in rows of 16 removes both": lambda it: (
        1 == both_ways(lambda row, column: 16 * row + column)[0]
        and [2, 1] == both_ways(lambda row, column: 18 * row + column)
        and [2, 2] == both_ways(lambda row, column: 17 * row + column)
        and [1, 1] == both_ways(lambda row, column: 16 * row + (row ^ column))
    ),
    "Every odd width does the same, and so does the swizzle": lambda it: (
        all(n % 2 == (halves(n) == [1, 1]) for n in range(32, 65))
        and {2} == {wavefronts(32 * LANES + (LANES ^ k), 8) for k in range(32)}
    ),
    "four neighbouring `float32` of one thread can become a single load of 16 bytes": (
        lambda it: NO_COMPILER or "LDS.128" in merged(it)
    ),
    "in these transposes, up to 0.2 a request": lambda it: about(
        "0.2", most_beyond(it)
    ),
}

"""What the lesson says of its counts and measurements, and when it is true.

Each cause has its control. That the data path sets the pace of the sweeps: what it
passes, counted with the machine code and by Nsight Compute, and the same sweeps without
conflicts. What bytes in flight are worth: the same kernel with fewer blocks. What is
left above a copy: the last rung without one of its parts, in the same shape.
"""

import numpy as np
from numba import cuda, float32

from helpers import assemble, emulate, exercise
from tests.lessons.claims import about
from thirty_two_lanes.core.hardware import H200

AGREED = 0.1  # between what is counted and what is measured


def us(it, name):
    return it.times[name].median_us


def saved(it, name, of):
    """The part of another rung's time that a rung saves."""
    return 1 - us(it, name) / us(it, of)


def counted(it, name, counter):
    return it.times[name].counters[counter]


def busiest(it, name):
    """The most of what can be busy, in percent."""
    parts = "issue", "l1_data", "l2", "memory"
    return max(counted(it, name, f"{part}_percent") for part in parts)


def passed(it, name):
    """What the data path passes for a tile, by Nsight Compute."""
    return counted(it, name, "lsu_wavefronts") / (it.N / it.SIZE)


def busy(it, name):
    """The cycles for which the data path is busy for a tile."""
    cycles = counted(it, name, "l1_data_percent") / 100 * counted(it, name, "cycles")
    return H200.multiprocessors * cycles / (it.N / it.SIZE)


def issued(it, name):
    """The requests for shared memory that the warps of a tile issue."""
    own = it.tile_runs[name].bank_conflicts.requests / 4
    return own + it.paths[name]["without_lane"]


def longest_wait(it, name):
    return next(iter(it.times[name].waits))


def per_32(it, name):
    """The instructions of a warp for 32 elements."""
    return counted(it, name, "instructions") / (it.N / 32)


def additions(it, name):
    """Those of a tile of 1,024 elements."""
    return it.tile_runs[name].operations.float32 / 4


def conflicts(it, width):
    """The bank conflicts of a tile that is scanned by two sweeps."""
    return it.count(it.make_sweeping(width), 512).bank_conflicts.conflicts / 4


def banks(width, step):
    """The banks that a warp loads from on the left, in an upward step."""
    lefts = (2 * step * (lane + 1) - 1 - step for lane in range(32))
    return {(width * (left // 32) + left % 32) % 32 for left in lefts}


def scanned(it, name):
    """What the compiler makes of a rung."""
    arrays = () if name in it.tile_runs else it.state
    return assemble(it.kernels[name])[4, 256](it.small, it.small, *arrays)


def sums(it):
    """The time of the three launches together."""
    return sum(launch.median_us for launch in it.launches)


def predicted(it):
    """The time of each of the three launches, if bytes take what they do in a copy."""
    return [by * it.copy_us / 2 for by in it.moved]


def share_of_rest(it, name, of):
    """What a part takes, of what the last rung takes beyond a copy in its shape."""
    rest = it.parts["look back"].median_us - it.parts["copy"].median_us
    return (it.parts[name].median_us - it.parts[of].median_us) / rest


def overlap(it, size):
    """Do the times of the runs of the last rung and of CUB's scan overlap?"""
    names = "larger tiles", "CUB"
    ours, theirs = (it.baseline(f"scan, {name}{size}") for name in names)
    return ours.lower_us <= theirs.upper_us and theirs.lower_us <= ours.upper_us


def held_kb(fours, threads, blocks):
    return fours * 16 * threads * blocks / 1024


@cuda.jit
def scan_in_two_tiles(out, src):
    """Load from a tile, add, store to the other one, wait, and change over."""
    tiles = cuda.shared.array((2, 1024), float32)
    i, at, step = cuda.threadIdx.x, cuda.grid(1), 1
    tiles[0, i] = src[at]
    cuda.syncthreads()
    for turn in range(10):
        total = tiles[turn % 2, i]
        if i >= step:
            total += tiles[turn % 2, i - step]
        tiles[1 - turn % 2, i] = total
        cuda.syncthreads()
        step *= 2
    out[at] = tiles[0, i]


def in_two_tiles(it):
    """The launch on the lesson's tiles; it is right, and no thread races."""
    run = it.count(scan_in_two_tiles)
    return not run.races and run.waits.block == 1 + 10


def after_another(it, words, taken):
    """One block scans a tile after a launch on other numbers left its state: what it
    takes for the sum of all tiles before.
    """
    state = np.zeros(20, np.uint64), np.zeros(1, np.uint32)
    before, out = it.ragged, np.zeros_like(it.ragged)
    emulate(it.small_once)[20, 64](out, before, *state)
    state = state[0] * words, np.array([taken], np.uint32)
    out[:] = 0
    emulate(it.small_once)[1, 64](out, before[::-1].copy(), *state)
    return out[512 * taken] - before[::-1][512 * taken], before


def takes_an_old_prefix(it):
    """It is the prefix of the array before."""
    found, before = after_another(it, 1, 5)
    return found == before[: 512 * 5].sum() != before[::-1][: 512 * 5].sum()


def hides_old_words(it):
    """A launch of all blocks on other numbers is right in the emulator."""
    state = np.zeros(20, np.uint64), np.zeros(1, np.uint32)
    for a in it.ragged, it.ragged[::-1].copy():
        out, state[1][0] = np.zeros_like(a), 0
        emulate(it.small_once)[20, 64](out, a, *state)
    return np.array_equal(out, a.cumsum(dtype=np.float64))


def tile_beyond_the_end(it):
    """An old `taken` makes a block publish beyond the end."""
    try:
        after_another(it, 0, 20)
    except IndexError:
        return True
    return False


def swapped(join, values):
    """What each lane has after five swaps and joins."""
    for k in range(5):
        values = [join(it, values[lane ^ 1 << k]) for lane, it in enumerate(values)]
    return values


def lanes_differ(join):
    found = swapped(join, [np.array([[1, lane % 5], [0, 2]]) for lane in range(32)])
    return any(not np.array_equal(found[0], other) for other in found)


CLAIMS = {
    "So brackets move, and must not matter: the operation must be *associative*, which "
    "a difference is not. The order stays, so it need not be *commutative*": (
        lambda it: all(right == grouped for grouped, _, right in it.joined.values())
        and [True, False, True] == [*it.joined["a · b, matrices"]]
        and [False, False, False] == [*it.joined["a − b"]]
    ),
    "which is associative": lambda it: it.joined["a + b, anew from each 0"][0],
    "the other way round in the next step, one barrier a step is enough": in_two_tiles,
    "So this part takes a commutative operation only": lambda it: (
        lanes_differ(lambda a, b: a @ b) and not lanes_differ(lambda a, b: a + b)
    ),
    "exact up to 2²⁴: enough for a tile": lambda it: (
        np.float32(2**24 - 1) + np.float32(1) == 2**24 > it.SIZE
    ),
    "2²⁴ + 1 is 2²⁴ in float32": lambda it: (
        np.float32(2**24) + np.float32(1) == np.float32(2**24)
    ),
    "adds a sum of the last launch's array": takes_an_old_prefix,
    "as does the emulator's order of blocks": hides_old_words,
    "An old `taken` gives out tiles beyond the end": tile_beyond_the_end,
    "So 16 elements take four steps, and 1,024 ten": lambda it: 2**10 == it.SIZE,
    "who needs the old sum must have loaded it": lambda it: (
        emulate(it.scan_in_place_wrong)[4, 1024](it.dst[:4096] * 0, it.small)
        .races[0].kind == "WAR"
    ),
    "adds to cell 31 in the first doubling, and thread 32 then loads": lambda it: (
        [(1, 31, "stores"), (1, 32, "loads")]
        == [(row[1], *row[3:5]) for row in it.film.cells("tile", 31)][2:4]
    ),
    "10 · 1,024 − 1,023 = 9,217 times": lambda it: (
        9217 == 10 * 1024 - 1023 == additions(it, "doubling")
    ),
    "Nine times the work of the loop": lambda it: (
        about("9", additions(it, "doubling") / 1023)
    ),
    "every eighth element, no two in one bank": lambda it: 32 == len(banks(33, 4)),
    "The sweeps make a fifth of the additions and fewer than half of the requests that "
    "lanes want": lambda it: (
        about("0.2", additions(it, "sweeps") / additions(it, "doubling"))
        and it.swept.bank_conflicts.requests < it.doubled.bank_conflicts.requests / 2
    ),
    # the control of the sweeps: without their conflicts
    "By the path: fours, shuffles, doubling, padded, sweeps; by time, *padded* comes "
    "before *doubling*": lambda it: (
        sorted(it.TILES, key=lambda name: it.paths[name]["wavefronts"])
        == ["fours", "shuffles", "doubling", "padded", "sweeps"]
        and sorted(it.TILES, key=lambda name: us(it, name))
        == ["fours", "shuffles", "padded", "doubling", "sweeps"]
    ),
    "*sweeps* has 699 requests without a lane, and *padded* 514": lambda it: (
        [699, 514] == [it.paths[name]["without_lane"] for name in ("sweeps", "padded")]
    ),
    "Counted and measured agree within a tenth": lambda it: all(
        abs(it.paths[name]["wavefronts"] / of(it, name) - 1) < AGREED
        for name in it.TILES
        for of in (passed, busy)
    ),
    "A tile of *sweeps* issues 976 requests for shared memory, and one of *doubling* "
    "640": lambda it: (
        [976, 640] == [round(issued(it, name)) for name in ("sweeps", "doubling")]
    ),
    "the path passes two and a half times as much, is busy nearly always, and sets the "
    "pace": lambda it: (
        2.4 < passed(it, "sweeps") / passed(it, "doubling") < 2.7
        and counted(it, "sweeps", "l1_data_percent") == busiest(it, "sweeps") > 90
        and us(it, "sweeps") == max(us(it, name) for name in it.TILES)
    ),
    "*padded* has 52 conflicts left of 915, and takes two fifths less time": (
        lambda it: 0.38 < saved(it, "padded", "sweeps") < 0.43
        and [915, 52] == [conflicts(it, width) for width in (32, 33)]
    ),
    "Now the issue slots are as busy as the path: *padded* takes 29% more instructions "
    "than *doubling*": lambda it: (
        counted(it, "padded", "issue_percent") == busiest(it, "padded") > 80
        and counted(it, "padded", "l1_data_percent") > 80
        and about("29%", per_32(it, "padded") / per_32(it, "doubling") - 1)
    ),
    "*doubling* keeps neither slots nor path busy for half of the time: its warps wait "
    "most at "
    "barriers. (*padded* has as many, in smaller blocks.)": lambda it: (
        busiest(it, "doubling") < 50
        and longest_wait(it, "doubling") == "a barrier"
        and it.doubled.waits.block == it.padded.waits.block == 20
        and it.TILES["padded"][1] < it.TILES["doubling"][1]
    ),
    "*fours* take less than half the time of *shuffles*, 98% of a copy's rate": (
        lambda it: saved(it, "fours", "shuffles") > 0.5
        and about("98%", it.times["fours"].share_of_copy)
    ),
    "three things have changed: instructions, requests, and bytes in flight": (
        lambda it: per_32(it, "fours") < 0.5 * per_32(it, "shuffles")
        and it.tile_runs["fours"].bank_conflicts.requests
        == it.tile_runs["shuffles"].bank_conflicts.requests / 4
    ),
    # the control: the same kernel with as little in flight
    "With as much in flight, *fours* are a tenth faster than *shuffles*": lambda it: (
        0.08 < 1 - it.resident[2].median_us / us(it, "shuffles") < 0.12
        and 2 * 256 * 16 == 2 * 1024 * 4  # bytes on a multiprocessor
        and it.resident[2].median_us > 2 * it.resident[8].median_us
    ),
    "One launch, one by one, moves two thirds of the bytes of three launches in the "
    "same time": (
        lambda it: 0.65 < it.times["one by one"].traffic["memory"] / 12 / it.N < 0.67
        and abs(us(it, "one by one") / sums(it) - 1) < 0.02
        and abs(it.ladder["one by one"] / it.ladder["three launches"] - 1) < 0.02
    ),
    "32 tiles at a time take 8% less": lambda it: about(
        "8%", saved(it, "32 at a time", "one by one")
    ),
    "The warps mostly wait at the barrier, for the one that looks back, and memory is "
    "busy for less than two thirds of the time": lambda it: (
        longest_wait(it, "32 at a time") == "a barrier"
        and counted(it, "32 at a time", "memory_percent") < 66
    ),
    "Four times as many blocks, which hold four times as much, save a third of the "
    "time": (
        lambda it: about("0.33", 1 - it.held[4].median_us / it.held[1].median_us)
    ),
    "the 128 KB of *32 at a time* took as long as 96 KB in *more in flight*": (
        lambda it: abs(us(it, "32 at a time") / it.held[2].median_us - 1) < 0.01
        and [128, 96] == [held_kb(8, 512, 2), held_kb(12, 256, 2)]
    ),
    "Tiles twice as large, with as much held, hardly save more": lambda it: (
        0 < saved(it, "larger tiles", "more in flight") < 0.03
    ),
    "The last rung moves as many bytes as a copy and takes longer": lambda it: (
        abs(it.times["larger tiles"].traffic["memory"] / 8 / it.N - 1) < 0.02
        and us(it, "larger tiles") > 1.15 * it.copy_us
    ),
    # the controls: the same kernel without a part of its work
    "A copy moves 2.15 GB; what is missing may still be in L2": lambda it: (
        about("2.15", 8 * it.N / 1e9)
        and 2.1e9
        < sum(counted(it, "32 at a time", f"memory_{way}_bytes")
              for way in ("read", "write"))
        < 2.14e9
    ),
    "A copy in this shape is as fast as the driver's": lambda it: (
        abs(it.copied.median_us / it.copy_us - 1) < 0.01
    ),
    "is half, and one journey to L2 more than a third. All further looks and waits are "
    "a tenth": lambda it: (
        about("0.5", share_of_rest(it, "no look", "copy"))
        and 0.33 < share_of_rest(it, "one look", "no look") < 0.4
        and about("0.1", share_of_rest(it, "look back", "one look"))
    ),
    "At 2¹⁶ elements CUB's scan is faster than the last rung; from 2²⁰ on the last "
    "rung is the faster one, by 4% and more": lambda it: (
        not any(overlap(it, at) for at in (" 2^16", " 2^20", " 2^24", ""))
        and it.rate("CUB", 2**16) > it.rate("larger tiles", 2**16)
        and all(
            it.rate("larger tiles", n) > 1.04 * it.rate("CUB", n)
            for n in (*it.LENGTHS[2:], it.N)
        )
    ),
    "In C++ *larger tiles* take 5% longer": lambda it: about(
        "5%", it.cpp["larger tiles"].median_us / it.ladder["larger tiles"] - 1
    ),
    "a scan of zeros and ones counts these": lambda it: (
        0 < it.kept[:1024].nonzero()[0].size == (it.small[:1024] > 0).sum()
    ),
    "a local array, in registers": lambda it: all(
        scanned(it, name).stack == 0 for name in ("fours", "larger tiles")
    ),
    "Together they take what their bytes predict, but by luck: reading alone is faster "
    "than half of a copy, and one block scans the sums for far longer than these few "
    "bytes need": lambda it: (
        abs(sums(it) / sum(predicted(it)) - 1) < 0.02
        and abs(sum(it.moved) - 3) < 0.02
        and it.launches[0].median_us < 0.97 * predicted(it)[0]
        and it.launches[1].median_us > 20 * predicted(it)[1]
    ),
    "It was 128 KB so far": lambda it: 128 == held_kb(8, 512, 2),
    "12 fours in 256 threads, 48 KB a block": lambda it: (
        48 == held_kb(12, 256, 1)
    ),
    "each error is far below its bound, and the scan's is the smaller one": (
        lambda it: 100 * it.errors["one launch"] < 17 + 7 * it.blocks
        and 100 * it.errors["a loop"] < it.a.size
        and it.errors["one launch"] < it.errors["a loop"]
    ),
    "it is f + 13 until a tile has its sum, 7 for each tile": lambda it: (
        it.errors["one launch"] < 17 + 7 * it.blocks
    ),
    "16: two words in each, so a request takes 2 wavefronts": lambda it: (
        16 == len(banks(34, 4))
    ),
    "A tile has 257 bank conflicts then, instead of 52": lambda it: (
        [257, 52] == [conflicts(it, 34), conflicts(it, 33)]
    ),
    "Which two lines must acquire and release?": lambda it: (
        2 == exercise("running_totals").lines
    ),
    "Both are right, without a race": lambda it: all(
        not run.races and not run.barriers for run in it.runs
    ),
    "Three launches always give the same": lambda it: (
        all(not run.races for run in it.three)
    ),
}

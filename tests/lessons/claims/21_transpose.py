"""What the lesson says of its measurements, and when it is true.

Each cause has its control. That it is bytes in flight: the same copy in turn, which
executes as many instructions. That the way through the tile costs something: a copy
through it. That the 33rd column halves the time: nothing else differs. That wide loads
gain nothing: the same tile with narrow ones, in two sizes. That it is the stores that
mind the order: copies in both orders.
"""

import numpy as np
from numba import cuda, float64, int64, njit, uint32

from helpers import assemble, emulate
from tests.lessons.claims import about

EACH = "32 × 8", "4, at once"


def longer(one, two):
    """How many times as long as the second the first takes."""
    return one.median_us / two.median_us


def saved(it, name, of):
    """The part of another rung's time that a rung saves."""
    return 1 - longer(it.times[name], it.times[of])


def counted(measured, counter):
    return measured.counters[counter]


def instructions(measured):
    """Those that a warp executes."""
    return measured.counters["instructions"] / measured.warps


def steps(it):
    """What each of the first four copies saves of the one before it."""
    times = [m.median_us for m in it.copies.values()][:4]
    return [1 - b / a for a, b in zip(times, times[1:], strict=False)]


def memory_order(it, kernel):
    """The global loads and stores of a copy, in the order of its machine code."""
    out = np.zeros_like(it.small)
    code = assemble(kernel)[(6, 4), (32, 8)](out, it.small).instructions
    names = [each.opcode.split(".")[0] for each in code]
    return [name for name in names if name in ("LDG", "STG")]


def sum_of(one, two):
    """The type that Numba gives to a sum."""
    added = njit([(one, two)])(lambda a, b: a + b)
    return added.nopython_signatures[0].return_type


def sectors(run, kind):
    return run.coalescing.by_kind[kind].sectors / run.coalescing.by_kind[kind].requests


def to_l2(measured):
    return measured.counters["l2_write_sectors"]


def side(it, axis, near):
    """The times of launches whose loads, or whose stores, are side by side."""
    return [m.median_us for key, m in it.sides.items() if (key[axis] == "yes") == near]


def shape_costs(it):
    """How much longer than their own copy the transposes of two shapes take."""
    return [
        longer(it.times["padded"], it.copies[EACH]),
        longer(it.whole, it.copies["32 × 32", "1"]),
    ]


def fitting(cells):
    """The blocks of 256 threads that fit, with a tile of so many cells of 4 bytes."""
    gpu = cuda.get_current_device()
    taken = 4 * cells + gpu.RESERVED_SHARED_MEMORY_PER_BLOCK
    return min(
        gpu.MAX_THREADS_PER_MULTIPROCESSOR // 256,
        gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR // taken,
    )


def in_place_races(it, right=False):
    """A transpose in tiles of a matrix onto itself: it races, or it is right."""
    both = cuda.to_device(it.square)
    run = emulate(it.make_tiled(33))[(4, 4), (32, 8)](both, both)
    if right:
        return np.array_equal(both.copy_to_host(), it.square.T)
    return run.races[0].kind == "WAR"


def square_sectors(it):
    """Those of a matrix, once."""
    return it.square.nbytes // 32


def diagonal(it):
    """The sectors of its tiles on the diagonal, which are loaded and stored twice."""
    return it.square.shape[0] // it.TILE * it.TILE**2 * 4 // 32


def lanes_of_three(it):
    """The lanes that load, of a warp, where there are three columns."""
    run = it.turn(it.transpose_any, np.ones((64, 3), np.float32))
    row = next(
        row for row in run.coalescing.by_line.values()
        if (row.kind, row.array) == ("load", "src")
    )
    return row.active_lanes / row.requests


@cuda.jit
def transpose_doubles(dst, src):
    """A padded tile of 8 bytes an element, by blocks of 32 × 32."""
    tile = cuda.shared.array((32, 33), float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = src[y, x]
    cuda.syncthreads()
    dst[y, x] = tile[x, y]


def of_doubles(it):
    """The wavefronts of a request that loads a column of it, and its conflicts."""
    src = np.arange(1024.0).reshape(32, 32)
    run = emulate(transpose_doubles)[1, (32, 32)](np.zeros_like(src), src)
    row = run.bank_conflicts.by_kind["load"]
    return row.wavefronts / row.requests, row.conflicts


def of_a_view(it):
    """The sectors of a request that loads along the rows of a turned view."""
    out = np.zeros_like(it.square)
    run = emulate(it.copy_in_turn)[(4, 4), (32, 8)](out, it.square.T)
    return sectors(run, "load")


CLAIMS = {
    "ten times what L2 holds": lambda it: (
        9 < it.src.nbytes / cuda.get_current_device().L2_CACHE_SIZE < 11
    ),
    "one thing changes from row to row, and each time a fifth of the time or": (
        lambda it: all(part > 0.195 for part in steps(it))
    ),
    "Smaller blocks, with as many threads in all": lambda it: (
        it.copies["32 × 8", "1"].warps == it.copies["32 × 32", "1"].warps
    ),
    "a quarter of the blocks and threads": lambda it: (
        4 * it.copies["32 × 8", "4, in turn"].blocks == it.copies["32 × 8", "1"].blocks
    ),
    "the same threads and as many instructions. Only the order differs": lambda it: (
        counted(it.copies["32 × 8", "4, in turn"], "instructions")
        == counted(it.copies[EACH], "instructions")
        and memory_order(it, it.copy_in_turn) == ["LDG", "STG"] * 4
        and memory_order(it, it.make_copy(8, 4)) == ["LDG"] * 4 + ["STG"] * 4
    ),
    "The compiler keeps the order": lambda it: (
        memory_order(it, it.copy_in_turn) == ["LDG", "STG"] * 4
    ),
    "the small block copies nearly as fast as the driver": lambda it: (
        0.97 < it.copies[EACH].share_of_copy < 1
    ),
    "the first one took more than twice as long": lambda it: (
        longer(it.copies["32 × 32", "1"], it.copies[EACH]) > 2
        and it.copies["32 × 32", "1"].share_of_copy < 0.5
    ),
    "sends eight times as many sectors to L2 as the copy does": lambda it: (
        about("8.00", to_l2(it.times["naive"]) / to_l2(it.the_copy))
    ),
    "takes more than seven times as long": lambda it: (
        7 < longer(it.times["naive"], it.the_copy) < 8
    ),
    "sends no more than the copy, and still takes twice as long": lambda it: (
        about("1.00", to_l2(it.times["by rows"]) / to_l2(it.the_copy))
        and about("2.2", longer(it.times["by rows"], it.the_copy))
    ),
    "Here the data path is busy all the time": lambda it: (
        counted(it.times["by rows"], "l1_data_percent") > 95
    ),
    "Rows of 12,288 numbers are whole lines": lambda it: it.N % 32 == 0,
    "Loads and stores now touch four sectors each": lambda it: (
        sectors(it.tiled, "load") == sectors(it.tiled, "store") == 4
    ),
    "a column of a tile with rows of 32 lies in": lambda it: (
        it.tiled.bank_conflicts.by_kind["load"].conflicts
        == 31 * it.tiled.bank_conflicts.by_kind["load"].requests
    ),
    "The first tile loses: it is slower than by rows": lambda it: (
        1.1 < longer(it.times["tile"], it.times["by rows"]) < 1.2
    ),
    "the path is busy for nine tenths of the time": lambda it: (
        about("0.9", counted(it.times["tile"], "l1_data_percent") / 100)
    ),
    "with one element a thread, is to be compared with that first copy": lambda it: (
        it.whole.median_us > it.copies["32 × 32", "1"].median_us
    ),
    "which part of the way is full, no column says": lambda it: all(
        counted(it.times["naive"], name) < 30
        for name in ("l1_data_percent", "l2_percent", "memory_percent")
    ),
    "The 33rd column halves the time, with a few instructions more": lambda it: (
        about("0.5", 1 / longer(it.times["tile"], it.times["padded"]))
        and 1 < instructions(it.times["padded"]) / instructions(it.times["tile"]) < 1.1
    ),
    "with its barrier, costs a copy 6%": lambda it: about(
        "6%", longer(it.through, it.the_copy) - 1
    ),
    "Turning costs 12% more": lambda it: about(
        "12%", longer(it.times["padded"], it.through) - 1
    ),
    "less than a fifth longer than the copy by the same blocks": lambda it: (
        all(1.1 < cost < 1.2 for cost in shape_costs(it))
    ),
    "both take twice as long with one element a thread in 32 × 32 as with four": (
        lambda it: (
            about("2", longer(it.whole, it.times["padded"]))
            and about("2", longer(it.copies["32 × 32", "1"], it.the_copy))
        )
    ),
    "in 32 × 32 is 14% slower than that in 32 × 8; at one each, 28%": lambda it: (
        about("14%", longer(it.copies["32 × 32", "4, at once"], it.the_copy) - 1)
        and about(
            "28%", longer(it.copies["32 × 32", "1"], it.copies["32 × 8", "1"]) - 1
        )
    ),
    "as a sum with a signed number is signed": lambda it: (
        sum_of(uint32, int64) == int64 and sum_of(uint32, uint32) != int64
    ),
    "little more than a third of the instructions": lambda it: (
        0.34
        < instructions(it.times["unsigned"]) / instructions(it.times["padded"])
        < 0.40
    ),
    "the transpose takes 5% less time": lambda it: about(
        "5%", saved(it, "unsigned", "padded")
    ),
    "With 16 bytes a load there are fewer still, and the time stays": lambda it: (
        instructions(it.times["16 bytes"]) < 0.75 * instructions(it.times["unsigned"])
        and abs(saved(it, "16 bytes", "unsigned")) < 0.01
    ),
    "three quarters of the issue slots were empty": lambda it: about(
        "25", counted(it.times["unsigned"], "issue_percent")
    ),
    "Four loads at once, not in turn, saved the copy a quarter of its time": (
        lambda it: about(
            "25%", 1 - longer(it.copies[EACH], it.copies["32 × 8", "4, in turn"])
        )
    ),
    "A tile of 64 × 64 saves 7 to 8%": lambda it: (
        about("7%", 1 - longer(it.sixteen, it.times["unsigned"]))
        and about("8%", saved(it, "64 × 64", "16 bytes"))
    ),
    "it does so with loads of 4 bytes as with those of 16": lambda it: (
        abs(longer(it.sixteen, it.times["64 × 64"]) - 1) < 0.01
    ),
    "a quarter of the blocks and barriers": lambda it: (
        4 * it.sixteen.blocks == it.times["unsigned"].blocks
        and it.sixteen.threads == it.times["unsigned"].threads
    ),
    "With the stores side by side the kernel takes less than 300 µs": lambda it: (
        max(side(it, 1, near=True)) < 300
    ),
    "with the stores far apart more than 310, whatever the loads do": lambda it: (
        min(side(it, 1, near=False)) > 310
    ),
    "For the loads it hardly matters": lambda it: all(
        abs(it.sides["yes", there].median_us - it.sides["no", there].median_us) < 6
        for there in ("yes", "no")
    ),
    "`down` gains 4%": lambda it: about("4%", saved(it, "down", "64 × 64")),
    "6% with the stores far apart, and 2% with": lambda it: (
        about("6%", longer(it.sides["yes", "no"], it.sides["yes", "yes"]) - 1)
        and about("2%", longer(it.sides["no", "yes"], it.sides["yes", "yes"]) - 1)
    ),
    "The last rung takes 2% longer": lambda it: about(
        "2%", 1 / it.times["down"].share_of_copy - 1
    ),
    "The guards cost 4% where the tiles fit": lambda it: about(
        "4%", longer(it.guarded, it.times["unsigned"]) - 1
    ),
    "a matrix with one row and one column less takes 1.5 times as long": lambda it: (
        about("1.5", longer(it.odd, it.guarded))
    ),
    "requests touch more of them, and a fifth more go to L2": lambda it: (
        1.18 < to_l2(it.odd) / to_l2(it.guarded) < 1.23
        and sectors(it.ragged, "load") > 3.5
    ),
    "Its author has tried it where the tiles fit": lambda it: (
        (it.half.shape[0] % it.TILE, it.half.shape[1] % it.TILE) == (0, 0)
    ),
    "That alone does not explain the time": lambda it: (
        longer(it.odd, it.guarded) > 1.2 * to_l2(it.odd) / to_l2(it.guarded)
    ),
    "From padded on, sectors and conflicts are ideal": lambda it: all(
        run.bank_conflicts.conflicts == 0
        and run.coalescing.sectors == run.coalescing.ideal_sectors
        for run in (it.padded, it.large)
    ),
    "What is left to save are instructions, requests and waiting": lambda it: (
        4 * it.large.coalescing.requests == it.padded.coalescing.requests
        and instructions(it.times["unsigned"]) < instructions(it.times["padded"])
    ),
    "Not occupancy: eight such blocks, with their tiles, fit": lambda it: (
        counted(it.times["64 × 64"], "occupancy_percent")
        >= counted(it.times["16 bytes"], "occupancy_percent")
        and fitting(64 * 65) == 8
    ),
    "a block stores where another block loads, and no barrier orders the two": (
        in_place_races
    ),
    "In the emulator's order the answer is even right": lambda it: (
        in_place_races(it, right=True)
    ),
    "nobody is missing at the barrier": lambda it: not it.swapped.barriers,
    "not its traffic, and takes two tiles of a block's shared memory": lambda it: (
        it.swapped.coalescing.sectors == 2 * square_sectors(it) + 2 * diagonal(it)
    ),
    "The small tile takes 4.1 KB, 5.1 with the system's": lambda it: (
        about("4.1", 4 * 32 * 33 / 1024) and fitting(32 * 33) == 8
    ),
    "The large one takes 64.5 KB": lambda it: 4 * 128 * 129 / 1024 == 64.5,
    "so three of them fit into 228 KB: 24 warps of 64": lambda it: (
        fitting(128 * 129) == 3
    ),
    "29 of the 32 in each tile hang over the edge": lambda it: (
        lanes_of_three(it) == 3
    ),
    "a warp's column then takes two wavefronts, the fewest for 256 bytes": lambda it: (
        of_doubles(it) == (2, 0)
    ),
    "along its rows a warp goes down a column of `a`, and touches 32 sectors": (
        lambda it: of_a_view(it) == 32
    ),
}

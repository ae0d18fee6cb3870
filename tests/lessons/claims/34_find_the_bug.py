"""What the lesson says of its wrong kernels, and when it is true."""

import json

import numpy as np
from numba import cuda

from helpers import check, emulate, watch
from tests.on_gpu.hangs import SECONDS, recorded
from tests.on_gpu.race_outcomes import recorded as outcomes
from tests.paths import RECORDED
from thirty_two_lanes.core.errors import BarrierError, NoProgressError

SEEDS = range(4)


def scopes(races):
    """The kinds and scopes of the races that a run reports."""
    return [(race.kind, race.scope) for race in races]


def multiplied(it, width):
    """A run of the product of a matrix and a vector, with a tile of this width."""
    return emulate(it.make_multiply(width))[1, 32](it.out, it.matrix, it.b[:32])


def turned(it, kernel, blocks):
    """A run that makes a negative."""
    out = np.zeros_like(it.image)
    return emulate(kernel)[blocks, (32, 32)](out, it.image)


def thrown(it):
    """The counts of a die's faces that begin with whatever was there."""
    found = np.zeros(6, np.int32)
    emulate(it.throws_wrong)[4, 256](found, it.faces)
    return found


def dotted(it):
    """What the sum that is too small gives, and its run."""
    total = np.zeros(1, np.float32)
    return emulate(it.dot_wrong)[4, 256](total, it.a, it.b), total[0]


def two_products(it):
    """What two threads do to the sum, and what they find and leave there."""
    film = watch(it.dot_wrong)[1, 2](np.zeros(1, np.float32), it.a, it.b)
    found = film.cells("out", 0)
    return [f"{does} {np.float32(value):.9g}" for *_, does, value in found]


def seen(it):
    """The film of the block that has too few samples."""
    out = np.zeros(4, np.float32)
    return watch(it.power_wrong, block=3)[4, 256](out, it.a)


def powered(it, n):
    """A run of the squares with early returns, and which blocks it gets wrong."""
    out = np.zeros(4, np.float32)
    a = np.append(it.a, it.a)[:n]
    run = emulate(it.power_wrong)[4, 256](out, a)
    padded = np.pad(a, (0, 1024 - n)).reshape(4, 256)
    return run, np.flatnonzero(~np.isclose(out, (padded**2).sum(axis=1))).tolist()


def peaked(it, n):
    """A run of the maxima without barriers, and how many it gets wrong."""
    out = np.zeros(n, np.float32)
    run = emulate(it.peaks_wrong)[1, n](out, it.a[:n])
    return run, int((out != np.maximum.accumulate(it.a[:n])).sum())


def lived(it):
    """The cells that each seed gets wrong."""
    worlds = [it.start.copy() for _ in SEEDS]
    for seed, world in zip(SEEDS, worlds, strict=True):
        emulate(it.live_wrong, seed=seed)[(2, 2), (16, 16)](world)
    return [int((world != it.following).sum()) for world in worlds]


def shared_out(it, kernel, blocks, n):
    """The sum of all shares by each seed, and the races."""
    sums, races = [], []
    for seed in SEEDS:
        out, total = np.zeros(n, np.float32), np.zeros(1, np.float32)
        run = emulate(kernel, seed=seed)[blocks, 256](out, total, it.a[:n])
        sums.append(float(out.sum()))
        races += run.races
    return sums, races


def stopped(it, n):
    """What the launch with a barrier in each branch stops with; "" if it does not."""
    try:
        emulate(it.smooth_wrong)[1, 256](np.zeros(n, np.float32), it.a[:n])
    except BarrierError as error:
        return str(error)
    return ""


def warned(it, kernel, kind):
    """The lines of a kernel's source that a warning of a kind speaks of."""
    height, speed = np.ones((2, 1000), np.float32)
    run = emulate(kernel)[4, 256](height, speed)
    return [w.text for w in run.warnings if w.kind == kind]


def kinds_of(kernel, *arrays):
    """The kinds of warnings of a launch of four blocks."""
    return [w.kind for w in emulate(kernel)[4, 256](*arrays).warnings]


def in_float64(it):
    """The fixed kernels that compute in float64."""
    total, world = np.ones(1, np.float32), np.zeros_like(it.start)
    pixels = np.zeros_like(it.image)
    new = np.zeros(1000, np.float32)
    runs = {
        "changes": emulate(it.changes)[4, 256](new[1:], it.a),
        "dot": emulate(it.dot)[4, 256](total, it.a, it.b),
        "negative": emulate(it.negative)[(3, 2), (32, 32)](pixels, it.image),
        "throws": emulate(it.throws)[4, 256](np.zeros(6, np.int32), it.faces),
        "power": emulate(it.power)[4, 256](np.zeros(4, np.float32), it.a),
        "peaks": emulate(it.peaks)[1, 64](new[:64], it.a[:64]),
        "live": emulate(it.live)[(2, 2), (16, 16)](world, it.start),
        "add_up": emulate(it.add_up)[4, 256](total, it.a),
        "divide": emulate(it.divide)[4, 256](new, total, it.a),
        "smooth": emulate(it.smooth)[1, 256](new[:200], it.a[:200]),
    }
    return [
        name
        for name, run in runs.items()
        if "float64" in [warning.kind for warning in run.warnings]
    ]


def narrowed(it):
    """The kinds of warnings of a sum of squares that an int32 is to hold, and of one
    that an int64 is.
    """
    runs = [
        emulate(it.energy)[2, 32](np.zeros(40, kind), it.samples)
        for kind in (np.int32, np.int64)
    ]
    return ["overflow" in [w.kind for w in run.warnings] for run in runs]


def as_launched(it, kernel, *launch):
    """Two products by one kernel: its report's races, as lines of the source."""
    run = emulate(kernel)[launch](np.zeros(1, np.float32), it.a, it.b)
    return {line for race in run.races for line in (race.first.line, race.second.line)}


@cuda.jit
def any_above(found, a):
    """All threads with a large element store the same."""
    i = cuda.grid(1)
    if i < a.size and a[i] > 0.5:
        found[0] = 1


@cuda.jit
def wait_for_nobody(flag):
    """Repeat a loop in which nothing changes."""
    while flag[0] == 0:
        pass


def short_of_a_block(it, before):
    """The differences by three blocks, what is found, and what `check` says."""
    out = np.full(999, before, np.float32)
    run = emulate(it.changes)[3, 256](out, it.a)
    found = [run.races, run.races.minor, run.uninitialised, run.barriers]
    try:
        return out, sum(map(len, found)), str(check(out, np.diff(it.a)))
    except AssertionError as error:
        return out, sum(map(len, found)), str(error)


def minor(kernel, *launch):
    """What is said of the minor races of a launch."""
    blocks, threads, *arguments = launch
    races = emulate(kernel)[blocks, threads](*arguments).races
    return [str(race) for race in races.minor]


def dots(it, a, b):
    """A dot product by each seed."""
    totals = np.zeros((len(SEEDS), 1), np.float32)
    for seed in SEEDS:
        emulate(it.dot, seed=seed)[4, 256](totals[seed], a, b)
    return {float(total) for total in totals[:, 0]}


def sanitized(name):
    """What each of compute-sanitizer's tools reported of a kernel of the zoo."""
    text = (RECORDED / "sanitizer.json").read_text("utf-8")
    tools = json.loads(text)["kernels"][name]["tools"]
    return {tool: len(it["reports"]) for tool, it in tools.items()}


def no_progress():
    """Does the emulator stop a loop in which nothing changes?"""
    try:
        emulate(wait_for_nobody)[1, 32](np.zeros(1, np.int32))
    except NoProgressError as error:
        return "no progress" in str(error)


CLAIMS = {
    "The report finds nothing wrong: each of 768 threads did as it was told. Nobody "
    "made the last 231 results. In an array full of NaN they are NaN, and `check` asks "
    "whether the grid is a block short. In the old array it finds every value right": (
        lambda it: (
            (3 * 256, 999 - 3 * 256) == (768, 231)
            and short_of_a_block(it, np.nan)[1] == 0
            and np.isnan(short_of_a_block(it, np.nan)[0]).sum() == 231
            and "is the grid a block short?" in short_of_a_block(it, np.nan)[2]
            and "999 values agree" in short_of_a_block(it, np.diff(it.a))[2]
        )
    ),
    "The report names most such faults though nothing went wrong": lambda it: (
        any(
            "all store 1" in each
            for each in minor(any_above, 4, 256, np.zeros(1), it.a)
        )
        and not emulate(any_above)[4, 256](np.zeros(1), it.a).races
    ),
    "two warps without their barrier were right in 1,000 of 1,000 launches on an "
    "H200. Where the compiler knew the array's size, half were wrong": lambda it: (
        outcomes()["launches"] == 1000
        and outcomes()["wrong"]["rotate_wrong 64"] == 0
        and 450 < outcomes()["wrong"]["rotate_by_a_constant 64"] < 550
    ),
    "`dot` gives other last digits with another seed, and has no race": lambda it: (
        len(dots(it, it.a, it.b)) > 1 and not as_launched(it, it.dot, 4, 256)
    ),
    "take whole numbers so small that no sum rounds, up to 2^24 in "
    "float32": lambda it: (
        len(dots(it, np.round(100 * it.a), np.round(100 * it.b))) == 1
        and 1000 * 100**2 < 2**24 == np.float32(2**24 + 1)
    ),
    "but in shared memory only, and not where all store the same": lambda it: (
        [
            sanitized(name)["racecheck"]
            for name in ("halo_barrier0", "raw_in_the_grid", "all_write_the_same")
        ]
        == [1, 0, 0]
    ),
    "None of the four knows that a grid is too short": lambda it: (
        sorted(sanitized("grid_too_short")) == sorted(sanitized("halo_barrier0"))
        and len(sanitized("grid_too_short")) == 4
        and not any(sanitized("grid_too_short").values())
    ),
    "repeat a loop in which nothing changes, it stops": lambda it: no_progress(),
    "Thread 231 of block 3 has element 3 · 256 + 231 = 999": lambda it: (
        3 * 256 + 231 == it.a.size - 1 == 999
    ),
    "This one names the same line twice: a thread loads `out[0]` there, and a thread "
    "of another block stores to it": lambda it: (
        dotted(it)[0].races[0].first.line == dotted(it)[0].races[0].second.line
        and dotted(it)[0].races[0].scope == "grid"
        and dotted(it)[1] < it.a @ it.b / 100
    ),
    "Both load 0, then both store, and what stays here is the product of thread 1": (
        lambda it: (
            two_products(it)
            == ["loads 0"] * 2 + [f"stores {it.a[1] * it.b[1]:.9g}"] * 2
        )
    ),
    "The report has three more races of this line: between warps of a block, and of "
    "stores with stores. They have one cause, so one `cuda.atomic.add` removes all "
    "four": (
        lambda it: (
            scopes(dotted(it)[0].races)
            == [("WAR", "grid"), ("WAW", "grid"), ("WAR", "block"), ("WAW", "block")]
            and len(as_launched(it, it.dot_wrong, 4, 256)) == 1
            and not as_launched(it, it.dot, 4, 256)
        )
    ),
    "32 sectors a request, where one would do": lambda it: (
        [
            turned(it, kernel, blocks).coalescing.by_kind["load"].sectors
            / turned(it, kernel, blocks).coalescing.by_kind["load"].requests
            for kernel, blocks in ((it.negative_wrong, (2, 3)), (it.negative, (3, 2)))
        ]
        == [32, 1]
    ),
    "Four blocks have 6 counts each, and the report's 24 cells are all of them": (
        lambda it: (
            emulate(it.throws_wrong)[4, 256](np.zeros(6, np.int32), it.faces)
            .uninitialised[0]
            .count
            == 4 * 6
        )
    ),
    "each count is 4 · 205 = 820 too large": lambda it: (
        set(thrown(it) - np.bincount(it.faces)) == {820} and 4 * 205 == 820
    ),
    "Right for 1,024 samples, wrong for 1,000": lambda it: (
        [powered(it, n)[1] for n in (1024, 1000)] == [[], [3]]
    ),
    "24 threads missed the barrier, and 24 cells were read that nobody wrote. They are "
    "the cells of those threads": (
        lambda it: (
            [each.threads for each in powered(it, 1000)[0].barriers]
            == [each.count for each in powered(it, 1000)[0].uninitialised]
            == [24]
        )
    ),
    "thread 104 loads cell 232, and nobody has stored to it": lambda it: (
        [row[3:] for row in seen(it).cells("tile", 232)] == [(104, "loads", None)]
    ),
    "So thread 33 has loaded cell 1 before thread 1 stores to it": lambda it: (
        [row[3:5] for row in it.film.cells("tile", 1)][:2]
        == [(33, "loads"), (1, "stores")]
    ),
    "warp 1 finish before warp 0 begins": lambda it: (
        [step["w"] for step in it.film.record()["steps"]]
        == sorted([step["w"] for step in it.film.record()["steps"]], reverse=True)
    ),
    "With 32 threads there is one warp, the answer is right, and the report still "
    "lists three races within a warp": lambda it: (
        (peaked(it, 32)[1], len(peaked(it, 32)[0].races.minor)) == (0, 3)
        and not peaked(it, 32)[0].races
        and peaked(it, 64)[1] > 0
    ),
    "An answer that changes with the seed": lambda it: (
        len(set(lived(it))) > 1 and min(lived(it)) > 0
    ),
    "the advice for the first is a barrier, but the second is between blocks": (
        lambda it: (
            scopes(emulate(it.live_wrong)[(2, 2), (16, 16)](it.start.copy()).races)
            == [("WAR", "block"), ("WAR", "grid")]
        )
    ),
    "With two of the four seeds, some blocks divided by a total that was not": (
        lambda it: (
            [total > 2 for total in shared_out(it, it.shares_wrong, 4, 1000)[0]]
            == [False, True, False, True]
        )
    ),
    "Launch one block, for 250 elements, and all sums are 1 but for rounding": (
        lambda it: np.allclose(shared_out(it, it.shares_wrong, 1, 250)[0], 1)
    ),
    "It finds no race, and the sums are wrong with two of the four seeds": lambda it: (
        not shared_out(it, it.shares_still_wrong, 4, 1000)[1]
        and sum(
            total > 1.1
            for total in shared_out(it, it.shares_still_wrong, 4, 1000)[0]
        )
        == 2
    ),
    "One of the fixed kernels above has a float64 by Numba's types, too": lambda it: (
        in_float64(it) == ["smooth"]
    ),
    "And `a[i] / a.size` would be a float64": lambda it: (
        "float64" in kinds_of(it.average, np.zeros(1, np.float32), it.a)
    ),
    "threads 0 to 199 at one barrier, 200 to 255 at the other": lambda it: (
        "reached by 56 of the 256 threads" in stopped(it, 200)
        and "threads 0 to 199 wait" in stopped(it, 200)
        and 199 // 32 == 200 // 32
    ),
    "in which each half of a warp comes to a barrier of its own, came to its end. "
    "Another, with a barrier of the grid to which not all blocks come, had not ended "
    "after 20 seconds": lambda it: (
        "CUDA leaves open" in stopped(it, 200)
        and recorded()["two_barriers_in_a_warp"] == "by itself"
        and recorded()["grid_barrier_in_a_branch"] == "not"
        and SECONDS == 20
    ),
    "The report names both lines": lambda it: (
        "as line" in warned(it, it.fall_wrong, "float64")[0]
        and not warned(it, it.fall, "float64")
    ),
    "No sum of squares is negative, but some of these are": lambda it: (
        it.narrow.min() < 0 < it.wide.min()
    ),
    "The store to an `int32` keeps its last 32 bits": lambda it: (
        narrowed(it) == [True, False]
        and np.array_equal(it.narrow, it.wide.astype(np.int32))
    ),
    "theirs are 32 words apart, in one bank. With 33, they are in 32 banks": (
        lambda it: (
            [multiplied(it, width).bank_conflicts.conflicts for width in (32, 33)]
            == [992, 0]
        )
    ),
}

"""What the lesson says of its wrong kernels, and when it is true."""

import numpy as np
from numba import cuda, float32

from helpers import emulate, watch
from thirty_two_lanes.core.errors import BarrierError

SEEDS = range(4)


@cuda.jit
def atomic_shares(out, total, a):
    """Each thread adds to the total, waits, and divides by what an atomic loads."""
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(total, 0, a[i])
    cuda.syncthreads()
    if i < a.size:
        out[i] = a[i] / cuda.atomic.add(total, 0, float32(0))


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


def narrowed(it):
    """The kinds of warnings of a sum of squares that an int32 is to hold, and of one
    that an int64 is.
    """
    runs = [
        emulate(it.energy)[2, 32](np.zeros(40, kind), it.samples)
        for kind in (np.int32, np.int64)
    ]
    return ["overflow" in [w.kind for w in run.warnings] for run in runs]


CLAIMS = {
    "Thread 231 of block 3 has element 3 · 256 + 231 = 999": lambda it: (
        3 * 256 + 231 == it.a.size - 1 == 999
    ),
    "Both lines of this one are the same line, and both threads are at the same cell": (
        lambda it: (
            dotted(it)[0].races[0].first.line == dotted(it)[0].races[0].second.line
            and dotted(it)[1] < it.a @ it.b / 100
        )
    ),
    "both load 0, then both store, and value is what the cell holds after that: the "
    "product of thread 1": (
        lambda it: (
            two_products(it)
            == ["loads 0"] * 2 + [f"stores {it.a[1] * it.b[1]:.9g}"] * 2
        )
    ),
    "The report has three more races, for the same line: between warps of a block, and "
    "stores against stores": lambda it: (
        scopes(dotted(it)[0].races)
        == [("WAR", "grid"), ("WAW", "grid"), ("WAR", "block"), ("WAW", "block")]
    ),
    "12,288 sectors, where 384 would do": lambda it: (
        [
            turned(it, it.negative_wrong, (2, 3)).coalescing.sectors,
            turned(it, it.negative, (3, 2)).coalescing.sectors,
        ]
        == [12_288, 384]
    ),
    "the report's 24 cells are all of them": lambda it: (
        emulate(it.throws_wrong)[4, 256](np.zeros(6, np.int32), it.faces)
        .uninitialised[0]
        .count
        == 4 * 6
    ),
    "each count is 4 · 205 = 820 too large": lambda it: (
        set(thrown(it) - np.bincount(it.faces)) == {820} and 4 * 205 == 820
    ),
    "With 1,024 samples all four sums are right": lambda it: (
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
    "Thread 33 has loaded cell 1 before thread 1 stores to it": lambda it: (
        [row[3:5] for row in it.film.cells("tile", 1)][:2]
        == [(33, "loads"), (1, "stores")]
    ),
    "warp 1 finish before warp 0 begins": lambda it: (
        [step["w"] for step in it.film.record()["steps"]]
        == sorted([step["w"] for step in it.film.record()["steps"]], reverse=True)
    ),
    "thread 104 loads cell 232, and nobody has stored to it": lambda it: (
        [row[3:] for row in seen(it).cells("tile", 232)] == [(104, "loads", None)]
    ),
    "With 32 threads there is one warp, the answer is right, and the report still "
    "lists three minor races": lambda it: (
        (peaked(it, 32)[1], len(peaked(it, 32)[0].races.minor)) == (0, 3)
        and not peaked(it, 32)[0].races
        and peaked(it, 64)[1] > 0
    ),
    "An answer that changes with the seed": lambda it: (
        len(set(lived(it))) > 1 and min(lived(it)) > 0
    ),
    "The advice for the first is a barrier, but the second is between blocks": (
        lambda it: (
            scopes(emulate(it.live_wrong)[(2, 2), (16, 16)](it.start.copy()).races)
            == [("WAR", "block"), ("WAR", "grid")]
        )
    ),
    "For one block all sums are 1 but for rounding; for four, two of the four seeds "
    "give more than 2": lambda it: (
        np.allclose(shared_out(it, it.shares_wrong, 1, 250)[0], 1)
        and [total > 2 for total in shared_out(it, it.shares_wrong, 4, 1000)[0]]
        == [False, True, False, True]
    ),
    "With an atomic load there is no race, but the load may still come too early, and "
    "the sums stay wrong": lambda it: (
        not shared_out(it, atomic_shares, 4, 1000)[1]
        and max(shared_out(it, atomic_shares, 4, 1000)[0]) > 1.1
    ),
    "Threads 0 to 199 wait at one barrier, 200 to 255 at the other": lambda it: (
        "reached by 56 of the 256 threads" in stopped(it, 200)
        and "threads 0 to 199 wait" in stopped(it, 200)
        and 199 // 32 == 200 // 32
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

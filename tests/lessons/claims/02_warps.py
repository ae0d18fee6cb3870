"""What the lesson says of its measurements, and when it is true.

Not held: that `look_wrong` does not end, which was tried on an H200.
"""

import numpy as np

from helpers import assemble, emulate
from helpers.assembly.compiler import missing
from helpers.core.hardware import H200
from tests.lessons.claims import about

TURN = "a busy arithmetic unit", "its turn to issue"
MEMORY = "global or local memory"
CHOICE = "if number % 2 == 0 else"


def ratio(runs):
    """How many times as many instructions the first of two runs takes."""
    first, second = (run.divergence.instructions for run in runs)
    return first / second


def slower(measured):
    first, second = (m.median_us for m in measured)
    return first / second


def counted(it, name):
    """A counter of the kernel that parts by thread, and of the other."""
    return [m.counters[name] for m in it.times]


def copied(it, threads):
    """The active share of a copy in blocks of so many threads."""
    a = np.ones(4 * threads, np.float32)
    run = emulate(it.double)[4, threads](np.zeros_like(a), a)
    return run.divergence.active_share


def by_row(it, grid, block):
    run = emulate(it.part_by_row)[grid, block](it.square_out, it.square)
    return run.divergence


def branches_of_the_choice(it):
    """The branches among the machine instructions of the conditional expression."""
    made = assemble(it.count_steps)[8, 128](it.steps, it.numbers, 0)
    code = it.count_steps.py_func.__code__
    lines = open(code.co_filename, encoding="utf-8").read().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if CHOICE in text)
    return [name for name in made.by_line[line] if name in ("BRA", "BSSY")]


def meetings(it):
    made = assemble(it.part_by_thread)[32, 128](it.by_thread, it.halves)
    return made.opcodes["BSYNC"]


CLAIMS = {
    "Both send as many threads down each branch": lambda it: (
        2 * sum(i % 2 == 0 for i in range(it.N))
        == it.N
        == 2 * sum(i // 32 % 2 == 0 for i in range(it.N))
    ),
    "and give the same values in another order": lambda it: (
        np.array_equal(np.sort(it.by_thread), np.sort(it.by_warp))
        and not np.array_equal(it.by_thread, it.by_warp)
    ),
    "Yet one of them executes twice as many instructions": lambda it: (
        1.98 < ratio([it.divided, it.together]) <= 2
    ),
    "48 threads fill 48 of 64 lanes, three quarters": lambda it: (
        0.75 == it.counted[0].divergence.active_share == copied(it, 48)
    ),
    "so the same numbers take 4/3 of the instructions": lambda it: (
        abs(ratio(it.counted) - 4 / 3) < 1e-4
    ),
    "The H200 takes 1.33 times as long": lambda it: about("1.33", slower(it.timed)),
    "four of them on an H200": lambda it: H200.multiprocessor.partitions == 4,
    "Inside the `if` it is one half": lambda it: (
        {0.5} == {v for k, v in it.shares(it.divided).items() if "value *" in k}
    ),
    "so it takes 1.99 times as many instructions": lambda it: (
        about("1.99", ratio([it.divided, it.together]))
    ),
    "`part_by_thread` takes 1.98 times as long": lambda it: (
        about("1.98", slower(it.times))
    ),
    "It executes 1.96 times as many instructions for `part_by_thread`": lambda it: (
        about("1.96", np.divide(*counted(it, "instructions")))
    ),
    "it issues an instruction in 78 to 79% of its issue slots": lambda it: (
        ["78", "79"] == [f"{share:.0f}" for share in counted(it, "issue_percent")]
    ),
    "Warps wait for their turn to issue and for busy arithmetic units": lambda it: all(
        set(TURN) == set([*m.waits][:2]) and sum(m.waits[it_] for it_ in TURN) > 0.85
        for m in it.times
    ),
    "hardly ever for memory": lambda it: all(
        m.waits.get(MEMORY, 0) <= 0.02 for m in it.times
    ),
    "Less than half of the lanes take part in the loop": lambda it: (
        it.shares(it.mixed)["while number > 1:"] < 0.5
    ),
    "half the instructions when walks of one length share a warp": lambda it: (
        1.9 < ratio([it.mixed, it.tidy]) < 2.1
    ),
    "the H200 executes 2.08 times as many for the mixed order": lambda it: about(
        "2.08", np.divide(*(m.counters["instructions"] for m in it.walks))
    ),
    "and takes 1.84 times as long": lambda it: about("1.84", slower(it.walks)),
    "In 16 × 16 each warp holds an even row and an odd one": lambda it: (
        by_row(it, (4, 4), (16, 16)).splits == 16 * 8
    ),
    "In a block 32 wide a row is a warp, and no lane waits": lambda it: (
        by_row(it, (2, 8), (32, 8)).active_share == 1
    ),
    "Along one axis a guard splits at most one warp": lambda it: (
        it.line.divergence.splits == 1
    ),
    "Another three of the 128 have no element": lambda it: (
        128 - -(-it.flat.size // 32) == 3
    ),
    "one warp of each row is split, 250 in all": lambda it: (
        it.wide.divergence.splits == it.matrix.shape[0] == 250
    ),
    "Blocks of 16 × 16 split none": lambda it: it.fits.divergence.splits == 0,
    "Even with 250 split warps, 98% of the lanes take part": lambda it: (
        about("98%", it.wide.divergence.active_share)
    ),
    "after five steps lane 0 holds the sum of all 32": lambda it: np.allclose(
        it.sums, np.where(it.rows > 0.7, it.rows, 0).sum(axis=1), rtol=1e-5
    ),
    "16 of 32 lanes are one half": lambda it: copied(it, 16) == 0.5,
    "96 threads are three full warps, so all of them": lambda it: copied(it, 96) == 1,
    "that line has no branch in its machine code": lambda it: (
        missing() or branches_of_the_choice(it) == []
    ),
    "one `BSYNC` in `part_by_thread`": lambda it: missing() or meetings(it) == 1,
}

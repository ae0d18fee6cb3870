"""What the lesson says of its measurements, and when it is true.

Not held: that `look_wrong` does not end, which was tried on an H200.
"""

import linecache

import numpy as np
from numba import cuda

from helpers import assemble, emulate, exercise
from tests.lessons.claims import about
from thirty_two_lanes.assembly.compiler import missing

TURN = "a busy arithmetic unit", "a turn to issue"
MEMORY = "global or local memory"
MULTIPROCESSORS = 132  # of the H200 that was recorded
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


@cuda.jit
def shuffled(out, step):
    out[cuda.laneid] = cuda.shfl_down_sync(0xFFFFFFFF, cuda.laneid, step)


def seen_from(it, step):
    """The lane whose value each lane gets from a shuffle by so many."""
    out = np.zeros(32, np.int32)
    emulate(shuffled)[1, 32](out, step)
    return out.tolist()


def copied(it, threads):
    """The active share of a copy in blocks of so many threads."""
    a = np.ones(4 * threads, np.float32)
    run = emulate(it.double)[4, threads](np.zeros_like(a), a)
    return run.divergence.active_share


def by_row(it, grid, block):
    run = emulate(it.part_by_row)[grid, block](it.square_out, it.square)
    return run.divergence


def splits_at(it, rows, cols):
    """The warps that the guard splits in blocks of 16 × 16."""
    a = np.ones((rows, cols), np.float32)
    grid = -(-cols // 16), -(-rows // 16)
    run = emulate(it.double_2d)[grid, (16, 16)](np.zeros_like(a), a)
    return run.divergence.splits


def active(it, run, text):
    """The active share of a line that contains a text."""
    return next(share for line, share in it.shares(run).items() if text in line)


def without_the_choice(run):
    """The active share of all lines but the conditional expression."""
    rows = [row for at, row in run.divergence.by_line.items() if CHOICE not in at.text]
    lanes, slots = (
        sum(getattr(row, name) for row in rows)
        for name in ("active_lanes", "instructions")
    )
    return lanes / (32 * slots)


def per_branch(run):
    """The lanes' rounds in the loop of each branch of a kernel that parts."""
    rows = run.divergence.by_line.items()
    return [row.active_lanes for at, row in rows if at.text.startswith("for ")]


def schedulers(m):
    """Instructions that a multiprocessor could issue in a cycle, by the counters."""
    issued = m.counters["instructions"] / MULTIPROCESSORS / m.counters["cycles"]
    return issued / m.counters["issue_percent"] * 100


def without_warps(m):
    """The share of the cycles in which a multiprocessor has no warp, by the counters:
    `issue_percent` leaves those cycles out.
    """
    slots = m.counters["cycles"] * MULTIPROCESSORS * 4
    return 1 - m.counters["instructions"] / slots / m.counters["issue_percent"] * 100


def sectors_of(task, text):
    """The sectors that a solution of `two_ways` touches."""
    a = np.ones(256, np.float32)
    run = emulate(task.kernel(text))[4, 64](np.zeros_like(a), a)
    return run.coalescing.sectors


def answer_and_given():
    task = exercise("two_ways")
    return [sectors_of(task, text) for text in (task.answer_text, task.given_text)]


def machine_code_of_the_choice(it):
    """The machine instructions of the conditional expression, by name."""
    made = assemble(it.count_steps)[8, 128](it.steps, it.numbers, 0)
    code = it.count_steps.py_func.__code__
    lines = linecache.getlines(code.co_filename)
    line = next(n for n, text in enumerate(lines, 1) if CHOICE in text)
    return set(made.by_line[line])


def meetings(it):
    made = assemble(it.part_by_thread)[32, 128](it.by_thread, it.halves)
    return made.opcodes["BSYNC"]


def lanes_in(film):
    """How many lanes take part in each step of a film."""
    return [step["m"].bit_count() for step in film.record()["steps"]]


CLAIMS = {
    "Both send the same number of threads down each branch": lambda it: (
        1 == len({*per_branch(it.divided), *per_branch(it.together)})
        and 2 == len(per_branch(it.divided)) == len(per_branch(it.together))
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
    "four of them on an H200": lambda it: all(
        abs(schedulers(m) - 4) < 0.05 for m in it.times + it.timed
    ),
    "Inside the `if` it is one half": lambda it: (
        {0.5} == {v for k, v in it.shares(it.divided).items() if "value *" in k}
    ),
    "so it takes 1.99 times as many instructions": lambda it: about(
        "1.99", ratio([it.divided, it.together])
    ),
    "`part_by_thread` takes 1.98 times as long": lambda it: about(
        "1.98", slower(it.times)
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
    "Over all 32 warps, less than half of the lanes take part in the loop": lambda it: (
        it.shares(it.mixed)["while number > 1:"] < 0.5
    ),
    "even numbers are halved, odd ones tripled": lambda it: (
        active(it, it.mixed, CHOICE) < 0.8 * active(it, it.mixed, "steps += 1")
    ),
    "this one 204, with 38% of its lanes on average": lambda it: (
        it.steps[:32].max() == 204
        and about("38%", it.steps[:32].mean() / it.steps[:32].max())
    ),
    "half the instructions when numbers that need equally many steps": lambda it: (
        1.9 < ratio([it.mixed, it.tidy]) < 2.1
    ),
    "95% of the lanes now take part in the loop": lambda it: about(
        "95%", active(it, it.tidy, "while number")
    ),
    "the share is 0.784 because the emulator counts `a if c else b` as two": (
        lambda it: (
            about("0.784", it.tidy.divergence.active_share)
            and without_the_choice(it.tidy) > 0.94
        )
    ),
    "5% more rounds than its lanes need": lambda it: about(
        "5%", 1 / active(it, it.tidy, "while number") - 1
    ),
    "many still differ in `a if c else b`": lambda it: (
        active(it, it.tidy, CHOICE) < 0.75
    ),
    "the H200 executes 2.08 times as many instructions for the mixed": lambda it: about(
        "2.08", np.divide(*(m.counters["instructions"] for m in it.walks))
    ),
    "but takes only 1.84 times as long": lambda it: about("1.84", slower(it.walks)),
    "no warp to run in 15% of the cycles, instead of 5%": lambda it: (
        ["5", "15"] == [f"{100 * without_warps(m):.0f}" for m in it.walks]
    ),
    "In 16 × 16 each warp holds an even row and an odd one": lambda it: (
        by_row(it, (4, 4), (16, 16)).splits == 16 * 8
    ),
    "In a block 32 wide a row is a warp, and no lane waits": lambda it: (
        by_row(it, (2, 8), (32, 8)).active_share == 1
    ),
    "Along one axis a guard splits at most one warp": lambda it: (
        it.line.divergence.splits == 1
    ),
    "Three of the 128 warps have no element at all": lambda it: (
        3 == 128 - it.line.coalescing.by_kind["store"].requests
    ),
    "one warp of each row is split, 250 in all": lambda it: (
        it.wide.divergence.splits == it.matrix.shape[0] == 250
    ),
    "Blocks of 16 × 16 split none": lambda it: it.fits.divergence.splits == 0,
    "400 is a multiple of 16, and 250 of two": lambda it: (  # one more of either splits
        [25, 125] == [splits_at(it, *shape) for shape in ((251, 400), (250, 401))]
    ),
    "Even with 250 split warps, 98% of the lanes take part": lambda it: about(
        "98%", it.wide.divergence.active_share
    ),
    "After five steps lane 0 holds the sum of all 32": lambda it: np.allclose(
        it.sums, np.where(it.rows > 0.7, it.rows, 0).sum(axis=1), rtol=1e-5
    ),
    "from beyond lane 31 a lane gets its own value": lambda it: (
        [*range(16, 32)] * 2 == seen_from(it, 16)
    ),
    "16 of 32 lanes are one half": lambda it: copied(it, 16) == 0.5,
    "96 threads are three full warps, so all of them": lambda it: copied(it, 96) == 1,
    "compute both values and select one (`SEL`)": lambda it: (
        missing() or "SEL" in machine_code_of_the_choice(it)
    ),
    "that line has no branch in its machine code": lambda it: (
        missing() or not {"BRA", "BSSY", "BSYNC"} & machine_code_of_the_choice(it)
    ),
    "which costs sectors": lambda it: np.greater(*answer_and_given()),
    "one `BSYNC` in `part_by_thread`": lambda it: missing() or meetings(it) == 1,
    "the 8 lanes of 3 go on alone, to round 7": lambda it: (
        (7, 8) == (len(it.film.value("steps", 2)) - 1, min(lanes_in(it.film)))
    ),
    "Then all 32 lanes store together": lambda it: 32 == lanes_in(it.film)[-1],
}

"""What the lesson says of its measurements, and when it is true.

Not held: that `look_wrong` does not end, which was tried on an H200.
"""

import linecache

import numpy as np
from numba import cuda

from helpers import assemble, emulate, exercise
from helpers.measuring import recordings
from tests.lessons.claims import about
from thirty_two_lanes.assembly.compiler import missing

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


def pair(it, steps):
    """The kernel that parts by thread, and the other, with so many steps."""
    return [it.times[part, steps] for part in ("by thread", "by warp")]


def counted(it, name, steps=256):
    """A counter of the kernel that parts by thread, and of the other."""
    return [m.counters[name] for m in pair(it, steps)]


def doing_nothing(m):
    """The time of the kernel of lesson 1 that does nothing, in the same launch."""
    (values,) = (
        values
        for known, values in recordings.forms()
        if known.kernel == "do_nothing" and known.launch == m.form.launch
    )
    return values["median_us"]


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


def guarded(it, cols):
    """The instructions for rows of so many columns, in blocks 32 wide."""
    a = np.ones((250, cols), np.float32)
    grid = -(-cols // 32), 32
    run = emulate(it.double_2d)[grid, (32, 8)](np.zeros_like(a), a)
    return run.divergence.instructions


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


def counting(it):
    """The machine instructions of the first `for`, for each of its body."""
    made = assemble(it.part_by_thread)[32, 128](it.by_thread, it.halves, 256)
    code = it.part_by_thread.py_func.__code__
    lines = linecache.getlines(code.co_filename)
    start = code.co_firstlineno
    first = next(n for n in range(start, len(lines)) if "for _" in lines[n - 1])
    of = {line: sum(found.values()) for line, found in made.by_line.items()}
    return of[first] / of[first + 1]


def meetings(it):
    made = assemble(it.part_by_thread)[32, 128](it.by_thread, it.halves, 256)
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
    "In blocks of 48, three quarters of the lanes have a thread": lambda it: (
        0.75 == it.counted[0].divergence.active_share == copied(it, 48)
    ),
    "So the blocks of 48 need 4/3 of the warps, and of the instructions": lambda it: (
        abs(ratio(it.counted) - 4 / 3) < 1e-4
    ),
    "The GPU takes a third longer, too": lambda it: (
        1.32 < slower(it.timed) < 1.35
    ),
    "four of them on an H200": lambda it: all(
        abs(schedulers(m) - 4) < 0.05 for m in pair(it, 256) + it.timed
    ),
    "Inside the `if` it is one half": lambda it: (
        {0.5} == {v for k, v in it.shares(it.divided).items() if "value *" in k}
    ),
    "the two loops are executed twice as often as they need to be": lambda it: (
        1.98 < ratio([it.divided, it.together]) <= 2
    ),
    "`part_by_thread` takes twice as long": lambda it: (
        1.95 < slower(pair(it, 256)) < 2.05
    ),
    "since the GPU executes twice as many instructions for each warp": lambda it: (
        1.95 < np.divide(*counted(it, "instructions")) < 2.05
    ),
    "the schedulers use as many of their slots": lambda it: (
        abs(np.subtract(*counted(it, "issue_percent"))) < 1
    ),
    "with a single step `part_by_thread` executes 30% more instructions, and takes "
    "only 5% longer": lambda it: (
        about("1.3", np.divide(*counted(it, "instructions", 1)))
        and about("1.05", slower(pair(it, 1)))
    ),
    "both take hardly longer than a kernel that does nothing": lambda it: all(
        m.median_us < 1.08 * doing_nothing(m) for m in pair(it, 1)
    ),
    "most of the further instructions go into slots that `part_by_warp` leaves empty": (
        lambda it: np.subtract(*counted(it, "issue_percent", 1)) > 10
    ),
    "for two thirds of them fewer than half of its lanes are left": lambda it: (
        0.64 < 1 - np.sort(it.steps[:32])[16] / it.steps[:32].max() < 0.7
    ),
    "Sorting halves the instructions": lambda it: (
        1.9 < ratio([it.mixed, it.tidy]) < 2.1
    ),
    "95% of the lanes take part in the loop": lambda it: about(
        "95%", active(it, it.tidy, "while number")
    ),
    "The share over all lines is lower because the emulator counts `a if c else b`": (
        lambda it: (
            it.tidy.divergence.active_share < 0.8
            and without_the_choice(it.tidy) > 0.94
        )
    ),
    "the H200 executes 2.08 times as many instructions for the mixed": lambda it: about(
        "2.08", np.divide(*(m.counters["instructions"] for m in it.walks))
    ),
    "but takes only 1.84 times as long": lambda it: about("1.84", slower(it.walks)),
    "no warp to run in 14% of the cycles, instead of 7%": lambda it: (
        ["7", "14"] == [f"{100 * without_warps(m):.0f}" for m in it.walks]
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
    "In blocks of 16 × 16 none is": lambda it: it.fits.divergence.splits == 0,
    "A lane that asks beyond the last one gets its own value back": lambda it: (
        [*range(16, 32)] * 2 == seen_from(it, 16)
    ),
    "96 threads are three full warps, so all of them": lambda it: copied(it, 96) == 1,
    "each lane computes both values, and selects one": lambda it: (
        missing()
        or "SEL" in machine_code_of_the_choice(it)
        and not {"BRA", "BSSY", "BSYNC"} & machine_code_of_the_choice(it)
    ),
    "`BSYNC` in `part_by_thread`": lambda it: missing() or meetings(it) > 0,
    "the eight lanes with the number three go on alone, to round seven": lambda it: (
        (7, 8) == (len(it.film.value("steps", 2)) - 1, min(lanes_in(it.film)))
    ),
    "Then all lanes store together": lambda it: 32 == lanes_in(it.film)[-1],
    "one warp of each row is split": lambda it: (
        it.wide.divergence.splits == it.matrix.shape[0]
    ),
    "a warp is half as wide there, and the matrix is a multiple of that": lambda it: (
        [25, 125] == [splits_at(it, *shape) for shape in ((251, 400), (250, 401))]
    ),
    "more than seven times as many instructions as its body": lambda it: (
        missing() or 7 < counting(it) < 8
    ),
    "the warps wait for the same things": lambda it: (
        1 == len({tuple([*m.waits][:2]) for m in pair(it, 256)})
    ),
    "hardly ever for memory": lambda it: all(
        m.counters["stalls"].get("long_scoreboard", 0)
        < 0.03 * sum(m.counters["stalls"].values())
        for m in pair(it, 256)
    ),
    "here 16 of 416 in a row": lambda it: (
        -(-it.matrix.shape[1] // 32) * 32 - it.matrix.shape[1] == 16
    ),
    "a split guard executes nothing twice": lambda it: (
        guarded(it, 33) == guarded(it, 64) == 2 * guarded(it, 32)
    ),
}

"""What the lesson says of its measurements, and when it is true.

In one file: a lesson's claims are found by its name.
"""

import linecache

import numpy as np
from numba import cuda, float32

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.on_gpu import hangs
from thirty_two_lanes.assembly.compiler import missing

MEMORY = "global or local memory"
MULTIPROCESSORS = 132  # of the H200 that was recorded
CHOICE = "if number % 2 == 0 else"


def ratio(runs):
    """How many times as many instructions the first of two runs takes."""
    return np.divide(*(run.divergence.instructions for run in runs))


def slower(measured):
    return np.divide(*(m.median_us for m in measured))


def pair(it, steps):
    """The kernel that parts by thread, and the other, with so many steps."""
    return [it.times[name, steps] for name in ("part_by_thread", "part_by_warp")]


def counted(it, name, steps=256):
    """A counter of the kernel that parts by thread, and of the other."""
    return [m.counters[name] for m in pair(it, steps)]


def slots(m):
    """The issue slots of a launch, by the counters."""
    return m.counters["cycles"] * MULTIPROCESSORS * 4


def into_empty_slots(it):
    """The least share of the further instructions of the kernel that parts by thread
    that went into slots which the other one leaves empty: all that longer cycles do not
    hold.
    """
    by_thread, by_warp = pair(it, 1)
    further = by_thread.counters["instructions"] - by_warp.counters["instructions"]
    empty = slots(by_warp) - by_warp.counters["instructions"]
    assert empty > further
    return 1 - (slots(by_thread) - slots(by_warp)) / further


@cuda.jit
def only_grows(out, a, steps):
    i = cuda.grid(1)
    value = a[i]
    for _ in range(steps):
        value = value * float32(0.999) + float32(0.001)
    out[i] = value


@cuda.jit
def only_bends(out, a, steps):
    i = cuda.grid(1)
    value = a[i]
    for _ in range(steps):
        value = value - value * value * float32(0.001)
    out[i] = value


def for_each_warp(it, kernel):
    """The instructions of a warp of a kernel that parts, or does not."""
    run = emulate(kernel)[it.N // 128, 128](it.by_warp, it.halves, it.STEPS)
    return run.divergence.instructions / (it.N // 32)


@cuda.jit
def doubles_early(out, a):
    i = cuda.grid(1)
    if i >= a.size:
        return
    out[i] = a[i] + a[i]


def of_line(it, kernel):
    """The instructions of a kernel on the array of one axis, and the splits."""
    run = emulate(kernel)[32, 128](np.zeros_like(it.flat), it.flat)
    return run.divergence.instructions, run.divergence.splits


def of_a_warp(it, n):
    """The instructions of a warp that doubles so many numbers."""
    a = np.ones(n, np.float32)
    return emulate(it.double)[1, 32](np.zeros_like(a), a).divergence.instructions


@cuda.jit
def looks_by_halves(out):
    lane = cuda.laneid
    if lane < 16:
        out[lane] = cuda.shfl_down_sync(0xFFFF, lane, 1)
    else:
        out[lane] = cuda.shfl_up_sync(0xFFFF0000, lane, 1)


def said(kernel, blocks, threads, *arguments):
    """What the emulator reports of a launch, in one line."""
    return " ".join(repr(emulate(kernel)[blocks, threads](*arguments)).split())


@cuda.jit
def sums_in_a_guard(sums, a):
    i = cuda.grid(1)
    if i < a.size:
        value = a[i]
        for step in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        if cuda.laneid == 0:
            sums[i // 32] = value


@cuda.jit
def shuffled(out, step):
    out[cuda.laneid] = cuda.shfl_down_sync(0xFFFFFFFF, cuda.laneid, step)


def seen_from(it, step):
    """The lane whose value each lane gets from a shuffle by so many."""
    out = np.zeros(32, np.int32)
    emulate(shuffled)[1, 32](out, step)
    return out.tolist()


@cuda.jit
def even_lanes_vote(out):
    even = cuda.laneid % 2 == 0
    out[0] = cuda.ballot_sync(0xFFFFFFFF, even)
    out[1] = cuda.any_sync(0xFFFFFFFF, even)
    out[2] = cuda.all_sync(0xFFFFFFFF, even)


def voted_by_even_lanes():
    """What the three votes give if the even lanes say yes."""
    out = np.zeros(3, np.int64)
    emulate(even_lanes_vote)[1, 32](out)
    return out.tolist()


@cuda.jit
def largest_of_warp(largest, a):
    value = a[cuda.laneid]
    for step in (16, 8, 4, 2, 1):
        value = max(value, cuda.shfl_down_sync(0xFFFFFFFF, value, step))
    largest[cuda.laneid] = value


def found_largest(it):
    """Does the solution give the first lane the largest number of a warp?"""
    emulate(largest_of_warp)[1, 32](found := np.zeros(32, np.float32), it.a)
    return found[0] == it.a[:32].max() and it.a.min() > 0


def at_step_six(it):
    """Has step 6 of the film, as the first one, eight lanes, at the kernel's line 7?"""
    lanes, step = lanes_in(it.film), it.film.record()["steps"][5]
    line = step["l"] - it.count_steps.py_func.__code__.co_firstlineno + 1
    return (5, 8, 7) == (lanes.index(min(lanes)), lanes[5], line)


def copied(it, threads):
    """The active share of a copy in blocks of so many threads."""
    a = np.ones(4 * threads, np.float32)
    run = emulate(it.double)[4, threads](np.zeros_like(a), a)
    return run.divergence.active_share


def by_row(it, grid, block):
    return emulate(it.part_by_row)[grid, block](it.square_out, it.square).divergence


def splits_at(it, rows, cols):
    """The warps that the guard splits in blocks of 16 × 16."""
    a = np.ones((rows, cols), np.float32)
    grid = -(-cols // 16), -(-rows // 16)
    run = emulate(it.double_2d)[grid, (16, 16)](np.zeros_like(a), a)
    return run.divergence.splits


def guarded(it, cols):
    """What is counted for rows of so many columns, in blocks 32 wide."""
    a = np.ones((250, cols), np.float32)
    grid = -(-cols // 32), 32
    return emulate(it.double_2d)[grid, (32, 8)](np.zeros_like(a), a).divergence


def shares(run):
    """The active share of each line, with its text."""
    return [(at.text, row.active_share) for at, row in run.divergence.by_line.items()]


def active(run, text):
    """The active share of a line that contains a text."""
    return next(share for line, share in shares(run) if text in line)


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
    return 1 - schedulers(m) / 4


def each_step(it):
    """The instructions of a warp in one step of the loops, by the counters."""
    many, one = (pair(it, steps)[1] for steps in (it.STEPS, 1))
    further = many.counters["instructions"] - one.counters["instructions"]
    return further / many.warps / (it.STEPS - 1)


def machine_code(kernel, *arguments):
    """What the compiler makes of a kernel, and the texts and numbers of its lines."""
    made = assemble(kernel)[8, 128](*arguments)
    code = kernel.py_func.__code__
    first, lines = code.co_firstlineno, linecache.getlines(code.co_filename)
    return made, list(enumerate(lines, 1))[first - 1 : first + 12]


def machine_code_of_the_choice(it):
    """The machine instructions of the conditional expression, by name."""
    made, lines = machine_code(it.count_steps, it.steps, it.numbers, 0)
    return set(made.by_line[next(n for n, text in lines if CHOICE in text)])


def parted(it, name):
    return machine_code(getattr(it, name), it.by_warp, it.halves, 256)


def arithmetic(it):
    """How often the machine code multiplies, and multiplies and adds, in the body of
    each loop: five times each step, four of them where the loop is unrolled.
    """
    made, lines = parted(it, "part_by_warp")
    bodies = [made.by_line[n + 1] for n, text in lines if "for _" in text]
    return [[body[name] for name in ("FMUL", "FFMA")] for body in bodies]


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
    "The GPU takes a third longer, too": lambda it: 1.32 < slower(it.timed) < 1.35,
    "four of them on an H200": lambda it: all(
        abs(schedulers(m) - 4) < 0.05 for m in pair(it, 256) + it.timed
    ),
    "Inside the `if` it is one half": lambda it: (
        {0.5} == {share for text, share in shares(it.divided) if "value *" in text}
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
    "With a single step `part_by_thread` executes 30% more instructions, and takes "
    "only 5% longer": lambda it: (
        about("1.3", np.divide(*counted(it, "instructions", 1)))
        and about("1.05", slower(pair(it, 1)))
    ),
    "an `if` costs almost nothing if all lanes of a warp agree": lambda it: (
        for_each_warp(it, it.part_by_warp) == 1418
        and 1414 == (for_each_warp(it, only_grows) + for_each_warp(it, only_bends)) / 2
    ),
    "most for a turn, while others of them issue": lambda it: all(
        next(iter(m.waits)) == "a turn to issue" for m in pair(it, 256)
    ),
    "little in one that waits for something else anyway": lambda it: (
        slower(pair(it, 1)) - 1 < 0.2 * (np.divide(*counted(it, "instructions", 1)) - 1)
    ),
    "`part_by_warp` takes hardly longer than the kernel that does nothing": lambda it: (
        1 < pair(it, 1)[1].median_us / it.idle.median_us < 1.03
    ),
    "leaves more than a third of the slots empty": lambda it: (
        60 < counted(it, "issue_percent", 1)[1] < 66
    ),
    "Most of the further instructions of `part_by_thread` go into those": lambda it: (
        into_empty_slots(it) > 0.6
    ),
    "in two thirds of the first warp's rounds fewer than half of its lanes are left": (
        lambda it: 0.64 < 1 - np.sort(it.steps[:32])[16] / it.steps[:32].max() < 0.7
    ),
    "so eight lanes take the `else` of line 7": at_step_six,
    "Sorting halves the instructions": lambda it: (
        1.9 < ratio([it.mixed, it.tidy]) < 2.1
    ),
    "so nearly all lanes are in the loop as long as their warp": lambda it: (
        active(it.mixed, "steps +=") < 0.5 and 0.94 < active(it.tidy, "steps +=")
    ),
    "the H200 executes 2.08 times as many instructions for the mixed": lambda it: about(
        "2.08", np.divide(*(m.counters["instructions"] for m in it.walks))
    ),
    "but takes only 1.8 times as long": lambda it: about("1.8", slower(it.walks)),
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
    "7, and 30: there is no lane 34": lambda it: (
        [7, 30] == [seen_from(it, 4)[lane] for lane in (3, 30)]
    ),
    "`0x55555555`, in which every second bit is set": lambda it: (
        [0x55555555, 1, 0] == voted_by_even_lanes()
    ),
    "`value = max(value, cuda.shfl_down_sync(ALL, value, step))`": found_largest,
    "96 threads are three full warps, so all of them": lambda it: copied(it, 96) == 1,
    "each lane computes both values, and selects one": lambda it: (
        missing()
        or "SEL" in machine_code_of_the_choice(it)
        and not {"BRA", "BSSY", "BSYNC"} & machine_code_of_the_choice(it)
    ),
    "`BSYNC` in `part_by_thread`": lambda it: (
        missing() or parted(it, "part_by_thread")[0].opcodes["BSYNC"] > 0
    ),
    "the eight lanes with the number three go on alone, to round seven": lambda it: (
        (7, 8) == (len(it.film.value("steps", 2)) - 1, min(lanes_in(it.film)))
    ),
    "Then all lanes store together": lambda it: 32 == lanes_in(it.film)[-1],
    "one warp of each row is split, if the row is no multiple of 32": lambda it: (
        it.wide.divergence.splits == it.matrix.shape[0]
        and (250, 0) == (guarded(it, 33).splits, guarded(it, 64).splits)
    ),
    "400 columns are a multiple of 16, 250 rows of two": lambda it: (
        [25, 125] == [splits_at(it, *shape) for shape in ((251, 400), (250, 401))]
    ),
    "executes about seven instructions in each step": lambda it: (
        6.5 < each_step(it) < 7.2
    ),
    "one or two of them do the step's arithmetic": lambda it: (
        missing() or [[0, 5], [5, 5]] == arithmetic(it)
    ),
    "Hardly more than half": lambda it: (
        0.5 < it.divided.divergence.active_share < 0.51
        and it.together.divergence.active_share == 1
    ),
    "the warps wait for the same things": lambda it: (
        1 == len({tuple([*m.waits][:2]) for m in pair(it, 256)})
    ),
    "so a split warp executes nothing twice": lambda it: (
        of_a_warp(it, 32) == of_a_warp(it, 31)
        and guarded(it, 33).instructions
        == guarded(it, 64).instructions
        == 2 * guarded(it, 32).instructions
    ),
    "An early `return` in place of the guard takes exactly as many instructions": (
        lambda it: of_line(it, it.double) == of_line(it, doubles_early)
    ),
    "lane 15 would read lane 16, which its mask does not name": lambda it: (
        "reads lane 16, which its mask does not name"
        in said(looks_by_halves, 1, 32, it.seen)
    ),
    # of a mask that names lanes which do not come
    "With half of a warp at a `syncwarp` for all lanes, and the other half at a "
    "barrier of the block, an H200 had not ended after 20 seconds": lambda it: (
        hangs.recorded()["mask_names_too_many"] == "not" and hangs.SECONDS == 20
    ),
    "six lanes of the last warp would be missing": lambda it: (
        "reads lanes 26 to 31, which skip this line"
        in said(sums_in_a_guard, 2, 128, it.sums, it.a)
    ),
}

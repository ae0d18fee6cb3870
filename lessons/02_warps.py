# %% [markdown]
# # Keep a warp together
#
# *60 minutes*
#
# **What you'll do:** find out why one of two kernels that do the same work executes twice as many instructions, and write branches and loops that cost almost nothing extra.
#
# **What you'll learn:**
#
# - say which threads of a block form a warp, for blocks of one axis and of two
# - predict what an `if`, a loop and a block that is not full cost, and count it line by line
# - let the lanes of a warp vote, and pass values to one another
#
# **What you'll need:** kernels, blocks, multiprocessors and threads, as in [Write your first kernel](01_first_kernel.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, compare, device, emulate, exercise, expect,
                     measure, plot_issues, plot_lanes, plot_shuffles,
                     plot_warps, table, watch)

device

# %% [markdown]
# ## Which kernel costs twice?
#
# Two kernels send half of their threads down one branch and half down the other.
# In the first, the branches alternate from thread to thread: even threads take one, odd threads the other.
# `float32` from Numba does in a kernel what `np.float32` does.

# %%
@cuda.jit
def part_by_thread(out, a, steps):
    """Even threads take one branch, odd threads the other."""
    i = cuda.grid(1)
    value = a[i]
    if i % 2 == 0:
        for _ in range(steps):
            value = value * float32(0.999) + float32(0.001)
    else:
        for _ in range(steps):
            value = value - value * value * float32(0.001)
    out[i] = value


# %% [markdown]
# In the second, they alternate from one *group of 32* threads to the next.

# %%
@cuda.jit
def part_by_warp(out, a, steps):
    """Even warps take one branch, odd warps the other."""
    i = cuda.grid(1)
    value = a[i]
    if i // 32 % 2 == 0:
        for _ in range(steps):
            value = value * float32(0.999) + float32(0.001)
    else:
        for _ in range(steps):
            value = value - value * value * float32(0.001)
    out[i] = value


N, STEPS = 4096, 256
halves = np.full(N, 0.5, np.float32)
by_thread, by_warp = np.zeros((2, N), np.float32)
part_by_thread[N // 128, 128](by_thread, halves, STEPS)
part_by_warp[N // 128, 128](by_warp, halves, STEPS)

check(np.sort(by_thread), np.sort(by_warp))

# %% [markdown]
# Both send the same number of threads down each branch, and give the same values in another order.
# Yet one of them executes twice as many instructions.
# Which one, and what is so special about 32?
#
# ## Thirty-two at a time
#
# An instruction has to be fetched, decoded and sent to the arithmetic units before anything is computed.
# A multiprocessor does not take that trouble for each thread.
# It cuts a block into groups of 32 threads with consecutive numbers, **warps**, and takes it once for a whole warp: it **issues** one instruction, and all of the warp's threads execute it together.
# The places in a warp, 0 to 31, are its **lanes**.
#
# So what does a block cost whose size is no multiple of 32? A warp never reaches into the next block:

# %%
plot_warps(48)

# %% [markdown]
# Each row is a warp, and the numbers are lanes.
# A block of 48 threads takes two warps, and the second is half empty.
#
# **Predict.** The same numbers are processed in blocks of 96 threads, and in blocks of 48. How many times as many instructions do the blocks of 48 need?
#
# <details><summary>Answer</summary>
#
# In blocks of 48, three quarters of the lanes have a thread; in blocks of 96, all of them.
# So the blocks of 48 need 4/3 of the warps, and of the instructions.
#
# </details>
#
# `STEPS` is a variable outside the kernel: its value is compiled in.

# %%
@cuda.jit
def grow(out, a):
    """Each thread moves its number 256 steps towards 1."""
    i = cuda.grid(1)
    value = a[i]
    for _ in range(STEPS):
        value = value * float32(0.999) + float32(0.001)
    out[i] = value


# %% tags=["hide-input"]
# Counts a few numbers in the emulator, and times many on a GPU.
def grown(count, threads, run):
    """`count` numbers, grown in blocks of `threads`."""
    a = np.zeros(count, np.float32)
    return run(grow)[count // threads, threads](np.zeros_like(a), a)


counted = [grown(96 * 32, threads, emulate) for threads in (48, 96)]
timed = [grown(96 * 2**17, threads, measure) for threads in (48, 96)]
compare(dict(zip((48, 96), zip(counted, timed, strict=True), strict=True)),
        "active share, %", "instructions", "µs", by="threads per block")

# %% [markdown]
# The GPU takes a third longer, too. (Its time is of many more numbers.)
# So make the size of a block a multiple of 32.

# %% [markdown]
# ## When lanes disagree
#
# A warp executes one instruction at a time. What if an `if` sends some of its lanes down one branch and some down the other?
# Then the warp has to execute *both* branches, and in each of them the lanes of the other branch wait: **a warp executes whatever any of its lanes needs**.
# That is **divergence**.
# After the `if` the lanes usually go on together (CUDA does not promise it).
#
# Divergence concerns one warp only.
# Two warps of a block may be at different instructions, since each is issued by itself: a multiprocessor has **warp schedulers**, four of them on an H200, and in each cycle a scheduler can issue one instruction, of a warp that is ready.
# These chances are its **issue slots**.

# %% tags=["hide-input"]
# Draws the instructions of two warps, one step of each loop.
even = [lane % 2 == 0 for lane in range(32)]
odd = [lane % 2 == 1 for lane in range(32)]
everyone = [True] * 32
branch, grows, bends, stores = ("if i % 2 == 0:", "value = ... + ...",
                                "value = ... - ...", "out[i] = value")

plot_issues([(0, branch, everyone), (1, branch, everyone), (0, grows, even),
             (1, grows, even), (1, bends, odd), (0, bends, odd),
             (1, stores, everyone), (0, stores, everyone)])

# %% [markdown]
# Two warps of `part_by_thread`, as one scheduler might issue them, with one step of each loop. Each row is a line of the kernel, executed for one of the warps: filled lanes take part, dotted ones wait.
#
# **Predict.** Of all lanes in all instructions, what share takes part in `part_by_thread`? And in `part_by_warp`?
#
# <details><summary>Answer</summary>
#
# Hardly more than half: nearly all instructions are in the two loops, and there each warp of `part_by_thread` uses half of its lanes.
# In `part_by_warp`, all: the lanes of a warp agree, so half of the *warps* take each branch, and no lane waits.
#
# </details>

# %% tags=["hide-input"]
# Counts both kernels, and lists the active share of each line of the first.
divided = emulate(part_by_thread)[N // 128, 128](by_thread, halves, STEPS)
together = emulate(part_by_warp)[N // 128, 128](by_warp, halves, STEPS)


def shares(run):
    """The active share of each line of a kernel, in percent."""
    rows = run.divergence.by_line.items()
    return table(["line", "active share, %"],
                 [(site.text, 100 * row.active_share) for site, row in rows])


shares(divided)

# %% [markdown]
# The **active share** of a line is the share of a warp's lanes that take part in it. Inside the `if` it is one half, so the two loops are executed twice as often as they need to be.
# The rule: **an `if` costs almost nothing if all lanes of a warp agree; warps may differ.**
#
# Does a GPU agree? It has **counters**, parts of the hardware that count events. They say how many instructions a kernel executed, and what share of the issue slots they took (cycles without any warp are left out). A profiler adds what warps waited for: it says that they **stall**.

# %% tags=["timing", "hide-input"]
# Times both kernels on 16,777,216 numbers, with 256 steps and with one.
MANY = 2**24
big = np.zeros(MANY, np.float32)
result = np.zeros_like(big)

times = {(name, steps): measure(kernel)[MANY // 128, 128](result, big, steps)
         for steps in (STEPS, 1)
         for name, kernel in (("part_by_thread", part_by_thread),
                              ("part_by_warp", part_by_warp))}
compare({(name, steps): m for (name, steps), m in times.items() if steps > 1},
        "µs", "instructions per warp", "issue slots used, %",
        {"waits most for": lambda m: next(iter(m.waits), None)},
        by=("kernel", "steps"))

# %% [markdown]
# It does: with 256 steps, `part_by_thread` takes twice as long, since the GPU executes twice as many instructions for each warp.
# Otherwise they are alike: the schedulers use as many of their slots, and the warps wait for the same things, most for a turn, while others of them issue.
#
# Does divergence always cost double?
#
# **Predict.** Both kernels make one step instead of 256. How many times as long does `part_by_thread` take now? Beside it we time a kernel that does nothing.

# %%
@cuda.jit
def do_nothing(out, a):
    """Each thread ends at once."""
    return


# %% tags=["timing", "hide-input"]
# Lists both kernels with one step, and the one that does nothing.
idle = measure(do_nothing)[MANY // 128, 128](result, big)

single = {(name, steps): m for (name, steps), m in times.items() if steps == 1}
compare(single | {("do_nothing", 0): idle}, "µs", "instructions per warp",
        "issue slots used, %", by=("kernel", "steps"))

# %% [markdown]
# With a single step `part_by_thread` executes 30% more instructions, and takes only 5% longer.
# `part_by_warp` takes hardly longer than the kernel that does nothing: the GPU is busy [starting blocks](01_first_kernel.ipynb), and leaves more than a third of the slots empty.
# Most of the further instructions of `part_by_thread` go into those.
#
# So **divergence costs what its instructions cost**: all of it in a kernel that is busy with instructions, little in one that waits for something else anyway.

# %% [markdown]
# <details><summary>For the curious: what the steps consist of</summary>
#
# By the counter, a warp of `part_by_warp` executes about seven instructions in each step. In the machine code one or two of them do the step's arithmetic; nearly all others run the loop's counter.
# The comparison stands all the same, because both kernels have the same two loops.
#
# </details>

# %% [markdown]
# ## Loops of different lengths
#
# A loop splits a warp, too: lanes that have finished wait for the others.
# Here each thread counts the steps of its number: while it is not 1, halve it if it is even, otherwise triple it and add 1.
# Nobody knows a formula for their number.
# `first` is the index of the first thread's number.

# %%
@cuda.jit
def count_steps(out, numbers, first):
    """Each thread counts the steps that its number takes to reach 1."""
    i = cuda.grid(1)
    number, steps = numbers[first + i], 0
    while number > 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    out[i] = steps


# %% [markdown]
# `watch` shows a block step by step, here one warp whose lanes have the numbers one to four in turn.
#
# **Predict.** How many rounds does the warp make, and with how many lanes in the last?

# %%
turns = np.zeros(32, np.int64)
film = watch(count_steps)[1, 32](turns, np.tile([1, 2, 3, 4], 8), 0)
film

# %% [markdown]
# One group of lanes after the other leaves the loop, and the eight lanes with the number three go on alone, to round seven.
# Then all lanes store together.
#
# <details><summary>For the curious: why are the fewest lanes at step 6, in the first round?</summary>
#
# Of the numbers still in the loop only the threes are odd, so eight lanes take the `else` of line 7, which the emulator executes as a branch.
# The machine code has no branch there: each lane computes both values, and selects one.
#
# </details>
#
# Now for a thousand random numbers, of which the figure shows the first warp:

# %%
numbers = np.random.default_rng(0).integers(1, 10_000, 1024)
steps = np.zeros(1024, np.int64)

mixed = emulate(count_steps)[8, 128](steps, numbers, 0)

# %% tags=["hide-input"]
# Draws which lanes of the first warp are left after so many rounds.
plot_lanes({f"round {done}": steps[:32] > done
            for done in range(0, steps[:32].max() + 1, 20)})

# %% [markdown]
# Each row is every twentieth round of the loop: numbered lanes are still in it.
# A warp makes as many rounds as its *longest* lane needs, and in two thirds of the first warp's rounds fewer than half of its lanes are left.
#
# Does it help to put numbers that need equally many steps side by side?
# The steps are known by now, so sort the numbers by them:

# %% tags=["timing", "hide-input"]
# Counts the sorted numbers, and times both orders on a million numbers.
ordered = numbers[np.argsort(steps, kind="stable")]
ordered_steps = np.zeros_like(steps)
tidy = emulate(count_steps)[8, 128](ordered_steps, ordered, 0)
check(ordered_steps, np.sort(steps))

many = np.concatenate([np.tile(numbers, 1024), np.tile(ordered, 1024)])
half = many.size // 2
many_steps = np.zeros(half, np.int64)
walks = [measure(count_steps)[half // 128, 128](many_steps, many, first)
         for first in (0, half)]


def in_the_loop(pair):
    """The active share of the line that counts the rounds, in percent."""
    rows = {site.text: row for site, row in pair[0].divergence.by_line.items()}
    return 100 * rows["steps += 1"].active_share


compare({"mixed": (mixed, walks[0]), "by length": (tidy, walks[1])},
        {"active share in the loop, %": in_the_loop}, "instructions", "µs",
        by="order")

# %% [markdown]
# Sorting halves the instructions: numbers with nearly equally many steps now share a warp, so nearly all lanes are in the loop as long as their warp.
# Here we sorted by the answer. A program sorts by what it knows, such as the length of a list, and only if that takes less than it saves.

# %% [markdown]
# <details><summary>For the curious: why not half the time</summary>
#
# By its own counters the H200 executes 2.08 times as many instructions for the mixed order, but takes only 1.8 times as long.
# In the sorted order its multiprocessors have no warp to run in 14% of the cycles, instead of 7%.
#
# </details>

# %% [markdown]
# ## Which rows share a warp?
#
# In a block of two axes threads are numbered along x first: thread (x, y) is number `x + y * width`.
# Warps are cut from that sequence of numbers.

# %%
plot_warps((16, 4))

# %% [markdown]
# The numbers are lanes. A row of 16 threads is half a warp, so a warp is two rows.
#
# **Predict.** Even rows take one branch, odd rows the other. In which of the blocks 16 × 16 and 32 × 8 do the lanes of a warp disagree?

# %%
@cuda.jit
def part_by_row(out, a):
    """Even rows take one branch, odd rows the other."""
    col, row = cuda.grid(2)
    value = a[row, col]
    if row % 2 == 0:
        for _ in range(STEPS):
            value = value * float32(0.999) + float32(0.001)
    else:
        for _ in range(STEPS):
            value = value - value * value * float32(0.001)
    out[row, col] = value


square = halves.reshape(64, 64)
square_out = np.zeros_like(square)

# %% tags=["hide-input"]
# Counts it in both shapes of a block.
compare({block: emulate(part_by_row)[grid, block](square_out, square)
         for grid, block in [((4, 4), (16, 16)), ((2, 8), (32, 8))]},
        "active share, %", by=("x", "y"))

# %% [markdown]
# In 16 × 16 each warp holds an even row and an odd one, so half of the lanes wait.
# In a block 32 wide a row is a warp, and no lane waits.
#
# ## What does a guard cost?
#
# A guard is an `if`, too, and splits a warp if some of its lanes have an element and some have none.
# But its other branch is empty, so a split warp executes nothing twice.
# Lost are only the test and the lanes without an element.
#
# **Predict.** How many warps split along one axis? And for a matrix of 250 rows and 400 columns, in blocks of 32 × 8, and of 16 × 16?

# %%
@cuda.jit
def double(out, a):
    """Each thread that has an element doubles it."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + a[i]


@cuda.jit
def double_2d(out, a):
    """Each thread that has an element doubles it."""
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        out[row, col] = a[row, col] + a[row, col]


flat = np.ones(3990, np.float32)
matrix = np.ones((250, 400), np.float32)
line = emulate(double)[32, 128](np.zeros_like(flat), flat)
wide = emulate(double_2d)[(13, 32), (32, 8)](np.zeros_like(matrix), matrix)
fits = emulate(double_2d)[(25, 16), (16, 16)](np.zeros_like(matrix), matrix)

# %% tags=["hide-input"]
# Lists the warps that split, and how many there are.
compare({"one axis": line, "32 × 8": wide, "16 × 16": fits},
        {"warps": lambda run: run.blocks * run.threads_per_block // 32,
         "warps that split": lambda run: run.divergence.splits}, by="blocks")

# %% [markdown]
# Along one axis a guard splits at most one warp, the one that holds the last element.
# Along two axes each row has its own end, so in blocks 32 wide one warp of each row is split, if the row is no multiple of 32.
# In blocks of 16 × 16 none is: there a warp is 16 wide and two rows high, and 400 columns are a multiple of 16, 250 rows of two.
#

# %% [markdown]
# ## Lanes that talk
#
# Lanes that execute an instruction together need care. What do they get for it?
# In one instruction they can pass values to one another, without memory.
#
# In a **vote** each lane says yes or no, and all lanes get the result: `ballot_sync(mask, yes)` gives all 32 answers as bits, lane 0's as the lowest, `any_sync` whether at least one is yes, `all_sync` whether all are.
# The *mask* names the lanes that take part, one bit each; `0xFFFFFFFF` is all of them.
#
# **Predict.** All lanes vote, and the even ones say yes. What do the three votes give?
#
# <details><summary>Answer</summary>
#
# `0x55555555`, in which every second bit is set, from the lowest on; true; and false.
#
# </details>

# %% [markdown]
# In this kernel each warp counts its large numbers. `popc` counts the bits that are set, and `cuda.laneid` is the thread's lane.
# All lanes must reach the vote, so there is no `if` around it: a lane without an element votes no. `and` is its guard, since `a[i]` is not read where `i < a.size` is false.

# %%
ALL = 0xFFFFFFFF


@cuda.jit
def count_large(counts, a, limit):
    """Each warp counts its large numbers."""
    i = cuda.grid(1)
    large = i < a.size and a[i] > limit
    votes = cuda.ballot_sync(ALL, large)
    if cuda.laneid == 0:
        counts[i // 32] = cuda.popc(votes)  # a block has whole warps


a = np.random.default_rng(1).random(250, dtype=np.float32)
counts = np.zeros(8, np.int32)
emulate(count_large)[2, 128](counts, a, np.float32(0.7))
check(counts, [(a[i:i + 32] > 0.7).sum() for i in range(0, 250, 32)])

# %% [markdown]
# In a **shuffle** each lane gets the value that another lane holds: with `shfl_down_sync(mask, value, 16)` it is the lane 16 places above, so values move down, towards lane 0; `shfl_up_sync` moves them the other way, and `shfl_sync(mask, value, 0)` gives all of them lane 0's.
# A lane that asks beyond the last one gets its own value back.
#
# **Predict.** What do lanes 3 and 30 get from `shfl_down_sync(ALL, lane, 4)`, to which each lane gives its own number?
#
# <details><summary>Answer</summary>
#
# 7, and 30: there is no lane 34.
#
# </details>
#
# How does a warp add up 32 values, without a loop over 32 and without memory? In five shuffles, each half as far as the one before:

# %%
plot_shuffles()

# %% [markdown]
# Each row is the warp after one step, and the number in a box says how many values are in that lane's sum.
# After the first step, half of the lanes hold sums of two; after the last, the first lane holds the sum of all.
# Dotted sums are not needed.
#
# Again all lanes take part; a lane without an element adds 0.

# %%
@cuda.jit
def sum_up(sums, a):
    """Each warp adds up its numbers."""
    i = cuda.grid(1)
    value = a[i] if i < a.size else float32(0)
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(ALL, value, step)
    if cuda.laneid == 0:
        sums[i // 32] = value


sums = np.zeros(8, np.float32)
emulate(sum_up)[2, 128](sums, a)
check(sums, [a[i:i + 32].sum() for i in range(0, 250, 32)])

# %% [markdown]
# **Your turn.** Let each warp find its *largest* number: change the loop's line, and run the cell until both rows agree.

# %%
@cuda.jit
def find_largest(largest, a):
    """Each warp finds its largest number."""
    i = cuda.grid(1)
    value = a[i] if i < a.size else float32(0)
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(ALL, value, step)  # your line instead
    if cuda.laneid == 0:
        largest[i // 32] = value


largest = np.zeros(8, np.float32)
emulate(find_largest)[2, 128](largest, a)
np.array([largest, [a[i:i + 32].max() for i in range(0, 250, 32)]])

# %% [markdown]
# <details><summary>Solution</summary>
#
# `value = max(value, cuda.shfl_down_sync(ALL, value, step))`.
# A lane without an element gives 0, which changes nothing as no number here is negative; with others it must give minus infinity.
#
# </details>
#
# ## What could go wrong
#
# All lanes that a shuffle's mask names must reach this shuffle.
# With `if i < a.size:` around the shuffles of `sum_up`, or an early `return`, six lanes of the last warp would be missing, and what the others read from them is undefined.
#
# Here lanes below 16 should read the lane after them, the others the lane before.
# The two halves call different shuffles, so neither is reached by all lanes:

# %%
@cuda.jit
def look_wrong(out):
    """Lanes below 16 read the lane after them, the others the lane before."""
    lane = cuda.laneid
    if lane < 16:
        out[lane] = cuda.shfl_down_sync(ALL, lane, 1)
    else:
        out[lane] = cuda.shfl_up_sync(ALL, lane, 1)


seen = np.zeros(32, np.int32)
with expect(RuntimeError):
    emulate(look_wrong)[1, 32](seen)

# %% [markdown]
# CUDA leaves open what happens. (With half of a warp at a `syncwarp` for all lanes, and the other half at a barrier of the block, an H200 had not ended after 20 seconds.)
# A smaller mask fails: lane 15 would read lane 16, which its mask does not name.
# The fix: all lanes do both shuffles, and each keeps the value that it needs.

# %%
@cuda.jit
def look(out):
    """Lanes below 16 read the lane after them, the others the lane before."""
    lane = cuda.laneid
    upper = cuda.shfl_down_sync(ALL, lane, 1)
    lower = cuda.shfl_up_sync(ALL, lane, 1)
    out[lane] = upper if lane < 16 else lower


emulate(look)[1, 32](seen)
seen

# %% [markdown]
# ## What changed
#
# A warp executes whatever any of its lanes needs, so let the lanes of a warp need the same, and all of them reach a vote or a shuffle.
#
# | who disagrees | such as in | what a warp executes |
# |---|---|---|
# | lanes of a warp | `part_by_thread`; `part_by_row` in 16 × 16 | both branches |
# | whole warps | `part_by_warp` | one branch |
# | lanes with longer loops and shorter ones | `count_steps` | as many rounds as its longest lane needs |
# | lanes with an element and lanes without | a guard; `grow` in blocks of 48 | as much as a full warp |
#
# ## On your own
#
# ★ What share of the lanes is active in `double` on a full array, with blocks of 16 threads, of 48, of 96? Guess, then count it: `emulate(double)[4, 48](np.zeros(192), np.ones(192)).divergence.active_share`.
#
# <details><summary>Answer</summary>
#
# 16 of 32 lanes are one half; 48 of 64 are three quarters; 96 threads are three full warps, so all of them.
#
# </details>
#
# ★★ `two_ways`: elements of even index take one branch, those of odd index the other. Keep the lanes of each warp together: hardly a lane may wait, and no element may go through both branches.

# %%
task = exercise("two_ways")
task

# %%
ROUNDS = 24


@cuda.jit
def two_ways(out, a):
    """Elements of even index take one branch, those of odd index the other."""
    i = cuda.grid(1)
    if i < a.size:
        value = a[i]
        if i % 2 == 0:
            for _ in range(ROUNDS):
                value = value * float32(0.95) + float32(0.05)
        else:
            for _ in range(ROUNDS):
                value = value - value * value * float32(0.05)
        out[i] = value


task.check(two_ways)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# ROUNDS = 24
#
#
# @cuda.jit
# def two_ways(out, a):
#     """The first threads take the even elements, the others the odd ones."""
#     thread, half = cuda.grid(1), (a.size + 1) // 2
#     if thread < half:
#         i = 2 * thread
#         value = a[i]
#         for _ in range(ROUNDS):
#             value = value * float32(0.95) + float32(0.05)
#         out[i] = value
#     elif thread < a.size:
#         i = 2 * (thread - half) + 1
#         value = a[i]
#         for _ in range(ROUNDS):
#             value = value - value * value * float32(0.05)
#         out[i] = value
# ```
#
# The first half of the threads takes the even elements, the second half the odd ones, so neighbouring lanes take the same branch.
# Their elements no longer lie side by side in memory; [Fetch no more than you use](12_coalescing.ipynb) shows what that costs.
#
# </details>

# %% [markdown]
# ★★★ `exercise("give_up")`, in the assignment, where `onward` is given: each thread walks from its number to 1, and a warp gives up if none of its numbers has arrived after 8 steps. Which vote do you need?
#
# <details><summary>Answer</summary>
#
# `all_sync`: the warp gives up if *all* of its lanes are still walking; lanes without a number must not prevent that.
#
# ```python
# for _ in range(LIMIT):
#     if number > 1:
#         number, steps = onward(number), steps + 1
# if not cuda.all_sync(ALL, number > 1 or i >= numbers.size):
#     while number > 1:
#         number, steps = onward(number), steps + 1
# ```
#
# </details>
#
# The [assignment](assignments/02_warps.ipynb) has 7 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# For real branches, the active share comes closest to what Nsight Compute calls `smsp__thread_inst_executed_per_inst_executed`, divided by 32.
#
# Since Volta, the GPUs of 2017, each lane has a program counter, its place in the code, so a warp whose lanes disagree may switch between two branches before either ends.
# The compiler marks where the lanes meet again (`BSYNC` in `part_by_thread`), but do not rely on it: `cuda.syncwarp()` makes the lanes of a warp wait for one another.
#
# An early `return` in place of the guard takes exactly as many instructions: lanes that returned idle until their warp ends.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, SIMT architecture](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#simt-architecture): warps and their lanes, from the source.
# - [Using CUDA warp-level primitives](https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/): votes and shuffles, with their masks.
# - [Numba: warp intrinsics](https://numba.readthedocs.io/en/stable/cuda-reference/kernel.html#warp-intrinsics): what there is in Python.
#
# *Next:* [Know where a number lives](11_memory_hierarchy.ipynb): one loop walks through two arrays; does a step take as long in both?

# %% [markdown]
# # Keep a warp together
#
# *25 minutes*
#
# **What you'll do:** find out why of two kernels that do the same work one needs twice as many instructions, and let threads part without paying for it.
#
# **What you'll learn:**
#
# - say which threads of a block are a warp, for blocks of one axis and of two
# - predict what an `if` and a loop cost when the lanes of a warp disagree, and count it line by line
# - let the lanes of a warp vote, and hand values to one another
#
# **What you'll need:** kernels, blocks and threads, as in [Write your first kernel](01_first_kernel.ipynb).

# %%
import numpy as np
from numba import cuda, float32

from helpers import (check, device, emulate, exercise, expect, measure,
                     plot_lanes, plot_times, plot_warps)

device

# %% [markdown]
# ## Which half costs twice?
#
# Send half of the threads down one branch, and half of them down another.
# In the first kernel it is every second thread.
# **Even threads go one way, odd threads the other.**

# %%
STEPS = 256


@cuda.jit
def part_by_thread(out, a):
    """Even threads go one way, odd threads the other."""
    i = cuda.grid(1)
    value = a[i]
    if i % 2 == 0:
        for _ in range(STEPS):
            value = value * float32(0.999) + float32(0.001)
    else:
        for _ in range(STEPS):
            value = value - value * value * float32(0.001)
    out[i] = value


# %% [markdown]
# In the second it is every second *group of 32*.
# **Even warps go one way, odd warps the other.**

# %%
@cuda.jit
def part_by_warp(out, a):
    """Even warps go one way, odd warps the other."""
    i = cuda.grid(1)
    value = a[i]
    if i // 32 % 2 == 0:
        for _ in range(STEPS):
            value = value * float32(0.999) + float32(0.001)
    else:
        for _ in range(STEPS):
            value = value - value * value * float32(0.001)
    out[i] = value


N = 4096
halves = np.full(N, 0.5, np.float32)
by_thread, by_warp = np.zeros((2, N), np.float32)
part_by_thread[N // 128, 128](by_thread, halves)
part_by_warp[N // 128, 128](by_warp, halves)

check(np.sort(by_thread), np.sort(by_warp))

# %% [markdown]
# In both, as many threads take each way, and the same values come out, in another order.
# Yet one of the kernels takes twice as many instructions.
# Which one, and what is so special about 32?

# %% [markdown]
# ## Thirty-two at a time
#
# A GPU has no instructions for one thread.
# It cuts each block into groups of 32 consecutive threads, **warps**, and an instruction is always for a whole warp.
# The places in a warp, numbered 0 to 31, are its **lanes**.
# A block of 48 threads:

# %%
plot_warps(48)

# %% [markdown]
# Two warps, though one and a half would do: the numbers are lanes, and dotted ones have no thread.
# They cannot be filled from the next block, since a warp never reaches across blocks.
# So blocks are multiples of 32, as a rule.

# %% [markdown]
# ## When lanes disagree
#
# All lanes of a warp are at the same instruction.
# If an `if` sends some of them one way and some the other, the warp goes *both* ways, one after the other, and each time the lanes that belong elsewhere wait.
# That is **divergence**.

# %%
even = [lane % 2 == 0 for lane in range(32)]
odd = [lane % 2 == 1 for lane in range(32)]
everyone = [True] * 32

plot_lanes({"if i % 2 == 0:": everyone, "value = ... + ...": even,
            "value = ... - ...": odd, "out[i] = value": everyone})

# %% [markdown]
# Each row is an instruction of one warp.
# After the `if` the lanes go on together.

# %% [markdown]
# **Predict.** Of all places in all instructions, what share is used in `part_by_thread`? And in `part_by_warp`?
#
# <details><summary>Answer</summary>
#
# Nearly everything happens within the two loops, and there each warp of `part_by_thread` uses half of its lanes.
# In `part_by_warp` all lanes of a warp agree; half of the *warps* take each way, and no lane waits.
#
# </details>

# %%
divided = emulate(part_by_thread)[N // 128, 128](by_thread, halves)
together = emulate(part_by_warp)[N // 128, 128](by_warp, halves)

divided.divergence.active_share, together.divergence.active_share

# %% [markdown]
# The **active share** is the part of all lanes that took part in what their warps did.
# By line:

# %%
def shares(run):
    """The active share of each line of a kernel."""
    rows = run.divergence.by_line.items()
    return {site.text: round(row.active_share, 3) for site, row in rows}


shares(divided)

# %% [markdown]
# The lines within the `if` have half of their lanes, the others have all.
# And since each warp goes both ways, it takes about twice as many instructions:

# %%
divided.divergence.instructions / together.divergence.instructions

# %% [markdown]
# So the special thing about 32 is only that lanes share their instructions.
# Threads may part as they like; an `if` costs nothing extra as long as whole warps agree.

# %% [markdown]
# ## Does a GPU agree?

# %% tags=["timing"]
MANY = 2**24
big = np.zeros(MANY, np.float32)
result = np.zeros_like(big)

times = [measure(kernel)[MANY // 128, 128](result, big)
         for kernel in (part_by_thread, part_by_warp)]
plot_times(["by thread", "by warp"], [m.median_us for m in times],
           spread_us=[(m.lower_us, m.upper_us) for m in times])

# %% [markdown]
# What lanes wait for is lost time.
# How much of it is seen depends on what else the kernel does: these two do little besides.

# %% [markdown]
# ## Loops of different lengths
#
# A loop parts lanes as well: those that are done wait for the others.
# **Each thread counts the steps that its number takes to reach 1**: halve it if it is even, else triple it and add one.
# Nobody knows beforehand how long that takes.

# %%
@cuda.jit
def count_steps(out, numbers):
    """Each thread counts the steps that its number takes to reach 1."""
    i = cuda.grid(1)
    number, steps = numbers[i], 0
    while number > 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
        steps += 1
    out[i] = steps


numbers = np.random.default_rng(0).integers(1, 10_000, 1024)
steps = np.zeros(1024, np.int64)

mixed = emulate(count_steps)[8, 128](steps, numbers)
shares(mixed)

# %% [markdown]
# Less than half. These are the lanes of the first warp that are still at it, turn by turn:

# %%
plot_lanes({f"turn {turn}": steps[:32] > turn for turn in range(0, 141, 20)})

# %% [markdown]
# A warp takes as many turns as its longest lane, and the lanes with short walks wait.
# Would it help if lanes with walks of the same length sat side by side?
# We know the lengths by now, so put the numbers in that order:

# %%
ordered = numbers[np.argsort(steps, kind="stable")]
ordered_steps = np.zeros_like(steps)

tidy = emulate(count_steps)[8, 128](ordered_steps, ordered)
check(ordered_steps, np.sort(steps))

# %%
mixed.divergence.instructions, tidy.divergence.instructions

# %%
shares(tidy)

# %% [markdown]
# The same numbers, the same kernel, and half the instructions.
# What is alike belongs in one warp.
# Sorting costs time too, of course; often the data come in such an order by themselves, or a cheap guess at the length will do.

# %% [markdown]
# ## Blocks with two axes
#
# In a block of two axes, threads are counted along `x` first: thread (x, y) is number `x + y * width`.
# Warps are cut from that row of numbers.

# %%
plot_warps((16, 4))

# %% [markdown]
# A row of 16 threads is half a warp, and a warp is two rows.
#
# **Predict.** Even rows go one way, odd rows the other. For which of the blocks 16 × 16 and 32 × 8 does a warp part?

# %%
@cuda.jit
def part_by_row(out, a):
    """Even rows go one way, odd rows the other."""
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
[emulate(part_by_row)[grid, block](square_out, square).divergence.active_share
 for grid, block in [((4, 4), (16, 16)), ((2, 8), (32, 8))]]

# %% [markdown]
# In 16 × 16 each warp holds an even row and an odd one.
# With blocks 32 wide a row is a warp, and nobody waits.

# %% [markdown]
# ## Small ifs
#
# Not every `if` parts a warp.
# Most guards are cheap: only in the last warp of the grid do lanes disagree.

# %%
@cuda.jit
def double(out, a):
    """Each thread that has an element doubles it."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + a[i]


some = np.ones(3990, np.float32)
doubled = np.zeros_like(some)
run = emulate(double)[32, 128](doubled, some)
check(doubled, 2 * some)
run.divergence.splits

# %% [markdown]
# Of 128 warps, one is split.
# Another three have no element at all: their lanes agree, and go home together.
#
# And where both ways are short, as in `a if c else b`, the compiler lets every lane work out both and keep one.

# %% [markdown]
# ## Lanes that talk
#
# Lanes share instructions, so they can also share values, with no memory between them.
# In a **vote** each lane brings a yes or no, and all get all answers: `ballot_sync` as 32 bits, `any_sync` and `all_sync` as one.
# In a **shuffle** each lane gets the value that another lane holds.
# The first argument names the lanes that take part, a bit for each: `0xFFFFFFFF` is all of them.
#
# **Each warp counts its large numbers, and adds them up.**

# %%
ALL = 0xFFFFFFFF


@cuda.jit
def count_and_sum(counts, sums, a, limit):
    """Each warp counts its large numbers, and adds them up."""
    i = cuda.grid(1)
    large = a[i] > limit
    votes = cuda.ballot_sync(ALL, large)
    value = a[i] if large else float32(0)
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(ALL, value, step)
    if cuda.laneid == 0:
        counts[i // 32] = cuda.popc(votes)
        sums[i // 32] = value


a = np.random.default_rng(1).random(256, dtype=np.float32)
rows = a.reshape(8, 32)
counts, sums = np.zeros(8, np.int32), np.zeros(8, np.float32)
emulate(count_and_sum)[2, 128](counts, sums, a, np.float32(0.7))
check(counts, (rows > 0.7).sum(axis=1))

# %%
check(sums, np.where(rows > 0.7, rows, 0).sum(axis=1))

# %% [markdown]
# `popc` counts the bits that are set.
# The shuffles add lane 16 to lane 0, 17 to 1 and so on, then 8 to 0, 4, 2, 1: after five steps lane 0 holds the sum of 32.

# %% [markdown]
# ## What could go wrong
#
# A shuffle takes place when all lanes that its mask names have come to it.
# Here they never do: half of them wait in one branch, half in the other.
# **Lanes of the lower half look up, the others look down.**

# %%
@cuda.jit
def look_wrong(out):
    """Lanes of the lower half look up, the others look down."""
    lane = cuda.laneid
    if lane < 16:
        out[lane] = cuda.shfl_down_sync(ALL, lane, 1)
    else:
        out[lane] = cuda.shfl_up_sync(ALL, lane, 1)


seen = np.zeros(32, np.int32)
with expect(RuntimeError):
    emulate(look_wrong)[1, 32](seen)

# %% [markdown]
# So all lanes do both shuffles, and each keeps what it wants:

# %%
@cuda.jit
def look(out):
    """Lanes of the lower half look up, the others look down."""
    lane = cuda.laneid
    upper = cuda.shfl_down_sync(ALL, lane, 1)
    lower = cuda.shfl_up_sync(ALL, lane, 1)
    out[lane] = upper if lane < 16 else lower


emulate(look)[1, 32](seen)
seen

# %% [markdown]
# ## What changed
#
# | version | who parts | what it costs |
# |---|---|---|
# | `part_by_thread` | the lanes of every warp | both ways, one after the other |
# | `part_by_warp` | whole warps | nothing |
# | `count_steps`, mixed | each lane at its own turn | the longest lane's turns |
# | `count_steps`, ordered | lanes that end together | little |
# | `part_by_row`, 16 × 16 | the two rows of a warp | both ways |
# | `part_by_row`, 32 × 8 | whole warps | nothing |
# | a guard at the end | at most one warp | next to nothing |
# | `look_wrong` | lanes that must meet | it cannot work |

# %% [markdown]
# ## On your own
#
# ★ What share of the lanes is active in a plain copy, with blocks of 16 threads, of 48, of 96? Guess, then ask `emulate`.
#
# ★★ `two_ways`: elements of even index take one branch, those of odd index the other. Keep the lanes of each warp together.

# %%
task = exercise("two_ways")
task

# %%
ROUNDS = 24


@cuda.jit
def two_ways(out, a):
    """Elements of even index go one way, those of odd index the other."""
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
# Their elements are no longer side by side in memory, which has a price of its own.
#
# </details>

# %% [markdown]
# ★★★ `exercise("give_up")`: each thread walks from its number to 1, and a warp gives up if none of its numbers has arrived after 8 steps. Which vote do you need?
#
# The [assignment](assignments/02_warps.ipynb) has 7 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# The active share is what Nsight Compute calls `smsp__thread_inst_executed_per_inst_executed`, divided by 32.
# The emulator counts the instructions of its own program, a GPU those of its machine code; where the compiler turns a short branch into a selection, the GPU's count has no split.
#
# Since Volta the lanes of a warp each have a place in the code of their own, so a warp that has parted may take turns between its ways.
# It still issues an instruction for one of them at a time.
#
# An early `return` is divergence too: lanes that went home stay empty until their warp ends.
#
# How many warps run at the same time is another matter, and so is which of them comes first: nobody promises an order.

# %% [markdown]
# ## Further reading
#
# - [CUDA C++ Programming Guide, SIMT architecture](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#simt-architecture): warps and their lanes, from the source.
# - [Using CUDA warp-level primitives](https://developer.nvidia.com/blog/using-cuda-warp-level-primitives/): votes and shuffles, with their masks.
# - [Numba: warp intrinsics](https://numba.readthedocs.io/en/stable/cuda-reference/kernel.html#warp-intrinsics): what there is in Python.
#
# *Next:* [Know where a number lives](11_memory_hierarchy.ipynb): the same loop takes more than fifteen times as long for each step when its numbers lie further away; where do they lie?

# %% [markdown]
# # Find the bug
#
# *120 minutes*
#
# **What you'll do:** find the faults in twelve wrong kernels, each by its symptom, learn what no report finds, and then find the faults of three that no page explains.
#
# **What you'll learn:**
#
# - go from a symptom to its cause in five steps
# - read what `check`, `emulate` and `watch` say, and in which order to act on it
# - name the wrong belief behind a fault, so that you do not write it again
#
# **What you'll need:** races and barriers, as in [Wait for one another](15_barriers_and_races.ipynb), atomics, as in [Let blocks meet in L2](19_from_block_to_block.ipynb), sectors, as in [Fetch no more than you use](12_coalescing.ipynb), shuffles and `watch`, as in [Keep a warp together](02_warps.ipynb), and banks, as in [Share a tile without queueing](14_bank_conflicts.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32

from helpers import check, device, emulate, exercise, expect, watch

random = np.random.default_rng(0)
a, b = random.random((2, 1000), dtype=np.float32)

device

# %% [markdown]
# ## Five steps
#
# 1. *Make it small.* Find the fewest threads that go wrong. Take random numbers, and a size that is no multiple of the block.
# 2. *Fill the result with NaN*, then *check* it against NumPy with `check`. Which values are wrong: all, the last ones, others each time?
# 3. *Emulate* the launch, and read the report from the top: what can give wrong answers comes first, and what only costs time after it.
# 4. *Watch* a block that the report names. `film = watch(kernel)[blocks, threads](...)` shows it step by step; `film.cells` lists who touched a cell, and when.
# 5. *Fix one thing*, then check at several sizes and seeds.
#
# A report without a finding does not say that the answer is right. `check` does, for this input.

# %% [markdown]
# Twelve cases follow. Each has one fault, in the kernel or in how it is launched (in one the emulator sees a second, for which a later case asks), and behind it a *belief*: something that its author took for true, and that is not.
#
# Read the kernel, and guess before you read on: which line, and what did the author believe? Then run the next cell, and look whether the symptom fits your guess. Only then open *Answer*. The folded cell below it has the fixed kernel, with its test.
#
# A belief is worth more than a line: you will find it again in other kernels, perhaps in your own.
#
# ## An error in the last block
#
# Each thread subtracts its element from the next one. There is a guard.

# %%
@cuda.jit
def changes_wrong(out, a):
    """Each thread subtracts its element from the next one."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i + 1] - a[i]

# %%
out = np.zeros(999, np.float32)
with expect(IndexError):
    emulate(changes_wrong)[4, 256](out, a)

# %% [markdown]
# <details><summary>Answer</summary>
#
# An error helps most: it names the line, the index, the array's size and the thread.
# Thread 231 of block 3 has element 3 · 256 + 231 = 999, the last one, and asks for the next.
# A GPU makes no such check: it reads whatever lies behind the array, or stops the program, often at a later call.
#
# **The belief:** "the line is guarded, so its indices are inside."
# A guard protects only the index that it asks about. This line uses `i` and `i + 1`, so ask about `i + 1`: `if i + 1 < a.size`.
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernel, at four sizes.
@cuda.jit
def changes(out, a):
    """Each thread subtracts its element from the next one."""
    i = cuda.grid(1)
    if i + 1 < a.size:
        out[i] = a[i + 1] - a[i]


for n in 2, 256, 257, 1000:
    out = np.full(n - 1, np.nan, np.float32)
    emulate(changes)[4, 256](out, a[:n])
    print(n, check(out, np.diff(a[:n])))

# %% [markdown]
# ## A sum that is far too small
#
# The dot product of `a` and `b`: each thread adds the product of its two elements to the result.

# %%
@cuda.jit
def dot_wrong(out, a, b):
    """Each thread adds the product of its two elements to the result."""
    i = cuda.grid(1)
    if i < a.size:
        out[0] += a[i] * b[i]

# %%
total = np.zeros(1, np.float32)
run = emulate(dot_wrong)[4, 256](total, a, b)
with expect(AssertionError):
    check(total, a @ b)
print(run.races[0])

film = watch(dot_wrong)[1, 2](np.zeros(1, np.float32), a, b)
film.cells("out", 0)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Where a sum is too small, ask for the races. This one names the same line twice: a thread loads `out[0]` there, and a thread of another block stores to it.
#
# **The belief:** "`+=` is one step."
# It is three: load, add, store. The film of two threads shows it. Both load 0, then both store, and what stays here is the product of thread 1; that of thread 0 is lost.
#
# The report has three more races of this line: between warps of a block, and of stores with stores. They have one cause, so one `cuda.atomic.add` removes all four. So begin with the first.
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernel, and its launches.
@cuda.jit
def dot(out, a, b):
    """Each thread adds the product of its two elements to the result."""
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(out, 0, a[i] * b[i])


for seed in range(4):
    total = np.zeros(1, np.float32)
    run = emulate(dot, seed=seed)[4, 256](total, a, b)
    print(check(total, a @ b), run.races, sep=", ")

# %% [markdown]
# ## Right, and slower than it could be
#
# Turn each pixel of an image into its negative. The answer is right, and yet there is a fault.

# %%
@cuda.jit
def negative_wrong(out, image):
    """Turn each pixel into its negative."""
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = 255 - image[row, col]

# %%
image = random.integers(0, 256, (64, 96)).astype(np.uint8)
out = np.zeros_like(image)
run = emulate(negative_wrong)[(2, 3), (32, 32)](out, image)
print(check(out, 255 - image), run, sep="\n")

# %% [markdown]
# <details><summary>Answer</summary>
#
# No answer shows this fault; only the report does: 32 sectors a request, where one would do.
#
# **The belief:** "the first number of `cuda.grid(2)` is the row."
# It is x, and neighbouring lanes differ in x. So x must choose the column, the last index: `col, row = cuda.grid(2)`. The launch counts blocks in the same order, along x first.
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernel, and its launch.
@cuda.jit
def negative(out, image):
    """Turn each pixel into its negative."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = 255 - image[row, col]


run = emulate(negative)[(3, 2), (32, 32)](out, image)
print(check(out, 255 - image), run, sep="\n")

# %% [markdown]
# ## Every count is too large
#
# How often did each face of a die come up? Each block counts its throws, then adds its counts to the result.

# %%
@cuda.jit
def throws_wrong(out, faces):
    """Each block counts its throws, then adds its counts to the result."""
    counts = cuda.shared.array(6, int32)
    i, thread = cuda.grid(1), cuda.threadIdx.x
    if i < faces.size:
        cuda.atomic.add(counts, faces[i], 1)
    cuda.syncthreads()
    if thread < 6:
        cuda.atomic.add(out, thread, counts[thread])

# %%
faces = random.integers(0, 6, 1000)
found = np.zeros(6, np.int32)
run = emulate(throws_wrong)[4, 256](found, faces)
with expect(AssertionError):
    check(found, np.bincount(faces))
run.uninitialised

# %% [markdown]
# <details><summary>Answer</summary>
#
# **The belief:** "shared memory starts at zero", as an array of `np.zeros` does.
# It starts with whatever was there before. Four blocks have 6 counts each, and the report's 24 cells are all of them.
#
# The emulator puts 205 into each of these cells, so each count is 4 · 205 = 820 too large. On a GPU they may happen to hold 0, and then the answer is right by luck.
#
# The fix is three lines, and the third is a barrier: nobody may count before the zeros are there.
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernel, and its launches.
@cuda.jit
def throws(out, faces):
    """Each block counts its throws, then adds its counts to the result."""
    counts = cuda.shared.array(6, int32)
    i, thread = cuda.grid(1), cuda.threadIdx.x
    if thread < 6:
        counts[thread] = 0
    cuda.syncthreads()
    if i < faces.size:
        cuda.atomic.add(counts, faces[i], 1)
    cuda.syncthreads()
    if thread < 6:
        cuda.atomic.add(out, thread, counts[thread])


for seed in range(4):
    found = np.zeros(6, np.int32)
    run = emulate(throws, seed=seed)[4, 256](found, faces)
    print(check(found, np.bincount(faces)), run.uninitialised, run.races,
          sep=", ")

# %% [markdown]
# ## Right for 1,024 samples, wrong for 1,000
#
# Each block adds up the squares of its 256 samples. Threads without a sample have nothing to do, so they return.

# %%
@cuda.jit
def power_wrong(out, a):
    """Each block adds up the squares of its 256 samples."""
    i, thread = cuda.grid(1), cuda.threadIdx.x
    if i >= a.size:
        return
    tile = cuda.shared.array(256, float32)
    tile[thread] = a[i] * a[i]
    half = 128
    while half > 0:
        cuda.syncthreads()
        if thread < half:
            tile[thread] += tile[thread + half]
        half //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = tile[0]

# %%
out = np.zeros(4, np.float32)
run = emulate(power_wrong)[4, 256](out, a)
print(out, run, sep="\n")
film = watch(power_wrong, block=3)[4, 256](out, a)
film.cells("tile", 232)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Only the last sum is wrong: its block has 232 samples for 256 threads.
# The report says two things: 24 threads missed the barrier, and 24 cells were read that nobody wrote. They are the cells of those threads.
# In the film of block 3, thread 104 loads cell 232, and nobody has stored to it.
#
# **The belief:** "a thread that has returned no longer counts."
# At a barrier, a GPU since Volta indeed does not wait for it. But the others still add up its cell.
#
# So every thread has something to do here: those without a sample store a 0.
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernel, at five sizes.
@cuda.jit
def power(out, a):
    """Each block adds up the squares of its 256 samples."""
    i, thread = cuda.grid(1), cuda.threadIdx.x
    tile = cuda.shared.array(256, float32)
    tile[thread] = a[i] * a[i] if i < a.size else float32(0)
    half = 128
    while half > 0:
        cuda.syncthreads()
        if thread < half:
            tile[thread] += tile[thread + half]
        half //= 2
    if thread == 0:
        out[cuda.blockIdx.x] = tile[0]


for n in 1, 255, 256, 257, 1000:
    run = emulate(power)[4, 256](out, a[:n])
    padded = np.pad(a[:n], (0, 1024 - n)).reshape(4, 256)
    print(n, check(out, (padded ** 2).sum(axis=1)), run.barriers, sep=", ")

# %% [markdown]
# ## Right with 32 threads, wrong with 64
#
# Each thread finds the largest element up to its own: in the first round among two elements, then among four, eight and so on. The report is long: read its first line, and then the film.

# %%
@cuda.jit
def peaks_wrong(out, a):
    """Each thread finds the largest element up to its own."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    step = 1
    while step < a.size:
        if thread >= step:
            tile[thread] = max(tile[thread], tile[thread - step])
        step *= 2
    out[thread] = tile[thread]

# %%
largest = np.maximum.accumulate(a[:64])
out = np.zeros(64, np.float32)
small = emulate(peaks_wrong)[1, 32](out[:32], a[:32])
print(check(out[:32], largest[:32]), small, sep="\n")
film = watch(peaks_wrong)[1, 64](out, a[:64])
with expect(AssertionError):
    check(out, largest)
print(film.cells("tile", 1))
film

# %% [markdown]
# <details><summary>Answer</summary>
#
# **The belief:** "all threads of a block go in step, so no barrier is needed."
#
# There are two warps, and no warp waits for another: play the film to see warp 1 finish before warp 0 begins. So thread 33 has loaded cell 1 before thread 1 stores to it.
# With 32 threads there is one warp, the answer is right, and the report still lists three races within a warp: CUDA does not promise that lanes stay together.
#
# Each round needs two barriers: all threads must have stored before anyone loads, and all must have loaded before anyone stores. So the load becomes a line of its own, between them. (A thread below `step` loads `tile[0]`, which never exceeds its own maximum.)
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernel, and its launches.
@cuda.jit
def peaks(out, a):
    """Each thread finds the largest element up to its own."""
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = a[thread]
    step = 1
    while step < a.size:
        cuda.syncthreads()
        before = tile[max(thread - step, 0)]
        cuda.syncthreads()
        tile[thread] = max(tile[thread], before)
        step *= 2
    out[thread] = tile[thread]


for seed in range(4):
    for n in 1, 33, 64:
        run = emulate(peaks, seed=seed)[1, n](out[:n], a[:n])
        print(n, check(out[:n], largest[:n]), run.races, run.races.minor,
              sep=", ")

# %% [markdown]
# ## Another answer for each seed
#
# In Conway's Game of Life a cell looks at the nine cells of its 3 × 3 square. If three of them are alive, it lives in the next step; if four are, it stays as it is; else it is dead. Opposite edges of the world meet.
# Each thread counts the living around its cell, and decides.

# %%
@cuda.jit
def live_wrong(world):
    """Each thread counts the living around its cell, and decides."""
    x, y = cuda.grid(2)
    n = world.shape[0]
    alive = 0
    for row in range(y - 1, y + 2):
        for col in range(x - 1, x + 2):
            alive += world[row % n, col % n]
    world[y, x] = alive == 3 or (alive == 4 and world[y, x] == 1)

# %%
start = random.integers(0, 2, (32, 32)).astype(np.int32)
alive = sum(np.roll(start, (row, col), (0, 1))
            for row in (-1, 0, 1) for col in (-1, 0, 1))
following = np.where(alive == 4, start, alive == 3)
for seed in range(4):
    world = start.copy()
    run = emulate(live_wrong, seed=seed)[(2, 2), (16, 16)](world)
    print(seed, (world != following).sum(), "cells are wrong")
run.races

# %% [markdown]
# <details><summary>Answer</summary>
#
# An answer that changes with the seed, by more than rounding, depends on the order of warps or blocks. So ask for the races, and read all of them: the advice for the first is a barrier, but the second is between blocks, where no `syncthreads` reaches. The fix must remove both.
#
# **The belief:** "all threads read before anyone writes."
# Those that run later find their neighbours' next state.
#
# With a second array, nobody stores where others load.
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernel, and its launches.
@cuda.jit
def live(new, world):
    """Each thread counts the living around its cell, and decides."""
    x, y = cuda.grid(2)
    n = world.shape[0]
    alive = 0
    for row in range(y - 1, y + 2):
        for col in range(x - 1, x + 2):
            alive += world[row % n, col % n]
    new[y, x] = alive == 3 or (alive == 4 and world[y, x] == 1)


for seed in range(4):
    world = np.zeros_like(start)
    run = emulate(live, seed=seed)[(2, 2), (16, 16)](world, start)
    print(seed, check(world, following), run.races, sep=", ")

# %% [markdown]
# ## Shares that are more than the whole
#
# Each thread adds its element to the total, waits, and computes its share. All shares together must be 1.

# %%
@cuda.jit
def shares_wrong(out, total, a):
    """Each thread adds to the total, waits, and computes its share."""
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(total, 0, a[i])
    cuda.syncthreads()
    if i < a.size:
        out[i] = a[i] / total[0]

# %%
out = np.zeros(1000, np.float32)
for seed in range(4):
    total = np.zeros(1, np.float32)
    run = emulate(shares_wrong, seed=seed)[4, 256](out, total, a)
    print(seed, out.sum())
run.races

# %% [markdown]
# <details><summary>Answer</summary>
#
# With two of the four seeds, some blocks divided by a total that was not complete. The report names both lines, with threads of two blocks. Launch one block, for 250 elements, and all sums are 1 but for rounding.
#
# **The belief:** "`syncthreads` waits for the other blocks."
# It waits for the threads of its own block only.
#
# The report offers two remedies. An atomic load is not enough: it may still come too early, as we shall see.
# Two launches, cut at the barrier, give the right order.
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernels, and their launches.
@cuda.jit
def add_up(total, a):
    """Each thread adds its element to the total."""
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(total, 0, a[i])


@cuda.jit
def divide(out, total, a):
    """Each thread computes its share of the total."""
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] / total[0]


for seed in range(4):
    total = np.zeros(1, np.float32)
    emulate(add_up, seed=seed)[4, 256](total, a)
    run = emulate(divide, seed=seed)[4, 256](out, total, a)
    print(check(out, a / a.sum()), run.races, sep=", ")

# %% [markdown]
# ## It stops before the end
#
# Average each sample with the next; beyond the end there are zeros. There is one block of 256 threads, for up to 255 samples, and each of its threads comes to a barrier.

# %%
@cuda.jit
def smooth_wrong(out, a):
    """Average each sample with the next; beyond the end there are zeros."""
    tile = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    if thread < a.size:
        tile[thread] = a[thread]
        cuda.syncthreads()
    else:
        tile[thread] = 0
        cuda.syncthreads()
    if thread < a.size:
        out[thread] = (tile[thread] + tile[thread + 1]) / 2

# %%
out = np.zeros(200, np.float32)
with expect(RuntimeError):
    emulate(smooth_wrong)[1, 256](out, a[:200])

# %% [markdown]
# <details><summary>Answer</summary>
#
# `emulate` stops, and says who waits where: threads 0 to 199 at one barrier, 200 to 255 at the other. And threads 199 and 200 are lanes of one warp.
#
# **The belief:** "a barrier in each branch is as good as one after both."
# All threads must come to the *same* barrier, so it belongs after the branches.
#
# What a GPU would do is left open by CUDA, so be glad of the error. (This course ran four smaller kernels on an H200, with `tests/on_gpu/hangs.py`. One of them, in which each half of a warp comes to a barrier of its own, came to its end. Another, with a barrier of the *grid* to which not all blocks come, had not ended after 20 seconds.)
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernel, at six sizes.
@cuda.jit
def smooth(out, a):
    """Average each sample with the next; beyond the end there are zeros."""
    tile = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    if thread < a.size:
        tile[thread] = a[thread]
    else:
        tile[thread] = 0
    cuda.syncthreads()
    if thread < a.size:
        out[thread] = (tile[thread] + tile[thread + 1]) / 2


out = np.zeros(255, np.float32)
for n in 1, 31, 32, 33, 200, 255:
    run = emulate(smooth)[1, 256](out[:n], a[:n])
    after = np.append(a[1:n], np.float32(0))
    print(n, check(out[:n], (a[:n] + after) / 2), run.barriers, sep=", ")

# %% [markdown]
# ## Right, and slow on some GPUs
#
# A step of a game: everything falls for a 60th of a second.

# %%
@cuda.jit
def fall_wrong(height, speed):
    """Everything falls for a 60th of a second."""
    i = cuda.grid(1)
    if i < height.size:
        speed[i] -= 9.81 / 60
        height[i] += speed[i] / 60

# %%
height, speed = np.full(1000, 2, np.float32), b.copy()
run = emulate(fall_wrong)[4, 256](height, speed)
print(check(height, 2 + (b - 9.81 / 60) / 60), run, sep="\n")

# %% [markdown]
# <details><summary>Answer</summary>
#
# **The belief:** "the arrays are `float32`, so the arithmetic is."
# A number with a point is a float64 in Numba, and so is a `float32` divided by an integer of 32 or 64 bits. The report names both lines.
#
# GPUs for games do a 64th or so as many float64 operations as `float32` ones. What one costs is in [Read what a line becomes](31_types_and_instructions.ipynb).
#
# </details>

# %% tags=["hide-input", "answer"]
# The fixed kernel.
@cuda.jit
def fall(height, speed):
    """Everything falls for a 60th of a second."""
    i = cuda.grid(1)
    if i < height.size:
        speed[i] -= float32(9.81 / 60)
        height[i] += speed[i] * float32(1 / 60)


height, speed = np.full(1000, 2, np.float32), b.copy()
run = emulate(fall)[4, 256](height, speed)
print(check(height, 2 + (b - 9.81 / 60) / 60), run, sep="\n")

# %% [markdown]
# **Predict.** One of the fixed kernels above has a float64 by Numba's types, too. Which? And does a GPU compute in it?
#
# <details><summary>Answer</summary>
#
# `smooth`: it divides by 2, an integer. But that is one operation, stored as a `float32`, so the compiler makes an `FMUL` of it, as in [five lines that look alike](31_types_and_instructions.ipynb). Write `* float32(0.5)` all the same.
#
# </details>
#
# ## An energy below zero
#
# Each thread adds up the squares of one channel's samples. No sum of squares is negative, but some of these are.

# %%
@cuda.jit
def energy(out, samples):
    """Each thread adds up the squares of one channel's samples."""
    channel = cuda.grid(1)
    if channel < out.size:
        total = 0
        for time in range(samples.shape[0]):
            total += samples[time, channel] ** 2
        out[channel] = total


samples = random.integers(-2**15, 2**15, (100, 40)).astype(np.int16)
expected = (samples.astype(np.int64) ** 2).sum(axis=0)
narrow = np.zeros(40, np.int32)
run = emulate(energy)[2, 32](narrow, samples)
with expect(AssertionError):
    check(narrow, expected)
print(narrow[narrow < 0], run, sep="\n")

# %% [markdown]
# <details><summary>Answer</summary>
#
# The kernel is right. The array that it is given for its result is not.
#
# **The belief:** "Numba computes integers in 64 bits, so nothing overflows."
# The sum has 64 bits and is right. The store to an `int32` keeps its last 32 bits; the emulator warns, and a GPU does not.
# The fix is the result's type. (What else the reports say is no fault: arrays of NumPy go to the GPU and back at each launch, and a row of 80 bytes, unlike the ideal, may begin within a sector.)
#
# </details>

# %% tags=["hide-input", "answer"]
# The case fixed, and its report.
wide = np.zeros(40, np.int64)
run = emulate(energy)[2, 32](wide, samples)
print(check(wide, expected), run.warnings)

# %% [markdown]
# ## Right, and slower than its twin
#
# Each lane multiplies one row of a matrix by a vector. The rows come through a tile, so that every request to global memory is coalesced.

# %%
def make_multiply(width):
    """A kernel whose tile has rows of this width."""
    @cuda.jit
    def multiply(out, matrix, x):
        """Each lane multiplies one row of a matrix by a vector."""
        tile = cuda.shared.array((32, width), float32)
        lane = cuda.threadIdx.x
        for row in range(32):
            tile[row, lane] = matrix[row, lane]
        cuda.syncwarp()
        total = float32(0)
        for col in range(32):
            total += tile[lane, col] * x[col]
        out[lane] = total
    return multiply


matrix = random.random((32, 32), dtype=np.float32)
out = np.zeros(32, np.float32)
run = emulate(make_multiply(32))[1, 32](out, matrix, b[:32])
print(check(out, matrix @ b[:32]), run, sep="\n")

# %% [markdown]
# <details><summary>Answer</summary>
#
# **The belief:** "each thread walks along its row, so memory is read in order."
# What counts is where the *lanes* are in one step. With a width of 32, theirs are 32 words apart, in one bank. With 33, they are in 32 banks.
#
# </details>

# %% tags=["hide-input", "answer"]
# The case fixed, and its report.
run = emulate(make_multiply(33))[1, 32](out, matrix, b[:32])
print(check(out, matrix @ b[:32]), run, sep="\n")

# %% [markdown]
# ## What no report finds
#
# Back to the shares that were more than the whole. The report offered an atomic load, and here it is.
#
# **Predict.** What does the report say now? And what is the sum of all shares?

# %%
@cuda.jit
def shares_still_wrong(out, total, a):
    """Each thread adds, waits, and divides by what an atomic loads."""
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(total, 0, a[i])
    cuda.syncthreads()
    if i < a.size:
        out[i] = a[i] / cuda.atomic.add(total, 0, float32(0))


out = np.zeros(1000, np.float32)
for seed in range(4):
    total = np.zeros(1, np.float32)
    run = emulate(shares_still_wrong, seed=seed)[4, 256](out, total, a)
    print(seed, out.sum(), run.races, sep=", ")

# %% [markdown]
# <details><summary>What it means</summary>
#
# It finds no race, and the sums are wrong with two of the four seeds. Each access is atomic, so there is no race; but that the total is complete is your wish, and no report knows it.
#
# **The belief:** "no finding, so it is right."
# Only `check` compares with what you want.
#
# </details>
#
# A report cannot know how many elements you have.
#
# **Predict.** Launch the fixed `changes` in 3 blocks instead of 4. What does the report find? And what does `check` say if the array holds the right results of the launch before?
#
# <details><summary>Answer</summary>
#
# The report finds nothing wrong: each of 768 threads did as it was told. Nobody made the last 231 results. In an array full of NaN they are NaN, and `check` asks whether the grid is a block short. In the old array it finds every value right.
#
# So round the number of blocks up, `(n + 255) // 256`, and fill the array with NaN. Or let a kernel serve any grid by a *grid-stride loop*, which goes on by as many elements as there are threads.
#
# </details>

# %% tags=["hide-input", "answer"]
# Three blocks: into NaN, into what is right, and by a grid-stride loop.
@cuda.jit
def changes_by_any_grid(out, a):
    """Each thread makes differences that are a whole grid apart."""
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = a[i + 1] - a[i]


for kernel, before in ((changes, np.nan), (changes, np.diff(a)),
                       (changes_by_any_grid, np.nan)):
    out = np.full(999, before, np.float32)
    run = emulate(kernel)[3, 256](out, a)
    print((out != np.diff(a)).sum(), "values are wrong,", run.races)

# %% [markdown]
# ## Right, and only by luck
#
# A GPU may give the right result each time, and the kernel is wrong all the same. The report names most such faults though nothing went wrong; `check` names none.
#
# | fault | why the result is right | what shows it |
# |---|---|---|
# | a race between lanes of one warp | the lanes happened to go together | `run.races.minor` |
# | many threads store the same value | whoever is last, the value is the same | `run.races.minor`: "all store 1" |
# | shared memory that nobody cleared | it happened to hold 0 | `run.uninitialised` |
# | a missing barrier | the warps came in a lucky order | `run.races` |
# | a missing guard | the size is a multiple of the block | a size that is not |
# | a block too few | the launch before had filled the array | NaN |
#
# Luck can end with the next compiler, GPU or size. In [Wait for one another](15_barriers_and_races.ipynb) two warps without their barrier were right in 1,000 of 1,000 launches on an H200. Where the compiler knew the array's size, half were wrong.
#
# Only the second may stay, if all stores are equal by design, as with a flag. A remark beside the line should say so.

# %% [markdown]
# ## What to ask first
#
# | symptom | ask | the fault is often |
# |---|---|---|
# | an error | what it says | an index that the guard does not ask about |
# | every value too large by the same | `run.uninitialised` | a cell that does not begin at 0 |
# | a sum too small | `run.races` | `+=` by many threads |
# | NaN, or strange numbers | `run.uninitialised` | memory that nobody wrote |
# | wrong in the last block | `run.barriers`, `run.uninitialised` | threads without an element: a cell that nobody fills, or a missed barrier |
# | another answer for each run or seed, beyond rounding | `run.races` | a missing barrier, or one that does not reach |
# | it stops, or never comes back | `emulate`, not the GPU | a barrier in a branch |
# | numbers that jump below zero | `run.warnings` | a type too narrow |
# | right, and slow | the whole report | sectors, conflicts, float64 |
#
# The left column is all that a program of your own tells you. So begin there.
#
# Is it rounding, or a race? `dot` gives other last digits with another seed, and has no race: atomics add in another order, and each addition rounds. To tell the two apart, take whole numbers so small that no sum rounds, up to 2^24 in float32. If the result still changes, it is a fault.

# %% [markdown]
# ## On a GPU
#
# Write the kernel and one small launch to a file, the kernel with `@cuda.jit(lineinfo=True)`. Then run it under a tool of NVIDIA's that says which line is at fault:
#
#     compute-sanitizer --tool racecheck python program.py
#
# | tool | asks like |
# |---|---|
# | `memcheck` | an index that leaves its *allocation*: an error |
# | `racecheck` | `run.races`, but in shared memory only, and not where all store the same |
# | `initcheck` | `run.uninitialised`; in version 2025.3.1, not of shared memory |
# | `synccheck` | `run.barriers`, but not where threads have returned |
#
# Of this page's races, `racecheck` finds those of *Right with 32 threads*; all others are in global memory. None of the four knows that a grid is too short or a type too narrow.

# %% [markdown]
# *An error at the wrong line:* a launch returns before its kernel has run, so Python may raise the kernel's error at a later call. Put `cuda.synchronize()` after each launch, until you know which one fails. Then start Python anew: after an illegal address, each further call gives the same error.
#
# *Slow, or hanging?* Launch it for half of the data, then a quarter. The time of a slow kernel falls with the work. One that hangs may return at some sizes, and at others never.

# %% [markdown]
# Then `emulate` a small launch. If all threads wait at barriers that others will not reach, or repeat a loop in which nothing changes, it stops and names the line. If a loop is only long, it says every now and then that it still runs, where, and how many blocks are done.

# %% [markdown]
# ## Three without an answer
#
# Now without an answer. Each of the next three kernels has one fault by CUDA's rules: the answers may be right all the same. Nobody has written down here what is wrong.
#
# Copy a kernel into a cell of its own, so that a report counts its lines as you do. Choose launches that its author did not think of: step 1 says which. Then answer with the line and the kind, as the exercise asks.

# %%
three = exercise("three_kernels")
three

# %%
three_kernels = {
    "line of A": ...,
    "kind of A": ...,
    "line of B": ...,
    "kind of B": ...,
    "line of C": ...,
    "kind of C": ...,
}


three.check(three_kernels)

# %% [markdown]
# If you are stuck, check what you have. Then `three.hint()` says how to go on, and not what you find.
#
# ## On your own
#
# ★ `exercise("brightest")`, in the assignment: threads look at a cell, and then store to it.
#
# ★★ `average`: the thread with the highest number divides the sum, as if it were the last to *run*. Fix it.

# %%
task = exercise("average")
task

# %%
@cuda.jit
def average(out, a):
    """Each thread adds its element; the last one divides."""
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(out, 0, a[i])
        if i == a.size - 1:
            out[0] /= a.size


task.check(average)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def average(out, a):
#     """Each thread adds its part of the average."""
#     i = cuda.grid(1)
#     if i < a.size:
#         cuda.atomic.add(out, 0, a[i] / float32(a.size))
# ```
#
# Nobody has to be the last. And `a[i] / a.size` would be a float64.
#
# </details>
#
# The [assignment](assignments/34_find_the_bug.ipynb) has 7 exercises, these among them.

# %% [markdown]
# ## In practice
#
# Your own kernel is longer than these. Cut it down, with fewer blocks, fewer elements or one loop less, until the symptom goes; then undo the last cut.
#
# The emulator sees what this launch did. Another size or other data may reach another line, so keep the loop over sizes and seeds as a test.
#
# One question stays open: which of your own kernels have you run with one size and one seed only?
#
# *Next:* [Multiply matrices of any shape](35_any_shape.ipynb): a kernel can be right for every size, and fast for few; what do the others leave idle?

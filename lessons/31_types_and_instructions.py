# %% [markdown]
# # Read what a line becomes
#
# *95 minutes*
#
# **What you'll do:** read the machine instructions that the lines of a kernel become, remove those that nobody meant to write, and find out which of them cost time.
#
# **What you'll learn:**
#
# - read a line's types beside its instructions
# - predict the type of an expression in Numba, and where NumPy 2 gives another
# - find the signed index, the division or the float64 that crept in
# - tell what a kernel waits for from what it is short of
#
# **What you'll need:** kernels and their guard, as in [Write your first kernel](01_first_kernel.ipynb), and issue slots, as in [Keep a warp together](02_warps.ipynb).

# %%
import math

import numpy as np
from numba import cuda, float32, float64, int32, int64, uint32, uint64

from helpers import (assemble, check, compare, device, emulate, exercise,
                     expect, measure, plot_instructions, table)

device

# %% [markdown]
# ## Which of the two is slow?
#
# Each month an account earns 0.4% and receives a deposit of 100.
# The two kernels below compute what is in it after ten years, for any number of accounts.
# They differ only in how they write two constants, and their results agree.
# Yet on an H200 one of them takes one and a half times as long as the other, and by NVIDIA's numbers it would be far worse on a laptop's GPU.
# Which one is it, and how can you tell without a GPU?

# %%
MONTHS = 120


@cuda.jit
def save(out, balance):
    """Grow a balance month by month."""
    i = cuda.grid(1)
    if i < balance.size:
        value = balance[i]
        for _ in range(MONTHS):
            value = value * 1.004 + 100
        out[i] = value


@cuda.jit
def save_narrow(out, balance):
    """Grow a balance month by month."""
    i = cuda.grid(1)
    if i < balance.size:
        value = balance[i]
        for _ in range(MONTHS):
            value = value * float32(1.004) + float32(100)
        out[i] = value


# %%
def grown(balance):
    """The balances after ten years."""
    value = balance.astype(np.float64)
    for _ in range(MONTHS):
        value = value * 1.004 + 100
    return value


start = np.linspace(0, 5000, 1000, dtype=np.float32)

for kernel in save, save_narrow:
    later = np.full(1000, np.nan, np.float32)
    emulate(kernel)[4, 256](later, start)
    check(later, grown(start), rtol=1e-5)

# %% [markdown]
# ## A line and its instructions
#
# Learn to read on a shorter kernel, which adds `a` times `x` to `y`.

# %%
@cuda.jit
def saxpy(a, x, y):
    """Add `a` times `x` to `y`."""
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


x, y = np.ones((2, 1000), np.float32)
a = np.float32(2)

# %% [markdown]
# **Predict.** The last line loads twice, multiplies, adds and stores. How many machine instructions does it become?
#
# <details><summary>Answer</summary>
#
# Not five. The two loads and the store are there, but the product and the sum are one instruction, and twenty others compute addresses or fetch the kernel's arguments. (Then come `EXIT`, the end, and a branch behind it that never runs.)
#
# </details>

# %%
made = assemble(saxpy)[4, 256](a, x, y)
made

# %% [markdown]
# `assemble` compiles the kernel with Numba and NVIDIA's compiler, neither of which needs a GPU, and lists the machine **instructions** (NVIDIA: *SASS*) of each line; open a line to read them.
# Beside a line you see the types that Numba inferred for its variables: `a` is a `float32`, `i` an `int64`.
# A △ marks a small cost, and a ▲ a larger one.
#
# `LDG` loads from global memory, and `STG` stores to it.
# `FFMA` is a **fused multiply-add**, `a * x + y` in one instruction.
# It is the only one of the 36 that computes what you asked for.

# %%
plot_instructions({"saxpy": made.kinds})

# %% [markdown]
# Half of them compute the index, compare it with the size, and find addresses.
# The *arguments* and the launch's sizes lie in constant memory, and `LDC` and `ULDC` fetch them.
# *Moves* read the thread's index, copy a number, or choose one of two.
# The rest is *control*. The guard's `ISETP` sets a *predicate*, a bit for each lane, and `@P0 EXIT` ends the lanes whose bit is set.

# %% [markdown]
# ## One rounding instead of two
#
# A fused multiply-add rounds once, at its end.
# Where `a * x` and `y` nearly cancel, you see what a rounding in between loses:

# %%
@cuda.jit
def fused_and_not(out, a, y):
    """Compute a² + y, rounded once and rounded twice."""
    out[0] = cuda.fma(a, a, y)
    square = a * a
    out[1] = square + y


near = float32(1 + 2**-12)
out = np.zeros(2, np.float32)
emulate(fused_and_not)[1, 1](out, near, -(near * near))
found = assemble(fused_and_not)[1, 1](out, near, -(near * near)).opcodes
out, {name: found[name] for name in ("FFMA", "FMUL", "FADD")}

# %% [markdown]
# The square of `near` has more digits than a `float32` holds, and rounding cuts off 2⁻²⁴, or 5.96 · 10⁻⁸.
# The emulator rounds after each operation that you wrote, so its second result is 0.
# The compiler fuses a product and a sum wherever it can: one `FFMA` serves both lines, and on an H200 both results are 2⁻²⁴.
# So last digits may differ from NumPy's, which rounds after each operation. (`fmul_rn(a, a)`, from `numba.cuda.libdevice`, is a product that no compiler fuses.)

# %% [markdown]
# ## The sign, or the width?
#
# Why does `saxpy` need 18 instructions for an index and two elements?
#
# *The sign.* As in Python, a negative index counts from the end. So each array's access looks at the index's sign, and adds the array's size where it is set.
#
# *The width.* Numba computes indices in 64 bits, but a GPU's registers have 32. So an index takes two registers, and a sum of two indices two instructions: the second adds what the first has carried.
#
# Change one at a time: compile the kernel for an index of any type `T`.
# (The size is passed too, as `n`: `x.size` is an `int64`, and comparing with it takes 64 bits.)

# %%
def make_saxpy(T):
    """The same for an index of type T, below a size of that type."""
    @cuda.jit
    def saxpy_typed(a, x, y, n):
        """Add `a` times `x` to `y`, with an index of type T."""
        i = T(cuda.grid(1))
        if i < n:
            y[i] = a * x[i] + y[i]
    return saxpy_typed


# %% [markdown]
# **Predict.** Which needs fewer instructions: a signed index of 32 bits, `int32`, or an unsigned one of 64, `uint64`?

# %% tags=["hide-input"]
# Assembles it for four types of index.
typed = {(T, dtype): assemble(make_saxpy(T))[4, 256](a, x, y, dtype(1000))
         for T, dtype in ((int64, np.int64), (int32, np.int32),
                          (uint64, np.uint64), (uint32, np.uint32))}
typed = {str(T): it for (T, _), it in typed.items()}
long = {name: len(it.instructions) for name, it in typed.items()}
table(["instructions", "64 bits", "32 bits"],
      [("signed", long["int64"], long["int32"]),
       ("unsigned", long["uint64"], long["uint32"])])

# %% [markdown]
# Go down a column: the sign costs 10 instructions at 64 bits, and 14 at 32.
# Go along a row: the width costs 2 if the index is signed, and 6 if it is not.
#
# An `int32` looks thrifty, but it may still be negative, so its sign is still looked at. Only a `uint32` gets rid of both.

# %%
plot_instructions({name: it.kinds for name, it in typed.items()})

# %% [markdown]
# Loads, stores and arithmetic are the same in all four; what is left for addresses falls from 18 to 4.

# %% [markdown]
# ## What type is `u + 1`?
#
# Types follow from three rules:
#
# 1. A plain number has a type, too: `1` is an `int64`, and `1.0` a float64.
# 2. Two integers make one of 64 bits, unsigned only if both are.
# 3. Two floats make the wider of the two; a `float32` and an integer of 32 or 64 bits make a float64.
#
# They hold for `+ - * // %`; `/` of two integers is a float64, and `min` or `max` of two numbers of one type keeps it. A conversion gives what it is called: `uint32(u + 1)`. And a root, an exponential, or a whole power such as `v ** 2` of a float keeps its type.

# %% [markdown]
# **Predict.** `v` is a `float32`, `u` a `uint32` and `n` an `int64`. What are the types of `v * 2.5`, `v * n`, `u + 1`, `u + u`, `v ** 2` and `max(v, 0)` in a kernel?
#
# <details><summary>Answer</summary>
#
# float64, float64, int64, uint64, float32 and float64. Only the square has 32 bits.
#
# </details>

# %%
@cuda.jit
def mixed(out, v, u, n):
    """Combine numbers of several types."""
    scaled = v * 2.5
    product = v * n
    following = u + 1
    double = u + u
    square = v ** 2
    positive = max(v, 0)
    out[0] = scaled + product + following + double + square + positive


# %% tags=["hide-input"]
# Reads the types in Numba, and computes the same in NumPy.
v, u, n = np.float32(3), np.uint32(7), np.int64(5)
inferred = {}
for names in assemble(mixed)[1, 1](np.zeros(1), v, u, n).variables.values():
    inferred.update(names)
in_numpy = {"scaled": v * 2.5, "product": v * n, "following": u + 1,
            "double": u + u, "square": v ** 2, "positive": np.maximum(v, 0)}
table(["", "NumPy 2", "Numba"],
      [(name, str(value.dtype), inferred[name])
       for name, value in in_numpy.items()])

# %% [markdown]
# NumPy differs in four of the six: since version 2 it lets a plain number take the type of its partner. And it always added two `uint32` in 32 bits.
#
# So in a kernel, cast each step that is to stay at 32 bits: `uint32(u + 1)`, `max(v, float32(0))`.
#
# By the second rule a number of few bits wraps around only where it is stored. Here, pixels have 8:

# %%
@cuda.jit
def brighten(out, image, more):
    """Add a number to each pixel."""
    i = cuda.grid(1)
    if i < image.size:
        out[i] = image[i] + more


# %% tags=["hide-input"]
# Adds 100 to four pixels, in NumPy and in the kernel.
image, more = np.array([10, 100, 200, 250], np.uint8), np.uint8(100)
bright, wide = np.zeros(4, np.uint8), np.zeros(4, np.int64)
emulate(brighten)[1, 32](wide, image, more)
run = emulate(brighten)[1, 32](bright, image, more)
print(table(["", *map(str, image)], [
    ("NumPy", *(image + more)), ("Numba, into int64", *wide),
    ("Numba, into uint8", *bright)]))
run.warnings[0]

# %% [markdown]
# 200 + 100 is 300 in Numba, and 44 in NumPy, which adds in 8 bits.
# In Numba it wraps around only when it is stored to a `uint8`. The emulator says so; a GPU does not.
#
# ## Divide an index
#
# To find the row and the column of an index you divide. But a GPU has no instruction that divides integers. What does a division become?

# %%
WIDTH = uint32(1000)


@cuda.jit
def split(rows, cols, width):
    """Each thread splits its index into a row and a column."""
    i = cuda.grid(1)
    if i < rows.size:
        rows[i] = i // width
        cols[i] = i % width


@cuda.jit
def split_32(rows, cols, width, n):
    """The same with unsigned numbers of 32 bits."""
    i = uint32(cuda.grid(1))
    if i < n:
        rows[i] = i // width
        cols[i] = i % width


# %%
@cuda.jit
def split_known(rows, cols, n):
    """The same with a width that the compiler knows."""
    i = uint32(cuda.grid(1))
    if i < n:
        rows[i] = i // WIDTH
        cols[i] = i % WIDTH


rows, cols = np.zeros((2, 4000), np.uint32)
few = np.uint32(4000)
splits = {split: (1000,), split_32: (WIDTH, few), split_known: (few,)}
for kernel, sizes in splits.items():
    emulate(kernel)[16, 256](rows, cols, *sizes)
    check([rows, cols], np.divmod(np.arange(4000, dtype=np.uint32), 1000))

# %% tags=["hide-input"]
# Assembles the three, and counts their instructions.
divided = {kernel.py_func.__name__: assemble(kernel)[16, 256](rows, cols, *it)
           for kernel, it in splits.items()}
compare(divided, "machine instructions",
        {"calls": lambda it: it.kinds["calls"],
         "MUFU": lambda it: it.opcodes["MUFU"]}, by="kernel")

# %% [markdown]
# For signed numbers of 64 bits, the quotient and the remainder each have a **routine**: instructions outside the line, which the line calls where a number needs more than 32 bits.
# Two `uint32` make a `uint64`, but the compiler sees that its upper half is empty, and divides without a call: `MUFU` estimates the reciprocal of the width, and integer instructions make the quotient exact.
# If the compiler knows the width, a product with a precomputed factor and a shift replace the division.
#
# ## Below zero
#
# An unsigned number has nothing below zero: `0 - 1` wraps around to the largest number of its type.
# Here each thread subtracts the previous element from its own, and forgets that the first has none:

# %%
@cuda.jit
def differences_wrong(out, x):
    """Each thread subtracts the previous element from its own."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] - x[i - 1]


@cuda.jit
def differences_32_wrong(out, x):
    """The same, with an index of 32 bits."""
    i = uint32(cuda.grid(1))
    if i < x.size:
        out[i] = x[i] - x[uint32(i - 1)]


steps = np.zeros(1000, np.float32)
ramp = np.arange(1, 1001, dtype=np.float32)
emulate(differences_wrong)[4, 256](steps, ramp).warnings[0]

# %%
with expect(IndexError):
    emulate(differences_32_wrong)[4, 256](steps, ramp)

# %% [markdown]
# Index `-1` is the last element: a wrong number, and no error.
# Index 4,294,967,295 lies 17 GB beyond the array's start: a GPU reads whatever is there, or stops the program.
# Both need a second guard, against the first element:

# %%
@cuda.jit
def differences(out, x):
    """Each thread but the first subtracts the previous element."""
    i = uint32(cuda.grid(1))
    if 0 < i < x.size:
        out[i] = x[i] - x[uint32(i - 1)]


emulate(differences)[4, 256](steps, ramp)
check(steps[1:], np.diff(ramp))

# %% [markdown]
# ## A float64 creeps in
#
# **Predict.** Back to the savings: what is the type of `value` in `save`, and what in `save_narrow`?
#
# <details><summary>Answer</summary>
#
# `1.004` is a float64, so `value * 1.004` is one, too. A variable has one type for the whole loop: float64 in `save`, `float32` in `save_narrow`. (In both, an account that was empty ends with 15,363.)
#
# </details>

# %%
wide_made = assemble(save)[4, 256](later, start)
narrow_made = assemble(save_narrow)[4, 256](later, start)
wide_made.beside(narrow_made)

# %% [markdown]
# `save` converts its balance to float64, does 120 fused multiply-adds in float64, and converts back.
# `save_narrow` does as many in `float32`: nearly the same number of instructions, but other units execute them.
# The loop is gone: the compiler knows how often it runs, and wrote it out. Were `MONTHS` an argument, it would stay.
# How many `float32` operations can the device do for each one in float64?

# %%
cuda.get_current_device().SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO

# %% [markdown]
# An H200 does half as many float64 operations in a cycle as `float32` ones.
# GPUs for laptops and games do a 64th or so, by [NVIDIA's table](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#arithmetic-instructions-throughput-native-arithmetic-instructions).
#
# ## Five lines that look alike
#
# In each of the five lines below a `float32` meets a Python number, so Numba types all five results as float64.
# Yet they are stored as `float32`; and where the stored digits cannot differ, the compiler computes in `float32` after all.
#
# `v * 2.5`, computed in float64 and then rounded, always is the `float32` product. So is any *one* operation of `+ - * /` on numbers that a `float32` holds.
# But it does not hold `2.6`. And between two operations float64 keeps digits that `float32` would drop.
#
# **Predict.** In which of the five lines does the GPU compute in float64?
#
# <details><summary>Answer</summary>
#
# In the second, the third and the fifth, whose power, with an exponent that is no whole number, is a routine in float64.
#
# </details>

# %%
@cuda.jit
def five_ways(out, x):
    """Compute five functions of `v`."""
    i = uint32(cuda.grid(1))
    v = x[i]
    out[0, i] = v * 2.5
    out[1, i] = v * 2.6
    out[2, i] = v * 2.5 + 1
    out[3, i] = 1 / v
    out[4, i] = v ** 0.5


@cuda.jit
def five_ways_narrow(out, x):
    """Compute the same without a float64."""
    i = uint32(cuda.grid(1))
    v = x[i]
    out[0, i] = v * float32(2.5)
    out[1, i] = v * float32(2.6)
    out[2, i] = v * float32(2.5) + float32(1)
    out[3, i] = float32(1) / v
    out[4, i] = math.sqrt(v)


# %%
positive = np.linspace(1, 2, 1024, dtype=np.float32)
ways = np.zeros((5, 1024), np.float32)
expected = [positive * 2.5, positive * 2.6, positive * 2.5 + 1, 1 / positive,
            positive**0.5]

for kernel in five_ways, five_ways_narrow:
    emulate(kernel)[4, 256](ways, positive)
    check(ways, expected)

careless = assemble(five_ways)[4, 256](ways, positive)
careless

# %% [markdown]
# Look for opcodes that begin with `D`, for *double*.
# Do not count on what a compiler proves: cast each constant.
#
# <details><summary>For the curious: where are the marks ▲, and why three `F2F`?</summary>
#
# They tell of conversions and routines. So the third line, whose number the second has converted, has none, and the fourth has one for a routine in `float32`.
# The third `F2F` of the second line belongs to the power below.
#
# </details>

# %%
five_ways_fast = cuda.jit(fastmath=True)(five_ways_narrow.py_func)
careful, fast = (assemble(kernel)[4, 256](ways, positive)
                 for kernel in (five_ways_narrow, five_ways_fast))
plot_instructions({"five_ways": careless.kinds, "narrow": careful.kinds,
                   "narrow, fastmath": fast.kinds})

# %% [markdown]
# `five_ways_narrow` has no float64 left. The third bar is the same source with `fastmath=True`, which also removes both routines.
#
# ## Exact, or fast
#
# Floats have no instruction that divides, either. `MUFU` estimates a reciprocal or a root; the rest of the line, with a routine for very large and very small numbers, turns that into the nearest `float32`.
# With `fastmath` nothing corrects the estimate, and `math.sin`, too, becomes a `MUFU`. These were an H200's largest errors, for 4 million random numbers each:
#
# | | default | fastmath |
# |---|---|---|
# | `a / b`, a and b from 2⁻⁶⁰ to 2⁶⁰, in spacings of `float32` at the exact result | 0.50 | 2.05 |
# | `1 / v`, the same | 0.50 | 0.97 |
# | `math.sqrt(v)`, the same | 0.50 | 0.94 |
# | `math.sin(v)`, v from 0 to 100 | 8.8 · 10⁻⁸ | 1.0 · 10⁻⁵ |
# | `math.sin(v)`, v from 0 to 10,000 | 8.8 · 10⁻⁸ | 1.2 · 10⁻³ |
# | the result of 2¹²⁷ / 2¹²⁷ | 1 | 0 |
# | the result of `math.sqrt` of 10⁻⁴⁰ | 10⁻²⁰ | 0 |
#
# <details><summary>For the curious: the last two rows, and where these errors come from</summary>
#
# The estimated reciprocal of a number above 2¹²⁶ is 0, and so is each quotient; a number below 2⁻¹²⁶ counts as 0.
# `python -m pytest tests/on_gpu/test_said_in_lessons.py`, in the course's folder, finds such errors on your GPU.
#
# </details>

# %% [markdown]
# ## What the clock says
#
# Do fewer instructions take less time?
# Each kernel runs on 16 million elements. The first does nothing, and so shows how long the blocks take to start and end.

# %%
@cuda.jit
def end_at_once(out):
    """Each thread ends at once."""


# %% tags=["timing", "hide-input"]
# Measures the kernels of this page, two or three of a kind.
N = 2**24
many, more = np.linspace(1, 5000, 2 * N, dtype=np.float32).reshape(2, N)
rows, cols = np.zeros((2, N), np.uint32)
five, size = np.zeros((5, N), np.float32), np.uint32(N)
launches = {
    "no work": (end_at_once, more),
    "saxpy": (saxpy, a, many, more),
    "saxpy, uint32": (make_saxpy(uint32), a, many, more, size),
    "split": (split, rows, cols, 1000),
    "split_32": (split_32, rows, cols, WIDTH, size),
    "split_known": (split_known, rows, cols, size),
    "five_ways": (five_ways, five, many),
    "five_ways_narrow": (five_ways_narrow, five, many),
    "five_ways_fast": (five_ways_fast, five, many),
    "save": (save, more, many), "save_narrow": (save_narrow, more, many)}
times = {name: measure(kernel)[N // 256, 256](*arguments)
         for name, (kernel, *arguments) in launches.items()}
compare(times, "µs", "instructions per warp", "issue slots used, %",
        "memory busy, %", by="kernel")

# %% [markdown]
# *saxpy* takes as long with half of its instructions. It is not short of issue slots. Its memory is busy for two thirds of the time; we have not traced the rest.
#
# *split* executes twice *split_32*'s instructions, fills 84% of its slots, and takes 1.7 times as long.
# *split_known* executes a third of *split_32*'s, and saves nothing: both take as long as no work. A short division fits in while blocks start.
#
# *five_ways* executes four times as many instructions as *five_ways_narrow*: they fill most of its issue slots, and it takes a third longer. Whether for the slots or for its float64, we have not separated. The narrow one leaves most slots empty. So `fastmath`, which takes a third of its instructions away, saves no time.

# %% [markdown]
# And *save*, the slow one, executes hardly more than *save_narrow*. Its slots are 56% used, and its memory 17%. But its float64 units are busy: at two cycles for each operation, as we shall see, for 84% of the time (`120 · 2 · 993 warps per scheduler / 282,365 cycles`).
#
# Fewer instructions save time where a kernel is short of issue slots, and takes longer than its blocks take to start; fewer in float64, where it is short of float64 units.
#
# ## Find what is busy
#
# What would make `save_narrow` faster? A third of its warps' waiting is for memory. Would less memory traffic help?
#
# `no_memory` does the same arithmetic, but loads nothing, and stores only a negative balance, which never comes. `half_as_long` loads and stores as much as before, and computes for half of the months.
#
# **Predict.** Which of the two is faster?

# %%
@cuda.jit
def no_memory(out, size):
    """Grow a balance, and keep it to yourself."""
    i = cuda.grid(1)
    if i < size:
        value = float32(i)
        for _ in range(MONTHS):
            value = value * float32(1.004) + float32(100)
        if value < 0:
            out[i] = value


@cuda.jit
def half_as_long(out, balance):
    """Grow a balance for half of the months."""
    i = cuda.grid(1)
    if i < balance.size:
        value = balance[i]
        for _ in range(MONTHS // 2):
            value = value * float32(1.004) + float32(100)
        out[i] = value


# %% tags=["timing", "hide-input"]
# Measures both, beside the kernel that does nothing and the whole one.
less = {"no work": times["no work"], "save_narrow": times["save_narrow"],
        "no_memory": measure(no_memory)[N // 256, 256](more, N),
        "half_as_long": measure(half_as_long)[N // 256, 256](more, many)}
compare(less, "µs", "instructions per warp", "issue slots used, %",
        {"of all waits, for memory, %": lambda m: 100 * m.waits.get(
            "global or local memory", 0 if m.waits else np.nan)}, by="kernel")

# %% [markdown]
# Without memory traffic it takes 22 µs less. Half of the arithmetic gone saves more, 29 µs.
# The issue slots said so: `save_narrow` uses most of them. While some of its warps wait for memory, others compute, which hides a part of the wait.
#
# So **find what is busy; a wait only says where to look.** And to be sure, take it away and see.
#
# ## What does a division cost?
#
# The start of the blocks hid it. So let each thread divide 64 times, and subtract the time of the same loop with a product.
#
# <details><summary>For the curious: why the divisor changes, and what `^` is for</summary>
#
# Of one divisor the reciprocal would be estimated once, before the loop. And `^` merges the results: what nobody uses is not computed. The other `^`, before the product, keeps the compiler from making each product a subtraction.
#
# </details>

# %%
def make_often(T, step):
    """A kernel that takes a step of two numbers of type T, 64 times."""
    step = cuda.jit(device=True)(step)

    @cuda.jit
    def often(out, width, n):
        """Each thread takes the step 64 times, and merges the results."""
        number = T(cuda.grid(1))
        left, total = uint32(64), T(0)
        while left > 0:
            total ^= step(number, T(width + T(left)))
            left = uint32(left - 1)
        if number < n:
            out[number] = total
    return often


# %%
def product(number, width):
    return (number ^ width) * width


def quotient(number, width):
    return number // width


def quotient_known(number, width):
    return uint32(number ^ width) // WIDTH


def quotient_large(number, width):
    return (number << int64(32)) // width


# %% tags=["timing", "hide-input"]
# Measures seven steps, each of them a billion times.
STEPS = {"a product, uint32": (uint32, np.uint32, product),
         "by 1,000, uint32": (uint32, np.uint32, quotient_known),
         "two uint32": (uint32, np.uint32, quotient),
         "two int32": (int32, np.int32, quotient),
         "two uint64": (uint64, np.uint64, quotient),
         "two int64": (int64, np.int64, quotient),
         "two int64, one large": (int64, np.int64, quotient_large)}
often = {}
for name, (T, dtype, step) in STEPS.items():
    kernel, some = make_often(T, step), np.zeros(1000, dtype)
    emulate(kernel)[4, 256](some, dtype(1000), dtype(1000))
    often[name] = measure(kernel)[N // 256, 256](
        np.zeros(N, dtype), dtype(1000), dtype(N))


# %% tags=["timing", "hide-input"]
# Compares them, with the instructions of each of the 64 steps.
def each_step(m):
    """The instructions of a step, of 64."""
    return m.counters.get("instructions", np.nan) / (N / 32) / 64


compare(often, {"instructions per step": each_step}, "µs",
        "issue slots used, %", by="step")

# %% [markdown]
# Beyond the time of the products, divisions of `uint32` take 883 µs, and those by a number that the compiler knows 107.
#
# Two `int32` take half as long again as two `uint32`. Their quotient is an `int64` by the second rule, and is divided as one. The routine, as in all rows below, is for larger numbers; only the last row runs it, and takes three times as long as the one above. Only of two `uint32` does the compiler know that 32 bits suffice; the others test that as they run. And as `//` rounds down, a signed quotient is corrected where it is negative.
#
# So divide unsigned numbers of 32 bits, and by a constant if there is one.
#
# ## Why not twice as slow?
#
# Half as many float64 operations in a cycle, and yet only one and a half times the time?
#
# A multiprocessor has four schedulers, each of which issues one instruction in a cycle and has float64 units of its own.
#
# **Predict.** Let both save for ten decades. How many times as long does float64 take then?

# %%
def make_save(decades, number):
    """A kernel that saves for some decades, in numbers of a type."""
    @cuda.jit
    def save_long(out, balance):
        """Grow a balance for some decades."""
        i = cuda.grid(1)
        if i < balance.size:
            value = balance[i]
            for _ in range(decades):
                for _ in range(MONTHS):
                    value = value * number(1.004) + number(100)
            out[i] = value
    return save_long


# %% tags=["timing", "hide-input"]
# Measures ten decades in both types, and compares with one.
longer = [measure(make_save(10, number))[N // 256, 256](more, many)
          for number in (float64, float32)]
SCHEDULERS = 4 * cuda.get_current_device().MULTIPROCESSOR_COUNT


def further(m, first):
    """The cycles of a scheduler for each operation beyond the first decade."""
    cycles = (it.counters.get("cycles", np.nan) for it in (m, first))
    operations = 9 * MONTHS * N / 32 / SCHEDULERS
    return float(np.subtract(*cycles)) / operations


table(["numbers", "one decade, µs", "ten, µs", "ten: issue slots used, %",
       "cycles for each further operation"],
      [(name, first.median_us, m.median_us, m.counters.get("issue_percent"),
        further(m, first)) for name, first, m in (
            ("float64", times["save"], longer[0]),
            ("float32", times["save_narrow"], longer[1]))])

# %% [markdown]
# Look at what is *added* to the first decade: a `DFMA` takes two cycles and an `FFMA` one, within a few percent. The schedulers issue in every second cycle in float64, and in nearly each in `float32`.
#
# So the loop does take twice as long; over ten decades the factor is 1.89. Beside one decade it matters more that blocks start, addresses are computed and numbers come from memory: that is not doubled.
#
# <details><summary>For the curious: what is left over</summary>
#
# In `float32` the few percent are the loop's own instructions (1.07 an operation are issued); in float64 we have not traced them.
#
# If only the loop took longer, one decade in float64 would take 157 µs (`96.0 + (1,121 − 573) / 9`); it takes 143. That, too, we have not traced.
#
# </details>

# %% [markdown]
# ## On your own
#
# ★ Which line of `careless` becomes the most instructions, its routine included, and why?
#
# <details><summary>Answer</summary>
#
# The last: 36 in the line and 170 in its routine. `v ** 0.5` is a power in float64, and the routine works for any exponent; `math.sqrt(v)` corrects one estimate.
#
# </details>
#
# ★★ `fahrenheit`: convert temperatures in 20 instructions, without a float64 and without a call of a routine. (`n` is what it was in `make_saxpy`.)

# %%
task = exercise("fahrenheit")
task

# %%
@cuda.jit
def fahrenheit(out, celsius, n):
    """Each thread that has a temperature converts it."""
    i = cuda.grid(1)
    if i < n:
        out[i] = celsius[i] * 9 / 5 + 32


task.check(fahrenheit)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def fahrenheit(out, celsius, n):
#     """Each thread that has a temperature converts it."""
#     i = uint32(cuda.grid(1))
#     if i < n:
#         out[i] = celsius[i] * float32(9 / 5) + float32(32)
# ```
#
# The compiler knows the quotient 9 / 5, so nothing is divided; the rest is one `FFMA`.
#
# </details>
#
# ★★★ With NVIDIA's compiler installed, `wide_made.on_each()` compiles `save` for other GPUs. Do the numbers of instructions tell you where it is slow?
#
# <details><summary>Answer</summary>
#
# No. For a T4, an A100, an RTX 4090 and an H200 there are 150 to 157 instructions, 120 of them in float64; for a B200 there are 78, because the compiler keeps a loop. But an A100 does half as many float64 operations in a cycle as `float32` ones, and an RTX 4090 a 64th. A count of instructions does not give the time.
#
# </details>
#
# The [assignment](assignments/31_types_and_instructions.ipynb) has 7 exercises, `fahrenheit` among them.

# %% [markdown]
# ## In practice
#
# Write the plain kernel first, look at its types, and cast the constants. Make an index `uint32` where the clock shows a gain, and no array has more than 2³² elements.
#
# <details><summary>For the curious: what this page does not show</summary>
#
# Another GPU, or another version of the compiler, has other instructions. And as a compiler moves and merges what it can, an instruction may stand at a line where you do not expect it.
# The emulator does not imitate `fastmath`.
#
# </details>
#
# ## Further reading
#
# - [Floating point and IEEE 754](https://docs.nvidia.com/cuda/floating-point/index.html): why a fused multiply-add gives other digits, and better ones.
# - [Instruction set reference](https://docs.nvidia.com/cuda/cuda-binary-utilities/#instruction-set-reference): the names of the instructions.
#
# *Next:* [Keep enough in flight](32_enough_in_flight.ipynb): how many warps must wait so that no unit does?

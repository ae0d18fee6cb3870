# %% [markdown]
# # Read what a line becomes
#
# *45 minutes*
#
# **What you'll do:** read the machine instructions that the lines of a kernel become, without a GPU, and remove those that nobody meant to write.
#
# **What you'll learn:**
#
# - read a line's types beside its instructions
# - predict the type of an expression in Numba, and where NumPy 2 gives another
# - find the signed index, the division or the float64 that crept in, and judge by counters what it costs
#
# **What you'll need:** kernels and their guard, as in [Write your first kernel](01_first_kernel.ipynb), and issue slots, as in [Keep a warp together](02_warps.ipynb).

# %%
import math

import numpy as np
from numba import cuda, float32, float64, int32, uint32, uint64

from helpers import (assemble, check, device, emulate, exercise, expect,
                     measure, plot_instructions, table)

device

# %% [markdown]
# ## Which of the two is slow?
#
# Each month an account earns 0.4% and receives a deposit of 100.
# How much is in it after ten years?
# The two kernels below compute that for any number of accounts.
# They differ only in how they write two constants, and their results agree.
# Yet one of them takes half as long again on an H200, and by NVIDIA's numbers far longer on a laptop's GPU.
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
# Learn to read on a shorter kernel.
# **Add `a` times `x` to `y`.**

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
# Not five. The two loads and the store are there, but the product and the sum are one instruction, and twenty others compute addresses or fetch the kernel's arguments. The last two end the kernel.
#
# </details>

# %%
made = assemble(saxpy)[4, 256](a, x, y)
made

# %% [markdown]
# `assemble` compiles the kernel with Numba and NVIDIA's compiler, neither of which needs a GPU, and lists the machine **instructions** of each line; open a line to read them.
# Beside a line you see the types that Numba inferred for its variables: `a` is a `float32`, `i` an `int64`.
#
# `LDG` loads from global memory, and `STG` stores to it.
# `FFMA` is a **fused multiply-add**, `a * x + y` in one instruction.
# It is the only one of the 36 that computes what you asked for; 18 compute indices and addresses.
#
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
# So the last digits of a sum of products may differ between a CPU and a GPU, and the GPU has rounded less often.

# %% [markdown]
# ## A signed index
#
# Why does `saxpy` need 18 instructions for its addresses?
# A signed index may be negative and count from the end, as in Python, so each access adds the array's size where the sign bit is set.
# And Numba computes indices in 64 bits, but a GPU's registers have 32, so the sum of two indices takes two instructions, joined by a carry.
# An index of type `uint32` needs neither.
# But `x.size` is an `int64`, and a comparison with it has 64 bits again, so the size is passed as a `uint32`, too: `n`.
#
# **Add `a` times `x` to `y`, with an unsigned index of 32 bits.**

# %%
@cuda.jit
def saxpy_32(a, x, y, n):
    """Add `a` times `x` to `y`, with an unsigned index of 32 bits."""
    i = uint32(cuda.grid(1))
    if i < n:
        y[i] = a * x[i] + y[i]


def make_saxpy(T):
    """The same with an index of another type."""
    @cuda.jit
    def saxpy_typed(a, x, y, n):
        """Add `a` times `x` to `y`, with an index of type T."""
        i = T(cuda.grid(1))
        if i < n:
            y[i] = a * x[i] + y[i]
    return saxpy_typed


narrow = assemble(saxpy_32)[4, 256](a, x, y, np.uint32(x.size))
typed = {"saxpy": made} | {
    f"{T}, {size.dtype}": assemble(make_saxpy(T))[4, 256](a, x, y, size)
    for T, size in ((int32, np.int32(1000)), (uint64, np.uint64(1000)),
                    (uint32, np.int64(1000)))} | {"saxpy_32": narrow}
plot_instructions({name: it.kinds for name, it in typed.items()})

# %% [markdown]
# A bar is a kernel, named by the types of `i` and `n`; its parts are its instructions by purpose.
# Loads, stores and arithmetic are the same; the instructions for indices and addresses fall from 18 to 4.
# The sign costs most: an unsigned index saves 8 of the 18, with 64 bits as with 32.
# The width costs 6, signed or not. An `int32` index keeps 12: it may still be negative. A `uint32` one keeps 9 if its size is an `int64`.
# Whether that saves any *time*, the clock tells further down.
#
# ## Divide an index
#
# To find the row and the column of an index you divide.
# A GPU has no instruction that divides integers.
# **Each thread splits its index into a row and a column.**

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

divided = {kernel.py_func.__name__: assemble(kernel)[16, 256](rows, cols, *it)
           for kernel, it in splits.items()}
table(["kernel", "instructions", "integers", "calls", "MUFU"],
      [(name, len(it.instructions), it.kinds["integers and addresses"],
        it.kinds["calls"], it.opcodes["MUFU"])
       for name, it in divided.items()])

# %% [markdown]
# For signed numbers of 64 bits, the quotient and the remainder each have a **routine**, instructions outside the line that the line calls where a number needs more than 32 bits.
# With `uint32` the line divides without a call: `MUFU` estimates the reciprocal of the width, and integer instructions make the quotient exact.
# A width that the compiler knows costs least: a product with a precomputed factor and a shift replace the division.
#
# ## Below zero
#
# An unsigned number has nothing below zero: 0 − 1 wraps around to the largest number of its type.
# **Each thread subtracts the previous element from its own**, and forgets that the first has none:

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
# Index −1 is the last element: a wrong number, and no error.
# Index 4,294,967,295 lies 17 GB beyond the array's start: a GPU reads whatever is there, or stops the program.
# Both need a second guard.
# **Each thread but the first subtracts the previous element from its own.**

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
# ## What type is `u + 1`?
#
# Without its cast the index of that last line would be signed: `i - 1` is an `int64`, whatever the type of `i`.
#
# **Predict.** `v` is a `float32`, `u` a `uint32` and `n` an `int64`. What are the types of `v * 2.5`, `v * n`, `u + 1` and `u + u` in a kernel?
#
# <details><summary>Answer</summary>
#
# float64, float64, int64 and uint64. None of them has 32 bits.
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
    out[0] = scaled + product + following + double


v, u, n = np.float32(3), np.uint32(7), np.int64(5)
inferred = {}
for names in assemble(mixed)[1, 1](np.zeros(1), v, u, n).variables.values():
    inferred.update(names)
in_numpy = {"scaled": v * 2.5, "product": v * n, "following": u + 1,
            "double": u + u}
table(["", "NumPy 2", "Numba"],
      [(name, str(value.dtype), inferred[name])
       for name, value in in_numpy.items()])

# %% [markdown]
# Since version 2, NumPy lets a plain Python number take the type of its partner.
# In Numba a plain number has a type of its own, `int64` or float64, and of two floats, or two integers, the wider type wins.
# NumPy adds two 32-bit integers in 32 bits; Numba computes all integers in 64.
# A `float32` and an `int64` make a float64 in both.
# So cast each step that is to stay at 32 bits: `uint32(u + 1)`.
#
# For the same reason a value of few bits wraps around only where it is stored.
# **Add a number to each pixel.**

# %%
@cuda.jit
def brighten(out, image, more):
    """Add a number to each pixel."""
    i = cuda.grid(1)
    if i < image.size:
        out[i] = image[i] + more


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
# It becomes 44 in Numba where it is stored to a `uint8`: 300 − 256.
# The emulator says so; a GPU does not.
#
# ## A float64 creeps in
#
# **Predict.** Back to the savings: what is the type of `value` in `save`, and what in `save_narrow`?
#
# <details><summary>Answer</summary>
#
# `1.004` is a float64, so `value * 1.004` is one, too. A variable has one type for the whole loop: float64 in `save`, `float32` in `save_narrow`.
#
# </details>

# %%
wide_made = assemble(save)[4, 256](later, start)
narrow_made = assemble(save_narrow)[4, 256](later, start)
wide_made.beside(narrow_made)

# %% [markdown]
# The compiler has unrolled the loop over 120 months.
# `save` converts its balance to float64, does 120 fused multiply-adds in float64, and converts back.
# `save_narrow` does 120 in `float32`.
# The numbers of instructions are nearly equal, but different units execute them.
# How many times as many `float32` operations as float64 ones can the device do?

# %%
cuda.get_current_device().SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO

# %% [markdown]
# An H200 does half as many float64 operations in a cycle as `float32` ones.
# GPUs for laptops and games do a 32nd or a 64th as many, by [NVIDIA's table](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#arithmetic-instructions-throughput-native-arithmetic-instructions).
# There, two constants without a type slow this arithmetic down up to 64 times.
#
# ## Five lines that look alike
#
# **Compute five functions of `v`.**
# Each line combines a `float32` and a Python number, so Numba types all five results as float64.
# But the compiler uses `float32` where it can prove that the result, rounded to `float32`, is the same: for *one* operation on numbers that a `float32` holds, such as 2.5.
#
# **Predict.** In which of the five lines below does the GPU compute in float64?
#
# <details><summary>Answer</summary>
#
# In the second, the third and the fifth.
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
# Numba's types do not settle the instructions.
# The first and the fourth line are *one* operation, on 2.5 and on 1.
# But a `float32` cannot hold 2.6. Between the two operations of `v * 2.5 + 1`, float64 keeps digits that `float32` would drop. And the power is a routine in float64.
#
# Do not count on it: cast each constant.

# %%
five_ways_fast = cuda.jit(fastmath=True)(five_ways_narrow.py_func)
careful, fast = (assemble(kernel)[4, 256](ways, positive)
                 for kernel in (five_ways_narrow, five_ways_fast))
plot_instructions({"five_ways": careless.kinds, "narrow": careful.kinds,
                   "narrow, fastmath": fast.kinds})

# %% [markdown]
# `five_ways_narrow` has no float64 left. `fastmath` also removes both of its routines.
#
# ## Exact, or fast
#
# A GPU has no instruction that divides. `MUFU` estimates a reciprocal or a root; the rest of the line, with a routine for very large and very small numbers, turns that into the nearest `float32`.
# With `fastmath=True` nothing corrects the estimate, and `math.sin`, too, becomes a `MUFU`. An H200 gave these largest errors for 4 million random numbers each:
#
# | | exact | fastmath |
# |---|---|---|
# | `a / b`, in units of the last place | 0.50 | 2.05 |
# | `1 / v`, the same | 0.50 | 0.97 |
# | `math.sqrt(v)`, the same | 0.50 | 0.94 |
# | `math.sin(v)`, v from 0 to 100 | 8.8 · 10⁻⁸ | 1.0 · 10⁻⁵ |
# | `math.sin(v)`, v from 0 to 10,000 | 8.8 · 10⁻⁸ | 1.2 · 10⁻³ |
# | the result of 2¹²⁷ / 2¹²⁷ | 1 | 0 |
# | the result of `math.sqrt` of 10⁻⁴⁰ | 10⁻²⁰ | 0 |
#
# The last two rows are no misprints: the estimated reciprocal of a number above 2¹²⁶ is 0, and so is each quotient; a number below 2⁻¹²⁶ counts as 0.
#
# ## What the clock says
#
# Do fewer instructions take less time?
# Each kernel runs on 16 million elements:

# %% tags=["timing"]
N = 2**24
many, more = np.linspace(1, 5000, 2 * N, dtype=np.float32).reshape(2, N)
rows, cols = np.zeros((2, N), np.uint32)
five, size = np.zeros((5, N), np.float32), np.uint32(N)
launches = {
    "saxpy": (saxpy, a, many, more),
    "saxpy_32": (saxpy_32, a, many, more, size),
    "split": (split, rows, cols, 1000),
    "split_32": (split_32, rows, cols, WIDTH, size),
    "split_known": (split_known, rows, cols, size),
    "five_ways": (five_ways, five, many),
    "five_ways_narrow": (five_ways_narrow, five, many),
    "five_ways_fast": (five_ways_fast, five, many),
    "save": (save, more, many), "save_narrow": (save_narrow, more, many)}
times = {name: measure(kernel)[N // 256, 256](*arguments)
         for name, (kernel, *arguments) in launches.items()}

# %% tags=["timing"]
def counted(m):
    """Counters: each warp's instructions, and three shares in percent."""
    return (m.counters.get("instructions", np.nan) / (N / 32),
            m.counters.get("issue_percent"),
            *(100 * m.waits.get(reason, 0 if m.waits else np.nan)
              for reason in ("global or local memory",
                             "a busy arithmetic unit")))


table(["kernel", "time, µs", "instructions per warp", "issue slots used, %",
       "waits for memory, % of all waits", "for a busy unit, %"],
      [(name, m.median_us, *counted(m)) for name, m in times.items()])

# %% [markdown]
# - *saxpy* takes as long with about half of its instructions: both wait for memory, and other warps compute their addresses meanwhile.
# - *split* takes 73 µs, with 84% of the issue slots used; *split_32* takes 43, no more than with a known width. (The routines of *split* never run here: a warp executes 117 of the 298 instructions, because numbers that fit into 32 bits take a shorter branch.)
# - *five_ways* takes a third longer than *five_ways_narrow*. Both exact and fast division hide behind memory, so `fastmath` gains nothing here.
# - *save* takes half as long again as *save_narrow*: that was the slow one.
#
# Optimise what the kernel waits for; ignore the rest.

# %% [markdown]
# ## Why not twice as slow?
#
# Half as many float64 operations in a cycle, and yet only 1.48 times the time?
#
# A multiprocessor has four schedulers, each of which issues one instruction per cycle and has float64 units of its own.
# `save_narrow` executes 153 instructions per warp, so a warp takes at least 153 cycles of its scheduler.
# In `save` the float64 units are the limit: each of 120 `DFMA` occupies them for 2 cycles, 240 in all, and the other instructions issue in between.
# 240 / 153 is 1.57, not 2.
# (By these counts both would take 82% to 85% of their measured cycles, so the ratio is not exact.)
#
# If so, more arithmetic must bring the factor nearer to 2.
# **Grow a balance for some decades.**

# %% tags=["timing"]
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


longer = [measure(make_save(10, number))[N // 256, 256](more, many)
          for number in (float64, float32)]
table(["decades", "float64, µs", "float32, µs", "factor, by counts",
       "factor, by the clock"],
      [(decades, wide.median_us, thin.median_us,
        2 * MONTHS * decades / counted(thin)[0],
        wide.median_us / thin.median_us) for decades, wide, thin in (
            (1, times["save"], times["save_narrow"]), (10, *longer))])

# %% [markdown]
# It does: 1.89 for ten times the arithmetic.
# Each further decade takes 125 µs in float64 and 64 µs in `float32`, a factor of 1.96.
# The instructions that both kernels share do not take twice as long: in `save` they issue while the float64 units are busy.
#
# ## What changed

# %% tags=["timing"]
versions = {"saxpy": made, "saxpy_32": narrow, **divided,
            "five_ways": careless, "five_ways_narrow": careful,
            "five_ways_fast": fast, "save": wide_made,
            "save_narrow": narrow_made}

table(["kernel", "instructions", "integers", "float64", "calls", "time, µs"],
      [(name, len(it.instructions), it.kinds["integers and addresses"],
        it.kinds["float64"], it.kinds["calls"], times[name].median_us)
       for name, it in versions.items()])

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
# ★★ `fahrenheit`: convert temperatures in 20 instructions, without a float64 and without a call of a routine. (`n` is what it was in `saxpy_32`.)

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
# Write the plain kernel first, look at its types, and cast the constants. Make an index `uint32` where the clock shows a gain.
#
# The instructions shown are for one kind of GPU, by one version of the compiler; another version makes other instructions. A compiler moves, merges and leaves out what it can, so an instruction may appear at a line where you do not expect it.
#
# What an instruction costs depends on its unit, and on how many other warps can run meanwhile.
#
# The emulator computes with the types that Numba infers, rounds after each operation, and does not imitate `fastmath`.
#
# ## Further reading
#
# - [Floating point and IEEE 754](https://docs.nvidia.com/cuda/floating-point/index.html): why a fused multiply-add gives other digits, and better ones.
# - [Instruction set reference](https://docs.nvidia.com/cuda/cuda-binary-utilities/#instruction-set-reference): the names of the instructions.
#
# *Next:* [Find the bug](34_find_the_bug.ipynb): your kernel gives a wrong answer; what do you ask first?

# %% [markdown]
# # Read what a line becomes
#
# *25 minutes*
#
# **What you'll do:** read the machine instructions that the lines of a kernel become, with no GPU at hand, and take out those that nobody meant to write.
#
# **What you'll learn:**
#
# - read a line's types and its instructions side by side
# - find where a float64, a 64-bit index or a division has crept in, and fix it
# - tell the instructions that cost time from those that cost none
#
# **What you'll need:** kernels and their guard, as in [Write your first kernel](01_first_kernel.ipynb), and the rate of a copy, as in [Fetch no more than you use](12_coalescing.ipynb).

# %%
import math

import numpy as np
from numba import cuda, float32, uint32

from helpers import (assemble, check, device, emulate, exercise, expect,
                     measure, plot_instructions, plot_times, table)

device

# %% [markdown]
# ## Which of the two is slow?
#
# An account grows by 0.4% a month, and 100 are paid in each time; what is it after ten years?
# The two kernels below work that out for as many accounts as you like.
# They differ in how two numbers are written, and their results agree.
# Yet a GPU takes longer over one of them, and a laptop's GPU above all: which one is it, and how can you tell before you own a GPU?

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
# First a shorter kernel, to learn to read.
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
# **Predict.** The last line loads twice, multiplies, adds and stores. How many instructions will it be?
#
# <details><summary>Answer</summary>
#
# Most people say five. Two loads and a store there are; the multiplication and the addition are one instruction; and around them come more than twenty that nobody wrote.
#
# </details>

# %%
made = assemble(saxpy)[4, 256](a, x, y)
made

# %% [markdown]
# `assemble` asks Numba and NVIDIA's own compiler, which needs no GPU, and puts the machine **instructions** of each line beside it; open a line to read them.
# On the left of them is the type that Numba inferred for each variable: `a` is a `float32`, and `i` an `int64`.
#
# `LDG` loads from global memory and `STG` stores there.
# `FFMA` is a **fused multiply-add**, `a * x + y` in one instruction: the only one here that computes what was asked for.

# %%
plot_instructions({"saxpy": made.kinds})

# %% [markdown]
# A bar's parts are instructions of a kind, and its end is their sum.
# Half of this kernel works out where things are.

# %% [markdown]
# ## One rounding instead of two
#
# A fused multiply-add rounds once, at its end.
# Where `a * x` and `y` nearly cancel, it shows what a rounding in between would have lost:

# %%
@cuda.jit
def fused_and_not(out, a, y):
    """Work out a² + y, rounded once and rounded twice."""
    out[0] = cuda.fma(a, a, y)
    square = a * a
    out[1] = square + y


near = float32(1 + 2**-12)
out = np.zeros(2, np.float32)
emulate(fused_and_not)[1, 1](out, near, -(near * near))
out

# %% [markdown]
# The square of `near` does not fit into a `float32`, and 2⁻²⁴ is what is cut off.
# The emulator rounds twice where you wrote two operations.
# The compiler fuses them wherever it can:

# %%
found = assemble(fused_and_not)[1, 1](out, near, -(near * near)).opcodes
{name: found[name] for name in ("FFMA", "FMUL", "FADD")}

# %% [markdown]
# One instruction, and both cells of `out` get what it gives: on a GPU they hold the same.
# So the last digits of a sum of products may differ between a CPU and a GPU, and the GPU has rounded less often.

# %% [markdown]
# ## An index of 64 bits
#
# Why so many integers?
# Numba's integers have 64 bits, a GPU's registers 32, so that one addition of indices is two instructions with a carry between them.
# And a signed index may be negative, counted from the end as everywhere in Python: each access asks.
#
# **The same, with an index of type `uint32`.**

# %%
@cuda.jit
def saxpy_32(a, x, y, n):
    """Add `a` times `x` to `y`, with an index of 32 bits."""
    i = uint32(cuda.grid(1))
    if i < n:
        y[i] = a * x[i] + y[i]


narrow = assemble(saxpy_32)[4, 256](a, x, y, np.uint32(x.size))
made.beside(narrow)

# %%
plot_instructions({"saxpy": made.kinds, "saxpy_32": narrow.kinds})

# %% [markdown]
# The loads, the store and the `FFMA` are as they were, and what works out where things are has shrunk from 18 to 4.
# In all it is as few instructions as NVIDIA's compiler makes of the same kernel in CUDA C++.

# %% [markdown]
# ## Below zero
#
# An unsigned index has no negative numbers.
# **Subtract from each element the one before it**, and forget that the first has none:

# %%
@cuda.jit
def differences_wrong(out, x):
    """Subtract from each element the one before it."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] - x[i - 1]


@cuda.jit
def differences_32_wrong(out, x):
    """The same, with an index of 32 bits."""
    i = uint32(cuda.grid(1))
    if i < x.size:
        out[i] = x[i] - x[uint32(i - uint32(1))]


steps = np.zeros(1000, np.float32)
ramp = np.arange(1, 1001, dtype=np.float32)
emulate(differences_wrong)[4, 256](steps, ramp).warnings[0]

# %%
with expect(IndexError):
    emulate(differences_32_wrong)[4, 256](steps, ramp)

# %% [markdown]
# The signed index takes the last element for the one before the first: a wrong number, and no error.
# The unsigned one wraps around to 4,294,967,295, far outside; a GPU would read whatever is there, or stop the program.
#
# The first element needs a guard, whatever the type.
# **Subtract from each element but the first the one before it.**

# %%
@cuda.jit
def differences(out, x):
    """Subtract from each element but the first the one before it."""
    i = uint32(cuda.grid(1))
    if 0 < i < x.size:
        out[i] = x[i] - x[uint32(i - uint32(1))]


emulate(differences)[4, 256](steps, ramp)
check(steps[1:], np.diff(ramp))

# %% [markdown]
# ## A float64 creeps in
#
# Back to the savings.
#
# **Predict.** What is the type of `value` in `save`, and what in `save_narrow`?
#
# <details><summary>Answer</summary>
#
# `1.004` is a Python number, and so a float64; a `float32` times a float64 is a float64, in Numba as in NumPy's own scalars. `value` must have one type for the whole loop: float64 in `save`, `float32` in `save_narrow`.
#
# </details>

# %%
wide_made = assemble(save)[4, 256](later, start)
narrow_made = assemble(save_narrow)[4, 256](later, start)
wide_made.beside(narrow_made)

# %% [markdown]
# `save` multiplies and adds 120 times in float64, and converts twice, on the way in and on the way out.
# As many instructions, nearly; but they run on other units, and of those most GPUs have few:

# %%
RESULTS = {"T4": (64, 2), "A100": (64, 32), "RTX 4090": (128, 2),
           "H200": (128, 64), "B200": (128, 64)}

table(["GPU", "float32 a cycle", "float64 a cycle", "times slower"],
      [(name, *rates, rates[0] // rates[1])
       for name, rates in RESULTS.items()])

# %% [markdown]
# The numbers are results of a multiprocessor in a cycle, from [NVIDIA's table of throughputs](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#arithmetic-instructions-throughput-native-arithmetic-instructions).
# Where there are 2 for 128, two numbers without their type slow the arithmetic down by a factor of 64.
# The emulator warns of them, too:

# %%
emulate(save)[4, 256](later, start).warnings[0]

# %% [markdown]
# ## Five lines that look harmless
#
# **Work out something of `v` in five ways.**
# On each line stands a `float32` and a Python number:

# %%
@cuda.jit
def five_ways(out, x):
    """Work out something of `v` in five ways."""
    i = uint32(cuda.grid(1))
    v = x[i]
    out[0, i] = v * 2.5
    out[1, i] = v ** 2
    out[2, i] = 1 / v
    out[3, i] = v / 3
    out[4, i] = v ** 0.5


@cuda.jit
def five_ways_narrow(out, x):
    """Work out the same without a float64."""
    i = uint32(cuda.grid(1))
    v = x[i]
    out[0, i] = v * float32(2.5)
    out[1, i] = v * v
    out[2, i] = float32(1) / v
    out[3, i] = v / float32(3)
    out[4, i] = math.sqrt(v)


# %%
positive = np.linspace(1, 2, 1024, dtype=np.float32)
ways = np.zeros((5, 1024), np.float32)
expected = [positive * 2.5, positive**2, 1 / positive, positive / 3,
            positive**0.5]

for kernel in five_ways, five_ways_narrow:
    emulate(kernel)[4, 256](ways, positive)
    check(ways, expected)

# %%
careless = assemble(five_ways)[4, 256](ways, positive)
careful = assemble(five_ways_narrow)[4, 256](ways, positive)
fast = assemble(cuda.jit(fastmath=True)(five_ways_narrow.py_func))[4, 256](
    ways, positive)

plot_instructions({"five_ways": careless.kinds, "narrow": careful.kinds,
                   "narrow, fastmath": fast.kinds})

# %% [markdown]
# Only one of the five lines was harmless: a whole power becomes a product.
# And `narrow` is still long, though nothing in it is a float64:

# %%
careful

# %% [markdown]
# A GPU has no instruction that divides.
# `MUFU` gives a first guess, of a reciprocal or of a root, and the rest of the line makes it exact; very large and very small numbers take a **routine**, which stands below the lines that call it.
# With `fastmath=True` the guess is taken as it comes, right to [a unit or two in the last place](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#intrinsic-functions), and the smallest numbers count as zero.

# %% [markdown]
# ## What the clock says
#
# Are fewer instructions less time?
# Both pairs, on 16 million elements:

# %% tags=["timing"]
N = 2**24
many, more = np.linspace(0, 5000, 2 * N, dtype=np.float32).reshape(2, N)
launch = N // 256, 256
times = {"saxpy": measure(saxpy)[launch](a, many, more),
         "saxpy_32": measure(saxpy_32)[launch](a, many, more, np.uint32(N)),
         "save": measure(save)[launch](more, many),
         "save_narrow": measure(save_narrow)[launch](more, many)}

plot_times(list(times), [it.median_us for it in times.values()])

# %% [markdown]
# `saxpy` takes as long with half of its instructions: it waits for memory, and works out addresses meanwhile.
# `save` has fewer bytes to move and 120 products to add up; arithmetic is what takes its time, and in float64 half as long again.
# So that was the slow one, and its instructions said so: 120 of them in float64.
# Optimise what the kernel waits for; ignore the rest.

# %% [markdown]
# ## What changed
#
# Each version, with what the compiler made of it and its time:

# %% tags=["timing"]
versions = {"saxpy": made, "saxpy_32": narrow,
            "save": wide_made, "save_narrow": narrow_made}

table(["version", "instructions", "integers", "float64", "time, µs"],
      [(name, len(it.instructions), it.kinds["integers and addresses"],
        it.kinds["float64"], times[name].median_us)
       for name, it in versions.items()])

# %% [markdown]
# ## On your own
#
# ★ Which line of `careless` has the most instructions, and why? Open it.
#
# ★★ `fahrenheit`: convert temperatures in 20 instructions, with no float64 and no call of a routine.

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

# %% [markdown]
# ★★★ `made.on("T4")` and `made.on_each()` compile for other GPUs. For which of them does `save` have other instructions?
#
# The [assignment](assignments/31_types_and_instructions.ipynb) has 7 exercises, `fahrenheit` among them.

# %% [markdown]
# ## In practice
#
# Write the plain kernel first, look at its types, and cast the constants: that costs nothing to read. Narrow an index when the clock says so.
#
# The instructions here are for one kind of GPU, by one version of the compiler; another makes others. It moves, merges and leaves out what it likes, so that an instruction may stand at a line that you would not have thought of.
#
# A count of instructions is no time. What an instruction costs depends on its unit, on what it waits for, and on the warps that are there to fill the wait.
#
# The emulator computes with each type as Numba infers it, rounds each operation once, and does not imitate `fastmath`.

# %% [markdown]
# ## Further reading
#
# - [Floating point and IEEE 754](https://docs.nvidia.com/cuda/floating-point/index.html): why a fused multiply-add gives other digits, and better ones.
# - [Instruction set reference](https://docs.nvidia.com/cuda/cuda-binary-utilities/#instruction-set-reference): the names of the instructions.
#
# The instructions are few now, and their types are right. How many warps does a multiprocessor need, so that none of them waits in vain?

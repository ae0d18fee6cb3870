# %% [markdown]
# # Find out what a loop costs
#
# *80 minutes*
#
# **What you'll do:** make a product three times as fast by changing its loop and nothing else, find in the machine code what the loop did, and then ask again what a tile gains.
#
# **What you'll learn:**
#
# - read which source line the instructions of a loop belong to
# - tell what two changes gain that were made together
# - say when a loop is worth a second look, and write it so that it costs little
#
# **What you'll need:** [the tiled product](23_matrix_product.ipynb), and [types and machine instructions](31_types_and_instructions.ipynb).

# %%
import numpy as np
from numba import cuda, float32, int32, int64, uint32, uint64

from helpers import (assemble, baseline, check, compare, device, emulate,
                     exercise, measure, plot_instructions, plot_steps)

device

# %% [markdown]
# ## A tile, and nothing else?
#
# Here are two kernels that you know: the product without a tile and the one in tiles of 32 × 32.

# %%
@cuda.jit
def multiply(c, a, b):
    """Each thread adds up the products of a row and a column."""
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        c[row, col] = total


# %%
@cuda.jit
def multiply_tiled(c, a, b):
    """Step by step, load tiles filled up with zeros, wait, add, wait."""
    tile_a = cuda.shared.array((32, 32), float32)
    tile_b = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0)
    for at in range(0, a.shape[1], 32):
        in_a = row < a.shape[0] and at + x < a.shape[1]
        in_b = at + y < b.shape[0] and col < b.shape[1]
        tile_a[y, x] = a[row, at + x] if in_a else float32(0)
        tile_b[y, x] = b[at + y, col] if in_b else float32(0)
        cuda.syncthreads()
        for k in range(32):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = total


# %% tags=["timing", "hide-input"]
# Emulates both on small matrices, and measures them at 1024 × 1024.
N = 1024
LAUNCH = (32, 32), (32, 32)
random = np.random.default_rng(0)
big = np.zeros((N, N), np.float32), *random.random((2, N, N), np.float32)
a, b = random.random((70, 96), np.float32), random.random((96, 40), np.float32)
c = np.zeros((70, 40), np.float32)


def product(kernel, *more, shared_bytes=0):
    """Emulate a small product and check it."""
    c[:] = np.nan
    emulate(kernel)[(2, 3), (32, 32), 0, shared_bytes](c, a, b, *more)
    check(c, a @ b)


def clock(kernel, *more, shared_bytes=0):
    """Check a product, and measure it at 1024 × 1024."""
    product(kernel, *more, shared_bytes=shared_bytes)
    return measure(kernel, flops=2 * N**3)[
        *LAUNCH, 0, shared_bytes](*big, *more)


plain, tiled = clock(multiply), clock(multiply_tiled)
compare({"no tile": plain, "tile 32": tiled}, "µs", by="kernel")

# %% [markdown]
# The tile makes the product 5.7 times as fast: so it seems.
#
# But did only the tile change? There was one loop, and now there are two.
# Before you believe in a cause, change that thing alone. So here is the kernel *without* a tile once more, and all that differs is how it counts.

# %%
def make_while(T):
    """The product without a tile, in a `while` loop over indices of type T."""
    @cuda.jit
    def multiply_while(c, a, b):
        """Each thread adds up the products, in a `while` loop."""
        col, row = cuda.grid(2)
        col, row, inner = T(col), T(row), T(a.shape[1])
        if row < c.shape[0] and col < c.shape[1]:
            k, total = T(0), float32(0)
            while k < inner:
                total += a[row, k] * b[k, col]
                k = T(k + T(1))
            c[row, col] = total
    return multiply_while


# %% [markdown]
# `T` is a type. With `int64`, which Numba gives these numbers anyway, `T(...)` changes nothing yet.
#
# **Predict.** Same loads, same products, no tile: does it take longer, as long, or a part of the time, and which part?

# %% tags=["timing", "hide-input"]
# Measures the `while` loop.
in_while = {int64: clock(make_while(int64))}
compare({"no tile, range": plain, "no tile, while": in_while[int64],
         "tile 32": tiled}, "µs", by="kernel")

# %% [markdown]
# A third of the time, by a loop that has nothing to do with tiles.
# So of the 5.7, a factor of 3.1 comes from a loop without any tile. Between `while` and the tile, less than a factor of two is left, and whose that is, we shall ask below.
#
# ## Which line do the instructions belong to?
#
# What did `range` do all that time?
# For each step along `k` you asked for three instructions: two loads, and a product with its sum, an `FFMA`. A GPU counted 36 for each warp.
#
# `assemble` sorts a kernel's machine instructions by source line.
#
# **Predict.** Which line has most of those that nobody asked for?

# %% tags=["assembly", "hide-input"]
# Draws the instructions of each source line by what they are for.
def by_line(assembly):
    """The instructions of each source line, by kind."""
    lines = {}
    for it in assembly.instructions:
        kinds = lines.setdefault(it.line, {})
        kinds[it.kind] = kinds.get(it.kind, 0) + 1
    return lines


with_range = assemble(multiply)[LAUNCH](*big)
names = ["def", "col, row = …", "if …", "for k in range …", "total += …",
         "c[row, col] = …"]
plot_instructions(dict(zip(names, (kinds for _, kinds in sorted(
    by_line(with_range).items())), strict=True)))

# %% [markdown]
# Two lines share most of them, about half and half: the body of the loop, and the `for` above it, which computes nothing that we want.
#
# (There are five products and not one, since the compiler has [*unrolled*](16_own_memory.ipynb) the loop: it has written the body out four times, and once more for steps that are left over. So a turn of the loop makes four steps, and the 36 are a quarter of its instructions. What is not in that turn hardly counts.)
#
# ## Two suspects
#
# What can take so many instructions in `for k in range(n)`?
# In Python, a range hands out one number after another. Numba keeps two numbers for it: the next one, and how many are left. At each step it asks whether any is left, takes one off, and makes the next. They have 64 bits, for which a GPU mostly needs two instructions.
#
# Here is the end of a turn that makes one of the steps left over: from its last load to the jump back, `BRA`. On the left `range`, on the right `while`. (`U…`: once for the whole warp, with registers `UR` and answers `UP`; `URZ`: zero; `.X`, `.EX`: the second half of a sum or comparison.)

# %% tags=["assembly", "hide-input"]
# Prints what follows the last load of each loop.
def after_loads(assembly):
    """The instructions from the last load to the jump back."""
    names = [it.base for it in assembly.instructions]
    last = len(names) - names[::-1].index("LDG")
    end = names.index("BRA", last) + 1
    return [f"{it.opcode} {it.operands}"
            for it in assembly.instructions[last:end]]


with_while = assemble(make_while(int64))[LAUNCH](*big)
short = after_loads(with_while)
for n, line in enumerate(after_loads(with_range)):
    print(f"{line:47}", *short[n:n + 1])

# %% [markdown]
# On the left, `UISETP` asks whether any is left, and `USEL` chooses what to take off and what to go on from: such choices are the mark of a `range`. On the right, two addresses are moved on, a counter goes up and is asked, and that is all.
#
# And in the body? In Python a negative index counts from the end, so `a[row, k]` has to ask whether `k` is negative, and `b[k, col]` again. The address is then computed anew, with products of 64 bits.
#
# If so, a `while` loop removes the first, and a type without a sign the second:

# %%
def make_range(T):
    """The product without a tile, with `range` and indices of type T."""
    @cuda.jit
    def multiply_range(c, a, b):
        """Each thread adds up the products, in a `for` loop."""
        col, row = cuda.grid(2)
        col, row = T(col), T(row)
        if row < c.shape[0] and col < c.shape[1]:
            total = float32(0)
            for k in range(T(a.shape[1])):
                total += a[row, T(k)] * b[T(k), col]
            c[row, col] = total
    return multiply_range


# %% [markdown]
# But our `while` loop may remove both. It begins at 0 and counts up; a compiler that sees this knows that `k` is never negative, and need not ask.
# So here is a `while` loop in which it cannot see this: the first `k` is an argument.

# %%
@cuda.jit
def multiply_from(c, a, b, k):
    """Each thread adds up the products from k on, in a `while` loop."""
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        while k < a.shape[1]:
            total += a[row, k] * b[k, col]
            k += 1
        c[row, col] = total


# %% tags=["timing", "hide-input"]
# Measures both loops with four types of index, and a given start.
TYPES = int64, uint64, int32, uint32
in_range = {int64: plain} | {T: clock(make_range(T)) for T in TYPES[1:]}
in_while |= {T: clock(make_while(T)) for T in TYPES[1:]}
from_start = clock(multiply_from, 0)


def step(it):
    """The products, loads and instructions of a warp for each step along k."""
    counts = it.counters.get
    steps = N**3 / 32   # of all warps together
    loads = sum(counts(f"{space}_load_requests", np.nan)
                for space in ("global", "shared"))
    return 1, loads / steps, counts("instructions", np.nan) / steps


causes = {"range, int64": in_range[int64], "range, uint64": in_range[uint64],
          "while from a given start, int64": from_start,
          "while, int64": in_while[int64], "while, uint64": in_while[uint64]}
plot_steps({name: step(it) for name, it in causes.items()})

# %% [markdown]
# The first bar has both suspects, the second `range` alone, the third the question for the sign alone, and the last two have neither. Alone, each adds more than five times what you asked for.
#
# But together they do not add up. Beside the other one, each adds only eleven or twelve, not even four times what you asked for: two changes that meet in one loop share what they cost. What one of them costs depends on whether the other is there.
#
# And is the third bar the sign's? An unknown start may harm a loop without any sign, too. So change the sign alone: the same kernel with `uint64`, from the same argument.

# %%
@cuda.jit
def multiply_from_unsigned(c, a, b, k):
    """The same, with indices that have no sign."""
    col, row = cuda.grid(2)
    col, row, k = uint64(col), uint64(row), uint64(k)
    if row < c.shape[0] and col < c.shape[1]:
        total = float32(0)
        while k < uint64(a.shape[1]):
            total += a[row, k] * b[k, col]
            k = uint64(k + uint64(1))
        c[row, col] = total


# %% tags=["assembly", "hide-input"]
# Assembles a loop from a given start, with a sign and without one.
from_given = {T: assemble(kernel)[LAUNCH](*big, 0)
              for T, kernel in (("int64", multiply_from),
                                ("uint64", multiply_from_unsigned))}
compare(from_given, "machine instructions",
        {"products": lambda it: it.opcodes["FFMA"]}, by="type of k")

# %% [markdown]
# The listing without a sign is longer, as it has the body written out more often. But it has ten instructions for each product, not 43 (in the turn alone fewer than six, not 25), although the start is unknown. So the instructions are the sign's.

# %% tags=["timing", "hide-input"]
# Compares them, and the narrow types.
compare({(kind, f"{T}"): them[T] for kind, them in
         (("range", in_range), ("while", in_while)) for T in TYPES}
        | {("while from a given start", "int64"): from_start},
        {"instructions per step": lambda it: step(it)[2]},
        "issue slots used, %", "waits most for", "µs", by=("loop", "type"))

# %% [markdown]
# The times point the same way, though not by the same factors. With `uint64`, `range` takes 1.6 times as long as `while`, with `uint32` 2.3 times. A `while` loop that asks for the sign takes 2.4 times as long as one that need not (they differ in the start, too; without a sign that loop was not timed). And with both together the product needs three times what it needs with neither.

# %% [markdown]
# <details><summary>For the curious: the other types</summary>
#
# `int32` keeps the question in a `while` loop, too: `T(k + T(1))` may wrap to a negative number, so the compiler cannot rule it out.
#
# `uint64` takes as many instructions as `int64` in a `while` loop, and a third more time. Two of its eight loads leave only after the third product; whether that is why, is unknown.
#
# With `uint32` the compiler writes the body out sixteen times, not four. A tenth fewer instructions than with `int64` take more than a fifth less time; whether more loads in flight are why, is not shown, either.
#
# In C++, NVIDIA advises the opposite, counters with a sign: those may not overflow there, which helps the compiler, and a C++ index never counts from the end.
#
# </details>
#
# ## Is it the loop or the tile?
#
# Back to the tile. Give both sides the best loop, with `uint32`: does the tile gain what is left?
#
# Look at the loops once more. Without a tile, only the launch knows how many steps there are, the loop's **trip count**. With a tile the inner loop always makes 32, and the compiler knows it: it writes them all out, so that nothing is counted and each `k` is a constant.
#
# So again two things change together, and it takes two more kernels to part them.
# The first has no tile, but an inner loop of 32 steps: it cuts the loop into strips (**strip mining**), here for lengths that are multiples of 32.

# %%
def make_strips(T):
    """The product without a tile, in strips of 32 steps."""
    @cuda.jit
    def multiply_strips(c, a, b):
        """Each thread adds up the products, 32 of them at a time."""
        col, row = cuda.grid(2)
        col, row, inner = T(col), T(row), T(a.shape[1])
        if row < c.shape[0] and col < c.shape[1]:
            at, total = T(0), float32(0)
            while at < inner:
                for k in range(32):
                    total += a[row, T(at + T(k))] * b[T(at + T(k)), col]
                at = T(at + T(32))
            c[row, col] = total
    return multiply_strips


# %% [markdown]
# The second is the tiled kernel with `while` loops. With `known=False` the length of the inner one comes from the launch: a block is 32 threads wide, but the compiler does not know that.

# %%
def make_tiled(T, known=True):   # does the compiler know the length?
    @cuda.jit
    def multiply_tiled_while(c, a, b):
        """Load tiles filled up with zeros, wait, add, wait."""
        tile_a = cuda.shared.array((32, 32), float32)
        tile_b = cuda.shared.array((32, 32), float32)
        x, y = T(cuda.threadIdx.x), T(cuda.threadIdx.y)
        col, row = cuda.grid(2)
        col, row, at, total = T(col), T(row), T(0), float32(0)
        length = T(32) if known else T(cuda.blockDim.x)
        while at < a.shape[1]:
            in_a = row < a.shape[0] and T(at + x) < a.shape[1]
            in_b = T(at + y) < b.shape[0] and col < b.shape[1]
            tile_a[y, x] = a[row, T(at + x)] if in_a else float32(0)
            tile_b[y, x] = b[T(at + y), col] if in_b else float32(0)
            cuda.syncthreads()
            k = T(0)
            while k < length:
                total += tile_a[y, k] * tile_b[k, x]
                k = T(k + T(1))
            cuda.syncthreads()
            at = T(at + T(32))
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = total
    return multiply_tiled_while


# %% tags=["timing", "hide-input"]
# Measures the four: without and with a tile, of unknown and known length.
strips = {T: clock(make_strips(T)) for T in (int64, uint32)}
in_tiles = {(T, known): clock(make_tiled(T, known))
            for T in (int64, uint32) for known in (False, True)}
four = {("no tile", "unknown"): in_while[uint32],
        ("no tile", "32"): strips[uint32],
        ("tile 32", "unknown"): in_tiles[uint32, False],
        ("tile 32", "32"): in_tiles[uint32, True]}
plot_steps({f"{name}, length {length}": step(it)
            for (name, length), it in four.items()})

# %% [markdown]
# Each bar is a row of the table:

# %% tags=["timing", "hide-input"]
# Compares them.
compare(four, {"instructions per step": lambda it: step(it)[2]},
        "issue slots used, %", "data path busy, %", "waits most for", "µs",
        by=("kernel", "length of the inner loop"))

# %% [markdown]
# Compare rows that differ in one thing, as far as we could make them. The known length takes away two instructions of each step, with a tile or without. With a tile a third of the loads are gone, and most of the others go to shared memory; of the other instructions even more are gone. Which of the two gains more, we did not separate; [another page](22_tiling.ipynb) does for the loads.
#
# The tile makes the product 1.3 to 1.4 times as fast, whether the length is known or not. The known length saves a seventh of the time without a tile, and a twelfth with one. Together it is a factor of 1.5. And the loop, from `range` to `while` with `uint32`, was worth four.

# %% [markdown]
# So what does a sentence such as "the tile makes it 5.7 times as fast" need? A second launch without the tile, in which everything else is as it is with it.
#
# ## When the side is not known either
#
# With dynamic shared memory, the side of the tile itself can be chosen at the launch. Then the compiler knows neither the length of the loop nor how far the rows of a tile are apart.

# %%
def make_dynamic(size):   # or, if it is 0, as wide as the block
    def multiply_dynamic(c, a, b):
        side = uint32(size) if size else uint32(cuda.blockDim.x)
        both = cuda.shared.array(0, float32)
        tile_a, tile_b = both[:side * side], both[side * side:]
        x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        col, row = cuda.grid(2)
        col, row, at, total = uint32(col), uint32(row), uint32(0), float32(0)
        while at < a.shape[1]:
            in_a = row < a.shape[0] and uint32(at + x) < a.shape[1]
            in_b = uint32(at + y) < b.shape[0] and col < b.shape[1]
            mine = uint32(side * y + x)
            tile_a[mine] = a[row, uint32(at + x)] if in_a else float32(0)
            tile_b[mine] = b[uint32(at + y), col] if in_b else float32(0)
            cuda.syncthreads()
            k = uint32(0)
            while k < side:
                total += (tile_a[uint32(side * y + k)]
                          * tile_b[uint32(side * k + x)])
                k = uint32(k + uint32(1))
            cuda.syncthreads()
            at = uint32(at + side)
        if row < c.shape[0] and col < c.shape[1]:
            c[row, col] = total
    return cuda.jit(multiply_dynamic)


# %% tags=["timing", "hide-input"]
# Measures tiles in dynamic shared memory, of a side that is known or not.
SHARED = 2 * 4 * 32**2      # bytes of two tiles
dynamic = {size: clock(make_dynamic(size), shared_bytes=SHARED)
           for size in (32, 0)}
compare({("fixed", "known"): in_tiles[uint32, True],
         ("dynamic", "known"): dynamic[32],
         ("fixed", "length of the loop unknown"): in_tiles[uint32, False],
         ("dynamic", "side of the tile unknown"): dynamic[0]},
        {"loads per step": lambda it: step(it)[1],
         "instructions per step": lambda it: step(it)[2]}, "µs",
        by=("shared memory", "to the compiler"))

# %% [markdown]
# Dynamic shared memory itself costs nothing: with a known side, the time is the same. With an unknown one the product takes a third longer than with an unknown length alone. Each step must now compute where its two numbers lie, and no load takes four neighbours at once.
#
# One more reason to make a kernel for each size, as [`make_tiled`](23_matrix_product.ipynb) does.
#
# ## Where it costs nothing
#
# Should every `range` become a `while`? Try it in a loop that works on memory: each thread doubles numbers of a long array, a grid apart.

# %%
@cuda.jit
def double_in_range(out, v):
    """Each thread doubles elements a grid apart, in a `for` loop."""
    for i in range(cuda.grid(1), v.size, cuda.gridsize(1)):
        out[i] = v[i] * float32(2)


@cuda.jit
def double_in_while(out, v):
    """Each thread doubles elements a grid apart, in a `while` loop."""
    i = cuda.grid(1)
    while i < v.size:
        out[i] = v[i] * float32(2)
        i += cuda.gridsize(1)


# %% tags=["timing", "hide-input"]
# Checks both on a short array, and measures them on a long one.
numbers = random.random(2**26, np.float32)
doubled = np.zeros_like(numbers)
for kernel in double_in_range, double_in_while:
    few = np.zeros(1000, np.float32)
    emulate(kernel)[2, 256](few, numbers[:1000])
    check(few, 2 * numbers[:1000])

doubles = {name: measure(kernel, bytes=2 * numbers.nbytes)[
    8 * 132, 256](doubled, numbers)
    for name, kernel in (("range", double_in_range),
                         ("while", double_in_while))}
compare(doubles, "instructions per warp", "issue slots used, %",
        "waits most for", "% of a copy", "µs", by="loop")

# %% tags=["timing", "hide-input"]
# Compares the loops in the tiled product, with indices of 64 bits.
compare({"range": tiled, "while": in_tiles[int64, True]},
        {"instructions per step": lambda it: step(it)[2]}, "µs",
        by="loops of the tiled product")

# %% [markdown]
# No difference. When the numbers are doubled, the instructions of `range` are there, but the kernel waits for memory, and leaves two thirds of its issue slots empty.
#
# The same holds where the length is known. In the tiled product all inner steps are written out, and with 64 bits `range` takes as long as `while`.

# %% [markdown]
# So write `range` first. Look at the loop if three things come together: the profiler shows most issue slots used, the body is short, and only the launch knows the length. Then, in this order:
#
# 1. Can it count in a `while` loop from 0?
# 2. Can its indices be `uint32`?
# 3. Can the loop have a length that the compiler knows?
#
# Once you have begun, go on: here steps 2 and 3 gained, though the kernel already waited most for memory.

# %% tags=["timing", "hide-input"]
# Compares the steps from the slowest kernel of the page to the fastest.
way = {("range", "int64"): plain, ("strips of 32", "int64"): strips[int64],
       ("while", "int64"): in_while[int64],
       ("while", "uint32"): in_while[uint32],
       ("strips of 32", "uint32"): strips[uint32],
       ("strips of 32, in tiles", "uint32"): in_tiles[uint32, True]}
compare(way, {"instructions per step": lambda it: step(it)[2],
              "times as fast as range": lambda it:
                  plain.median_us / it.median_us},
        "µs", by=("loop", "type"))

# %% [markdown]
# The order matters. Begin with the length, in strips of 32 with `int64`, and the product takes longer than with `range`, it seems because the compiler asks again whether the sum `at + k` is negative. (With `uint64`, says `assemble`, the same strips ask nothing.) With `uint32` the strips gain. So ask `assemble` after each step what came of it.
#
# ## On your own
#
# ★ `exercise("known_lengths")`: of which loops does the compiler know the length? It need not know where they begin, only how many steps they make. Ask yourself when each number comes to be known: when the kernel is compiled, or when it is launched.
#
# ★★ `lean_loop`: the thread of each column adds it up. Write the loop so that the machine code has few instructions that copy registers or choose between two (`SEL`), the mark of a `range`.

# %%
task = exercise("lean_loop")
task

# %%
@cuda.jit
def lean_loop(out, a):
    """Each thread goes down a column."""
    col = cuda.grid(1)
    if col < out.size:
        total = float32(0)
        for row in range(a.shape[0]):
            total = total + a[row, col]
        out[col] = total


task.check(lean_loop)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# @cuda.jit
# def lean_loop(out, a):
#     """Each thread goes down a column."""
#     col = cuda.grid(1)
#     if col < out.size:
#         total, row = float32(0), 0
#         while row < a.shape[0]:
#             total = total + a[row, col]
#             row += 1
#         out[col] = total
# ```
#
# </details>

# %% [markdown]
# ★★★ `exercise("four_rows")`: each thread makes four elements of `c`, in one column. Which of the two loops should be the inner one?
#
# <details><summary>Answer</summary>
#
# The one over the four elements: then a cell of the tile of `b` is loaded once for all four.
#
# </details>
#
# The [assignment](assignments/36_what_a_loop_costs.ipynb) has 5 exercises, these three among them.

# %% [markdown]
# ## In practice
#
# Compilers change. What `range` costs here is what it costs with these versions; `assemble` and a profiler tell it of yours.
#
# In C++, `#pragma unroll` asks for a loop to be written out. Numba has no such word: a known length does it, if the index lets it (the strips with `int64` were written out only eight times), or a body that you write out yourself.
#
# C++ does not ask for an index's sign. Does Numba keep up with it?

# %% tags=["timing", "hide-input"]
# Compares Numba's `while` loops with the same loops in C++.
in_cpp = {(kernel, f"{T}"): (ours, baseline(f"CUDA C++ {name}{bits} 1024"))
          for T, bits in ((int64, ", 64-bit"), (uint32, ""))
          for kernel, name, ours in (
              ("no tile", "naive", in_while[T]),
              ("tile 32", "tiled", in_tiles[T, True]))}
compare(in_cpp, {"Numba, µs": lambda row: row[0].median_us,
                 "CUDA C++, µs": lambda row: row[1].median_us},
        by=("kernel", "type"))

# %% [markdown]
# With 64 bits C++ is 4 to 8% ahead. With `uint32` the loops differ: in C++ the whole index may wrap, `row * inner + k` in this page's names; in Numba only `k` may. There Numba takes from 15% less to 5% more time.
#
# ## Further reading
#
# - [How to optimize a CUDA matmul kernel for cuBLAS-like performance](https://siboehm.com/articles/22/CUDA-MMM), by Simon Boehm: the same product in C++, where loops are unrolled on the way.
# - [CUDA C++ Best Practices Guide](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/): "Loop Counters Signed vs. Unsigned", for C++.
#
# *Next:* [Leave hardly anything but products](37_filters.ipynb): if a loop is written out and even its numbers stand in the instructions, how near does a kernel come to what the arithmetic units allow?

# %% [markdown]
# # Leave hardly anything but products
#
# *85 minutes*
#
# **What you'll do:** filter an image with 121 weights, at more than four fifths of what the arithmetic units allow.
#
# **What you'll learn:**
#
# - tell what a kernel could reach from its products alone
# - see where the compiler keeps weights, and make it put them into the instructions
# - walk down an image with unfinished sums in registers, and load a row ahead
#
# **What you'll need:** the walk of [the stencil](28_stencil_and_convolution.ipynb), and machine code, as in [Read what a line becomes](31_types_and_instructions.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (assemble, baseline, check, compare, device, emulate,
                     exercise, load4, measure, plot_strip_walk, plot_times,
                     store4, table)


def part(function):
    """A device function that the compiler copies into its kernel."""
    return cuda.jit(device=True, forceinline=True)(function)


device

# %% [markdown]
# ## What must be done?
#
# A **convolution** makes each pixel of an image anew, as a weighted sum of its neighbours. (Strictly, it turns the weights around first.) By its weights it blurs the image, sharpens it or finds edges; so it is also called a *filter*. Where all pixels are equal, each becomes itself times the sum of the weights: for a blur that is 1, and for edges 0.

# %% [markdown]
# Ours has 11 × 11 random weights: none can be left out or shared.
# The image has a margin, so no rung asks whether a pixel exists: pixel [row, col] is the sum of `weights[i, j] * src[row + i, col + j]`. (What is in the margin decides what happens at the border: zeros darken it; `np.pad` can also repeat the last pixels, or mirror them.)
#
# **Predict.** A product and its addition are one instruction, `FFMA`. A multiprocessor has four schedulers, and each issues one instruction for 32 lanes in a cycle.
# What takes longer: to issue 121 `FFMA` for each pixel, or to copy the image?

# %%
SIDE, LAST = 11, 10
WEIGHTS = np.random.default_rng(0).random((SIDE, SIDE), np.float32) / SIDE**2
PIXELS = 8192**2

# %% tags=["hide-input"]
# Says how long the products alone take, and a copy.
gpu = cuda.get_current_device()


def least_us(instructions):
    """The µs in which so many instructions of a warp can be issued."""
    return 1000 * instructions / (
        4 * gpu.MULTIPROCESSOR_COUNT * gpu.CLOCK_RATE)


limit_us = least_us(121 * PIXELS / 32)
copy = baseline("separable, copy")
table(["what must be done", "µs"],
      [("121 FFMA a pixel", limit_us),
       ("a copy of the image", copy.median_us)])

# %% [markdown]
# The products, nearly twice as long. So this time arithmetic sets the limit, and not memory: a filter can be no better than the share of its instructions that are products.
# The plain one has others, too:

# %%
@cuda.jit
def filter_plain(out, src, weights):
    """Each thread adds up the products of 121 weights and pixels."""
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(col)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for i in range(SIDE):
            for j in range(SIDE):
                total += weights[i, j] * src[row + i, col + j]
        out[row, col] = total


F_PLAIN = filter_plain, (32, 8), (32, 8)

# %% tags=["hide-input"]
# Makes a small image, and says what all its sums are, in float64.
random = np.random.default_rng(0)
image = random.random((16, 128), dtype=np.float32)


def filtered(src, shape, weights):
    """The sums of an image with its margin, in float64."""
    (rows, cols), src = shape, src.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return sum(float(weights[i, j]) * src[i:i + rows, j:j + cols]
                   for i, j in np.ndindex(weights.shape))

# %% tags=["hide-input"]
# Emulates filters of a small image, and checks them there.
def over(shape, covers):
    """Blocks that cover a shape; a block covers so much along x and y."""
    return tuple(max(1, -(-n // many)) for n, many in zip(
        shape[::-1], covers, strict=True))


def convolve(rung, image, weights=WEIGHTS):
    """Emulate a filter of an image of any size, check it, return the run."""
    kernel, threads, covers = rung
    rows, cols = image.shape[0], -(-image.shape[1] // 4) * 4
    right = 7 + cols - image.shape[1]
    src = np.pad(image, ((5, 5), (5, right)))
    out = np.full((rows, cols), np.nan, np.float32)
    more = [WEIGHTS] if kernel is filter_plain else []
    run = emulate(kernel)[over(out.shape, covers), threads](out, src, *more)
    check(out, filtered(src, out.shape, weights))
    return run

# %% tags=["hide-input", "timing"]
# Measures filters of a large image.
photo, filtered_photo = (np.zeros((8192 + more, 8192 + wide), np.float32)
                         for more, wide in ((LAST, 12), (0, 0)))
rungs = {it: (baseline(f"filter, {it}"),) for it in (
    "plain in C++", "constant in C++", "ahead in C++")}


def climb(name, rung):
    """Keep a rung's time beside others', and its counters."""
    kernel, threads, covers = rung
    more = [WEIGHTS] if kernel is filter_plain else []
    launch = over(filtered_photo.shape, covers), threads
    m = measure(kernel)[launch](filtered_photo, photo, *more)
    rungs[name] = baseline(f"filter, {name}"), m

# %% tags=["hide-input", "timing"]
# Says what the tables compare.
def for_32(counter):
    """A column: a count of the large image, for 32 of its pixels."""
    def count(row):
        if row[1:]:
            return 32 * row[1].counters.get(counter, np.nan) / PIXELS
    return count


COUNTS = {"loads for 32 pixels": for_32("global_load_requests"),
          "instructions for 32 pixels": for_32("instructions")}
BUSY = "issue slots used, %", "data path busy, %"


def side_by_side(*names, also=()):
    """Some rungs' counts, what they keep busy, and their times."""
    return compare({it: rungs[it] for it in names}, COUNTS, *BUSY, *also, "µs")


# %% tags=["hide-input", "timing"]
# Checks the plain filter, and measures it.
convolve(F_PLAIN, image)
climb("plain", F_PLAIN)
side_by_side("plain", "plain in C++")

# %% [markdown]
# For each product, a warp loads a weight and a pixel. These loads keep L1's data path busy, and so the schedulers can issue only in 57% of their cycles.
# (Below, *loads for 32 pixels* are requests, and all rungs were timed by turns, with cold caches.)
#
# ## Weights in constant memory
#
# The weights are the same for all threads, and known when the kernel is compiled. `cuda.const.array_like(WEIGHTS)` makes a copy of them part of the program, in **constant memory**, which has a cache of its own: there, as in L1, one load serves all lanes that ask for the same number, but L1's data path has no part in it. (Lanes that ask for different numbers get them one after the other.)
#
# The sum stands in a function of its own, which does the rows of weights from `first` to `end`; here, all. (Parts will be needed soon.)

# %%
@part
def add_products(total, weights, src, row, col, first, end):
    """Add the products of some rows of weights."""
    for i in range(first, end):
        for j in range(SIDE):
            total += weights[i, j] * src[row + i, col + j]
    return total

# %% tags=["assembly"]
@cuda.jit
def filter_constant(out, src):
    """Add up the products, with the weights in constant memory."""
    weights = cuda.const.array_like(WEIGHTS)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(col)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = add_products(
            float32(0), weights, src, row, col, 0, SIDE)


F_CONSTANT = filter_constant, (32, 8), (32, 8)

# %% tags=["hide-input", "timing"]
# Checks it, and measures it beside the plain filter.
convolve(F_CONSTANT, image)
climb("constant", F_CONSTANT)
side_by_side("plain", "constant", "plain in C++", "constant in C++")

# %% [markdown]
# Half of the loads are gone, and 44% of the time. The data path is still the busiest.
#
# ## Four pixels at a time
#
# What is left are loads of pixels. Eleven pixels of a row make one sum; but the next sum, one column on, takes ten of the same.
# So let a thread make four sums side by side (*register tiling*). (Four, as the widest load, `load4`, brings four.) They need 14 pixels of each row: three loads of 16 bytes and one of 8, instead of 44. (We write four `load4`; the compiler drops what nobody uses. As they need rows at multiples of 16 bytes, widths are multiples of 4, and the margin has 12 columns, not ten.)
#
# The thread keeps a row of pixels in `near` and its sums in `sums`. Both are local arrays with known indices, so they are registers.

# %%
@part
def load_row(near, src, row, col):
    """Load as many pixels of a row as `near` has room for."""
    for j in range(0, len(near), 4):
        near[j], near[j + 1], near[j + 2], near[j + 3] = load4(
            src, (row, col + j))


@part
def store_row(out, row, col, sums):
    """Store the first row of sums: four pixels."""
    store4(out, (row, col), (sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3]))


@part
def clear(sums):
    """Set all sums to zero."""
    for i in range(sums.shape[0]):
        for e in range(4):
            sums[i, e] = 0

# %%
@part
def add_rows(sums, weights, near, src, row, col, first, end):
    """Load some rows of pixels, and add their products to four sums."""
    for i in range(first, end):
        load_row(near, src, row + i, col)
        for j in range(weights.shape[1]):
            for e in range(4):
                sums[0, e] += weights[i, j] * near[e + j]

# %%
def make_fours(WEIGHTS):
    rows, cols = WEIGHTS.shape
    room = -(-(cols + 3) // 4) * 4

    @cuda.jit
    def filter_fours(out, src):
        """For each row of weights, load a row and add to four sums."""
        weights = cuda.const.array_like(WEIGHTS)
        near = cuda.local.array(room, float32)
        sums = cuda.local.array((1, 4), float32)
        col, row = cuda.grid(2)
        row, col = uint32(row), uint32(4 * col)
        clear(sums)
        if row < out.shape[0] and col < out.shape[1]:
            add_rows(sums, weights, near, src, row, col, 0, rows)
            store_row(out, row, col, sums)
    return filter_fours


F_FOURS = make_fours(WEIGHTS), (32, 8), (128, 8)

# %% tags=["hide-input", "timing"]
# Checks it, and measures it beside the filter of one pixel.
convolve(F_FOURS, image)
climb("fours", F_FOURS)
side_by_side("constant", "fours")

# %% [markdown]
# An eleventh of the requests, and about a third of the time. But a request is three and a half times as wide, and the path is even busier; the schedulers, too, are busy now.
#
# ## Where are the weights?
#
# Let us see what the compiler makes of a product:

# %% tags=["assembly", "hide-input"]
# Compiles both kernels, and shows a product of each and the load before it.
def code_of(rung):
    """What the compiler makes of a rung for the large image."""
    kernel, threads, covers = rung
    launch = over(filtered_photo.shape, covers), threads
    return assemble(kernel)[launch](filtered_photo, photo)


fours_code = code_of(F_FOURS)
print(*[it for it in fours_code.instructions if "c[0x3]" in str(it)][:2],
      *[it for it in fours_code.instructions if it.base == "FFMA"][:2],
      sep="\n")

# %% [markdown]
# `ULDC` loads from constant memory, `c[0x3]`, to a **uniform register**, which a warp has once, and not for each lane. The `FFMA` takes its weight from there: `UR14`.
#
# But an `FFMA` can hold a number itself, an **immediate**: then there is nothing to load. The weights are known. Why does the compiler not write them there?
#
# There are two compilers, one after the other. To write `weights[i, j]` as a number, one must know `i` and `j`, so the loops must be written out; and one must know what is in the array.
#
# | | the first (NVVM) | the second (ptxas) |
# |---|---|---|
# | writes loops out | only short ones | longer ones, too |
# | knows the array's numbers | yes | no: to it, that is memory |

# %% [markdown]
# Eleven rows, each with four loads and 44 products, are too long for the first. It leaves the loop; the second writes it out, and then knows *where* each weight is, but no longer *what* it is.
#
# So hand the first compiler parts that it takes for short. These lines do it, in the place of one call with `0, rows`:

# %%
def make_fours_in_parts(WEIGHTS):
    @cuda.jit
    def filter_fours_in_parts(out, src):
        """The same, in parts that the first compiler writes out."""
        weights = cuda.const.array_like(WEIGHTS)
        near = cuda.local.array(16, float32)
        sums = cuda.local.array((1, 4), float32)
        col, row = cuda.grid(2)
        row, col = uint32(row), uint32(4 * col)
        clear(sums)
        if row < out.shape[0] and col < out.shape[1]:
            add_rows(sums, weights, near, src, row, col, 0, 2)
            add_rows(sums, weights, near, src, row, col, 2, 4)
            add_rows(sums, weights, near, src, row, col, 4, 6)
            add_rows(sums, weights, near, src, row, col, 6, 8)
            add_rows(sums, weights, near, src, row, col, 8, 10)
            add_rows(sums, weights, near, src, row, col, 10, 11)
            store_row(out, row, col, sums)
    return filter_fours_in_parts


F_FOURS_IN_PARTS = make_fours_in_parts(WEIGHTS), (32, 8), (128, 8)

# %% [markdown]
# The same for the filter of one pixel, in parts of three rows:

# %%
@cuda.jit
def filter_constant_in_parts(out, src):
    """The filter of one pixel, in parts."""
    weights = cuda.const.array_like(WEIGHTS)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(col)
    if row < out.shape[0] and col < out.shape[1]:
        total = add_products(float32(0), weights, src, row, col, 0, 3)
        total = add_products(total, weights, src, row, col, 3, 6)
        total = add_products(total, weights, src, row, col, 6, 9)
        out[row, col] = add_products(total, weights, src, row, col, 9, 11)

# %% tags=["hide-input", "assembly"]
# Counts products by where they have their weights, and other instructions.
F_CONSTANT_IN_PARTS = filter_constant_in_parts, (32, 8), (32, 8)


def products(code, sign):
    """How many FFMA have a weight of a kind: in UR registers, or a number."""
    found = [str(it).split(", ") for it in code.instructions
             if it.base == "FFMA"]
    if sign == "UR":
        return sum(any(it.startswith("UR") for it in row) for row in found)
    return sum(any(it.lstrip("-")[0].isdigit() for it in row) for row in found)


def of_weights(code):
    """How many instructions load weights from constant memory."""
    return sum("c[0x3]" in str(it) for it in code.instructions)


def number_of(code, *bases):
    """How many instructions are of some kinds."""
    return sum(it.base in bases for it in code.instructions)


# %% tags=["hide-input", "assembly"]
# Counts what each kernel is made of.
def others(code):
    """How many instructions are neither products nor loads."""
    return (len(code.instructions) - number_of(code, "FFMA", "LDG")
            - of_weights(code))


codes = {"constant": code_of(F_CONSTANT), "fours": fours_code,
         "constant, in parts": code_of(F_CONSTANT_IN_PARTS),
         "fours, in parts": code_of(F_FOURS_IN_PARTS)}
print("fours, in parts, begins with", next(
    it for it in codes["fours, in parts"].instructions if it.base == "FFMA"))
compare(codes, {
    "FFMA with a UR": lambda code: products(code, "UR"),
    "FFMA with a number": lambda code: products(code, "number"),
    "loads of weights": of_weights,
    "loads of pixels": lambda code: number_of(code, "LDG"),
    "others": others,
}, "machine instructions")

# %% [markdown]
# All products have their numbers, and a quarter of the instructions of *fours* is gone, and more than a third of those of *constant*. A third of what is gone loaded weights; nearly all the rest, among *others*, was arithmetic of whole numbers, as for addresses.
#
# How would you find out how long a part may be? By trying: `assemble` it, count, halve it. Here parts of two rows do, and three are too long; with one pixel a thread, three do, and four are too long.
#
# What is it worth?

# %% tags=["hide-input", "timing"]
# Checks the parts, and measures them beside the whole.
for name, rung in (("constant, in parts", F_CONSTANT_IN_PARTS),
                   ("fours, in parts", F_FOURS_IN_PARTS)):
    convolve(rung, image)
    climb(name, rung)
side_by_side("constant", "constant, in parts", "fours", "fours, in parts")

# %% [markdown]
# Hardly anything, so far. *Constant* is even a little slower in parts, though it executes over a third fewer instructions; *fours* gains 2%. What both are short of is L1's data path, and loads of pixels are what they were. (With *constant* in parts, the path even works 3% longer for the same loads; why, we do not know.) To save instructions that nobody waits for is in vain.
#
# So first the path must be relieved. Then it will matter that there is nothing but products.
#
# (The usual way is to bring the image into a tile. But loads from shared memory take [the same path](13_shared_memory.ipynb), so here we do without; we have not measured a tile.)
#
# ## Walk down
#
# Each row of pixels is still loaded eleven times, by eleven threads: it goes into eleven rows of sums. Let *one* thread make all of these.
# It walks down a strip, as [through the layers of a cube](28_stencil_and_convolution.ipynb). But there a thread kept old cells; eleven rows of 14 pixels would take 154 registers. So it keeps *unfinished sums*: eleven rows of four.

# %%
plot_strip_walk(20)

# %% [markdown]
# The number in a sum says how many rows of products are in it once row 20 is added.
#
# Row 20 is the last one that row 10 of the output needs: it gets the last row of weights, and is complete. Row 20 of the output begins with it: it gets the first row of weights. So the sum in place `i` gets row `LAST - i` of the weights.
# For the next row of pixels, all sums move up by one place: first `sums[i]` becomes what `sums[i + 1]` was, then its products are added. As the loops are written out, that costs no instruction: the first `FFMA` of a sum takes it from one register and puts it into another.

# %% [markdown]
# What moves into the last place? A twelfth row of `sums`, which stays zero: the sum that begins.
#
# Here parts are needed for more than the weights. Registers have no index. So an array is in registers only if every index is known, and `i` is known only if its loop is written out.

# %%
@part
def add_to(sums, weights, near, first, end):
    """Add a row of pixels to some rows of sums, which move up by one."""
    for i in range(first, end):
        for e in range(4):
            sums[i, e] = sums[i + 1, e]
        for j in range(SIDE):
            for e in range(4):
                sums[i, e] += weights[LAST - i, j] * near[e + j]


@part
def add_row(sums, weights, near):
    """Add a row of pixels to the eleven rows of sums that need it."""
    add_to(sums, weights, near, 0, 4)
    add_to(sums, weights, near, 4, 8)
    add_to(sums, weights, near, 8, 11)

# %% [markdown]
# And in one part, to see what happens then:

# %%
@part
def add_row_whole(sums, weights, near):
    """The same, in one part."""
    add_to(sums, weights, near, 0, SIDE)

# %%
@part
def store_complete(out, row, col, sums, first, end):
    """Store the first row of sums, once all its rows of pixels are in it."""
    if first <= row and row < end:
        store_row(out, uint32(row - LAST), col, sums)

# %% [markdown]
# The strip's first ten rows of pixels complete nothing that belongs to it: `store_complete` stores only from row `first` on.
#
# **Predict.** How many requests for loads do 32 pixels take in strips of 16 rows, and in strips of 250?
#
# <details><summary>Answer</summary>
#
# A row takes one request for 32 pixels. But 16 rows of output need 26 rows of pixels: 26/16 = 1.625 requests. 250 rows need 260: 1.04. The number of `FFMA` grows by the same factor.
#
# </details>

# %%
def make_walking(ROWS, add, WEIGHTS):
    @cuda.jit
    def filter_walking(out, src):
        """Load a row, add it to eleven rows of sums, store a complete one."""
        weights = cuda.const.array_like(WEIGHTS)
        sums = cuda.local.array((12, 4), float32)
        near = cuda.local.array(16, float32)
        col, strip = cuda.grid(2)
        row, col = uint32(ROWS * strip), uint32(4 * col)
        first = uint32(row + LAST)
        end = uint32(min(row + ROWS, out.shape[0]) + LAST)
        clear(sums)         # those of row 11 stay zero
        while col < out.shape[1] and row < end:
            load_row(near, src, row, col)
            add(sums, weights, near)
            store_complete(out, row, col, sums, first, end)
            row = uint32(row + 1)
    return filter_walking


STRIP, ACROSS = 250, 256
STRIPS = (ACROSS, 1), (4 * ACROSS, STRIP)
WALKING = make_walking(STRIP, add_row, WEIGHTS), *STRIPS
WALKING_WHOLE = make_walking(STRIP, add_row_whole, WEIGHTS), *STRIPS
WALKING_62 = make_walking(62, add_row, WEIGHTS), (256, 1), (1024, 62)

# %% tags=["hide-input", "timing"]
# Checks short strips, and measures long ones, with sums in parts and whole.
def waiting(row):
    """The share of all waiting that is for loads, in %."""
    if row[1:]:
        return 100 * row[1].waits.get("global or local memory", np.nan)


WAITING = {"waiting for loads, %": waiting}
short_walking = make_walking(16, add_row, WEIGHTS), (32, 1), (128, 16)
in_short = convolve(short_walking, image)
climb("walking", WALKING)
climb("walking, whole", WALKING_WHOLE)
climb("walking, 62 rows", WALKING_62)
side_by_side("fours", "fours, in parts", "walking, whole", "walking",
             also=[WAITING])

# %% [markdown]
# In one part, all goes wrong: the products stay a loop, `sums` lie in local memory, and it takes nearly three times as long.
#
# In parts, a row is loaded once instead of eleven times. But the time falls by only a tenth or so. Now the path has little to do, and still the schedulers issue in only 70% of their cycles. What do the warps do?
#
# ## A row ahead
#
# They wait: nearly half of that is for loads, and nearly all else for a turn to issue, which leaves no slot empty. A thread loads a row and needs it soon, and a scheduler has only four warps, as 264 blocks are two for each multiprocessor.
# So load each row before the sums of the row before it: while these are computed, it is on its way (*prefetching*).
# Then two rows are in registers, `even` and `odd`, and the loop takes both in a turn, so that nobody has to copy one to the other. (If a strip has an odd number of rows, the second row of its last turn is not stored.)

# %%
def make_ahead(ROWS, add, WEIGHTS):
    @cuda.jit
    def filter_ahead(out, src):
        """Load the next row, then add this one, and store; twice a turn."""
        weights = cuda.const.array_like(WEIGHTS)
        sums = cuda.local.array((12, 4), float32)
        even = cuda.local.array(16, float32)
        odd = cuda.local.array(16, float32)
        col, strip = cuda.grid(2)
        row, col = uint32(ROWS * strip), uint32(4 * col)
        first = uint32(row + LAST)
        end = uint32(min(row + ROWS, out.shape[0]) + LAST)
        clear(sums)
        if col < out.shape[1] and row < end:
            load_row(even, src, row, col)
            while row < end:
                after = uint32(row + 1)
                load_row(odd, src, min(after, uint32(end - 1)), col)
                add(sums, weights, even)
                store_complete(out, row, col, sums, first, end)
                row = uint32(row + 2)
                load_row(even, src, min(row, uint32(end - 1)), col)
                add(sums, weights, odd)
                store_complete(out, after, col, sums, first, end)
    return filter_ahead

# %% [markdown]
# Two things changed: a row is loaded ahead, and two rows are one turn. So here is also the second alone:

# %%
def make_pairs(ROWS, add, WEIGHTS):
    @cuda.jit
    def filter_pairs(out, src):
        """Two rows a turn, each loaded just before it is added."""
        weights = cuda.const.array_like(WEIGHTS)
        sums = cuda.local.array((12, 4), float32)
        near = cuda.local.array(16, float32)
        col, strip = cuda.grid(2)
        row, col = uint32(ROWS * strip), uint32(4 * col)
        first = uint32(row + LAST)
        end = uint32(min(row + ROWS, out.shape[0]) + LAST)
        clear(sums)
        while col < out.shape[1] and row < end:
            after = uint32(row + 1)
            load_row(near, src, row, col)
            add(sums, weights, near)
            store_complete(out, row, col, sums, first, end)
            load_row(near, src, min(after, uint32(end - 1)), col)
            add(sums, weights, near)
            store_complete(out, after, col, sums, first, end)
            row = uint32(row + 2)
    return filter_pairs

# %% tags=["hide-input", "timing"]
# Checks and measures it, and the same without a row ahead.
AHEAD = make_ahead(STRIP, add_row, WEIGHTS), *STRIPS
PAIRS = make_pairs(STRIP, add_row, WEIGHTS), *STRIPS
short_pairs = make_pairs(16, add_row, WEIGHTS), (32, 1), (128, 16)
short_ahead = make_ahead(16, add_row, WEIGHTS), (32, 1), (128, 16)
convolve(short_pairs, image)
convolve(short_ahead, image)
climb("two rows a turn", PAIRS)
climb("ahead", AHEAD)
side_by_side("walking", "two rows a turn", "ahead", "ahead in C++",
             also=[WAITING])

# %% [markdown]
# More than half of the gain comes with two rows a turn alone. Why? Count in the machine code of a turn how many products stand in front of each load:

# %% tags=["hide-input", "assembly"]
# Counts the products in front of each load of pixels.
def products_before(code):
    """How many products stand in front of each load, as a text."""
    bases = [it.base for it in code.instructions]
    return ", ".join(str(bases[:at].count("FFMA"))
                     for at, base in enumerate(bases) if base == "LDG")


compare({"walking": code_of(WALKING), "two rows a turn": code_of(PAIRS)},
        {"products in front of each load": products_before})

# %% [markdown]
# A row has 484 products. So the compiler has moved the loads of the *second* row up, among the products of the first: it, too, loads ahead, where it can. (Those of the first row have moved as well, all to the front; what each move gives, we have not measured.)
# But it does not move the first row's loads into the turn before. The kernel with a row ahead does that.

# %% tags=["hide-input"]
# Tries all filters on special values, and on images that are small or odd.
adverse = random.random((17, 130), dtype=np.float32)
adverse[4, 5:8], adverse[12] = (np.nan, np.inf, -0.0), -0.0
short_whole = make_walking(16, add_row_whole, WEIGHTS), (32, 1), (128, 16)
for rung in (F_PLAIN, F_CONSTANT, F_CONSTANT_IN_PARTS, F_FOURS,
             F_FOURS_IN_PARTS, short_walking, short_whole, short_pairs,
             short_ahead):
    for some in adverse[2:15, :37], adverse[:1, :1], adverse[:, :0]:
        convolve(rung, some)

# %% tags=["hide-input", "timing"]
# Draws the time of each rung, beside that of the products alone.
names = ["plain", "constant", "fours", "fours, in parts", "walking", "ahead",
         "ahead in C++"]
plot_times(names, [rungs[it][0].median_us for it in names],
           limit_us=limit_us, limit_label="121 FFMA a pixel")

# %% [markdown]
# Now hardly anything is left but products: 132 instructions for 32 pixels instead of 121. The first ten rows of the strips cost 4%, all else 5%.
# And to issue them takes nine tenths of the time.
#
# <details><summary>For the curious: more warps instead</summary>
#
# Strips of 62 rows make four times as many warps, of which a multiprocessor holds twice as many as before. While one waits, others issue: *walking* takes 11% less time, though ten of the 72 rows of a strip complete nothing. To load ahead is better: with strips of 62 rows, the products alone would take 282 µs, hardly less than *ahead* takes in all.
#
# </details>
#
# ## Two filters in one pass
#
# Some filters are **separable**: each weight is a product of one for its row and one for its column. So all rows of weights are multiples of one row (a matrix of *rank* 1): not ours, but those of a bell-shaped blur.
# Then 11 weights across and 11 down do what 121 do, in two launches, and the second loads what the first has stored. With so few products, the limit is memory's again; whether we reach it is another question.

# %% [markdown]
# The kernel that walks does both at once: it weighs a row of pixels across, and adds the result, with a weight for each, to the eleven rows of sums. (Parts are not needed here: 88 products are short enough for the first compiler. And strips can be shorter, here of 144 rows, since a row that completes nothing costs 22 products a pixel, not 121: that makes 1.7 times as many threads. Whether it is best, we have not measured.)

# %%
BELL = np.hanning(SIDE + 2)[1:-1].astype(np.float32) / np.float32(6)


@part
def add_weighed(sums, bell, near):
    """Weigh a row, then add that to eleven rows of sums."""
    four = cuda.local.array(4, float32)
    for e in range(4):
        four[e] = 0
        for j in range(SIDE):
            four[e] += bell[j] * near[e + j]
    for i in range(SIDE):
        for e in range(4):
            sums[i, e] = sums[i + 1, e] + bell[LAST - i] * four[e]


BOTH = make_walking(144, add_weighed, BELL), (128, 1), (512, 144)

# %% tags=["hide-input", "timing"]
# Checks it and two launches, and shows their recorded times.
ONE_BY_ONE = [(make_fours(weights), (32, 8), (128, 8))
              for weights in (BELL[None], BELL[:, None])]
convolve(ONE_BY_ONE[0], image, BELL[None])
convolve(ONE_BY_ONE[1], image, BELL[:, None])
short_both = make_walking(16, add_weighed, BELL), (32, 1), (128, 16)
convolve(short_both, image, np.outer(BELL, BELL))
compare({it: baseline(f"separable, {it}")
         for it in ("copy", "two launches", "walking")}, "µs")

# %% [markdown]
# One pass takes about two thirds of the time of two launches, which store an image between them and load it again. (Why one pass takes half as long again as a copy, we have not measured.)
#
# ## On your own
#
# ★ Of 121 products a pixel, what share is wasted in strips of 16 rows, and what share in strips of 250? Why not take strips of 8,192 rows?
#
# <details><summary>Answer</summary>
#
# 26 rows of products are computed, 16 are needed: 38% is wasted. With 260 rows for 250, 4%. But strips of 8,192 rows leave only the 8 blocks side by side, for 132 multiprocessors.
#
# </details>

# %% [markdown]
# ★★ `three_rows`: a filter of nine weights that walks down, and loads each row of pixels once. The kernel below is right, but it loads each three times.

# %%
task = exercise("three_rows")
task

# %%
ROWS = 16
FIRST, SECOND, THIRD = (1, -2, 3), (2, 4, -1), (-3, 1, 2)


@cuda.jit
def three_rows(out, src):
    """Each thread walks down some rows, and loads nine pixels in each."""
    col, strip = cuda.grid(2)
    if col < out.shape[1]:
        for row in range(ROWS * strip, min(ROWS * strip + ROWS, out.shape[0])):
            total = float32(0)
            for j in range(3):
                total += FIRST[j] * src[row, col + j]
                total += SECOND[j] * src[row + 1, col + j]
                total += THIRD[j] * src[row + 2, col + j]
            out[row, col] = total


task.check(three_rows)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# ROWS = 16
# FIRST, SECOND, THIRD = (1, -2, 3), (2, 4, -1), (-3, 1, 2)
#
#
# @cuda.jit
# def three_rows(out, src):
#     """Load a row, finish one sum with it, go on with one, begin one."""
#     col, strip = cuda.grid(2)
#     top = ROWS * strip
#     if top < out.shape[0] and col < out.shape[1]:
#         begun = more = float32(0)
#         for row in range(top, min(top + ROWS, out.shape[0]) + 2):
#             a, b, c = src[row, col], src[row, col + 1], src[row, col + 2]
#             done = more + THIRD[0] * a + THIRD[1] * b + THIRD[2] * c
#             more = begun + SECOND[0] * a + SECOND[1] * b + SECOND[2] * c
#             begun = FIRST[0] * a + FIRST[1] * b + FIRST[2] * c
#             if row >= top + 2:
#                 out[row - 2, col] = done
# ```
#
# `begun` and `more` are the unfinished sums. With nine weights one could as well keep six pixels.
#
# </details>

# %% [markdown]
# ★★★ `exercise("largest_around")`, in the assignment: the largest of five rows and five columns. It can be done across and down, as a separable filter. The block shares each row in a tile. What does a thread keep?
#
# <details><summary>Answer</summary>
#
# The largest of five of a row, for the last four rows: four numbers instead of twenty.
#
# </details>
#
# The [assignment](assignments/37_filters.ipynb) has 3 exercises, these two among them.

# %% [markdown]
# ## In practice
#
# For a single filter of a photograph, `cupyx.scipy.ndimage` or OpenCV is enough.
#
# Weights in the instructions must be known when the kernel is compiled. Numba compiles at run time, so they may be read from a file first; but another filter is another kernel. The kernels that walk hold for 11 × 11 weights only: a filter of more rows needs more parts and as many rows more of `sums`, each in four registers; a wider one, more room in `near`. Strips of 250 rows make 8 × 33 blocks, two for each of 132 multiprocessors. Another size or GPU wants other numbers.
#
# Very large filters are faster by way of a Fourier transform, which needs fewer products.

# %% [markdown]
# ## Further reading
#
# - [Image convolution with CUDA](https://developer.download.nvidia.com/compute/DevZone/C/html_x64/6_Advanced/convolutionSeparable/doc/convolutionSeparable.pdf): separable filters with tiles.
# - [CUDA C++ Programming Guide, device memory](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#device-memory-accesses): constant memory, and when it is slow.
#
# One question stays open: which numbers of your own kernels never change, and does the compiler know them?

# %% [markdown]
# # Count a billion bytes almost as fast as they can be read
#
# *115 minutes*
#
# **What you'll do:** climb from a histogram that takes a thousand times as long as reading its data to one that takes hardly longer, whatever the data is.
#
# **What you'll learn:**
#
# - find where threads get in one another's way, and give them copies
# - lay the copies out so that no two lanes of a warp meet in a bank
# - turn a count into the least time that a launch can take
#
# **What you'll need:** [bank conflicts](14_bank_conflicts.ipynb), [barriers and races](15_barriers_and_races.ipynb), [atomics](19_from_block_to_block.ipynb), `load4` of [the transpose](21_transpose.ipynb), and bytes in flight, as in [the sum](25_reduction.ipynb).

# %%
import numpy as np
from numba import cuda, int32, uint32

from helpers import (assemble, baseline, check, compare, device, emulate,
                     exercise, expect, load4, measure, plot_banks,
                     plot_copies, plot_rates, plot_series, table)

device

# %% [markdown]
# ## How many of each?
#
# A **histogram** says how often each value occurs; NumPy calls it `bincount`. Our values are bytes, so it has 256 counts, or **bins**.
#
# Which bin comes next, the data decides. So we count four kinds of it:
#
# | data | what it is |
# |---|---|
# | *uniform* | each byte as likely as any other |
# | *skewed* | the bits that are 1 in all of three such bytes: a third of the values are 0 |
# | *constant* | one value only |
# | *adverse* | eight values, all multiples of 32, which will suit one of our kernels as badly as possible |

# %%
BINS = 256
random = np.random.default_rng(0)


def kinds(n):
    """Four kinds of data, n bytes each."""
    one, two, three = random.integers(0, BINS, (3, n), np.uint8)
    return {"uniform": one, "skewed": one & two & three,
            "constant": np.full(n, 77, np.uint8),
            "adverse": one & np.uint8(0b11100000)}


small = kinds(8_195)

# %% [markdown]
# Each byte has to be read once, so no histogram is faster than a kernel that only reads. The fastest reader of this course is the one that [the sum](25_reduction.ipynb) is held to: *only reading*, the first row of our tables.
#
# ## In global memory
#
# The plain way: each thread goes through the values in a grid-stride loop, and adds 1 to the bin of each. Threads of all blocks share the bins, so the addition must be an atomic. (In which order they come does not matter: these are integers.)
#
# **Predict.** On which kind of data is this slowest?
#
# <details><summary>Answer</summary>
#
# On constant data: all threads want the same bin, so all their atomics queue.
#
# </details>

# %%
@cuda.jit
def count_globally(bins, values):
    """Each thread adds 1 to the bin of each of its values."""
    i, stride = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
    while i < values.size:
        cuda.atomic.add(bins, uint32(values[i]), 1)
        i = uint32(i + stride)


def count(kernel, values, arrays=None):
    """Emulate a histogram of 2 blocks and check it."""
    bins = np.zeros(BINS, np.uint32)
    run = emulate(kernel)[2, 256](bins, *(arrays or [values]))
    check(bins, np.bincount(values, minlength=BINS).astype(np.uint32))
    return run


globally = count(count_globally, small["uniform"])
globally

# %% tags=["timing", "hide-input"]
# Shows the recorded times of some kernels, each for 2^30 bytes of a kind.
N = 2**30
BLOCKS, THREADS = 264, 1024      # 2 blocks for each of 132 multiprocessors


def time_of(rung, kind="uniform"):
    """The µs that a rung takes for 2^30 bytes of a kind."""
    return N / 1000 / baseline(f"histogram {rung}, {kind}").gb_per_s


def times(*rungs):
    """The times of some rungs on each kind of data."""
    return table(["µs", *small], [(rung, *(time_of(rung, kind)
                                           for kind in small))
                                  for rung in rungs])


times("only reading", "global")

# %% [markdown]
# A thousand times as long as reading on uniform data, and three thousand times on constant data. (The tables' times are for 2^30 bytes; those in global memory are taken from a 32nd of them. Caches are cold, and a histogram's time includes setting its bins to 0.)
#
# Is it the adding that takes so long, or the meeting? You know [how to ask](19_from_block_to_block.ipynb): give each block a row of bins of its own, still in global memory, so that fewer atomics meet. (To add the rows up is left out.)

# %%
@cuda.jit
def count_apart(bins, values):
    """Each thread adds 1 to a bin of its block's own row."""
    i, stride = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
    block = uint32(cuda.blockIdx.x)
    while i < values.size:
        cuda.atomic.add(bins, (block, uint32(values[i])), 1)
        i = uint32(i + stride)

# %% tags=["timing", "hide-input"]
# Checks it, and measures both on a 32nd of the bytes, a constant.
rows = np.zeros((2, BINS), np.uint32)
emulate(count_apart)[2, 256](rows, small["uniform"])
check(rows.sum(axis=0), np.bincount(small["uniform"], minlength=BINS))
few = np.full(N // 32, 77, np.uint8)
meeting = {"one row of bins": (count_globally, BINS),
           "a row for each block": (count_apart, (BLOCKS, BINS))}
meeting = {name: measure(kernel, bytes=few.size)[BLOCKS, THREADS](
    np.zeros(shape, np.uint32), few)
    for name, (kernel, shape) in meeting.items()}
compare(meeting, "µs", by="constant data")

# %% [markdown]
# As many atomics, and forty times as fast. So on constant data, the meeting is what takes the time. The field calls it **contention**: many want the same place, and wait.
#
# <details><summary>For the curious: where the bins begin</summary>
#
# The bins of the first table begin at a multiple of 1,024 bytes. 512 bytes on from there, the same kernel counts uniform data twice as fast, and constant data no faster. So where values differ, the meeting is not all: it matters, too, which cells they are. An allocation may begin at either place, so a time of atomics on a few cells holds for those addresses only. In C++, the same kernel is as slow as ours.
#
# </details>
#
# ## Bins for each block
#
# In shared memory, a block's own bins are nearer still. Count there, and add them to those of all at the end. To give each a copy of what all would change, and to join the copies later, is called *privatization*.
#
# The block waits twice: the bins must be clear before the first value is counted, and complete before they are added up.

# %%
@cuda.jit
def count_in_blocks(bins, values):
    """Count in the block's own bins, then add them to those of all."""
    own = cuda.shared.array(BINS, uint32)
    thread = uint32(cuda.threadIdx.x)
    if thread < BINS:
        own[thread] = 0
    cuda.syncthreads()
    i, stride = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
    while i < values.size:
        cuda.atomic.add(own, uint32(values[i]), 1)
        i = uint32(i + stride)
    cuda.syncthreads()
    if thread < BINS:
        cuda.atomic.add(bins, thread, own[thread])


in_blocks = {kind: count(count_in_blocks, it) for kind, it in small.items()}

# %% tags=["timing", "hide-input"]
# Shows the times of both kernels.
times("only reading", "global", "block")

# %% [markdown]
# **Predict.** A launch has 264 blocks. How many of 2^30 atomics go to global memory now?
#
# <details><summary>Answer</summary>
#
# Each block adds 256 bins, so 67,584: one in sixteen thousand.
#
# </details>
#
# On uniform data, that is nearly two hundred times as fast as before, and still takes six times as long as reading. All the other atomics go to shared memory, where lanes that want different words of one bank queue. Here are the bins that the first warp of uniform data adds to, each in its bank:

# %%
plot_banks([4 * int(value) for value in small["uniform"][:32]])

# %% [markdown]
# The tallest stack is the number of wavefronts. On adverse data it is higher: eight values, all in one bank. And on constant data all lanes want one word, for which one wavefront is enough.
#
# So do the four kinds take different times? Look at the table: they do not. The queues are there, but nobody seems to wait for them. For what, then? Here is the same loop, which only loads:

# %%
@cuda.jit
def read_bytes(bins, values):
    """Load each value as the last kernel does, and count nothing."""
    i, stride = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
    seen = uint32(0)
    while i < values.size:
        seen |= uint32(values[i])
        i = uint32(i + stride)
    if seen > 255:      # never: but the compiler must load to know
        bins[0] = seen

# %% tags=["timing", "hide-input"]
# Measures both on uniform data, with the GPU's counters.
many = np.resize(small["uniform"], N)
all_bins = np.zeros(BINS, np.uint32)


def clock(kernel, *arrays):
    """Measure a histogram of N bytes."""
    return measure(kernel, bytes=N)[BLOCKS, THREADS](all_bins, *arrays)


byte_by_byte = {"block": clock(count_in_blocks, many),
                "reads its bytes": clock(read_bytes, many)}
compare(byte_by_byte, "µs", "memory busy, %", "data path busy, %",
        "waits most for")

# %% [markdown]
# It takes as long. So the counting is free here: it happens while others wait for their bytes. A thread loads one byte, and asks for the next only when it has counted that one.
#
# How long must that take? The launch has 270,336 threads, with a byte each in flight. [Alone, a load takes 348 ns](11_memory_hierarchy.ipynb), so by Little's law the billion bytes need at least 1.38 ms. They take a tenth more.
#
# ## Sixteen bytes a load
#
# With `load4`, a thread asks for 16 bytes at once, as four words. Then it adds 1 for each of them; the few bytes that are left at the end, one by one.
#
# **Predict.** How many loads are left, and how many atomics?
#
# <details><summary>Answer</summary>
#
# A sixteenth of the loads. Each value is still one atomic.
#
# </details>

# %%
@cuda.jit(device=True)
def clear(own):
    """Set the block's cells to 0, and wait."""
    cell = uint32(cuda.threadIdx.x)
    while cell < own.size:
        own[cell] = 0
        cell = uint32(cell + cuda.blockDim.x)
    cuda.syncthreads()

# %%
@cuda.jit
def count_sixteen(bins, words, rest):
    """Load 16 bytes at a time and add 1 for each, in the block's bins."""
    own = cuda.shared.array(BINS, uint32)
    clear(own)
    i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
    while i < words.size:
        four = load4(words, i)
        for k in range(4):
            for shift in range(0, 32, 8):
                value = uint32(four[k] >> uint32(shift)) & uint32(255)
                cuda.atomic.add(own, value, 1)
        i = uint32(i + stride)
    i, thread = uint32(cuda.grid(1)), uint32(cuda.threadIdx.x)
    if i < rest.size:
        cuda.atomic.add(own, uint32(rest[i]), 1)
    cuda.syncthreads()
    if thread < BINS:
        cuda.atomic.add(bins, thread, own[thread])

# %%
def split(values):
    """Whole groups of 16 bytes, as words of 4, and the bytes that are left."""
    whole = values.size // 16 * 16
    return values[:whole].view(np.uint32), values[whole:]


def count_kinds(kernel):
    """Emulate a kernel for words on each kind of data."""
    return {kind: count(kernel, it, split(it)) for kind, it in small.items()}


in_sixteen = count_kinds(count_sixteen)

# %% tags=["timing", "hide-input"]
# Shows the times of both kernels beside the limit.
times("only reading", "block", "16 bytes")

# %% [markdown]
# A third of the time on uniform data. On constant data it is 5% slower than reading, and on adverse data four times as slow as on constant data. Now the data matters.
#
# ## What a wavefront costs
#
# How long must the counting take? A multiprocessor's data path passes one wavefront in a cycle. A request of a warp counts 32 bytes, and takes as many cycles as wavefronts. To load those bytes took the same path a quarter of a cycle, since it passes 128 of them in one. The emulator counts the wavefronts on the few thousand bytes of `small`:

# %%
gpu = cuda.get_current_device()


def wavefronts(run):
    """The wavefronts of one atomic request to shared memory."""
    row = run.bank_conflicts.by_kind["atomic"]
    return row.wavefronts / row.requests


def least_us(run):
    """The µs for which 2^30 bytes keep the data paths busy."""
    cycles = (wavefronts(run) + 1 / 4) * N / 32
    return 1000 * cycles / gpu.MULTIPROCESSOR_COUNT / gpu.CLOCK_RATE

# %% tags=["timing", "hide-input"]
# Shows it beside the recorded time, on each kind of data.
table(["data", "wavefronts of a request", "least, µs", "recorded, µs"],
      [(kind, wavefronts(run), least_us(run), time_of("16 bytes", kind))
       for kind, run in in_sixteen.items()])

# %% [markdown]
# Where the values differ, this count is more than nine tenths of the time. On constant data it is less than reading takes, so there the reading sets the pace.
#
# No launch takes less than the longer of the two. To be as fast as reading, requests must take at most 1.6 wavefronts, by this count, whatever the data is.
#
# ## A copy for each lane
#
# Lanes meet in a bank by chance. Would more copies of the bins help, one for each lane? That depends on where they lie. Here are four layouts, in a model of four banks and four threads, which add to bins 5, 1, 5 and 4:

# %%
bins, copy = np.arange(8), np.arange(4)[:, None]
plot_copies({"one copy": (bins, [0, 0, 0, 0]),
             "one behind the other": (8 * copy + bins, [0, 1, 2, 3]),
             "padded by a cell": (9 * copy + bins, [0, 1, 2, 3]),
             "side by side": (4 * bins + copy, [0, 1, 2, 3])},
            banks=4, values=[5, 1, 5, 4])

# %% [markdown]
# A column is a bank. Each thread adds to the bin of its value in its own copy; neighbouring copies are dark and light. Hatched boxes are different words of one bank: they queue.
#
# **Predict.** Which layout takes most wavefronts if all four threads have the value 5? And which takes one wavefront, whatever the values are?
#
# <details><summary>Answer</summary>
#
# *One behind the other*: each copy has bin 5 in the same bank, so four different words queue. Before, all four threads shared one word. The copies made it worse.
#
# *Side by side*: a thread's copy has a bank to itself.
#
# </details>

# %% [markdown]
# *One behind the other* fails since a copy's length is a multiple of the number of banks, so bin 5 has the same bank in each. *Padding* moves each copy on by a bank. That helps threads with equal values; but those with different values meet by chance, as before. *Side by side*, the copy alone decides the bank, and the value only the row. So nothing that the data does can make two lanes meet.
#
# In the kernel a layout is a function, from a value and a copy to a cell. With 256 bins and 32 copies:

# %%
def one_copy(value, copy):
    return value


def behind(value, copy):
    return 256 * copy + value


def padded(value, copy):
    return 257 * copy + value


def beside(value, copy):
    return 32 * value + copy

# %% [markdown]
# The kernel has two parts, each for one layout. The first counts 16 bytes in a copy. The second counts the bytes that are left, waits, and adds the copies of each bin up.
#
# There, too, 32 lanes load at once, each from the copies of its own bin. If each began with copy 0, *side by side* all of them would ask the same bank. So each begins with another copy: that is `value + turn` below.

# %%
def make_adding(layout):
    """A device function that counts 16 bytes in a copy of the bins."""
    cell = cuda.jit(device=True)(layout)

    @cuda.jit(device=True)
    def add_sixteen(own, four, copy):
        """Add 1 to the cell of each byte of four words."""
        for k in range(4):
            for shift in range(0, 32, 8):
                value = uint32(four[k] >> uint32(shift)) & uint32(255)
                cuda.atomic.add(own, uint32(cell(value, copy)), 1)
    return add_sixteen

# %%
def make_ending(layout, copies):
    """A device function that counts what is left and adds the copies up."""
    cell = cuda.jit(device=True)(layout)

    @cuda.jit(device=True)
    def end(bins, own, rest, copy):
        """Add 1 for each byte that is left, wait, and add the copies up."""
        i, value = uint32(cuda.grid(1)), uint32(cuda.threadIdx.x)
        if i < rest.size:
            cuda.atomic.add(own, uint32(cell(rest[i], copy)), 1)
        cuda.syncthreads()
        while value < bins.size:
            total = uint32(0)
            for turn in range(copies):
                one = uint32(value + turn) % uint32(copies)
                total += own[uint32(cell(value, one))]
            cuda.atomic.add(bins, value, total)
            value = uint32(value + cuda.blockDim.x)
    return end

# %%
def make_copies(layout, copies):
    """A histogram in copies of the bins, whose cells lie as `layout` says."""
    add_sixteen = make_adding(layout)
    end = make_ending(layout, copies)
    CELLS = layout(BINS - 1, copies - 1) + 1

    @cuda.jit
    def count_in_copies(bins, words, rest):
        """Count in the thread's copy, then add the copies up."""
        own = cuda.shared.array(CELLS, uint32)
        copy = uint32(cuda.threadIdx.x) % uint32(copies)
        clear(own)
        i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
        while i < words.size:
            add_sixteen(own, load4(words, i), copy)
            i = uint32(i + stride)
        end(bins, own, rest, copy)
    return count_in_copies

# %% tags=["hide-input"]
# Emulates each layout on each kind of data, and checks its answer.
LAYOUTS = {"one copy": (one_copy, 1), "one behind the other": (behind, 32),
           "padded by a cell": (padded, 32), "side by side": (beside, 32)}
RUNG_OF = dict(zip(LAYOUTS, ("16 bytes", "32 copies behind",
                             "32 copies padded", "32 copies"), strict=True))
in_layouts = {name: count_kinds(make_copies(*how))
              for name, how in LAYOUTS.items()}
table(["wavefronts of a request", *small],
      [(name, *map(wavefronts, runs.values()))
       for name, runs in in_layouts.items()])

# %% tags=["timing", "hide-input"]
# Shows the recorded times of the same.
table(["µs", *small], [(name, *(time_of(rung, kind) for kind in small))
                       for name, rung in RUNG_OF.items()])

# %% [markdown]
# The times follow the wavefronts. On constant data *one behind the other* takes sixteen times as long as one copy. *Padded*, the data still matters by a factor of two. *Side by side* it does not matter at all: each kind takes 8 to 9% longer than reading.
#
# The last three differ in the layout, and in finding a cell. Where counting takes clearly longer than reading, our count is at least 93% of the recorded time.
#
# ## Are fewer copies enough?
#
# 32 copies take 32 KB of a block's shared memory. With fewer copies, side by side, some lanes share one; bin v of copy c is then cell `copies * v + c`.
#
# **Predict.** Two copies instead of one: on which kind of data do they gain, and on which do they lose?
#
# <details><summary>Answer</summary>
#
# They gain a little on adverse data: its eight bins had one bank, and now have two, each for half of the lanes. They lose on skewed data: lanes with the same value had one word in common, and now have two. On the other kinds they lose a little.
#
# </details>

# %%
def fewer(copies):
    """The layout of this number of copies side by side."""
    def cell(value, copy):
        return copies * value + copy
    return cell

# %% tags=["timing", "hide-input"]
# Emulates each number of copies, and shows the recorded times.
COPIES = 1, 2, 4, 8, 16, 32
in_copies = {1: in_sixteen, 32: in_layouts["side by side"]}
in_copies |= {c: count_kinds(make_copies(fewer(c), c)) for c in (2, 4, 8, 16)}
names = ["16 bytes", *(f"{c} copies" for c in COPIES[1:])]
plot_series(COPIES, {kind: [time_of(name, kind) for name in names]
                     for kind in ("skewed", "adverse")},
            "copies", time_of("only reading"), "only reading", scale="log")

# %% [markdown]
# Each line with marks is a kind of data; the level one is reading alone.
#
# Two copies gain 5% on adverse data, and lose 10% on skewed data.
#
# With 16 copies a request takes two wavefronts at most. On constant data it takes one, and the launch 262 µs, as with twice as many. The other kinds take less than 290 µs by our count, and at least 324 by the clock: longer than either alone; why, we did not test. With 32 copies, only the reading is left.
#
# %% [markdown]
# ## More bytes in flight
#
# By our count, the data paths are now busy for two thirds of the time that reading takes; and still we are slower. The limit's kernel has 64 bytes of each thread in flight, and ours 16. So let a thread load twice, or four times, before it counts:

# %%
CELLS = 32 * BINS
ADD_SIXTEEN = make_adding(beside)
END = make_ending(beside, 32)


@cuda.jit
def count_two_loads(bins, words, rest):
    """Load 16 bytes twice, and count the 32 in the lane's copy."""
    own = cuda.shared.array(CELLS, uint32)
    lane = uint32(cuda.threadIdx.x) % uint32(32)
    clear(own)
    i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
    while uint32(i + stride) < words.size:
        one, two = load4(words, i), load4(words, uint32(i + stride))
        ADD_SIXTEEN(own, one, lane)
        ADD_SIXTEEN(own, two, lane)
        i = uint32(i + 2 * stride)
    if i < words.size:
        ADD_SIXTEEN(own, load4(words, i), lane)
    END(bins, own, rest, lane)

# %%
@cuda.jit
def count_four_loads(bins, words, rest):
    """Load 16 bytes four times, and count the 64 in the lane's copy."""
    own = cuda.shared.array(CELLS, uint32)
    lane = uint32(cuda.threadIdx.x) % uint32(32)
    clear(own)
    i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
    while uint32(i + 3 * stride) < words.size:
        one, two = load4(words, i), load4(words, uint32(i + stride))
        three = load4(words, uint32(i + 2 * stride))
        four = load4(words, uint32(i + 3 * stride))
        ADD_SIXTEEN(own, one, lane)
        ADD_SIXTEEN(own, two, lane)
        ADD_SIXTEEN(own, three, lane)
        ADD_SIXTEEN(own, four, lane)
        i = uint32(i + 4 * stride)
    while i < words.size:
        ADD_SIXTEEN(own, load4(words, i), lane)
        i = uint32(i + stride)
    END(bins, own, rest, lane)

# %% [markdown]
# Again a control: a kernel that loads in the same way, and counts nothing. And the *twins* of our kernels: the same in C++.

# %%
def make_reading(loads):
    """A kernel that reads the values, some loads at a time."""
    @cuda.jit
    def read(bins, words, rest):
        """Load the values, and count nothing."""
        i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
        bits = uint32(0)
        while uint32(i + (loads - 1) * stride) < words.size:
            for k in range(loads):
                four = load4(words, uint32(i + k * stride))
                bits |= four[0] & four[1] & four[2] & four[3]
            i = uint32(i + loads * stride)
        while i < words.size:
            four = load4(words, i)
            bits |= four[0] & four[1] & four[2] & four[3]
            i = uint32(i + stride)
        if bits == 1:       # hardly ever: but the compiler must load to know
            bins[0] = bits
    return read

# %% tags=["hide-input"]
# Checks both at six sizes, and on each kind of data.
for n in 0, 1, 15, 16, 5001, 40_003:
    values = kinds(n)["skewed"]
    count(count_two_loads, values, split(values))
    count(count_four_loads, values, split(values))
for values in small.values():
    count(count_two_loads, values, split(values))
    count(count_four_loads, values, split(values))

# %% tags=["timing", "hide-input"]
# Shows the times of reading and counting two kinds, by the bytes in flight.
FLIGHTS = {16: ("reads 16 bytes", "32 copies"),
           32: ("reads 32 bytes", "two loads"),
           64: ("reads 64 bytes", "four loads")}
table(["data", "bytes in flight, a thread", "reads, µs", "counts, µs",
       "counts in C++, µs"],
      [(kind, size, *(time_of(name, kind)
                      for name in (reads, counts, f"{counts} in C++")))
       for kind in ("uniform", "skewed")
       for size, (reads, counts) in FLIGHTS.items()])

# %% [markdown]
# With two loads, our counting gains up to 5%, and its twin in C++ *loses* 11%. With one load, the twin had been faster. Reading gains a little, too, though sixteen bytes a thread are nearly three times what Little's law asks for, at a lone load's latency.
#
# On skewed data, reading alone is faster than counting; on uniform data it is not, though reading does the same for all values. So bytes in flight are not the whole reason, and we do not know the rest.
#
# Four loads end the climb: on each kind of data, counting takes 3% longer than *only reading*.
#
# ## Two ideas that do not pay
#
# If many lanes have the same value, one of them could add for all: **aggregation**. The lowest lane with a value adds their number.
#
# | call | gives |
# |---|---|
# | `match_any_sync(0xFFFFFFFF, value)` | a mask of the lanes, among all 32, that have this lane's value, an `int32` |
# | `lanemask_lt()` | the mask of the lanes below this one |
# | `popc(mask)` | how many lanes a mask has |

# %%
@cuda.jit(device=True)
def add_together(bins, values):
    """The lowest lane with a value adds for all lanes that have it."""
    i, stride = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
    whole = uint32(values.size // 32 * 32)      # where warps are complete
    while i < whole:
        value = uint32(values[i])
        equal = uint32(cuda.match_any_sync(0xFFFFFFFF, int32(value)))
        if uint32(equal & cuda.lanemask_lt()) == 0:
            cuda.atomic.add(bins, value, cuda.popc(equal))
        i = uint32(i + stride)
    if i < values.size:
        cuda.atomic.add(bins, uint32(values[i]), 1)

# %%
@cuda.jit
def aggregate_globally(bins, values):
    """Count in global memory, one addition for equal values of a warp."""
    add_together(bins, values)


@cuda.jit
def aggregate_in_blocks(bins, values):
    """Count in the block's own bins, one addition for equal values."""
    own = cuda.shared.array(BINS, uint32)
    clear(own)
    add_together(own, values)
    cuda.syncthreads()
    thread = uint32(cuda.threadIdx.x)
    if thread < BINS:
        cuda.atomic.add(bins, thread, own[thread])

# %% [markdown]
# Or a thread compares neighbouring bytes while they are in its registers: it counts how long a value repeats, and adds the whole run when another value comes.

# %%
@cuda.jit(device=True)
def add_runs(own, word, value, run):
    """Add the runs that end in a word; return the value and run that go on."""
    for shift in range(0, 32, 8):
        new = uint32(word >> uint32(shift)) & uint32(255)
        if new != value:
            cuda.atomic.add(own, uint32(value), run)
            value, run = new, uint32(0)
        run = uint32(run + uint32(1))
    return value, run

# %%
@cuda.jit
def count_runs(bins, words, rest):
    """Count how often a value repeats, then add the run."""
    own = cuda.shared.array(BINS, uint32)
    clear(own)
    i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
    value, run = uint32(0), uint32(0)
    while i < words.size:
        four = load4(words, i)
        for k in range(4):
            value, run = add_runs(own, four[k], value, run)
        i = uint32(i + stride)
    cuda.atomic.add(own, uint32(value), run)
    i, thread = uint32(cuda.grid(1)), uint32(cuda.threadIdx.x)
    if i < rest.size:
        cuda.atomic.add(own, uint32(rest[i]), 1)
    cuda.syncthreads()
    if thread < BINS:
        cuda.atomic.add(bins, thread, own[thread])

# %% tags=["hide-input"]
# Checks all three on each kind of data.
for values in small.values():
    count(aggregate_globally, values)
    count(aggregate_in_blocks, values)
    count(count_runs, values, split(values))

# %% tags=["timing", "hide-input"]
# Shows their times beside those of the kernels that they would improve.
times("global", "aggregated globally", "block", "aggregated", "16 bytes",
      "runs")

# %% [markdown]
# In global memory, aggregation gains most where most lanes agree: constant data is counted thirty-one times as fast, uniform data 9% faster.
#
# In shared memory it is slower on each kind of data. It has nothing to gain there: as the emulator counts them, requests take as many wavefronts with it as without, since lanes that add 1 to the same word take one anyway. What it loses grows with the number of different values in a warp:

# %% tags=["timing", "hide-input"]
# Shows the time of aggregation in shared memory by the values of a warp.
def different(values):
    """How many different values a warp has, on average."""
    warps = values[:values.size // 32 * 32].reshape(-1, 32)
    return np.mean([len(np.unique(warp)) for warp in warps])


table(["data", "different values in a warp", "µs", "cycles for each of them"],
      [(kind, different(it), time_of("aggregated", kind),
        time_of("aggregated", kind) / 1000 * gpu.MULTIPROCESSOR_COUNT
        * gpu.CLOCK_RATE / (N / 32) / different(it))
       for kind, it in small.items()])

# %% [markdown]
# Runs are slower, too. On adverse data, by our count, lanes wanting one word take turns when they add other numbers than 1. On constant data hardly anybody adds, and the comparing costs.

# %% [markdown]
# <details><summary>For the curious: why both are slow</summary>
#
# Aggregation takes about two cycles of a multiprocessor for each different value, unless the bytes take longer to come. So `match_any_sync` seems to look for one value after the other; we have not timed it alone.
#
# To add 1, the compiler chooses `ATOMS.POPC.INC`, and for any other number `ATOMS.ADD`, as the next cell shows. For 16 requests in which all 32 lanes add a run to one bin, the emulator counts 512 wavefronts. For 257 requests that add 1 to one bin, it counts 257, and so does an H200. The runs of adverse data take 3.4 times as long as its single values. On constant data, issuing nine instructions a byte in place of four takes 280 of the 346 µs.
#
# </details>

# %% tags=["assembly", "hide-input"]
# Shows with which instructions two of the kernels add in shared memory.
one_by_one, by_runs = (
    assemble(kernel)[BLOCKS, THREADS](all_bins, *split(many))
    for kernel in (count_sixteen, count_runs))
{name: sorted({it.opcode for it in made.instructions
               if it.opcode.startswith("ATOMS")})
 for name, made in {"16 bytes": one_by_one, "runs": by_runs}.items()}

# %% [markdown]
# ## What could go wrong
#
# Each lane has its own copy. So is the atomic still needed?

# %%
@cuda.jit
def count_unshared_wrong(bins, words, rest):
    """Add 1 in the lane's own copy, without an atomic."""
    own = cuda.shared.array(CELLS, uint32)
    lane = uint32(cuda.threadIdx.x) % uint32(32)
    clear(own)
    i, stride = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
    while i < words.size:
        for shift in range(0, 32, 8):
            value = uint32(words[i] >> uint32(shift)) & uint32(255)
            own[uint32(32 * value + lane)] += uint32(1)
        i = uint32(i + stride)
    END(bins, own, rest, lane)


run = emulate(count_unshared_wrong)[2, 256](
    np.zeros(BINS, np.uint32), *split(small["skewed"]))
with expect(AssertionError):
    run.assert_no_races()

# %% [markdown]
# The copy belongs to a *lane*, and a block has such a lane in each of its warps.
# Thread 32 stores to the cell that thread 0 has loaded; then thread 0 stores its old sum, and thread 32's addition is lost. (A copy for each of 1,024 threads would take a megabyte.)
#
# ## What changed

# %% tags=["timing", "hide-input"]
# Measures the rungs on uniform data, with the GPU's counters.
side_by_side = make_copies(beside, 32)
parts = split(many)
measured = {"block": byte_by_byte["block"],
            "16 bytes": clock(count_sixteen, *parts),
            "32 copies": clock(side_by_side, *parts),
            "two loads": clock(count_two_loads, *parts),
            "four loads": clock(count_four_loads, *parts)}
# what is left if there are hardly any values: clear the cells, add them up
empty = {copies: clock(kernel, *split(many[:16])) for copies, kernel in
         [(1, count_sixteen), (32, side_by_side)]}
table(["copies", "hardly any values, µs"],
      [(copies, m.median_us) for copies, m in empty.items()])

# %% tags=["timing", "hide-input"]
# Shows what each rung costs on uniform data.
def part(m, name):
    """One of a launch's counters."""
    return m.counters.get(name, np.nan)


compare(measured,
        {"instructions for a byte":
         lambda m: 32 * part(m, "instructions") / N},
        "issue slots used, %", "data path busy, %", "memory busy, %",
        "waits most for", by="rung")

# %% [markdown]
# The first table: 31 more copies cost 0.3 µs. What the other 6 µs are, it does not say. The second: of three floors, memory, data path and issue slots, the last rungs are near the first only.

# %% [markdown]
# <details><summary>For the curious: the other two floors</summary>
#
# The GPU counts some wavefronts more than we do: 3.3 a request with one copy, and 1.07 with 32. So the data paths are busy for seven tenths of the time that reading takes, not two thirds. And to issue five instructions a byte, the schedulers need at least 170 µs, a little more than the wavefronts of our count. These floors assume the top clock; the table's shares are of the cycles that a kernel took, and the clock of the last rungs comes out 6 to 8% lower.
#
# </details>

# %% tags=["timing", "hide-input"]
# Shows all rungs, the library and the limit, on each kind of data.
RUNGS = ("global", "block", "16 bytes", "CUB", "32 copies", "two loads",
         "four loads")
plot_rates({name: {kind: baseline(f"histogram {name}, {kind}").gb_per_s
                   for kind in small} for name in RUNGS},
           baseline("histogram only reading, uniform").gb_per_s,
           "only reading")

# %% [markdown]
# Each row is a kernel and each mark a kind of data; where the marks are together, the data does not matter. CUB is NVIDIA's library for C++. The last rung is twice as fast as it on uniform data, four times as fast on adverse data, and a fifth faster on constant data.
#
# Three ideas brought us here: copies for each block, sixteen bytes a load, and a bank for each lane. Each time, a kernel that differed in one thing said what the time was spent on, except for sixteen copies, and the last 8%.

# %% [markdown]
# ## On your own
#
# ★ 16 copies lie side by side. Why does a request take two wavefronts at most, whatever the data is?
#
# <details><summary>Answer</summary>
#
# Lanes `l` and `l + 16` share copy `l`. Its cells lie in the banks `l` and `l + 16`, which no other copy uses. So at most two different words meet in a bank.
#
# </details>
#
# ★ The values are below 256, but `uint32`. By our count, are 32 copies still needed?
#
# <details><summary>Answer</summary>
#
# Hardly. 2³⁰ values are now four times as many bytes: to read them takes 967 µs or more. A request still counts 32 values, and to load these takes the path one cycle, not a quarter. With one copy that is 532 µs on uniform data, 644 on skewed, 257 on constant: the reading sets the pace. Only adverse data needs longer, 1,137 µs.
#
# </details>
#
# ★ There are 100,000 bins. Give two ways to count, and what each costs.
#
# <details><summary>Answer</summary>
#
# They take 400 KB, so a block's shared memory holds half of them. Count twice, each time the values of one half: all values are read twice. Or count in global memory, with an atomic to L2 for each value. If the data is skewed, that queues at a few bins, as with 256.
#
# </details>
#
# ★★ `letters`: count the letters of a text, in shared memory and without a bank conflict. The kernel below is right, but counts in global memory.

# %%
task = exercise("letters")
task

# %%
SIZE = 26 * 32


@cuda.jit
def letters(counts, text):
    """Each thread adds 1 to the count of each of its letters."""
    for i in range(cuda.grid(1), text.size, cuda.gridsize(1)):
        letter = (text[i] | 32) - 97
        if 0 <= letter < 26:
            cuda.atomic.add(counts, letter, 1)


task.check(letters)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# SIZE = 26 * 32
#
#
# @cuda.jit
# def letters(counts, text):
#     """Count in the lane's copy, then add up the copies of each letter."""
#     own = cuda.shared.array(SIZE, uint32)
#     thread, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
#     for cell in range(thread, SIZE, cuda.blockDim.x):
#         own[cell] = 0
#     cuda.syncthreads()
#     for i in range(cuda.grid(1), text.size, cuda.gridsize(1)):
#         letter = (text[i] | 32) - 97
#         if 0 <= letter < 26:
#             cuda.atomic.add(own, 32 * letter + lane, 1)
#     cuda.syncthreads()
#     if thread < 26:
#         total = 0
#         for turn in range(32):
#             total += own[32 * thread + (thread + turn) % 32]
#         cuda.atomic.add(counts, thread, total)
# ```
#
# 32 copies lie side by side, one in each bank. Adding up, each thread begins with another copy, so that here, too, each lane has its bank.
#
# </details>

# %% [markdown]
# ★★★ `exercise("sixteen_at_once")`: bring `load4` to a histogram of 64 bins. What happens to the requests for the data?
#
# <details><summary>Answer</summary>
#
# The kernel asked for each word four times, 4 bytes at a time. Now one request brings 16 bytes for each lane: a sixteenth is left.
#
# </details>
#
# The [assignment](assignments/27_histogram.ipynb) has 4 exercises, this one among them.

# %% [markdown]
# ## In practice
#
# Our kernel counts bytes; a library counts more. Write your own for a narrow case, if it measures faster, even on its worst data.
#
# | what if | then |
# |---|---|
# | 32 copies do not fit? | Make fewer: one of 2,048 bins takes 8 KB, and a block can have [227 KB](18_how_much_shared_memory.ipynb), if the launch asks for more than 48. But then fewer blocks share a multiprocessor, with fewer bytes in flight. |
# | not even one copy fits, of more than 58,112 bins? | Count a part of the bins at a time and skip other values: the data is read once for each part. Or count in global memory: the more bins the data wants, the less its atomics meet. |
# | values are no small integers? | Compute the bin: `min(int((value - low) * scale), last)` if `low <= value < high`, which leaves NaN out. (The product may round up to one bin too many.) Uneven edges are searched by halving. |
# | a bin counts more than 2³² − 1? | Make those in global memory `uint64`. A block's own may stay `uint32` while it has no more values than that. |
# | each value has a weight? | Add it in place of 1. In floats, the order of the atomics then changes the last bits. |

# %% [markdown]
# ## Further reading
#
# - [Fast histograms using shared atomics](https://developer.nvidia.com/blog/gpu-pro-tip-fast-histograms-using-shared-atomics-maxwell/): why bins belong in shared memory, and what changed with the hardware.
# - [CUB's `DeviceHistogram`](https://nvidia.github.io/cccl/unstable/cub/api/structcub_1_1DeviceHistogram.html): the library's histograms.
#
# *Next:* [Compute each cell from its neighbours](28_stencil_and_convolution.ipynb): a histogram reads each value once; what if each is needed seven times?

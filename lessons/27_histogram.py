# %% [markdown]
# # Count a billion bytes in the time it takes to read them
#
# *40 minutes*
#
# **What you'll do:** climb from a histogram that adds each value in global memory to one that takes as long as reading the values, whatever they are, and predict the rungs' times by a count.
#
# **What you'll learn:**
#
# - count in copies of the bins that no two lanes of a warp have to share
# - turn wavefronts into the least time that a launch can take
# - try a kernel on the data that suits it least
#
# **What you'll need:** [bank conflicts](14_bank_conflicts.ipynb), [barriers and races](15_barriers_and_races.ipynb), [atomics](19_from_block_to_block.ipynb), and `load4` of [the transpose](21_transpose.ipynb).

# %%
import numpy as np
from numba import cuda, int32, uint32

from helpers import (assemble, baseline, check, device, emulate, exercise,
                     expect, load4, measure, plot_banks, plot_rates,
                     plot_series, table)

device

# %% [markdown]
# ## How many of each?
#
# A **histogram** says how often each value occurs; NumPy calls it `bincount`.
# Our values are bytes, so it has 256 counts, or **bins**.
#
# Each value has to be read once. That is the limit.
# But many threads want to add to one bin at the same time, and how many depends on the data.
# So we count four kinds of it.

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
table(["data", "different values", "most frequent", "its share, %"],
      [(name, len(np.unique(it)), np.bincount(it).argmax(),
        100 * np.bincount(it).max() / it.size) for name, it in small.items()])

# %% [markdown]
# In *skewed* data each bit is set once in eight times, so a third of the values are 0.
# *Adverse* data holds only multiples of 32. It is made to suit one of our kernels as badly as possible.
#
# How fast can we count, and does it have to depend on the data?
#
# ## In global memory
#
# **Each thread adds 1 to the bin of each of its values.**
# Threads of all blocks share the bins, so the addition has to be atomic.

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

# %% [markdown]
# Each value becomes an atomic addition in global memory.
#
# We will count 2^30 bytes.
# The times of this lesson are recorded with cold caches, the kernels in turn, and include setting the bins to 0.
# *CUB* is NVIDIA's library for such tasks in C++; *read only* is a kernel that loads the values and counts nothing.
# The kernels that add in global memory got only 2^25 bytes, because they are slow.

# %% tags=["timing"]
N = 2**30


def recorded(rung, kind="uniform"):
    """A rung's time on a kind of data."""
    return baseline(f"histogram {rung}, {kind}")


def rates(rung):
    """The GB/s of a rung on each kind of data."""
    return {kind: recorded(rung, kind).gb_per_s for kind in small}


def compare(*rungs):
    """The GB/s of some rungs, as a table."""
    return table(["GB/s", *small],
                 [(rung, *rates(rung).values()) for rung in rungs])


compare("global", "global, 512 bytes on", "global in C++", "CUB",
        "read only")

# %% [markdown]
# On uniform data the library is 560 times as fast as our kernel, and reading alone is twice as fast as the library.
# In C++ the same kernel is as slow.
# It is slowest on constant data, where all threads add to one bin.
#
# These bins begin at a multiple of 1,024 bytes. *512 bytes on* from there, the same kernel counts uniform data twice as fast, and constant data no faster.
# An allocation may begin at either place. So a time of atomics on a few cells holds for those addresses only.
#
# ## Bins for each block
#
# In shared memory, each block can have bins of its own. (The field's word for that is **privatization**.)
# **Count in the block's own bins, then add them to those of all.**
# Each of the first 256 threads looks after one bin.
# It takes two barriers: the bins must be clear before the first value is counted, and complete before they are added up.

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
compare("global", "block", "block in C++", "CUB")

# %% [markdown]
# **Predict.** A launch has 264 blocks. How many atomic additions to global memory are left of 2^30?
#
# <details><summary>Answer</summary>
#
# Each block adds 256 bins: 67,584.
#
# </details>
#
# All the others go to shared memory now, and lanes that want different words of one bank take turns.
# How many wavefronts does a request take?

# %%
def wavefronts(run):
    """The wavefronts of one atomic request to shared memory."""
    row = run.bank_conflicts.by_kind["atomic"]
    return row.wavefronts / row.requests


print(table(["data", "wavefronts of a request"],
            [(kind, wavefronts(run)) for kind, run in in_blocks.items()]))

plot_banks([4 * int(value) for value in small["uniform"][:32]])

# %% [markdown]
# The figure shows the bins that the first warp of uniform data adds to, each in its bank. The fullest bank sets the number of wavefronts.
#
# Adverse data keeps to eight bins of one bank. With constant data all lanes want one word, and that takes one wavefront.
# So the four kinds should take different times, up to eight times as long.
# But this kernel takes the same time for each of them.
# Something else sets the pace. What do its warps wait for?

# %% tags=["timing"]
BLOCKS, THREADS = 264, 1024      # 2 blocks for each of 132 multiprocessors
many = np.resize(small["uniform"], N)
all_bins = np.zeros(BINS, np.uint32)


def clock(kernel, *arrays):
    """Measure a histogram of N bytes."""
    return measure(kernel, bytes=N)[BLOCKS, THREADS](all_bins, *arrays)


blocks = clock(count_in_blocks, many)
print(blocks)
{f"{part} busy, %": blocks.counters.get(f"{part}_percent")
 for part in ("l1_data", "memory")}

# %% [markdown]
# For memory: 94% of their waiting. And yet memory is only 15% busy, and the path to shared memory 37%.
# A thread loads one byte, waits for it, adds 1, and then loads the next.
#
# ## Sixteen bytes a load
#
# With `load4` a thread gets 16 bytes after one wait, as four words.
# **Load 16 bytes, add 1 for each of them, and count what is left one by one.**
#
# The pieces of this kernel will serve all others, too, so they can do more than it needs:
# with `step` and `start`, a value's cell is `step * value + start`.
# Here that is the value itself: `step` is 1 and `start` is 0.

# %%
@cuda.jit(device=True)
def clear(own):
    """Set the block's cells to 0, and wait."""
    cell = uint32(cuda.threadIdx.x)
    while cell < own.size:
        own[cell] = 0
        cell = uint32(cell + cuda.blockDim.x)
    cuda.syncthreads()


@cuda.jit(device=True)
def add_word(own, word, step, start):
    """Add 1 to the cell of each of a word's four bytes."""
    for shift in range(0, 32, 8):
        value = uint32(word >> uint32(shift)) & uint32(255)
        cuda.atomic.add(own, uint32(step * value + start), 1)


@cuda.jit(device=True)
def add_sixteen(own, four, step, start):
    """Add 1 to the cell of each byte of four words."""
    for k in range(4):
        add_word(own, four[k], step, start)

# %%
@cuda.jit(device=True)
def add_rest(own, rest, step, start):
    """Add 1 for each byte that is left, and wait for all threads."""
    i = uint32(cuda.grid(1))
    if i < rest.size:
        cuda.atomic.add(own, uint32(step * rest[i] + start), 1)
    cuda.syncthreads()


@cuda.jit(device=True)
def add_up(bins, own, copies, step, apart):
    """Add the copies of each bin to the bin of all blocks."""
    value = uint32(cuda.threadIdx.x)
    while value < bins.size:
        total = uint32(0)
        for turn in range(copies):
            copy = uint32(value + turn) % uint32(copies)
            total += own[uint32(step * value + apart * copy)]
        cuda.atomic.add(bins, value, total)
        value = uint32(value + cuda.blockDim.x)

# %%
def make_copies(COPIES, STEP, APART):
    """A histogram in copies: bin v of copy c is cell STEP * v + APART * c."""
    CELLS = STEP * (BINS - 1) + APART * (COPIES - 1) + 1

    @cuda.jit
    def count_in_copies(bins, words, rest):
        """Add 1 in the thread's copy for 16 bytes a load, then add up."""
        own = cuda.shared.array(CELLS, uint32)
        copy = uint32(cuda.threadIdx.x) % uint32(COPIES)
        start = uint32(uint32(APART) * copy)
        clear(own)
        i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
        while i < words.size:
            add_sixteen(own, load4(words, i), STEP, start)
            i = uint32(i + stride)
        add_rest(own, rest, STEP, start)
        add_up(bins, own, COPIES, STEP, APART)
    return count_in_copies


def split(values):
    """Whole groups of 16 bytes, as words of 4, and the bytes that are left."""
    whole = values.size // 16 * 16
    return values[:whole].view(np.uint32), values[whole:]

# %% [markdown]
# `make_copies(1, 1, 1)` makes one copy, which is the block's own bins.
#
# **Predict.** By how much do the requests of loads fall, and by how much those of atomics?
#
# <details><summary>Answer</summary>
#
# A request now brings 16 bytes for each lane: a sixteenth of the loads.
# Each value is still one addition.
#
# </details>

# %%
def count_kinds(kernel):
    """Emulate a kernel for words on each kind of data."""
    return {kind: count(kernel, it, split(it)) for kind, it in small.items()}


def requests(run):
    """The requests of loads from the data, and of atomics in shared memory."""
    rows = run.coalescing.by_line.values()
    loads = sum(it.requests for it in rows
                if it.kind == "load" and it.array in ("values", "words"))
    return loads, run.bank_conflicts.by_kind["atomic"].requests


wide = make_copies(1, 1, 1)
in_wide = count_kinds(wide)
print(table(["kernel", "requests of loads", "of shared atomics"],
            [("block", *requests(in_blocks["uniform"])),
             ("16 bytes", *requests(in_wide["uniform"]))]))
compare("block", "16 bytes", "CUB", "read only")

# %% [markdown]
# Uniform data takes a third of the time, and now the data matters.
# The kernel is already faster than the library, by 1% to 6% where the values differ.
#
# How much of that time do the wavefronts need? A multiprocessor passes at most one in a cycle, and has at most 1.98 billion cycles a second.

# %%
gpu = cuda.get_current_device()


def least_us(run, n=N):
    """The time that a launch needs for its wavefronts alone, in µs."""
    cycles = wavefronts(run) * n / 32 / gpu.MULTIPROCESSOR_COUNT
    return 1000 * cycles / gpu.CLOCK_RATE


def beside(rung, runs):
    """The time of the wavefronts beside the recorded time."""
    return [(f"{rung}, {kind}", wavefronts(run), least_us(run),
             recorded(rung, kind).median_us) for kind, run in runs.items()]


table(["rung, data", "wavefronts of a request", "their time, µs",
       "recorded time, µs"], beside("16 bytes", in_wide))

# %% [markdown]
# On three kinds of data, the additions alone explain 86% to 94% of the time.
# The loads take the same path: the counters say that it is busy in 98% of the cycles for uniform data.
# Only constant data needs few wavefronts. It takes 3% longer than reading.
#
# ## A copy for each lane
#
# Lanes meet in a bank by chance.
# More copies of the bins help only if they change the banks.
# Here are three ways to arrange 32 copies, where each lane adds to its own:

# %%
def waves(name, runs):
    """A row of wavefronts."""
    return name, *map(wavefronts, runs.values())


side_by_side = make_copies(32, 32, 1)
in_layouts = {"one copy": in_wide,
              "one behind the other": count_kinds(make_copies(32, 1, 256)),
              "padded by a cell": count_kinds(make_copies(32, 1, 257)),
              "side by side": count_kinds(side_by_side)}
table(["wavefronts of a request", *small],
      [waves(*it) for it in in_layouts.items()])

# %% [markdown]
# *One behind the other* is worse than one copy. 256 is a multiple of 32, so a bin is in the same bank in each copy.
# Lanes that wanted one word now want different words of one bank. The GPU agrees: constant data takes 4.17 ms instead of 0.26.
#
# With *padding*, a bin's bank depends on the copy. That helps lanes with equal values, but random values still meet by chance.
#
# *Side by side*, bin v of copy c is cell 32 v + c, in bank c.
# **Give each lane its copy, in its own bank.**
# Whatever the data is, no two lanes meet. (In `add_up` each lane begins with another copy, for the same reason.)

# %%
plot_banks([4 * (32 * int(value) + lane)
            for lane, value in enumerate(small["uniform"][:32])])

# %% [markdown]
# This is the request of the last figure again. Now each lane is alone in its bank.
#
# 32 copies take 32 KB of a block's shared memory.
# Are fewer copies enough?

# %%
COPIES = 1, 2, 4, 8, 16, 32
in_copies = {1: in_wide, 32: in_layouts["side by side"]}
in_copies |= {c: count_kinds(make_copies(c, c, 1)) for c in (2, 4, 8, 16)}


def times_of(kind):
    """The recorded times by the number of copies."""
    names = [f"{c} copies" if c > 1 else "16 bytes" for c in COPIES]
    return [recorded(it, kind).median_us for it in names]


print(table(["copies", *small, "time of adverse, by wavefronts, µs"],
            [(*waves(c, in_copies[c]), least_us(in_copies[c]["adverse"]))
             for c in COPIES]))
plot_series(COPIES, {it: times_of(it) for it in ("uniform", "adverse")},
            "copies", recorded("read only").median_us, "read only",
            scale="log")

# %% [markdown]
# Each line with marks is one kind of data; the level one is reading alone.
#
# With up to 8 copies, adverse data takes 55 to 62 µs longer than its wavefronts alone.
# Two copies gain 5% on adverse data and lose on all others: skewed data takes 644 µs instead of 583. Lanes with equal values had one word in common, and now have two.
# 16 copies leave two wavefronts at most, 32 leave one. Then all kinds take the same time.
#
# ## Two loads in flight
#
# The wavefronts now need 128 µs and reading 257, but our kernel takes 265. *Read only* loads twice before it waits; our kernel loads once.
# **Load 16 bytes twice, then add 1 for each of the 32.**

# %%
CELLS = 32 * BINS


@cuda.jit
def count_two_loads(bins, words, rest):
    """Load 16 bytes twice, add 1 in the lane's copy for each of the 32."""
    own = cuda.shared.array(CELLS, uint32)
    lane = uint32(cuda.threadIdx.x) % uint32(32)
    clear(own)
    i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
    while uint32(i + stride) < words.size:
        one, two = load4(words, i), load4(words, uint32(i + stride))
        add_sixteen(own, one, 32, lane)
        add_sixteen(own, two, 32, lane)
        i = uint32(i + 2 * stride)
    if i < words.size:
        add_sixteen(own, load4(words, i), 32, lane)
    add_rest(own, rest, 32, lane)
    add_up(bins, own, 32, 32, 1)

# %%
@cuda.jit
def read_only(bins, words, rest):
    """Load the values, and count nothing."""
    i, stride = uint32(4 * cuda.grid(1)), uint32(4 * cuda.gridsize(1))
    bits = uint32(0)
    while uint32(i + stride) < words.size:
        one, two = load4(words, i), load4(words, uint32(i + stride))
        for k in range(4):
            bits |= one[k] & two[k]
        i = uint32(i + 2 * stride)
    if i < words.size:
        one = load4(words, i)
        bits |= one[0] & one[1] & one[2] & one[3]
    if bits == uint32(0xFFFFFFFF):      # or the compiler leaves the loads out
        bins[0] = bits


for n in 0, 1, 15, 16, 5001, 40_003:
    values = kinds(n)["skewed"]
    count(count_two_loads, values, split(values))
for values in small.values():
    count(count_two_loads, values, split(values))

compare("32 copies", "32 copies in C++", "two loads", "two loads in C++",
        "read only", "CUB")

# %% [markdown]
# With two loads in flight, counting takes as long as reading, within 2%, whatever the data is.
#
# In C++ the rung before takes 2% less than ours, with one load; with two loads, C++ takes 11% longer than ours. So waiting is not all.
#
# ## Two ideas that do not pay
#
# Where lanes add to one word, one of them could add for all. `match_any_sync` gives each lane a mask of the lanes that have its value, `lanemask_lt` is the mask of the lanes below it, and `popc` counts the lanes of a mask.
# **The lowest lane with a value adds for all lanes that have it.**
#
# Or a thread compares neighbours while they are in its registers.
# **Count how often a value repeats, then add the run.**

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


@cuda.jit
def aggregate_globally(bins, values):
    """Count in global memory, one addition for equal values of a warp."""
    add_together(bins, values)


# %%
@cuda.jit
def aggregate_in_blocks(bins, values):
    """Count in the block's own bins, one addition for equal values."""
    own = cuda.shared.array(BINS, uint32)
    clear(own)
    add_together(own, values)
    cuda.syncthreads()
    add_up(bins, own, 1, 1, 1)


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
    add_rest(own, rest, 1, 0)
    add_up(bins, own, 1, 1, 1)


for values in small.values():
    count(aggregate_globally, values)
    count(aggregate_in_blocks, values)
    count(count_runs, values, split(values))

compare("global", "aggregated globally", "block", "aggregated", "16 bytes",
        "runs")

# %% [markdown]
# In global memory, aggregation gains most where most lanes agree: constant data is counted 31 times as fast, uniform data 9% faster.
# In shared memory it is slower on each kind of data, and so are runs.
#
# There, lanes that add 1 to one word take one wavefront anyway; and a warp saves a request only if none of its lanes ends a run.
#
# Runs are also added by another instruction, `ATOMS.ADD` instead of `ATOMS.POPC.INC`, which adds 1 and nothing else.
# By `ATOMS.ADD`, lanes that want one word take turns: for 16 requests in which all 32 lanes add to one bin, an H200 counts 512 wavefronts, and so does the emulator.
# And the runs of adverse data take 3.4 times as long as its single values.

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
    add_rest(own, rest, 32, lane)
    add_up(bins, own, 32, 32, 1)


run = emulate(count_unshared_wrong)[2, 256](
    np.zeros(BINS, np.uint32), *split(small["skewed"]))
with expect(AssertionError):
    run.assert_no_races()

# %% [markdown]
# The copy belongs to a *lane*, and a block has such a lane in each of its warps.
# Thread 32 stores to the cell that thread 0 has loaded; then thread 0 stores its old sum, and thread 32's addition is lost.
#
# ## What changed

# %% tags=["assembly"]
climbed = {"block": (count_in_blocks, many), "16 bytes": (wide, *split(many)),
           "32 copies": (side_by_side, *split(many)),
           "two loads": (count_two_loads, *split(many))}
compiled = {name: assemble(kernel)[BLOCKS, THREADS](all_bins, *arrays)
            for name, (kernel, *arrays) in climbed.items()}

# %% tags=["timing"]
measured = {name: clock(*kernel) for name, kernel in climbed.items()}


def rung(name, idea):
    """What a rung costs on uniform data, beside the library."""
    counts = measured[name].counters if name in measured else {}
    shares = [100 * ours / theirs for ours, theirs in
              zip(rates(name).values(), rates("CUB").values(), strict=True)]
    return (name, idea, compiled[name].registers if counts else "",
            counts["instructions"] * 32 / N if counts else "",
            *(counts.get(f"{it}_percent", "") for it in ("l1_data", "memory")),
            rates(name)["uniform"], shares[0], min(shares))


table(["rung", "what falls", "registers", "instructions per value",
       "shared data path busy, %", "memory busy, %", "GB/s, uniform",
       "% of CUB, uniform", "least % of CUB"],
      [rung("global", ""), rung("block", "global atomics: 256 a block"),
       rung("16 bytes", "loads: 1/16"),
       rung("32 copies", "wavefronts: 1 a request"),
       rung("two loads", "waits: 1 for 32 bytes"), rung("read only", "")])

# %% tags=["timing"]
RUNGS = ("global", "block", "16 bytes", "CUB", "32 copies", "two loads")
plot_rates({name: rates(name) for name in RUNGS},
           recorded("read only").gb_per_s, "read only")

# %% [markdown]
# Each row is a kernel and each mark a kind of data; where the marks align, the data does not matter.
# The last rung is 1.9 times as fast as the library on uniform data, 4.3 times as fast on adverse and 20% faster on constant data.
#
# ## On your own
#
# ★ How many bank conflicts has `make_copies(16, 16, 1)` in a request, at most? Guess, then look at its row in the table of copies.
#
# <details><summary>Answer</summary>
#
# Lanes `l` and `l + 16` share copy `l`. Their two cells lie in bank `l` or `l + 16`, so at most two different words meet: one conflict.
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
# A library counts numbers of any type in bins of any width. Ours counts bytes. Write your own where your case is narrow and measured to be faster, as here.
#
# 32 copies of 256 bins take 32 KB. With 2,048 bins, they would take 256 KB, more than a block can have: then fewer copies fit.
#
# Try a kernel on its worst data before you trust its speed: somebody will send you that data.
#
# The emulator counts one wavefront for lanes that add 1 to one word. So does the H200: 257 for the 257 requests of the first 8,195 constant values by *block*.

# %% [markdown]
# ## Further reading
#
# - [Fast histograms using shared atomics](https://developer.nvidia.com/blog/gpu-pro-tip-fast-histograms-using-shared-atomics-maxwell/): why bins belong in shared memory, and what changed with the hardware.
# - [CUB's `DeviceHistogram`](https://nvidia.github.io/cccl/unstable/cub/api/structcub_1_1DeviceHistogram.html): the library's histograms.
#
# *Next:* [Compute each cell from its neighbours](28_stencil_and_convolution.ipynb): a histogram reads each value once; what if each is needed seven times?

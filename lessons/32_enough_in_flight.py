# %% [markdown]
# # Keep enough in flight
#
# *75 minutes*
#
# **What you'll do:** meet a kernel that wins with a quarter of the warps, find out how many a multiprocessor needs, for arithmetic and for loads, and see what lets them in, and what one block too many costs.
#
# **What you'll learn:**
#
# - say how many warps are enough, and when more numbers for each thread do as well
# - work out how many warps a kernel's threads, registers and shared memory let in
# - ask for more blocks with `launch_bounds`, and foresee what the last round costs
#
# **What you'll need:** [registers and spills](16_own_memory.ipynb), [room for blocks](18_how_much_shared_memory.ipynb), [bytes in flight](25_reduction.ipynb), and FMAs, as in [types and instructions](31_types_and_instructions.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (allow_dynamic_shared, assemble, check, compare, device,
                     emulate, exercise, explore, measure, plot_chains,
                     plot_occupancy, plot_schedule, plot_times, table)

device

# %% [markdown]
# ## Does a full multiprocessor win?
#
# A multiprocessor of an H200 has places for 64 warps. Many people give a kernel as many of them as they can: an occupancy of 100%.
#
# Here is a kernel to try that on. It evaluates a polynomial of 1,024 terms at many points, from the highest power down: `value = value * at + weight`, one FMA for each term. A block first loads the weights into shared memory.

# %%
TERMS, THREADS = 1024, 512


@cuda.jit(device=True)
def load_weights(tile, weights, threads):
    """A block loads the weights, and waits for them."""
    k = uint32(cuda.threadIdx.x)
    while k < TERMS:
        tile[k] = weights[k]
        k = uint32(k + threads)
    cuda.syncthreads()

# %% [markdown]
# A thread takes one point, or `numbers` of them at once, a block's threads apart so that loads are coalesced. All its points and values are in registers, since each index is known.

# %%
def make_polynomial(numbers, threads=THREADS, **options):
    """A kernel that evaluates a polynomial, `numbers` points a thread."""
    @cuda.jit(**options)
    def polynomial(out, points, weights):
        """Each thread evaluates a polynomial at its points."""
        tile = cuda.shared.array(TERMS, float32)
        at = cuda.local.array(numbers, float32)
        value = cuda.local.array(numbers, float32)
        load_weights(tile, weights, threads)
        first = uint32(numbers * threads * cuda.blockIdx.x + cuda.threadIdx.x)
        for n in range(numbers):
            at[n], value[n] = points[uint32(first + threads * n)], float32(0)
        k = uint32(0)
        while k < TERMS:
            for j in range(8):      # written out by the compiler, or in part
                weight = tile[uint32(k + j)]
                for n in range(numbers):
                    value[n] = value[n] * at[n] + weight
            k = uint32(k + 8)
        for n in range(numbers):
            out[uint32(first + threads * n)] = value[n]
    return polynomial

# %% [markdown]
# With one number a thread needs few registers, and all 64 warps are let in. With 32 numbers it needs so many that only 16 are, 25%.
#
# **Predict.** Both evaluate the same points. Which launch is faster, and by how much?

# %% tags=["hide-input"]
# Checks two of the kernels.
def checked(kernel, points):
    """Emulate a block of a kernel, and check what it evaluates."""
    values = np.full_like(points, np.nan)
    run = emulate(kernel)[1, THREADS](values, points, weights)
    check(values, np.polyval(weights.astype(float), points.astype(float)))
    return run


random = np.random.default_rng(0)
weights = random.random(TERMS, dtype=np.float32)
few = random.random(8 * THREADS, dtype=np.float32)
for numbers in (1, 8):
    run = checked(make_polynomial(numbers), few[:numbers * THREADS])

# %% tags=["timing", "hide-input"]
# Measures the kernel with more and more numbers for each thread.
gpu = cuda.get_current_device()
CORES = gpu.MULTIPROCESSOR_COUNT
N = 6 * 32 * THREADS * CORES        # whole rounds of blocks, for each kernel
OF_ONE_BLOCK = 120 * 1024           # bytes: leave no room for another block
points, values = np.zeros((2, N), np.float32)


def evaluate(numbers, room=0, **options):
    """What is known of a kernel, and its measurement at all points."""
    kernel = make_polynomial(numbers, **options)
    if room:
        allow_dynamic_shared(kernel, room)
    launch = N // (numbers * THREADS), THREADS, *((0, room) if room else ())
    made = assemble(kernel)[launch](values, points, weights)
    timed = measure(kernel, flops=2 * N * TERMS)[launch]
    return timed(values, points, weights), made


asked = {numbers: evaluate(numbers) for numbers in (1, 32)}
plot_times([f"{numbers} a thread, {made.occupancy.share:.0%}"
            for numbers, (_, made) in asked.items()],
           [m.median_us for m, _ in asked.values()])

# %% [markdown]
# The launch with a quarter of the warps takes a third of the time. So what are warps for, and how many of them are enough?
#
# ## How many chains fill a scheduler?
#
# A result is not there at once: on an H200 an FMA takes four cycles, and what needs its result waits so long. Its scheduler could issue three other instructions meanwhile. It takes them from other warps; or from the same warp, if they do not need that result. That is **instruction-level parallelism**.
#
# Call instructions of which each needs the one before a *chain*.

# %%
plot_chains(steps=3, work=1, wait=3, chains=(1, 4))

# %% [markdown]
# One chain has a unit work in one cycle of four; four chains fill each other's waits. The unit does not ask whose chains these are. This is Little's law: one FMA in each cycle, times four cycles, makes four in flight.
#
# A thread of the next kernel has some chains, and a block one, two, four or eight warps for each of the four schedulers. There is one block on each multiprocessor.
#
# **Predict.** In which of the sixteen launches is an instruction issued in nearly every cycle?
#
# <details><summary>Answer</summary>
#
# Where a scheduler has four chains or more, in several warps: four with one, two with two. (One warp with four comes near: 85%.)
#
# </details>

# %%
def make_chained(chains):
    """A kernel in which each thread has so many chains of FMAs."""
    @cuda.jit
    def chained(out, first, rounds):
        """Each thread makes 64 FMAs a round, dealt out to its chains."""
        value = cuda.local.array(chains, float32)
        for chain in range(chains):
            value[chain] = first * float32(chain + 1)
        left = uint32(rounds)
        while left > 0:
            for _ in range(64 // chains):       # written out by the compiler
                for chain in range(chains):
                    value[chain] = value[chain] * value[chain] + value[chain]
            left = uint32(left - 1)
        total = float32(0)
        for chain in range(chains):
            total += value[chain]
        out[cuda.grid(1)] = total
    return chained

# %% tags=["hide-input"]
# Checks the chains.
CHAINS, WARPS, ROUNDS = (1, 2, 4, 8), (1, 2, 4, 8), 1024
FIRST = float32(-0.1)
chained = {chains: make_chained(chains) for chains in CHAINS}
for chains, kernel in chained.items():
    ends, expected = np.zeros(64, np.float32), -0.1 * np.arange(1, 1 + chains)
    emulate(kernel)[1, 64](ends, FIRST, 2)
    for _ in range(128 // chains):
        expected = expected * expected + expected
    check(ends, np.full(64, expected.sum()))

# %% tags=["timing", "hide-input"]
# Measures the chains with some warps for each scheduler.
def chain(chains, threads, blocks=CORES, room=0):
    """The measurement of a launch of chains."""
    if room:
        allow_dynamic_shared(chained[chains], room)
    launch = blocks, threads, *((0, room) if room else ())
    flops = 2 * 64 * ROUNDS * blocks * threads
    return measure(chained[chains], flops=flops)[launch](
        np.zeros(blocks * threads, np.float32), FIRST, ROUNDS)


flying = {(warps, chains): chain(chains, 128 * warps)
          for warps in WARPS for chains in CHAINS}
table(["warps of a scheduler, and issue slots used with", "1 chain, %",
       *(f"{it} chains, %" for it in CHAINS[1:])],
      [(warps, *(flying[warps, it].counters.get("issue_percent", np.nan)
                 for it in CHAINS)) for warps in WARPS])

# %% [markdown]
# Read along the diagonals, where warps times chains are the same. With one in flight a quarter of the issue slots is used, with two half of them, with four nearly all, but for a warp alone. More gain hardly anything, be they warps or chains: **what counts is their product**. (A warp alone fills 85 to 87%, even with eight chains; why, this table does not show.)
#
# So for FMAs four warps are enough for a scheduler even with one chain each, and a multiprocessor has four schedulers: 16 warps, a quarter of its places.

# %% [markdown]
# ## How many loads fill the memory?
#
# A load from memory takes hundreds of cycles, and not four. So there must be more of them in flight. Repeat the experiment with loads in place of chains: each thread adds up its share of an array, and sends some loads off before it needs the first.
#
# **Predict.** Are all 64 warps enough, with one load in flight for each thread?

# %%
def make_reader(loads):
    """A kernel in which each thread has so many loads in flight."""
    @cuda.jit
    def read(out, src):
        """Each thread adds up its share, some loads at a time."""
        i, threads = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
        total = float32(0)
        while i < src.size:
            for k in range(loads):
                total += src[uint32(i + threads * k)]
            i = uint32(i + threads * loads)
        out[cuda.grid(1)] = total
    return read

# %% tags=["timing", "hide-input"]
# Checks the readers, and measures them with some warps on a multiprocessor.
LOADS = 1, 2, 4, 8
RESIDENT = {8: (1, 256), 16: (1, 512), 32: (1, 1024), 64: (2, 1024)}
readers = {loads: make_reader(loads) for loads in LOADS}
for kernel in readers.values():
    sums = np.zeros(64, np.float32)
    emulate(kernel)[1, 64](sums, np.arange(1024, dtype=np.float32))
    check(sums, np.arange(1024).reshape(-1, 64).sum(axis=0))
big = np.zeros(124 * 8 * 2048 * CORES, np.float32)      # 1.07 GB


def reading(loads, warps):
    """The measurement of reading the large array."""
    blocks, threads = RESIDENT[warps]
    sums = np.zeros(blocks * CORES * threads, np.float32)
    return measure(readers[loads], bytes=big.nbytes)[blocks * CORES, threads](
        sums, big)


reads = {(warps, loads): reading(loads, warps)
         for warps in RESIDENT for loads in LOADS}
table(["warps of a multiprocessor", "1 load, GB/s",
       *(f"{it} loads, GB/s" for it in LOADS[1:])],
      [(warps, *(reads[warps, it].gb_per_s for it in LOADS))
       for warps in RESIDENT])

# %% [markdown]
# No: they reach 60% of the best rate. A quarter of the warps with eight loads each read faster than that.
#
# Look at the diagonals, where warps times loads are the same. There many warps do better than many loads, by little more than a third at most; we [saw that before](25_reduction.ipynb), and do not know why.
#
# So the number of warps alone says nothing. Ask what they wait for, how long it takes, and how much of it each has in flight.
#
# ## More numbers, or more warps?
#
# Now back to the polynomial. Did 32 numbers win by their chains, since each is one? If chains are what one number lacks, it must lose much when warps are taken from it.
#
# So take them: give each block shared memory that it does not use, and leave everything else (only L1 gets smaller).
#
# **Predict.** With one number and with eight: what does a quarter of the warps cost?

# %% tags=["timing", "hide-input"]
# Measures some numbers a thread, with all the warps that fit or with 16.
ways = {(1, 64): asked[1], (1, 16): evaluate(1, OF_ONE_BLOCK),
        (8, 64): evaluate(8), (8, 16): evaluate(8, OF_ONE_BLOCK),
        (16, 32): evaluate(16), (32, 16): asked[32]}
compare(ways, "registers", "µs",
        {"instructions for an FMA": lambda row: row[0].counters.get(
            "instructions", np.nan) * 32 / (N * TERMS)},
        "issue slots used, %", by=("numbers a thread", "warps"))

# %% [markdown]
# Little: less than a tenth with one number, and less than half of that with eight. So one number does not lack warps, nor chains: its schedulers are busy.
#
# With what? An FMA needs its weight: here a load and, since `uint32(k + j)` may wrap, its address. With one number each weight serves one FMA, and there are more than four instructions for each. With eight, a weight serves eight: hardly more than one and a half. That is thread coarsening: it saves *instructions*.
#
# Few warps are enough, so registers may be spent on it. The best has 16 numbers and half of the warps. (With 32, the compiler writes out two terms of the loop instead of eight, and more instructions are left for each FMA.)

# %% [markdown]
# **If the schedulers are busy, save instructions; if not, have more in flight.** If that is enough, more occupancy gains nothing.
#
# ## What lets warps in?
#
# Blocks are let in whole, as long as there is room for all that they take. Each resource is dealt out in grains:
#
# - *places*, for warps and for blocks;
# - *registers*, in eights for each thread. And a multiprocessor has four parts, each with its own quarter of the registers and of the warps;
# - *shared memory*, in pieces of 128 bytes, and 1 KB for the system on top (on the T4 of 256, and none).
#
# The scarcest decides. Move the sliders: what do your blocks find on each GPU?

# %%
explore(plot_occupancy, threads=[256, 1024], shared_kb=[0, 16, 48],
        registers=[32, 40, 64, 72, 128])

# %% [markdown]
# A number in a box is a block's warps, and dotted places stay empty; what leaves no room for another block stands behind the colon.
#
# On an H200, with 40 registers in place of 32, blocks of 256 threads lose a quarter of the warps; blocks of 1,024 lose half, since the second no longer fits. The T4 has half the places and as many registers, so it loses nothing up to 64.
#
# Of your own kernel `assemble(...)` says it all in `.occupancy`. It computes by the rules of NVIDIA's calculator; for each kernel of this course that it was asked about, Nsight Compute gave the same on an H200.

# %% [markdown]
# ## Ask for blocks
#
# `launch_bounds=(512, 3)` makes a promise, no more than 512 threads a block, and a wish: room for three blocks at a time. The compiler takes no more registers than this leaves, and spills the rest to local memory.
#
# **Predict.** With 16 numbers the kernel takes 56 registers, and two blocks of 512 threads fit. Ask for three, and for four. What do they gain?

# %% tags=["timing", "hide-input"]
# Asks for more and more blocks of the kernel with 16 numbers a thread.
bounds = {"no bounds": ways[16, 32]}
bounds |= {f"(512, {blocks})": evaluate(16, launch_bounds=(THREADS, blocks))
           for blocks in (3, 4)}
compare(bounds, "registers", {"bytes of local memory": lambda row:
                              row[1].stack},
        {"warps": lambda row: row[1].occupancy.warps}, "µs",
        "waits most for", by="launch_bounds")

# %% [markdown]
# Three gain nothing that counts, and the fourth makes the kernel 13 times as slow.
#
# The wish for three spills eight numbers of a thread, but each is stored and loaded only once, outside the loop. That costs nothing that the clock would show; but a third block brings nothing, either, since two already keep the schedulers busy. The wish for four spills inside the loop, and now the warps wait for local memory.
#
# So look at `.stack` before you believe a higher occupancy, and where something is spilled, at the clock.

# %% [markdown]
# ## One block too many
#
# Blocks come in [rounds](35_any_shape.ipynb): if one more is launched than fit at a time, it begins as soon as one is done. If all end together, it then has a multiprocessor for itself. How long does it take there?
#
# That is the question of this page again: has it enough in flight alone? If so, it goes the faster, the fewer share with it. Here are blocks of which two share a multiprocessor, and a ninth that, alone, takes half as long:

# %%
lengths = {block: 4 for block in range(8)} | {8: 2}
plot_schedule(lengths, multiprocessors=4, places=2)

# %% [markdown]
# **Predict.** A round of blocks, all of the same work, and then one block more. How much longer does it take if one block of 1,024 threads fits at a time, if two do, or if eight of 256 threads do? And for these, if each thread has one chain instead of four?
#
# <details><summary>Answer</summary>
#
# By as long as one block takes alone. With four chains it has enough in flight to take just its share: all of a round, a half, an eighth. Eight warps with one chain each have two in flight for each scheduler, so they take twice an eighth, if the others end together.
#
# </details>

# %% tags=["timing", "hide-input"]
# Measures one round of blocks, and one block more.
TAILS = {   # chains, threads; blocks at a time; bytes that nobody uses
    (4, 1024, 1): 200 * 1024, (4, 1024, 2): 0, (4, 256, 8): 0, (1, 256, 8): 0}
tails = {(chains, threads, places): [
             chain(chains, threads, places * CORES + more, room)
             for more in (0, 1)]
         for (chains, threads, places), room in TAILS.items()}
compare({key: tuple(pair) for key, pair in tails.items()},
        {"one round, µs": lambda row: row[0].median_us,
         "one block more, µs": lambda row: row[1].median_us,
         "longer, %": lambda row: 100 * (row[1].median_us / row[0].median_us
                                         - 1)},
        by=("chains", "threads", "blocks at a time"))

# %% [markdown]
# A block that fills its multiprocessor doubles the time, or nearly. Where two share one, the last adds a half, and where eight do, an eighth: no more than its share.
#
# With one chain, a small block takes nearly twice as long alone, by the first table. But the launch grows by a sixth, and not by a quarter. So the last block must have begun before the others had ended: a round need not end for all at once.
#
# **One block more adds at most the time that it takes alone**; a full last round adds a whole one. Small blocks make the tail short, if each has enough in flight; and after many rounds it weighs little.

# %% [markdown]
# ## What could go wrong
#
# **Predict.** The kernel with 32 numbers takes 72 registers. Make its blocks of 1,024 threads: how many are let in?

# %%
def made_large(**options):
    """The kernel with 32 numbers, in blocks of 1,024 threads."""
    kernel = make_polynomial(32, threads=1024, **options)
    return assemble(kernel)[1, 1024](values, points, weights)


made_large().occupancy

# %% [markdown]
# None: one such block takes more registers than there are, and a GPU answers with `CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES`. (`emulate` knows no registers, and runs it.)
#
# The compiler could not know how large the blocks would be. Tell it:

# %%
large = made_large(launch_bounds=1024)
large.registers, large.stack, large.occupancy

# %% [markdown]
# Now a block fits, and what it costs stands beside it: something is spilled. Smaller blocks would be the better remedy.
#
# ## On your own
#
# ★ A kernel takes 41 registers. How many warps does a multiprocessor hold in blocks of 1,024 threads, and in blocks of 256?
#
# <details><summary>Answer</summary>
#
# 41 become 48, or 1,536 for a warp. A part of the multiprocessor has 16,384, enough for ten warps; four parts hold 40. So one block of 32 warps, or five of 8: 32 warps, or 40.
#
# </details>
#
# ★★ `points_at_once`: a kernel evaluates a thread's points one after the other, and loads all weights for each. Let a weight that is loaded serve them all.

# %%
task = exercise("points_at_once")
task

# %%
EACH = 4


@cuda.jit
def points_at_once(out, points, weights):
    """Each thread evaluates a polynomial at one point after the other."""
    first = EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    for n in range(EACH):
        i = first + n * cuda.blockDim.x
        if i < out.size:
            at, value = points[i], float32(0)
            for k in range(weights.size):
                value = value * at + weights[k]
            out[i] = value


task.check(points_at_once)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# EACH = 4
#
#
# @cuda.jit
# def points_at_once(out, points, weights):
#     """Each thread evaluates a polynomial at all of its points."""
#     first = EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
#     at = cuda.local.array(EACH, float32)
#     value = cuda.local.array(EACH, float32)
#     for n in range(EACH):
#         i = first + n * cuda.blockDim.x
#         at[n] = points[i] if i < out.size else float32(0)
#         value[n] = 0
#     for k in range(weights.size):
#         weight = weights[k]
#         for n in range(EACH):
#             value[n] = value[n] * at[n] + weight
#     for n in range(EACH):
#         i = first + n * cuda.blockDim.x
#         if i < out.size:
#             out[i] = value[n]
# ```
#
# Each weight serves four points, and a thread has four chains in flight.
#
# </details>
#
# ★★★ `exercise("one_block_more")`: how long does a launch take, and how long with one block more? Count cycles.
#
# The [assignment](assignments/32_enough_in_flight.ipynb) has 3 exercises, these two among them. It begins with `warps_let_in`: which resource decides?

# %% [markdown]
# ## In practice
#
# Nsight Compute names what this page computes: *Theoretical Occupancy* with its *Block Limits*, *Achieved Occupancy* (less, while blocks begin and end), and under *Scheduler Statistics* the slots in which some warp was ready. Look at those first: if they are full, save instructions; if not, see what warps wait for.
#
# In CUDA C++ `launch_bounds` is `__launch_bounds__`, and `cudaOccupancyMaxActiveBlocksPerMultiprocessor` asks the driver how many blocks fit. `max_registers` sets the limit by number. Numbers of one GPU are no rule for the next: measure there.
#
# ## Further reading
#
# - [Better performance at lower occupancy](https://www.nvidia.com/content/GTC-2010/pdfs/2238_GTC2010.pdf): Vasily Volkov's talk, in which fewer warps win again and again.
# - [Understanding latency hiding on GPUs](https://www2.eecs.berkeley.edu/Pubs/TechRpts/2016/EECS-2016-143.html): his thesis, with Little's law for each kind of instruction.
# - [CUDA C++ Best Practices Guide, occupancy](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html#occupancy): NVIDIA's own advice.
#
# *Next:* [Find the bug](34_find_the_bug.ipynb): your kernel gives a wrong answer; what do you ask first?

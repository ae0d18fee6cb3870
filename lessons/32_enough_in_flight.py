# %% [markdown]
# # Keep enough in flight
#
# *75 minutes*
#
# **What you'll do:** find a kernel that wins with a quarter of the warps, work out how many a multiprocessor needs, for arithmetic and for loads, and see what keeps them out, and what the last block costs.
#
# **What you'll learn:**
#
# - say how many warps are enough, and when more numbers for each thread do instead
# - compute the warps that a kernel's registers, shared memory and threads let in
# - ask for blocks with `launch_bounds`, and know what the last round costs
#
# **What you'll need:** [registers and spills](16_own_memory.ipynb), [room for blocks](18_how_much_shared_memory.ipynb), and [bytes in flight](25_reduction.ipynb).

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
# TEXT

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
            for j in range(8):      # the compiler writes out both loops
                weight = tile[uint32(k + j)]
                for n in range(numbers):
                    value[n] = value[n] * at[n] + weight
            k = uint32(k + 8)
        for n in range(numbers):
            out[uint32(first + threads * n)] = value[n]
    return polynomial


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
few = random.random(32 * THREADS, dtype=np.float32)
run = checked(make_polynomial(1), few[:THREADS])
checked(make_polynomial(8), few[:8 * THREADS])

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
# ## How many chains fill a scheduler?
#
# TEXT

# %%
plot_chains(steps=3, work=1, wait=3, chains=(1, 4))

# %% [markdown]
# TEXT

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


# %% tags=["timing", "hide-input"]
# Checks the chains, and measures them with some warps for each scheduler.
CHAINS, WARPS, ROUNDS = (1, 2, 4, 8), (1, 2, 4, 8), 1024
FIRST = float32(-0.1)
chained = {chains: make_chained(chains) for chains in CHAINS}
for chains, kernel in chained.items():
    ends, expected = np.zeros(64, np.float32), -0.1 * np.arange(1, 1 + chains)
    emulate(kernel)[1, 64](ends, FIRST, 2)
    for _ in range(128 // chains):
        expected = expected * expected + expected
    check(ends, np.full(64, expected.sum()))


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
peak = max((m.gflop_per_s for m in flying.values()), default=np.nan)
table(["warps of a scheduler", *(f"{it} chains, %" for it in CHAINS)],
      [(warps, *(100 * flying[warps, it].gflop_per_s / peak for it in CHAINS))
       for warps in WARPS])

# %% [markdown]
# ## How many loads fill the memory?
#
# TEXT

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
table(["warps of a multiprocessor", *(f"{it} loads, GB/s" for it in LOADS)],
      [(warps, *(reads[warps, it].gb_per_s for it in LOADS))
       for warps in RESIDENT])

# %% [markdown]
# ## More numbers, or more warps?
#
# TEXT

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
# ## What keeps warps out?
#
# TEXT

# %%
explore(plot_occupancy, threads=[256, 1024], registers=[32, 40, 56, 64, 72, 128],
        shared_kb=[0, 16, 48, 100])

# %% [markdown]
# ## Ask for blocks
#
# TEXT

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
# ## The last block
#
# TEXT

# %%
lengths = {block: 4 for block in range(8)} | {8: 2}
plot_schedule(lengths, multiprocessors=4, places=2)

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
# ## What could go wrong
#
# TEXT

# %%
kernel = make_polynomial(32, threads=1024)
assemble(kernel)[1, 1024](values, points, weights)

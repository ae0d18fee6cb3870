# %% [markdown]
# # Keep a thread's numbers close
#
# *55 minutes*
#
# **What you'll do:** let two kernels count the same dice, find in the machine code where each of them keeps its counts, see why the one with less work is the slower one, and look for a place that beats both.
#
# **What you'll learn:**
#
# - find out from `assemble` whether a local array is in registers or in local memory
# - say what spills when registers run out, and what that costs
# - choose between registers, local, shared, constant and global memory for a number
#
# **What you'll need:** [caches](11_memory_hierarchy.ipynb), [sectors](12_coalescing.ipynb), and shared memory with its [tiles](13_shared_memory.ipynb), [banks](14_bank_conflicts.ipynb) and [barriers](15_barriers_and_races.ipynb).

# %%
import numpy as np
from numba import cuda, float32, uint32

from helpers import (assemble, check, compare, device, emulate, exercise,
                     measure, plot_homes, plot_sectors, plot_times)

device

# %% [markdown]
# ## Which count is slower?
#
# Each thread throws a die of eight faces again and again, and counts how often each face comes.
# A throw makes a new number out of the last one, and its highest three bits are the face.
# Thread `i` begins with the number `apart * i`, its seed, so that each throws faces of its own.
#
# The counts concern nobody else, so each thread needs an array of its own.
# `cuda.local.array` makes one, and the obvious kernel uses the face as its index:

# %%
FACES = 8


@cuda.jit
def count_by_index(counts, apart, throws):
    """Each thread throws a die and counts at the face's index."""
    mine = cuda.local.array(FACES, uint32)
    for face in range(FACES):
        mine[face] = 0
    seed = uint32(apart * cuda.grid(1))
    for _ in range(throws):
        seed = uint32(1664525 * seed + 1013904223)  # the die
        mine[seed >> 29] += 1                       # its highest 3 bits
    for face in range(FACES):
        counts[face, cuda.grid(1)] = mine[face]


# %% [markdown]
# Here is a clumsy one. At each throw it goes through all eight faces, and adds 1 where the face is the one thrown and 0 elsewhere (a comparison is 1 if it is true):

# %%
@cuda.jit
def count_by_name(counts, apart, throws):
    """Each thread throws a die and compares it with every face."""
    mine = cuda.local.array(FACES, uint32)
    for face in range(FACES):
        mine[face] = 0
    seed = uint32(apart * cuda.grid(1))
    for _ in range(throws):
        seed = uint32(1664525 * seed + 1013904223)
        for face in range(FACES):
            mine[face] += (seed >> 29) == face
    for face in range(FACES):
        counts[face, cuda.grid(1)] = mine[face]


# %% [markdown]
# **Predict.** The second one makes eight comparisons and eight additions where the first makes one addition. Which is faster, and by how much?

# %% tags=["hide-input"]
# Prepares a launch of all threads that the GPU holds, and dice to check by.
APART = 987_654_321
gpu = cuda.get_current_device()
launch = 2 * gpu.MULTIPROCESSOR_COUNT, 1024
counts = np.zeros((FACES, 256), np.uint32)
wide = np.zeros((FACES, launch[0] * launch[1]), np.uint32)


THREADS = np.arange(256, dtype=np.uint32)


def throw_all(seeds, throws):
    """The faces that dice with these seeds throw, a row for each throw."""
    faces = []
    for _ in range(throws):
        seeds = np.uint32(1664525) * seeds + np.uint32(1013904223)
        faces.append(seeds >> 29)
    return np.array(faces)


def count_spec(seeds, throws):
    """How often each thread throws each face."""
    faces = throw_all(seeds, throws)
    return [np.equal(faces, face).sum(axis=0) for face in range(FACES)]


# %% tags=["timing", "hide-input"]
# Checks both kernels on a few dice, and times them on many.
def both(kernel, apart=APART):
    """A launch of a kernel that counts: checked, and measured."""
    run = emulate(kernel)[2, 128](counts, apart, 64)
    check(counts, count_spec(THREADS * np.uint32(apart), 64))
    return run, measure(kernel)[launch](wide, apart, 4096)


indexed, named = both(count_by_index), both(count_by_name)
plot_times([m.kernel for _, m in (indexed, named)],
           [m.median_us for _, m in (indexed, named)])

# %% [markdown]
# The clumsy one wins: it executes 3.2 times as many instructions (counted below), and yet `count_by_index` takes more than six times as long.
# So what does an index cost?
#
# ## Registers have names, and no addresses
#
# A thread computes with **registers**, places of four bytes each.
# A multiprocessor has 65,536 of them, as many bytes as L1 and shared memory have together. A block gets its share when it starts, and keeps it until it ends.
#
# An instruction names its registers: "add R4 and R5". The names stand in the machine code, which is the same at each throw.
# So no instruction can say "register number *face*".
#
# This is the page in one sentence: **a register has a name and no address, so an index that only the data knows cannot lead to it.**

# %% [markdown]
# When can an array be in registers, then?
# When the compiler knows, for each access, *which* cell is meant: then each cell becomes a variable with a register.
# In `count_by_name` each index comes from a loop of fixed length. The compiler **unrolls** it: it repeats the body once for each face, and in each copy the face is a number, so the cell has a name.
# In `count_by_index` nobody knows the face before the throw. So the compiler puts the counts where there are addresses. Where?

# %% [markdown]
# `assemble` shows the machine instructions behind each line of a kernel, each once, however often it is executed. (`by_index` alone prints all lines; here are those that touch `mine`.)
# A load is an `LD`, a store an `ST`, and the next letter is the memory: `G` for global, `S` for shared.
# Which letter stands in the line that counts?

# %%
def lines_with(made, text):
    """Print the lines of an assembly in which this text stands."""
    print(*(it for it in str(made).splitlines() if text in it), sep="\n")


by_index, by_name = (assemble(kernel)[2, 128](counts, APART, 64)
                     for kernel in (count_by_index, count_by_name))
lines_with(by_index, "mine[")

# %% [markdown]
# An `L`: in `mine[seed >> 29] += 1`, a count is loaded from *local memory* (`LDL`), and stored back (`STL`). (There are five of each, since the compiler repeats the body of this loop, too.)
#
# In the other two lines each index is known, and still they touch local memory. For an array is in one place, and one line whose index is not known decides for all.
#
# Each thread takes as many bytes of it as eight counts need:

# %%
by_index.stack, by_name.stack

# %% [markdown]
# And `count_by_name` takes none: its counts are in registers. It takes no more of these than the first kernel, so a multiprocessor holds as many warps of either.
#
# ## Local memory has addresses
#
# An array whose indices the compiler does not know goes, as a rule, to **local memory**.
# *Local* says that one thread sees it, and not that it is near: it is a piece of global memory, behind the same caches.

# %% [markdown]
# So a warp's load from it is a request like any other, and touches sectors. How do they lie?
# The hardware puts cell 0 of all 32 lanes side by side, then cell 1 of all lanes, and so on, if a cell has four bytes. So each of our faces has a line, 128 bytes, with four bytes for each lane's count.
#
# **Predict.** How many sectors does a request touch if all lanes have thrown the same face, and how many if all eight faces are among them?

# %% tags=["hide-input"]
# Draws the sectors of the lanes' counts, for the faces of one throw.
lanes = np.arange(32, dtype=np.uint32)
faces = (np.uint32(1664525 * APART % 2**32) * lanes
         + np.uint32(1013904223)) >> 29
plot_sectors([int(at) for at in 128 * faces + 4 * lanes])

# %% [markdown]
# A row is the line of one face; in it are the lanes that threw this face, at the first throw. Together they touch 26 sectors of eight lines. With one face for all, it is one line, four sectors.
#
# So more faces mean more sectors and more lines. Which of the two takes the time?

# %% [markdown]
# To part them, give a warp four dice only. If eight *neighbours* share a die, they share a sector. If *every fourth* lane does, eight neighbours throw four dice, and may need four sectors. The faces in the warp, and so the lines, are as many.

# %% [markdown]
# ```
# lane                          0 1 2 3 4 5 6 7 8 9 …   shift, mask
# one die for all               0 0 0 0 0 0 0 0 0 0 …       0, 0
# 4 dice, for 8 neighbours each 0 0 0 0 0 0 0 0 1 1 …       3, 3
# 4 dice, for every fourth lane 0 1 2 3 0 1 2 3 0 1 …       0, 3
# 32 dice                       0 1 2 3 4 5 6 7 8 9 …       0, 31
# ```
#
# `count_dealt` is `count_by_index`, but for the seed: a lane throws die `lane >> shift & mask` of its warp.
#
# **Predict.** Does the third deal take longer than the second?

# %%
@cuda.jit
def count_dealt(counts, shift, mask, throws):
    """Each thread throws a die of its warp and counts at the face's index."""
    mine, thread = cuda.local.array(FACES, uint32), cuda.grid(1)
    for face in range(FACES):
        mine[face] = 0
    lane = thread & 31
    seed = uint32(APART * (thread - lane + (lane >> shift & mask)))
    for _ in range(throws):
        seed = uint32(1664525 * seed + 1013904223)
        mine[seed >> 29] += 1
    for face in range(FACES):
        counts[face, thread] = mine[face]


# %% tags=["timing", "hide-input"]
# Deals the dice of a warp to its lanes in four ways, and counts pieces.
def pieces(faces, size):
    """How many pieces of this size a warp touches at a throw."""
    at = np.sort((128 * faces + 4 * (THREADS & 31)).reshape(-1, 32) // size)
    return np.mean(1 + np.count_nonzero(np.diff(at), axis=1))


DEALS = {"one die for all": (0, 0), "4 dice, for 8 neighbours each": (3, 3),
         "4 dice, for every fourth lane": (0, 3), "32 dice": (0, 31)}
dealt = {}
for name, (shift, mask) in DEALS.items():
    die = THREADS - (THREADS & 31) + (THREADS >> shift & mask)
    seeds = np.uint32(APART) * die
    emulate(count_dealt)[2, 128](counts, shift, mask, 64)
    check(counts, count_spec(seeds, 64))
    fallen = throw_all(seeds, 4096)
    dealt[name] = (measure(count_dealt)[launch](wide, shift, mask, 4096),
                   pieces(fallen, 32), pieces(fallen, 128))

compare(dealt,
        {"sectors of a request, mean": lambda row: row[1],
         "lines of a request, mean": lambda row: row[2]},
        "µs", "sectors to L2 per warp", by="the dice of a warp")

# %% [markdown]
# From the first row to the second, only the lines become more, and the launch takes a third longer.
# From the second to the third, only the sectors become more, by the same factor of 3.4, and it takes 3.2 times as long.
# So it is the sectors that take most of the time, and the lines a little.
#
# Do they come from memory? The loads do not even leave the multiprocessor: L1 delivers them. But L1 passes every store on to L2, sector by sector: the last column has those of 4,096 throws.
#
# <details><summary>For the curious: do warps wait for loads or for stores?</summary>
#
# Whether they wait more for their loads or for room to store, no launch here tells.
#
# </details>
#
# ## Is there a better place?
#
# Shared memory has addresses, too, and it is near. Let each thread count in its own column of a shared array. Nobody else touches that column, so there is no barrier; and all lanes of a warp are in different banks, whatever they throw.
#
# **Predict.** Which is faster now, registers with a comparison for each face, or shared memory with an index?

# %%
@cuda.jit
def count_in_shared(counts, apart, throws):
    """Each thread counts in its own column of a shared array."""
    mine, thread = cuda.shared.array((FACES, 1024), uint32), cuda.threadIdx.x
    for face in range(FACES):
        mine[face, thread] = 0
    seed = uint32(apart * cuda.grid(1))
    for _ in range(throws):
        seed = uint32(1664525 * seed + 1013904223)
        mine[seed >> 29, thread] += 1
    for face in range(FACES):
        counts[face, cuda.grid(1)] = mine[face, thread]


# %% tags=["timing", "hide-input"]
# Measures shared memory, beside registers and local memory.
shared = both(count_in_shared)
compare({"registers": named, "shared memory": shared,
         "local memory": indexed},
        "µs", "instructions per warp", "issue slots used, %",
        "sectors to L2 per warp", by="where the counts are")

# %% [markdown]
# Shared memory with an index is the fastest of the three. It executes hardly more instructions than local memory, and sends no count to L2 but the last ones.
# Registers are behind it because of the comparisons: with nearly three times as many instructions as shared memory, the kernel does hardly anything but issue them.

# %% [markdown]
# The rule: an array of a thread's own gets into registers if each index is known when the kernel is compiled (a number, or the variable of a loop of fixed length), and if it is short enough to fit. Then nothing need be loaded or stored.
# An index that comes from data sends the array to local memory, as a rule. If you need such an index, give each thread a column of shared memory, and mind the room: eight counts for 1,024 threads are 32 KB.

# %% [markdown]
# ## More numbers than registers
#
# A thread may have up to 255 registers. But if a multiprocessor is to hold as many threads as it can, 2,048, its 65,536 registers are 32 for each. A kernel that takes more lets fewer threads in.
#
# Here is one: each thread throws 32 dice at a time, and adds up their faces.
# Each index is known, so all the dice can be in registers.

# %%
DICE = 32


def thrower(**options):
    """The kernel below, compiled with these options."""
    @cuda.jit(**options)
    def throw(totals, throws):
        """Each thread throws 32 dice at a time and adds up their faces."""
        dice, thread = cuda.local.array(DICE, uint32), cuda.grid(1)
        for die in range(DICE):
            dice[die] = uint32(DICE * thread + die)
        total = uint32(0)
        for _ in range(throws):
            for die in range(DICE):
                dice[die] = uint32(1664525 * dice[die] + 1013904223)
                total = uint32(total + (dice[die] >> 29))
        totals[thread] = total

    return throw


# %% [markdown]
# The compiler takes 40 registers for it, so a multiprocessor holds one block of 1,024 threads where two could be: half of its warps.
# Smaller blocks are a remedy that spills nothing. Where two of 1,024 do not fit, three of 512 do:

# %%
found = np.zeros(launch[0] * launch[1], np.uint32)
assemble(thrower())[2 * launch[0], 512](found, 1024).occupancy

# %% [markdown]
# For all 64 warps there is another way: `max_registers=32` forbids the compiler to take more.
# But 32 registers do not hold the dice. Some values are **spilled**: the compiler stores them in local memory, and loads them back when they are needed. Where does that begin?

# %%
limits = {limit: assemble(thrower(max_registers=limit))[launch](found, 1024)
          for limit in (40, 38, 36, 32)}
compare(limits, {"bytes of local memory": lambda it: it.stack,
                 "room for warps": lambda it: it.occupancy.warps},
        by="registers allowed")

# %% [markdown]
# With 38 the compiler still finds room for all, and with 36 it begins to spill. But only 32 let the second block in, and then 16 values have their room in local memory.
#
# **Predict.** Does the second block pay for it?

# %% tags=["timing", "hide-input"]
# Compiles the kernel both ways, and times it with one block and with two for
# each multiprocessor.
thrown = {}
for name, kernel in (("as the compiler likes", thrower()),
                     ("32 at most", thrower(max_registers=32))):
    thrown[name] = (
        assemble(kernel)[launch](found, 1024),
        *(measure(kernel)[blocks, 1024](found, 1024)
          for blocks in (gpu.MULTIPROCESSOR_COUNT, launch[0])))

compare(thrown,
        {"µs, 264 blocks": lambda row: row[2].median_us,
         "µs, 132 blocks": lambda row: row[1].median_us},
        "instructions per warp", "issue slots used, %", "waits most for",
        by="registers allowed")

# %% [markdown]
# By far, the second block does not pay.
# Look at the 132 blocks first, one on each multiprocessor with either kernel: nothing differs but the limit. The kernel that spills takes six to seven times as long, for 1.5 times as many instructions. Its warps wait for local memory, and those of the other never do.
#
# With twice as many blocks, the free kernel runs them one after another, and takes twice as long. The limited one runs them together, and gains little or nothing: 1.8 times as long by the clock, twice by cycles.
# The free kernel does not even lack warps: with one block it already uses 88% of its issue slots, so a second one beside it could save an eighth at most.

# %% [markdown]
# The rule: if registers keep warps out, try smaller blocks first. Before you limit registers, ask `assemble` what will be spilled, and whether another block then fits.

# %% [markdown]
# ## One number for all lanes
#
# Some numbers are the same for all threads, and no kernel changes them: the weights of a filter.
# Up to 64 KB of them can lie in **constant memory**. `cuda.const.array_like` puts a host array there when the kernel is compiled.
# It is a piece of global memory, too, but behind a cache of its own, made for one case: all lanes ask for the same cell. One read serves them all, a **broadcast**, as in shared memory.
#
# What if they do not? Let a warp walk in a circle of cells, each of which says where to go next. Its lanes begin in one cell, or in several side by side.

# %%
def make_walk(cells):
    """A kernel that walks in a circle of this length, 17 cells at a step."""
    circle = np.roll(np.arange(cells, dtype=np.uint32), -17)

    @cuda.jit
    def walk_constant(out, distinct, steps):
        """The lanes of a warp walk in constant memory, from some cells."""
        following = cuda.const.array_like(circle)
        lane = cuda.threadIdx.x
        cell = uint32(lane % distinct)
        for _ in range(steps // 8):
            for _ in range(8):          # the compiler unrolls this
                cell = following[cell]
        out[lane] = cell

    return walk_constant


# %% [markdown]
# For comparison, the same walk in global memory, where L1 answers here:

# %%
@cuda.jit
def walk_global(out, following, distinct, steps):
    """The lanes of a warp walk in global memory, from some cells."""
    lane = cuda.threadIdx.x
    cell = uint32(lane % distinct)
    for _ in range(steps // 8):
        for _ in range(8):
            cell = following[cell]
    out[lane] = cell


# %% [markdown]
# **Predict.** How much longer does a step take with 8, 16 or 32 different cells, in each of the two?

# %% tags=["hide-input"]
# Checks both walks, each from four cells.
CELLS, STEPS, DISTINCT = 256, 2**16, (1, 8, 16, 32)
CIRCLE = np.roll(np.arange(CELLS, dtype=np.uint32), -17)
WALKS = {"constant memory": (make_walk(CELLS), ()),
         "L1": (walk_global, (CIRCLE,))}
places = np.zeros(32, np.uint32)
for kernel, source in WALKS.values():
    emulate(kernel)[1, 32](places, *source, 4, 1000)
    check(places, (np.arange(32) % 4 + 17_000) % CELLS)

# %% tags=["timing", "hide-input"]
# Times both walks from some numbers of cells, and one in larger circles.
walks = {place: [measure(kernel)[1, 32](places, *source, count, STEPS)
                 for count in DISTINCT]
         for place, (kernel, source) in WALKS.items()}
tables = {kb: measure(make_walk(256 * kb))[1, 32](places, 1, STEPS)
          for kb in (4, 60)}


compare(dict(zip(DISTINCT, zip(*walks.values(), strict=True), strict=True)),
        {f"{place}, ns a step":
         lambda row, at=at: 1000 * row[at].median_us / STEPS
         for at, place in enumerate(walks)},
        by="different cells")

# %% [markdown]
# The cache of constant memory delivers one cell at a time: a step to one cell takes 17 ns, and each further cell adds 5.6. L1 delivers 32 cells that lie side by side as fast as one. So with 32 cells a walk in constant memory takes nine times as long as in L1.
#
# The rule: use constant memory for a few numbers that all lanes need at the same moment, and not for a table in which each lane looks up a cell of its own.

# %% [markdown]
# <details><summary>For the curious: the caches of constants, and constants that are nowhere</summary>
#
# With all lanes in one cell, constant memory is a little faster than L1 above. But that circle has 1 KB. In one of 4 KB a step takes three times as long, and in one of 60 KB hardly longer than that. So a first cache holds 1 KB and hardly more than 4, and what answers behind it at least 60.
#
# If the compiler knows the index of a constant, it can write the number into the instruction that uses it, and nothing is loaded.
# A kernel's arguments, such as the address of an array, lie in constant memory, too: the machine code calls them `c[0x0][…]`, and a constant array `c[0x3][…]`.
#
# </details>

# %% [markdown]
# ## What could go wrong
#
# **Predict.** Each thread is to take its neighbour's number (`thread ^ 1` is the one beside it: 1 for 0, 0 for 1). What does it get?

# %%
@cuda.jit
def swap_wrong(out, a):
    """Each thread takes its neighbour's number."""
    held = cuda.local.array(32, float32)
    thread = cuda.threadIdx.x
    held[thread] = a[thread]
    cuda.syncthreads()
    out[thread] = held[thread ^ 1]


a, swapped = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
run = emulate(swap_wrong)[1, 32](swapped, a)
run.uninitialised

# %% [markdown]
# Each thread writes one cell of its own array and reads another, which nobody wrote: CUDA leaves open what it gets.
# No barrier helps, since no thread can write into another one's array.
# With `cuda.shared.array`, one array for the block, the kernel is right.
#
# ## Which memory for which number?
#
# Ask two questions: who needs the number, and who knows its index?

# %% tags=["hide-input"]
# Draws which memory is for which number, with the sizes of this GPU.
plot_homes(4 * gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
           gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, gpu.TOTAL_CONSTANT_MEMORY,
           cuda.current_context().get_memory_info().total)

# %% [markdown]
# The darker, the nearer. Local memory is in no box: there go a thread's numbers whose index only the data knows, and those that find no register.
#
# The counts of our dice: one thread needs each of them, but only the data knows its index. So they belong in a column of shared memory.

# %% [markdown]
# ## On your own
#
# ★ Give the dice of `count_by_index` four faces: `FACES = 4` and `seed >> 30`. Where are its counts now? Ask `assemble`.
#
# <details><summary>Answer</summary>
#
# In registers, though the data give the index: there is no local memory left. With four cells, the compiler compares each face thrown with all four, as `count_by_name` does. It decides, so look.
#
# </details>
#
# ★★ `cubic`: evaluate a polynomial at many points, and load each point once and nothing else. Where do the weights belong?

# %%
task = exercise("cubic")
task

# %%
WEIGHTS = np.array([2, -3, 5, 7], np.float32)


@cuda.jit
def cubic(out, points, weights):
    """Each thread evaluates a cubic at one point."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = weights[0]
        for k in range(1, 4):
            out[i] = out[i] * points[i] + weights[k]


task.check(cubic)

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# WEIGHTS = np.array([2, -3, 5, 7], np.float32)
#
#
# @cuda.jit
# def cubic(out, points, weights):
#     """Each thread evaluates a cubic at one point."""
#     constant = cuda.const.array_like(WEIGHTS)
#     i = cuda.grid(1)
#     if i < out.size:
#         x, value = points[i], constant[0]
#         for k in range(1, 4):
#             value = value * x + constant[k]
#         out[i] = value
# ```
#
# `value` and `x` are in registers.
# The compiler knows the weights and each `k`, so it writes the weights into the instructions: ask `assemble`.
# With an index that is known only at run time, it would load them from constant memory.
# (`WEIGHTS[k]` without `array_like` is as good: a NumPy array from outside the kernel becomes a constant one.)
#
# </details>
#
# ★★★ `exercise("column_window")`: each thread goes down a column, adds up every three neighbours and loads each of them once. What must a thread keep?
#
# <details><summary>Answer</summary>
#
# Two numbers: those above and here, in variables. Each step loads the one below, and then each variable takes over its neighbour.
#
# </details>
#
# The [assignment](assignments/16_own_memory.ipynb) has 4 exercises, these two among them. It begins with `where_it_lives`: six variables, and you say where each is.

# %% [markdown]
# ## In practice
#
# CUDA C++ says `__launch_bounds__` or `-maxrregcount` for what is `max_registers` here. It also has **texture memory**, global memory that is read through the GPU's units for graphics; Numba does not offer it.

# %% [markdown]
# ## Further reading
#
# - [Fast dynamic indexing of private arrays](https://developer.nvidia.com/blog/fast-dynamic-indexing-private-arrays-cuda/): the same question in CUDA C++, and shared memory as the answer.
# - [CUDA C++ Programming Guide, device memory accesses](https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#device-memory-accesses): local, constant and texture memory, from the source.
# - [Numba: memory management](https://numba.readthedocs.io/en/stable/cuda/memory.html): local, shared and constant arrays.
#
# *Next:* [Know when a cache makes up for it](17_when_l1_makes_up.ipynb): two kernels add up the same numbers, and one of them requests eight times as many bytes. Must it be the slower one?

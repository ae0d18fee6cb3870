"""The zoo: a kernel of a few lines for each thing that the judges know, to be read from
top to bottom. What must be counted stands beside the line, by hand.

    # 2 requests, 40 lanes, 5 sectors, ideal 5      of global memory
    # 1 request, 2 wavefronts, ideal 1              of shared memory
    # active 8 of 32, splits 1                      lanes; warps that a branch split
    # uninitialised 32                              cells read before anyone wrote them
    # warning wrap                                  a silent mistake

Races, of which each has two lines, and errors stand above the kernel.
"""

from dataclasses import dataclass

from numba import complex128, cuda, float64, int8, int16, int32

from tests.specimens.labelled import CLEAN, MINOR, RACE, Case, Tail, ramp, zeros

ZOO = []


@dataclass(frozen=True)
class Specimen(Case):
    """A case with what else it shows; `races` are kind, space, scope and hazards, and
    "alike" where all write the same.

    `error` is the emulator's error and a part of its sentence, `found` a property of
    the run and a part of what it says; `tool` the one of compute-sanitizer's that must
    find it, too; `alone` in a process of its own.
    """

    races: tuple = ()
    error: tuple = ()
    found: tuple = ()
    tool: str = ""
    alone: bool = False


def specimen(blocks, threads, *arguments, races=(), **more):
    """Put a function into the zoo, as a kernel."""

    def put(function):
        kernel = cuda.jit(function)
        major = any(len(r) == 4 and r[2] != "warp" for r in races)
        verdict = RACE if major else MINOR if races else CLEAN
        space = races[0][1] if races else "shared"
        known = {"name": function.__name__, "races": races, "space": space, **more}
        case = {"verdict": verdict, **known}
        ZOO.append(Specimen(kernel, (blocks, threads), arguments, **case))
        return kernel

    return put


# ---------------------------------------------------------- 1. one request, its sectors


@specimen(1, 32, ramp(32), zeros(32))
def coalesced(a, out):
    """Neighbouring lanes, neighbouring words: four whole sectors."""
    t = cuda.threadIdx.x
    x = a[t]  # 1 request, 32 lanes, 4 sectors, ideal 4
    out[t] = x  # 1 request, 32 lanes, 4 sectors, ideal 4


@specimen(1, 32, ramp(32), zeros(32))
def backwards(a, out):
    """The order of the lanes within a sector does not matter."""
    t = cuda.threadIdx.x
    x = a[31 - t]  # 1 request, 4 sectors, ideal 4
    out[t ^ 5] = x  # 1 request, 4 sectors, ideal 4


@specimen(1, 32, ramp(64), zeros(1024))
def strided(a, out):
    """Every second word moves twice the bytes; every 32nd, eight times."""
    t = cuda.threadIdx.x
    x = a[2 * t]  # 1 request, 8 sectors, ideal 4
    out[32 * t] = x  # 1 request, 32 sectors, ideal 4


@specimen(1, 32, Tail(ramp(33), 1), Tail(zeros(40), 8))
def misaligned(a, out):
    """A slice that begins four bytes into a sector needs a fifth; at 32 it does not."""
    t = cuda.threadIdx.x
    x = a[t]  # 1 request, 5 sectors, ideal 4
    out[t] = x  # 1 request, 4 sectors, ideal 4


@specimen(1, 32, ramp(64), zeros(32))
def broadcast(a, out):
    """One word for all is one sector; each word for four lanes is one for 8 words."""
    t = cuda.threadIdx.x
    x = a[7]  # 1 request, 1 sector, ideal 1
    y = a[t // 4]  # 1 request, 1 sector, ideal 1
    out[t] = x + y  # 1 request, 4 sectors, ideal 4


@specimen(1, (8, 4), ramp(1024).reshape(32, 32), zeros(32, 32))
def narrow_block(a, out):
    """A warp is 8 × 4 threads: a row of eight words is a sector; a column, 32."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    value = a[y, x]  # 1 request, 4 sectors, ideal 4
    out[8 * y + x, y] = value  # 1 request, 32 sectors, ideal 4


@specimen(1, 32, ramp(32, "i1"), zeros(32, dtype="i1"))
def one_byte(a, out):
    """32 bytes fill one sector."""
    t = cuda.threadIdx.x
    x = a[t]  # 1 request, 1 sector, ideal 1
    out[t] = x  # 1 request, 1 sector, ideal 1


@specimen(1, 32, ramp(32, "i2"), zeros(64, dtype="i2"))
def two_bytes(a, out):
    """64 bytes fill two."""
    t = cuda.threadIdx.x
    x = a[t]  # 1 request, 2 sectors, ideal 2
    out[2 * t] = x  # 1 request, 4 sectors, ideal 2


@specimen(1, 32, ramp(32, "f8"), Tail(zeros(33, dtype="f8"), 1))
def eight_bytes(a, out):
    """256 bytes fill eight."""
    t = cuda.threadIdx.x
    x = a[t]  # 1 request, 8 sectors, ideal 8
    out[t] = x  # 1 request, 9 sectors, ideal 8


@specimen(1, 32, ramp(32, "c16"), zeros(32, dtype="c16"))
def sixteen_bytes(a, out):
    """A complex number is two accesses, each of half of every sector."""
    t = cuda.threadIdx.x
    x = a[t]  # 2 requests, 32 sectors, ideal 16
    out[t] = x  # 2 requests, 32 sectors, ideal 16


# ---------------------------------------------------------- 2. one request, its banks


@specimen(1, 32, ramp(32), zeros(32))
def no_conflict(a, out):
    """32 words in 32 banks, in any order: one wavefront."""
    cells = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    x = a[t]  # 1 request, 4 sectors, ideal 4
    cells[t] = x  # 1 request, 32 lanes, 1 wavefront, ideal 1
    cuda.syncwarp()
    x = cells[31 - t]  # 1 request, 32 lanes, 1 wavefront, ideal 1
    out[t] = x  # 1 request, 4 sectors, ideal 4


@specimen(1, 32, zeros(32))
def strides(out):
    """An even stride meets banks twice; an odd one meets all; 32 words, only one."""
    cells = cuda.shared.array(1536, int32)
    t = cuda.threadIdx.x
    cells[2 * t] = t  # 1 request, 2 wavefronts, ideal 1
    cells[64 + 3 * t] = t  # 1 request, 1 wavefront, ideal 1
    cells[160 + 8 * t] = t  # 1 request, 8 wavefronts, ideal 1
    cells[512 + 32 * t] = t  # 1 request, 32 wavefronts, ideal 1
    cuda.syncwarp()
    x = cells[512 + 32 * t]  # 1 request, 32 wavefronts, ideal 1
    out[t] = x  # 1 request, 4 sectors, ideal 4


@specimen(1, 32, zeros(32))
def padding(out):
    """Rows of 33 words: a column runs through all banks."""
    tile = cuda.shared.array((32, 33), int32)
    t = cuda.threadIdx.x
    tile[t, 5] = t  # 1 request, 1 wavefront, ideal 1
    cuda.syncwarp()
    tile[5, t] = t  # 1 request, 1 wavefront, ideal 1
    cuda.syncwarp()
    x = tile[t, 5]  # 1 request, 1 wavefront, ideal 1
    out[t] = x  # 1 request, 4 sectors, ideal 4


@specimen(1, 32, zeros(32))
def shared_broadcast(out):
    """One word for all is free, and so are few words for many, in different banks."""
    cells = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    cells[t] = t  # 1 request, 1 wavefront, ideal 1
    cells[t + 32] = t  # 1 request, 1 wavefront, ideal 1
    cuda.syncwarp()
    x = cells[9]  # 1 request, 1 wavefront, ideal 1
    x += cells[t // 2]  # 1 request, 1 wavefront, ideal 1
    x += cells[32 * (t % 2)]  # 1 request, 2 wavefronts, ideal 1
    out[t] = x  # 1 request, 4 sectors, ideal 4


@specimen(1, 32, zeros(32, dtype="i1"))
def bytes_of_a_word(out):
    """Four lanes share each word; lanes four bytes apart, none; 128 apart, a bank."""
    cells = cuda.shared.array(4352, int8)
    t = cuda.threadIdx.x
    cells[t] = t  # 1 request, 1 wavefront, ideal 1
    cells[32 + 4 * t] = t  # 1 request, 1 wavefront, ideal 1
    cells[256 + 128 * t] = t  # 1 request, 32 wavefronts, ideal 1
    cuda.syncwarp()
    x = cells[t]  # 1 request, 1 wavefront, ideal 1
    out[t] = x  # 1 request, 1 sector, ideal 1


@specimen(1, 32, zeros(32, dtype="i2"))
def halves_of_a_word(out):
    """Two lanes share each word; three halves apart, a third of the words lie idle."""
    cells = cuda.shared.array(128, int16)
    t = cuda.threadIdx.x
    cells[t] = t  # 1 request, 1 wavefront, ideal 1
    cells[32 + 3 * t] = t  # 1 request, 2 wavefronts, ideal 1
    cuda.syncwarp()
    x = cells[t]  # 1 request, 1 wavefront, ideal 1
    out[t] = x  # 1 request, 2 sectors, ideal 2


@specimen(1, 32, zeros(32, dtype="f8"))
def eight_bytes_by_half_warps(out):
    """Two half warps; a load by pairs of lanes goes in one."""
    cells = cuda.shared.array(96, float64)
    t = cuda.threadIdx.x
    cells[t] = t  # 1 request, 2 wavefronts, ideal 2
    cells[32 + 2 * t] = t  # 1 request, 4 wavefronts, ideal 2
    cuda.syncwarp()
    x = cells[32 + 2 * t]  # 1 request, 4 wavefronts, ideal 2
    x += cells[2 * (t // 2)]  # 1 request, 2 wavefronts, ideal 1
    x += cells[t // 2]  # 1 request, 1 wavefront, ideal 1
    x += cells[0]  # 1 request, 1 wavefront, ideal 1
    out[t] = x  # 1 request, 8 sectors, ideal 8


@specimen(1, 32, zeros(32, dtype="c16"))
def sixteen_bytes_by_quarter_warps(out):
    """Four quarter warps; a load of one cell by all goes in two."""
    cells = cuda.shared.array(96, complex128)
    t = cuda.threadIdx.x
    cells[t] = t  # 1 request, 4 wavefronts, ideal 4
    cells[32 + 2 * t] = t  # 1 request, 8 wavefronts, ideal 4
    cuda.syncwarp()
    x = cells[t]  # 1 request, 4 wavefronts, ideal 4
    x += cells[0]  # 1 request, 2 wavefronts, ideal 2
    out[t] = x  # 2 requests, 32 sectors, ideal 16


# ---------------------------------------------------------- 3. who takes part


@specimen(1, 40, ramp(40), zeros(40))
def partial_warp(a, out):
    """40 threads are two warps, the second of eight lanes."""
    t = cuda.threadIdx.x
    x = a[t]  # 2 requests, 40 lanes, 5 sectors, ideal 5
    out[t] = x  # 2 requests, 40 lanes, 5 sectors, ideal 5, active 40 of 64


@specimen(2, 64, ramp(100), zeros(100))
def guarded(a, out):
    """The last warp has four threads with something to do."""
    i = cuda.grid(1)
    if i < out.size:  # splits 1
        x = a[i]  # 4 requests, 100 lanes, 13 sectors, ideal 13, active 100 of 128
        out[i] = x  # 4 requests, 100 lanes, 13 sectors, ideal 13


@specimen(1, 64, zeros(64))
def both_ways(out):
    """A warp that parts goes both ways, one after the other."""
    t = cuda.threadIdx.x
    if t % 2:  # splits 2, active 64 of 64
        out[t] = 1  # 2 requests, 32 lanes, 8 sectors, ideal 4, active 32 of 64
    else:
        out[t] = 2  # 2 requests, 32 lanes, 8 sectors, ideal 4, active 32 of 64


@specimen(1, 64, zeros(64))
def warp_by_warp(out):
    """A branch that whole warps take costs nothing."""
    t = cuda.threadIdx.x
    if t < 32:  # splits 0, active 64 of 64
        out[t] = 1  # 1 request, 32 lanes, 4 sectors, ideal 4, active 32 of 32


@specimen(1, 32, zeros(4, 32))
def uneven_loop(out):
    """A warp turns until its last lane is done."""
    t = cuda.threadIdx.x
    for k in range(t % 4):
        out[k, t] = k  # 3 requests, 48 lanes, 12 sectors, ideal 6, active 48 of 96


# ---------------------------------------------------------- 4. atomics


@specimen(1, 64, ramp(64), zeros(8))
def atomics_in_global(a, out):
    """Requests of their own kind; a word of many lanes is one sector."""
    t = cuda.threadIdx.x
    x = a[t]  # 2 requests, 8 sectors, ideal 8
    cuda.atomic.add(out, x % 8, 1)  # 2 requests, 64 lanes, 2 sectors, ideal 2


@specimen(1, 64, ramp(64), zeros(64))
def atomics_in_shared(a, out):
    """The barrier between atomics and plain accesses is needed, too."""
    bins = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        bins[t] = 0  # 1 request, 8 lanes, 1 wavefront, ideal 1
    cuda.syncthreads()
    cuda.atomic.add(bins, t % 8, 1)  # 2 requests, 64 lanes, 2 wavefronts, ideal 2
    cuda.syncthreads()
    if t < 8:
        x = bins[t]  # 1 request, 8 lanes, 1 wavefront, ideal 1
        out[t] = x  # 1 request, 8 lanes, 1 sector, ideal 1

"""What counters say of a measurement, the emulator and machine code of a kernel."""

import numpy as np
from numba import cuda, uint32

from helpers import assemble, emulate
from helpers.measuring import store
from thirty_two_lanes.core.wavefronts import request_wavefronts


def sectors(kernel, blocks, threads, *arguments):
    """The sectors of each load request, counted by the emulator."""
    run = emulate(kernel)[blocks, threads](*arguments)
    loads = run.coalescing.by_kind["load"]
    return loads.sectors / loads.requests


def l1_passes(m, multiprocessors=132):
    """The cycles for which a load request keeps L1's data path busy."""
    busy = m.counters["l1_data_percent"] / 100
    passes = busy * multiprocessors * m.counters["cycles"]
    return passes / m.counters["global_load_requests"]


def requests_on_to_l2(m):
    """The share of the bytes requested from L1 that L1 requests from L2."""
    return m.counters["l2_read_sectors"] / m.counters["global_load_sectors"]


def recorded(what):
    """What was recorded of the GPU that is shown first."""
    return store.read(store.files(what)[0])


def executed(m):
    return m.counters["instructions"]


def fetched(m):
    return m.counters["memory_read_bytes"]


def from_l2(m):
    """The bytes that L1 loaded from L2."""
    return 32 * m.counters["l2_read_sectors"]


def faster(one, other):
    """How many times as long the other takes."""
    return other.median_us / one.median_us


def near(value, other, share=0.01):
    return abs(value / other - 1) < share


def wait_for_loads(m):
    """The share of waiting that is for loads, where it is the largest."""
    longest = max(m.waits, key=m.waits.get)
    return m.waits[longest] if longest == "global or local memory" else 0


def l1_busy(m):
    return m.counters["l1_data_percent"]


def in_flight(m):
    """The bytes of loads in flight: warps that wait for one, times its sectors."""
    held = m.counters["occupancy_percent"] * m.waits["global or local memory"]
    return held * m.counters["global_load_sectors"] / m.counters["global_load_requests"]


def wavefronts(cells, itemsize, kind="load"):
    """The wavefronts of one request of 32 lanes for these elements."""
    addresses = itemsize * np.asarray(cells)[:, None]
    return int(request_wavefronts(addresses, addresses >= 0, itemsize, kind)[0][0])


def instructions(kernel, threads, *args):
    """A kernel's instructions in order, by the line that they are of."""
    return assemble(kernel)[1, threads](*args).instructions


def adds_of_loads(kernel, *arguments):
    """The loads and additions of a kernel, in the order of its machine code."""
    code = assemble(kernel)[4, 64](*arguments).instructions
    names = [one.opcode.partition(".")[0] for one in code]
    return [name for name in names if name in ("LDG", "FADD")]


def counting_and_loading(it):
    """The instructions with which a plain `for` over 1,024 hops counts, and loads."""

    @cuda.jit
    def plain(out):
        following = cuda.shared.array(1024, uint32)
        cell = uint32(cuda.threadIdx.x)
        following[cell] = cell
        cuda.syncthreads()
        for _ in range(1024):
            cell = following[cell]
        out[cuda.grid(1)] = cell

    code = instructions(plain, 1024, it.out)
    line = next(each.line for each in code if each.name == "LDS")
    return [sum(each.line == at for each in code) for at in (line - 1, line)]


def issued(gpu, instructions):
    """The µs in which four schedulers of each multiprocessor issue so many."""
    cycles = instructions / 4 / gpu.MULTIPROCESSOR_COUNT
    return 1000 * cycles / gpu.CLOCK_RATE


def in_a_run(assembly):
    """The instructions of a loop that loads 16 bytes and counts runs, where all bytes
    continue one: without what a branch leaps over.
    """
    code = [one.opcode for one in assembly.instructions]
    first = code.index("LDG.E.128") - 1
    last = len(code) - 1 - code[::-1].index("ATOMS.ADD")  # behind the loop
    within, leapt, over = code[first:last], 0, False
    end = len(within) - 1 - within[::-1].index("BSYNC")  # joins what the loop's left
    end = max(n for n in range(end) if within[n] == "BRA")
    for opcode in within[:end]:
        over = over and opcode != "BSYNC"
        leapt += over
        over = over or opcode == "BRA"
    return end + 1 - leapt

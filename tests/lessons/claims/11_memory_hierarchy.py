"""What the lesson says of its measurements, and when it is true.

Each cause has its control. That a step waits for the level that answers: the same
kernel on chains of other sizes, and on the same chain in its first round, with what L2
and memory were asked. That more in flight make more rate: the same walk with more
threads. That the diamonds stay below Little's law: the steps alone, beside
the launch. That what is beyond the need waits longer: the waits that were counted,
beside those that the law gives for the rate that was timed.
"""

import math

import numpy as np

from helpers import assemble, emulate
from tests.lessons.claims import about
from tests.lessons.counted import near
from thirty_two_lanes.core.hardware import gpu_named

KB, MB, GB = 2**10, 2**20, 2**30
SMALL, MIDDLE = (16 * KB, 64 * KB), (MB, 4 * MB, 16 * MB)
THREADS = 132 * 2048
WAITS_FOR_MEMORY = "global or local memory"


def ns(it, size):
    """The time of a warm step."""
    steps, once, twice = it.warm[size]
    return 1000 * (twice.median_us - once.median_us) / steps


def more(it, size, counter):
    """What a warm step adds to a counter."""
    return added(it.warm[size], counter)


def added(walks, counter):
    """What a step adds to a counter, by two walks of which one is longer."""
    steps, once, twice = walks
    return (twice.counters[counter] - once.counters[counter]) / steps


def from_l2(it, size):
    """The bytes that a warm step requests from L2."""
    return 32 * more(it, size, "l2_read_sectors")


def from_memory(it, size):
    """The bytes that memory delivers for a warm step."""
    return more(it, size, "memory_read_bytes")


def ns_of_the_rest(it):
    """How long a step to L2 takes at 40 MB, if one to memory takes as at 64 MB."""
    far = from_memory(it, 40 * MB) / from_memory(it, 64 * MB)
    return (ns(it, 40 * MB) - far * ns(it, 64 * MB)) / (1 - far)


def counted_ns(it, size):
    """The time of a warm step in the launches that were counted, at their clock."""
    cycles_per_ns = it.far.counters["cycles"] / it.far.median_us / 1000
    return more(it, size, "cycles") / cycles_per_ns


def share(it, size, level):
    """The share of what the threads loaded that a level was asked for."""
    asked = it.reads[size].traffic
    return asked[level] / asked["L1"]


def rate(it, size, level):
    """The GB/s that a level was asked for."""
    m = it.reads[size]
    return m.traffic[level] / m.median_us / 1000


def in_flight(it, chain, size, level):
    """The MB that must be in flight at this latency and this rate."""
    return ns(it, chain) * rate(it, size, level) / 1e6


def count_of_a_walk(it):
    """Requests and sectors of 300 steps and a store."""
    counts = emulate(it.walk)[1, 1](it.end, it.short, 300).coalescing
    return counts.requests, counts.sectors


def a_step_in_code(it):
    """Loads, and integer instructions, in the line of a walk's step."""
    made = assemble(it.walk)[1, 1](it.end, it.short, 300)
    step = max(made.by_line.values(), key=lambda line: line["LDG"])
    return step["LDG"], step["IMAD"]


def touched_by_two_blocks(it, size):
    """The bytes of an array that the threads of two blocks of `read` load."""
    step, numbers = 4 * THREADS, size // 4
    rounds = min(numbers // 4, numbers // math.gcd(step, numbers))  # then they repeat
    at = 4 * np.arange(2048) + step * np.arange(rounds)[:, None]
    return 16 * len(np.unique(at % numbers))


def loads_before_an_addition(it):
    """How many loads of 16 bytes `read` sends off before it adds what came."""
    code = assemble(it.read)[1, 128](it.sums, it.a, 16).instructions
    first = next(at for at, one in enumerate(code) if one.name == "FADD")
    return sum(one.opcode == "LDG.E.128" for one in code[:first])


def waited_us(it):
    """How long a warp of `read` waits in a round, by the counters of its stalls: cycles
    at each of its instructions, times the instructions of a round.
    """
    m = it.reads[GB]
    rounds = m.bytes / (64 * THREADS)
    each = m.counters["instructions"] / (THREADS / 32) / rounds
    cycles = m.counters["stalls"]["long_scoreboard"] * each
    return cycles / (m.counters["cycles"] / m.median_us)


def instructions_meanwhile(it):
    """The cycles in the latency of memory, each enough for an instruction."""
    cycles_per_ns = it.far.counters["cycles"] / it.far.median_us / 1000
    return cycles_per_ns * ns(it, 64 * MB)


def step_wait(it, warps):
    """The cycles that a warp of a crowd waits for memory at each step."""
    m = it.crowds[warps]
    each = m.counters["instructions"] / (warps * 132) / it.HOPS
    return m.counters["stalls"]["long_scoreboard"] * each


def bytes_a_thread(it, chain, size, level):
    """The bytes that each thread of a full GPU must have in flight."""
    return 1e6 * in_flight(it, chain, size, level) / THREADS


CLAIMS = {
    "takes 16 times as long": lambda it: about(
        "16", it.far.median_us / it.near.median_us
    ),
    "Each step makes one, and it is for one sector": lambda it: (
        it.far.counters["global_load_requests"] == 2**19
        and it.far.counters["global_load_sectors"] == 2**19
        and (301, 301) == count_of_a_walk(it)
    ),
    "Both walks execute the same instructions equally often": lambda it: near(
        it.far.counters["instructions"], it.near.counters["instructions"], 0.001
    ),
    "a step waits for one load, and for the one instruction that computes its "
    "address": lambda it: len(set(a_step_in_code(it))) == 1,
    "in the first round no cache has seen a line yet": lambda it: (
        it.far.counters["memory_read_bytes"] >= 32 * 2**19
    ),
    "There are two plateaus, and behind them a rise": lambda it: (
        all(about("21", ns(it, size)) for size in SMALL)
        and all(about("145", ns(it, size)) for size in MIDDLE)
        and ns(it, 64 * MB) > 1.2 * ns(it, 40 * MB) > 1.2 * ns(it, 16 * MB)
    ),
    "steps become slower before a chain is larger": lambda it: (
        ns(it, 256 * KB) > 2 * ns(it, 64 * KB)
        and ns(it, 40 * MB) > 1.5 * ns(it, 16 * MB)
        and 40 * MB < it.gpu.L2_CACHE_SIZE == 60 * MB
    ),
    "L2 is asked for nothing: L1 answers each step": lambda it: all(
        from_l2(it, size) < 0.01 * 32 for size in SMALL
    ),
    "each step requests a sector of 32 bytes from L2, and memory stays quiet": (
        lambda it: all(
            about("32", from_l2(it, size)) and from_memory(it, size) < 0.03 * 32
            for size in MIDDLE
        )
    ),
    "In the long one, memory delivers, too, and more than was requested": lambda it: (
        about("32", from_l2(it, 64 * MB)) and from_memory(it, 64 * MB) > 64
    ),
    "memory delivers, and a step takes as long as in the long chain": lambda it: (
        near(it.ns(it.first_round), ns(it, 64 * MB))
        and added(it.first_round, "memory_read_bytes") >= 32
        and it.first_round[0] == 4 * MB // 128
    ),
    "A step takes 21 ns if L1 answers it, seven times as long if L2 does, and more "
    "than 16 times as long if memory does": lambda it: (
        about("21", ns(it, 16 * KB))
        and about("7", ns(it, 4 * MB) / ns(it, 16 * KB))
        and 16 < ns(it, 64 * MB) / ns(it, 16 * KB) < 17
    ),
    "In the first round memory delivers 64 bytes for each step": lambda it: about(
        "64", added(it.first_round, "memory_read_bytes")
    ),
    "at 40 MB half as many bytes come from memory as at 64 MB": lambda it: (
        0.45 < from_memory(it, 40 * MB) / from_memory(it, 64 * MB) < 0.55
        and 60 * MB == it.gpu.L2_CACHE_SIZE
    ),
    "A step takes 269 ns there. Halves of 348 and 145 ns would make less": lambda it: (
        about("269", ns(it, 40 * MB))
        and 240 < (ns(it, 64 * MB) + ns(it, 16 * MB)) / 2 < 255
    ),
    "if those to memory still take 348, those to L2 take longer": lambda it: (
        about("190", ns_of_the_rest(it))
        and about("32", from_l2(it, 40 * MB))
        and near(ns(it, 40 * MB), counted_ns(it, 40 * MB))
    ),
    "the clock, at nearly 2 GHz, ticks almost 700 times": lambda it: (
        680 < instructions_meanwhile(it) < 700
        and 1950 < it.far.counters["cycles"] / it.far.median_us < 2000
    ),
    "can send four of them off before the first has arrived: the four": lambda it: (
        4 == loads_before_an_addition(it)
    ),
    "Of a large one, a multiprocessor touches only a part, so L1 lasts longer": (
        lambda it: (
            touched_by_two_blocks(it, MB) <= MB / 4
            and share(it, 256 * KB, "L2") < 0.01
            and from_l2(it, 256 * KB) > 10
        )
    ),
    "Read a level's rate where its colour fills the bar: about 31,000 GB/s from L1, "
    "and 4,600 from memory": lambda it: (
        share(it, 16 * KB, "L2") < 0.01
        and share(it, GB, "memory") > 0.98
        and round(rate(it, 16 * KB, "L1"), -3) == 31000
        and round(rate(it, GB, "memory"), -2) == 4600
    ),
    "L2 fills no bar; at 16 MB nearly all bytes come from it, about 8,600": (
        lambda it: (
            share(it, 16 * MB, "L2") > 0.95
            and share(it, 16 * MB, "memory") < 0.01
            and round(rate(it, 16 * MB, "L2"), -2) == 8600
        )
    ),
    "close to the 4,800 of its data sheet": lambda it: (
        0.95 * 4800 < rate(it, GB, "memory") < 4800
        and 4800 == gpu_named(it.reads[GB].gpu).peak_gb_per_s
    ),
    "Memory is 16 times as far as L1, but L1 delivers only seven times as much": (
        lambda it: (
            16 < ns(it, 64 * MB) / ns(it, 16 * KB) < 17
            and about("7", rate(it, 16 * KB, "L1") / rate(it, GB, "memory"))
        )
    ),
    "gets a sector of 32 bytes in 348 ns: 0.09 GB/s": lambda it: (
        about("348", ns(it, 64 * MB)) and about("0.09", 32 / ns(it, 64 * MB))
    ),
    "The GPU can hold 270,336 threads": lambda it: it.threads == 270336 == THREADS,
    "four bytes for each thread are only two thirds of what memory needs": lambda it: (
        0.65 < 4 * THREADS / (1e6 * in_flight(it, 64 * MB, GB, "memory")) < 0.69
    ),
    "With 64 times as many walkers, 64 times as many bytes arrive, and the launch "
    "takes only a quarter longer": lambda it: (
        it.crowds[64].bytes == 64 * it.crowds[1].bytes
        and 1.2 < it.crowds[64].median_us / it.crowds[1].median_us < 1.3
        and it.crowds[1].gb_per_s < it.crowds[8].gb_per_s < it.crowds[64].gb_per_s
    ),
    "They stay below it: the line is for loads alone": lambda it: all(
        m.median_us > 1.1 * it.HOPS * ns(it, 64 * MB) / 1000
        and 0.95 < step_wait(it, warps) / step_wait(it, 1) < 1.05
        for warps, m in it.crowds.items()
    ),
    "Each step leads to cells that nobody has visited, so that memory answers": (
        lambda it: all(
            m.counters["memory_read_bytes"] > 0.98 * m.bytes
            for m in it.crowds.values()
        )
    ),
    "Its threads can have 64 bytes in flight each, and all together 17 MB, about ten "
    "times what is needed": lambda it: (
        about("17", 64 * THREADS / 1e6)
        and 64 == 16 * loads_before_an_addition(it)
        and 10 < 64 * THREADS / (1e6 * in_flight(it, 64 * MB, GB, "memory")) < 11
        and it.reads[GB].waits[WAITS_FOR_MEMORY] > 0.98
        and it.reads[GB].counters["occupancy_percent"] > 98
    ),
    "17 MB at 4,626 GB/s are 3.7 µs": lambda it: (
        about("4,626", it.reads[GB].gb_per_s)
        and about("3.7", 64 * THREADS / it.reads[GB].gb_per_s / 1e3)
    ),
    "a warp of `read` waits 3.4 µs for its four loads, ten times as long as a step": (
        lambda it: (
            about("3.4", waited_us(it)) and 9.5 < 1e3 * waited_us(it) / 348 < 10.5
        )
    ),
    "by the law one `float32` for each thread is enough for L1, and for neither L2": (
        lambda it: (
            bytes_a_thread(it, 16 * KB, 16 * KB, "L1")
            < 4
            < bytes_a_thread(it, 4 * MB, 16 * MB, "L2")
            < bytes_a_thread(it, 64 * MB, GB, "memory")
        )
    ),
}

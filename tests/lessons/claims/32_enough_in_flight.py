"""What the lesson says of its measurements, and when it is true.

Each cause has its control. That results take cycles, and that warps times chains fill
them: one kernel for each number of chains, of which a chain reads one register, by
blocks of one to eight warps for each scheduler. That few warps cost little: the same
kernel and grid, with shared memory that is not used. That spills in the loop cost, and
others do not: one kernel, compiled with two bounds and without. That the last block is
as long as what it has in flight alone: one block more, of the same work, with four
chains and with one.
"""

import json

from tests.lessons.claims import about
from tests.lessons.counted import executed, near
from tests.paths import RECORDED
from thirty_two_lanes.core.hardware import GPUS, MULTIPROCESSORS
from thirty_two_lanes.core.occupancy import occupancy_of

H200 = 9, 0
LOCAL = "global or local memory"
ROOM = "room in the queue to global memory"


def share(it, warps, chains):
    """The share of its issue slots that a launch of chains uses."""
    return it.flying[warps, chains].counters["issue_percent"] / 100


def products(it):
    """The shares of the launches, by warps times chains."""
    found = {}
    for warps in it.WARPS:
        for chains in it.CHAINS:
            found.setdefault(warps * chains, []).append(share(it, warps, chains))
    return found


def cycles_of_an_fma(it):
    """From one FMA of a lonely chain to the next."""
    return it.flying[1, 1].counters["cycles"] / (64 * it.ROUNDS)


def rate(it, warps, loads):
    """The GB/s of reading."""
    return it.reads[warps, loads].gb_per_s


def best(it):
    """The highest of them."""
    return max(m.gb_per_s for m in it.reads.values())


def latency_cycles(it):
    """How long a load takes by Little's law, where the fewest are in flight."""
    flying = 4 * 8 * 32 * it.CORES
    return flying / rate(it, 8, 1) * it.gpu.CLOCK_RATE / 1e6


def diagonals(it):
    """The lowest and the highest rate where warps times loads are the same, and the
    warps of these.
    """
    for product in (64, 128):
        rates = {
            warps: rate(it, warps, product // warps)
            for warps in it.RESIDENT
            if product // warps in it.LOADS
        }
        yield rates


def us(it, numbers, warps):
    """The time of evaluating all points."""
    return it.ways[numbers, warps][0].median_us


def for_an_fma(it, numbers, warps):
    """The instructions for an FMA of a warp."""
    return executed(it.ways[numbers, warps][0]) * 32 / (it.N * it.TERMS)


def busy(it, numbers, warps):
    """The issue slots that are used, in %."""
    return it.ways[numbers, warps][0].counters["issue_percent"]


def weights_loaded(it, numbers, warps):
    """The loads of shared memory in the machine code: those of a loop's step."""
    opcodes = it.ways[numbers, warps][1].opcodes
    return sum(count for name, count in opcodes.items() if name.startswith("LDS"))


def bound(it, blocks):
    """The measurement and the code where so many blocks are asked for."""
    return it.bounds[f"(512, {blocks})"]


def local_loads(it, blocks):
    """How often a warp loads from local memory: each request is four sectors."""
    m = bound(it, blocks)[0]
    return m.counters["local_load_sectors"] / 4 / m.warps


def local_stores(it, blocks):
    """Likewise, stores."""
    m = bound(it, blocks)[0]
    return m.counters["local_store_sectors"] / 4 / m.warps


def longer(it, chains, threads, places):
    """What one block more adds to the time of a round, as a part of it."""
    one, more = it.tails[chains, threads, places]
    return more.median_us / one.median_us - 1


def held(threads, registers, kb=0, capability=H200):
    """The occupancy of such blocks."""
    return occupancy_of(capability, threads, registers, 1024 * kb)


def profiled():
    """Our occupancy and Nsight Compute's, of each kernel of the lessons."""
    kernels = json.loads((RECORDED / "assembly.json").read_text())["kernels"]
    return [(it["occupancy"], it["profiler"]) for it in kernels.values()]


CLAIMS = {
    "A multiprocessor of an H200 has places for 64 warps": lambda it: (
        64 == MULTIPROCESSORS[H200].warps
    ),
    "all 64 warps are let in. With 32 numbers it needs so many that only 16 are": (
        lambda it: [64, 16] == [made.occupancy.warps for _, made in it.asked.values()]
        and ("registers",) == it.asked[32][1].occupancy.limited_by
    ),
    "The launch with a quarter of the warps takes a third of the time": lambda it: (
        about("0.3", it.asked[32][0].median_us / it.asked[1][0].median_us)
        and 0.31 < it.asked[32][0].median_us / it.asked[1][0].median_us < 0.36
    ),
    "on an H200 an FMA takes four cycles": lambda it: about("4", cycles_of_an_fma(it)),
    "With one in flight a quarter of the issue slots is used, with two half of them, "
    "with four nearly all, but for a warp alone": lambda it: (
        all(0.24 < each < 0.26 for each in products(it)[1])
        and all(0.48 < each < 0.52 for each in products(it)[2])
        and sum(each > 0.93 for each in products(it)[4]) == len(products(it)[4]) - 1
        and share(it, 1, 4) == min(products(it)[4])
    ),
    "More gain hardly anything, be they warps or chains": lambda it: all(
        share(it, warps, chains) > 0.95
        for warps, chains in it.flying
        if warps * chains > 4 and warps > 1
    ),
    "A warp alone fills 85 to 87%, even with eight chains": lambda it: (
        about("85", 100 * share(it, 1, 4)) and about("87", 100 * share(it, 1, 8))
    ),
    "four warps are enough for a scheduler even with one chain each": lambda it: (
        share(it, 4, 1) > 0.97
    ),
    "A load from memory takes hundreds of cycles": lambda it: (
        200 < latency_cycles(it) < 1000
    ),
    "since two already keep the schedulers busy": lambda it: busy(it, 16, 32) > 88,
    "No: they reach 60% of the best rate": lambda it: about(
        "60%", rate(it, 64, 1) / best(it)
    ),
    "A quarter of the warps with eight loads each read faster than that": lambda it: (
        rate(it, 16, 8) > 1.2 * rate(it, 64, 1)
    ),
    "There many warps do better than many loads, by little more than a third at "
    "most": lambda it: all(
        sorted(rates.values()) == [*rates.values()]
        and 1.1 < max(rates.values()) / min(rates.values()) < 1.37
        for rates in diagonals(it)
    ),
    "less than a tenth with one number, and less than half of that with "
    "eight": lambda it: (
        0.05 < us(it, 1, 16) / us(it, 1, 64) - 1 < 0.1
        and us(it, 8, 16) / us(it, 8, 64) - 1
        < (us(it, 1, 16) / us(it, 1, 64) - 1) / 2
    ),
    "its schedulers are busy": lambda it: (
        busy(it, 1, 64) > 85 and busy(it, 1, 16) > 80
    ),
    "there are more than four instructions for each. With eight, a weight serves "
    "eight: hardly more than one and a half": lambda it: (
        4 < for_an_fma(it, 1, 64) < 4.5 and 1.5 < for_an_fma(it, 8, 64) < 1.6
    ),
    "The best has 16 numbers and half of the warps": lambda it: (
        us(it, 16, 32) == min(m.median_us for m, _ in it.ways.values())
        and 32 == it.ways[16, 32][1].occupancy.warps
    ),
    "the compiler writes out two terms of the loop instead of eight, and more "
    "instructions are left for each FMA": lambda it: (
        [8, 2] == [weights_loaded(it, 16, 32), weights_loaded(it, 32, 16)]
        and for_an_fma(it, 32, 16) > 1.15 * for_an_fma(it, 16, 32)
    ),
    "*shared memory*, in pieces of 128 bytes, and 1 KB for the system on top (on the "
    "T4 of 256, and none)": lambda it: (
        [(128, 1024), (256, 0)]
        == [
            (of.shared_granularity, of.reserved_bytes)
            for of in (MULTIPROCESSORS[H200], GPUS["T4"].multiprocessor)
        ]
    ),
    "*registers*, in eights for each thread. And a multiprocessor has four parts": (
        lambda it: (256, 4)
        == (
            MULTIPROCESSORS[H200].register_granularity,
            MULTIPROCESSORS[H200].partitions,
        )
    ),
    "blocks of 256 threads lose a quarter of the warps; blocks of 1,024 lose half": (
        lambda it: [64, 64, 48, 32]
        == [held(n, registers).warps for registers in (32, 40) for n in (256, 1024)]
    ),
    "The T4 has half the places and as many registers, so it loses nothing up to 64": (
        lambda it: 32 == GPUS["T4"].multiprocessor.warps
        and [32, 32]
        == [held(n, 64, capability=(7, 5)).warps for n in (256, 1024)]
        and held(256, 65, capability=(7, 5)).warps < 32
    ),
    "for each kernel of this course that it was asked about, Nsight Compute gave the "
    "same": lambda it: all(ours == theirs for ours, theirs in profiled()),
    "the kernel takes 56 registers, and two blocks of 512 threads fit": lambda it: (
        (56, 2) == (it.ways[16, 32][1].registers, it.ways[16, 32][1].occupancy.blocks)
    ),
    "Three gain nothing that counts, and the fourth makes the kernel 13 times as "
    "slow": lambda it: (
        near(bound(it, 3)[0].median_us, us(it, 16, 32))
        and about("13", bound(it, 4)[0].median_us / us(it, 16, 32))
        and [48, 64] == [bound(it, n)[1].occupancy.warps for n in (3, 4)]
    ),
    "spills eight numbers of a thread, but each is stored and loaded only once": (
        lambda it: 8 * 4 == bound(it, 3)[1].stack
        and 8 == round(local_loads(it, 3)) == round(local_stores(it, 3))
    ),
    "The wish for four spills inside the loop, and now the warps wait for local "
    "memory": lambda it: (
        local_loads(it, 4) > it.TERMS
        and sum(bound(it, 4)[0].waits.get(name, 0) for name in (LOCAL, ROOM)) > 0.7
        and bound(it, 3)[0].waits.get(LOCAL, 0) < 0.05
    ),
    "A block that fills its multiprocessor doubles the time, or nearly. Where two "
    "share one, the last adds a half, and where eight do, an eighth": lambda it: (
        0.9 < longer(it, 4, 1024, 1) < 1
        and about("50%", longer(it, 4, 1024, 2))
        and about("0.13", longer(it, 4, 256, 8))
    ),
    "no more than its share": lambda it: near(
        it.tails[4, 256, 8][1].median_us, it.tails[4, 256, 8][0].median_us * 9 / 8
    ),
    "With one chain, a small block takes nearly twice as long alone, by the first "
    "table": lambda it: (
        256 // 32 // 4 == 2 and about("2.0", share(it, 2, 4) / share(it, 2, 1))
    ),
    "One block more adds at most the time that it takes alone": lambda it: all(
        more.median_us - one.median_us
        < it.flying[threads // 128, chains].median_us
        for (chains, threads, _), (one, more) in it.tails.items()
    ),
    "But the launch grows by a sixth, and not by a quarter": lambda it: about(
        "0.16", longer(it, 1, 256, 8)
    ),
    "So the last block must have begun before the others had ended": lambda it: (
        it.tails[1, 256, 8][1].median_us - it.flying[2, 1].median_us
        < 0.95 * it.tails[1, 256, 8][0].median_us
    ),
    "The kernel with 32 numbers takes 72 registers": lambda it: (
        72 == it.asked[32][1].registers == it.made_large().registers
    ),
    "one such block takes more registers than there are": lambda it: (
        0 == it.made_large().occupancy.blocks and 72 * 1024 > 65536
    ),
    "Now a block fits, and what it costs stands beside it: something is spilled": (
        lambda it: 1 == it.large.occupancy.blocks and it.large.stack > 0
    ),
    "41 become 48, or 1,536 for a warp. A part of the multiprocessor has 16,384, "
    "enough for ten warps; four parts hold 40. So one block of 32 warps, or five of "
    "8": lambda it: (
        [(1, 32), (5, 40)]
        == [(held(n, 41).blocks, held(n, 41).warps) for n in (1024, 256)]
    ),
}

"""What the hardware's counters of a launch say: the bytes that each level of memory was
asked for, and what its warps waited for.

The counters are Nsight Compute's, recorded by `python -m lessons.record --counters`;
the reasons are its warp states (Nsight Compute, Kernel Profiling Guide).
"""

from thirty_two_lanes.core.hardware import SECTOR_BYTES

LEVELS = {  # of memory, and the counters of what it was asked for
    "L1": (
        "global_load_sectors",
        "global_store_sectors",
        "local_load_sectors",
        "local_store_sectors",
    ),
    "L2": ("l2_read_sectors", "l2_write_sectors"),
}
MEMORY = "memory_read_bytes", "memory_write_bytes"

REASONS = {  # why a warp did not issue, by Nsight Compute's name
    "barrier": "a barrier",
    "branch_resolving": "a branch",
    "dispatch_stall": "the dispatch unit",
    "drain": "the end, after any last stores",
    "imc_miss": "constants",
    "lg_throttle": "room in the queue to global memory",
    "long_scoreboard": "global or local memory",
    "math_pipe_throttle": "a busy arithmetic unit",
    "membar": "a fence",
    "mio_throttle": "room in the queue to memory and special units",
    "misc": "something else",
    "no_instruction": "the next instruction",
    "not_selected": "a turn to issue",
    "short_scoreboard": "shared memory, a special function, an index or a constant",
    "sleeping": "the end of a sleep",
    "tex_throttle": "room in the queue to texture memory",
    "wait": "a fixed delay between instructions",
}
LEAST = 0.2  # the share from which a second reason is worth a mention


def traffic(counters):
    """The bytes that each level of memory was asked for, loads and stores together.

    What is still in L2 at the end of the kernel has not been written to memory.
    """
    if not set(MEMORY) <= set(counters):
        return {}
    sectors = {
        level: sum(counters.get(name, 0) for name in names)
        for level, names in LEVELS.items()
    }
    asked = {level: SECTOR_BYTES * count for level, count in sectors.items()}
    return {**asked, "memory": sum(counters[name] for name in MEMORY)}


def waits(counters):
    """What warps waited for when they did not issue: the share of each reason, the
    largest first, without those below a hundredth.
    """
    stalls = {k: v for k, v in counters.get("stalls", {}).items() if k in REASONS}
    total = sum(stalls.values())
    shares = {REASONS[name]: round(it / total, 2) for name, it in stalls.items() if it}
    found = {reason: share for reason, share in shares.items() if share}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def sentence(counters):
    """What the warps waited for most, and how busy the issue slots were; "" if nothing
    was counted.
    """
    found = waits(counters)
    if not found:
        return ""
    (first, most), *others = found.items()
    also = [f" and {it:.0%} for {reason}" for reason, it in others[:1] if it >= LEAST]
    return (
        f"{most:.0%} of the warps' waiting is for {first}{''.join(also)}; "
        f"{counters['issue_percent']:.0f}% of issue slots used"
    )

"""What all recordings of all lessons must fit: a quantity that one lesson tells, by the
counters of every other.
"""

import pytest

from helpers.measuring import store
from thirty_two_lanes.core.hardware import gpu_named

SCHEDULERS = 4  # of a multiprocessor
RUNS = [
    (found["gpu"], run)
    for found in map(store.read, store.files("times"))
    for run in found["runs"].values()
]
COUNTED = [
    (gpu_named(gpu), entry["counters"])
    for gpu, run in RUNS
    for entry in run["measurements"]
    if "counters" in entry
]


def per_multiprocessor(gpu, counters):
    """The cycles of all multiprocessors together."""
    return counters["cycles"] * gpu.multiprocessors


def test_a_copy_moves_as_many_bytes_a_second_in_every_lesson():
    """Within a hundredth, by GPU: all shares of a copy are shares of one thing."""
    rates = {}
    for gpu, run in RUNS:
        rates.setdefault(gpu, []).append(run["copy_gb_per_s"])

    assert all(max(each) < 1.01 * min(each) for each in rates.values())


def test_shared_memory_passes_one_wavefront_a_cycle():
    """No launch has more of them than cycles in which the data path was busy."""
    some = [(gpu, it) for gpu, it in COUNTED if it["l1_data_percent"] > 5]
    wavefronts = [
        it["shared_load_wavefronts"] + it["shared_store_wavefronts"] for _, it in some
    ]
    busy = [
        it["l1_data_percent"] / 100 * per_multiprocessor(gpu, it) for gpu, it in some
    ]

    assert 90 < len(some)
    assert all(few <= 1.02 * many for few, many in zip(wavefronts, busy, strict=True))


def test_memory_delivers_as_many_bytes_in_each_busy_cycle_of_every_lesson():
    """What is busy and what is moved are one sentence, within a sixteenth: the profiler
    counts them in different replays of a launch, of which L2 may answer another part.
    """
    moved = [
        (it["memory_read_bytes"] + it["memory_write_bytes"])
        / (it["cycles"] * it["memory_percent"] / 100)
        for _, it in COUNTED
        if it["memory_percent"] > 20
    ]
    middle = sorted(moved)[len(moved) // 2]

    assert 100 < len(moved)
    assert [pytest.approx(middle, rel=1 / 16)] * len(moved) == moved


def test_a_scheduler_issues_at_most_one_instruction_a_cycle():
    """No launch executes more than its share of issue slots allows, to a tenth of a
    percent, as it is recorded.
    """
    issued = [
        it["instructions"] / (per_multiprocessor(gpu, it) * SCHEDULERS)
        for gpu, it in COUNTED
    ]
    share = [it["issue_percent"] / 100 for _, it in COUNTED]

    pairs = zip(issued, share, strict=True)
    assert all(few <= 1.05 * most + 0.0005 for few, most in pairs)

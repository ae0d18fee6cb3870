"""What is said of the hardware's counters, on numbers small enough to add by hand."""

import pytest

from helpers.measuring.counters import REASONS, sentence, traffic, waits
from lessons import record

COUNTED = {
    "global_load_sectors": 8,
    "global_store_sectors": 2,
    "local_load_sectors": 1,
    "local_store_sectors": 0,
    "l2_read_sectors": 4,
    "l2_write_sectors": 2,
    "memory_read_bytes": 96,
    "memory_write_bytes": 0,
    "issue_percent": 34.6,
    "stalls": {"selected": 1.0, "long_scoreboard": 6.0, "wait": 2.0, "barrier": 0.01},
}


def test_traffic_is_what_each_level_was_asked_for_in_bytes():
    """A sector is 32 bytes; local memory goes through L1 as well."""
    assert {"L1": 352, "L2": 192, "memory": 96} == traffic(COUNTED)


def test_waits_are_shares_of_the_warps_that_did_not_issue():
    """A warp that was selected did not wait; what is below a hundredth is left out."""
    found = waits(COUNTED)

    assert ["global or local memory", "a fixed delay between instructions"] == [*found]
    assert [0.75, 0.25] == [*found.values()]


def test_the_sentence_names_the_largest_reasons_and_the_issue_slots():
    """What a profiler's first page says."""
    said = sentence(COUNTED)

    assert (
        "75% of the warps' waiting is for global or local memory and "
        "25% for a fixed delay between instructions; 35% of issue slots used"
    ) == said


@pytest.mark.parametrize(
    "stalls, told",
    [
        ({"barrier": 8, "membar": 2}, "80% of the warps' waiting is for a barrier and"),
        ({"barrier": 81, "membar": 19}, "81% of the warps' waiting is for a barrier; "),
        ({"drain": 20, "membar": 30, "barrier": 50}, " and 30% for a fence; "),
    ],
)
def test_a_second_reason_is_told_from_a_fifth_of_the_waiting_on(stalls, told):
    """And never a third."""
    assert told in sentence({"issue_percent": 1, "stalls": stalls})


def test_what_an_older_recording_did_not_count_adds_nothing():
    """There were no counters of local memory at first."""
    without = {k: v for k, v in COUNTED.items() if not k.startswith("local")}

    assert 320 == traffic(without)["L1"]


@pytest.mark.parametrize("counters", [{}, {"global_load_sectors": 3}])
def test_nothing_is_said_of_what_was_not_counted(counters):
    """An older recording has neither bytes nor stalls."""
    assert ({}, {}, "") == (traffic(counters), waits(counters), sentence(counters))


# a word of what Nsight Compute's Kernel Profiling Guide says of each
GUIDE = {
    "barrier": "barrier",
    "branch_resolving": "branch",
    "dispatch_stall": "dispatch",
    "drain": "stores",
    "imc_miss": "constant",
    "lg_throttle": "queue to global",
    "long_scoreboard": "global or local",
    "math_pipe_throttle": "arithmetic",
    "membar": "fence",
    "mio_throttle": "queue to memory",
    "misc": "else",
    "no_instruction": "next instruction",
    "not_selected": "turn",
    "short_scoreboard": "shared memory",
    "sleeping": "sleep",
    "tex_throttle": "texture",
    "wait": "fixed",
}


@pytest.mark.parametrize(
    "name, without",
    [
        ("short_scoreboard", "index"),  # a kernel that only reads who it is
        ("mio_throttle", "special"),  # and one that only divides
        ("drain", "any"),  # and one that stores nothing
    ],
)
def test_a_reason_is_true_of_a_kernel_without_its_usual_cause(name, without):
    """A kernel without shared memory, or without a store, waits for these, too."""
    assert without in REASONS[name]


def test_each_reason_that_is_recorded_is_told_as_the_guide_explains_it():
    """All but that of the warp that did issue."""
    assert {*record.STALLS} - {"selected"} == set(GUIDE)
    assert all(word in REASONS[name] for name, word in GUIDE.items())

"""The queue, where its result is known without one."""

import pytest

from tests.grading.simulation import MIX, simulated

SAME = {"start": [10.0], **{kind: [2.0] for kind in MIX}}


@pytest.mark.parametrize(
    "submissions, workers, seconds",
    [(100, 1, 210), (100, 100, 12), (101, 100, 14), (99, 50, 14), (0, 3, 10)],
)
def test_submissions_of_one_length_are_shared_evenly(submissions, workers, seconds):
    """Whole rounds of two seconds, after ten to begin with."""
    plan = simulated(SAME, submissions, workers)
    assert plan.minutes * 60 == pytest.approx(seconds)
    assert plan.core_hours * 3600 == pytest.approx(2 * submissions + 10 * workers)
    assert plan.busy == pytest.approx(2 * submissions / (seconds * workers))


def test_no_queue_ends_before_its_work_is_done_nor_waits_for_more_than_one():
    """The bounds of every greedy queue."""
    times = SAME | {"endless": [60.0]}
    for workers in (1, 7, 64):
        plan = simulated(times, 1000, workers)
        work = plan.busy * plan.minutes * 60 * workers
        ideal = 10 + work / workers
        assert ideal <= plan.minutes * 60 + 1e-6 <= ideal + 60


def test_the_same_seed_gives_the_same_plan():
    """And the mix is of a hundred."""
    times = SAME | {"endless": [60.0]}
    assert simulated(times, 500, 8) == simulated(times, 500, 8)
    assert 100 == sum(share for share, _ in MIX.values())

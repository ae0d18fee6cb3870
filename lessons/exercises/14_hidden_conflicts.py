"""One more exercise of lesson 14: what conflicts cost a whole kernel."""

from helpers.exercises.exercise import Explain


class HiddenConflicts(Explain):
    """A load from shared memory takes 32 wavefronts; you change it to take one. Why is
    the whole kernel not 32 times as fast? And when is it no faster at all?
    """

    points = 3
    rubric = {
        "only these requests become faster; all other instructions remain": 1,
        "waits overlap: while warps queue at a bank, others wait for something else": 1,
        "it is no faster if the kernel is limited elsewhere, as by global memory": 1,
    }
    model = (
        "Only the requests to that bank get shorter; the other instructions of the "
        "kernel remain. While some warps queue at a bank, others wait for global "
        "memory, so the waits overlap, and where global memory is what all wait for, "
        "the time stays the same."
    )

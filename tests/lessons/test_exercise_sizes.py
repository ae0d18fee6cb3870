"""The judge draws sizes beyond those that an exercise lists: its answer is right there,
and a kernel that knows the listed ones alone is refused.
"""

import re
from itertools import product

import numpy as np
import pytest

from helpers.exercises.arguments import whole_size
from helpers.exercises.catalogue import exercise
from helpers.exercises.sizes import shared_along
from helpers.exercises.trials import LARGER, trials_of
from tests.changed import of_exercises
from tests.exercises.kinds import KERNELS
from tests.exercises.rewritten.values import is_right
from tests.quick import some

UNPACKED = re.compile(r"(\w+)\.shape(?:\[1:\])?$", re.MULTILINE)
ASKED = re.compile(
    r"\w+\.size|\w+\.shape\[\d\]|cuda\.block(?:Idx\.[xy]|Dim\.x)|(?<=i < )n\b"
)
ONLY_COSTS = {("symmetric", "cuda.blockIdx.x")}  # more blocks load, and store zeros


@pytest.mark.parametrize(
    "name, first", some([*product(KERNELS, range(0, 100, 10))], None, slow_every=10)
)
def test_an_answer_is_right_at_any_size_that_may_be_drawn(name, first):
    """In ten variants of a hundred, each at sizes of its own."""
    for seed in range(first, first + 10):
        task = exercise(name, seed)
        kernel = task.kernel(task.answer_text)
        for trial in larger_trials(task, seed):
            assert is_right(kernel, trial), (seed, trial.size)


@pytest.mark.parametrize("name", KERNELS)
def test_a_size_is_drawn_along_each_axis(name):
    """Twice to three times the largest that is listed, one short of whole blocks, or
    up to a limit.
    """
    task = exercise(name)
    largest = np.max([whole_size(it) for it in (*task.even, *task.ragged)], axis=0)
    drawn = [it.size for it in larger_trials(task, 1)]
    free = [
        axis
        for axis, size in enumerate(largest)
        if not task.limits or task.limits[axis] != size
    ]

    assert len(free) == len(drawn)
    for axis, size in zip(free, drawn, strict=True):
        limit = task.limits[axis] if task.limits else None
        block = shared_along(task, axis) * task.multiple
        least = 0 if limit else 2 * largest[axis] - block
        least = max(least, largest[axis])
        assert least < size[axis] <= (limit or 3 * largest[axis])
        assert all(it % task.multiple == 0 for it in size)


@pytest.mark.slow
@pytest.mark.parametrize("name", of_exercises(KERNELS, every=29))
def test_a_bound_that_the_listed_sizes_keep_is_refused(name):
    """Wherever the answer asks for a size, or where its block lies: what it is told is
    at most the largest that a listed size gives.
    """
    task = exercise(name)
    texts = bounded(task)
    told = {it: task.judge(task.kernel(text), 1) for it, text in texts.items()}
    passed = [it for it in told if told[it].reason is None]

    assert texts
    assert [it for who, it in ONLY_COSTS if who == name] == passed
    drawn = {f"size {it.words}:" for it in larger_trials(task, 1)}
    for it in told.keys() - {*passed}:
        assert any(size in told[it].sentence for size in drawn), told[it].text


def larger_trials(task, seed):
    """Those of its trials whose sizes are drawn."""
    return [it for it in trials_of(task, seed) if it.kind == LARGER]


def bounded(task) -> dict:
    """The answer with a bound for one of the things that it asks for, by what it is."""
    trials, found = trials_of(task, 1), {}
    answer = UNPACKED.sub(lambda it: in_parts(it, trials[0]), task.answer_text)
    for asked in sorted({*ASKED.findall(answer)} - ({"n"} - {*trials[0].arguments})):
        most = max(value(asked, it) for it in trials if it.kind != LARGER)
        if any(value(asked, it) > most for it in trials):
            bound = f"min({asked}, {most})"
            found[asked] = ASKED.sub(
                lambda it, asked=asked, bound=bound: bound if it[0] == asked else it[0],
                answer,
            )
    return found


def in_parts(match, trial) -> str:
    """A shape that is unpacked, as its parts."""
    name, axes = match[1], trial.held()[match[1]].ndim
    first = match[0].endswith("[1:]")
    return ", ".join(f"{name}.shape[{k}]" for k in range(first, axes))


def value(asked, trial) -> int:
    """What a thread is told in a trial, or the largest of what the blocks are."""
    blocks, threads, *_ = trial.launch
    x, y, *_ = *whole_size(blocks), 1
    cuda = {
        "cuda.blockIdx.x": x - 1,
        "cuda.blockIdx.y": y - 1,
        "cuda.blockDim.x": whole_size(threads)[0],
    }
    return cuda[asked] if asked in cuda else int(eval(asked, trial.held()))

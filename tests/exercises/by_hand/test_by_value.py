"""What an answer costs for some values alone: budgets hold there, too."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.exercises import sources
from helpers.exercises.budgets import keeps_its_budget, limits_of
from helpers.exercises.catalogue import exercise
from helpers.exercises.judging import JudgedKernel
from helpers.exercises.verdict import Refusal

SUMS_TWICE = (
    "    for step in",
    "    if total == 0 and row < a.shape[0]:\n"
    "        for col in range(lane, a.shape[1], 32):\n"
    "            total += abs(a[row, col])\n"
    "    for step in",
)
ENDS_TWICE = (
    "        out[col] =",
    "        if high == low:\n"
    "            for row in range(1, a.shape[0]):\n"
    "                low = min(low, a[row, col])\n"
    "        out[col] =",
)
ADDS_TWICE = (
    "        cuda.atomic.add(out, 0, tile[0])",
    "        cuda.atomic.add(out, 0, tile[0])\n"
    "        if tile[0] == 0:\n"
    "            cuda.atomic.add(out, 0, tile[0])",
)
LOADS_TWICE = (
    "        near[1, thread] =",
    "        if near[0, thread] > 100:\n"
    "            for k in range(CENTRES):\n"
    "                near[0, thread] += centres[0, k] * 0\n"
    "        near[1, thread] =",
)
DEAR = [
    ("row_sums", SUMS_TWICE, "loads"),
    ("column_ends", ENDS_TWICE, "loads"),
    ("dot", ADDS_TWICE, "atomics"),
]


@pytest.mark.parametrize("name, edits, budget", DEAR)
def test_what_costs_more_for_equal_numbers_is_over_budget(name, edits, budget):
    task = exercise(name)
    kernel = task.kernel(sources.edited(task.answer_text, *edits))

    keeps_its_budget(with_zeros(task, task.kernel(task.answer_text)))
    with pytest.raises(Refusal) as found:
        keeps_its_budget(with_zeros(task, kernel))
    assert budget == found.value.reason.budget


def test_what_costs_all_answers_more_is_free():
    """As where a message is asked for more often, in another order of warps."""
    task = exercise("message")
    case = with_zeros(task, task.kernel(task.answer_text))
    limits = [hold for _, hold in limits_of(task)]

    assert any(hold(case, case.outcomes[1]) for hold in limits)
    keeps_its_budget(case)


def test_what_costs_more_for_numbers_on_a_side_is_over_budget():
    task = exercise("k_means")
    kernel = task.kernel(sources.edited(task.answer_text, *LOADS_TWICE))

    for seed in (1, 2):
        assert "loads" == task.judge(kernel, seed).reason.budget


def with_zeros(task, kernel):
    """A kernel after the first launch, and after the same with zeros in its inputs."""
    case = JudgedKernel(task, kernel, 1)
    first = case.listed[0]
    given = first.arguments.items()
    zeros = {k: np.zeros_like(it) for k, it in given if isinstance(it, np.ndarray)}
    arguments = first.arguments | zeros
    like = replace(first, arguments=arguments, special=True, order=99)
    case.outcomes = [it.run(kernel) for it in (first, like)]
    return case

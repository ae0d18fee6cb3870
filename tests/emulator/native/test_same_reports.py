"""Machine code tells the judges what NumPy's functions tell them, to the last count."""

import math

import numpy as np
import pytest

from tests.emulator.native.comparison import same_reports
from tests.quick import beside
from tests.specimens.race_cases import CASES
from tests.specimens.random_kernels.launches import as_kernel, compiled
from tests.specimens.random_kernels.program import program
from tests.specimens.zoo_cases import ZOO
from thirty_two_lanes.emulator.native.accelerator import MOST_TOLD_OF


def blocks_of(case) -> int:
    return math.prod(np.atleast_1d(case.launch[0]).tolist())


SPECIMENS = {
    case.name: case for case in [*CASES, *ZOO] if blocks_of(case) <= MOST_TOLD_OF
}


@pytest.mark.parametrize("name", beside([*SPECIMENS][::40], SPECIMENS))
def test_a_specimen_gives_the_same_report(name):
    """Every labelled kernel and the zoo: races, errors and deadlocks among them."""
    case = SPECIMENS[name]
    same_reports(case.kernel, case.launch, case.fresh(lambda array: array.copy()))


@pytest.mark.parametrize(
    "seed", beside(range(402, 404), range(402, 602), slow_every=4)
)
def test_a_random_kernel_gives_the_same_report(seed):
    """Barriers, warp functions, atomics, views and all memories among its features."""
    made = program(seed)
    kernel = compiled(made.text, "kernel", as_kernel, seed)

    same_reports(kernel, (1 + seed % 3, made.threads), [made.n, *made.arrays()])

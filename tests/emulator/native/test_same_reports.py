"""Machine code tells the judges what NumPy's functions tell them, to the last count."""

import math

import numpy as np
import pytest

from tests.emulator.native.comparison import same_reports
from tests.specimens.race_cases import CASES
from tests.specimens.random_kernels.launches import as_kernel, compiled
from tests.specimens.random_kernels.program import program
from tests.specimens.zoo_cases import ZOO
from thirty_two_lanes.emulator.native.accelerator import MOST_TOLD_OF


def blocks_of(case) -> int:
    return math.prod(np.atleast_1d(case.launch[0]).tolist())


SPECIMENS = [case for case in [*CASES, *ZOO] if blocks_of(case) <= MOST_TOLD_OF]
QUICK = {case.name for case in SPECIMENS[::40]}


def slow_unless(quick, value, name=None):
    return pytest.param(value, marks=() if quick else pytest.mark.slow, id=name)


@pytest.mark.parametrize(
    "case", [slow_unless(c.name in QUICK, c, c.name) for c in SPECIMENS]
)
def test_a_specimen_gives_the_same_report(case):
    """Every labelled kernel and the zoo: races, errors and deadlocks among them."""
    same_reports(case.kernel, case.launch, case.fresh(lambda array: array.copy()))


@pytest.mark.parametrize("seed", [slow_unless(s < 404, s) for s in range(402, 602)])
def test_a_random_kernel_gives_the_same_report(seed):
    """Barriers, warp functions, atomics, views and all memories among its features."""
    made = program(seed)
    kernel = compiled(made.text, "kernel", as_kernel, seed)

    same_reports(kernel, (1 + seed % 3, made.threads), [made.n, *made.arrays()])

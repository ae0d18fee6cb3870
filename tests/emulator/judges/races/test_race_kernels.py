"""Every labelled kernel is judged as its label says: none missed, none accused."""

import pytest

from helpers import emulate
from tests.emulator.judges.races.race_oracle import reported, traced
from tests.quick import some
from tests.specimens.labelled import CLEAN, MINOR, RACE
from tests.specimens.race_cases import CASES


def verdict(run):
    """A run's races as a label, and the spaces that they are in."""
    label = RACE if run.races else MINOR if run.races.minor else CLEAN
    return label, {race.space for race in run.races or run.races.minor}


BY_NAME = {case.name: case for case in CASES}


@pytest.mark.parametrize("name", some(BY_NAME, every=3))
def test_a_kernel_races_as_its_label_says(name):
    """A clean one has no race at all, not even a minor one."""
    case = BY_NAME[name]
    run = emulate(case.kernel)[case.launch](*case.fresh())

    label, spaces = verdict(run)
    assert case.verdict == label
    assert label == CLEAN or case.space in spaces


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", some(BY_NAME, every=6, slow_every=3))
def test_a_verdict_does_not_depend_on_the_order_of_warps(name, seed):
    """Other seeds run warps in another order, and find the same."""
    case = BY_NAME[name]
    run = emulate(case.kernel, seed=seed)[case.launch](*case.fresh())

    assert case.verdict == verdict(run)[0]


def test_there_are_many_of_each_label():
    """At least sixty kernels, a good part of them correct; names are their own."""
    labels = [case.verdict for case in CASES]

    assert len(CASES) == len({case.name for case in CASES}) >= 120
    assert min(map(labels.count, (CLEAN, RACE))) >= 50
    assert labels.count(MINOR) >= 10


@pytest.mark.parametrize("name", some(BY_NAME, every=6, slow_every=3))
def test_hazards_are_those_of_vector_clocks(name):
    """The slow second opinion, a clock for every thread, counts the same."""
    case = BY_NAME[name]
    if len(case.launch) > 2:
        pytest.skip("the second opinion knows no dynamic shared memory")

    expected = traced(case.kernel, *case.launch, *case.fresh()).hazards()

    assert expected == reported(emulate(case.kernel)[case.launch](*case.fresh()))

"""`watch` on all that `emulate` runs: labelled kernels, the zoo and random ones."""

import warnings

import numpy as np
import pytest

from helpers import emulate, watch
from tests.quick import beside
from tests.specimens.race_cases import CASES
from tests.specimens.random_kernels.launches import as_kernel, compiled
from tests.specimens.random_kernels.program import program
from tests.specimens.zoo_cases import ZOO
from thirty_two_lanes.film.replay import frames

SPECIMENS = {case.name: case for case in [*ZOO, *CASES]}


def ended(verb, config, kernel, arguments):
    """What a verb gives, and the error with which the launch ends."""
    made = error = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = verb(kernel)[config](*arguments)
        except Exception as raised:
            error = raised
    return made, getattr(made, "error", error)


def assert_watched(kernel, config, *given):
    """A film that can be played, of what `emulate` says of the launch."""
    run, error = ended(emulate, config, kernel, given[0])
    film, also = ended(watch, config, kernel, given[1])

    assert (type(error), str(error)) == (type(also), str(also))
    if film is not None:
        record = film.record()
        last = len(record["steps"]) - 1
        assert 1 == len([*frames(record, [last])])
        assert run is None or run == film.run


@pytest.mark.parametrize("name", beside([*SPECIMENS][::30], SPECIMENS))
def test_a_film_of_a_specimen_is_of_the_launch_that_emulate_reports(name):
    """What is refused is refused in the same words."""
    case = SPECIMENS[name]

    assert_watched(case.kernel, case.launch, *(case.fresh() for _ in range(2)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 200, 10))
def test_a_random_kernel_can_be_watched(seed):
    """With the arrays that `emulate` leaves."""
    made = program(seed)
    kernel = compiled(made.text, "kernel", as_kernel, seed)
    given = [[made.n, *made.arrays()] for _ in range(2)]

    assert_watched(kernel, (made.blocks, made.threads), *given)

    for one, other in zip(given[0][1:], given[1][1:], strict=True):
        np.testing.assert_array_equal(one, other)

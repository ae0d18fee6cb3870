"""Every operator on special numbers of all types, against what a GPU answered."""

from functools import cache

import numpy as np
import pytest

from helpers import emulate
from tests.on_gpu.number_cases import answers, cases
from tests.on_gpu.special_numbers import COMMAND, recorded

CASES = {case.name: case for case in cases()}
QUICK = ("f2", "f8 f8 f8", "i8 ** i8")
answered = cache(recorded)


def differences(name):
    """The rows of a case in which the emulator gives another bit."""
    found, expected = answers(CASES[name], emulate), answered()[0][name]
    return {
        label: np.flatnonzero(expected[label] != column).tolist()
        for label, column in found.items()
        if not np.array_equal(expected[label], column)
    }


@pytest.mark.parametrize("name", QUICK)
def test_numbers_are_computed_as_on_a_gpu(name):
    """Each bit, but that every NaN is the same."""
    assert {} == differences(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in QUICK])
def test_numbers_of_all_types_are_computed_as_on_a_gpu(name):
    """Each bit, but that every NaN is the same."""
    assert {} == differences(name)


def test_the_answers_are_of_these_expressions():
    """By this command, for each case as many as its inputs."""
    found, about = answered()

    assert COMMAND == about["command"] and "H200" in about["gpu"]
    asked = {
        name: {label: len(case.inputs[0]) for label, *_ in case.rows}
        for name, case in CASES.items()
    }
    assert asked == {
        name: {label: len(column) for label, column in columns.items()}
        for name, columns in found.items()
    }

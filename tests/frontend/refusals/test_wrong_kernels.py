"""A beginner's mistake is told at its line, with the remedy, and nothing of our own."""

import re

import numpy as np
import pytest
from numba import cuda

from helpers import emulate
from tests.frontend.refusals.wrong_kernels import WRONG, written
from tests.plain_words import internals_of
from tests.specimens.kernels import BUILT_IN, line_of, message
from tests.specimens.zoo_cases import ZOO
from thirty_two_lanes.core.errors import EmulatorFault, ExplainedError

AT = re.compile(r"\(wrong\.py, line (\d+)\)\n    (.*)")


@pytest.mark.parametrize("body, sentence", WRONG, ids=[body for body, _ in WRONG])
def test_a_mistake_is_told_with_its_line_and_the_remedy(body, sentence):
    """The line that the error quotes is the line that it names."""
    with pytest.raises(ExplainedError) as told:
        emulate(written(body))[1, 4](np.zeros(32), 3)

    lines = ["def kernel(a, n):", *body.split("|")]
    number, quoted = AT.search(str(told.value)).groups()
    assert not isinstance(told.value, EmulatorFault)
    assert lines[int(number) - 1].strip() == quoted and int(number) > 1
    assert [] == internals_of(told.value)
    wanted = sentence if isinstance(sentence, str) else sentence[BUILT_IN]
    assert wanted in str(told.value)


@cuda.jit(device=True)
def share_of(n):
    """A device function that divides what it counted."""
    share = 0  # begins
    for _ in range(n):
        share += 1
    share /= n
    return share


@cuda.jit
def shares(out):
    out[0] = share_of(3)


def test_a_variable_of_two_types_is_told_in_a_device_function_too():
    """At the line that divides it, with the line that gives it the other type."""
    said = message(ExplainedError, shares, 1, 1, np.zeros(1))

    begins = line_of(share_of, "# begins")
    assert said.startswith(f"`share` is a whole number from line {begins} on")
    assert "begin with `share = 0.0`" in said
    assert f"line {line_of(share_of, 'share /= n')})" in said


@pytest.mark.parametrize(
    "specimen", [s for s in ZOO if s.error], ids=lambda specimen: specimen.name
)
def test_what_stops_a_launch_is_told_in_plain_words(specimen):
    """Barriers and indices of the zoo, too."""
    try:
        emulate(specimen.kernel)[specimen.launch](*specimen.fresh())
    except ExplainedError as error:
        assert [] == internals_of(error)

"""The answers to the exercises are right on a GPU, too: the emulator judges them, and
could be wrong about what it emulates.
"""

import pytest

from helpers import check, device
from helpers.exercises.catalogue import exercise
from helpers.exercises.trials import trials_of
from tests.exercises.kinds import KERNELS

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.has_gpu, reason="there is no GPU here"),
]


@pytest.mark.parametrize("name", KERNELS)
def test_an_answer_gives_the_specified_values_on_a_gpu(name):
    """At each size of its trials."""
    task = exercise(name)
    kernel = task.kernel(task.answer_text)
    for trial in trials_of(task, 1):
        held = trial.held()

        kernel[trial.launch](*trial.passed(held))

        for output, expected in trial.expected.items():
            check(held[output], expected, rtol=task.rtol)

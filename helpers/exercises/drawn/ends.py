"""Numbers at the ends of their type: floats near the largest, and near 0."""

from dataclasses import replace

import numpy as np

from helpers.exercises.arguments import Ends
from helpers.exercises.drawn.sides import is_finite
from helpers.exercises.variants import generator

ENDS = "at the ends of their type"
SHARES = 1, 7 / 8, 7 / 16, 7 / 24  # of the exponents: for sums, their squares, and cubes


def at_the_ends(trial, seed):
    """A trial with the floats that `numbers` draws as far out as the specification
    comes to a number for them; as it is if there are none.
    """
    for share in SHARES:
        rng = Ends(generator(trial.task.name, seed, trial.order), share)
        with np.errstate(over="ignore"):
            arguments = trial.task.inputs(rng, *trial.size)
        found = replace(trial, arguments=arguments, side=ENDS)
        if not rng.asked:
            break
        if is_finite(found):
            return found
    return trial

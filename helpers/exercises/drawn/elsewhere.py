"""Where the floats are that `numbers` draws: at the ends of their type, or so close
together that their differences are small.
"""

from dataclasses import replace

import numpy as np

from helpers.exercises.arguments import Elsewhere, InOut, Out
from helpers.exercises.drawn.sides import is_finite
from helpers.exercises.drawn.special import with_special_values
from helpers.exercises.variants import generator

ENDS, ALIKE = "at the ends of their type", "that differ little"
# of the exponents: for single numbers, their sums, and squares and cubes of these
SHARES = 1, 7 / 8, 7 / 16, 7 / 24
LARGE, NEAR = 0.4, 0.75  # of floats at both ends, the large ones; of their exponent
APART = 2**-10  # of their size, floats that differ little
SCALES = 3, 8  # their exponents, up or down: no square of them is as large as they are


class AtTheEnds(Elsewhere):
    """Some are as large as a share of the exponents lets them be, others near 0."""

    def __init__(self, rng, share):
        super().__init__(rng)
        self.share = share

    def floats(self, kind, values):
        self.asked, limits = True, np.finfo(kind)
        many, most = LARGE * values.size + self.random(), self.share * limits.maxexp
        large = self.permutation(values.size).reshape(values.shape) < int(many)
        exponents = np.where(large, int(most), -int(NEAR * most))
        sizes = np.ldexp(np.abs(values), exponents)
        sizes = np.clip(sizes, float(limits.tiny), float(limits.max))
        return np.copysign(sizes, values).astype(kind)


class Alike(Elsewhere):
    """All of a launch are near one number."""

    def __init__(self, rng):
        super().__init__(rng)
        exponent = self.choice((-1, 1)) * self.integers(*SCALES, endpoint=True)
        self.number = np.ldexp(self.uniform(1, 2), exponent)

    def floats(self, kind, values):
        self.asked, sign = True, np.sign(np.max(values, initial=-1))
        return (sign * self.number * (1 + APART * values)).astype(kind)


def at_the_ends(trial, seed):
    """A trial with floats as far out as the specification comes to a number for them,
    and for floats of one sign, which may be added first, among special values; with
    these alone if `numbers` draws none.
    """
    for share in SHARES:
        found = drawn_by(AtTheEnds(numbers_of(trial, seed), share), trial, ENDS)
        if found is trial:
            break
        found = with_special_values(found, seed)  # equal ones may be too large
        if is_finite(found) and is_finite(of_one_sign(found)):
            return found
    return with_special_values(trial, seed)


def of_one_sign(trial):
    """A trial with the sizes of its floats."""
    given = trial.arguments.items()
    return replace(trial, arguments={name: size_of(it) for name, it in given})


def size_of(argument):
    if isinstance(argument, InOut):
        return InOut(size_of(argument.array))
    if isinstance(argument, Out) or np.asarray(argument).dtype.kind != "f":
        return argument
    return np.abs(argument)


def differing_little(trial, seed):
    """A trial with floats that differ little, as do those of two arrays; likewise."""
    return drawn_by(Alike(numbers_of(trial, seed)), trial, ALIKE)


def numbers_of(trial, seed):
    """The random numbers that a trial is made of."""
    return generator(trial.task.name, seed, trial.order)


def drawn_by(rng, trial, side):
    """A trial with other floats, if an exercise asks for any."""
    with np.errstate(over="ignore"):
        arguments = trial.task.inputs(rng, *trial.size)
    return replace(trial, arguments=arguments, side=side) if rng.asked else trial

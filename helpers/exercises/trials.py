"""Trials: an exercise's launches on new numbers, and what an answer did with them.

The first size comes three times: with some numbers, with small whole ones, and with
equal elements in each input. Sizes that are drawn, between those that are listed and
beyond them, come last. Outputs are unwritten when a kernel starts.

Where only the order of inputs matters, numbers come as they are drawn, far below zero,
far above zero and close together in turn: no constant is as good as infinity, and no
difference is too small to count.
"""

import warnings
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import signature

import numpy as np
from numba import cuda

from helpers.exercises.arguments import InOut, Out, held_by, plain, whole_size
from helpers.exercises.drawn.elsewhere import at_the_ends, differing_little
from helpers.exercises.drawn.sides import SIDES, stretched
from helpers.exercises.drawn.special import (
    with_a_block_of_zeros,
    with_equal_elements,
    with_last_extremes,
    with_special_values,
)
from helpers.exercises.sizes import (
    blocks_differ,
    busiest_block,
    empty_sizes,
    far_size,
    in_one_block,
    in_other_blocks,
    larger_sizes,
    smaller_sizes,
    threads_at,
)
from helpers.exercises.variants import generator
from thirty_two_lanes.core.errors import BarrierError, ExplainedError, NoProgressError
from thirty_two_lanes.emulator import emulate
from thirty_two_lanes.frontend.kernels import argument_names

TURNS = 60_000  # iterations of a warp's loops, for inputs of some thousand elements
# kinds of sizes
EVEN, RAGGED, SMALLER, LARGER, FAR = "even", "ragged", "smaller", "larger", "far"
EQUAL, WHOLE, SMALL = "that are all equal", "that are whole", 8  # and no larger
FEW = 16  # of which one whole number differs from others, beyond a kernel's numbers
PARTS = 5003  # of the largest number, of which some differ where numbers are close


@dataclass(frozen=True)
class Trial:
    """One launch of an exercise: its size, its arguments, what is expected."""

    task: object
    size: tuple
    arguments: dict  # by name: arrays, numbers, Out and InOut
    kind: str  # EVEN, RAGGED, SMALLER, LARGER or FAR
    order: int  # the seed of the warps' order
    side: str = ""  # one of SIDES, WHOLE, EQUAL, ENDS or ALIKE
    like: object = None  # a trial that is like it, where numbers are whole
    special: bool = False  # has it what is hardly ever drawn, values or a size?
    turned: bool = False  # have its blocks another shape?
    alone: bool = False  # is there one block, if their number differs?

    @cached_property
    def launch(self):
        """What stands in the brackets."""
        launch = self.task.launch(*self.size)
        if self.alone and blocks_differ(self.task):
            return in_one_block(*launch)
        return in_other_blocks(*launch) if self.turned else launch

    @cached_property
    def expected(self) -> dict:
        """The right outputs, by name; whole numbers wrap around as in these."""
        return self.expected_of(plain)

    def expected_of(self, given_as) -> dict:
        """The outputs that are right for each argument as a function gives it."""
        names = signature(self.task.spec).parameters
        found = self.task.spec(**{it: given_as(self.arguments[it]) for it in names})
        given = self.arguments.items()
        outputs = [name for name, it in given if isinstance(it, (Out, InOut))]
        if not isinstance(found, dict):
            found = found if isinstance(found, tuple) else (found,)
            found = dict(zip(outputs, found, strict=True))
        held = self.held()
        return {name: wrapped(it, held[name].dtype) for name, it in found.items()}

    def rtol(self, name):
        """What `check` allows for an output: nothing where its numbers are moved, and
        not computed, or where they are exact; else what the exercise says.
        """
        if self.task.rtol is None and name in self.moved | self.exact:
            return 0
        return self.task.rtol

    @cached_property
    def exact(self) -> set:
        """The outputs that are right to the last bit, in whatever order numbers are
        added up: whole numbers, made of whole numbers.
        """
        return whole_outputs(self) & whole_outputs(self.like) if self.like else set()

    @cached_property
    def moved(self) -> set:
        """The outputs of floats, all of which are among the arguments, or 0."""
        given = [it for it in self.arguments.values() if not isinstance(it, Out)]
        given = [it.array if isinstance(it, InOut) else it for it in given]
        there = np.concatenate([np.zeros(1), *map(np.ravel, given)])
        expected = self.expected.items()
        floats = {
            name: it for name, it in expected if np.asarray(it).dtype.kind in "fc"
        }
        return {name for name, it in floats.items() if np.isin(it, there).all()}

    @property
    def inputs(self):
        """The names of the arrays that the kernel must leave as they are."""
        given = self.arguments.items()
        return [name for name, it in given if isinstance(it, np.ndarray)]

    @property
    def left_open(self):
        """The names of the arrays that the kernel may change as it likes."""
        given = self.arguments.items()
        changed = (name for name, it in given if isinstance(it, (Out, InOut)))
        return [name for name in changed if name not in self.expected]

    @property
    def words(self) -> str:
        """Its size in words, and where its numbers are."""
        size = " × ".join(f"{it:,}" for it in self.size)
        return f"{size}, with numbers {self.side}" if self.side else size

    def held(self) -> dict:
        """The arguments of one launch, by name: copies, and poisoned outputs."""
        return {name: held_by(it) for name, it in self.arguments.items()}

    def passed(self, held) -> list:
        """What a launch gets: outputs are not copied there."""
        outs = [isinstance(it, Out) for it in self.arguments.values()]
        both = zip(held.values(), outs, strict=True)
        return [cuda.Out(value) if out else value for value, out in both]

    def run(self, kernel) -> "Outcome":
        """Launch a kernel in the emulator."""
        names = dict(zip(self.arguments, argument_names(kernel), strict=True))
        outcome = Outcome(self, kernel, names, self.held())
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                order = {"seed": self.order, "turns": TURNS}
                merged = kernel.targetoptions.get("opt", True)  # as the compiler does
                launch = emulate(kernel, **order, strict=True, merged=merged)
                outcome.run = launch[self.launch](*self.passed(outcome.held))
            except (BarrierError, NoProgressError, IndexError) as error:
                outcome.error = error
            except ExplainedError:  # of the kernel or the launch, before any thread ran
                raise
            except Exception as error:  # one that a thread of the kernel raises
                outcome.error = error
        return outcome


@dataclass
class Outcome:
    """What a kernel did in a trial: the Run, or the error that ended it."""

    trial: Trial
    kernel: object = field(repr=False)
    names: dict  # what the kernel calls each argument
    held: dict = field(repr=False)  # the arguments after the launch
    run: object = None
    error: Exception | None = None
    allowed: dict = field(default_factory=dict)  # by own rounding, not by `check`

    @property
    def outputs(self) -> dict:
        """What it wrote, by name."""
        return {name: self.held[name] for name in self.trial.expected}


def trials_of(task, seed) -> list[Trial]:
    """The trials of an exercise that do not depend on the kernel."""
    return [*listed_trials(task, seed), *drawn_trials(task, seed)]


def listed_trials(task, seed) -> list[Trial]:
    """Those of the sizes that are listed."""
    sizes = [(size, EVEN) for size in task.even]
    sizes += [(size, RAGGED) for size in task.ragged]
    drawn = [
        trial(task, whole_size(size), kind, seed, order)
        for order, (size, kind) in enumerate([sizes[0], *sizes])
    ]
    drawn[1] = with_whole_numbers(drawn[1], seed, like=drawn[0])
    equal = replace(with_equal_elements(drawn[0]), side=EQUAL, order=7)
    first, second, *others = in_turn(drawn)
    return [first, replace(second, turned=task.any_block), equal, *others]


def in_turn(trials) -> list[Trial]:
    """Each with its numbers on another side; those of one element stay as they are."""
    several = [it for it in trials if np.prod(it.size) > 1]
    sides = {id(it): SIDES[n % len(SIDES)] for n, it in enumerate(several)}
    return [stretched(it, sides.get(id(it), "")) for it in trials]


def drawn_trials(task, seed) -> list[Trial]:
    """Those of sizes between those that are listed, and beyond all of them."""
    listed = 1 + len(task.even) + len(task.ragged)
    sizes = [(size, SMALLER) for size in smaller_sizes(task, seed)]
    sizes += [(size, LARGER) for size in larger_sizes(task, seed)]
    small, any_extent, alike, *larger = (
        trial(task, size, kind, seed, order)
        for order, (size, kind) in enumerate(sizes, start=listed)
    )
    any_extent = differing_little(any_extent, seed)
    special = [
        with_special_values(it, seed, turn)
        for turn, it in enumerate([any_extent, *larger])
    ]
    small, any_extent, *larger = (
        stretched(it, SIDES[it.order % len(SIDES)]) for it in (small, *special)
    )
    alike = replace(at_the_ends(alike, seed), alone=True)
    trials = [small, any_extent, alike, *larger]
    empty = (
        empty_trial(task, size, seed, order)
        for order, size in enumerate(empty_sizes(task), start=listed + len(trials))
    )
    return [*trials, *filter(None, empty)]


def empty_trial(task, size, seed, order):
    """One of no extent along an axis; None where no block or no element of an output is
    left, or where the exercise does not provide for it and ends in an error.
    """
    with suppress(Exception), warnings.catch_warnings(action="ignore"):
        found = replace(trial(task, size, SMALLER, seed, order), special=True)
        outputs = found.expected.values()
        return found if threads_at(task, size) and any(map(np.size, outputs)) else None


def far_trials(task, seed, numbers, outcomes) -> list[Trial]:
    """Those of sizes that are beyond what numbers of a kernel may count, for each of
    the larger ones, by what the kernel did in the trials so far. There the exercise's
    own answer may not be right, or may not end.
    """
    larger = [it for it in outcomes if it.trial.kind == LARGER]
    later = len(larger)
    listed = max(busiest_block(it) for it in outcomes if it.trial.kind != LARGER)
    sizes = (
        (far_size(task, seed, numbers, it, listed), it.trial.order + later)
        for it in larger
    )
    trials = [trial(task, size, FAR, seed, order) for size, order in sizes if size]
    but_for = 0 if numbers.packed else FEW
    trials = [with_equal_elements(it, "iu", but_for) for it in trials]
    trials = [replace(with_last_extremes(it), special=True) for it in trials]
    return [stretched(it, SIDES[it.order % len(SIDES)]) for it in trials]


def trial(task, size, kind, seed, order) -> Trial:
    """A trial of a size, with numbers of its own."""
    rng = generator(task.name, seed, order)
    return Trial(task, size, task.inputs(rng, *size), kind, order)


def with_whole_numbers(trial, seed, like) -> Trial:
    """A trial with small whole numbers for floats, so that sums and products of them
    are exact, and zeros for one block; as it is where the order of numbers matters
    alone, or where such numbers are too large for what is done with them.
    """
    if trial.task.ordered or not any(map(is_of_floats, trial.arguments.values())):
        return trial
    like = replace(like, arguments=whole_arguments(like))
    found = replace(trial, arguments=whole_arguments(trial), side=WHOLE, like=like)
    found = with_a_block_of_zeros(found, generator(trial.task.name, seed, "zeros"))
    with np.errstate(all="ignore"):
        values = [*found.expected.values(), *like.expected.values()]
    return found if all(np.isfinite(it).all() for it in values) else trial


def is_of_floats(argument) -> bool:
    """Does an argument bring floats along?"""
    if isinstance(argument, Out):
        return False
    values = np.asarray(plain(argument))
    return values.dtype.kind == "f" and values.size > 0


def whole_arguments(trial) -> dict:
    """Its arguments with whole numbers for floats, except those that are fixed."""
    return {
        name: whole(it) if is_of_floats(it) and name not in trial.task.fixed else it
        for name, it in trial.arguments.items()
    }


def whole(argument):
    """An argument with whole numbers for floats, of the same signs. Those of an array
    vary, however close together its numbers are.
    """
    if isinstance(argument, InOut):
        return InOut(whole(argument.array))
    size = np.abs(argument)
    if not np.ndim(argument):
        return type(argument)(np.sign(argument) * min(np.ceil(size), SMALL))
    parts = np.floor(size * (PARTS / max(size.max(), 1)))
    few = np.sign(argument) * (1 + parts % SMALL)
    return few.astype(argument.dtype)


def whole_outputs(trial) -> set:
    """The outputs of floats that are whole, and no larger than whole floats may be."""
    expected = {name: np.asarray(it) for name, it in trial.expected.items()}
    floats = {k: it for k, it in expected.items() if trial.held()[k].dtype.kind == "f"}
    return {
        name
        for name, it in floats.items()
        if (it == np.floor(it)).all()
        and np.abs(it).max(initial=0) * np.finfo(trial.held()[name].dtype).eps < 1
    }


def wrapped(values, dtype):
    """Whole numbers in a type of whole numbers; all else as it is."""
    values = np.asarray(values)
    both_whole = values.dtype.kind in "iu" and dtype.kind in "iu"
    return values.astype(dtype) if both_whole else values

"""Where what a kernel asks turns: the indices and sizes at which the outcome of a
comparison, a minimum or a cast changes, however they are spelt.

A kernel is walked with no launch. A variable is a number that is known; or, of what
tells a thread its place or an array its size, its values wherever that may lie; or
nothing. So a bound may be what a loop makes of constants, and what is compared with it
a square, a shift or a root: both are computed as the emulator does.
"""

from collections import Counter, deque
from dataclasses import replace
from functools import cache
from math import isqrt
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from helpers.exercises.bounds.inexact import (
    ANYWHERE,
    are_whole,
    fits,
    float_counters,
    turns_counted,
)
from thirty_two_lanes.core import ir
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.liveness import live_at_start
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.language.operators import NAMESPACE, convert, source
from thirty_two_lanes.language.warp_intrinsics import INTRINSICS, SHUFFLES

VISITS, AGAIN = 1000, 3  # of basic blocks; of a line, before what it makes is a place
FEW = 4  # changes of an outcome along a place: more come back again and again
FARTHEST = 2**24  # places; and between these, each so many times the one before:
DENSE, STEP = 128, 1.02
HASHED = 61  # one place in so many tells values apart quickly
COMPARES = {"lt", "le", "gt", "ge", "eq", "ne"}
KEEPS = {"min", "max", "fmin", "fmax", "mod", "and"}  # an operand, up to a bound
STOPS = "in range"
FRACTIONS = "rounds numbers that are not whole"
TURN = ("turn",)
PARTS = "counts in a part of a word"


class Along(NamedTuple):
    """The values of a variable along a place: an index, a size, a number of blocks. A
    float that is made of it is rounded from a number on.
    """

    place: tuple
    values: np.ndarray
    rounded: int | None = None

    def __hash__(self):
        return hash((self.place, self.values[::HASHED].tobytes(), self.rounded))

    def __eq__(self, other):
        mine = isinstance(other, Along) and self[::2] == other[::2]
        return mine and np.array_equal(self.values, other.values)

    @property
    def goes_up_and_down(self) -> bool:
        ups = self.values[1:] > self.values[:-1]
        return bool(ups.any() and (self.values[1:] < self.values[:-1]).any())


class Bound(NamedTuple):
    """A place's value at which the outcome of a line turns: it is after `above`, and
    not after `number`, which the line may have as it is, `written`. It turns again and
    again if what it asks of goes up and down, as a remainder does.
    """

    place: tuple
    above: int
    number: int
    written: int | None
    site: Site | None
    again: bool = False
    does: str = ""  # instead

    @property
    def exact(self) -> int | None:
        """The number of the line, if it is that at which it turns."""
        number = abs(self.written or 0)
        return number if self.above <= number <= self.number else None


def bounds_along(kernel, sizes, numbers) -> set[Bound]:
    """All of a kernel in a launch of some sizes; they are exact at these numbers."""
    walk = Walk(kernel, sizes, samples(numbers))
    walk.go()
    return walk.found


def samples(numbers) -> np.ndarray:
    """The values of a place that are looked at."""
    steps = int(np.log(FARTHEST / DENSE) / np.log(STEP))
    far = (DENSE * STEP ** np.arange(steps + 1)).astype(np.int64)
    own = [n + more for n in numbers if n < FARTHEST for more in (-1, 0, 1)]
    powers = [2**bits + more for bits in range(7, 25) for more in (-1, 0, 1)]
    return np.unique([*range(DENSE), *far, *powers, *(n for n in own if n >= 0)])


class OwnCells(NamedTuple):
    """An array of a thread's or a block's own, all of which is taken for one cell."""

    name: str


class Walk:
    """A walk through a kernel's basic blocks, on both sides of what is not known."""

    def __init__(self, kernel, sizes, samples):
        self.kernel, self.samples, self.found = kernel, samples, set()
        self.sizes = sizes | {"cuda.warpsize": WARP_SIZE}
        self.blocks = dict(zip(kernel.numbers, kernel.blocks, strict=True))
        self.met, self.made = set(), Counter()
        self.counters = float_counters(kernel, self.sizes)
        self.counts = {}  # places that what counts in a loop goes up to

    def go(self):
        """Begin with the arguments, which are what no instruction makes."""
        code = [it for block in self.kernel.blocks for it in block]
        made = {target for it in code for target in targets_of(it)}
        self.stored = {it.array for it in code if isinstance(it, ir.Store)}
        known = {name: self.argument(name) for name in self.kernel.types.keys() - made}
        cells = {OwnCells(it.target) for it in code if isinstance(it, ir.Allocate)}
        live = live_at_start(self.blocks)
        self.asked = {block: names | cells for block, names in live.items()}
        waiting = deque([(next(iter(self.blocks)), known)])
        for _ in range(VISITS):
            if not waiting:
                break
            block, known = waiting.popleft()
            names = known.keys() & self.asked[block]
            known = {k: known[k] for k in names if known[k] is not None}
            key = block, frozenset(known.items())
            if key not in self.met:
                self.met.add(key)
                with np.errstate(all="ignore"):
                    waiting += self.through(block, known)

    def through(self, block, known):
        """The blocks that may follow one, and what is known there."""
        for it in self.blocks[block]:
            if isinstance(it, ir.Branch):
                condition = value_of(it.condition, known)
                if isinstance(condition, np.generic):
                    return [(it.then if condition else it.otherwise, known)]
            if it.nature.leads is not None:
                return [(getattr(it, name), known) for name in it.nature.leads]
            if isinstance(it, ir.Copy):
                values = [value_of(source, known) for source in it.sources]
                known.update(zip(it.targets, values, strict=True))
            elif isinstance(it, ir.Store):
                cells = value_of(it.array, known)
                value = value_of(it.value, known)
                if isinstance(cells, OwnCells) and isinstance(value, Along):
                    known[cells] = value
            elif getattr(it, "target", None):
                known[it.target] = self.made_by(it, known)
        return []

    def made_by(self, it, known):
        """What an instruction makes: a number, values along a place, or None."""
        if isinstance(it, ir.Operation):
            values = [value_of(each, known) for each in it.operands]
            return self.operation(it, values)
        if isinstance(it, ir.Cast):
            return self.cast(it, value_of(it.operand, known))
        if isinstance(it, ir.Call) and it.function in self.sizes:
            kind = self.kernel.types[it.target]
            return None if type(kind) is tuple else kind.type(self.sizes[it.function])
        if isinstance(it, ir.Call) and it.function in SHUFFLES:
            return value_of(it.operands[1], known)
        if isinstance(it, ir.Call) and INTRINSICS[it.function].fixed:
            return self.along((it.function,), it.target)
        if isinstance(it, ir.Attribute) and it.name.startswith(("size", "shape")):
            axis = it.name.removeprefix("shape")  # as of `shape0`
            place = ("shape", it.array, int(axis)) if axis.isdigit() else None
            return self.along(place or (it.name, it.array), it.target)
        if isinstance(it, ir.Allocate):
            return OwnCells(it.target)
        if isinstance(it, (ir.View, ir.Reshape)):
            return value_of(it.array, known)
        if isinstance(it, ir.Load):
            return self.loaded(it, known)
        if isinstance(it, ir.Atomic):
            return self.along(("atomic",), it.target)
        if isinstance(it, ir.Pack):
            return tuple(value_of(each, known) for each in it.items)
        if isinstance(it, ir.Item):
            whole = value_of(it.operand, known)
            return whole[it.index] if type(whole) is tuple else None
        return None

    def loaded(self, it, known):
        """What went into an array of the kernel's own; or an input's whole numbers."""
        cells = value_of(it.array, known)
        if isinstance(cells, OwnCells):
            return known.get(cells)
        if it.array in self.stored:
            return None
        return self.along(("loaded", it.array), it.target)

    def argument(self, name):
        return self.along(("argument", name), name)

    def along(self, place, name):
        """A place as the values of a variable, or of each item that it has."""
        kind = self.kernel.types.get(name)
        if isinstance(kind, tuple):
            places = [(*place, axis) for axis in range(len(kind))]
            return tuple(self.values(*it) for it in zip(places, kind, strict=True))
        return self.values(place, kind)

    def values(self, place, kind):
        whole = isinstance(kind, np.dtype) and kind.kind in "iu"
        return Along(place, self.samples.astype(kind)) if whole else None

    def operation(self, it, values):
        """What an operation makes of values, of which some may be None."""
        if any(each is None or type(each) is tuple for each in values):
            return None
        if it.operator == STOPS and isinstance(values[2], Along):
            it, values = replace(it, operator="lt"), values[:2]
        places = {each.place for each in values if isinstance(each, Along)}
        again = self.made[it.target] > AGAIN
        if it.target in self.counters:
            return self.counted(it.target, values)
        rounded = self.rounded(it, values, places)
        if len(places) > 1 or places and again:
            return rounded or self.along(("computed", it.target), it.target)
        if it.operator == STOPS and isinstance(it.operands[1], str):
            self.counts[it.operands[0]] = getattr(values[1], "place", None)
        if again and self.counts.get(it.target):
            return self.values(self.counts[it.target], self.kernel.types[it.target])
        result = computed(it.operator, [plain(each) for each in values])
        self.made[it.target] += 1
        if not places or result is None:
            return result
        self.note(it, values, result, *places)
        self.note_beyond(it, values, result, *places)
        return Along(*places, result, rounded and rounded.rounded)

    def note_beyond(self, it, values, result, place):
        """Note from where on a whole number that is made of a place is beyond its type;
        one that is made of what an input holds may be so in the specification, too.
        """
        beyond = np.flatnonzero(~fits(it.operator, [plain(v) for v in values], result))
        if beyond.size and place[0] != "loaded":
            number = int(self.samples[beyond[0]])
            above = int(self.samples[max(beyond[0] - 1, 0)])
            told = f"goes beyond its type at about {above:,}"
            self.found.add(Bound(place, above, number, None, it.site, does=told))

    def counted(self, target, values):
        """A float that counts the turns of a loop: it is exact up to one of them."""
        before, step, dtype = self.counters[target]
        if getattr(values[before], "place", None) == TURN:
            return values[before]
        turn = turns_counted(step, values[before], dtype)
        counts = np.minimum(self.samples, turn) * step
        return Along(TURN, counts.astype(dtype), turn)

    def rounded(self, it, values, places):
        """The least exact float that takes part in one: its square is so up to a root,
        and a part of one place times another is nowhere. None of what is no float,
        where that it was rounded is noted.
        """
        floats = [each for each in values if isinstance(each, Along) and each.rounded]
        if not floats:
            return None
        least = min(floats, key=attrgetter("rounded"))
        if getattr(self.kernel.types[it.target], "kind", "") != "f":
            return self.note_rounded(least, it.site)
        if it.operator == "mul" and len(places) > 1:
            if not all(are_whole(each.values) for each in floats):
                return least._replace(rounded=ANYWHERE)
        if it.operator == "pow" or it.operator == "mul" and len(floats) > 1:
            return least._replace(rounded=isqrt(least.rounded))
        return least

    def note_rounded(self, value, site):
        """Note from where on a line takes what is rounded for what it was."""
        number, told = value.rounded, f"rounds from {value.rounded:,} on"
        found = Bound(value.place, number - 1, number, None, site, does=told)
        if number == ANYWHERE:
            found = Bound(("computed",), FARTHEST, 0, None, site, does=FRACTIONS)
        self.found.add(found)

    def cast(self, it, value):
        if not isinstance(value, (Along, np.generic)):
            return None
        result = convert(plain(value), it.dtype)
        if isinstance(value, np.generic):
            return result
        if it.dtype.kind in "iu":
            self.add(value.place, result == value.values, None, it.site, [value])
            if value.rounded:
                self.note_rounded(value, it.site)
            return Along(value.place, result)
        off = np.flatnonzero(result != value.values)
        first = [int(self.samples[off[0]])] if off.size else []
        least = min(first + [value.rounded] * bool(value.rounded), default=None)
        return Along(value.place, result, least)

    def note(self, it, values, result, place):
        """Note where the outcome of an operation turns."""
        numbers = [int(v) for v in values if is_whole(v)]
        written = numbers[-1] if numbers else None
        if it.operator in COMPARES:
            self.add(place, result, written, it.site, values)
        if it.operator == STOPS and self.made[it.target] == 1:  # and not each turn
            written = values[1] if isinstance(values[1], np.generic) else None
            self.add(place, result, written and int(written), it.site, values)
        if it.operator in KEEPS and result.dtype.kind != "b":
            for value in values:
                if isinstance(value, Along):
                    kept = result == value.values
                    self.add(place, kept, written, it.site, [value])

    def add(self, place, outcome, written, site, values):
        again = any(isinstance(it, Along) and it.goes_up_and_down for it in values)
        turns = np.flatnonzero(outcome[1:] != outcome[:-1])
        for turn in turns if len(turns) <= FEW else ():
            above, number = self.samples[turn : turn + 2].tolist()
            self.found.add(Bound(place, above, number, written, site, again))


def targets_of(instruction):
    """The variables that it makes."""
    if isinstance(instruction, ir.Copy):
        return instruction.targets
    target = getattr(instruction, "target", None)
    return (target,) if target else ()


def value_of(operand, known):
    """What is known of an operand."""
    if isinstance(operand, ir.Const):
        return operand.value
    return known.get(operand) if isinstance(operand, str) else None


def plain(value):
    return value.values if isinstance(value, Along) else value


def is_whole(value) -> bool:
    return isinstance(value, np.number) and np.isfinite(value) and value == int(value)


def computed(operator, values):
    """What an operator makes of values; None where it cannot be said."""
    try:
        names = {f"v{place}": value for place, value in enumerate(values)}
        return eval(expression(operator, len(values)), {**NAMESPACE, **names})
    except (ArithmeticError, AttributeError, TypeError, ValueError):
        return None


@cache
def expression(operator, operands):
    text = source(operator, [f"v{place}" for place in range(operands)])
    return compile(text, operator, "eval")

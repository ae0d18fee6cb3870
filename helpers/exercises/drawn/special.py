"""Values that random numbers hardly ever have: zeros, equal elements, opposite ones of
two arrays, and the ends of a type.

They stay between the smallest and the largest element of their array, which the text
allows, as far as that can be known: an array of positive numbers gets no zero, and one
of indices none beyond its own. The ends of a type are where an array fills a part of
it. The judge counts nothing for such values at which the exercise's own answer differs.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np

from helpers.exercises.arguments import InOut, Out
from helpers.exercises.variants import generator

LEAST = 4  # elements
EACH = 16  # one element in so many is of a kind
FILLS = 2**-4  # of the largest number of a type, by its bytes:
FILLS_NARROW = {1: 0.5, 2: 0.5}  # which may be levels, or letters
EQUAL = 8  # draws of what all elements of an array are
DRAWS = 4  # of a number alone, whose range is to be known


def with_special_values(trial, seed, turn=None):
    """A trial with some of them in its inputs; as it is where an exercise limits what
    rounding may do, and so its numbers. Of those that come alone one is 0 at a turn.
    """
    if trial.task.rtol is not None:
        return trial
    rng = generator(trial.task.name, seed, "special", trial.order)
    arrays = arrays_of(trial)
    for array in arrays.values():
        put_into(array, rng)
    for one, other in combinations(arrays.values(), 2):
        make_equal(one, other, rng)
    found = with_arrays(trial, arrays)
    if turn is None:
        return found
    free = [name for name in trial.arguments if name not in trial.task.fixed]
    zero = zero_numbers(trial, rng, free, turn)
    return replace(found, arguments=found.arguments | zero)


def with_equal_elements(trial, kinds="iuf", but_for=0):
    """A trial with equal elements in each array of its own, of some kinds, but for the
    last of so many: of some that it may have, those of which the specification makes
    the largest.
    """
    arrays = {k: it for k, it in arrays_of(trial).items() if it.dtype.kind in kinds}
    if not arrays:
        return trial
    equal = (
        {name: alike(it, n, but_for) for name, it in arrays.items()}
        for n in range(EQUAL)
    )
    with np.errstate(all="ignore"):
        made = [with_arrays(trial, it) for it in equal]
        return max(made, key=lambda it: max(map(np.max, it.expected.values())))


def alike(array, n, but_for) -> np.ndarray:
    """An array whose elements are its n-th, but for the last of so many. A float is a
    power of two, where its array has larger and smaller ones: then sums are exact.
    """
    one = array.flat[n % array.size]
    if array.dtype.kind == "f" and one:
        power = np.copysign(np.exp2(np.floor(np.log2(np.abs(one)))), one)
        one = power if array.min() <= power <= array.max() else one
    first = array.size - (array.size // but_for if but_for else 0)
    found = array.copy()
    found.flat[:first] = one
    return found


def with_a_block_of_zeros(trial, rng):
    """A trial with floats that are zero for a block, if each thread takes those at its
    place and those a whole grid farther; where there are others, of both signs.
    """
    arrays = {k: it for k, it in arrays_of(trial).items() if it.dtype.kind == "f"}
    blocks, threads, *_ = trial.launch
    blocks, threads = int(np.prod(blocks)), int(np.prod(threads))
    block = rng.integers(blocks)
    for array in arrays.values():
        mine = np.arange(array.size) // threads % blocks == block
        if array.min() < 0 < array.max() and 2 * mine.sum() <= array.size:
            array.flat[mine] = 0
    return with_arrays(trial, arrays)


def with_last_extremes(trial):
    """A trial with the largest and the smallest element of each array at its end, where
    a kernel may not come.
    """
    arrays = arrays_of(trial)
    for array in arrays.values():
        put_last(array)
    return replace(with_arrays(trial, arrays), special=trial.special)


def put_last(array):
    """Put the largest and the smallest element at the end, for those that are there."""
    for last, extreme in ((-1, array.argmax()), (-2, array.argmin())):
        array.flat[[last, extreme]] = array.flat[[extreme, last]]


def arrays_of(trial) -> dict:
    """Copies of the arrays of numbers that a trial may change, by name."""
    free = (name for name in trial.arguments if name not in trial.task.fixed)
    found = {name: numbers_of(trial.arguments[name]) for name in free}
    return {name: it for name, it in found.items() if it is not None}


def with_arrays(trial, arrays):
    """A trial with other arrays, and so with what is hardly ever drawn."""
    given = trial.arguments
    arrays = {
        name: InOut(it) if isinstance(given[name], InOut) else it
        for name, it in arrays.items()
    }
    return replace(trial, arguments=given | arrays, special=True)


def numbers_of(argument):
    """A copy of an argument that brings several numbers along; None of another."""
    array = argument.array if isinstance(argument, InOut) else argument
    if isinstance(argument, Out) or np.size(array) < LEAST:
        return None
    return array.copy() if array.dtype.kind in "iuf" else None


def put_into(array, rng):
    """Equal elements, zeros and the ends of the type, at random places; the extremes at
    the end.
    """
    few = max(array.size // EACH, 1)
    places = rng.permutation(array.size)
    first, second, third = (places[few * k : few * (k + 1)] for k in range(3))
    low, high = array.min(), array.max()
    array.flat[first] = array.flat[second]
    if low <= 0 <= high:
        array.flat[third] = 0
    if array.dtype.kind in "iu":
        kind, fills = np.iinfo(array.dtype), FILLS_NARROW.get(array.itemsize, FILLS)
        if high >= fills * kind.max:
            array.flat[places[-2:]] = kind.max - 1, kind.max  # which floats confuse
        if kind.min < 0 and low <= fills * kind.min:
            array.flat[places[:2]] = kind.min, kind.min + 1
    put_last(array)


def make_equal(one, other, rng):
    """Make some elements of an array those of another one of its shape, or opposite."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return
    few = max(one.size // EACH, 1)
    places, low, high = rng.permutation(one.size), other.min(), other.max()
    for some, sign in ((places[:few], 1), (places[few : 2 * few], -1)):
        if sign < 0 and one.dtype.kind == "u":
            continue
        mine = sign * one.flat[some]
        within = (low <= mine) & (mine <= high)
        other.flat[some[within]] = mine[within]


def zero_numbers(trial, rng, free, turn) -> dict:
    """Zero for one of the numbers that come alone and have both signs: for each in
    turn, and then for none.
    """
    alone = [name for name in free if is_number(trial.arguments[name])]
    if not alone[turn % (len(alone) + 1) :]:
        return {}
    name = alone[turn % (len(alone) + 1)]
    draws = [trial.task.inputs(rng, *trial.size)[name] for _ in range(DRAWS)]
    draws.append(trial.arguments[name])
    both = min(draws) < 0 < max(draws)
    return {name: type(draws[-1])(0)} if both else {}


def is_number(value) -> bool:
    return isinstance(value, (np.integer, np.floating))

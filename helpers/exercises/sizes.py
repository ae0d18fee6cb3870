"""The sizes of an exercise that nobody lists: beyond those that are, and beyond what a
kernel counts with numbers of its own.

A number may count elements along an axis, blocks, or turns of a loop. Sizes go beyond
it as far as the limits below, as larger launches take long to emulate.
"""

from math import prod
from operator import attrgetter

import numpy as np

from helpers.exercises.arguments import whole_size
from helpers.exercises.variants import generator
from thirty_two_lanes.core import ir

FARTHEST, MOST = 70_000, 140_000  # elements along an axis, and in all, beyond a number
BUSIEST, THREADS = 30_000, 300_000  # instructions of a block there, and all threads


def larger_sizes(task, seed):
    """For each axis, a size that is beyond all that are listed along it: two to three
    times as large, lest a bound just above them pass, or as large as there may be.

    Along the others it is not, so that it stays quick to emulate.
    """
    largest = largest_listed(task)
    others = largest // 4 if largest.size > 2 else largest
    for axis, most in enumerate(largest):
        rng = generator(task.name, seed, "larger", axis)
        size = rng.integers(1, np.maximum(others, 1), endpoint=True)
        size[axis] = beyond(rng, most, limit_along(task, axis))
        if size[axis] > most:
            yield tuple(int(it) * task.multiple for it in size)


def far_size(task, seed, numbers, outcome):
    """A size beyond all that some numbers may count along the axis on which that of an
    outcome is larger; None where it is beyond them, or where none is affordable.
    """
    size, largest = np.array(outcome.trial.size), largest_listed(task)
    axis = int((size // task.multiple > largest).argmax())
    each = elements_each(outcome)
    busiest = max(outcome.run.balance.busiest_block, 1)
    reach = min(FARTHEST // each, size[axis] * BUSIEST // busiest)
    counted = {it * unit for it in numbers for unit in units_along(task, axis)}
    within = sorted(it for it in counted if size[axis] <= it <= reach)
    while within and threads_at(task, narrowed(size, axis, within[-1], each)) > THREADS:
        within.pop()
    if not within:
        return None
    rng, limit = generator(task.name, seed, "far", axis), limit_along(task, axis)
    far = beyond(rng, largest[axis], limit, within[-1] // task.multiple)
    size = narrowed(size, axis, far * task.multiple, each) // task.multiple
    return tuple(int(it) * task.multiple for it in np.maximum(size, 1))


def narrowed(size, axis, extent, each) -> np.ndarray:
    """A size with another extent along an axis, and so little along the others that
    there are not too many elements in all.
    """
    few = int((MOST // (each * extent)) ** (1 / max(size.size - 1, 1)))
    return put(np.minimum(size, max(few, 1)), axis, extent)


def largest_listed(task) -> np.ndarray:
    """The largest size along each axis that is listed, in multiples."""
    listed = np.array([whole_size(it) for it in (*task.even, *task.ragged)])
    return listed.max(axis=0) // task.multiple


def limit_along(task, axis):
    """The most that there may be along an axis, in multiples; None without a limit."""
    limit = task.limits[axis] if task.limits else None
    return limit and limit // task.multiple


def elements_each(outcome) -> int:
    """How many elements the largest array has for each unit of the size's product."""
    most = max(np.size(it) for it in outcome.held.values())
    return max(most // prod(outcome.trial.size), 1)


def put(size, axis, extent) -> np.ndarray:
    """A size with another extent along an axis."""
    return np.where(np.arange(size.size) == axis, extent, size)


def threads_at(task, size) -> int:
    """The threads of a launch."""
    blocks, threads, *_ = task.launch(*map(int, size))
    return int(np.prod(blocks) * np.prod(threads))


def units_along(task, axis) -> set:
    """How many elements along an axis are one of what a kernel may count: an element; a
    block, where the grid grows with the axis; a turn in which each thread has one.
    """
    size = np.array(whole_size(task.even[0]))
    longer = put(size, axis, 8 * size[axis])
    (blocks, threads, *_), (more, *_) = task.launch(*size), task.launch(*longer)
    grown = int((np.array(more) - np.array(blocks)).max())
    block = int((longer - size).max()) // grown if grown > 0 else 1
    turn = int(np.prod(threads) * (np.prod(blocks) if size.size == 1 else 1))
    return {1, max(block, 1), turn}


def beyond(rng, most, limit, bound=0) -> int:
    """A number that is two to three times as large, or nearer where there is a limit;
    the same if that is reached. It is above a bound, as far as the limit lets it.
    """
    least, top = 2 * most, 3 * most
    if bound > least:
        least, top = bound, bound + most
    top = min(top, limit or top)
    least = least if least < top else most
    return int(rng.integers(least, top)) + 1 if least < top else most


# ---------------------------------------------------------------- a kernel's numbers

COMPUTED = {  # of constants
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "floordiv": np.floor_divide,
    "truediv": np.true_divide,
    "lshift": np.left_shift,
}
DIVIDES = {"floordiv": int, "truediv": int, "rshift": lambda bits: 1 << min(bits, 32)}


def whole_numbers(kernel) -> set:
    """The whole numbers that a kernel's instructions have among their operands, or
    compute of constants alone, and the first that narrow types do not hold; and these
    times all that something is divided by.
    """
    code = [it for block in kernel.blocks for it in block]
    made, found, parts = made_once(code), {1}, {1}
    for it in code:
        for name in it.nature.reads:
            found |= numbers_in(attrgetter(name)(it), made)
        if isinstance(it, ir.Cast) and it.dtype.kind in "iu" and it.dtype.itemsize < 4:
            found.add(int(np.iinfo(it.dtype).max) + 1)
        if isinstance(it, ir.Operation) and it.operator in DIVIDES:
            by = numbers_in(it.operands[1], made)
            parts |= {DIVIDES[it.operator](number) for number in by}
    return {number * part for number in found for part in parts}


def made_once(code) -> dict:
    """What makes each variable that is assigned in one place alone, by its name."""
    made = {}
    for target, maker in assignments(code):
        made[target] = None if target in made else maker
    return made


def assignments(code):
    """Each variable that is assigned, and what makes it: an instruction, or for a copy
    another variable or a constant.
    """
    for it in code:
        if isinstance(it, ir.Copy):
            yield from zip(it.targets, it.sources, strict=True)
        else:
            yield getattr(it, "target", None), it


def numbers_in(operand, made) -> set:
    """The sizes of the whole numbers that an operand is, or that it has as items."""
    if isinstance(operand, ir.Slice):
        operand = operand.start, operand.stop, operand.step
    value = operand if isinstance(operand, tuple) else value_of(operand, made)
    if isinstance(value, tuple):
        return set().union(*(numbers_in(it, made) for it in value))
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    return {abs(int(value))} if is_number and np.isfinite(value) else set()


def value_of(operand, made):
    """The value of an operand that depends on constants alone; None of another. What
    is found of a variable replaces its maker: it may be asked for at every use.
    """
    if not isinstance(operand, str):
        return getattr(operand, "value", operand)
    value = value_made_by(made.get(operand), made)
    made[operand] = None if value is None else ir.Const(value)
    return value


def value_made_by(maker, made):
    """The value that an instruction makes, or that is copied, of constants alone."""
    if isinstance(maker, (str, ir.Const)):
        return value_of(maker, made)
    if isinstance(maker, ir.Cast):
        return value_of(maker.operand, made)
    if not isinstance(maker, ir.Operation) or maker.operator not in COMPUTED:
        return None
    values = [value_of(it, made) for it in maker.operands]
    if not all(isinstance(it, np.number) for it in values):
        return None
    with np.errstate(all="ignore"):
        return COMPUTED[maker.operator](*values)

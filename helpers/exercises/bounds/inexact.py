"""Where what stands for an index does so no more: a whole number goes beyond its type,
and a float that counts the turns of a loop rounds.
"""

import numpy as np

from helpers.exercises.bounds.makers import constants_in, makers_in, value_of
from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import successors

ADDS = {"add": (0, 1), "sub": (0,)}  # and which operands it may change
ANYWHERE = 1  # from here on, what is made of parts rounds
SIZES = {  # what may be beyond a type, in floats
    "add": np.add,
    "mul": np.multiply,
    "pow": np.float_power,
    "lshift": lambda value, bits: value * 2.0**bits,
}


def fits(operator, values, result) -> np.ndarray:
    """Where the result of an operation on whole numbers is within its type."""
    if operator not in SIZES or result.dtype.kind not in "iu":
        return np.ones(result.shape, bool)
    sizes = SIZES[operator](*(np.asarray(each, float) for each in values))
    limits = np.iinfo(result.dtype)
    return (limits.min <= sizes) & (sizes <= limits.max)


def are_whole(values) -> bool:
    return bool((values == np.floor(values)).all())


def float_counters(kernel, sizes) -> dict:
    """The floats that a loop adds a constant to in each turn, however many there are:
    which operand was there before, the constant, and the narrowest type on the way.
    """
    blocks = dict(zip(kernel.numbers, kernel.blocks, strict=True))
    code = [it for block in kernel.blocks for it in block]
    makers, made, found = makers_in(code), constants_in(code, sizes), {}
    for number, block in blocks.items():
        for it in block:
            kind = kernel.types.get(getattr(it, "target", None))
            places = ADDS.get(getattr(it, "operator", ""), ()) if is_float(kind) else ()
            for before in places if isinstance(it, ir.Operation) else ():
                step = value_of(it.operands[1 - before], made)
                types = types_around(it.operands[before], it.target, makers)
                if None not in (step, types) and not has_an_end(blocks, number, made):
                    types = [kind, *filter(is_float, types)]
                    narrow = min(types, key=lambda each: each.itemsize)
                    step = -step if it.operator == "sub" else step
                    found[it.target] = before, step, narrow
    return found


def is_float(kind) -> bool:
    return getattr(kind, "kind", "") == "f"


def types_around(before, target, makers) -> list | None:
    """The types that a value is cast to on its way from a variable to the operand that
    makes it anew, in which it is copied alone; None where it is another value.
    """
    left, seen, types = [before], set(), []
    while left:
        name = left.pop()
        if isinstance(name, str) and name not in seen:
            seen.add(name)
            casts = [it for it in makers[name] if isinstance(it, ir.Cast)]
            types += [it.dtype for it in casts]
            left += [it for it in makers[name] if isinstance(it, str)]
            left += [it.operand for it in casts]
    return types if target in seen else None


def has_an_end(blocks, number, made) -> bool:
    """Does each loop around a basic block count up to a constant?"""
    after = {each: reached(blocks, each) for each in blocks}
    around = [each for each in after[number] if number in after[each]]
    ranges = (it for each in around for it in blocks[each] if is_range(it))
    ends = [value_of(it.operands[1], made) for it in ranges]
    return bool(ends) and None not in ends


def is_range(it) -> bool:
    return getattr(it, "operator", "") == "in range"


def reached(blocks, number) -> set:
    """The basic blocks that may follow one, at any time."""
    left, found = [number], set()
    while left:
        following = {*successors(blocks[left.pop()][-1])} - found
        found |= following
        left += following
    return found


def turns_counted(step, first, dtype) -> int:
    """The turn from which on a float that grows by a step in each is no longer exact,
    where it is known at first; ANYWHERE if it grows by parts.
    """
    step = float(step)
    if not step.is_integer() or not step:
        return ANYWHERE
    first = float(first) if isinstance(first, np.generic) else 0.0
    unit = int(step) & -int(step)  # of which it is a multiple
    exact = unit * 2.0 ** (np.finfo(dtype).nmant + 1)
    return max(int((exact - np.sign(step) * first) // abs(step)), 0) + 1

"""A kernel's own numbers: constants that may count something, as its IR has them.

What a loop makes of constants, and where a comparison of something computed turns,
`places.py` finds.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from helpers.exercises.bounds.makers import (
    constants_in,
    made_once,
    operands_of,
    value_of,
)
from helpers.exercises.bounds.places import PARTS, Bound, bounds_along
from thirty_two_lanes.core import ir

BOUNDS = {"lt", "le", "gt", "ge", "eq", "ne", "min", "max", "in range", "mod", "and"}
LIMITS = BOUNDS - {"eq", "ne", "mod", "and"}
EACH = 1, 2, 4  # elements that a thread may take in a turn of the whole grid
DIVIDES = {"floordiv": int, "truediv": int, "rshift": lambda bits: 1 << min(bits, 32)}


class OwnNumbers(NamedTuple):
    """The whole numbers of a kernel that may count something: all that may count turns,
    too; those that may bound it, as it compares them, or as its narrow types or its
    arrays hold none beyond; those of the bounds that count blocks, or threads of the
    grid along an axis, as blocks; and where they come from.
    """

    all: set
    bounds: set
    blocks: set = frozenset()
    along: tuple[Bound, ...] = ()
    packed: bool = False  # does it count in a part of a word?


PACKED = 2**16  # what a part of a word may hold none beyond
BLOCKS = {
    *(f"cuda.{name}.{axis}" for name in ("blockIdx", "gridDim") for axis in "xyz")
}
COUNT_BLOCKS = {*BLOCKS, "atomic"}
IN_A_BLOCK = "cuda.threadIdx", "cuda.laneid"


def own_numbers(kernel, blocks, threads) -> OwnNumbers:
    """Those that are written, and those at which a comparison turns, in some blocks;
    where their number grows with the size it is None.
    """
    sizes = sizes_of_block(threads)
    found, bounds = numbers_written(kernel, sizes)
    if blocks:
        sizes |= sizes_of_grid(blocks, threads)
        rounds = bounds_made(kernel, sizes) - found
        bounds |= rounds
        rounds -= {*np.ravel(blocks).tolist()}  # which right kernels ask for
        found |= {number * each for number in rounds for each in EACH}
    along = bounds_along(kernel, sizes, found | bounds)
    packed = {parts_counted(it.reference.site) for it in atomics_on_parts(kernel)}
    bounds |= {PACKED} if packed else set()
    bounds |= {it.exact or it.number for it in along}
    blocks = {it.number for it in along if it.place[0] in COUNT_BLOCKS}
    found |= {it.exact or it.number for it in along if may_count_turns(it, threads)}
    for it in along:
        if it.place[0] == "cuda.grid":
            axis = "xyz"[it.place[1] if len(it.place) > 1 else 0]
            blocks.add(-(-it.number // sizes.get(f"cuda.blockDim.{axis}", 1)))
    return OwnNumbers(found, bounds, blocks, (*along, *packed), bool(packed))


def may_count_turns(bound, threads) -> bool:
    """Is it no number of blocks, and no thread of a block?"""
    kind, block = bound.place[0], np.prod(threads)
    in_a_block = kind.startswith(IN_A_BLOCK) and bound.number < block
    return kind not in COUNT_BLOCKS and not in_a_block


def sizes_of_block(threads) -> dict:
    """The threads of a block along each axis, by what asks for them."""
    axes = zip("xyz", np.ravel(threads).tolist(), strict=False)
    return {f"cuda.blockDim.{axis}": number for axis, number in axes}


def sizes_of_grid(blocks, threads) -> dict:
    """Its blocks along each axis, and its threads along the first, likewise."""
    axes = zip("xyz", np.ravel(blocks).tolist(), strict=False)
    sizes = {f"cuda.gridDim.{axis}": number for axis, number in axes}
    return sizes | {"cuda.gridsize": int(np.ravel(blocks)[0] * np.ravel(threads)[0])}


def bounds_made(kernel, sizes) -> set:
    """The numbers up to which a kernel counts, as it makes them of sizes, too."""
    code = [it for block in kernel.blocks for it in block]
    made = constants_in(code, sizes)
    limits = (
        it for it in code if isinstance(it, ir.Operation) and it.operator in LIMITS
    )
    ends = (end for it in limits for end in it.operands[:2])  # no step of a range
    return set().union(*(numbers_in(end, made) for end in ends))


def parts_counted(site) -> Bound:
    """What nobody can say of a part of a word: how much it holds."""
    return Bound(("atomic",), 2**32 - 1, 2**32, None, site, does=PARTS)


def atomics_on_parts(kernel):
    """The atomic additions of a number that is shifted by something computed."""
    code = [it for block in kernel.blocks for it in block]
    made = made_once(code)
    for it in code:
        if isinstance(it, ir.Atomic) and it.operator == "add":
            maker = made.get(it.values[0]) if isinstance(it.values[0], str) else None
            while isinstance(maker, (str, ir.Cast)):
                maker = made.get(getattr(maker, "operand", maker))
            shifts = getattr(maker, "operator", "") == "lshift"
            if shifts and value_of(maker.operands[1], {**made}) is None:
                yield it


def numbers_written(kernel, sizes) -> tuple[set, set]:
    """All numbers, and bounds: those that a kernel's instructions have among their
    operands, or compute of constants alone, among which are the threads of a block; the
    sizes of its arrays; and these times all that something is divided by.
    """
    code = [it for block in kernel.blocks for it in block]
    made = constants_in(code, sizes)
    found, bounds, parts = {1}, set(), {1}
    for it in code:
        numbers = set().union(*(numbers_in(each, made) for each in operands_of(it)))
        if isinstance(it, ir.Cast) and it.dtype.kind in "iu" and it.dtype.itemsize < 4:
            numbers.add(int(np.iinfo(it.dtype).max) + 1)
            bounds |= numbers
        if isinstance(it, ir.Allocate):
            numbers = {*it.shape, prod(it.shape)}
            bounds |= numbers
        if isinstance(it, ir.Operation) and it.operator in BOUNDS:
            bounds |= numbers
        if isinstance(it, ir.Operation) and it.operator in DIVIDES:
            by = numbers_in(it.operands[1], made)
            parts |= {DIVIDES[it.operator](number) for number in by}
        found |= numbers
    return {number * part for number in found for part in parts}, bounds


def variables_in(operand) -> set:
    """The names of the variables in an operand."""
    if isinstance(operand, ir.Slice):
        operand = operand.start, operand.stop, operand.step
    if isinstance(operand, tuple):
        return set().union(*map(variables_in, operand))
    return {operand} if isinstance(operand, str) else set()


def numbers_in(operand, made) -> set:
    """The sizes of the whole numbers that an operand is, or that it has as items."""
    if isinstance(operand, ir.Slice):
        operand = operand.start, operand.stop, operand.step
    value = operand if isinstance(operand, tuple) else value_of(operand, made)
    if isinstance(value, tuple):
        return set().union(*(numbers_in(it, made) for it in value))
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    return {abs(int(value))} if is_number and np.isfinite(value) else set()

"""Which values an operation may overwrite: those that a basic block makes, reads once
and keeps to itself. What is in the cache already need not be taken anew.
"""

from collections import Counter

import numpy as np

from helpers.core import ir
from helpers.emulator.codegen.liveness import reads, writes

UFUNCS = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def overwritten(block, types, kept) -> dict:
    """For operations of a block by their target: the operand whose memory they take.

    `kept` are the variables that other blocks read.
    """
    read = Counter(name for i in block for name in _operands(i))
    made = Counter(name for i in block for name in writes(i))
    spare, found = set(), {}
    for i in block:
        if _is_arithmetic(i, types):
            for operand in i.operands:
                if operand in spare and types.get(operand) == types[i.target]:
                    found[i.target] = operand
                    break
        fresh = isinstance(i, ir.Load) or _is_arithmetic(i, types)
        if fresh and read[i.target] == made[i.target] == 1 and i.target not in kept:
            spare.add(i.target)
    return found


def _operands(instruction):
    """What an instruction reads, as often as it does."""
    if isinstance(instruction, ir.Operation):
        return [it for it in instruction.operands if isinstance(it, str)]
    return reads(instruction)


def _is_arithmetic(instruction, types) -> bool:
    return (
        isinstance(instruction, ir.Operation)
        and instruction.operator in UFUNCS
        and types.get(instruction.target) in FLOATS
    )


def over(ufunc, left, right, spare):
    """`ufunc(left, right)`, in the memory of `spare`, one of them, where it fits."""
    other = right if spare is left else left
    fits = spare.ndim and (spare.shape == other.shape or other.ndim == 0)
    if fits and spare.dtype == other.dtype:
        return ufunc(left, right, spare)
    return ufunc(left, right)

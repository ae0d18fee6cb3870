"""Which values an operation may overwrite: those that a basic block makes, reads once
and keeps to itself. Their memory is in the cache already.
"""

from collections import Counter

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import reads, writes
from thirty_two_lanes.language.operators import UFUNCS

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
        return [o for o in instruction.operands if isinstance(o, str)]
    return reads(instruction)


def _is_arithmetic(instruction, types) -> bool:
    return (
        isinstance(instruction, ir.Operation)
        and instruction.operator in UFUNCS
        and types.get(instruction.target) in FLOATS
    )

"""Values that may be None: a pair of a value and whether there is one.

Numba's code takes the value out wherever a number, a tuple or an array is needed, and
ends the threads that have None, which a GPU tells in debug mode only. Here such an
instruction gets variables that hold the values, so that nothing else knows of None.
"""

import copy
import operator

import numpy as np
from numba.core.types import Opaque

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.lower.builder import is_always_none
from thirty_two_lanes.frontend.types import our_type

_KEEP_NONE = {"build_tuple", "cast", "phi"}  # operations that need no value
_IDENTITY = operator.is_, operator.is_not


def settled(builder, instruction):
    """The instruction, with variables that have a value where it needs one."""
    optional = _optional(builder, instruction)
    if not optional or _takes_none(builder, instruction):
        return instruction
    values = {name: _value_of(builder, variable) for name, variable in optional}
    changed = copy.copy(instruction)
    for name, part in vars(instruction).items():
        vars(changed)[name] = _replaced(part, values)
    calls = builder.typed.calls
    if instruction in calls:
        calls[changed] = calls[instruction]
    return changed


def _optional(builder, instruction):
    """The variables of an instruction that may be None, by name."""
    if not hasattr(instruction, "list_vars") or type(instruction).__name__ == "Var":
        return []
    types = builder.typed.types
    return [
        (variable.name, variable)
        for variable in instruction.list_vars()
        if type(types.get(variable.name)).__name__ == "Optional"
    ]


def _takes_none(builder, instruction) -> bool:
    """Does an instruction take None as it takes a value?"""
    if type(instruction).__name__ != "Expr":  # a store
        return False
    if instruction.op in _KEEP_NONE:
        return True
    signature = builder.typed.calls.get(instruction)
    kinds = [type(t).__name__ for t in getattr(signature, "args", ())]
    if instruction.op in ("binop", "inplace_binop"):
        asks = instruction.fn in _IDENTITY or "NoneType" in kinds
        return asks and "Optional" in kinds
    return instruction.op == "call" and "Optional" in kinds


def _value_of(builder, variable):
    """A variable that holds what another holds, which is not None from here on."""
    key = builder.label, variable.name
    if key not in builder.values:
        value = copy.copy(variable)
        value.name = f"{variable.name}.value"
        numba_type = builder.numba_type(variable).type
        builder.typed.types[value.name] = numba_type
        dtype = our_type(numba_type)
        operand = builder.cast(builder.operand(variable), dtype)
        builder.assign(builder.declare(value.name, dtype), operand)
        builder.values[key] = value
    return builder.values[key]


def _replaced(part, values):
    """A part of an instruction, with other variables."""
    if type(part).__name__ == "Var":
        return values.get(part.name, part)
    if isinstance(part, dict):
        return {name: _replaced(each, values) for name, each in part.items()}
    if isinstance(part, list | tuple):
        return type(part)(_replaced(each, values) for each in part)
    return part


def is_none(builder, one, other, types):
    """`one is other`, where Numba has types of which one is None or optional."""
    operands = [builder.operand(each) for each in (one, other)]
    dtypes = [our_type(each) for each in types]
    if all(dtype is None for dtype in dtypes):  # None, or the same function
        alike = types[0] == types[1] and isinstance(types[0], Opaque)
        return ir.Const(np.bool_(alike))
    for operand, dtype, opposite in zip(operands, dtypes, types[::-1], strict=True):
        if isinstance(dtype, ir.Optional) and is_always_none(opposite):
            present = builder.parts(builder.cast(operand, dtype))[1]
            return builder.truth("not", present)
    return ir.Const(np.False_)  # also of two that may be None, as in Numba

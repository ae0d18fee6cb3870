"""What makes each variable of a kernel, as its IR has them."""

from collections import defaultdict
from operator import attrgetter

import numpy as np

from thirty_two_lanes.core import ir

COMPUTED = {  # of constants
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "floordiv": np.floor_divide,
    "truediv": np.true_divide,
    "lshift": np.left_shift,
    "pow": np.float_power,
}


def makers_in(code) -> dict:
    """What makes each variable, by its name."""
    makers = defaultdict(list)
    for target, maker in assignments(code):
        makers[target].append(maker)
    return makers


def made_once(code) -> dict:
    """What makes each variable that one instruction alone makes, by its name; loops
    have some of theirs twice.
    """
    made = {}
    for target, maker in assignments(code):
        made[target] = maker if made.get(target, maker) == maker else None
    return made


def constants_in(code, sizes) -> dict:
    """What makes each variable: a constant where it asks for sizes of a launch."""
    calls = (it for it in code if isinstance(it, ir.Call) and it.function in sizes)
    known = {it.target: ir.Const(np.int64(sizes[it.function])) for it in calls}
    return made_once(code) | known


def assignments(code):
    """Each variable that is assigned, and what makes it: an instruction, or for a copy
    another variable or a constant.
    """
    for it in code:
        if isinstance(it, ir.Copy):
            yield from zip(it.targets, it.sources, strict=True)
        else:
            yield getattr(it, "target", None), it


def operands_of(instruction):
    """What an instruction reads: variables, constants, and tuples of them."""
    return (attrgetter(name)(instruction) for name in instruction.nature.reads)


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

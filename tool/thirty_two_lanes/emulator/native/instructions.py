"""What each instruction of our IR does to the trace of its basic block; one that is not
here is NumPy's.
"""

from functools import cache

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import writes
from thirty_two_lanes.emulator.codegen.writer import is_narrower
from thirty_two_lanes.emulator.native.tracing import (
    BOOL,
    INT64,
    Known,
    Trace,
    Untraceable,
    has_type,
    is_number,
)
from thirty_two_lanes.language import operators
from thirty_two_lanes.language.warp_intrinsics import INTRINSICS, SHUFFLES, lane_read


def trace_of(tape, usual, pc, block):
    """The trace of a basic block, and what the machine gets of its end; rows that leave
    numbers for others come last.
    """
    trace = Trace(tape, usual)
    *body, end = block
    trace.row("begin", pc)
    for instruction in body:
        if type(instruction) not in RULES:
            raise Untraceable(type(instruction).__name__)
        RULES[type(instruction)](trace, instruction)
    result = ENDS.get(type(end), lambda trace, end: None)(trace, end)
    _leave(trace, dict.fromkeys(name for i in body for name in writes(i)))
    if trace.tape.tells:
        trace.row("count", pc)
    return trace, result


def _leave(trace, names):
    """Leave numbers for other basic blocks, in the threads that take part."""
    ours = trace.tape.slots.keys() - trace.tape.names.keys()
    left = {name: trace.values[name] for name in names if name in ours}
    for name, value in left.items():
        if not is_number(trace.types.get(name)) or isinstance(value, (tuple, Known)):
            raise Untraceable(name)
        left[name] = trace.lift(value)
        if left[name].dtype != trace.types[name]:
            raise Untraceable(f"{name} is {left[name].dtype}")
    written = {trace.tape.fixed(trace.types[name], "slot", name) for name in left}
    for name, value in left.items():
        if value.word in written:  # another slot, or the same
            left[name] = trace.value(value.dtype)
            _select(trace, value, value, left[name])
    for name, value in left.items():
        slot = trace.fixed(value.dtype, "slot", name)
        _select(trace, value, slot, slot)
        if name in trace.tape.unsure:
            here = trace.fixed(BOOL, "defined", name)
            _select(trace, trace.lift(np.True_), here, here)


def _select(trace, value, other, result):
    active = trace.fixed(BOOL, "active").word
    words = value.word, other.word, result.word
    trace.row(("select", value.dtype.itemsize), active, *words)


@cache
def function_of(operator, count):
    """A row of the table of operators, as a function."""
    names = [f"x{n}" for n in range(count)]
    text = f"lambda {', '.join(names)}: {operators.source(operator, names)}"
    return eval(text, operators.NAMESPACE)


def _operation(trace, i):
    operands = [trace.operand(o) for o in i.operands]
    if any(isinstance(o, Known) for o in operands):
        raise Untraceable(i.operator)
    result = function_of(i.operator, len(operands))(*operands)
    if not has_type(result, trace.types.get(i.target)):
        raise Untraceable(i.operator)
    trace.values[i.target] = result


def _cast(trace, i):
    value, source = trace.operand(i.operand), trace.types.get(i.operand)
    result = trace.values[i.target] = operators.convert(value, i.dtype)
    if trace.tape.tells and not i.explicit and is_narrower(i.dtype, source):
        trace.guard(result.astype(source) == value)
        if i.dtype.kind == "i" and source.kind == "u":
            trace.guard(result >= 0)


def _call(trace, i):
    """A shuffle, or what a warp knows of itself from the start."""
    if i.function in SHUFFLES:
        return _shuffle(trace, i)
    if not INTRINSICS[i.function].fixed:
        raise Untraceable(i.function)
    operands, types = tuple(o.value for o in i.operands), trace.types[i.target]
    parts = types if isinstance(types, tuple) else (types,)
    found = tuple(
        trace.fixed(dtype, "call", i.function, operands, axis)
        for axis, dtype in enumerate(parts)
    )
    trace.values[i.target] = found if isinstance(types, tuple) else found[0]


def _shuffle(trace, i):
    """Another lane's number, by its address; 0 of a lane that is not here."""
    if trace.tape.tells:
        raise Untraceable("judges are told the lanes")
    value, operand = (trace.operand(o) for o in i.operands[1:])
    value = trace.lift(value)
    lane = lane_read(i.function, operand).astype(INT64)
    own = trace.fixed(INT64, "block")
    other = lane * trace.fixed(INT64, "blocks") + own

    def taken(word, dtype):
        base = trace.fixed(INT64, "address of", *word)
        at = base + other * np.int64(dtype.itemsize)
        return trace.made(("gather", dtype.itemsize), dtype, at.word)

    here = taken(trace.fixed(BOOL, "active").word, BOOL)
    result = np.where(here, taken(value.word, value.dtype), value.dtype.type(0))
    trace.values[i.target] = result


def _copy(trace, i):
    values = [
        None if target in trace.tape.names else trace.operand(source)
        for target, source in zip(i.targets, i.sources, strict=True)
    ]
    found = zip(i.targets, values, strict=True)
    trace.values.update(pair for pair in found if pair[1] is not None)


def _unset(trace, i):
    trace.values[i.target] = trace.operand(ir.Const(i.value))


def _require_set(trace, i):
    """Leave it to NumPy to say what is not set; a shuffle is NumPy's, too."""
    if i.shuffle:
        raise Untraceable("a shuffle is told the lanes")
    trace.guard(trace.operand(i.is_set))


def _pack(trace, i):
    trace.values[i.target] = tuple(map(trace.operand, i.items))


def _item(trace, i):
    items = trace.operand(i.operand)
    if not isinstance(items, tuple):
        raise Untraceable("an item of an array")
    trace.values[i.target] = items[i.index]


def _attribute(trace, i):
    array, ndim = trace.operand(i.array), trace.types[i.array].ndim
    if i.name.startswith("shape"):
        trace.values[i.target] = trace.part(array, "size", int(i.name[5:]))
    elif i.name == "size":
        size = np.int64(1)
        for axis in range(ndim):
            size = size * trace.part(array, "size", axis)
        trace.values[i.target] = size
    else:
        raise Untraceable(i.name)


def _load(trace, i):
    array, dtype = trace.operand(i.array), trace.types[i.target]
    if not is_number(dtype) or trace.types[i.array].dtype != dtype:
        raise Untraceable("a load")
    at, result = trace.address(array, i.indices), trace.value(dtype)
    trace.tell(i, array, at)
    trace.row(("gather", dtype.itemsize), at.word, result.word)
    trace.values[i.target] = result


def _store(trace, i):
    array, value = trace.operand(i.array), trace.operand(i.value)
    dtype = trace.types[i.array].dtype
    if not is_number(dtype) or not has_type(value, dtype):
        raise Untraceable("a store")
    at, value = trace.address(array, i.indices), trace.lift(value)
    trace.tell(i, array, at, value)
    trace.row(("scatter", dtype.itemsize), at.word, value.word)


RULES = {
    ir.Operation: _operation,
    ir.Cast: _cast,
    ir.Call: _call,
    ir.Copy: _copy,
    ir.Unset: _unset,
    ir.RequireSet: _require_set,
    ir.Pack: _pack,
    ir.Item: _item,
    ir.Attribute: _attribute,
    ir.Load: _load,
    ir.Store: _store,
}
ENDS = {  # what the machine gets of the end: a condition, a predicate, a mask
    ir.Branch: lambda trace, end: trace.operand(end.condition),
    ir.WaitAtBarrier: lambda trace, end: _of_end(trace, end.barrier.predicate),
    ir.WaitForLanes: lambda trace, end: _of_end(trace, end.sync.mask),
}


def _of_end(trace, operand):
    none = operand is None or isinstance(operand, ir.Const)
    return operand and operand.value if none else trace.operand(operand)

"""Tuples, and what is built like them: named tuples, vectors such as `float4`.

A loop over a tuple of several types, as Numba's `literal_unroll` makes it, has a copy
of its body for each type, and a test which copy an iteration takes.
"""

import operator

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.lower.builder import (
    FALSE,
    INDEX,
    TRUE,
    index_constant,
    is_always_none,
    is_same,
)
from thirty_two_lanes.frontend.types import field_names

TUPLE_OPERATORS = {
    getattr(operator, name) for name in ("add", "eq", "ne", "lt", "le", "gt", "ge")
}


def build_tuple(builder, target, value):
    """`(a, b)`; or several parts of an index, which is not a tuple of our IR."""
    if any(
        is_slice(builder, item) and not is_always_none(builder.numba_type(item))
        for item in value.items
    ):
        builder.packed[target] = tuple(value.items)
    elif value.items and all(_is_object(builder, item) for item in value.items):
        builder.known[target] = tuple(builder.known[it.name] for it in value.items)
    else:
        make_tuple(builder, target, builder.operands(value.items))


def _is_object(builder, variable):
    """Is this a known object that has no value of our IR: a function, a string?"""
    always_none = is_always_none(builder.numba_type(variable))
    known = variable.name in builder.known and not always_none
    return known and builder.our_type(variable) is None


def is_slice(builder, variable):
    """Is this a part of an index but no number: a slice, `...` or None?"""
    kind = builder.kind(variable)
    return kind.startswith("Slice") or kind in ("EllipsisType", "NoneType")


def make_tuple(builder, target, operands):
    """A tuple of operands, converted to what its type says."""
    pack(builder, target, builder.casts(operands, builder.our_type(target)))


def pack(builder, target, items):
    """Make a tuple, and remember what it is made of."""
    builder.packed[target] = items
    if not all(isinstance(item, ir.Const) for item in items):
        name = builder.declare(target, tuple(builder.type_of(item) for item in items))
        builder.emit(ir.Pack(name, items))


def repack(builder, target, items):
    """Give a tuple another name, nested tuples and index parts too."""
    if all(isinstance(item, ir.Operand) for item in items):
        pack(builder, target, items)
    else:
        builder.packed[target] = items


# items


def tuple_item(builder, target, value):
    """`t[1]`, or `t[1:]`."""
    found = builder.items(value.value)[value.index]
    if isinstance(found, tuple):
        make_tuple(builder, target, found)
    else:
        builder.bind(target, found)


def tuple_item_by_lane(builder, target, value):
    """`t[i]`, where lanes may differ in i."""
    items, dtype = builder.items(value.value), builder.our_type(target)
    index = builder.cast(builder.operand(value.index), INDEX)
    low = builder.truth("lt", index, index_constant(-len(items)))
    high = builder.truth("ge", index, index_constant(len(items)))
    outside = builder.truth("or", low, high)
    builder.end_threads_where(outside, IndexError, "tuple index out of range")
    if not isinstance(dtype, ir.ArrayType):
        items = tuple(builder.cast(item, dtype) for item in items)
    items = items or (ir.Const(dtype.type(0)),)  # of an empty tuple no thread goes on
    choose(builder, builder.declare(target, dtype), index, items)


def typed_getitem(builder, target, value):
    """`tuple[index]`, known to have one of the tuple's types."""
    dtype = builder.our_type(target)
    items = builder.items(value.value)
    fitting = [item for item in items if is_same(builder.type_of(item), dtype)]
    items = [i if i in fitting else fitting[0] for i in items]
    index = builder.operand(value.index)
    if isinstance(dtype, ir.ArrayType):
        return choose(builder, builder.declare(target, dtype), index, items)
    dtypes = (INDEX, *(dtype for _ in items))
    builder.operate(target, "choose", (index, *items), dtypes, dtype)


def choose(builder, name, index, items):
    """`name` = one of the items of a tuple, arrays or numbers of one type."""
    if isinstance(builder.type_of(name), ir.ArrayType):
        builder.arrays.alias(name, items[0])
        builder.emit(ir.ChooseArray(name, index, tuple(items), builder.site()))
    else:
        operands = (index, *items)
        builder.emit(ir.Operation(name, "choose", operands, builder.site()))


def tuple_attribute(builder, target, value):
    """`p.x`, of a named tuple or a vector."""
    index = field_names(builder.numba_type(value.value)).index(value.attr)
    builder.bind(target, builder.items(value.value)[index])


# operators


def tuple_operator(builder, target, value, function):
    """What an operator makes of two tuples."""
    left, right = builder.items(value.lhs), builder.items(value.rhs)
    if function is operator.add:
        return make_tuple(builder, target, (*left, *right))
    builder.bind(target, _compare(builder, function.__name__, left, right))


def _compare(builder, name, left, right):
    """Is one tuple equal to, or before or after another: the first difference
    decides.
    """
    if name in ("eq", "ne"):
        equal = _all_equal(builder, left, right)
        return equal if name == "eq" else builder.truth("not", equal)
    lengths = getattr(operator, name)(len(left), len(right))
    result = TRUE if lengths else FALSE
    for one, other in reversed(list(zip(left, right, strict=False))):
        tie = builder.truth("and", are_equal(builder, one, other), result)
        result = builder.truth("or", builder.truth(f"{name[0]}t", one, other), tie)
    return result


def _all_equal(builder, left, right):
    """Are two tuples equal?"""
    if len(left) != len(right):
        return FALSE
    result = TRUE
    for one, other in zip(left, right, strict=True):
        result = builder.truth("and", result, are_equal(builder, one, other))
    return result


def are_equal(builder, one, other):
    """Are two operands equal, numbers or tuples?"""
    tuples = [isinstance(builder.type_of(o), tuple) for o in (one, other)]
    if all(tuples):
        return _all_equal(builder, builder.parts(one), builder.parts(other))
    return FALSE if any(tuples) else builder.truth("eq", one, other)

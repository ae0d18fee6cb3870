"""Tuples, and what is made like one: named tuples, vectors such as `float4`; a mix-in
of Lowering.
"""

import operator

import numpy as np

from helpers.core import ir
from helpers.frontend.types import field_names, our_type

BOOL = np.dtype(np.bool_)
TUPLE_OPERATORS = (
    *(operator.add, operator.eq, operator.ne),
    *(operator.lt, operator.le, operator.gt, operator.ge),
)
TRUE, FALSE = ir.Const(np.True_), ir.Const(np.False_)


class Tuples:
    """How tuples are made, taken apart and compared."""

    def _packed_operand(self, items, name):
        if all(isinstance(item, ir.Const) for item in items):
            return ir.Const(tuple(item.value for item in items))
        return name

    def pack(self, target, items):
        """Make a tuple; remember what it is made of where it is made only once."""
        once = self.definitions[target] == 1
        if once:
            self.packed[target] = items
        if not once or not all(isinstance(item, ir.Const) for item in items):
            name = self.declare(target, tuple(self.type_of(item) for item in items))
            self.emit(ir.Pack(name, items))

    def items(self, variable) -> tuple:
        """The operands of a tuple, or the one operand that is not a tuple."""
        name = getattr(variable, "name", variable)
        if name in self.packed:
            return self.packed[name]
        return self._parts(self.operand(name))

    def _parts(self, whole) -> tuple:
        """The operands that an operand is made of."""
        dtype = self.type_of(whole)
        if not isinstance(dtype, tuple):
            return (whole,)
        if isinstance(whole, ir.Const):
            return tuple(ir.Const(item) for item in whole.value)
        return tuple(self._item(whole, index, item) for index, item in enumerate(dtype))

    def _item(self, whole, index, dtype):
        target = self.new_name(dtype, "item")
        self.emit(ir.Item(target, whole, index))
        return target

    def _cast_tuple(self, operand, dtype):
        """A tuple whose items are converted one by one."""
        return self._whole(self._parts(operand), dtype)

    def _whole(self, operands, dtype):
        """An operand that is a tuple of operands."""
        items = tuple(self.cast(o, d) for o, d in zip(operands, dtype, strict=True))
        if all(isinstance(item, ir.Const) for item in items):
            return ir.Const(tuple(item.value for item in items))
        target = self.new_name(dtype, "tuple")
        self.emit(ir.Pack(target, items))
        return target

    def _repack(self, target, items):
        if all(isinstance(item, ir.Operand) for item in items):
            self.pack(target, items)
        else:
            self.packed[target] = items

    def _expr_build_tuple(self, target, value):
        if self.definitions[target] == 1 and any(map(self._is_slice, value.items)):
            self.packed[target] = tuple(value.items)
        else:
            self._make_tuple(target, [self.operand(item) for item in value.items])

    def _make_tuple(self, target, operands):
        """A tuple of operands, converted to what its type says."""
        dtypes = our_type(self.numba_type(target))
        cast = zip(operands, dtypes, strict=True)
        items = tuple(self.cast(operand, dtype) for operand, dtype in cast)
        if self.definitions[target] == 1:
            self.pack(target, items)
        else:
            self.emit(ir.Pack(self.declare(target, dtypes), items))

    def _make_vector(self, target, arguments):
        """`float4(float2(a, b), c, d)`: the parts of vectors beside numbers."""
        self._make_tuple(target, [part for a in arguments for part in self.items(a)])

    def _expr_exhaust_iter(self, target, value):
        self.pack(target, self.items(value.value))

    def _tuple_item(self, target, value):
        """`t[1]`, or `t[1:]`."""
        found = self.items(value.value)[value.index]
        if isinstance(found, tuple):
            self._make_tuple(target, found)
        else:
            self._bind(target, found)

    def _tuple_item_by_lane(self, target, value):
        """`t[i]`, where lanes may differ in i."""
        items, dtype = self.items(value.value), our_type(self.numba_type(target))
        index = self.cast(self.operand(value.index), np.dtype(np.int64))
        count = len(items)
        low = self._truth("lt", (index, ir.Const(np.int64(-count))))
        high = self._truth("ge", (index, ir.Const(np.int64(count))))
        outside = self._truth("or", (low, high))
        self.refuse_thread(outside, IndexError, "tuple index out of range")
        if isinstance(dtype, ir.ArrayType):
            return self._choose_array(self.declare(target, dtype), index, items)
        operands = (index, *(self.cast(item, dtype) for item in items))
        ours = self.declare(target, dtype)
        self.emit(ir.Operation(ours, "choose", operands, self.site()))

    def _tuple_attribute(self, target, value):
        """`p.x`, of a named tuple or a vector."""
        index = field_names(self.numba_type(value.value)).index(value.attr)
        self._bind(target, self.items(value.value)[index])

    # operators

    def _tuple_binary(self, target, value, function):
        """What an operator makes of two tuples."""
        left, right = self.items(value.lhs), self.items(value.rhs)
        if function is operator.add:
            return self._make_tuple(target, (*left, *right))
        self._bind(target, self._compare(function.__name__, left, right))

    def _compare(self, name, left, right):
        """Is one tuple equal to, or before or after another: the first difference
        decides.
        """
        if name in ("eq", "ne"):
            equal = self._all_equal(left, right)
            return equal if name == "eq" else self._truth("not", (equal,))
        lengths = getattr(operator, name)(len(left), len(right))
        result = TRUE if lengths else FALSE
        for one, other in reversed(list(zip(left, right, strict=False))):
            tie = self._truth("and", (self._equal(one, other), result))
            result = self._truth("or", (self._truth(f"{name[0]}t", (one, other)), tie))
        return result

    def _all_equal(self, left, right):
        if len(left) != len(right):
            return FALSE
        result = TRUE
        for one, other in zip(left, right, strict=True):
            result = self._truth("and", (result, self._equal(one, other)))
        return result

    def _equal(self, one, other):
        tuples = [isinstance(self.type_of(o), tuple) for o in (one, other)]
        if all(tuples):
            return self._all_equal(self._parts(one), self._parts(other))
        return FALSE if any(tuples) else self._truth("eq", (one, other))

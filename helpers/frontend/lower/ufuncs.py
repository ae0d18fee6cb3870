"""NumPy's ufuncs in a kernel: of numbers, or element by element into an array that is
given; a mix-in of Lowering.
"""

import numpy as np

from helpers.core import ir
from helpers.frontend.types import loop_of
from helpers.language.operators import FUNCTIONS

INDEX = np.dtype(np.int64)
ONE, ZERO = ir.Const(np.int64(1)), ir.Const(np.int64(0))


class Ufuncs:
    """How a ufunc is lowered: with an array to write to, as a loop over its cells."""

    def has_ufunc(self, ufunc) -> bool:
        """Is this ufunc in the table?"""
        return f"np.{ufunc.__name__}" in FUNCTIONS

    def _call_ufunc(self, target, ufunc, arguments):
        name = f"np.{ufunc.__name__}"
        dtypes, result = loop_of(ufunc, [self.numba_type(a) for a in arguments])
        operands = [self.operand(a) for a in arguments]
        if len(operands) == ufunc.nin:
            return self.operate(target, name, operands, dtypes, result)
        *inputs, out = operands
        self._each_cell(
            out, (), lambda at: self._store_cell(name, inputs, dtypes, result, out, at)
        )
        self._bind(target, out)

    def _each_cell(self, array, indices, body):
        """Emit a loop over the axes of an array that are left, with `body` within."""
        if len(indices) == self.type_of(array).ndim:
            return body(indices)
        index = self.new_name(INDEX, "cell")
        self.emit(ir.Copy((index,), (ZERO,)))
        again, inside, after = (self.program.new_block() for _ in range(3))
        self._leave_for(again)
        length = self._array_number(array, f"shape{len(indices)}")
        more = self._truth("lt", (index, length))
        self._leave(ir.Branch(more, inside, after, self.site()))
        self.block = inside
        self._each_cell(array, (*indices, index), body)
        self._step(index, ONE)
        self._leave_for(again)
        self.block = after

    def _store_cell(self, name, inputs, dtypes, result, out, indices):
        """Compute one cell."""
        operands = tuple(
            self.cast(self._at(operand, indices), dtype)
            for operand, dtype in zip(inputs, dtypes, strict=True)
        )
        value = self.new_name(result, "value")
        self.emit(ir.Operation(value, name, operands, self.site()))
        value = self.cast(value, self.type_of(out).dtype)
        self.emit(ir.Store(out, indices, value, self.reference("store", out)))

    def _at(self, operand, indices):
        """An input at a cell: an axis of length 1 is the same all along."""
        dtype = self.type_of(operand)
        if not isinstance(dtype, ir.ArrayType):
            return operand
        places = []
        for axis, index in enumerate(indices[len(indices) - dtype.ndim :]):
            last = self.new_name(INDEX, "last")
            length = self._array_number(operand, f"shape{axis}")
            self.emit(ir.Operation(last, "sub", (length, ONE), self.site()))
            places.append(self.new_name(INDEX, "place"))
            self.emit(ir.Operation(places[-1], "min", (index, last), self.site()))
        value = self.new_name(dtype.dtype, "value")
        self.emit(
            ir.Load(value, operand, tuple(places), self.reference("load", operand))
        )
        return value

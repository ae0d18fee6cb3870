"""Loops over tuples of several types, as Numba's `literal_unroll` makes them: for each
type a copy of the body, and a test which copy a turn takes; a mix-in of Lowering.
"""

import numpy as np

from helpers.core import ir
from helpers.frontend.types import our_type


class Unrolling:
    """How such a loop chooses its copy, and its item."""

    def _expr_typed_getitem(self, target, value):
        """`tuple[index]`, known to have one of the tuple's types."""
        dtype = our_type(self.numba_type(target))
        items = self.items(value.value)
        fitting = [item for item in items if self.type_of(item) == dtype]
        items = [i if self.type_of(i) == dtype else fitting[0] for i in items]
        index = self.operand(value.index)
        if isinstance(dtype, ir.ArrayType):
            return self._choose_array(self.declare(target, dtype), index, items)
        dtypes = (np.dtype(np.int64), *(dtype for _ in items))
        self.operate(target, "choose", (index, *items), dtypes, dtype)

    def is_foreign(self, value) -> bool:
        """Was this written by Numba's loops, and not in the kernel's file?"""
        return value.loc.filename != self.function.__code__.co_filename

    def _is_in(self, target, value):
        """`number in tuple`, or in an array."""
        if isinstance(our_type(self.numba_type(value.lhs)), ir.ArrayType):
            signature = self.typed.calls[value]
            self._inline_library(target, _contains, signature, [value.lhs, value.rhs])
            return
        found = ir.Const(np.False_)
        sought = self.operand(value.rhs)
        for item in self.items(value.lhs):
            same = self._equal(sought, item)
            found = self._truth("or", (found, same))
        self._bind(target, found)


def _contains(array, number):
    for item in np.nditer(array):
        if item.item() == number:
            return True
    return False

"""Calls of Python's builtins; a mix-in of Lowering. `enumerate` and `zip` are in
iteration.py.
"""

import numpy as np

from helpers.core import ir
from helpers.frontend.types import our_type

BUILTINS = (
    *(int, float, bool, abs, min, max, range, round, len, slice, pow),
    *(enumerate, zip, iter, next, divmod, complex),
    *(np.nditer, np.ndenumerate, np.ndindex),
)


class BuiltinCalls:
    """How each builtin is lowered."""

    def _builtin_range(self, target, arguments, signature):
        operands = [self.operand(a) for a in arguments]
        one, zero = ir.Const(np.int64(1)), ir.Const(np.int64(0))
        start, stop, step = {
            1: (zero, *operands, one),
            2: (*operands, one),
            3: tuple(operands),
        }[len(operands)]
        self.packed[target] = (start, stop, step)

    def _builtin_slice(self, target, arguments, signature):
        operands = [self.operand(a) for a in arguments]
        operands = [
            None if self._is_none(a) else o
            for a, o in zip(arguments, operands, strict=True)
        ]
        start, stop, step = {
            1: (None, *operands, None),
            2: (*operands, None),
            3: tuple(operands),
        }[len(operands)]
        self.known[target] = ir.Slice(start, stop, step)

    def _is_none(self, variable):
        return type(self.numba_type(variable)).__name__ in ("NoneType", "Omitted")

    def _builtin_len(self, target, arguments, signature):
        text = self.known.get(arguments[0].name)
        if isinstance(text, str):
            return self._know(target, len(text))
        operand = self.operand(arguments[0])
        dtype = self.type_of(operand)
        if isinstance(dtype, tuple):
            self._bind(target, ir.Const(np.int64(len(dtype))))
        else:
            self._bind(target, self._array_number(operand, "shape0"))

    def _builtin_bool(self, target, arguments, signature):
        self._bind_cast(target, self.operand(arguments[0]), np.dtype(np.bool_))

    def _builtin_int(self, target, arguments, signature):
        text = self.known.get(arguments[0].name) if arguments else None
        if isinstance(text, str):
            return self._know(target, float(text))
        self._bind_cast(
            target, self.operand(arguments[0]), our_type(self.numba_type(target))
        )

    _builtin_float = _builtin_int

    def _builtin_abs(self, target, arguments, signature):
        source, result = our_type(signature.args[0]), our_type(signature.return_type)
        self.operate(
            target,
            "abs",
            [self.operand(arguments[0])],
            (source if source.kind == "c" else result,),
            result,
        )

    def _builtin_round(self, target, arguments, signature):
        if len(arguments) > 1:
            operands = [self.operand(a) for a in arguments]
            return self._call_operator(target, "round to", operands, signature)
        source = our_type(signature.args[0])
        self.operate(target, "round", [self.operand(arguments[0])], (source,), source)

    def _builtin_pow(self, target, arguments, signature):
        self.operate(
            target,
            "pow",
            [self.operand(a) for a in arguments],
            [our_type(t) for t in signature.args],
            our_type(signature.return_type),
        )

    def _builtin_min(self, target, arguments, signature):
        self._fold("min", target, arguments, signature)

    def _builtin_max(self, target, arguments, signature):
        self._fold("max", target, arguments, signature)

    def _fold(self, name, target, arguments, signature):
        dtype = our_type(signature.return_type)
        operands = [item for a in arguments for item in self.items(a)]
        if isinstance(self.type_of(operands[0]), ir.ArrayType):
            self.refuse(
                f"`{name}` takes numbers here, not a whole array: go through it "
                "in a loop"
            )
        result = operands[0]
        for operand in operands[1:-1]:
            partial = self.new_name(dtype, name)
            cast = (self.cast(result, dtype), self.cast(operand, dtype))
            self.emit(ir.Operation(partial, name, cast, self.site()))
            result = partial
        self.operate(target, name, (result, operands[-1]), (dtype, dtype), dtype)

    def _builtin_divmod(self, target, arguments, signature):
        """Quotient and rest."""
        dtypes = our_type(signature.return_type)
        operands = tuple(
            self.cast(self.operand(a), d)
            for a, d in zip(arguments, dtypes, strict=True)
        )
        parts = []
        for name, dtype in zip(("floordiv", "mod"), dtypes, strict=True):
            parts.append(self.new_name(dtype, name))
            self.emit(ir.Operation(parts[-1], name, operands, self.site()))
        self._make_tuple(target, parts)

    def _builtin_complex(self, target, arguments, signature):
        """A complex number of another, of its parts, or of its real part."""
        result = our_type(signature.return_type)
        if len(arguments) == 1:
            return self._bind_cast(target, self.operand(arguments[0]), result)
        part = np.dtype(f"f{result.itemsize // 2}")
        operands = [self.operand(a) for a in arguments]
        self.operate(target, "complex", operands, (part, part), result)

"""The expressions of Numba's typed IR, one method each; a mix-in of lowering.Lowering.

Calls and loops are in calls.py.
"""

import operator

import numpy as np

from helpers.core import ir
from helpers.frontend.known_values import constant_value, is_enum_class
from helpers.frontend.lower.tuples import TUPLE_OPERATORS
from helpers.frontend.names import dotted_name
from helpers.frontend.types import our_type
from helpers.language.operators import PYTHON_OPERATORS, convert
from helpers.language.warp_intrinsics import GRID_SYNC, INTRINSICS


class Expressions:
    """How each kind of right-hand side is lowered."""

    # operands

    def operand(self, variable) -> ir.Operand:
        """What one of Numba's variables is to us: a constant, or a name."""
        name = getattr(variable, "name", variable)
        if name in self.packed:
            return self._packed_operand(self.packed[name], self.name(name))
        if name in self.known:
            constant = constant_value(self.known[name], our_type(self.numba_type(name)))
            if constant is not None:
                return constant
        ours = self.name(name)
        return ours if ours in self.program.types else self.arguments.get(name, ours)

    def declare(self, target, dtype) -> str:
        name = self.name(target)
        self.program.types[name] = dtype
        return name

    def cast(self, operand, dtype, meant=False) -> ir.Operand:
        """The operand converted to a type, at once when it is a constant."""
        if operand is None or dtype is None or self.type_of(operand) == dtype:
            return operand
        if isinstance(dtype, tuple):
            return self._cast_tuple(operand, dtype)
        if not isinstance(dtype, np.dtype):
            return operand
        if isinstance(operand, ir.Const):
            return ir.Const(convert(operand.value, dtype))
        target = self.new_name(dtype, "cast")
        self.emit(ir.Cast(target, operand, dtype, self.site(), meant))
        return target

    def assign(self, name, operand):
        """`name = operand`, in the type that `name` was declared with."""
        if self.within is not None and operand in self.aliases:
            self.aliases[name] = self.aliases[operand]
        if self.program.types.get(name) is not None and operand is not None:
            self.emit(ir.Copy((name,), (self.cast(operand, self.program.types[name]),)))

    def operate(self, target, name, operands, dtypes, result):
        """`target = name(operands)` on operands cast to `dtypes`, cast to the declared
        type.
        """
        cast = tuple(self.cast(o, d) for o, d in zip(operands, dtypes, strict=True))
        declared = our_type(self.numba_type(target))
        ours = self.declare(target, declared)
        direct = ours if declared == result else self.new_name(result, name)
        self.emit(ir.Operation(direct, name, cast, self.site()))
        if direct is not ours:
            self.assign(ours, direct)

    # values that are known before the launch

    def _value_Global(self, target, value):
        dtype = our_type(self.numba_type(target))
        if isinstance(dtype, ir.ArrayType):
            return self._captured_array(target, value.name, value.value, dtype)
        if isinstance(dtype, tuple) and any(isinstance(d, ir.ArrayType) for d in dtype):
            return self._captured_arrays(target, value.name, value.value, dtype)
        self._know(target, value.value)

    _value_FreeVar = _value_Global

    def _value_Const(self, target, value):
        self._know(target, value.value)

    def _know(self, target, value):
        dtype = our_type(self.numba_type(target))
        if self.definitions[target] == 1:
            self.known[target] = value
            return
        constant = constant_value(value, dtype)
        if constant is not None:
            self.assign(self.declare(target, dtype), constant)

    def _value_Var(self, target, value):
        source = value.name
        if self.definitions[target] == 1:
            if source in self.known and self.definitions[source] == 1:
                self.known[target] = self.known[source]
                return
            if source in self.packed and self.definitions[source] == 1:
                return self._repack(target, self.packed[source])
        if source in self.iterators:
            self.iterators[target] = self.iterators[source]
            return
        dtype = our_type(self.numba_type(target))
        if dtype is not None:
            self.assign(self.declare(target, dtype), self.operand(source))

    def _expr_cast(self, target, value):
        self._value_Var(target, value.value)

    # operators

    def _expr_binop(self, target, value):
        self._binary(target, value, value.fn)

    def _expr_inplace_binop(self, target, value):
        self._binary(target, value, value.immutable_fn)

    def _binary(self, target, value, function):
        name = PYTHON_OPERATORS.get(function)
        if function is operator.contains:
            return self._is_in(target, value)
        signature = self.typed.calls[value]
        dtypes = tuple(our_type(t) for t in signature.args)
        if function in (operator.is_, operator.is_not):
            if None in dtypes or signature.args[0] != signature.args[1]:
                same = dtypes == (None, None)
                result = np.bool_(same == (function is operator.is_))
                return self._bind(target, ir.Const(result))
            function = operator.eq if function is operator.is_ else operator.ne
            name = PYTHON_OPERATORS[function]
        if isinstance(dtypes[0], tuple) and function in TUPLE_OPERATORS:
            return self._tuple_binary(target, value, function)
        if name is None or not all(isinstance(d, np.dtype) for d in dtypes):
            self.refuse(
                f"the emulator does not know `{function.__name__}` of these types yet"
            )
        result = our_type(signature.return_type)
        if "".join(sorted(d.kind for d in dtypes)) == "iu" and result.kind in "iu":
            dtypes = (result, result)  # a literal's type may not be the operator's
        operands = (self.operand(value.lhs), self.operand(value.rhs))
        if name in ("truediv", "floordiv", "mod") and self._divides_strictly(dtypes):
            zero = self._truth("eq", (operands[1], ir.Const(dtypes[1].type(0))))
            self.refuse_thread(zero, ZeroDivisionError, "division by zero")
        self.operate(target, name, operands, dtypes, result)

    def _divides_strictly(self, dtypes) -> bool:
        """Does a division by zero end a thread?"""
        options = self.program.options
        fast = options.get("fastmath") and dtypes[1] == np.float32
        return bool(options.get("debug")) and not fast

    def _expr_unary(self, target, value):
        name = {
            operator.neg: "neg",
            operator.pos: "pos",
            operator.invert: "invert",
            operator.not_: "not",
        }.get(value.fn)
        signature = self.typed.calls[value]
        source, result = our_type(signature.args[0]), our_type(signature.return_type)
        if source.kind == "b" and name in ("neg", "pos"):
            source = result
        self.operate(
            target,
            name,
            (self.operand(value.value),),
            (source,),
            result if name == "not" else source,
        )

    # items

    def _is_slice(self, variable):
        """Is this a part of an index but no number: a slice, `...` or None?"""
        kind = type(self.numba_type(variable)).__name__
        return kind.startswith("Slice") or kind in ("EllipsisType", "NoneType")

    def _expr_static_getitem(self, target, value):
        array = our_type(self.numba_type(value.value))
        if is_enum_class(self.known.get(value.value.name)):
            return self._know(target, self.known[value.value.name][value.index])
        if isinstance(value.index, str):
            return self._get_field(target, value.value, value.index)
        if type(self.numba_type(value.value)).__name__ == "Record":
            name = array.dtype.names[value.index]
            return self._get_field(target, value.value, name)
        if isinstance(array, ir.ArrayType):
            index = value.index_var if value.index_var is not None else value.index
            return self._get(target, value.value, index)
        if value.value.name in self.flats:
            return self._get_flat(target, self.flats[value.value.name], value.index)
        if isinstance(array, tuple) and isinstance(value.index, (int, slice)):
            return self._tuple_item(target, value)
        self.refuse("the emulator does not know this kind of item yet")

    def _bind(self, target, operand):
        """Give an operand a name, without a copy where that is the same."""
        dtype = our_type(self.numba_type(target))
        self.assign(self.declare(target, dtype), operand)

    # attributes

    def _expr_getattr(self, target, value):
        source = value.value.name
        if type(self.numba_type(source)).__name__ == "GridGroup":
            self.known[target] = GRID_SYNC
            return
        if type(self.numba_type(source)).__name__ == "Dim3":
            name = f"{dotted_name(self.known[source])}.{value.attr}"
            return self._call_intrinsic(target, name, ())
        if source in self.known and not isinstance(
            self.known[source], (int, float, tuple)
        ):
            known = getattr(self.known[source], value.attr)
            name = dotted_name(known)
            if name in INTRINSICS and INTRINSICS[name].value:
                return self._call_intrinsic(target, name, ())
            self.known[target] = known
            return
        self._value_attribute(target, value)

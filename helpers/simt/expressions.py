"""The expressions of Numba's typed IR, one method each; a mix-in of lowering.Lowering."""

import operator

import numpy as np

from . import ir
from .intrinsics import ATOMICS, BARRIERS, INTRINSICS
from .names import dotted_name
from .operators import OPERATORS, PYTHON_OPERATORS, convert
from .types import named_dtype, our_type


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

    def _packed_operand(self, items, name):
        if all(isinstance(item, ir.Const) for item in items):
            return ir.Const(tuple(item.value for item in items))
        if name not in self.program.types:
            self.program.types[name] = tuple(self.type_of(item) for item in items)
        return name

    def items(self, variable) -> tuple:
        """The operands of a tuple, or the one operand that is not a tuple."""
        name = getattr(variable, "name", variable)
        if name in self.packed:
            return self.packed[name]
        whole = self.operand(name)
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

    def declare(self, target, dtype) -> str:
        name = self.name(target)
        self.program.types[name] = dtype
        return name

    def cast(self, operand, dtype) -> ir.Operand:
        """The operand converted to a type, at once when it is a constant."""
        if operand is None or not isinstance(dtype, np.dtype) or self.type_of(operand) == dtype:
            return operand
        if isinstance(operand, ir.Const):
            return ir.Const(convert(operand.value, dtype))
        target = self.new_name(dtype, "cast")
        self.emit(ir.Cast(target, operand, dtype))
        return target

    def assign(self, name, operand):
        """`name = operand`, in the type that `name` was declared with."""
        if self.program.types.get(name) is not None and operand is not None:
            self.emit(ir.Copy((name,), (self.cast(operand, self.program.types[name]),)))

    def operate(self, target, name, operands, dtypes, result):
        """`target = name(operands)` on operands cast to `dtypes`, cast to the declared type."""
        cast = tuple(self.cast(o, d) for o, d in zip(operands, dtypes, strict=True))
        declared = our_type(self.numba_type(target))
        ours = self.declare(target, declared)
        direct = ours if declared == result else self.new_name(result, name)
        self.emit(ir.Operation(direct, name, cast, self.site()))
        if direct is not ours:
            self.assign(ours, direct)

    # values that are known before the launch

    def _value_Global(self, target, value):
        self._know(target, value.value)

    _value_FreeVar = _value_Const = _value_Global

    def _know(self, target, value):
        dtype = our_type(self.numba_type(target))
        if isinstance(dtype, ir.ArrayType):
            return self._captured_array(target, value, dtype)
        if self.definitions[target] == 1:
            self.known[target] = value
            return
        constant = constant_value(value, dtype)
        if constant is not None:
            self.assign(self.declare(target, dtype), constant)

    def _captured_array(self, target, value, dtype):
        name = self.declare(target, dtype)
        self.emit(ir.Call(name, "constant array", (ir.Const(np.ascontiguousarray(value)),),
                          self.site()))

    def _value_Var(self, target, value):
        source = value.name
        if self.definitions[target] == 1:
            for table in (self.known, self.packed):
                if source in table and self.definitions[source] == 1:
                    table[target] = table[source]
                    return
        if type(self.numba_type(target)).__name__ == "RangeIteratorType":
            self.aliases[target] = self.aliases.get(source, source)
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
        signature = self.typed.calls[value]
        dtypes = tuple(our_type(t) for t in signature.args)
        if name is None or not all(isinstance(d, np.dtype) for d in dtypes):
            self.refuse(f"the emulator does not know `{function.__name__}` of these types yet")
        operands = (self.operand(value.lhs), self.operand(value.rhs))
        self.operate(target, name, operands, dtypes, our_type(signature.return_type))

    def _expr_unary(self, target, value):
        name = {operator.neg: "neg", operator.pos: "pos", operator.invert: "invert",
                operator.not_: "not"}.get(value.fn)
        signature = self.typed.calls[value]
        self.operate(target, name, (self.operand(value.value),), (our_type(signature.args[0]),),
                     our_type(signature.return_type))

    # tuples

    def _expr_build_tuple(self, target, value):
        items = tuple(self.operand(item) for item in value.items)
        if self.definitions[target] == 1 and not any(self._is_slice(i) for i in value.items):
            self.packed[target] = items
            if not all(isinstance(item, ir.Const) for item in items):
                name = self.declare(target, tuple(self.type_of(item) for item in items))
                self.emit(ir.Pack(name, items))
        elif self.definitions[target] == 1:
            self.packed[target] = tuple(value.items)
        else:
            self.emit(ir.Pack(self.declare(target, our_type(self.numba_type(target))), items))

    def _is_slice(self, variable):
        return type(self.numba_type(variable)).__name__.startswith("Slice")

    def _expr_exhaust_iter(self, target, value):
        self.packed[target] = self.items(value.value)

    def _expr_static_getitem(self, target, value):
        array = our_type(self.numba_type(value.value))
        if isinstance(array, ir.ArrayType):
            index = value.index_var if value.index_var is not None else value.index
            return self._get(target, value.value, index)
        if not isinstance(array, tuple) or not isinstance(value.index, int):
            self.refuse("the emulator does not know this kind of item yet")
        self._bind(target, self.items(value.value)[value.index])

    def _bind(self, target, operand):
        """Give an operand a name, without a copy where that is the same."""
        dtype = our_type(self.numba_type(target))
        self.assign(self.declare(target, dtype), operand)

    # attributes

    def _expr_getattr(self, target, value):
        source = value.value.name
        if type(self.numba_type(source)).__name__ == "Dim3":
            name = f"{dotted_name(self.known[source])}.{value.attr}"
            return self._call_intrinsic(target, name, ())
        if source in self.known and not isinstance(self.known[source], (int, float, tuple)):
            known = getattr(self.known[source], value.attr)
            name = dotted_name(known)
            if name in INTRINSICS and INTRINSICS[name].value:
                return self._call_intrinsic(target, name, ())
            self.known[target] = known
            return
        self._value_attribute(target, value)

    def _value_attribute(self, target, value):
        dtype = our_type(self.numba_type(value.value))
        operand = self.operand(value.value)
        bound = type(self.numba_type(target)).__name__ == "BoundFunction"
        if isinstance(dtype, ir.ArrayType) and value.attr in ("shape", "strides"):
            items = tuple(self._array_number(operand, f"{value.attr}{axis}")
                          for axis in range(dtype.ndim))
            self.packed[target] = items
            name = self.declare(target, (np.dtype(np.int64),) * dtype.ndim)
            self.emit(ir.Pack(name, items))
        elif isinstance(dtype, ir.ArrayType) and value.attr in ("size", "ndim", "itemsize"):
            self._bind(target, self._array_number(operand, value.attr))
        elif isinstance(dtype, ir.ArrayType) and value.attr == "T":
            self.emit(ir.Attribute(self.declare(target, dtype), operand, "T"))
            self.aliases[self.name(target)] = self.aliases.get(operand, operand)
        elif isinstance(dtype, np.dtype) and value.attr in ("real", "imag") and not bound:
            self.operate(target, value.attr, (operand,), (dtype,),
                         our_type(self.numba_type(target)))
        else:
            what = "arrays" if isinstance(dtype, ir.ArrayType) else "values"
            self.refuse(f"the emulator does not know `.{value.attr}` of {what} yet")

    def _array_number(self, array, name):
        target = self.new_name(np.dtype(np.int64), name)
        self.emit(ir.Attribute(target, array, name))
        return target

    # arrays

    def _expr_getitem(self, target, value):
        if isinstance(our_type(self.numba_type(value.value)), ir.ArrayType):
            return self._get(target, value.value, value.index)
        items = self.items(value.value)
        index = self.operand(value.index)
        dtype = our_type(self.numba_type(target))
        self.operate(target, "choose", (index, *items), (np.dtype(np.int64),
                     *(dtype for _ in items)), dtype)

    def _get(self, target, array, index):
        operand, indices = self.operand(array), self._indices(index)
        result = our_type(self.numba_type(target))
        if isinstance(result, ir.ArrayType):
            name = self.declare(target, result)
            self.emit(ir.View(name, operand, indices, self.reference("load", operand)))
            self.aliases[name] = self.aliases.get(operand, operand)
            return
        if not isinstance(self.type_of(operand).dtype, np.dtype) or result is None:
            self.refuse("the emulator does not know arrays of records yet")
        self.emit(ir.Load(self.declare(target, result), operand, indices,
                          self.reference("load", operand)))

    def _indices(self, index) -> tuple:
        """The parts of an index, each an operand or a Slice."""
        if isinstance(index, (int, slice, tuple)):
            parts = index if isinstance(index, tuple) else (index,)
            return tuple(static_index(part) for part in parts)
        name = getattr(index, "name", index)
        if self._is_slice(name):
            return (self.known[name],)
        if name not in self.packed:
            return self.items(name)
        return tuple(self._index_part(part) for part in self.packed[name])

    def _index_part(self, part):
        name = getattr(part, "name", None)
        if name is None:
            return part
        if self._is_slice(name):
            return self.known[name] if isinstance(self.known[name], ir.Slice) else static_index(
                self.known[name])
        return self.operand(part)

    def _do_SetItem(self, statement):
        self._set(statement, statement.index)

    def _do_StaticSetItem(self, statement):
        index = statement.index_var if statement.index_var is not None else statement.index
        self._set(statement, index)

    def _set(self, statement, index):
        array = self.operand(statement.target)
        dtype = self.type_of(array).dtype
        indices = self._indices(index)
        if any(isinstance(part, ir.Slice) for part in indices):
            self.refuse("storing to a slice is not emulated yet: store one element at a time")
        value = self.operand(statement.value)
        if not isinstance(self.type_of(value), np.dtype):
            self.refuse("storing an array is not emulated yet: store one element at a time")
        self.emit(ir.Store(array, indices, self.cast(value, dtype),
                           self.reference("store", array)))

    # loops

    def _expr_getiter(self, target, value):
        source = value.value.name
        if type(self.numba_type(source)).__name__ != "RangeType":
            self.refuse("the emulator knows loops over `range` only, for now")
        dtype = our_type(self.numba_type(target).yield_type)
        for part, operand in zip(("next", "stop", "step"), self.packed[source], strict=True):
            name = self.declare(f"{target}.{part}", dtype)
            self.emit(ir.Copy((name,), (self.cast(operand, dtype),)))

    def _expr_iternext(self, target, value):
        state = self.aliases.get(value.value.name, value.value.name)
        dtype = our_type(self.numba_type(target).first_type)
        following, stop, step = (self.name(f"{state}.{part}") for part in ("next", "stop", "step"))
        first = self.declare(f"{target}.first", dtype)
        more = self.declare(f"{target}.second", np.dtype(np.bool_))
        self.emit(ir.Copy((first,), (following,)))
        self.emit(ir.Operation(more, "in range", (following, stop, step), self.site()))
        self.emit(ir.Operation(following, "add", (following, step), self.site()))

    def _expr_pair_first(self, target, value):
        self._bind(target, self.name(f"{value.value.name}.first"))

    def _expr_pair_second(self, target, value):
        self._bind(target, self.name(f"{value.value.name}.second"))

    # calls

    def _expr_call(self, target, value):
        callee = self.known.get(value.func.name)
        signature = self.typed.calls[value]
        if value.kws:
            bound = dict(value.kws)
            order = [*value.args, *bound.values()]
            value_args = order
        else:
            value_args = list(value.args)
        dtype = named_dtype(callee)
        name = dotted_name(callee)
        if hasattr(callee, "py_func"):
            self.inline(target, callee, signature, [self.operand(a) for a in value_args])
        elif dtype is not None:
            self._bind_cast(target, self.operand(value_args[0]), dtype)
        elif callee in (int, float, bool, abs, min, max, range, round, len, slice, pow):
            getattr(self, f"_builtin_{callee.__name__}")(target, value_args, signature)
        elif name in ("cuda.shared.array", "cuda.local.array"):
            self._allocate(target, name.split(".")[1], value)
        elif name == "cuda.const.array_like":
            self._bind(target, self.operand(value_args[0]))
            self.aliases[self.name(target)] = self.operand(value_args[0])
        elif name in ATOMICS:
            self._atomic(target, name, value_args, signature)
        elif name in BARRIERS:
            self._barrier(target, name, value_args)
        elif name in INTRINSICS:
            self._call_intrinsic(target, name, [self.operand(a) for a in value_args], signature)
        elif name in OPERATORS:
            dtypes = [our_type(t) for t in signature.args]
            self.operate(target, name, [self.operand(a) for a in value_args], dtypes,
                         our_type(signature.return_type))
        else:
            self.refuse(f"the emulator does not know `{callee_name(callee, name)}` yet")

    def _bind_cast(self, target, operand, dtype):
        name = self.declare(target, dtype)
        if isinstance(operand, ir.Const):
            operand = ir.Const(convert(operand.value, dtype))
        self.emit(ir.Copy((name,), (self.cast(operand, dtype),)))

    def _call_intrinsic(self, target, name, operands, signature=None):
        if name not in INTRINSICS:
            self.refuse(f"the emulator does not know `{name}` yet")
        if signature is not None and INTRINSICS[name].cast:
            operands = [self.cast(o, our_type(t)) for o, t in
                        zip(operands, signature.args, strict=True)]
        dtype = our_type(self.numba_type(target))
        self.emit(ir.Call(self.declare(target, dtype), name, tuple(operands), self.site()))

    def _allocate(self, target, space, value):
        arguments = [*value.args, *dict(value.kws).values()]
        result = our_type(self.numba_type(target))
        shape = [self.known.get(getattr(v, "name", v)) for v in (arguments[0],)][0]
        if shape is None:
            shape = tuple(int(item.value) for item in self.items(arguments[0]))
        shape = tuple(shape) if isinstance(shape, tuple) else (int(shape),)
        name = self.declare(target, result)
        self.emit(ir.Allocate(name, space, shape, result.dtype, self.array_name(name), self.site()))

    def _atomic(self, target, name, arguments, signature):
        operator_name = ATOMICS[name]
        array = self.operand(arguments[0])
        dtype = self.type_of(array).dtype
        if name == "cuda.atomic.compare_and_swap":
            indices, values = (ir.Const(np.int64(0)),), arguments[1:]
        else:
            indices, values = self._indices(arguments[1]), arguments[2:]
        values = tuple(self.cast(self.operand(v), dtype) for v in values)
        self.emit(ir.Atomic(self.declare(target, dtype), operator_name, array, indices, values,
                            self.reference("atomic", array)))

    def _barrier(self, target, name, arguments):
        predicate = self.operand(arguments[0]) if arguments else None
        result = self.declare(target, np.dtype(np.int32)) if arguments else None
        self.emit(ir.Barrier(result, BARRIERS[name], predicate, self.site()))
        following = self.program.new_block()
        self._leave(ir.Jump(following))
        self.block = following

    # builtins

    def _builtin_range(self, target, arguments, signature):
        operands = [self.operand(a) for a in arguments]
        one, zero = ir.Const(np.int64(1)), ir.Const(np.int64(0))
        start, stop, step = {1: (zero, *operands, one), 2: (*operands, one), 3: tuple(operands)}[
            len(operands)]
        self.packed[target] = (start, stop, step)

    def _builtin_slice(self, target, arguments, signature):
        operands = [self.operand(a) for a in arguments]
        operands = [None if self._is_none(a) else o for a, o in
                    zip(arguments, operands, strict=True)]
        start, stop, step = {1: (None, *operands, None), 2: (*operands, None),
                             3: tuple(operands)}[len(operands)]
        self.known[target] = ir.Slice(start, stop, step)

    def _is_none(self, variable):
        return type(self.numba_type(variable)).__name__ in ("NoneType", "Omitted")

    def _builtin_len(self, target, arguments, signature):
        operand = self.operand(arguments[0])
        dtype = self.type_of(operand)
        if isinstance(dtype, tuple):
            self._bind(target, ir.Const(np.int64(len(dtype))))
        else:
            self._bind(target, self._array_number(operand, "shape0"))

    def _builtin_bool(self, target, arguments, signature):
        self._bind_cast(target, self.operand(arguments[0]), np.dtype(np.bool_))

    def _builtin_int(self, target, arguments, signature):
        self._bind_cast(target, self.operand(arguments[0]), our_type(self.numba_type(target)))

    _builtin_float = _builtin_int

    def _builtin_abs(self, target, arguments, signature):
        dtype = our_type(signature.return_type)
        self.operate(target, "abs", [self.operand(arguments[0])], (dtype,), dtype)

    def _builtin_round(self, target, arguments, signature):
        if len(arguments) > 1:
            self.refuse("`round` to a number of digits is not emulated yet")
        source = our_type(signature.args[0])
        self.operate(target, "round", [self.operand(arguments[0])], (source,), source)

    def _builtin_pow(self, target, arguments, signature):
        self.operate(target, "pow", [self.operand(a) for a in arguments],
                     [our_type(t) for t in signature.args], our_type(signature.return_type))

    def _builtin_min(self, target, arguments, signature):
        self._fold("min", target, arguments, signature)

    def _builtin_max(self, target, arguments, signature):
        self._fold("max", target, arguments, signature)

    def _fold(self, name, target, arguments, signature):
        dtype = our_type(signature.return_type)
        operands = [item for a in arguments for item in self.items(a)]
        result = operands[0]
        for operand in operands[1:-1]:
            partial = self.new_name(dtype, name)
            cast = (self.cast(result, dtype), self.cast(operand, dtype))
            self.emit(ir.Operation(partial, name, cast, self.site()))
            result = partial
        self.operate(target, name, (result, operands[-1]), (dtype, dtype), dtype)


def constant_value(value, dtype):
    """A Const for a Python value of one of our types, or None."""
    if isinstance(dtype, np.dtype) and isinstance(value, (int, float, complex, np.generic)):
        return ir.Const(dtype.type(value))
    if isinstance(dtype, tuple) and isinstance(value, tuple):
        return ir.Const(tuple(d.type(v) for d, v in zip(dtype, value, strict=True)))
    return None


def static_index(part):
    """An index that is written out in the source."""
    if isinstance(part, slice):
        return ir.Slice(*(None if p is None else ir.Const(np.int64(p))
                          for p in (part.start, part.stop, part.step)))
    if isinstance(part, int):
        return ir.Const(np.int64(part))
    return part


def callee_name(callee, name):
    """What to call a function that a kernel calls."""
    return name or getattr(callee, "__name__", None) or "this function"

"""The calls of Numba's typed IR: casts, builtins, intrinsics; a mix-in of Lowering."""

import numpy as np

from . import ir
from .intrinsics import ATOMICS, BARRIERS, CACHE_HINTS, GRID_SYNC, INTRINSICS
from .names import dotted_name
from .operators import OPERATORS, convert
from .twins import is_intrinsic
from .types import named_dtype, our_type

BUILTINS = (
    *(int, float, bool, abs, min, max, range, round, len, slice, pow),
    *(enumerate, zip, iter, next, np.nditer, np.ndenumerate, np.ndindex),
)


class Calls:
    """How each kind of call is lowered."""

    def _expr_call(self, target, value):
        callee = self.known.get(value.func.name)
        signature = self.typed.calls[value]
        if value.kws:
            bound = dict(value.kws)
            order = [*value.args, *bound.values()]
            value_args = order
        else:
            value_args = list(value.args)
        if type(self.numba_type(target)).__name__ == "GridGroup":
            return
        if callee is GRID_SYNC:
            return self._wait(ir.Barrier(None, "grid", None, self.site()))
        dtype = named_dtype(callee)
        name = dotted_name(callee)
        if value.func.name in self.methods:
            self._call_method(target, value.func.name, value_args, signature)
        elif hasattr(callee, "py_func") and name not in INTRINSICS:
            self.inline(target, callee, signature, value_args)
        elif dtype is not None:
            self._bind_cast(target, self.operand(value_args[0]), dtype)
        elif callee in BUILTINS:
            getattr(self, f"_builtin_{callee.__name__}")(target, value_args, signature)
        elif name in ("cuda.shared.array", "cuda.local.array"):
            self._allocate(target, name.split(".")[1], value)
        elif name == "cuda.const.array_like":
            self._bind(target, self.operand(value_args[0]))
            self.aliases[self.name(target)] = self.operand(value_args[0])
        elif name in CACHE_HINTS:
            self._hinted(target, CACHE_HINTS[name], value_args)
        elif name in ATOMICS:
            self._atomic(target, name, value_args, signature)
        elif name in BARRIERS:
            self._barrier(target, name, value_args)
        elif name in INTRINSICS:
            self._call_intrinsic(
                target, name, [self.operand(a) for a in value_args], signature
            )
        elif name in OPERATORS:
            result = our_type(signature.return_type)
            dtypes = [
                result
                if result.kind == "f" and our_type(t).kind in "iub"
                else our_type(t)
                for t in signature.args
            ]
            self.operate(
                target, name, [self.operand(a) for a in value_args], dtypes, result
            )
        elif is_intrinsic(callee):
            self._call_twin(target, callee, value_args, signature)
        elif isinstance(callee, type) and issubclass(callee, BaseException):
            if self.within is not None or self.is_foreign(value):
                return
            self.refuse(
                "`raise` ends a thread in silence on a GPU: store a mark in an "
                "array, or `return`"
            )
        elif not self._call_library(target, value.func, value_args, signature):
            self.refuse(
                f"the emulator does not know `{callee_name(callee, name)}` "
                "yet: write it as a loop over `range(...)`, or with operators"
            )

    def _bind_cast(self, target, operand, dtype):
        name = self.declare(target, dtype)
        if isinstance(operand, ir.Const):
            operand = ir.Const(convert(operand.value, dtype))
        self.emit(ir.Copy((name,), (self.cast(operand, dtype, dtype.kind != "i"),)))

    def _call_intrinsic(self, target, name, operands, signature=None):
        if name not in INTRINSICS:
            self.refuse(f"the emulator does not know `{name}` yet")
        if signature is not None and INTRINSICS[name].cast:
            operands = [
                self.cast(o, our_type(t), meant=True)
                for o, t in zip(operands, signature.args, strict=True)
            ]
        if INTRINSICS[name].gathers:
            mask = operands[0] if operands else ir.Const(np.int64(0xFFFFFFFF))
            self._leave_for(self.program.new_block())
            self.emit(ir.Gather(mask, self.site()))
            self._leave_for(self.program.new_block())
        dtype = our_type(self.numba_type(target))
        result, pure = self.declare(target, dtype), INTRINSICS[name].pure
        self.emit(ir.Call(result, name, tuple(operands), self.site(), pure))

    def _allocate(self, target, space, value):
        named = dict(value.kws)
        alignment = self.known.get(getattr(named.pop("alignment", None), "name", None))
        if len(value.args) > 2:
            alignment = self.known.get(value.args[2].name)
        arguments = [*value.args, *named.values()]
        if "shape" in named:
            arguments = [named["shape"]]
        result = our_type(self.numba_type(target))
        shape = [self.known.get(getattr(v, "name", v)) for v in (arguments[0],)][0]
        if shape is None:
            shape = tuple(int(item.value) for item in self.items(arguments[0]))
        shape = tuple(shape) if isinstance(shape, tuple) else (int(shape),)
        name = self.declare(target, result)
        # a thread has its own local arrays in each call, a block has one shared array
        key = (*self.specialisation, target) if space == "shared" else (name,)
        told, site = self.array_name(name), self.site()
        whole = (name, space, shape, result.dtype, told, site, key, alignment or 1)
        self.emit(ir.Allocate(*whole))

    def _atomic(self, target, name, arguments, signature):
        operator_name = ATOMICS[name]
        array = self.operand(arguments[0])
        dtype = self.type_of(array).dtype
        if name == "cuda.atomic.compare_and_swap":
            indices, values = (ir.Const(np.int64(0)),), arguments[1:]
        else:
            indices, values = self._indices(arguments[1]), arguments[2:]
        values = tuple(self.cast(self.operand(v), dtype) for v in values)
        self.emit(
            ir.Atomic(
                self.declare(target, dtype),
                operator_name,
                array,
                indices,
                values,
                self.reference("atomic", array),
            )
        )

    def _barrier(self, target, name, arguments):
        predicate = self.operand(arguments[0]) if arguments else None
        result = self.declare(target, np.dtype(np.int32)) if arguments else None
        self._wait(ir.Barrier(result, BARRIERS[name], predicate, self.site()))

    def _wait(self, barrier):
        """End the piece at a barrier."""
        self.emit(barrier)
        self._leave_for(self.program.new_block())

    def _leave_for(self, block):
        """Go on in another block."""
        self._leave(ir.Jump(block))
        self.block = block

    # builtins

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
        operand = self.operand(arguments[0])
        dtype = self.type_of(operand)
        if isinstance(dtype, tuple):
            self._bind(target, ir.Const(np.int64(len(dtype))))
        else:
            self._bind(target, self._array_number(operand, "shape0"))

    def _builtin_bool(self, target, arguments, signature):
        self._bind_cast(target, self.operand(arguments[0]), np.dtype(np.bool_))

    def _builtin_int(self, target, arguments, signature):
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
            self.refuse("`round` to a number of digits is not emulated yet")
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


def callee_name(callee, name):
    """What to call a function that a kernel calls."""
    return name or getattr(callee, "__name__", None) or "this function"

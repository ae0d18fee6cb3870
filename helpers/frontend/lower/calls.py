"""The calls of Numba's typed IR: of functions, types and intrinsics; a mix-in of
Lowering. builtin_calls.py has Python's own.
"""

from inspect import signature as signature_of

import numpy as np

from helpers.core import ir
from helpers.frontend.lower.builtins import BUILTINS
from helpers.frontend.names import dotted_name
from helpers.frontend.types import is_vector, named_dtype, our_type
from helpers.language.operators import FUNCTIONS, OPERATORS, PYTHON_OPERATORS, convert
from helpers.language.twin_registry import is_intrinsic
from helpers.language.warp_intrinsics import (
    ATOMICS,
    BARRIERS,
    CACHE_HINTS,
    GRID_SYNC,
    INTRINSICS,
)


class Calls:
    """How each kind of call is lowered."""

    def _expr_call(self, target, value):
        callee = self.known.get(value.func.name)
        signature = self.typed.calls[value]
        arguments = self._arguments(value)
        if type(self.numba_type(target)).__name__ == "GridGroup":
            return
        if callee is GRID_SYNC:
            return self._wait(ir.Barrier(None, "grid", None, self.site()))
        if value.func.name in self.methods:
            return self._call_method(target, value.func.name, arguments, signature)
        name = dotted_name(callee)
        if name not in INTRINSICS and self._call_python(
            target, callee, arguments, value, signature
        ):
            return
        if name in ("cuda.shared.array", "cuda.local.array"):
            self._allocate(target, name.split(".")[1], value)
        elif name == "cuda.const.array_like":
            self._bind(target, self.operand(arguments[0]))
            self.aliases[self.name(target)] = self.operand(arguments[0])
        elif name in CACHE_HINTS:
            self._hinted(target, CACHE_HINTS[name], arguments)
        elif name in ATOMICS:
            self._atomic(target, name, arguments, signature)
        elif name in BARRIERS:
            self._barrier(target, name, arguments)
        elif name in INTRINSICS:
            operands = [self.operand(a) for a in arguments]
            self._call_intrinsic(target, name, operands, signature)
        elif name in OPERATORS or name in FUNCTIONS:
            operands = [self.operand(a) for a in arguments]
            self._call_operator(target, name, operands, signature)
        elif is_intrinsic(callee):
            self._call_twin(target, callee, arguments, signature)
        elif not self._call_library(target, value, signature):
            self._refuse_call(callee, name)

    def _call_python(self, target, callee, arguments, value, signature) -> bool:
        """Call what Python or Numba made: is this such a thing?"""
        dtype = named_dtype(callee)
        if hasattr(callee, "py_func"):
            arguments = self._in_order(callee.py_func, value)
            self.inline(target, callee, signature, arguments)
        elif dtype is not None:
            self._bind_cast(target, self.operand(arguments[0]), dtype)
        elif callee in BUILTINS:
            getattr(self, f"_builtin_{callee.__name__}")(target, arguments, signature)
        elif callee in PYTHON_OPERATORS:
            operands = [self.operand(a) for a in arguments]
            name = PYTHON_OPERATORS[callee]
            self._call_operator(target, name, operands, signature)
        elif is_vector(self.numba_type(target)):
            self._make_vector(target, arguments)
        elif callee is tuple:
            self._make_tuple(target, self.items(arguments[0]))
        elif isinstance(callee, type) and issubclass(callee, tuple):
            self._make_tuple(target, [self.operand(a) for a in arguments])
        elif isinstance(callee, np.ufunc) and self.has_ufunc(callee):
            self._call_ufunc(target, callee, arguments)
        elif callee in (np.iinfo, np.finfo):
            self.known[target] = callee(self._dtype_of(arguments[0]))
        else:
            return isinstance(callee, type) and issubclass(callee, BaseException)
        return True

    def _dtype_of(self, variable):
        """The dtype that an argument names, or that it has."""
        name = getattr(variable, "name", variable)
        known = self.known.get(name)
        dtype = known if isinstance(known, np.dtype) else named_dtype(known)
        return dtype or our_type(self.numba_type(name))

    def _arguments(self, value) -> list:
        """The variables that a call is given, in order."""
        given = [*value.args, *(variable for _, variable in value.kws)]
        if value.vararg is not None:
            given += self._spread(value.vararg)
        return given

    def _in_order(self, function, call) -> list:
        """What a call gives each parameter: a variable, a tuple of them, or None."""
        spread = self._spread(call.vararg) if call.vararg is not None else ()
        signature = signature_of(function)
        bound = signature.bind(*call.args, *spread, **dict(call.kws)).arguments
        return [
            bound.get(name, () if parameter.kind is parameter.VAR_POSITIONAL else None)
            for name, parameter in signature.parameters.items()
        ]

    def _spread(self, variable) -> list:
        """The items of `*t`, as variables of their own."""
        names = []
        types = self.numba_type(variable).types
        for place, item in enumerate(self.items(variable)):
            name = f"{variable.name}.{place}"
            self.typed.types[name] = types[place]
            self.emit(ir.Copy((self.declare(name, self.type_of(item)),), (item,)))
            names.append(name)
        return names

    def _call_operator(self, target, name, operands, signature):
        """Compute a row of the operators, on operands of the signature's types."""
        result = our_type(signature.return_type)
        dtypes = [our_type(t) for t in (signature.args or [None])]
        if name.startswith("math.") and getattr(result, "kind", "") == "f":
            dtypes = [result if d.kind in "iub" else d for d in dtypes]
        self.operate(target, name, operands, dtypes, result)

    def _refuse_call(self, callee, name):
        """Say that a function is not emulated, and what can be done."""
        called = callee_name(callee, name)
        home = getattr(callee, "__module__", None) or type(callee).__module__
        if type(callee).__name__ == "ExternFunction" or "cffi" in home:
            self.refuse(
                f"`{called}` is code of another language, which the emulator cannot "
                "run: write it in Python, under `@cuda.jit(device=True)`"
            )
        if home.startswith(("numba.cuda.libdevice", "numba.cuda._internal")):
            self.refuse(
                f"`{called}` of CUDA's own library is not emulated, since NumPy has "
                "no such function: write it with others"
            )
        self.refuse(
            f"the emulator does not know `{called}` yet: write it as a loop over "
            "`range(...)`, or with operators"
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
        if INTRINSICS[name].syncs_warp:
            mask = operands[0] if operands else ir.Const(np.int64(0xFFFFFFFF))
            self._leave_for(self.program.new_block())
            self.emit(ir.WarpSync(mask, self.site()))
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


def callee_name(callee, name):
    """What to call a function that a kernel calls."""
    own = getattr(callee, "__name__", None) or getattr(callee, "name", None)
    return name or own or "this function"

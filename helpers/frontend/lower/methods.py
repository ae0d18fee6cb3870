"""Methods of arrays, and what Numba itself writes in Python; a mix-in of Lowering.

A reduction such as `a.mean()` is a loop that Numba compiles in the place of the call:
its Python source is lowered here too, so that its order and its types are Numba's. Its
loads are told as those of the calling line.
"""

from types import SimpleNamespace

import numpy as np

from helpers.core import ir
from helpers.frontend.inference import overload_of
from helpers.frontend.types import our_type
from helpers.language.operators import FUNCTIONS
from helpers.language.twin_registry import twin_of


class Methods:
    """How methods, library functions, cache hints and intrinsics are called."""

    def _call_method(self, target, method, arguments, signature):
        """`array.name(*arguments)`."""
        variable, name = self.methods[method]
        own = getattr(self, f"_method_{name}", None)
        if own is not None and isinstance(self._array_type(variable), ir.ArrayType):
            return own(target, variable, arguments)
        if isinstance(self._array_type(variable), np.dtype) and name == "view":
            return self._view_number(target, self.operand(variable))
        if isinstance(self._array_type(variable), np.dtype) and f".{name}" in FUNCTIONS:
            operands = [self.operand(variable)]
            return self._call_operator(target, f".{name}", operands, signature)
        if name == "item":
            return self._bind(target, self.operand(variable))
        bound = self.numba_type(method)
        function = self._written_in_python(bound, name, signature, (bound.this,))
        if function is None:
            self.refuse(f"the emulator does not know `.{name}()` yet: write it out")
        this = signature.replace(args=(bound.this, *signature.args))
        self._inline_library(target, function, this, [variable, *arguments])

    def _array_type(self, variable):
        return our_type(self.numba_type(variable))

    def _method_transpose(self, target, variable, arguments):
        self._transpose(target, self.operand(variable))

    def _method_item(self, target, variable, arguments):
        array = self.operand(variable)
        zeros = (ir.Const(np.int64(0)),) * self.type_of(array).ndim
        self._load(self._declared(target), array, zeros)

    def _method_take(self, target, variable, arguments):
        array, index = self.operand(variable), self._flat_index(arguments[0])
        self._load(self._declared(target), array, self.unravelled(array, index))

    def _method_fill(self, target, variable, arguments):
        whole = (ir.Slice(None, None, None),) * self._array_type(variable).ndim
        array, value = self.operand(variable), self.operand(arguments[0])
        self.store_to(array, whole, value)

    def _method_reshape(self, target, variable, arguments):
        operand = self.operand(variable)
        if self.numba_type(variable).layout != "C":
            self.refuse(
                "Numba reshapes an array in Fortran order, and counts its elements in "
                "an order that is not NumPy's: reshape it before the launch"
            )
        shape = [item for argument in arguments for item in self.items(argument)]
        shape = tuple(self.cast(item, np.dtype(np.int64)) for item in shape)
        name = self._part_of(target, operand)
        self.emit(ir.Reshape(name, operand, shape, self.site()))

    def _method_view(self, target, variable, arguments):
        operand, dtype = self.operand(variable), self._declared_dtype(target)
        name = self._part_of(target, operand)
        if dtype.itemsize == self.type_of(operand).dtype.itemsize:
            return self.emit(ir.Field(name, operand, dtype, 0, ()))
        self.emit(ir.Reinterpret(name, operand, dtype, self.site()))

    def _view_number(self, target, operand):
        """The bits of a number as one of another type."""
        dtype = our_type(self.numba_type(target))
        operands = (operand, ir.Const(dtype.type(0)))
        ours = self.declare(target, dtype)
        self.emit(ir.Operation(ours, "view", operands, self.site()))

    def _declared_dtype(self, target):
        return our_type(self.numba_type(target)).dtype

    # what Numba writes in Python

    def _call_library(self, target, call, signature) -> bool:
        """Lower a function of Numba's own in the place of its call, if it has one."""
        variable, arguments = call.func, self._arguments(call)
        kind = self.numba_type(variable)
        callee = self.known.get(variable.name)
        if isinstance(callee, np.ufunc) and self.within is not None:
            self._call_numpy(target, callee, arguments, signature)
            return True
        name = getattr(callee, "__name__", "")
        function = self._written_in_python(kind, name, signature, ())
        if function is None:
            return False
        arguments = self._in_order(function, call)
        self._inline_library(target, function, signature, arguments)
        return True

    def _written_in_python(self, kind, name, signature, before):
        """The Python function that Numba compiles for a call, or None."""
        if name == "sum" and len(before) + len(signature.args) == 1:
            return _sum(signature.return_type)
        if hasattr(kind, "templates"):
            chosen = overload_of(kind, signature)
            return None if chosen is None else chosen.py_func
        templates = (kind.template,)
        for template in templates:
            overload = getattr(template, "_overload_func", None)
            if overload is None:
                continue
            function = overload(*before, *signature.args)
            if isinstance(function, tuple):
                function = function[1]
            if function is not None:
                return function
        return None

    def _inline_library(self, target, function, signature, arguments):
        missing = len(signature.args) - len(arguments)
        library = SimpleNamespace(
            py_func=function, targetoptions={}, __name__=function.__name__
        )
        arguments = [*arguments, *(None,) * missing]
        self.inline(target, library, signature, arguments, within=self.site())

    def _call_numpy(self, target, function, arguments, signature):
        """A function of NumPy's on numbers, which a library's loop calls."""
        operands = [
            self.cast(self.operand(argument), our_type(dtype))
            for argument, dtype in zip(arguments, signature.args, strict=True)
        ]
        self._twin(target, function, operands, function.__name__, signature)

    # cache hints and intrinsics

    def _hinted(self, target, kind, arguments):
        """A load or a store that also says what caches are to keep."""
        array, indices = self.operand(arguments[0]), self._indices(arguments[1])
        if kind == "load":
            return self._load(self._declared(target), array, indices)
        self.store_to(array, indices, self.operand(arguments[2]))

    def _call_twin(self, target, intrinsic, arguments, signature):
        name, function = intrinsic._name, twin_of(intrinsic)
        if function is None:
            self.refuse(
                f"the intrinsic `{name}` has no twin: write what it computes as a "
                f"function of NumPy arrays, with `@twin({name})` above it"
            )
        operands = [
            self.cast(self.operand(argument), our_type(dtype))
            for argument, dtype in zip(arguments, signature.args, strict=True)
        ]
        arrays = [o for o in operands if isinstance(self.type_of(o), ir.ArrayType)]
        told = arrays[0] if arrays else name
        self._twin(target, function, operands, told, signature)

    def _twin(self, target, function, operands, told, signature):
        result = our_type(signature.return_type)
        ours = None if result is None else self.declare(target, result)
        references = self.reference("load", told), self.reference("store", told)
        self.emit(ir.Twin(ours, function, tuple(operands), result, *references))


def _sum(result):
    """`a.sum()` as Numba compiles it."""
    zero = result(0)

    def array_sum(arr):
        c = zero
        for v in np.nditer(arr):
            c += v.item()
        return c

    return array_sum

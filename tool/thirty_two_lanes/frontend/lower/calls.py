"""The calls of Numba's typed IR: of functions, types and intrinsics; builtins.py has
Python's own, methods.py those of arrays.
"""

from dataclasses import replace

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.dotted_names import dotted_name
from thirty_two_lanes.frontend.lower import arrays, inlining, operators
from thirty_two_lanes.frontend.lower.builtins import BUILTINS
from thirty_two_lanes.frontend.lower.methods import call_method
from thirty_two_lanes.frontend.lower.tuples import make_tuple
from thirty_two_lanes.frontend.types import is_vector, named_dtype, our_type
from thirty_two_lanes.language import warp_intrinsics
from thirty_two_lanes.language.operators import FUNCTIONS, OPERATORS, PYTHON_OPERATORS
from thirty_two_lanes.language.twin_registry import is_intrinsic, twin_of
from thirty_two_lanes.language.warp_intrinsics import BARRIERS, INTRINSICS


def call(builder, target, value):
    """`function(…)`, whatever the function is."""
    callee = builder.known.get(value.func.name)
    value = inlining.spread_out(builder, value)
    signature = builder.typed.calls[value]
    arguments = inlining.arguments_of(value, signature)
    if builder.kind(target) == "GridGroup":
        return
    if callee is warp_intrinsics.GRID_SYNC:
        return _wait(builder, ir.Barrier(None, "grid", None, builder.site()))
    if value.func.name in builder.methods:
        return call_method(builder, target, value.func.name, arguments, signature)
    name = dotted_name(callee)
    if name not in INTRINSICS and _call_python(
        builder, target, callee, arguments, value, signature
    ):
        return
    if name in ("cuda.shared.array", "cuda.local.array"):
        return arrays.allocate(builder, target, name.split(".")[1], value)
    for names, lower in NAMED:
        if name in names:
            return lower(builder, target, name, arguments, signature)
    if is_intrinsic(callee):
        _call_twin(builder, target, callee, arguments, signature)
    elif not _call_library(builder, target, value, signature):
        _refuse_call(builder, callee, name)


def _call_python(builder, target, callee, arguments, value, signature) -> bool:
    """Call what Python or Numba made: is this such a thing?"""
    dtype = named_dtype(callee)
    if hasattr(callee, "py_func"):
        function, options = callee.py_func, callee.targetoptions
        arguments = inlining.bound_arguments(function, value)
        inlining.inline(builder, target, function, signature, arguments, options)
    elif dtype is not None:
        operators.convert_to(builder, target, builder.operand(arguments[0]), dtype)
    elif callee in BUILTINS:
        BUILTINS[callee](builder, target, arguments, signature)
    elif callee in PYTHON_OPERATORS:
        _operator(builder, target, PYTHON_OPERATORS[callee], arguments, signature)
    elif is_vector(builder.numba_type(target)):
        parts = [part for a in arguments for part in builder.items(a)]
        make_tuple(builder, target, parts)  # `float4(float2(a, b), c, d)`, too
    elif callee is tuple:
        make_tuple(builder, target, builder.items(arguments[0]))
    elif isinstance(callee, type) and issubclass(callee, tuple):
        make_tuple(builder, target, builder.operands(arguments))
    elif isinstance(callee, np.ufunc) and f"np.{callee.__name__}" in FUNCTIONS:
        operators.call_ufunc(builder, target, callee, arguments)
    elif callee is type:
        builder.known[target] = builder.our_type(arguments[0]).type
    elif callee in (np.iinfo, np.finfo):
        builder.known[target] = callee(_dtype_of(builder, arguments[0]))
    else:
        return isinstance(callee, type) and issubclass(callee, BaseException)
    return True


def _dtype_of(builder, variable):
    """The dtype that an argument names, or that it has."""
    name = getattr(variable, "name", variable)
    known = builder.known.get(name)
    dtype = known if isinstance(known, np.dtype) else named_dtype(known)
    return dtype or builder.our_type(name)


def call_intrinsic(builder, target, name, operands, signature=None):
    """A function that sees threads and lanes."""
    if name not in INTRINSICS:
        builder.refuse(f"the emulator does not support `{name}` yet")
    if signature is not None and INTRINSICS[name].cast:
        operands = [
            builder.cast(o, our_type(t), explicit=True)
            for o, t in zip(operands, signature.args, strict=True)
        ]
    if INTRINSICS[name].syncs_warp:
        mask = operands[0] if operands else ir.Const(np.int64(0xFFFFFFFF))
        builder.continue_in(builder.body.new_block())
        builder.emit(ir.WarpSync(mask, builder.site(), name))
        builder.continue_in(builder.body.new_block())
    dtype = builder.our_type(target)
    result, pure = builder.declare(target, dtype), INTRINSICS[name].pure
    builder.emit(ir.Call(result, name, tuple(operands), builder.site(), pure))


def _intrinsic(builder, target, name, arguments, signature):
    """`cuda.ballot_sync(mask, condition)` and the like."""
    call_intrinsic(builder, target, name, builder.operands(arguments), signature)


def _operator(builder, target, name, arguments, signature):
    """`math.sqrt(x)` and the like."""
    operands = builder.operands(arguments)
    operators.call_operator(builder, target, name, operands, signature)


def _barrier(builder, target, name, arguments, signature):
    """`cuda.syncthreads()` and the like."""
    predicate = builder.operand(arguments[0]) if arguments else None
    result = builder.declare(target, np.dtype(np.int32)) if arguments else None
    _wait(builder, ir.Barrier(result, BARRIERS[name], predicate, builder.site()))


def _wait(builder, barrier):
    """End the block at a barrier."""
    builder.emit(barrier)
    builder.continue_in(builder.body.new_block())


# functions of Numba's, of NumPy's, and twins


def _call_library(builder, target, call, signature) -> bool:
    """Lower a function of Numba's own in the place of its call, if it has one."""
    callee = builder.known.get(call.func.name)
    if isinstance(callee, np.ufunc) and builder.within is not None:
        arguments = inlining.arguments_of(call, signature)
        _twin(builder, target, callee, arguments, signature)
        return True
    kind, name = builder.numba_type(call.func), getattr(callee, "__name__", "")
    function = inlining.written_in_python(kind, name, signature, ())
    if function is None:
        return False
    arguments = inlining.bound_arguments(function, call)
    inlining.inline_library(builder, target, function, signature, arguments)
    return True


def _call_twin(builder, target, intrinsic, arguments, signature):
    """An intrinsic, by the function of NumPy arrays that stands for it."""
    name, function = intrinsic._name, twin_of(intrinsic)
    if function is None:
        builder.refuse(
            f"the intrinsic `{name}` has no twin: write what it computes as a "
            f"function of NumPy arrays, with `@twin({name})` above it"
        )
    _twin(builder, target, function, arguments, signature)


def _twin(builder, target, function, arguments, signature):
    """A call of a function of NumPy arrays, of lanes and blocks."""
    dtypes = map(our_type, signature.args)
    operands = builder.casts(builder.operands(arguments), dtypes)
    result = our_type(signature.return_type)
    ours = None if result is None else builder.declare(target, result)
    references = tuple(_references(builder, operand) for operand in operands)
    twin = ir.Twin(ours, function, operands, result, references, builder.site())
    builder.emit(twin)


def _references(builder, operand):
    """What a twin may do with an operand that is an array."""
    if not isinstance(builder.type_of(operand), ir.ArrayType):
        return None
    load = builder.reference("load", operand)
    return ir.TwinReferences(
        load,
        replace(load, kind="store"),
        replace(load, kind="store", order="arrival"),
        replace(load, order="acquire"),
        replace(load, kind="store", order="release"),
    )


# what is not emulated


def _refuse_call(builder, callee, name):
    """Say that a function is not emulated, and what can be done."""
    own = getattr(callee, "__name__", None) or getattr(callee, "name", None)
    called = name or own or "this function"
    home = getattr(callee, "__module__", None) or type(callee).__module__
    if type(callee).__name__ == "ExternFunction" or "cffi" in home:
        builder.refuse(
            f"`{called}` is not Python code, so the emulator cannot run it: write "
            "it in Python, with `@cuda.jit(device=True)`"
        )
    if home.startswith(("numba.cuda.libdevice", "numba.cuda._internal")):
        builder.refuse(
            f"`{called}` of CUDA's own library is not emulated, since NumPy has "
            "no such function: write it with other functions"
        )
    builder.refuse(
        f"the emulator does not support `{called}` yet: write it as a loop over "
        "`range(...)`, or with operators"
    )


# functions by their dotted names: (builder, target, name, arguments, signature) -> None
NAMED = (
    (("cuda.const.array_like",), arrays.constant_array),
    (warp_intrinsics.CACHE_HINTS, arrays.hinted_access),
    (warp_intrinsics.ATOMICS, arrays.atomic),
    (BARRIERS, _barrier),
    (INTRINSICS, _intrinsic),
    (OPERATORS, _operator),
    (FUNCTIONS, _operator),
)

"""Device functions, and those of Numba's library, lowered in the place of their call.

A reduction such as `a.mean()` is a loop that Numba compiles in the place of the call:
its Python source is lowered here too, so that its order and its types are Numba's. Its
loads are reported as those of the calling line.
"""

import copy
from dataclasses import dataclass
from inspect import signature as signature_of

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.source import package_of
from thirty_two_lanes.frontend.inference import overload_of, typed_ir
from thirty_two_lanes.frontend.lower.builder import IRBuilder, constant_tuple
from thirty_two_lanes.frontend.types import our_type


@dataclass(frozen=True)
class Caller:
    """Where an inlined device function goes back to, and what it leaves there."""

    line: int
    target: str
    block: int
    builder: IRBuilder


def inline(builder, target, function, signature, arguments, options, within=None):
    """Lower a device function in the caller's place; or a library's, `within` the
    line that calls it, as are those of `numba.cuda.random`.
    """
    if function in _functions(builder):
        builder.refuse(
            f"device functions that call themselves (`{function.__name__}`) are not "
            "emulated: use a loop"
        )
    if package_of(function) == "numba":
        within = within or builder.site()
    typed = typed_ir(function, signature.args, options, builder.body.typed)
    result = builder.declared(target)
    back = builder.body.new_block()
    line = builder.caller.line if builder.caller else builder.line
    caller = Caller(line, result, back, builder)
    inner = IRBuilder(builder.body, typed, {}, caller, within or builder.within)
    inner.specialisation = (id(function), *map(str, signature.args))
    names = typed.ir.arg_names
    for name, given, dtype in zip(names, arguments, signature.args, strict=True):
        _give(builder, inner, name, given, dtype)
    entry = builder.body.new_block()
    builder.leave(ir.Jump(entry))
    builder.body.lower(inner, entry)
    builder.block = back


def _functions(builder):
    """The Python functions that are being lowered, one in another."""
    outer = _functions(builder.caller.builder) if builder.caller else ()
    return (*outer, builder.function)


def _give(builder, inner, name, given, dtype):
    """Let a device function know an argument: an object, or an operand."""
    if given is None or type(dtype).__name__ == "GridGroup":
        inner.given[name] = getattr(dtype, "value", None)  # of a group the type is all
        return
    if isinstance(given, tuple):  # the rest of the arguments, of `*name`
        items = builder.operands(given)
        inner.arguments[name] = builder.tuple_of(items, our_type(dtype))
        return
    variable = getattr(given, "name", given)
    if type(dtype).__name__ == "RangeType":
        inner.packed[name] = builder.range_of(variable)
        return
    if variable in builder.known and type(dtype).__name__ != "Optional":
        inner.given[name] = builder.known[variable]
    elif (known := constant_tuple(builder.packed.get(variable, (None,)))) is not None:
        inner.given[name] = tuple(number.item() for number in known.value)
    else:
        operand = builder.cast(builder.operand(variable), our_type(dtype))
        inner.arguments[name] = operand
        if inner.within is not None:
            inner.arrays.given[name] = builder.array_name(operand)


# the arguments of a call


def spread_out(builder, call):
    """A call in which the items of `*t` are arguments of their own."""
    if call.vararg is None:
        return call
    args = [*call.args, *_spread(builder, call.vararg)]
    changed = copy.copy(call)
    vars(changed)["_kws"] = {**vars(call)["_kws"], "args": args, "vararg": None}
    builder.typed.calls[changed] = builder.typed.calls[call]
    return changed


def arguments_of(call, signature) -> list:
    """The variables that a call is given, in the order of what it calls."""
    if not call.kws:
        return list(call.args)
    bound = signature.pysig.bind(*call.args, **dict(call.kws))
    return list(bound.arguments.values())


def bound_arguments(function, call) -> list:
    """What a call gives each parameter: a variable, a tuple of them, or None."""
    signature = signature_of(function)
    bound = signature.bind(*call.args, **dict(call.kws)).arguments
    return [
        bound.get(name, () if parameter.kind is parameter.VAR_POSITIONAL else None)
        for name, parameter in signature.parameters.items()
    ]


def _spread(builder, variable) -> list:
    """The items of `*t`, as variables of their own."""
    spread = []
    types, items = builder.numba_type(variable).types, builder.items(variable)
    for number, (dtype, item) in enumerate(zip(types, items, strict=True)):
        one = copy.copy(variable)
        one.name = f"{variable.name}.{number}"
        builder.typed.types[one.name] = dtype
        builder.arguments[one.name] = item
        spread.append(one)
    return spread


# what Numba writes in Python


def inline_library(builder, target, function, signature, arguments):
    """Lower a function of Numba's own in the place of its call."""
    missing = len(signature.args) - len(arguments)
    arguments = [*arguments, *(None,) * missing]
    inline(builder, target, function, signature, arguments, {}, builder.site())


def written_in_python(kind, name, signature, before):
    """The Python function that Numba compiles for a call, or None."""
    if name == "sum" and len(before) + len(signature.args) == 1:
        return _sum(signature.return_type)
    if hasattr(kind, "templates"):
        chosen = overload_of(kind, signature)
        return None if chosen is None else chosen.py_func
    template = getattr(kind, "template", None)
    overload = getattr(template, "_overload_func", None)
    function = overload(*before, *signature.args) if overload else None
    return function[1] if isinstance(function, tuple) else function


def _sum(result):
    """`a.sum()` as Numba compiles it."""
    zero = result(0)

    def array_sum(arr):
        c = zero
        for v in np.nditer(arr):
            c += v.item()
        return c

    return array_sum

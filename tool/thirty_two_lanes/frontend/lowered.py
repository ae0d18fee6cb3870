"""What Numba has lowered before: a kernel is not lowered again, a third of its
analysis, where Numba could lower a statement of each of its statements' forms.

Whether it can follows from what a statement does, to values of which types, and which
function is called. What depends on more has no form, and its kernel is always lowered:
calls of device functions, whose code is linked, and expressions of whole arrays, which
Numba makes one of.
"""

from itertools import chain
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType

import numpy as np
from numba.core import types

NUMBERS = int, float, complex, bool
PLAIN = *NUMBERS, str, NoneType
FUNCTIONS = FunctionType, BuiltinFunctionType, np.ufunc
NAMED = *FUNCTIONS, type, property, ModuleType, types.Type, np.dtype
GIVEN = "Arg", "Const", "Global", "FreeVar"
VALUELESS = "Jump", "Del"
ASKS_FOR_NUMBERS = "call", "getattr", "static_getitem", "build_tuple"
NO_FORM = types.Dispatcher, types.MakeFunctionLiteral, types.Generator, NoneType
PLACES = "loc", "truebr", "falsebr", "name", "incoming_blocks"
_lowered = set()  # the forms of statements that Numba could lower


class Formless(Exception):
    """A statement that may fail where an equal one did not."""


def remember(forms):
    """A kernel of these statements was lowered."""
    _lowered.update(forms or ())


def is_known(forms) -> bool:
    """Could Numba lower a statement of each form?"""
    return forms is not None and forms <= _lowered


def forms_of(typed, options) -> set | None:
    """The forms of a function's statements; None where one has none."""
    statements = chain.from_iterable(it.body for it in typed.ir.blocks.values())
    settings = bool(options.get("debug")), bool(options.get("fastmath"))
    try:
        return {
            (settings, _form(it, typed, False))
            for it in statements
            if type(it).__name__ not in VALUELESS
        }
    except Formless:
        return None


def _form(part, typed, with_numbers):
    """What lowering depends on, of a part of a statement."""
    kind = type(part)
    if kind.__name__ == "Var":
        return _kind(typed.types.get(part.name), with_numbers)
    if kind in PLAIN:
        return kind, part
    if kind in (tuple, list):
        return kind, *(_form(it, typed, with_numbers) for it in part)
    if isinstance(part, NAMED):
        return part
    if kind.__name__ in GIVEN and type(vars(part).get("value", 0)) in NUMBERS:
        return kind
    if kind.__module__.endswith(".ir"):
        return kind, *_fields(part, typed)
    raise Formless


def _fields(part, typed):
    """The types that a statement or an expression is called with, and its fields."""
    fields = dict(vars(part))
    fields |= fields.pop("_kws", {})
    operation = fields.get("op")
    called = typed.calls.get(part) if part.__hash__ else None
    if called:
        of_arrays = any(isinstance(it, types.Array) for it in called.args)
        makes_array = isinstance(called.return_type, types.Array)
        if of_arrays and makes_array and "getitem" not in str(operation):
            raise Formless
        yield called.return_type, called.args
    for name, value in fields.items():
        if name not in PLACES:
            yield name, _form(value, typed, operation in ASKS_FOR_NUMBERS)


def _kind(found, with_number):
    """A variable's type; a literal number only where it may be asked for."""
    if isinstance(found, NO_FORM):
        raise Formless
    return found if with_number else types.unliteral(found)

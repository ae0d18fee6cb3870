"""The compilation of a kernel for its argument types and a capability: by the compiler,
once; from the records where the compiler is missing or a page is built; or else its
types alone.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple
from weakref import WeakKeyDictionary

from thirty_two_lanes.assembly import recorded
from thirty_two_lanes.assembly.compiler import machine_code, missing
from thirty_two_lanes.assembly.instructions import instructions_of
from thirty_two_lanes.assembly.resources import Resources
from thirty_two_lanes.assembly.variables import Inferred, types_by_line
from thirty_two_lanes.core.gc_pause import gc_paused
from thirty_two_lanes.core.source import definition_of, source_of
from thirty_two_lanes.frontend.inference import typed_ir

_compiled = WeakKeyDictionary()  # kernel: {digest of all it depends on: Compilation}


class Compilation(NamedTuple):
    """The instructions, the variables' types by line, and what a kernel takes."""

    instructions: tuple
    variables: Mapping
    missing: str  # why there are the types alone; "" where there is all
    compilers: dict  # what it was recorded with; {} where it was compiled here
    resources: Resources | None


def compilation_of(kernel, types, capability) -> Compilation:
    """The compilation of a kernel, with the current values of its globals."""
    key = recorded.key_of(kernel, types, capability)
    lacking = missing()
    from_records = lacking or recorded.is_preferred()
    known = recorded.find(kernel, key, capability) if from_records else None
    if known is None and not lacking:
        return _compiled_once(kernel, types, capability, key)
    if known is None:
        return Compilation((), inferred(kernel, types), lacking, {}, None)
    code, resources, compilers = known
    variables = Inferred(partial(inferred, kernel, types))
    return Compilation(code, variables, "", compilers, resources)


def inferred(kernel, types) -> dict:
    """The types of a kernel's variables by line, by Numba's inference alone."""
    typed = typed_ir(kernel.py_func, types, kernel.targetoptions)
    return types_by_line(typed.ir.blocks, typed.types, definition(kernel.py_func))


def _compiled_once(kernel, types, capability, key):
    known, function = _compiled.setdefault(kernel, {}), kernel.py_func
    if key not in known:
        with gc_paused():
            it = machine_code(function, types, kernel.targetoptions, capability)
        code = instructions_of(it.listing, it.entry, *extent(function))
        variables = types_by_line(it.blocks, it.types, definition(function))
        known[key] = Compilation(code, variables, "", {}, Resources.of(it))
        recorded.note(kernel, key, capability, known[key])
    return known[key]


def extent(function) -> tuple[int, int]:
    """A function's first and last line in its file."""
    source = source_of(function)
    if source is not None:
        return source.first, source.first + len(source.lines) - 1
    lines = [line for *_, line in function.__code__.co_lines() if line]
    return min(lines), max(lines)


def definition(function) -> int:
    """The line of a function's `def`, below its decorators."""
    found = definition_of(function)
    return found.lineno if found else function.__code__.co_firstlineno

"""The compilation of a kernel for its argument types and a capability: by the compiler,
once; from the records where the compiler is missing or a page is built; or else none.
And the type that Numba inferred for each variable, by the line that gives it a value.
"""

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from numba import types

from thirty_two_lanes.assembly import recorded
from thirty_two_lanes.assembly.compiler import disassembled, machine_code, missing
from thirty_two_lanes.assembly.instructions import instructions_of
from thirty_two_lanes.assembly.resources import Resources
from thirty_two_lanes.core.errors import UnsupportedError
from thirty_two_lanes.core.gc_pause import gc_paused
from thirty_two_lanes.core.source import definition_of, source_of
from thirty_two_lanes.frontend.inference import typed_ir

_compiled = WeakKeyDictionary()  # kernel: {digest of all it depends on: Compilation}


@dataclass(frozen=True, kw_only=True)
class Compilation:
    """The instructions, and what a kernel takes."""

    instructions: tuple = field(default=(), repr=False)
    missing: str = field(default="", repr=False)  # why there is nothing of all this
    compilers: dict = field(default_factory=dict, repr=False)  # it was recorded with
    _resources: Resources | None = field(default=None, repr=False)

    @property
    def resources(self) -> Resources:
        """All that the linker reports."""
        if self._resources is None:
            raise UnsupportedError(self.missing)
        return self._resources


def compilation_of(kernel, types, capability) -> Compilation:
    """The compilation of a kernel, with the current values of its globals."""
    key = recorded.key_of(kernel, types, capability)
    lacking = missing()
    from_records = lacking or recorded.is_preferred()
    known = recorded.find(kernel, key, capability) if from_records else None
    if known:
        code, resources, compilers = known
        return Compilation(
            instructions=code, compilers=compilers, _resources=resources
        )
    if lacking:
        return Compilation(missing=lacking)
    return _compiled_once(kernel, types, capability, key)


def _compiled_once(kernel, types, capability, key):
    known, function = _compiled.setdefault(kernel, {}), kernel.py_func
    if key not in known:
        with gc_paused():
            made = machine_code(function, types, kernel.targetoptions, capability)
        listing = disassembled(made.cubin)
        code = instructions_of(listing, made.entry, *extent(function))
        found = Compilation(instructions=code, _resources=Resources.of(made))
        recorded.note(kernel, key, capability, found)
        known[key] = found
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


# ------------------------------------------------------------------ types


def inferred(kernel, types) -> dict:
    """The types of a kernel's variables by line, by Numba's inference alone."""
    typed = typed_ir(kernel.py_func, types, kernel.targetoptions)
    return types_by_line(typed.ir.blocks, typed.types, definition(kernel.py_func))


def types_by_line(blocks, known, definition) -> dict[int, dict[str, str]]:
    """Line: name of a variable: its type, out of Numba's typed IR.

    Arguments belong to the line of the definition. A variable that has two types on one
    line has both, with a bar between them.
    """
    found = {}
    for block in blocks.values():
        for statement in block.body:
            target = getattr(statement, "target", None)
            name = getattr(target, "name", "$")
            is_phi = getattr(getattr(statement, "value", None), "op", "") == "phi"
            if not name.startswith(("$", "arg.")) and name in known and not is_phi:
                at = max(statement.loc.line, definition)
                names = found.setdefault(at, {})
                names.setdefault(name.split(".")[0], []).append(type_name(known[name]))
    return {
        line: {name: " | ".join(dict.fromkeys(kinds)) for name, kinds in names.items()}
        for line, names in sorted(found.items())
    }


def type_name(numba_type) -> str:
    """A type in few characters, as a signature of Numba writes it where it can."""
    numba_type = types.unliteral(numba_type)
    layout = getattr(numba_type, "layout", None)
    if layout is None or not hasattr(numba_type, "ndim"):
        return str(numba_type)
    axes = [":"] * numba_type.ndim
    if layout in "CF" and axes:
        axes[-1 if layout == "C" else 0] = "::1"
    return f"{type_name(numba_type.dtype)}[{', '.join(axes)}]"

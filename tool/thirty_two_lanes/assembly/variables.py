"""The type that Numba inferred for each variable, by the line that gives it a value."""

from collections.abc import Mapping
from functools import cached_property

from numba import types


class Inferred(Mapping):
    """The types of variables by line, inferred when somebody asks for the first one."""

    def __init__(self, infer):
        self._infer = infer

    @cached_property
    def _types(self):
        return self._infer()

    def __getitem__(self, line):
        return self._types[line]

    def __iter__(self):
        return iter(self._types)

    def __len__(self):
        return len(self._types)


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

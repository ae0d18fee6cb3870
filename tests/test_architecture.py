"""Who may import whom inside `helpers`: the diagram that cannot go stale."""

import ast
import sys
from pathlib import Path

import pytest

HELPERS = Path(__file__).parents[1] / "helpers"

# the machine emits, the judges listen, neither knows the other; plots take numbers,
# never machines; few know Numba
MAY_IMPORT = {
    "__main__": "doctor",
    "device": "numba",
    "diagnosis": "hardware tolerance",
    "doctor": "device helpers numba",
    "forms": "numba",
    "hardware": "",
    "helpers": "device doctor plotting simt simt.host timing verification widgets",
    "measurement": "forms hardware",
    "plotting": "IPython PIL hardware matplotlib style",
    "recordings": "forms",
    "simt": (
        "simt.banks simt.coalescing simt.errors simt.host simt.launch simt.report"
    ),
    "simt.atomics": "simt.memory",
    "simt.banks": "hardware simt.judges",
    "simt.barriers": "hardware simt.errors simt.memory",
    "simt.bounds": "simt.errors",
    "simt.builtin_calls": "simt.ir simt.types",
    "simt.calls": (
        "simt.builtin_calls simt.intrinsics simt.ir simt.names simt.operators "
        "simt.types"
    ),
    "simt.coalescing": "hardware simt.judges",
    "simt.constants": "simt.ir",
    "simt.device_memory": "",
    "simt.errors": "",
    "simt.events": "",
    "simt.expressions": (
        "simt.constants simt.device_memory simt.intrinsics simt.ir simt.names "
        "simt.operators simt.tuples simt.types"
    ),
    "simt.frames": "hardware",
    "simt.frontend": "numba simt.refusals",
    "simt.functions": "",
    "simt.halves": "simt.rounding",
    "simt.host": "hardware numba simt.device_memory simt.errors simt.launch",
    "simt.intrinsics": "hardware",
    "simt.ir": "simt.events",
    "simt.iteration": "simt.ir simt.types",
    "simt.judges": "hardware",
    "simt.launch": (
        "hardware simt.constants simt.errors simt.lowering simt.machine simt.raising "
        "simt.translate simt.types"
    ),
    "simt.libdevice": "simt.functions simt.rounding",
    "simt.liveness": "simt.ir",
    "simt.lowering": (
        "simt.builtin_calls simt.calls simt.errors simt.events simt.expressions "
        "simt.frontend simt.ir simt.iteration simt.records simt.refusals simt.tuples "
        "simt.types simt.ufuncs"
    ),
    "simt.machine": (
        "simt.barriers simt.errors simt.frames simt.intrinsics simt.memory "
        "simt.translate"
    ),
    "simt.memory": "hardware simt.bounds simt.errors simt.events",
    "simt.names": "numba simt.intrinsics simt.operators",
    "simt.operators": "simt.functions simt.halves simt.libdevice simt.rounding",
    "simt.order": "",
    "simt.printing": "hardware",
    "simt.raising": "hardware",
    "simt.records": "simt.ir",
    "simt.refusals": "simt.errors",
    "simt.report": "",
    "simt.rounding": "",
    "simt.translate": (
        "simt.atomics simt.intrinsics simt.ir simt.liveness simt.memory "
        "simt.operators simt.order simt.printing simt.raising"
    ),
    "simt.tuples": "simt.ir simt.types",
    "simt.types": "numba simt.ir",
    "simt.ufuncs": "simt.ir simt.operators simt.types",
    "style": "matplotlib",
    "timing": "device forms measurement numba recordings",
    "tolerance": "",
    "verification": "diagnosis tolerance",
    "widgets": "IPython ipywidgets plotting",
}


def rooms():
    """Each module of `helpers`, by its room: a file, or all files of `plotting`."""
    found = {}
    for file in sorted(HELPERS.rglob("*.py")):
        found.setdefault(
            room_of(file.relative_to(HELPERS).with_suffix("").parts), []
        ).append(file)
    return found


def room_of(parts):
    """`simt.banks`, `device`; `plotting` for all in it; `helpers`: the front door."""
    parts = [part for part in parts if part != "__init__"] or ["helpers"]
    return parts[0] if parts[0] == "plotting" else ".".join(parts)


def imports(file):
    """The rooms and packages that a file imports, without NumPy and Python's own."""
    here = ["helpers", *file.relative_to(HELPERS).parent.parts]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) + 1 - node.level] if node.level else []
            base = [*base, *(node.module or "").split(".")] if node.module else base
            whole = [".".join([*base, alias.name]) for alias in node.names]
            names = [name if is_module(name) else ".".join(base) for name in whole]
        else:
            continue
        yield from map(destination, names)


def is_module(name):
    """Is this dotted name a module of `helpers`?"""
    path = HELPERS.parent.joinpath(*name.split("."))
    return name.startswith("helpers.") and (
        path.is_dir() or path.with_suffix(".py").exists()
    )


def destination(name):
    """The room of a dotted name, or the package that it belongs to."""
    root, *rest = name.split(".")
    if root == "helpers":
        return room_of(rest)
    return None if root == "numpy" or root in sys.stdlib_module_names else root


@pytest.mark.parametrize("room", sorted(rooms()))
def test_a_room_imports_what_the_table_says_and_nothing_else(room):
    """A row that grants more than a room uses is wrong too."""
    used = {name for file in rooms()[room] for name in imports(file)} - {None, room}

    assert set(MAY_IMPORT[room].split()) == used


def test_the_table_names_no_room_that_is_gone():
    """Every row is a room."""
    assert sorted(rooms()) == sorted(MAY_IMPORT)

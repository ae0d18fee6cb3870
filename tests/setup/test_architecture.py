"""Who may import whom inside `helpers`: the diagram that cannot go stale."""

import ast
import sys

import pytest

from tests.paths import ROOT

HELPERS = ROOT / "helpers"

# the machine emits, the judges listen, neither knows the other; plots take numbers,
# never machines; few know Numba
MAY_IMPORT = {
    "__main__": "doctor",
    "assembly": (
        "assembly.accesses assembly.assertions assembly.comparison "
        "assembly.compiler assembly.findings assembly.making assembly.occupancy "
        "assembly.page assembly.report assembly.resources collector device hardware "
        "simt.errors simt.launch simt.lowering tables"
    ),
    "assembly.accesses": "simt.ir",
    "assembly.assertions": "assembly.instructions assembly.report",
    "assembly.comparison": "assembly.report tables",
    "assembly.compiler": "cuda numba simt.errors simt.refusals",
    "assembly.elf": "",
    "assembly.findings": "",
    "assembly.instructions": "",
    "assembly.making": (
        "assembly.compiler assembly.instructions assembly.recorded "
        "assembly.resources assembly.variables collector simt.frontend simt.source"
    ),
    "assembly.occupancy": "hardware",
    "assembly.page": "assembly.report simt.page",
    "assembly.recorded": "assembly.instructions assembly.resources forms simt.source",
    "assembly.report": "assembly.findings simt.source",
    "assembly.resources": "assembly.elf",
    "assembly.variables": "numba",
    "baselines": "recordings",
    "collector": "",
    "device": "numba",
    "diagnosis": "hardware tolerance",
    "doctor": "assembly.compiler device helpers numba",
    "forms": "numba",
    "hardware": "",
    "helpers": (
        "assembly baselines collector device doctor plotting simt simt.host tables "
        "timing verification wide widgets"
    ),
    "measurement": "forms hardware",
    "plotting": "IPython PIL hardware matplotlib style",
    "recordings": "forms",
    "simt": (
        "simt.arguments simt.assertions simt.banks simt.coalescing simt.data "
        "simt.divergence simt.errors simt.judges simt.launch simt.mistakes "
        "simt.page simt.races simt.report simt.reuse simt.spilled simt.twins "
        "simt.uninitialised"
    ),
    "simt.advice": "simt.events simt.ir simt.work",
    "simt.allocation": "simt.cells simt.ir simt.memory",
    "simt.arguments": "numba simt.device_memory simt.errors",
    "simt.arrays": "simt.constants simt.device_memory simt.ir simt.types",
    "simt.assertions": "simt.findings",
    "simt.atomics": "simt.memory",
    "simt.attributes": "hardware",
    "simt.banks": "hardware simt.judges",
    "simt.barriers": "hardware simt.errors simt.events simt.memory",
    "simt.bounds": "hardware simt.errors simt.events simt.operators",
    "simt.builtin_calls": "simt.ir simt.types",
    "simt.builtin_target": "numba",
    "simt.calls": (
        "simt.builtin_calls simt.intrinsics simt.ir simt.names simt.operators "
        "simt.twins simt.types"
    ),
    "simt.cells": "hardware",
    "simt.chains": "hardware",
    "simt.clocks": "hardware",
    "simt.coalescing": "hardware simt.judges simt.requests",
    "simt.columns": "simt.findings",
    "simt.constants": "simt.ir",
    "simt.constructs": "",
    "simt.context": (
        "hardware numba simt.attributes simt.device_memory simt.errors simt.streams"
    ),
    "simt.data": "",
    "simt.device_memory": "numba",
    "simt.dispatch": (
        "numba simt.arguments simt.errors simt.frontend simt.launch simt.limits "
        "simt.programs"
    ),
    "simt.divergence": "hardware simt.judges simt.work",
    "simt.doors": "simt.constructs simt.errors simt.refusals",
    "simt.errors": "",
    "simt.events": "",
    "simt.expressions": (
        "simt.constants simt.intrinsics simt.ir simt.names simt.operators "
        "simt.tuples simt.types"
    ),
    "simt.findings": "hardware",
    "simt.frames": "hardware simt.events",
    "simt.frontend": "numba simt.builtin_target simt.errors simt.refusals",
    "simt.functions": "",
    "simt.halves": "simt.rounding",
    "simt.hazards": "hardware",
    "simt.heap": (
        "simt.allocation simt.device_memory simt.events simt.memory simt.scratch"
    ),
    "simt.host": (
        "numba simt.attributes simt.context simt.device_memory simt.dispatch "
        "simt.errors simt.streams"
    ),
    "simt.inlining": "simt.frontend simt.ir simt.types",
    "simt.intrinsics": "hardware simt.events simt.memory",
    "simt.ir": "simt.events",
    "simt.iteration": "simt.ir simt.types",
    "simt.judges": "hardware",
    "simt.launch": (
        "hardware simt.constants simt.device_memory simt.doors simt.errors simt.ir "
        "simt.limits simt.machine simt.programs simt.raising simt.settings "
        "simt.types"
    ),
    "simt.libdevice": "simt.functions simt.rounding",
    "simt.limits": "hardware simt.errors",
    "simt.liveness": "simt.ir",
    "simt.lowering": (
        "simt.arrays simt.builtin_calls simt.calls simt.constructs simt.errors "
        "simt.events simt.expressions simt.frontend simt.inlining simt.ir "
        "simt.iteration simt.methods simt.records simt.refusals simt.tuples "
        "simt.types simt.ufuncs simt.unrolling"
    ),
    "simt.machine": (
        "simt.allocation simt.barriers simt.errors simt.events simt.frames "
        "simt.heap simt.intrinsics simt.translate"
    ),
    "simt.memory": "hardware simt.bounds simt.cells simt.events",
    "simt.methods": "simt.frontend simt.ir simt.operators simt.twins simt.types",
    "simt.mistakes": "hardware simt.events",
    "simt.names": "numba simt.intrinsics simt.operators",
    "simt.operators": "simt.functions simt.halves simt.libdevice simt.rounding",
    "simt.order": "",
    "simt.owners": "hardware simt.requests simt.scratch",
    "simt.page": "simt.columns simt.findings simt.report simt.source style",
    "simt.parts": "simt.errors simt.memory",
    "simt.printing": "hardware",
    "simt.programs": (
        "collector simt.errors simt.frontend simt.ir simt.limits simt.lowering "
        "simt.refusals simt.translate"
    ),
    "simt.races": (
        "simt.chains simt.clocks simt.events simt.hazards simt.shadows "
        "simt.suspects simt.witness"
    ),
    "simt.raising": "hardware",
    "simt.records": "simt.ir",
    "simt.refusals": "simt.constructs simt.errors simt.sentences",
    "simt.report": "simt.findings",
    "simt.requests": "hardware",
    "simt.reuse": "simt.coalescing simt.requests",
    "simt.rounding": "",
    "simt.scratch": "",
    "simt.sentences": "",
    "simt.settings": "simt.errors simt.machine",
    "simt.shadows": "simt.clocks simt.owners",
    "simt.source": "simt.refusals",
    "simt.spilled": "hardware simt.coalescing simt.judges",
    "simt.streams": "numba",
    "simt.suspects": "hardware simt.clocks",
    "simt.temporaries": "simt.ir simt.liveness",
    "simt.translate": (
        "simt.advice simt.allocation simt.ir simt.liveness simt.order simt.work "
        "simt.writer"
    ),
    "simt.tuples": "simt.ir simt.types",
    "simt.twins": "simt.memory simt.operators simt.wide",
    "simt.types": "numba simt.ir",
    "simt.ufuncs": "simt.ir simt.operators simt.types",
    "simt.uninitialised": "hardware simt.events simt.requests",
    "simt.unrolling": "simt.ir simt.types",
    "simt.views": "simt.bounds simt.errors simt.memory",
    "simt.wide": "simt.bounds simt.errors simt.memory",
    "simt.witness": "simt.clocks simt.suspects",
    "simt.work": "simt.events simt.ir",
    "simt.writer": (
        "simt.atomics simt.bounds simt.intrinsics simt.ir simt.liveness simt.memory "
        "simt.operators simt.parts simt.printing simt.raising simt.temporaries "
        "simt.twins simt.views"
    ),
    "style": "matplotlib",
    "tables": "",
    "timing": "device forms measurement numba recordings",
    "tolerance": "",
    "verification": "diagnosis tolerance",
    "wide": "llvmlite numba simt",
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

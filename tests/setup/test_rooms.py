"""Which tests run when a file changes can be seen from their place."""

import ast

import pytest

from tests.paths import ROOT
from tests.setup.syntax import statements_of

PACKAGES, TESTS = (ROOT / "tool/thirty_two_lanes", ROOT / "helpers"), ROOT / "tests"
SHARED = ("frontend/lower", "frontend/refusals")  # asked through the front end's tests
ROOMS = [
    room
    for package in PACKAGES
    for folder in sorted(package.rglob("*"))
    if (folder / "__init__.py").exists()
    and (room := folder.relative_to(package).as_posix()) not in SHARED
]
OTHERS = (
    "setup",
    "lessons",
    "on_gpu",
)  # commands and packages; lessons/; a GPU's tools
MODULES = sorted(TESTS.rglob("*.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_its_tests_at_the_same_path(room):
    """A room `core` has `tests/core`: `pytest tests/core` runs what asks about it."""
    assert list((TESTS / room).rglob("test_*.py"))


def test_tests_lie_in_a_room_of_the_house_or_are_about_the_whole():
    """Nobody who changes a room would run a file of tests elsewhere."""
    homeless = [
        str(file.relative_to(TESTS))
        for file in MODULES
        if file.name.startswith("test_")
        and not file.relative_to(TESTS).as_posix().startswith((*ROOMS, *OTHERS))
    ]
    assert [] == homeless


def test_specimens_hold_no_tests():
    """They are kernels that tests launch, and what helps to launch them."""
    found = [
        f"{file.name}: {node.name}"
        for file in (TESTS / "specimens").glob("*.py")
        for node in statements_of(file)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert [] == found
    assert [] == list((TESTS / "specimens").rglob("test_*.py"))


def test_no_module_imports_a_test_module():
    """What tests share lies in specimens, or in a module beside them."""
    found = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in MODULES
        for name in imported(file)
        if any(part.startswith("test_") for part in name.split("."))
    ]
    assert [] == found


def test_only_on_gpu_needs_a_gpu():
    """The marker `gpu` appears in no other room."""
    marked = {
        file.relative_to(ROOT / "tests").parts[0]
        for file in MODULES
        if "pytest.mark." + "gpu" in file.read_text(encoding="utf-8")
    }
    assert {"on_gpu"} == marked


def imported(file):
    """The modules that a file imports from, wherever in it."""
    for node in statements_of(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)

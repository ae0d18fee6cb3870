"""Each intrinsic of the tool can be emulated, and a test does so."""

import ast
from importlib import import_module

import pytest

from tests.paths import ROOT
from thirty_two_lanes import intrinsics
from thirty_two_lanes.language.twin_registry import is_intrinsic, twin_of

FILES = sorted((ROOT / "tool" / "thirty_two_lanes" / "intrinsics").glob("[!_]*.py"))
TESTS = ROOT / "tests"
KERNELS = *(TESTS / "intrinsics").glob("*.py"), TESTS / "specimens" / "kernels.py"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_intrinsic_has_a_twin_that_a_test_launches(file):
    """What is missing is named, with where to write it."""
    module = import_module(f"{intrinsics.__name__}.{file.stem}")
    own = {name: it for name, it in vars(module).items() if is_intrinsic(it)}
    here, called = file.relative_to(ROOT), called_in_kernels()

    missing = [
        f"{here}: `{name}` has no twin: write a function of NumPy arrays below "
        f"`@twin({name})`"
        for name, it in own.items()
        if twin_of(it) is None
    ]
    missing += [
        f"{here}: no kernel in tests/intrinsics/ calls `{name}`: launch one"
        for name in own.keys() - called
    ]

    assert [] == missing


def called_in_kernels() -> set:
    """The names that kernels of these tests call."""
    trees = [ast.parse(file.read_text("utf-8")) for file in KERNELS]
    kernels = [
        it
        for tree in trees
        for it in ast.walk(tree)
        if isinstance(it, ast.FunctionDef)
        and any(ast.unparse(mark).startswith("cuda.jit") for mark in it.decorator_list)
    ]
    called = [getattr(it, "func", None) for at in kernels for it in ast.walk(at)]
    return {it.id for it in called if isinstance(it, ast.Name)}

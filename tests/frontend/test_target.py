"""Both targets, numba-cuda and the one built into numba, have the same names."""

import ast
import re

import pytest
from numba.cuda.compiler import CUDAFlags

from tests.paths import ROOT
from thirty_two_lanes.frontend.inference import Flags

FRONTEND = ROOT / "tool/thirty_two_lanes" / "frontend"
INTRINSICS = FRONTEND.parent / "intrinsics"
USES = re.compile(r"(?<![\w.])target(?:_of_numba)?\.([A-Za-z]\w*)")


def names_of(file):
    """The names that a module has, read and not imported: one package is absent."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (each.id for each in node.targets)


@pytest.mark.parametrize("name", ["package_target", "builtin_target"])
def test_a_target_has_all_that_is_asked_of_it(name):
    """Whichever is here, `target.…` finds it."""
    ours = "target.py", "inference.py", "lower/operators.py"
    askers = [*(FRONTEND / it for it in ours), *INTRINSICS.glob("*.py")]
    texts = [file.read_text(encoding="utf-8") for file in askers]

    asked = {found for text in texts for found in USES.findall(text)}
    assert 9 <= len(asked)
    assert set() == asked - set(names_of(FRONTEND / f"{name}.py"))


def test_our_flags_are_equal_where_numbas_are():
    """Numba finds what it compiled by them, whichever of both it was compiled with."""
    ours, other, numbas, fast = Flags(), Flags(), CUDAFlags(), Flags()
    other.error_model = CUDAFlags().error_model  # as it is where nobody sets it
    fast.fastmath = True

    assert ours == other == numbas == ours.copy()
    assert {hash(it) for it in (ours, other, fast, ours.copy())} == {hash(numbas)}
    assert ours != fast != numbas
    assert fast == CUDAFlags(fast)

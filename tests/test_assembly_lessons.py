"""Every kernel of every lesson, compiled for each generation of GPUs; no GPU needed."""

import pytest
from lesson_launches import launches, lessons

from helpers import assemble
from helpers.assembly.compiler import compiled, missing
from helpers.simt.launch import argument_types

CAPABILITIES = (7, 5), (8, 0), (8, 9), (9, 0), (10, 0)
pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.stem)
def test_every_kernel_compiles_for_every_capability(lesson):
    """From Turing to Blackwell; and no instruction is without a kind."""
    found = {}
    for case, _ in launches(lesson):
        types = argument_types(case.kernel, case.arguments)
        found.setdefault((case.kernel.py_func.__code__, types), case)

    assert found
    for (_, types), case in found.items():
        kernel, options = case.kernel, case.kernel.targetoptions
        for capability in CAPABILITIES:
            assert compiled(kernel.py_func, types, options, capability)[1]
        made = assemble(kernel, "H200")[case.launch](*case.arguments)
        assert "other" not in made.kinds, made.listing
        assert all(it.line or it.routine for it in made.instructions)

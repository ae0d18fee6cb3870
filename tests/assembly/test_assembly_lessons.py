"""Every kernel of every lesson, compiled for each generation of GPUs; no GPU needed."""

import json

import pytest

from helpers import assemble
from helpers.assembly.compiler import compiled, missing
from helpers.frontend.kernels import argument_types
from tests.paths import RECORDED
from tests.specimens.lesson_launches import launches, lessons

ON_GPU = RECORDED / "assembly.json"
CAPABILITIES = (7, 5), (8, 0), (8, 9), (9, 0), (10, 0)
needs_compiler = pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")


@needs_compiler
@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.stem)
def test_every_kernel_compiles_for_every_capability(lesson):
    """From Turing to Blackwell; and no instruction is without a kind."""
    found, digests = {}, {}
    for case, _ in launches(lesson):
        digests[case.name] = case.digest
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

    compared = {
        name: entry["digest"]
        for name, entry in json.loads(ON_GPU.read_text("utf-8"))["kernels"].items()
        if name.startswith(f"lesson_{lesson.stem}_")
    }
    assert compared and compared.items() <= digests.items()


def test_numba_the_driver_and_the_profiler_say_the_same():
    """On an H200 (assembly_on_gpu.py): opcodes by number, registers, memories, and the
    profiler's theoretical occupancy, of the zoo's kernels and the lessons'.
    """
    kernels = json.loads(ON_GPU.read_text("utf-8"))["kernels"]

    differ = [
        name
        for name, it in kernels.items()
        if it["assemble"] != it["numba"] or it["occupancy"] != it["profiler"]
    ]
    assert len(kernels) > 150
    assert [] == differ

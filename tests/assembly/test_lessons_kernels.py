"""Every kernel of every lesson, compiled for generations of GPUs; no GPU needed."""

import json
from itertools import cycle

import pytest

from helpers import assemble
from tests.paths import RECORDED
from tests.quick import slow_if_long, some
from tests.specimens.lesson_launches import launches, lessons
from thirty_two_lanes.assembly.compiler import machine_code, missing
from thirty_two_lanes.frontend.kernels import argument_types

ON_GPU = RECORDED / "assembly.json"
CAPABILITIES = (7, 5), (8, 0), (8, 9), (9, 0), (10, 0)
needs_compiler = pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")
each_lesson = pytest.mark.parametrize(
    "lesson",
    some(slow_if_long(lessons()), every=8),
    ids=lambda it: it.stem,
)


def kernels_of(lesson):
    """A case for each kernel and its arguments' types, with the types."""
    found = {}
    for case, _ in launches(lesson):
        types = argument_types(case.kernel, case.arguments)
        found.setdefault((case.kernel.py_func.__code__, types), (case, types))
    return found.values()


def code_for(case, types, capability):
    """The machine code of a case's kernel for a compute capability."""
    kernel = case.kernel
    return machine_code(kernel.py_func, types, kernel.targetoptions, capability).cubin


@needs_compiler
@each_lesson
def test_kernels_compile_for_some_capability(lesson):
    """Some kernels, each for another; each instruction is of a known kind."""
    kernels = [*kernels_of(lesson)][::6]

    assert kernels
    for (case, _), capability in zip(kernels, cycle(CAPABILITIES), strict=False):
        made = assemble(case.kernel, capability)[case.launch](*case.arguments)
        assert "other" not in made.kinds, made.listing
        assert made.instructions
        assert all(it.line or it.routine for it in made.instructions)


@pytest.mark.slow
@needs_compiler
@each_lesson
def test_every_kernel_compiles_for_every_capability(lesson):
    """From Turing to Blackwell; copies to shared memory begin with Ampere."""
    for case, types in kernels_of(lesson):
        for capability in CAPABILITIES[is_asynchronous(case.kernel.py_func) :]:
            assert code_for(case, types, capability)


def is_asynchronous(function):
    """Does a kernel copy to shared memory and go on? Such functions end in `_async`."""
    names = function.__name__, *function.__code__.co_names
    return any(name.endswith("_async") for name in names)


@pytest.mark.parametrize(
    "lesson", some(slow_if_long(lessons()), every=6), ids=lambda it: it.stem
)
def test_most_kernels_of_a_lesson_were_assembled_on_a_gpu(lesson):
    """As they are: `python -m tests.on_gpu.assembly 28` does it for a new edition."""
    kernels = {case.kernel.py_func for case, _ in launches(lesson)}
    recorded = json.loads(ON_GPU.read_text("utf-8"))["kernels"]

    compared = {
        case.kernel.py_func
        for case, _ in launches(lesson)
        if recorded.get(case.name, {}).get("digest") == case.digest
    }

    assert len(compared) > len(kernels) / 2


def test_numba_the_driver_and_the_profiler_say_the_same():
    """On an H200 (`tests.on_gpu.assembly`): opcodes by number, registers, memories,
    and the profiler's theoretical occupancy, of the zoo's kernels and the lessons'.
    """
    kernels = json.loads(ON_GPU.read_text("utf-8"))["kernels"]

    differ = [
        name
        for name, it in kernels.items()
        if it["assemble"] != it["numba"] or it["occupancy"] != it["profiler"]
    ]
    assert len(kernels) > 150
    assert [] == differ

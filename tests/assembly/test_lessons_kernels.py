"""Every kernel of every lesson, compiled for generations of GPUs; no GPU needed."""

import json
from collections import defaultdict

import pytest

from lessons.publishing.convert import lessons_of
from tests.paths import RECORDED, ROOT
from tests.quick import drawn
from tests.specimens.lesson_answers import CAPABILITIES, is_asynchronous, kernels_of
from tests.specimens.lesson_launches import launches
from tests.specimens.lesson_runs import run_of
from thirty_two_lanes.assembly.compiler import machine_code, missing

ON_GPU = RECORDED / "assembly.json"
needs_compiler = pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")
LESSONS = lessons_of(ROOT)
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda it: it.stem)


@needs_compiler
@each_lesson
def test_kernels_compile_for_some_capability(lesson):
    """Some kernels, each for another; each instruction is of a known kind."""
    assert [] == run_of(lesson).answer("compiled")


@needs_compiler
@pytest.mark.parametrize(
    "lesson", [drawn(it, every=8) for it in LESSONS], ids=lambda it: it.stem
)
def test_every_kernel_compiles_for_every_capability(lesson):
    """From Turing to Blackwell; copies to shared memory begin with Ampere."""
    for case, types in kernels_of(launches(lesson)):
        function, options = case.kernel.py_func, case.kernel.targetoptions
        for capability in CAPABILITIES[is_asynchronous(function) :]:
            assert machine_code(function, types, options, capability).cubin


# lessons that wait for a GPU, since their latest edition
WAITING = {"29_sort"}


@each_lesson
def test_most_kernels_of_a_lesson_were_assembled_on_a_gpu(lesson):
    """As they are: `python -m tests.on_gpu.assembly 28` does it for a new edition."""
    recorded = json.loads(ON_GPU.read_text("utf-8"))["kernels"]
    known = defaultdict(bool)
    for name, digest, *_ in run_of(lesson).answer("emulated"):
        known[digest] |= recorded.get(name, {}).get("digest") == digest

    assert (sum(known.values()) > len(known) / 2) == (lesson.stem not in WAITING)


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

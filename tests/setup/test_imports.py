"""What importing the tool, or the course, brings into a process."""

import subprocess
import sys
from functools import cache

import pytest

from tests.paths import ROOT

BROUGHT = """
import sys
before = set(sys.modules)
for module in {modules}:
    __import__(module)
    print(*sorted(set(sys.modules) - before))
{then}
print(*sorted(set(sys.modules) - before))
"""
IN_TURN = "numba.cuda", "thirty_two_lanes", "helpers"  # each imports those before it
TOOL = {
    "assembly": "",
    "core": "device device_memory dynamic_shared errors gc_pause hardware source",
    "emulator": "arguments",
    "emulator.host": "attributes device dispatch driver hearing install outside "
    "streams",
    "film": "watch",
    "frontend": "kernels package_target target",
    "intrinsics": "addresses async_copies ordered_access wide_access",
    "language": "twin_registry",
}
COURSE = {
    "checking": "check diagnosis tolerance",
    "exercises": "catalogue",
    "measuring": "baselines comparison counters measurement recordings store timing",
    "plotting": "banks bars blocks boxes chains charts grids hierarchy instructions "
    "intervals layouts products rates sectors shuffles tiles timelines traffic warps",
    "plotting.sliders": "explore page",
}
TOOL_OF_THE_COURSE = {  # what the course's own modules bring of the tool
    "assembly": "instructions recorded resources",
    "core": "sectors style wavefronts words",
    "core.pages": "packing tables",
    "frontend": "launch_form",
    "pictures": "",
}


@cache
def told(modules, then="") -> list:
    """What is imported with some modules in a process of its own: after each of them,
    and at the end.
    """
    ran = subprocess.run(
        [sys.executable, "-c", BROUGHT.format(modules=modules, then=then)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [set(line.split()) for line in ran.stdout.splitlines()]


def brought(module) -> set:
    """The modules that are imported with one of them: one process tells all three."""
    return dict(zip(IN_TURN, told(IN_TURN)[:-1], strict=True))[module]


def packages(modules) -> set:
    """What they are modules of, but the standard library."""
    return {it.partition(".")[0] for it in modules} - sys.stdlib_module_names


def named(package, rooms) -> set:
    """The modules of some rooms, and the rooms."""
    found = {package} | {f"{package}.{room}" for room in rooms}
    return found | {
        f"{package}.{room}.{name}" for room in rooms for name in rooms[room].split()
    }


def ours(modules) -> set:
    """Those of the tool and of the course; the target built into Numba has the name of
    numba-cuda's.
    """
    found = {it for it in modules if it.startswith(("thirty_two_lanes", "helpers"))}
    return {it.replace(".builtin_target", ".package_target") for it in found}


def test_importing_the_tool_brings_the_verbs_alone():
    """What compiles, runs, judges, films and assembles is imported when it is used:
    nobody would notice a slow start, so each module that is added here has a reason.
    """
    assert named("thirty_two_lanes", TOOL) == ours(brought("thirty_two_lanes"))


@pytest.mark.slow
def test_importing_the_course_brings_its_verbs_and_figures():
    """No judge of exercises, and no more of the tool than they say."""
    tool = named("thirty_two_lanes", TOOL) | named(
        "thirty_two_lanes", TOOL_OF_THE_COURSE
    )

    expected = tool | named("helpers", COURSE)
    expected |= {"helpers.doctor", "thirty_two_lanes_doctor"}
    assert expected == ours(brought("helpers"))


def test_importing_us_brings_of_others_what_numba_cuda_brings():
    """No matplotlib, nothing of Jupyter's, and nothing that Numba itself imports with a
    first kernel, such as its lowering; of Python, four small modules.
    """
    for module in ("thirty_two_lanes", "helpers"):
        more = brought(module) - brought("numba.cuda")

        others = {it for it in more - ours(more) if not it.startswith("tomllib.")}
        assert others <= {"difflib", "gzip", "pkgutil", "tomllib", "numba.mviewbuf"}


@pytest.mark.slow
def test_a_plain_launch_brings_no_judge():
    """Judges and reports come with `emulate`."""
    launch = "from numba import cuda; cuda.jit(lambda: None)[1, 32]()"
    found = told(("thirty_two_lanes",), f"import thirty_two_lanes\n{launch}")[-1]

    assert "thirty_two_lanes.emulator.machine.machine" in found
    assert "thirty_two_lanes.emulator.judges" not in found
    assert "thirty_two_lanes.emulator.report" not in found


@pytest.mark.slow
def test_a_figure_brings_matplotlib():
    """So the test above would notice it."""
    drawn = "helpers.plot_warps(40)._repr_mimebundle_()"

    assert "matplotlib" in packages(told(("helpers",), f"import helpers\n{drawn}")[-1])

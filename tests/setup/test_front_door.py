"""`from helpers import ...`: what is offered, and what a failed import leads to."""

import os
import shutil
import subprocess
import sys

import pytest

import helpers
import thirty_two_lanes
from helpers import plotting
from tests.paths import ROOT

MISTAKES = {  # of our own, as one more line of a module
    "a name": (
        "from thirty_two_lanes.core.ir import Kernal",
        "cannot import name 'Kernal' from 'thirty_two_lanes.core.ir'",
    ),
    "a module": (
        "import thirty_two_lanes.core.irr",
        "No module named 'thirty_two_lanes.core.irr'",
    ),
}


@pytest.fixture
def mistaken(tmp_path):
    """Run Python where the tool has one more line, in a module that importing reads."""
    for folder in ("tool", "helpers"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    path = {"PYTHONPATH": str(tmp_path / "tool")}

    def run(line, *arguments):
        file = tmp_path / "tool/thirty_two_lanes/core/device.py"
        file.write_text(file.read_text(encoding="utf-8") + f"\n{line}\n", "utf-8")
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=os.environ | path,
            capture_output=True,
            text=True,
        )

    return run


def test_the_front_door_offers_the_same_names_as_ever():
    """Fifteen verbs and nouns, and the figures; `device` is the object."""
    given = {}
    exec("from helpers import *", given)

    verbs = "assemble baseline check compare device emulate expect explore measure"
    figures = (
        "bandwidth banks chains conflicts copies exchange exposed fences fours grid "
        "grid_2d grid_stride halo hierarchy homes in_flight instructions intervals "
        "issues lanes latency layer_walk letter levels look_back look_backs meeting "
        "neighbours new_sectors occupancy orders pipeline places ragged_walk rates "
        "register_tile requests reuse roofline room rounds row_times_column rungs scan "
        "schedule sectors series shuffles sides slices speeds stages steps strip_walk "
        "tile_banks tile_cycle tile_move tile_order tile_walk times tree warps waves "
        "zooms"
    )
    expected = {*verbs.split(), "allow_dynamic_shared", "exercise", "table", "twin"}
    expected |= {"copy4_async", "commit_copies", "wait_copies"}
    expected |= {"copy4_or_zero_async", "copy_or_zero_async"}
    expected |= {"load4", "load_acquire", "store4", "store_release", "watch"}
    expected |= {f"plot_{name}" for name in figures.split()}
    missing = {*thirty_two_lanes.__all__, *plotting.__all__} - {*helpers.__all__}
    assert set() == missing, "add these to `__all__` in helpers/__init__.py"
    added = {*helpers.__all__} - expected
    assert set() == added, "add these names to this test"
    assert expected == set(helpers.__all__) == given.keys() - {"__builtins__"}
    assert len(expected) == len(helpers.__all__)
    assert "Device" == type(helpers.device).__name__


@pytest.mark.slow
@pytest.mark.parametrize("line, reason", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_of_our_own_is_raised_at_import(mistaken, line, reason):
    """`import helpers` fails at once, with the line that is wrong."""
    done = mistaken(line, "-c", "import helpers")

    assert reason in done.stderr.splitlines()[-1]
    assert line in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("line, reason", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_of_our_own_is_a_fault_on_the_page(mistaken, line, reason):
    """`python -m helpers` comes with its page, and the page with a remedy."""
    done = mistaken(line, "-m", "helpers")

    assert "" == done.stderr
    assert f"The course's own code has a fault: {reason}." in done.stdout.splitlines()
    assert "Nothing is missing." not in done.stdout
    assert "git status" in done.stdout
    assert 1 == done.returncode


@pytest.mark.slow
def test_a_package_that_is_absent_is_named_when_a_name_is_asked_for(mistaken):
    """And the error is chained to Python's own."""
    line = "import a_package_that_nobody_has"

    assert "" == mistaken(line, "-c", "import helpers").stderr
    said = mistaken(line, "-c", "from helpers import emulate").stderr
    assert "ModuleNotFoundError: No module named 'a_package_that_nobody_has'" in said
    assert "was the direct cause" in said
    assert "ImportError: helpers.emulate cannot be used" in said


@pytest.mark.slow
def test_a_package_that_fails_in_another_way_is_reported_too(mistaken):
    """NumPy 2.5 lacks a function: importing numba-cuda ends in AttributeError."""
    line = "import json; json.loads('no')"

    assert "" == mistaken(line, "-c", "import helpers").stderr
    said = mistaken(line, "-c", "from helpers import emulate").stderr.splitlines()
    assert said[-1].startswith("ImportError: helpers.emulate cannot be used: Expecting")
    page = mistaken(line, "-m", "helpers")
    assert ("", 1) == (page.stderr, page.returncode)
    assert "A package is installed but cannot be imported: Expecting" in page.stdout


OLD = {"2.7": "python2.7", "3.6": "python3.6", "3.7": "python3.7"}


@pytest.mark.parametrize("python", OLD.values(), ids=OLD)
def test_an_old_python_gets_a_sentence(python):
    """Where it is installed: modules that it cannot read are not reached."""
    found = shutil.which(python) or sys.executable
    version = subprocess.run([found, "--version"], capture_output=True)
    if found == sys.executable or version.returncode:
        pytest.skip(f"no {python} here")

    done = subprocess.run([found, "-B", "-m", "helpers"], cwd=ROOT, capture_output=True)

    assert b"This Python is too old: the course needs 3.11" in done.stderr
    assert b"Traceback" not in done.stderr

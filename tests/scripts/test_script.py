"""The console script `lanes`: it checks programs whose folders have modules of any
name, and says what this machine can do where nothing else is installed.
"""

import ctypes
import os
import re
import sys
import tomllib
from importlib import metadata

import pytest

import thirty_two_lanes_doctor as doctor
from helpers.__main__ import main as of_the_course
from tests.paths import ROOT
from tests.scripts.programs import run, run_here, written

RACE = "shift[1, 64](np.ones(64, np.float32))\n"
TAKEN = ("helpers", "core", "scripts", "emulator", "lanes", "thirty_two_lanes")
SCRIPT = "import sys\nfrom {} import {}\nsys.exit({}())\n"  # as pip writes it


@pytest.fixture(scope="module")
def lanes(tmp_path_factory):
    """A function that runs `lanes arguments…` in a folder, which is on the path."""
    text = (ROOT / "tool/pyproject.toml").read_text("utf-8")
    module, name = tomllib.loads(text)["project"]["scripts"]["lanes"].split(":")
    script = tmp_path_factory.mktemp("bin") / "lanes"
    script.write_text(SCRIPT.format(module, name, name))

    def run_it(folder, *arguments, options=(), **settings):
        path = os.pathsep.join([str(folder), str(ROOT / "tool")])
        environment = {"PYTHONPATH": path, **settings}
        return run(*options, script, *arguments, cwd=folder, environment=environment)

    return run_it


@pytest.fixture
def project(tmp_path):
    """A folder whose modules have the names of ours and of parts of ours."""
    for name in TAKEN:
        (tmp_path / f"{name}.py").write_text(f"WORD = 'their {name}'\n")
    return tmp_path


def test_a_program_keeps_its_own_modules_and_is_checked(lanes, project):
    """And it is told of the one name that it cannot have."""
    names = ", ".join(TAKEN[:-1])
    words = ", ".join(f"{name}.WORD" for name in TAKEN[:-1])
    written(project, f"import {names}\nprint({words}, sep=', ')\n{RACE}")

    said = lanes(project, "run", "program.py")

    assert said.stdout.startswith(", ".join(f"their {it}" for it in TAKEN[:-1]))
    assert (1, 1) == (said.returncode, said.stdout.count("wrong: shift"))
    assert said.stderr.startswith("thirty_two_lanes.py has the name of the tool")


@pytest.mark.slow
def test_a_module_is_found_in_this_folder(lanes, project):
    """As by `python -m`, and not in the script's."""
    written(project, RACE, "somebodys.py")

    said = lanes(project, "run", "-m", "somebodys", PYTHONPATH=str(ROOT / "tool"))

    assert (1, 1) == (said.returncode, said.stdout.count("wrong: shift"))


@pytest.mark.slow
def test_the_plugin_finds_ours_too(project):
    """In a folder of tests whose modules have the names of ours."""
    written(project, f"def test_it():\n    {RACE}", "test_it.py")
    path = os.pathsep.join([str(project), str(ROOT / "tool")])
    settings = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    said = run(
        *("-m", "pytest", "-p", "pytest_thirty_two_lanes", "--emulate"),
        *("-c", os.devnull, "-p", "no:cacheprovider", "test_it.py"),
        cwd=project,
        environment={"PYTHONPATH": path, **settings},
    )

    assert "test_it.py::test_it: 1 race" in said.stdout, said.stderr


def test_the_course_names_the_script(capsys):
    """`python -m helpers run` was the command once; it must not look like a pass."""
    assert 2 == of_the_course(["run", "it.py"])

    said = capsys.readouterr()
    assert "" == said.out
    assert "nothing was checked" in said.err and "`lanes run it.py`" in said.err


def test_without_packages_it_says_what_is_missing(lanes, tmp_path):
    """The page of the doctor, and of the other commands a sentence."""
    page, other = (
        lanes(tmp_path, *command, options=["-S"])
        for command in (["doctor"], ["run", "it.py"])
    )

    assert (1, "") == (page.returncode, page.stderr)
    assert "numba is missing." in page.stdout.splitlines()
    assert '  python -m pip install --editable "."' == page.stdout.splitlines()[-1]
    assert (2, 1) == (other.returncode, len(other.stderr.splitlines()))
    assert "`lanes doctor` says what is missing" in other.stderr


@pytest.mark.slow
def test_the_page_of_this_machine(lanes, project):
    """One kernel runs, and each package of the tool has its version."""
    said = lanes(project, "doctor")

    rows = dict(re.findall(r"^  (\S+) +(\S.*)$", said.stdout, re.MULTILINE))
    assert (0, "") == (said.returncode, said.stderr)
    assert "run" == rows["kernels"]
    assert metadata.version("numba") == rows["numba"]
    assert "jupyterlab" not in rows


def test_a_wheel_tells_of_the_wheel(monkeypatch, tmp_path):
    """There is no folder to install from."""
    monkeypatch.setattr(doctor, "PYPROJECT", tmp_path / "pyproject.toml")
    monkeypatch.setattr(metadata, "version", {doctor.TOOL: "0.1.0"}.__getitem__)

    wheel = "./thirty_two_lanes-0.1.0-py3-none-any.whl[compiler]"
    assert f'python -m pip install "{wheel}"' == doctor.install("compiler")


@pytest.mark.parametrize(
    "error, count, found",
    [
        (0, 2, "2 GPUs"),
        (100, 0, "finds no GPU (error 100)"),
    ],
)
def test_the_driver_is_asked_itself(monkeypatch, error, count, found):
    """By its three functions; 100 is CUDA_ERROR_NO_DEVICE."""

    class Driver:
        """What `libcuda` answers, through the references that it is given."""

        def cuDriverGetVersion(self, reference):
            reference._obj.value = 12080
            return 0

        def cuInit(self, flags):
            return error

        def cuDeviceGetCount(self, reference):
            reference._obj.value = count
            return 0

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver())

    assert f"for CUDA 12.8, {found}" == doctor.driver().found


@pytest.mark.parametrize(
    "called, name",
    [("bin/lanes", "lanes"), ("thirty_two_lanes/__main__.py", "python -m thirty_two")],
)
def test_a_help_names_the_commands(monkeypatch, called, name):
    """By the name under which it was called."""
    monkeypatch.setattr(sys, "argv", [called])

    said = run_here("--help").stdout

    assert said.startswith(f"usage: {name}")
    assert {"run", "watch", "doctor"} <= set(said.split())

"""`pytest --emulate`: a test fails in which a launch is wrong, whatever it asserts."""

import contextlib
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.specimens import stream_programs

PLUGIN = ("-p", "pytest_thirty_two_lanes")
NO_SETTINGS = ("-p", "no:cacheprovider", "-c", os.devnull)
OURS = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
XDIST = ("-p", "xdist.plugin")
OUTCOMES = {  # of the example package's tests
    "test_scaled": "PASSED",
    "test_race": "FAILED",
    "test_uninitialised": "FAILED",
    "test_bounds": "FAILED",
    "test_barrier": "FAILED",
    "test_race_that_is_meant": "PASSED",
    "test_race_that_is_not_judged": "PASSED",
    "test_race_that_is_known": "XFAIL",
    "test_fixture_that_races": "ERROR",
    "test_that_fails_of_itself": "FAILED",
    "test_counts": "PASSED",
    "test_race_in_a_class": "FAILED",
}
FOUND = {  # what the summary tells of them
    "test_race": "1 race",
    "test_uninitialised": "1 uninitialised read",
    "test_bounds": "1 index out of bounds",
    "test_barrier": "1 missed barrier",
    "test_race_that_is_known": "1 race",
    "test_fixture_that_races": "1 race",
    "test_that_fails_of_itself": "1 race",
    "test_race_in_a_class": "1 race",
}


def pytest_says(folder, *options, plugin=PLUGIN, path="", **settings):
    """What pytest says in a folder, in a process of its own, with the plugin."""
    environment = {**os.environ, **OURS, **settings}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [path, ".", str(ROOT)]))
    command = [sys.executable, "-m", "pytest", *NO_SETTINGS, "--rootdir", str(folder)]
    return subprocess.run(
        [*command, *plugin, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        timeout=300,
    )


@pytest.fixture
def example(tmp_path):
    """The example package, away from our own settings of pytest."""
    source = Path(__file__).with_name("example_package")
    return shutil.copytree(source, tmp_path / "example_package")


@pytest.fixture
def emulated_here(example, monkeypatch):
    """What pytest says in the example package, in this process."""
    monkeypatch.chdir(example)
    monkeypatch.setattr(sys, "path", [str(example), *sys.path])
    for name, value in OURS.items():
        monkeypatch.setenv(name, value)

    def says(*options):
        out, err = io.StringIO(), io.StringIO()
        command = [*NO_SETTINGS, "--rootdir", str(example), *PLUGIN, "--emulate"]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = pytest.main([*command, *options])
        _forget_modules_in(example)
        said = out.getvalue(), err.getvalue()
        return subprocess.CompletedProcess(options, int(status), *said)

    return says


def _forget_modules_in(folder):
    for name, module in [*sys.modules.items()]:
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


def outcomes(said):
    """How each test ended, by the summary that `-rA` asks for."""
    lines = re.findall(r"^([A-Z]+) tests/\S*::(\w+)", said.stdout, re.MULTILINE)
    return {name: outcome for outcome, name in lines}


def summary(said):
    """The plugin's section: its first line, and what was found by test."""
    section = re.search(
        r"^=+ emulated launches =+\n(.*)\n((?:tests/.*\n)*)", said.stdout, re.MULTILINE
    )
    lines = re.findall(r"::(\w+): (.*)", section[2])
    return section[1], dict(lines)


def test_a_test_fails_for_what_its_launches_do(emulated_here):
    """Though its assertions hold; a marker allows what is meant."""
    said = emulated_here("-rA", "tests")

    assert OUTCOMES == outcomes(said)
    assert (
        "12 tests, 5 kernels, 13 launches, 12 of them judged",
        FOUND,
    ) == summary(said)
    assert "kernels.py, line 19: WAW race on global `found`: 1 hazard" in said.stdout
    assert "line 33  total += tile[k]    reads 28 cells of shared" in said.stdout
    assert "line 40 writes values[32], but `values` has shape (32,)" in said.stdout
    assert "barrier missed by 4 threads, returned at line 48" in said.stdout
    assert "assert np.int64(40) == -1" in said.stdout  # its own reason comes first
    assert 1 == said.stdout.count("- Captured emulated launches call -")
    assert "pytest_judge.py" not in said.stdout  # no frame of the tool


def test_in_a_workflow_findings_are_annotations(emulated_here, monkeypatch, example):
    """Beside their lines in the repository; what is expected to fail is none."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(example.parent))

    said = emulated_here("tests", "-k", "test_race or known")
    known = emulated_here("tests", "-k", "test_race_that_is_known")

    told = re.findall(r"^::error file=(.*?),line=(\d+),", said.stdout, re.MULTILINE)
    assert [("example_package/lanes_example/kernels.py", "19")] == told
    assert "::error" not in known.stdout


@pytest.mark.slow
def test_processes_of_xdist_add_up(example):
    """The same outcomes and the same sum."""
    said = pytest_says(example, *XDIST, "--emulate", "-rA", "-n", "2", "tests")

    assert OUTCOMES == outcomes(said)
    assert ("12 tests, 5 kernels, 13 launches, 12 of them judged", FOUND) == summary(
        said
    )


MARKED = """
import numpy as np, pytest
from lanes_example.kernels import find_any

pytestmark = pytest.mark.emulate(launches=3)

def launched(times):
    for _ in range(times):
            find_any[2, 32](np.ones(64), 1, np.zeros(1, np.int64))

@pytest.mark.emulate("races", launches=1)
def test_own_marker(emulated):
    launched(2)
    assert 1 == len(emulated.runs)

@pytest.mark.emulate(allow="races")
def test_module_marker(emulated):
    launched(4)
    assert 3 == len(emulated.runs)

@pytest.mark.emulate(allow=["races"])
def test_list(): launched(1)

@pytest.mark.emulate(allows="races")
def test_name(): launched(1)

@pytest.mark.emulate(allow="race")
def test_kind(): launched(1)

@pytest.mark.emulate(launches="2")
def test_number(): launched(1)
"""
REFUSED = {
    "test_list": "`allow` is a text, as 'races,bounds', not ['races']",
    "test_name": "got an unexpected keyword argument 'allows'",
    "test_kind": "there is no kind race",
    "test_number": "`launches` is a whole number, 0 or more, not '2'",
}


@pytest.mark.slow
def test_the_nearest_marker_counts_and_a_wrong_one_is_an_error(example, emulated_here):
    """That of a test goes before its module's; the other tests run."""
    (example / "tests" / "test_marked.py").write_text(MARKED)

    said = emulated_here("-rA", "tests/test_marked.py")

    right = dict.fromkeys(("test_own_marker", "test_module_marker"), "PASSED")
    assert right | dict.fromkeys(REFUSED, "ERROR") == outcomes(said)
    for sentence in REFUSED.values():
        assert f"the marker `emulate`: {sentence}" in said.stdout
    assert "pytest_judge.py" not in said.stdout


@pytest.mark.slow
def test_settings_choose_what_fails_a_test(example, emulated_here):
    """An ini option names the kinds; an option, how many launches are judged."""
    (example / "pytest.ini").write_text("[pytest]\nemulate_fail_on = barriers\n")
    ini = ("-c", str(example / "pytest.ini"))

    chosen = emulated_here("-rA", *ini, "-k", "barrier or race", "tests")
    none = emulated_here("-rA", "--emulate-launches=0", "-k", "race or fails", "tests")
    (example / "pytest.ini").write_text("[pytest]\nemulate_fail_on = barrier\n")
    unknown = emulated_here(*ini, "tests")
    below = emulated_here("--emulate-launches=-1", "tests")

    ended = outcomes(chosen)
    assert ("FAILED", "PASSED") == (ended["test_barrier"], ended["test_race"])
    assert "FAILED" == ended["test_race_that_is_known"]  # it passed, and is strict
    assert "FAILED" == outcomes(none)["test_that_fails_of_itself"]
    assert "PASSED" == outcomes(none)["test_race"]
    assert "emulate_fail_on: there is no kind barrier" in unknown.stderr
    assert (4, True) == (below.returncode, "-1 is below 0" in below.stderr)


def test_without_the_option_nothing_changes(tmp_path):
    """Neither Numba nor anything of ours is imported, and the fixture skips."""
    (tmp_path / "test_it.py").write_text(
        "import sys\n"
        "def test_imports():\n"
        "    assert not {'numba', 'numpy', 'thirty_two_lanes'} & set(sys.modules)\n"
        "def test_launches(emulated):\n"
        "    raise AssertionError\n"
    )

    said = pytest_says(tmp_path, "--strict-markers")

    assert (0, "") == (said.returncode, said.stderr)
    assert "1 passed, 1 skipped" in said.stdout
    assert "emulated launches" not in said.stdout


@pytest.mark.parametrize("simulated", [False, True])
def test_what_hinders_it_is_a_sentence(tmp_path, simulated):
    """A package that it needs and that does not load, and Numba's simulator."""
    (tmp_path / "test_it.py").touch()
    (tmp_path / "numba.py").touch()
    settings = {"NUMBA_ENABLE_CUDASIM": "1"} if simulated else {}

    said = pytest_says(tmp_path, "--emulate", path=str(tmp_path), **settings)

    assert 4 == said.returncode
    sentence = "Numba's simulator answers" if simulated else "brings what it needs"
    assert sentence in said.stderr and "Traceback" not in said.stderr


@pytest.mark.slow
def test_tests_keep_their_own_module_helpers(tmp_path):
    """Folders of tests often have one, and nothing of the tool's is called so."""
    (tmp_path / "helpers.py").write_text("word = 'theirs'\n")
    (tmp_path / "test_it.py").write_text(
        "from helpers import word\ndef test_it():\n    assert word == 'theirs'\n"
    )

    said = pytest_says(tmp_path, "--emulate", path=str(tmp_path))

    assert 0 == said.returncode, said.stderr
    assert "1 passed" in said.stdout


def test_a_test_fails_for_its_streams(tmp_path):
    """With `pytest --emulate`, and only where nothing orders them."""
    source = inspect.getsource(stream_programs)
    names = "two_streams_share_an_array", "two_streams_with_an_event_between"
    for name in names:
        source = source.replace(f"def {name}(", f"def test_{name}(")
    (tmp_path / "test_streams.py").write_text(source, encoding="utf-8")

    tool = str(ROOT / "tool")
    said = pytest_says(tmp_path, "--emulate", "-q", path=tool).stdout

    assert "1 failed, 1 passed" in said
    assert "test_streams.py::test_two_streams_share_an_array: 1 stream hazard" in said

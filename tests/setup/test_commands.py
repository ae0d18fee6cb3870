"""What the README tells a reader to type, and the scripts behind it."""

import os
import re
import runpy
import shutil
import subprocess
import sys

import pytest

from tests.mutation.__main__ import EQUIVALENT, ROOMS, equivalents
from tests.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SCRIPTS = ROOT / ".make"
HAS_MAKE = shutil.which("make") and os.name != "nt"  # some machines of Windows have one
needs_make = pytest.mark.skipif(not HAS_MAKE, reason="needs make")


@pytest.fixture
def scripts(monkeypatch):
    """The globals of a script in .make/, by name, with the script not run."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return lambda name: runpy.run_path(str(SCRIPTS / f"{name}.py"))


def block(language):
    """The README's first block of code in a language."""
    return re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)[1]


def run(script, *arguments, **settings):
    """What a script says when it is run in a process of its own."""
    return subprocess.run(
        [sys.executable, script, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
    )


@needs_make
@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"(?:`|^ *)make ([a-z-]+)", README, re.MULTILINE)))
)
def test_a_command_of_the_readme_is_one_of_make(command):
    """`make -n` finds every command that the README names."""
    made = subprocess.run(["make", "-n", command], cwd=ROOT, capture_output=True)

    assert b"" == made.stderr


@needs_make
def test_make_alone_lists_the_two_commands():
    """A reader who types `make` sees what there is."""
    said = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True).stdout

    assert ["make lab", "make test"] == re.findall(r"make (?:lab|test)(?= )", said)


def test_the_check_script_runs_the_readme_command():
    """CI types what a newcomer types."""
    assert "make test" in (ROOT / ".ci/run").read_text().splitlines()
    assert "    make test " in README


def test_the_readme_example_says_what_the_readme_says(tmp_path, capsys):
    """The first kernel that a visitor sees is run as it stands."""
    example = tmp_path / "example.py"
    example.write_text(block("python"), encoding="utf-8")

    runpy.run_path(str(example))

    assert block("text") == capsys.readouterr().out


@pytest.mark.parametrize(
    "driver, capability, series",
    [
        (0, (0, 0), "none"),  # no driver
        (11080, (8, 0), "none"),  # too old for either
        (12040, (9, 0), "12"),
        (13000, (9, 0), "13"),
        (13000, (7, 5), "13"),  # Turing
        (13000, (7, 0), "12"),  # Volta: CUDA 13 compiles nothing for it
    ],
)
def test_the_driver_decides_which_cuda_it_is(scripts, driver, capability, series):
    """The newest series that both the driver and the GPU can use."""
    assert series == scripts("driver")["series_for"](driver, capability)


def test_setup_says_which_python_is_needed(scripts, monkeypatch):
    """An old Python and none beside it: a sentence, and how to get one."""
    setup = scripts("environment")
    monkeypatch.setitem(setup["tried_python"].__globals__, "version", lambda _: (3, 9))

    with pytest.raises(SystemExit, match="(?s)3.11 to 3.14 is needed.*python3.11-venv"):
        setup["tried_python"]()


def test_setup_says_that_a_folder_cannot_be_written(scripts, monkeypatch):
    """A read-only checkout: a sentence, before anything is tried."""
    setup = scripts("environment")
    monkeypatch.setitem(setup["main"].__globals__, "is_ready", lambda locks: False)
    monkeypatch.setattr(os, "access", lambda path, mode: False)

    with pytest.raises(SystemExit, match="Nothing can be written in this folder"):
        setup["main"]("none")


NO_NAME = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None)) \
after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.\
HTTPSConnection object at 0x7ff797b7a950>: Failed to establish a new connection: \
[Errno -3] Temporary failure in name resolution')': /simple/numba/
ERROR: Could not find a version that satisfies the requirement numba==0.68.1
ERROR: No matching distribution found for numba==0.68.1"""


def test_setup_tells_a_network_that_is_not_there_from_a_package_that_is_not(scripts):
    """pip ends with the package in both cases."""
    failure = scripts("environment")["failure"]
    lines = NO_NAME.splitlines()

    assert "The package index does not answer" in failure(lines)
    assert "Temporary failure in name resolution" in failure(lines)
    assert "The packages could not be installed" in failure(lines[1:])
    assert lines[1] in failure(lines[1:])


def test_setup_knows_an_interpreter_that_does_not_start(scripts):
    """A shim without a Python behind it counts as none."""
    assert (0, 0) == scripts("environment")["version"](shutil.which("false") or "where")


def test_setup_refuses_a_cuda_that_it_does_not_know():
    """CUDA=14 is a sentence, not a missing file."""
    said = run(SCRIPTS / "environment.py", "14")

    assert "CUDA=14 is not supported: use 13, 12 or none.\n" == said.stderr


def test_setup_tells_the_size_of_what_it_downloads(scripts):
    """Each lock says how many MB it is, and setup reads it there."""
    setup = scripts("environment")

    for series, second in [("none", "compiler"), ("13", "cu13"), ("12", "cu12")]:
        locks = setup["chosen_locks"](series)
        assert ["requirements.lock", f"requirements-{second}.lock"] == [
            lock.name for lock in locks
        ]
        assert all(setup["megabytes"](lock) > 100 for lock in locks)


def test_a_lock_that_changes_is_installed_anew(scripts, tmp_path):
    """The fingerprint of two locks that differ differs."""
    lock = tmp_path / "some.lock"
    lock.write_text("numpy==2.4.5\n")
    fingerprint = scripts("environment")["fingerprint"]
    before = fingerprint([lock])

    lock.write_text("numpy==2.4.6\n")

    assert before != fingerprint([lock])


def test_what_was_interrupted_is_not_ready(scripts, monkeypatch, tmp_path):
    """Not for what was there before, either: some of its packages may be gone."""
    setup = scripts("environment")["is_ready"].__globals__
    lock, stamp = tmp_path / "requirements.lock", tmp_path / "ready.txt"
    lock.write_text("# about 1 MB to download")
    for name, value in (("STAMP", stamp), ("LOG", tmp_path / "setup.log")):
        monkeypatch.setitem(setup, name, value)
    monkeypatch.setitem(setup, "PYTHON", lock)
    monkeypatch.setitem(setup, "venv_version", lambda: (3, 13))
    monkeypatch.setitem(setup, "pip_install", lambda *_: sys.exit("no network"))
    stamp.write_text(setup["fingerprint"]([lock]))
    assert setup["is_ready"]([lock])

    with pytest.raises(SystemExit):
        setup["install"]([lock])

    assert not setup["is_ready"]([lock])


@needs_make
@pytest.mark.parametrize("name", ["course", "a course & it's für 学生"])
def test_make_works_from_another_folder(tmp_path, name):
    """`make -f elsewhere/Makefile` does there what `make` does there."""
    elsewhere = tmp_path / name
    elsewhere.mkdir()
    shutil.copy(ROOT / "Makefile", elsewhere)

    def make(*words):
        told = ["make", *words]
        ours = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
        options = {"capture_output": True, "text": True, "env": ours}
        return subprocess.run(told, cwd=tmp_path, **options)

    there = f"{name}/Makefile"
    assert make("-C", name, "-s").stdout == make("-s", "-f", there).stdout
    done = make("-f", there, "fresh", "PYTHON=echo", "OPTIONS=14")
    assert ".make/work.py --fresh 14" == done.stdout.splitlines()[-1]


@needs_make
def test_make_says_that_a_python_is_too_old_to_ask():
    """Python 2 cannot even read the script that would say so."""
    told = ["make", "fresh", "PYTHON=false"]
    done = subprocess.run(told, cwd=ROOT, capture_output=True, text=True)

    assert "false is not here, or too old: install Python 3.11" in done.stdout


@pytest.mark.slow
def test_what_make_mutants_does_not_count_are_mutants():
    """A line that was changed has others: `equivalents` stops where a row has none."""
    rows = EQUIVALENT.read_text(encoding="utf-8").count("[[mutant]]")

    assert rows == len(equivalents(ROOMS))


def test_make_bench_refuses_a_name_that_no_kernel_has(capsys):
    """A table of nothing would look like an answer."""
    from tests import bench

    with pytest.raises(SystemExit) as stopped:
        bench.main(["nothing"])
    assert 2 == stopped.value.code
    assert "no kernel's name begins with nothing" in capsys.readouterr().err

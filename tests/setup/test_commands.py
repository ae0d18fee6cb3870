"""What the README tells a reader to type, and the scripts behind it."""

import contextlib
import io
import os
import re
import runpy
import shutil
import subprocess
import sys

import pytest

from tests.mutation.__main__ import EQUIVALENT, equivalents
from tests.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SCRIPTS = ROOT / ".make"
needs_make = pytest.mark.skipif(not shutil.which("make"), reason="needs make")


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
    "command", sorted(set(re.findall(r"\bmake ([a-z-]+)", README)))
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


@pytest.fixture
def course(tmp_path):
    """A course of one lesson, with an assignment; `work/` is up to date."""
    shutil.copytree(SCRIPTS, tmp_path / ".make")
    for folder in ("assignments", "solutions"):
        (tmp_path / "notebooks" / folder).mkdir(parents=True)
        (tmp_path / "notebooks" / folder / "01.ipynb").write_text(folder)
    (tmp_path / "notebooks/01.ipynb").write_text("first")
    lab(tmp_path)
    return tmp_path


def lab(course, *options):
    """Bring `work/` up to date; what was said."""
    work = runpy.run_path(str(course / ".make/work.py"))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        work["main"](*options)
    return said.getvalue()


def test_a_learner_gets_every_notebook_but_solutions(course):
    """An assignment lies as deep as in notebooks/: its link to the lesson works."""
    assert "first" == (course / "work/01.ipynb").read_text()
    assert "assignments" == (course / "work/assignments/01.ipynb").read_text()
    assert not (course / "work/solutions").exists()


def test_what_a_learner_wrote_is_never_written_over(course):
    """The course changed the notebook too: the learner's is kept, and that is said."""
    (course / "work/01.ipynb").write_text("mine")
    (course / "notebooks/01.ipynb").write_text("second")

    said = lab(course)

    assert "mine" == (course / "work/01.ipynb").read_text()
    assert "01.ipynb" in said and "make fresh" in said


def test_a_notebook_that_nobody_touched_is_renewed(course):
    """It keeps in step with the course."""
    (course / "notebooks/01.ipynb").write_text("second")

    lab(course)

    assert "second" == (course / "work/01.ipynb").read_text()


def test_a_notebook_that_was_deleted_comes_back(course):
    """Deleting one's copy is a way to begin it again."""
    (course / "work/01.ipynb").unlink()

    lab(course)

    assert "first" == (course / "work/01.ipynb").read_text()


def test_beginning_anew_keeps_what_was_written(course):
    """`make fresh` moves the old copy aside."""
    (course / "work/01.ipynb").write_text("mine")

    lab(course, "--fresh")

    assert "first" == (course / "work/01.ipynb").read_text()
    (aside,) = course.glob("work-until-*")
    assert "mine" == (aside / "01.ipynb").read_text()


def test_what_make_mutants_does_not_count_are_mutants():
    """A line that was changed has others: `equivalents` stops where a row has none."""
    rows = EQUIVALENT.read_text(encoding="utf-8").count("[[mutant]]")

    assert rows == len(equivalents())

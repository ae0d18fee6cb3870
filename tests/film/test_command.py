"""`lanes watch`: a film of one launch of somebody's program."""

import json
import sys

import pytest

from tests.scripts.programs import run_here, written

TWICE = "double[2, 32](np.ones(64, np.float32))\n" * 2
BEYOND = "beyond[1, 33](np.ones(32, np.float32))\n"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Where a program lies, and files are written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


def test_a_program_runs_and_leaves_the_film_that_was_asked_for(tmp_path):
    """Of the second launch, and block 1; the program's own words come first."""
    file = written(tmp_path, f"{TWICE}print('done')\n")
    options = "--kernel", "double", "--launch", "2", "--block", "1"

    said = run_here("watch", *options, "-o", "film.json", file)

    record = json.loads((tmp_path / "film.json").read_text("utf-8"))
    assert 0 == said.returncode
    assert said.stdout.startswith("done\nfilm.json: Block (1, 0, 0) of `double`")
    assert ([1, 0, 0], "double") == (record["watched"], record["kernel"])


def test_a_film_is_where_it_was_asked_for_wherever_the_program_goes(tmp_path):
    """A folder that is missing is named before the program runs."""
    away = tmp_path / "away"
    away.mkdir()
    file = written(tmp_path, f"{TWICE}import os\nos.chdir({str(away)!r})\n")

    run_here("watch", "-o", "film.json", file)
    lost = run_here("watch", "-o", "nowhere/film.json", file)

    assert (tmp_path / "film.json").exists()
    assert (2, "") == (lost.returncode, lost.stdout)
    assert "there is no folder nowhere" in lost.stderr


def test_an_error_of_the_kernel_is_the_programs_and_is_in_the_film(tmp_path):
    """The program ends as it does without a film; the page is there all the same."""
    file = written(tmp_path, BEYOND)

    said = run_here("watch", file)

    assert 1 == said.returncode
    assert "KernelIndexError" in said.stderr
    assert "reads" in (tmp_path / "film.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--kernel", "triple"), "no launch 1 of `triple`; launched: `double` (2)"),
        (("--launch", "3"), "no launch 3 of a kernel; launched: `double` (2)"),
        (("--block", "2"), "there is no block 2: the grid has 2"),
        (("--variables", "sum"), "`double` has no variable 'sum'"),
    ],
)
def test_what_is_not_there_is_named_with_what_there_is(tmp_path, options, words):
    """The exit status is 2, and there is no film."""
    said = run_here("watch", *options, written(tmp_path, TWICE))

    assert 2 == said.returncode
    assert words in said.stderr
    assert not (tmp_path / "film.html").exists()


SAYS = f"{TWICE}import sys; print(sys.argv[1:])"


@pytest.mark.parametrize("option", ["--kernel", "--block=1", "-o", "--variables"])
def test_an_option_behind_the_program_is_refused_with_its_place(tmp_path, option):
    """Before the program runs: it would get the option, and another film were made."""
    said = run_here("watch", written(tmp_path, SAYS), "4", option, "double")

    assert (2, "") == (said.returncode, said.stdout)
    assert f"{option} stands behind program.py" in said.stderr
    assert "write it before program.py" in said.stderr
    assert not (tmp_path / "film.html").exists()


def test_a_program_s_own_arguments_reach_it(tmp_path):
    """Those that are like ours behind `--`; its help is its own."""
    file = written(tmp_path, SAYS)

    like_ours = run_here("watch", "-o", "film.json", file, "--", "--steps", "3")
    others = run_here("watch", "-o", "film.json", file, "--help", "--main=1", "x")

    assert like_ours.stdout.startswith("['--steps', '3']\nfilm.json: ")
    assert others.stdout.startswith("['--help', '--main=1', 'x']\nfilm.json: ")

"""docs/SCRIPTS.md: its programs say what the page says, and its options exist."""

import argparse
import os
import re
import shlex
import subprocess
import sys

import pytest
import yaml

from tests.paths import ROOT
from tests.scripts.programs import run_here
from thirty_two_lanes.scripts.command import add_options
from thirty_two_lanes.scripts.kinds import FAULTS, KINDS

PAGE = (ROOT / "docs/SCRIPTS.md").read_text(encoding="utf-8")
WORKFLOW, HOOKS = ROOT / "docs/kernels.yml", ROOT / ".pre-commit-hooks.yaml"


def blocks(language):
    """The page's blocks in a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("number, name", [(0, "means.py"), (1, "sums.py")])
def test_the_programs_say_what_the_page_says(number, name, tmp_path, monkeypatch):
    """Every character of their reports."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(blocks("python")[number], encoding="utf-8")

    said = run_here("run", name)

    assert (1, f"\n{blocks('text')[number]}") == (said.returncode, said.stdout)


@pytest.mark.slow
def test_the_test_says_what_the_page_says(tmp_path):
    """From its name to the plugin's section."""
    (tmp_path / "test_places.py").write_text(blocks("python")[2], encoding="utf-8")
    plugin = ("-p", "pytest_thirty_two_lanes", "-p", "no:cacheprovider")

    said = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", os.devnull, *plugin, "--emulate", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
        | {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )

    assert blocks("text")[2] in said.stdout


def test_the_options_are_those_of_the_command():
    """All of them, and none more."""
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser)
    real = {it.option_strings[0] for it in parser._actions if it.option_strings}
    table = "".join(re.findall(r"^\| (`-.*?) \|", PAGE, re.MULTILINE))

    assert real == set(re.findall(r"`(--?[a-z-]+)", table))


def test_the_kinds_are_those_of_the_command():
    """In the page's sentence, the ones that fail a program first."""
    sentence = re.search(r"^The kinds are .*?time\.$", PAGE, re.DOTALL | re.MULTILINE)[
        0
    ]

    assert set(KINDS) == set(re.findall(r"`([\w-]+)`", sentence))
    assert list(FAULTS) == re.findall(r"`([\w-]+)`", sentence)[: len(FAULTS)]


def test_an_annotation_of_the_page_is_what_is_printed(tmp_path, monkeypatch):
    """Its first line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "means.py").write_text(blocks("python")[0], encoding="utf-8")

    said = run_here("run", "--github", "means.py").stdout

    told = [line for line in said.splitlines() if line.startswith("::")]
    assert blocks("text")[-1].splitlines() == told[:1]


def parsed(command):
    """What `lanes run …` makes of a command line."""
    words = shlex.split(command)
    assert ["lanes", "run"] == words[:2]
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(words[2:])


def test_the_workflow_can_be_copied(tmp_path, monkeypatch):
    """It judges tests and a program, and uploads the file that the program's run
    writes, also where that fails.
    """
    monkeypatch.chdir(tmp_path)
    (job,) = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"].values()
    steps = job["steps"]
    runs = [step["run"] for step in steps if "run" in step]
    (upload,) = (it for it in steps if "upload-sarif" in it.get("uses", ""))

    (program,) = (parsed(it) for it in runs if it.startswith("lanes"))
    assert any("--emulate" in it for it in runs)
    assert upload["with"]["sarif_file"] == program.sarif.name
    assert "failure()" in upload["if"]
    assert "write" == job["permissions"]["security-events"]


def test_the_hooks_are_commands_that_there_are():
    """One takes the program as its arguments, and the page shows how."""
    hooks = {it["id"]: it for it in yaml.safe_load(HOOKS.read_text("utf-8"))}
    (shown,) = (
        hook
        for text in blocks("yaml")
        for repo in yaml.safe_load(text)["repos"]
        for hook in repo["hooks"]
    )

    run_it = parsed(" ".join([hooks[shown["id"]]["entry"], *shown["args"]]))
    assert (True, "examples/demo.py") == (run_it.quiet, run_it.program)
    assert "python -m pytest --emulate" == hooks["lanes-pytest"]["entry"]
    assert not any(it["pass_filenames"] for it in hooks.values())

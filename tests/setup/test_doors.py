"""What opens the course elsewhere: Binder, containers, a release."""

import json
import os
import re
import tomllib

import pytest
import yaml

from tests.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CONTAINERS = sorted((ROOT / ".devcontainer").rglob("*.json"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


def test_a_version_is_the_same_wherever_it_is_written():
    """The workflow of a release refuses a tag that is another."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")

    assert PROJECT["version"] == citation["version"]
    assert PROJECT["authors"] == citation["authors"]
    assert PROJECT["keywords"] == citation["keywords"]
    assert PROJECT["version"] == re.search(r"^## (\S+)$", changes, re.M)[1]


@pytest.mark.parametrize("file", CONTAINERS, ids=lambda it: it.parent.name)
def test_a_container_runs_commands_of_the_course(file):
    """On a Python that the course supports; what it opens is a lesson."""
    text = re.sub(r"^//.*$", "", file.read_text("utf-8"), flags=re.MULTILINE)
    container = json.loads(text)
    python = re.fullmatch(r"python:(3\.\d+)-bookworm", container["image"])[1]
    commands = re.findall(r"make ([a-z-]+)", container["postCreateCommand"])
    opened = container["customizations"].get("codespaces", {}).get("openFiles", [])

    assert any(it.endswith(f":: {python}") for it in PROJECT["classifiers"])
    assert commands and set(commands) <= TARGETS
    for name in opened:
        assert (ROOT / name.replace("work/", "notebooks/")).exists()


def test_binder_installs_what_is_pinned():
    """Its files lie where repo2docker looks; each file that they name is there."""
    binder = ROOT / "binder"
    build = (binder / "postBuild").read_text("utf-8")
    wanted = re.findall(r"--requirement (\S+)", build)
    requirements = (binder / "requirements.txt").read_text("utf-8")
    asked = re.findall(r"--requirement (\S+)", requirements)

    assert ["requirements-compiler.lock"] == wanted
    assert ["../requirements.lock"] == asked
    assert all((ROOT / it).exists() for it in wanted)
    assert all((binder / it).exists() for it in asked)
    assert os.access(binder / "postBuild", os.X_OK) or os.name == "nt"


@pytest.mark.parametrize(
    "file", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda it: it.name
)
def test_a_workflow_has_limits(file):
    """No job hangs for hours; only a job that asks for it may write, and no token of
    the checkout stays in the folder where tests and packages run.
    """
    workflow = yaml.safe_load(file.read_text("utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    checkouts = [it for it in steps if "actions/checkout@" in it.get("uses", "")]

    assert {"contents": "read"} == workflow["permissions"]
    assert [False] * len(checkouts) == [
        step.get("with", {}).get("persist-credentials") for step in checkouts
    ]
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


def test_the_readme_clones_from_the_address_of_the_project():
    """pyproject.toml has the only address; until it has one, the README gives none."""
    address = PROJECT.get("urls", {}).get("Repository")
    readme = (ROOT / "README.md").read_text("utf-8")

    assert ([address] if address else []) == re.findall(r"git clone (\S+)", readme)

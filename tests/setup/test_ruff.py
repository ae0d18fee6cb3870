"""The code reads as `ruff` wants it."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.paths import ROOT

MISSING = "ruff is missing: `make setup` brings it, and so does `pip install ruff`"


@pytest.fixture
def ruff():
    """The command that runs ruff; where CI runs, its absence is a failure."""
    beside = Path(sys.executable).with_name("ruff")  # a link to another environment's
    if find_spec("ruff"):
        return [sys.executable, "-m", "ruff"]
    if beside.exists():
        return [str(beside)]
    if os.environ.get("CI"):
        pytest.fail(MISSING)
    pytest.skip(MISSING)


def test_ruff_has_nothing_to_say(ruff):
    """The rules are in pyproject.toml and lessons/.ruff.toml."""
    done = subprocess.run(
        [*ruff, "check", "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )

    assert (0, "") == (done.returncode, done.stderr), done.stdout

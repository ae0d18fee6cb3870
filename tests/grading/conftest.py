"""Tests may run submissions as root: those that could harm need bubblewrap."""

import pytest


@pytest.fixture(autouse=True)
def as_root(monkeypatch):
    """Where CI is root and has no bubblewrap."""
    monkeypatch.setenv("GRADING_AS_ROOT", "1")

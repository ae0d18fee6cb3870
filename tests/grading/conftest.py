"""Tests may run submissions as root: those that could harm need bubblewrap."""

import sys

import pytest

if sys.platform != "linux":  # there the grader says so, and begins nothing
    collect_ignore = [
        "test_attacks.py",
        "test_failures.py",
        "test_feedback.py",
        "test_grade.py",
        "test_release.py",
        "test_store.py",
        "test_submissions.py",
        "sandbox/test_isolation.py",
        "sandbox/test_nursery.py",
        "sandbox/test_usage.py",
    ]


@pytest.fixture(autouse=True)
def as_root(monkeypatch):
    """Where CI is root and has no bubblewrap."""
    monkeypatch.setenv("GRADING_AS_ROOT", "1")


@pytest.fixture(autouse=True)
def kept_warm(monkeypatch):
    """Warm processes serve the next test, too."""
    monkeypatch.setattr("helpers.grading.grading.end_nurseries", lambda: None)

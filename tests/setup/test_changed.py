"""What a commit changes, in a repository made for the purpose."""

import subprocess

import pytest

from tests import changed
from tests.changed import base, changed_files, differing


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository of two commits on `main`, and a function that commits a file."""
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    changed_files.cache_clear()

    def commit(name, text="1"):
        (tmp_path / name).write_text(text)
        git("add", "--all")
        git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", name)
        return git("rev-parse", "HEAD")

    def git(*words):
        done = subprocess.run(
            ["git", "-C", tmp_path, *words], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q", "--initial-branch=main")
    first = commit("first.py")
    commit("second.py")
    yield first, commit, git
    changed_files.cache_clear()


def test_on_main_the_last_commit_is_what_changes(repository):
    """And what is not committed yet, new files too."""
    first, _, _ = repository
    (changed.ROOT / "new.py").touch()
    (changed.ROOT / "first.py").write_text("2")

    assert first == base()
    assert {"first.py", "second.py", "new.py"} == changed_files(base())


def test_on_a_branch_all_changes_since_main(repository):
    """However many commits it has; what main got meanwhile is not of the branch."""
    _, commit, git = repository
    git("switch", "-qc", "branch")
    for name in ("third.py", "fourth.py"):
        commit(name)
    git("switch", "-q", "main")
    commit("fifth.py")
    git("switch", "-q", "branch")

    assert {"third.py", "fourth.py"} == changed_files(base())


def test_without_git_nothing_is_known_to_change(tmp_path, monkeypatch):
    """As in an archive of the sources: the sample is judged, and no more."""
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    changed.changed_exercises.cache_clear()
    assert ("", set()) == (base(), changed.changed_exercises())
    changed.changed_exercises.cache_clear()


BEFORE = """
import numpy as np
class _Both: "It."
class One(_Both): "a"
class Two(_Both): "b"
"""


@pytest.mark.parametrize(
    "old, new, names",
    [
        ('"a"', '"A"', {"One"}),
        ('"It."', '"They."', {"_Both"}),
        ("class Two", "class Six", {"Six"}),
        ('"b"', '"b"  # a comment', set()),
        ("import numpy as np", "import numpy", None),
    ],
)
def test_classes_that_differ_are_named(old, new, names):
    """Or none, and all may differ, where what is around them does."""
    assert names == differing(BEFORE, BEFORE.replace(old, new))
    assert differing("", BEFORE) is None

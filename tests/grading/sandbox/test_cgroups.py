"""Cgroups of warm processes: in a folder that stands for one, and in real ones."""

import shutil
import subprocess
from pathlib import Path

import pytest

from helpers.grading.sandbox import cgroups, isolation
from helpers.grading.sandbox.cgroups import Cgroup
from helpers.grading.sandbox.children import LOST, Nursery
from helpers.grading.sandbox.limits import Limits
from tests.grading.asking import SHORT, ended, nursery_at

LIMITS = Limits(resident_bytes=2**28, processes=4)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder that stands for a cgroup of this process, alone and delegated."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)  # the kernel's has no files
    return tmp_path


def test_a_cgroup_that_is_delegated_has_others_with_limits(home):
    """The process that grades is in one of them: the kernel wants it so."""
    assert cgroups.delegated(home)
    assert "0" == (home / "grader" / "cgroup.procs").read_text()
    assert "+memory +pids" == (home / "cgroup.subtree_control").read_text()


@pytest.mark.parametrize("lacking", ["cpu pids", "memory", None])
def test_without_its_controllers_there_is_none(home, lacking):
    """Nor where version 1 is in its place."""
    (home / "cgroup.controllers").unlink()
    if lacking:
        (home / "cgroup.controllers").write_text(lacking)
    assert not cgroups.delegated(home)
    assert not (home / "grader").exists()


def test_who_is_not_alone_in_a_cgroup_stays_where_it_was(home):
    """The kernel refuses limits below one that has processes."""
    (home / "cgroup.subtree_control").mkdir()
    assert not cgroups.delegated(home)
    assert "0" == (home / "cgroup.procs").read_text()


def test_a_cgroup_limits_memory_and_processes_and_ends_with_its_nursery(home):
    """With what the nursery has beside its child's."""
    its = Cgroup(home, LIMITS)
    limits = {
        "memory.max": str(2**28 + 2**30),
        "memory.swap.max": "0",
        "pids.max": "20",
    }
    assert limits == {it: (its.folder / it).read_text() for it in limits}
    subprocess.run(its.joined(["true"]), check=True)
    assert "0\n" == (its.folder / "cgroup.procs").read_text()
    its.end()
    assert not its.folder.exists()


def test_whose_memory_the_kernel_ended_is_told_so(home, monkeypatch):
    """And not that it was killed or lost, for which nobody would be graded."""
    monkeypatch.setattr(cgroups, "home", lambda: home)
    monkeypatch.setattr(Cgroup, "ended", lambda self: next(counts))
    monkeypatch.setattr(isolation, "command", lambda *_: ["sh", "-c", "read a; echo 1"])
    counts, new = iter([0, 1]), Nursery("collect")
    new.level = "process"
    assert LOST | {"ended": "used too much memory"} == new.ask({}, SHORT)
    assert not [*home.glob("nursery-*")]


@pytest.mark.skipif(not cgroups.home(), reason="no cgroup is delegated here")
def test_in_a_real_cgroup_the_kernel_ends_what_is_beyond_its_limits():
    """Also what no process shows; and what it does not end goes on."""
    new = nursery_at(isolation.level_of())
    many = "import os, time\nfor _ in range(200):\n    os.fork() or time.sleep(5)\n"
    much = "import os\nfor _ in range(9): os.fork()\nh = b'x' * 2**29"
    try:
        assert "done" == ended(new, "seen = 3")[0]
        folder = new.cgroup.folder
        assert "started too many processes" == ended(new, many)[0]
        assert "used too much memory" == ended(new, much, resident_bytes=2**40)[0]
    finally:
        new.end()
    assert not folder.exists()

"""What a checked program may do: Python's own functions try, and are refused."""

import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from thirty_two_lanes.agents.allowance import fenced

CHANGES = {
    "write": lambda file: file.write_text("new"),
    "append": lambda file: open(file, "a"),
    "open": lambda file: os.open(file, os.O_RDWR),
    "remove": lambda file: file.unlink(),
    "rename": lambda file: file.rename(file.with_suffix(".new")),
    "chmod": lambda file: file.chmod(0o600),
    "truncate": lambda file: os.truncate(file, 0),
    "time": lambda file: os.utime(file),
    "folder": lambda file: file.with_suffix(".d").mkdir(),
    "link": lambda file: file.with_suffix(".link").symlink_to(file),
    "database": lambda file: sqlite3.connect(file),
}
REACHES = {
    "a name": lambda: socket.getaddrinfo("localhost", 80),
    "an address": lambda: socket.create_connection(("127.0.0.1", 9), 0.1),
    "a server": lambda: socket.socket().bind(("127.0.0.1", 0)),
}
STARTS = {
    "a command": lambda: subprocess.run([sys.executable, "-V"]),
    "a shell": lambda: os.system("exit"),
}


@pytest.fixture
def inside(tmp_path):
    """The folder in which a program may write."""
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_elsewhere_stays_as_it_is(change, inside):
    """It can be read; below the folder the same is allowed."""
    outside, own = inside.parent / "file.txt", inside / "file.txt"
    for file in (outside, own):
        file.write_text("old")

    with fenced(inside):
        with pytest.raises(PermissionError, match="may not write .*gettempdir"):
            change(outside)
        assert "old" == outside.read_text()
        made = change(own)

    if isinstance(made, int) and made > 2 and change is CHANGES["open"]:
        os.close(made)
    assert ["file.txt", "inside"] == sorted(os.listdir(inside.parent))


def test_a_way_out_through_a_link_is_none(inside):
    """A link that was there before, and a path with dots."""
    target = inside.parent / "file.txt"
    (inside / "link").symlink_to(target)

    with fenced(inside):
        for way in (inside / "link", inside / ".." / "file.txt"):
            with pytest.raises(PermissionError):
                way.write_text("new")

    assert not target.exists()


@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
def test_there_is_no_network(reach, inside):
    """Not even to this machine."""
    with fenced(inside), pytest.raises(PermissionError, match="network"):
        reach()


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_there_are_no_other_processes(start, inside):
    """They would outlive the limits."""
    with fenced(inside), pytest.raises(PermissionError, match="processes"):
        start()


def test_the_fence_ends(inside):
    """By itself, and before that when it is opened."""
    with fenced(inside) as leave:
        leave()
        with tempfile.TemporaryDirectory() as elsewhere:
            Path(elsewhere, "file.txt").write_text("new")
    assert 0 == subprocess.run([sys.executable, "-c", ""]).returncode

"""A cgroup (version 2) for each warm process, where the grader may make some: there
the kernel limits the memory and processes of a submission and its nursery as a whole.

    systemd-run --user --scope --property=Delegate=yes python -m helpers.grading grade …

Without one, they are counted some times a second (`usage.py`), which is later than the
kernel, and ends the same things.
"""

import re
import secrets
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from helpers.grading.sandbox.limits import Limits

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = {"memory", "pids"}
WARM_BYTES, WARM_PROCESSES = 2**30, 16  # what a nursery has beside its child's
JOIN = 'echo 0 > "$0/cgroup.procs"; exec "$@"'
CLEARING_S = 5


@cache
def home() -> Path | None:
    """The cgroup of this process, if others with limits can be made in it."""
    found = re.search("^0::/(.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
    folder = ROOT / found[1] if found else ROOT
    return folder if found and delegated(folder) else None


def delegated(folder) -> bool:
    """May cgroups with limits be made in this one? This process moves into one of them
    first, since one that has others has no processes; it must be alone there.
    """
    try:
        if not {*(folder / "cgroup.controllers").read_text().split()} >= CONTROLLERS:
            return False
        (folder / "grader").mkdir(exist_ok=True)
        (folder / "grader" / "cgroup.procs").write_text("0")
    except OSError:
        return False
    try:
        (folder / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:  # it has other processes
        (folder / "cgroup.procs").write_text("0")
        return False
    return True


class Cgroup:
    """The cgroup of one warm process and all that it starts."""

    def __init__(self, parent, limits=None):
        limits = limits or Limits()
        self.folder = parent / f"nursery-{secrets.token_hex(4)}"
        self.folder.mkdir()
        self.set("memory.max", limits.resident_bytes + WARM_BYTES)
        with suppress(OSError):  # this kernel counts none
            self.set("memory.swap.max", 0)  # else the rest would go there
        self.set("pids.max", limits.processes + WARM_PROCESSES)

    def set(self, name, value):
        (self.folder / name).write_text(str(value))

    def joined(self, command) -> list[str]:
        """A command that is run in it, with all that it starts."""
        return ["sh", "-c", JOIN, str(self.folder), *command]

    def ended(self) -> int:
        """How many processes the kernel has ended for its memory."""
        events = (self.folder / "memory.events").read_text()
        return int(re.search(r"^oom_kill (\d+)$", events, re.MULTILINE)[1])

    def end(self):
        """End all that is in it, and remove it."""
        self.set("cgroup.kill", 1)
        deadline = time.monotonic() + CLEARING_S
        while self.folder.is_dir():
            try:
                self.folder.rmdir()
            except OSError:  # something in it has not ended yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

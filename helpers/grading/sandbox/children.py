"""The two warm processes of a worker: one runs submissions, the other one judges."""

import json
import os
import secrets
import select
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict

from helpers.grading.sandbox import cgroups, isolation
from helpers.grading.sandbox.limits import TOO_MUCH_MEMORY, Limits

READY_S, GRACE_S, CLEARING_S = 60, 15, 10
EACH_S = 20  # until an exercise is prepared
LOST = {
    "ended": "lost its process",
    "messages": [],
    "seconds": 0.0,
    "cpu_seconds": 0.0,
    "waited_seconds": 0.0,
}
# bubblewrap ends with the thread that began it, and this one lives as long as we do
_starter = ThreadPoolExecutor(1)


class NurseryError(Exception):
    """A warm process that does not start; the message is for who grades."""


class Nursery:
    """A warm process, begun when it is first asked, and anew when it was lost."""

    def __init__(self, kind, container=""):
        self.kind, self.container = kind, container
        self.level = isolation.level_of(container if kind == "collect" else "")
        self.process = self.cgroup = None
        self.preparation = {}

    def prepare(self, preparation):
        """Begin anew with what is to be done once, unless it was begun so."""
        if preparation != self.preparation:
            self.end()
            self.preparation = preparation

    def ask(self, request, limits) -> dict:
        """What a child hands over, and how it ended."""
        if self.process and self.is_lost():
            self.end()  # between two submissions: it is nobody's fault
        process, name = self.process or self.begin(), secrets.token_hex(8)
        ended = self.cgroup.ended() if self.cgroup else 0
        lines = json.dumps({"id": name, **asdict(limits)}), json.dumps(request)
        try:
            process.stdin.write("\n".join([*lines, ""]).encode())
            answer = self.read(process, limits.wall_s + GRACE_S)
        except (BrokenPipeError, ConnectionError, ValueError):
            answer = None
        if self.process is not process:
            raise NurseryError(f"the process that is to {self.kind} was ended")
        its = isinstance(answer, dict) and answer.pop("id", "") == name
        last = answer.pop("last", True) if its else True
        whole = answer if its and is_answer(answer) else {**LOST}
        if self.cgroup and self.cgroup.ended() > ended:  # of its own limit
            whole["ended"] = TOO_MUCH_MEMORY
        if last is not False or whole is not answer:
            self.end()
        return whole

    def is_lost(self) -> bool:
        """Has it ended, or does it say what nobody asked for?"""
        said = select.select([self.process.stdout], [], [], 0)[0]
        return bool(said) or self.process.poll() is not None

    def begin(self):
        """Start it, and wait until its packages are imported."""
        require_linux()
        if self.kind == "collect" and self.level == "process":
            require_no_root()
        command = isolation.command(self.kind, self.level, self.container)
        if self.level != "container" and (home := cgroups.home()):
            self.cgroup = cgroups.Cgroup(home)
            command = self.cgroup.joined(command)
        self.process = _starter.submit(
            subprocess.Popen,
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=isolation.environment(self.kind, self.level),
            start_new_session=True,
            bufsize=0,
        ).result()
        with suppress(BrokenPipeError):  # it has ended, and says why
            self.process.stdin.write(json.dumps(self.preparation).encode() + b"\n")
        ready_s = READY_S + EACH_S * len(self.preparation.get("inputs", ()))
        if self.read(self.process, ready_s) is None:
            self.process.kill()
            said = self.process.stderr.read().decode("utf-8", "replace").strip()
            self.end()
            reason = said.splitlines()[-1] if said else "it said nothing"
            raise NurseryError(f"the process that is to {self.kind} ends: {reason}")
        return self.process

    def read(self, process, seconds):
        """A line of its answers; None if it ends, or does not answer in time."""
        data, deadline = b"", time.monotonic() + seconds
        most = 8 * Limits.handed_over_bytes
        while not data.endswith(b"\n") and len(data) < most:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                return None
            more = process.stdout.read(2**16)
            if not more:
                return None
            data += more
        return json.loads(data)

    def end(self):
        """End it, and what it started: without requests it clears up, if it can."""
        if not self.process:
            return
        process, self.process = self.process, None
        process.stdin.close()
        try:
            process.wait(CLEARING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdout, process.stderr):
            pipe.close()
        if self.cgroup:
            self.cgroup.end()
            self.cgroup = None


def is_answer(found) -> bool:
    """Is it of the form of a nursery's answers, to the last type?"""
    return (
        isinstance(found, dict)
        and found.keys() == LOST.keys()
        and all(type(found[name]) is type(value) for name, value in LOST.items())
        and all(isinstance(it, str) for it in found["messages"])
    )


def require_linux():
    """Only there is a submission kept within its limits."""
    if sys.platform != "linux":
        raise NurseryError("submissions are run on Linux alone: see docs/GRADING.md")


def require_isolation(level, *paths):
    """A submission at this level cannot read what is not its own, such as these paths;
    or NurseryError.
    """
    if level == "process":
        remedy = isolation.lack_of_bubblewrap()
        raise NurseryError(
            "nothing isolates submissions here, and one could read this machine's "
            f"files, marks and answers: {remedy}, or grade in a container "
            "(`--container IMAGE`); `--not-isolated` grades nevertheless"
        )
    if level == "bubblewrap" and (found := isolation.exposed(paths)):
        path, folder = found[0]
        raise NurseryError(
            f"submissions could read {path}, since they see all of {folder}: move it "
            "out of there"
        )


def require_no_root():
    """A submission of root's that is not isolated could end this machine."""
    if os.geteuid() == 0 and not os.environ.get("GRADING_AS_ROOT"):
        raise NurseryError(
            "root does not run submissions that are not isolated: install bubblewrap, "
            "give `--container IMAGE`, be another user, or set GRADING_AS_ROOT=1"
        )

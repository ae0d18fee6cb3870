"""The two warm processes of a worker: one runs submissions, the other one judges."""

import json
import os
import select
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from helpers.grading.sandbox import isolation
from helpers.grading.sandbox.limits import Limits

READY_S, GRACE_S = 60, 15
LOST = {"ended": "ended its parent", "seconds": 0.0, "cpu_seconds": 0.0}
# bubblewrap ends with the thread that began it, and this one lives as long as we do
_starter = ThreadPoolExecutor(1)


class NurseryError(Exception):
    """A warm process that does not start; the message is for who grades."""


class Nursery:
    """A warm process, begun when it is first asked, and anew when it was lost."""

    def __init__(self, kind, container=""):
        self.kind, self.container = kind, container
        self.level = isolation.level_of(container if kind == "collect" else "")
        self.process = None

    def ask(self, request, limits) -> dict:
        """What a child hands over, and how it ended."""
        if self.process and self.process.poll() is not None:
            self.end()  # between two submissions: it is nobody's fault
        process = self.process or self.begin()
        line = json.dumps({**request, "limits": limits.as_dict()}).encode() + b"\n"
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = self.read(limits.wall_s + GRACE_S)
        except (BrokenPipeError, ConnectionError, ValueError):
            answer = None
        if answer is None:
            self.end()
            return {**LOST, "messages": []}
        return answer

    def begin(self):
        """Start it, and wait until its packages are imported."""
        if sys.platform != "linux":
            raise NurseryError(
                "submissions are run on Linux alone: see docs/GRADING.md"
            )
        if self.kind == "collect" and self.level == "process":
            require_no_root()
        self.process = _starter.submit(
            subprocess.Popen,
            isolation.command(self.kind, self.level, self.container),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=isolation.environment(self.kind, self.level),
            start_new_session=True,
            bufsize=0,
        ).result()
        if self.read(READY_S) is None:
            self.process.kill()
            told = self.process.stderr.read().decode("utf-8", "replace").strip()
            self.end()
            reason = told.splitlines()[-1] if told else "it said nothing"
            raise NurseryError(f"the process that is to {self.kind} ends: {reason}")
        return self.process

    def read(self, seconds):
        """A line of its answers; None if it ends, or does not answer in time."""
        data, deadline = b"", time.monotonic() + seconds
        most = 8 * Limits.handed_over_bytes
        while not data.endswith(b"\n") and len(data) < most:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            more = self.process.stdout.read(2**16)
            if not more:
                return None
            data += more
        return json.loads(data)

    def end(self):
        """End it, and what it started."""
        if self.process:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                pipe.close()
            self.process = None


def require_no_root():
    """A submission of root's that is not isolated could end this machine."""
    if os.geteuid() == 0 and not os.environ.get("GRADING_AS_ROOT"):
        raise NurseryError(
            "root does not run submissions that are not isolated: install bubblewrap, "
            "give `--container IMAGE`, be another user, or set GRADING_AS_ROOT=1"
        )

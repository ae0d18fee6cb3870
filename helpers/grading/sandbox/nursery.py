"""A warm process that forks one child for each request: Numba is imported once.

    python -m helpers.grading.sandbox.nursery collect|judge

It reads requests, a line of JSON each, and answers each with a line. A child has its
limits, an empty folder and a copy of its parent's memory; when it has answered, or its
time is over, it is ended with all that it started. It can neither trace nor read its
parent (`PR_SET_DUMPABLE`), so the next child starts as clean as the first.
"""

import ctypes
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
from importlib import import_module
from itertools import count
from pathlib import Path

import psutil

from helpers.grading.sandbox import system_calls
from helpers.grading.sandbox.limits import KILLED, LATE, WORKED_LONG, Limits
from helpers.grading.sandbox.usage import (
    alone_here,
    descendants,
    excess,
    give_way,
    held,
    is_given_back,
)

WORK = {
    "collect": "helpers.grading.sandbox.collecting",
    "judge": "helpers.grading.sandbox.judging",
}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
HIGH = 900  # file descriptors of ours, out of the way of who closes the first ones
POLL_S = 0.05
GONE = "nobody waits for it"
EARLY, DONE = "ended early", b'"done"\n'
BY_SIGNAL = {signal.SIGXCPU: WORKED_LONG, signal.SIGKILL: KILLED}
CHANGED = 70  # the exit status of a process that nobody may be served by any more


def main(kind):
    """Serve until there are no more requests."""
    requests, answers = os.dup2(0, HIGH), os.dup2(1, HIGH + 1)
    point_to_nothing(0, 1)
    work = import_module(WORK[kind]).work
    harden()
    at_start, held_at_start = standing(), held()
    with os.fdopen(requests, "rb") as lines, os.fdopen(answers, "wb") as out:
        write(out, {"ready": os.getpid()})
        for line in lines:
            request = json.loads(line)
            name = request.pop("id")
            answer = attend(work, request)
            if standing() != at_start or not is_given_back(held_at_start):
                os._exit(CHANGED)  # a child did that: nobody may be served after it
            if answer["ended"] == GONE:
                return
            write(out, {**answer, "id": name})


def write(out, answer):
    out.write(json.dumps(answer).encode() + b"\n")
    out.flush()


def point_to_nothing(*descriptors):
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nothing, descriptor)
    os.close(nothing)


def harden():
    """Let no child trace this process or outlive it; Linux alone knows how."""
    if sys.platform != "linux":
        return
    control(PR_SET_DUMPABLE, 0)
    control(PR_SET_CHILD_SUBREAPER, 1)
    control(PR_SET_NO_NEW_PRIVS, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python's own would end process 1
    system_calls.require()


def control(*arguments):
    ctypes.CDLL(None, use_errno=True).prctl(*arguments, 0, 0, 0)


def standing():
    """What a child could change of this process, and the next child would inherit."""
    names = [it for it in dir(resource) if it.startswith("RLIMIT_")]
    limits = {it: resource.getrlimit(getattr(resource, it)) for it in names}
    policy = os.sched_getscheduler(0), os.sched_getparam(0).sched_priority
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    return limits, os.sched_getaffinity(0), policy, nice


# ---------------------------------------------------------------- one request


def attend(work, request) -> dict:
    """What one child hands over, all that it wrote in time, and how it ended: "done",
    or the limit that it met.
    """
    limits, worked = Limits(**request.pop("limits")), cpu_of_children()
    folder = tempfile.mkdtemp(prefix="work")
    receive, send = os.pipe()
    begun = time.monotonic()
    child = os.fork()
    if not child:
        os.close(receive)
        live(work, request, send, folder, limits)
    os.close(send)
    try:
        ended, data = listen(receive, begun + limits.wall_s, limits)
        if ended == EARLY:
            ended = ending_of(child, limits)
    finally:
        end_all()
        rest = b""
        while select.select([receive], [], [], 0)[0]:  # nobody writes any more
            if not (more := os.read(receive, 2**16)):
                break
            rest += more
        os.close(receive)
        empty(folder)
    whole = data if ended == "done" else (data + rest)[: limits.handed_over_bytes]
    return {
        "ended": ended,
        "messages": whole.decode("utf-8", "replace").split("\n")[:-1],
        "seconds": round(time.monotonic() - begun, 3),
        "cpu_seconds": round(cpu_of_children() - worked, 3),
    }


def cpu_of_children() -> float:
    """The seconds that children computed, those that were ended and collected."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def empty(folder):
    """Remove a child's folder; where all folders are a child's, what it left beside."""
    home = Path(folder).parent
    if not alone_here():
        return remove(Path(folder))
    if home.stat().st_uid == os.getuid():  # else no child could take rights away
        home.chmod(0o700)
    for name in os.listxattr(home):  # among them, who may use folders made there
        os.removexattr(home, name)
    for left in list(home.iterdir()):
        if left.is_symlink() or not left.is_dir():
            left.unlink()
        else:
            remove(left)
    if any(home.iterdir()):
        os._exit(CHANGED)


def remove(folder):
    """Remove a folder, whose rights may be gone: inner ones are moved up first, since
    they may be so deep that no path leads to them.
    """
    aside, names = Path(tempfile.mkdtemp(dir=folder.parent)), count()
    folders = [folder]
    while folders:
        here = folders.pop()
        here.chmod(0o700)
        for entry in list(os.scandir(here)):
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry, 0o700)  # else it cannot be moved
                folders.append(aside / str(next(names)))
                os.rename(entry, folders[-1])
            else:
                os.unlink(entry)
        here.rmdir()
    aside.rmdir()


def live(work, request, send, folder, limits):
    """The child: it works within its limits, and never returns."""
    status = 1
    try:
        os.setsid()
        control(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(send, HIGH + 2)
        os.closerange(3, HIGH + 2)
        os.closerange(HIGH + 3, HIGH + 100)
        point_to_nothing(0, 1, 2)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(HOME=folder, TMPDIR=folder, PATH="/usr/bin:/bin")
        for what, most in rlimits(limits):
            hard = resource.getrlimit(what)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            spare = what == resource.RLIMIT_CPU  # SIGXCPU comes first, and says why
            resource.setrlimit(what, (most - spare, most))
        system_calls.refuse()
        work(request, sender(HIGH + 2), limits)
        status = 0
    finally:
        os._exit(status)


def rlimits(limits):
    yield resource.RLIMIT_CPU, limits.cpu_s + 1
    yield resource.RLIMIT_FSIZE, limits.file_bytes
    yield resource.RLIMIT_AS, limits.memory_bytes
    yield resource.RLIMIT_CORE, 0
    yield resource.RLIMIT_NOFILE, 256
    yield resource.RLIMIT_SIGPENDING, limits.signals


def sender(descriptor):
    """A function that hands a message over, with what it needs kept from patches."""
    dumps, put = json.dumps, os.write

    def send(message):
        data = dumps(message).encode() + b"\n"
        while data:
            data = data[put(descriptor, data) :]

    return send


def listen(receive, deadline, limits):
    """How a child ends, and what it wrote until then; "done" if it says so."""
    data, next_count = b"", 0.0
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([receive, HIGH], [], [], min(left, POLL_S))
        if HIGH in ready:  # who asked is gone; else nothing comes before our answer
            return GONE, b""
        if time.monotonic() > next_count:  # whether or not somebody writes
            processes = descendants()
            if too_much := excess(processes, limits):
                return too_much, data
            give_way(processes)
            next_count = time.monotonic() + POLL_S
        if ready:
            more = os.read(receive, 2**16)
            data += more
            if not more:
                return EARLY, data
            if len(data) > limits.handed_over_bytes:
                return "handed over too much", data
            if data.endswith(DONE):
                return "done", data.removesuffix(DONE)
    return LATE, data


def ending_of(child, limits) -> str:
    """Why a child says no more: the system ends those that compute for too long, and
    any where memory is short.
    """
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline and not excess(descendants(), limits):
        if found := os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            signalled = found.si_code != os.CLD_EXITED
            return BY_SIGNAL.get(found.si_status, EARLY) if signalled else EARLY
        time.sleep(0.001)
    return EARLY  # it closed its end, and lives


def end_all():
    """End every descendant; those whose parent ends become ours, and end as well."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if alone_here():
            signal_all()
        for process in descendants():
            try:
                process.kill()
            except psutil.Error:
                pass
        if not reap():
            return
        time.sleep(0.001)
    os._exit(CHANGED)  # something cannot be ended


def signal_all():
    """End all processes but this one, at once: a bomb cannot be faster."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass


def reap() -> bool:
    """Collect the dead; is anybody left?"""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                return True
        except ChildProcessError:
            return False


if __name__ == "__main__":
    main(sys.argv[1])
    os._exit(0)  # nothing is left, and to unload the packages takes long

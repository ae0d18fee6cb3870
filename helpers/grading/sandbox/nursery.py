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
import re
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
from helpers.grading.sandbox.limits import Limits

WORK = {
    "collect": "helpers.grading.sandbox.collecting",
    "judge": "helpers.grading.sandbox.judging",
}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
HIGH = 900  # file descriptors of ours, out of the way of who closes the first ones
POLL_S = 0.05
GONE = "nobody waits for it"
CHANGED = 70  # the exit status of a process that nobody may be served by any more


def main(kind):
    """Serve until there are no more requests."""
    requests, answers = os.dup2(0, HIGH), os.dup2(1, HIGH + 1)
    point_to_nothing(0, 1)
    work = import_module(WORK[kind]).work
    harden()
    at_start = standing()
    with os.fdopen(requests, "rb") as lines, os.fdopen(answers, "wb") as out:
        write(out, {"ready": os.getpid()})
        for line in lines:
            request = json.loads(line)
            name, limits = request.pop("id"), Limits(**request.pop("limits"))
            answer = attend(work, request, limits)
            if standing() != at_start or excess(limits):
                os._exit(CHANGED)  # a child left that: nobody may be served after it
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


def attend(work, request, limits) -> dict:
    """What one child hands over, and how it ended: "done", or the limit that it met."""
    worked = cpu_of_children()
    folder = tempfile.mkdtemp(prefix="work")
    receive, send = os.pipe()
    begun = time.monotonic()
    child = os.fork()
    if not child:
        os.close(receive)
        live(work, request, send, folder, limits)
    os.close(send)
    try:
        ended, lines = listen(receive, begun + limits.wall_s, limits)
    finally:
        os.close(receive)
        end_all()
        empty(folder)
    return {
        "ended": ended,
        "messages": lines,
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
        for it in list(os.scandir(here)):
            if it.is_dir(follow_symlinks=False):
                os.chmod(it, 0o700)  # else it cannot be moved
                folders.append(aside / str(next(names)))
                os.rename(it, folders[-1])
            else:
                os.unlink(it)
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
            resource.setrlimit(what, (most, most))
        system_calls.refuse()
        work(request, sender(HIGH + 2), limits)
        status = 0
    finally:
        os._exit(status)


def rlimits(limits):
    yield resource.RLIMIT_CPU, limits.cpu_s
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
    """The lines that a child writes until it says that it is done."""
    data, next_count = b"", 0.0
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([receive, HIGH], [], [], min(left, POLL_S))
        if HIGH in ready:  # who asked is gone; else nothing comes before our answer
            return GONE, []
        if time.monotonic() > next_count:  # whether or not somebody writes
            if too_much := excess(limits):
                return too_much, whole_lines(data)
            next_count = time.monotonic() + POLL_S
        if ready:
            more = os.read(receive, 2**16)
            data += more
            if not more:
                return "ended early", whole_lines(data)
            if len(data) > limits.handed_over_bytes:
                return "too much handed over", whole_lines(data)
            if data.endswith(b'"done"\n'):
                return "done", whole_lines(data)[:-1]
    return "out of time", whole_lines(data)


def whole_lines(data):
    """The complete lines of what was read, as texts."""
    lines = data.split(b"\n")[:-1]
    return [line.decode("utf-8", "replace") for line in lines]


def descendants():
    """All processes that children started, those that left their group too."""
    try:
        return psutil.Process().children(recursive=True)
    except psutil.Error:
        return []


def excess(limits) -> str:
    """What children use too much of with all that they started, or nothing: threads, of
    which a process has one at least, files, sockets, or memory beside their copy of
    this process's.
    """
    threads = memory = 0
    copied = own_memory(os.getpid())
    for process in descendants():
        try:
            threads += process.num_threads()
            memory += max(0, own_memory(process.pid) - copied)
        except (psutil.Error, OSError):
            pass
    if threads > limits.processes:
        return "too many processes"
    if alone_here() and files_left() > limits.files:
        return "too many files"
    if alone_here() and sockets_open() > limits.sockets:
        return "too many sockets"
    if alone_here() and locks_held() > limits.locks:
        return "too many locks"
    return "too much memory" if memory > limits.resident_bytes else ""


def own_memory(pid) -> int:
    """The bytes in memory that come from no file, those too that processes share."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    found = re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+) kB$", status, re.MULTILINE)
    return 1024 * sum(map(int, found))


def files_left() -> int:
    """The files and folders where children may write, deleted ones, too, while open."""
    about = os.statvfs(tempfile.gettempdir())
    return about.f_files - about.f_ffree


def sockets_open() -> int:
    """The sockets of this network, which nobody has but children."""
    return int(
        re.search(r"used (\d+)", Path("/proc/net/sockstat").read_text("utf-8"))[1]
    )


def locks_held() -> int:
    """The locks of these processes' files."""
    return Path("/proc/locks").read_text("utf-8").count("\n")


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


def alone_here() -> bool:
    """Are all processes that this one can see its own? bubblewrap says so."""
    return os.environ.get("GRADING_ALONE") == "1"


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

"""A warm process that forks one child for each request: Numba is imported once.

    python -m helpers.grading.sandbox.nursery collect|judge

A first line says what to prepare before any child is there: what the grader knows, and
each child may. A request is two lines of JSON: its limits, which this process reads,
and what is asked, which its child reads. A child has its limits, an empty folder and a
copy of its parent's memory, in which nothing is that anybody handed in or over: what it
says goes to its notes, a file in memory. When it has ended, or its time is over, it is
ended with all that it started, and then a second child reads the notes and answers with
a line. None can trace or read its parent (`PR_SET_DUMPABLE`), so the next child starts
as clean as the first.
"""

import ctypes
import gc
import json
import os
import random
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
from helpers.grading.sandbox.limits import (
    KILLED,
    LATE,
    MOST_MESSAGES,
    NOBODY,
    WORKED_LONG,
    Limits,
)
from helpers.grading.sandbox.usage import (
    alone_here,
    descendants,
    ended_by_system,
    excess,
    give_way,
    held,
    waited,
)

WORK = {
    "collect": "helpers.grading.sandbox.collecting",
    "judge": "helpers.grading.sandbox.judging",
}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
# file descriptors of ours, out of the way of who closes the first ones
REQUESTS, ANSWERS, NOTES, END = range(900, 904)
POLL_S, BREATH_S = 0.05, 0.005
CHANCE = random.SystemRandom()  # not copied with a process
GONE = "nobody waits for it"
TOO_MUCH, EARLY, DONE = "handed over too much", "ended early", b'"done"\n'
ENDS = {signal.SIGCHLD}
CHANGED = 70  # the exit status of a process that nobody may be served by any more


def main(kind):
    """Serve until there are no more requests, or one leaves something behind."""
    os.dup2(0, REQUESTS)
    os.dup2(1, ANSWERS)
    point_to_nothing(0, 1)
    become_nobody()
    module = import_module(WORK[kind])
    harden()
    module.prepare(**json.loads(first_line() or b"{}"))
    gc.collect()
    gc.freeze()  # else each child would look at all of it, and so copy it
    at_start = standing()
    write({"ready": os.getpid()})
    while limits := first_line():
        if not attend(module, json.loads(limits), at_start):
            os._exit(CHANGED)


def first_line() -> bytes:
    """The next line, and not a byte of what follows; nothing where nobody asks."""
    line = b""
    while not line.endswith(b"\n"):
        if not (one := os.read(REQUESTS, 1)):
            return b""
        line += one
    return line


def write(answer):
    data = json.dumps(answer).encode() + b"\n"
    while data:
        data = data[os.write(ANSWERS, data) :]


def point_to_nothing(*descriptors):
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in descriptors:
        os.dup2(nothing, descriptor)
    os.close(nothing)


def become_nobody():
    """Where root grades: of its rights, bubblewrap leaves those to do this."""
    if alone_here() and os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def harden():
    """Let no child trace this process or outlive it; Linux alone knows how."""
    if sys.platform != "linux":
        return
    control(PR_SET_PDEATHSIG, signal.SIGKILL)  # bubblewrap's own ends with its user
    control(PR_SET_DUMPABLE, 0)
    control(PR_SET_CHILD_SUBREAPER, 1)
    control(PR_SET_NO_NEW_PRIVS, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python's own would end process 1
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # `watch` waits for it
    system_calls.require()


def control(*arguments):
    ctypes.CDLL(None, use_errno=True).prctl(*arguments, 0, 0, 0)


def standing():
    """What a child could change or leave here, and the next one would begin with."""
    names = [it for it in dir(resource) if it.startswith("RLIMIT_")]
    limits = {it: resource.getrlimit(getattr(resource, it)) for it in names}
    policy = os.sched_getscheduler(0), os.sched_getparam(0).sched_priority
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    return limits, os.sched_getaffinity(0), policy, nice, held()


# ---------------------------------------------------------------- one request


def attend(module, limits, at_start) -> bool:
    """Let a child work, and another one answer; is all here as it was at the start?"""
    name, limits = limits.pop("id"), Limits(**limits)
    worked, begun = cpu_of_children(), time.monotonic()
    folder, notes = tempfile.mkdtemp(prefix="work"), system_calls.file_in_memory()
    child = os.fork()
    if not child:
        live(module.work, notes, folder, limits)
    try:
        ended, at_once = watch(child, notes, begun + limits.wall_s, limits)
        waited_s = min(waited(child), time.monotonic() - begun)
    finally:
        clean = end_all() and empty(folder) and standing() == at_start
    if ended == GONE or not os.fstat(notes).st_size:  # it never began to work
        return False
    answer = {
        "id": name,
        "ended": ended,
        "seconds": round(time.monotonic() - begun, 3),
        "cpu_seconds": round(cpu_of_children() - worked, 3),
        # who computes several things at once may have waited for itself
        "waited_seconds": round(waited_s, 3) if at_once <= 1 else 0.0,
    }
    teller = os.fork()
    number = teller or os.getpid()  # the next one, where nobody started any other
    clean = clean and (module.TRUSTED or number == child + 1 or not alone_here())
    if not teller:
        tell(answer | {"last": not clean}, notes, limits.handed_over_bytes)
    os.waitpid(teller, 0)
    os.close(notes)
    return clean


def tell(answer, notes, most):
    """The child that answers: what the notes of another one say; it never returns."""
    try:
        data = os.pread(notes, most + 1, 0)
        if answer["ended"] == EARLY and data.endswith(DONE):
            answer["ended"], data = "done", data.removesuffix(DONE)
        elif len(data) > most:
            answer["ended"] = TOO_MUCH
        text = data[:most].decode("utf-8", "replace")
        lines = text.split("\n", MOST_MESSAGES + 1)  # before them, that it begins
        write(answer | {"messages": lines[1:-1]})
    finally:
        os._exit(0)


def cpu_of_children() -> float:
    """The seconds that children computed, those that were ended and collected."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def empty(folder) -> bool:
    """Remove a child's folder, and where all folders are a child's, what it left
    beside; is nothing left?
    """
    home = Path(folder).parent
    if not alone_here():
        remove(Path(folder))
        return True
    if home.stat().st_uid == os.getuid():  # else no child could take rights away
        home.chmod(0o700)
    for name in os.listxattr(home):  # among them, who may use folders made there
        os.removexattr(home, name)
    for left in list(home.iterdir()):
        if left.is_symlink() or not left.is_dir():
            left.unlink()
        else:
            remove(left)
    return not any(home.iterdir())


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


def live(work, notes, folder, limits):
    """The child: it reads what is asked, works within its limits, and never returns."""
    status = 1
    try:
        os.setsid()
        control(PR_SET_PDEATHSIG, signal.SIGKILL)
        if alone_here():  # else those of others could trace it
            control(PR_SET_DUMPABLE, 1)  # `excess` may see what it shares
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        request = asked()
        os.dup2(notes, NOTES)
        os.closerange(3, NOTES)
        os.closerange(END, END + 100)
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
        os.write(NOTES, b"\n")  # a line without a message: it begins
        work(request, sender(NOTES), limits)
        status = 0
    finally:
        os._exit(status)


def asked() -> dict:
    """The line that is left of the request."""
    data = bytearray()
    while not data.endswith(b"\n"):
        if not (more := os.read(REQUESTS, 2**16)):
            raise EOFError
        data += more
    return json.loads(data)


def rlimits(limits):
    yield resource.RLIMIT_CPU, limits.cpu_s + 1
    yield resource.RLIMIT_FSIZE, limits.file_bytes
    yield resource.RLIMIT_AS, limits.memory_bytes
    yield resource.RLIMIT_CORE, 1  # at 0 a crash may start a program of the host's
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


def watch(child, notes, deadline, limits) -> tuple[str, int]:
    """How a child ends, or which limit it meets; and how many of its threads computed
    at once, at most.
    """
    hung_up, next_count, short, most = select.poll(), 0.0, ended_by_system(), 0
    hung_up.register(REQUESTS, 0)
    woken = None
    while (left := deadline - time.monotonic()) > 0:
        if found := os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return way_of(found, ended_by_system() > short), most
        if woken:  # by one that signals without end
            time.sleep(BREATH_S)
        if hung_up.poll(0):
            return GONE, most
        if time.monotonic() > next_count:  # also where processes end all the time
            processes = descendants()
            if too_much := excess(processes, limits):
                return too_much, most
            if os.fstat(notes).st_size > limits.handed_over_bytes:
                return TOO_MUCH, most
            most = max(most, give_way(processes))
            # at no time that a child could foresee, to be busy only in between
            next_count = time.monotonic() + CHANCE.uniform(1, 2) * POLL_S
        wait = min(left, next_count - time.monotonic())
        woken = signal.sigtimedwait(ENDS, max(0, wait))
    return LATE, most


def way_of(found, memory_was_short) -> str:
    """How a child ended by itself: it may kill itself, and the system others."""
    signalled = found.si_code != os.CLD_EXITED and found.si_status
    if signalled == signal.SIGKILL and memory_was_short:
        return KILLED
    return WORKED_LONG if signalled == signal.SIGXCPU else EARLY


def end_all() -> bool:
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
            return True
        time.sleep(0.001)
    return False  # something cannot be ended


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

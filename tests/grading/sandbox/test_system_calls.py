"""What a submission may not ask the kernel, at each level of isolation."""

import os
import platform
import re
import sys
from ast import literal_eval
from pathlib import Path

import pytest

from helpers.grading import worker
from helpers.grading.sandbox import isolation, system_calls
from helpers.grading.sandbox.children import Nursery
from tests.grading.asking import nursery_at, seen
from tests.quick import slow

CALL = """\
import ctypes, os, resource
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    ctypes.set_errno(0)
    found = libc.syscall(number, *args)
    return (found, ctypes.get_errno())
def tried(what, *args):
    try: what(*args)
    except OSError as error: return error.errno
    return 0
"""


@pytest.fixture(scope="module", params=sorted({isolation.level_of(), "process"}))
def nursery(request):
    """A nursery as isolated as can be, and one that is not isolated."""
    with worker.nursery("collect", "") as warm:
        if warm.level == request.param:
            yield warm
            return
    new = nursery_at(request.param)
    yield new
    new.end()


needs_x86_64 = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="numbers of x86_64"
)


REFUSED = {  # by what it asks for, as a number and its arguments
    "keyctl: the session's keyring": "250, 0, -3, 0",
    "add_key": "248, b'user', b'k', b'x', 1, -3",
    "request_key": "249, b'user', b'k', None, -3",
    "shmget": "29, 0, 4096, 0o1600",
    "semget": "64, 0, 1, 0o1600",
    "msgget": "68, 0, 0o1600",
    "mq_open": "240, b'q', 0o102, 0o600, None",
    "memfd_create": "319, b'm', 0",
    "unshare: a user namespace": "272, 0x10000000",
    "clone: a user namespace": "56, 0x10000011, 0, 0, 0, 0",
    "io_setup": "206, 60000, bytes(8)",
    "utimensat: of a device": "280, -100, b'/dev/null', None, 0",
    "socket: to the host of a virtual machine": "41, 40, 1, 0",
    "socket: the kernel's cryptography": "41, 38, 5, 0",
    "socket: what is left of it outlives the child": "41, 2, 1, 0",
    "socket: the same, of version 6": "41, 10, 2, 0",
    "inotify_init1: the user who grades has 128": "294, 0",
    "fanotify_init": "300, 0, 0",
    "socketpair: of another family": "53, 30, 1, 0, bytes(8)",
    "mmap: shared, of no file": "9, 0, 4096, 3, 0x21, -1, 0",
    "ioprio_set": "251, 1, os.getppid(), 0x6000",
    "sched_setattr": "314, os.getppid(), bytes(48), 0",
    "setsid: each session may have a share of the cores": "112",
    "flock: others see it": "73, os.open('.', 0), 2",
    "fcntl: watches of folders": "72, os.open('.', 0), 1026, 1",
    "fcntl: the size of a pipe": "72, os.pipe()[0], 1031, 2**20",
    "fcntl: its signals'": "72, os.open('.', 0), 8, os.getppid()",
    "vmsplice": "278, os.pipe()[1], bytes(16), 1, 0",
    "splice": "275, 0, 0, 1, 0, 9, 0",
    "tee": "276, 0, 1, 9, 0",
    "sendfile: pipes hold pages": "40, 1, 0, 0, 9",
    "prctl: PR_FUTEX_HASH": "157, 78, 1, 4096, 0, 0",
    "prctl: to be read and traced": "157, 4, 1, 0, 0, 0",
    "prctl: to collect processes": "157, 36, 1, 0, 0, 0",
    "prctl: filters, each with memory": "157, 22, 2, bytes(16)",
    "socket: to a name": "41, 1, 1, 0",
    "socket: to the kernel": "41, 16, 3, 0",
    "sendmsg: descriptors under way": "46, 1, bytes(56), 0",
    "sendmmsg: the same": "307, 1, bytes(64), 1, 0",
    "mmap: the machine's pages": "9, 0, 2**21, 3, 0x40022, -1, 0",
    "madvise: pages that others have as well": "28, 0, 4096, 12",
    "madvise: who has read a file": "28, 0, 4096, 21",
    "mincore: the same": "27, 0, 4096, bytes(1)",
    "preadv2: the same": "327, 0, bytes(16), 1, 0, 0, 8",
    "fadvise64: that it is read anew": "221, 0, 0, 0, 4",
    "setrlimit: who looks at a crash": "160, 4, bytes(16)",
    "prlimit64: the same": "302, 0, 4, bytes(16), None",
    "prlimit64: another": "302, os.getppid(), 7, None, bytes(16)",
    "mlock": "149, 0, 4096",
    "sync: the whole machine waits": "162",
    "setxattr": "188, b'.', b'user.a', b'b', 1, 0",
    "mknod": "133, b'x', 0o10600, 0",
    "clone: a child of its parent": "56, 0x8011, 0, 0, 0, 0",
    "timer_create": "222, 1, bytes(64), bytes(8)",
    "personality": "135, 0x0040000",
}


@needs_x86_64
def test_what_reaches_beyond_the_child_is_refused(nursery):
    """By the kernel, with EPERM; all of them by one child, that none of them ends."""
    calls = "".join(f"{name!r}: call({it}), " for name, it in REFUSED.items())
    said = seen(nursery, "said", f"{CALL}said = {{{calls}}}")
    assert dict.fromkeys(REFUSED, (-1, 1)) == literal_eval(said)


NEW = 425, 434, 435, 437, 444, 445, 446, 450, 462, 9999


@needs_x86_64
def test_what_is_newer_than_any_library_needs_is_not_there(nursery):
    """As clone3 and Landlock: who asks falls back to an older call."""
    said = seen(nursery, f"[call(it, 0, 0, 0, 0) for it in {NEW}]", CALL)
    assert [(-1, 38)] * len(NEW) == literal_eval(said)


def test_no_child_changes_what_the_next_one_inherits(nursery):
    """Else one submission could take time and memory from all after it."""
    before = "(os.sched_getaffinity(os.getppid()), os.getpriority(0, os.getppid()))"
    at_first = seen(nursery, before)
    changes = (
        "tried(resource.prlimit, os.getppid(), resource.RLIMIT_CORE, (0, 0))",
        "tried(os.sched_setaffinity, os.getppid(), [0])",
        "tried(os.sched_setscheduler, os.getppid(), 3, os.sched_param(0))",
        "tried(os.setpriority, os.PRIO_PROCESS, os.getppid(), 5)",
    )
    assert "[1, 1, 1, 1]" == seen(nursery, f"[{', '.join(changes)}]", CALL)
    assert at_first == seen(nursery, before)


def test_no_lease_on_a_file_keeps_others_waiting(nursery):
    """Else opening it elsewhere would take until the lease is given back."""
    lease = "tried(fcntl.fcntl, os.open(os.__file__, os.O_RDONLY), 1024, 0)"
    assert "1" == seen(nursery, lease, CALL + "import fcntl")


def test_no_file_can_be_locked(nursery):
    """Locks are memory that no process shows, and other submissions see them."""
    lock = "fcntl.fcntl, file, it, struct.pack('hhqqi4x', 1, 0, 0, 1, 0)"
    code = CALL + "import fcntl, struct; file = open('x', 'w')"
    commands = 5, 6, 7, 36, 37, 38
    said = seen(nursery, f"[tried({lock}) for it in {commands}]", code)
    assert [1] * len(commands) == literal_eval(said)


def test_sockets_and_mappings_of_its_own_are_allowed(nursery):
    """As pools, event loops and `np.memmap` need them."""
    code = """\
import fcntl, mmap, os, socket
import numpy as np
found = []
one, other = socket.socketpair()
one.send(b"here"); found.append(other.recv(9))
found.append(fcntl.fcntl(one, fcntl.F_GETFD))
np.memmap("x", "u1", "w+", shape=9)[:] = 7
found.append(int(np.memmap("x", "u1", "r").sum()))
found.append(len(mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)))
with open("x", "rb") as file:
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
    found.append(os.preadv(file.fileno(), [bytearray(5)], 0))"""
    assert "[b'here', 1, 63, 4096, 5]" == seen(nursery, "found", code)


@pytest.mark.slow
def test_a_crash_is_no_business_of_the_machine_s(nursery):
    """Its kernel may start a program beyond the sandbox for each; at a limit of 1 it
    does not (`fs/coredump.c`; not tried), and writes no file either, which is.
    """
    import resource  # Windows has none

    most = str(min(1, resource.getrlimit(resource.RLIMIT_CORE)[1] % 2**64))
    code = """\
import os, subprocess, sys
crash = [sys.executable, "-c", "import os; os.abort()"]
found = [subprocess.run(crash, stderr=subprocess.DEVNULL).returncode, os.listdir()]
limits = open("/proc/self/limits").read().splitlines()
found += [it.split()[4:6] for it in limits if it.startswith("Max core")]"""
    assert f"[-6, [], {[most, most]}]" == seen(nursery, "found", code)


@pytest.mark.slow
def test_threads_processes_and_limits_of_its_own_are_allowed(nursery):
    """clone3 is refused in such a way that the C library asks for clone."""
    code = """\
import resource, subprocess, sys, threading
found = []
thread = threading.Thread(target=lambda: found.append("a thread"))
thread.start(); thread.join()
found.append(subprocess.run([sys.executable, "-c", "print(3)"],
             capture_output=True, text=True).stdout)
resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))
found.append(resource.getrlimit(resource.RLIMIT_NOFILE))
import numpy as np
found.append(float((np.ones((200, 200)) @ np.ones((200, 200)))[0, 0]))"""
    assert "['a thread', '3\\n', (99, 99), 200.0]" == seen(nursery, "found", code)


@needs_x86_64
@pytest.mark.parametrize(
    "call",
    [
        pytest.param("call(0x40000000 + 39)", id="the numbers of x32"),
        pytest.param(
            "old(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')", id="those of 32 bits"
        ),
    ],
)
def test_who_asks_by_other_numbers_is_ended(nursery, call):
    """Here `getpid`; by those numbers each refused call could be asked for."""
    code = CALL + (
        "import mmap\ndef old(code):\n"
        "    page = mmap.mmap(-1, 4096, 0x22, 7); page.write(code)\n"
        "    at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "    return ctypes.CFUNCTYPE(ctypes.c_int)(at)()"
    )
    assert "ended early" == seen(nursery, call, code)


HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


@pytest.mark.parametrize("machine", HEADERS)
def test_each_call_has_the_number_that_linux_gives_it(machine):
    """By the headers of the C library, where they are there."""
    if not os.path.exists(HEADERS[machine]):
        pytest.skip("it needs linux-libc-dev")
    text = Path(HEADERS[machine]).read_text("utf-8")
    defined = r"#define __NR(?:3264)?_(\w+) (?:__NR3264_\w+|(\d+))"
    numbers = {name: int(it) for name, it in re.findall(defined, text) if it}
    ours = system_calls.allowed(system_calls.MACHINES[machine])
    other = {"newfstatat": "fstatat"}  # what the kernel's generic table calls it
    assert ours == {it: numbers.get(it, numbers.get(other.get(it))) for it in ours}
    assert {*system_calls.BY_ARGUMENT} <= {*ours}


def test_no_call_that_a_machine_has_is_left_out_by_mistake():
    """What only x86_64 has are the older forms of calls that both have."""
    here, there = ({*system_calls.allowed(machine)} for machine in (0, 1))
    assert there <= here
    older = """\
        access alarm arch_prctl chmod creat dup2 epoll_create epoll_wait fork
        getdents getpgrp link lstat mkdir open pause pipe poll readlink rename rmdir
        select stat symlink time unlink vfork"""
    assert {*older.split()} == here - there


def test_an_unknown_machine_is_refused_at_the_start(monkeypatch):
    """Its numbers would mean other calls."""
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(SystemExit, match="x86_64 or aarch64, and this is riscv64"):
        system_calls.require()


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (128, 128))",
        slow("os.setpriority(os.PRIO_PROCESS, os.getppid(), 1 + os.getpriority(0, 0))"),
    ],
)
def test_a_process_that_was_changed_serves_nobody(monkeypatch, code):
    """The second line, tried without the first one: a new process is begun."""
    program = (
        "import helpers.grading.sandbox.nursery as it\n"
        "it.system_calls.refuse = lambda: None\nit.main('collect')"
    )
    command = [sys.executable, "-P", "-c", program]
    monkeypatch.setattr(isolation, "command", lambda *_: command)
    new, mine = Nursery("collect"), os.getpriority(os.PRIO_PROCESS, 0)
    new.level = "process"
    try:
        assert "0" == seen(new, "0", f"import os, resource; {code}")
        assert new.process is None
        assert str(mine) == seen(new, "os.getpriority(os.PRIO_PROCESS, 0)")
    finally:
        new.end()
    assert mine == os.getpriority(os.PRIO_PROCESS, 0)

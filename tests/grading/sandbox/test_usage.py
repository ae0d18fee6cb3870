"""What children use is counted while they run, and none of it is left after them."""

import mmap
import os
import signal
import time

import pytest

from helpers.grading.sandbox import isolation, usage
from helpers.grading.sandbox import nursery as nursery_of
from helpers.grading.sandbox.children import Nursery
from helpers.grading.sandbox.limits import LATE, Limits
from helpers.grading.sandbox.usage import own_memory
from tests.grading.asking import ended, needs_isolation
from tests.quick import slow


@pytest.mark.slow
@needs_isolation
def test_too_many_processes_end_all_of_them(nursery):
    """They are counted; without a sandbox they might be faster than that."""
    code = "import os, time\nfor _ in range(9): os.fork() or time.sleep(60)\n"
    code += "time.sleep(60)"
    assert "started too many processes" == ended(nursery, code, processes=4)[0]


@needs_isolation
@pytest.mark.parametrize("what", [slow("processes"), "threads"])
def test_they_are_counted_while_it_writes(nursery, what):
    """Also where it never stops, and threads as well."""
    start = {
        "processes": "for _ in range(9): os.fork() or time.sleep(60)",
        "threads": "import threading\nfor _ in range(9):\n"
        "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    }
    code = f"import os, time\n{start[what]}\nend = time.monotonic() + 8\n"
    code += "while time.monotonic() < end: os.write(902, b'{}\\n'); time.sleep(.001)"
    how, _ = ended(nursery, code, processes=8, cell_s=10)
    assert "started too many processes" == how


@pytest.mark.slow
@needs_isolation
def test_threads_are_counted_whatever_a_process_is_called(nursery):
    """A process chooses its name, which is above that count in its status."""
    name = "import ctypes; ctypes.CDLL(None).prctl(15, b'Threads:\\t1', 0, 0, 0)\n"
    code = name + "import threading, time\nfor _ in range(9):\n"
    code += "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    how, _ = ended(nursery, code + "time.sleep(9)", processes=8, cell_s=10)
    assert "started too many processes" == how


@pytest.mark.slow
@needs_isolation
def test_memory_counts_that_of_all_processes_together(nursery):
    """Each of them may be within its own limit."""
    code = (
        "import os, time\nfor _ in range(3): os.fork() or time.sleep(.3)\n"
        "held = b'x' * (80 * 2**20)\ntime.sleep(20)"
    )
    assert "used too much memory" == ended(nursery, code, resident_bytes=2**28)[0]


@pytest.mark.slow
@needs_isolation
def test_memory_of_programs_counts_in_full_and_copies_take_none(nursery):
    """A program has no copy of the warm process, and what is forked has one."""
    code = "import os, sys, time\n"
    hold = 'held = b"x" * (70 * 2**20); import time; time.sleep(9)'
    start = f"os.posix_spawn(sys.executable, ['python', '-ISc', {hold!r}], {{}})"
    programs = f"{code}for _ in range(4): {start}\ntime.sleep(9)"
    assert "used too much memory" == ended(nursery, programs, resident_bytes=2**28)[0]
    copies = f"{code}for _ in range(5): os.fork() or os._exit(time.sleep(.3) or 0)\n"
    assert "done" == ended(nursery, copies + "time.sleep(.3)", resident_bytes=2**28)[0]


@pytest.mark.slow
@needs_isolation
def test_memory_counts_where_the_first_thread_has_ended(nursery):
    """The kernel shows none there any more, though the others hold it."""
    code = """\
import ctypes, os, platform, threading, time
number = {"x86_64": 60, "aarch64": 93}[platform.machine()]
for _ in range(4):
    if not os.fork():
        held = b"x" * (70 * 2**20)
        threading.Thread(target=time.sleep, args=(9,)).start()
        ctypes.CDLL(None).syscall(number, 0)
time.sleep(9)"""
    assert "used too much memory" == ended(nursery, code, resident_bytes=2**28)[0]


@needs_isolation
def test_files_without_bytes_are_counted(nursery):
    """They take the kernel's memory, which no process shows."""
    code = "import os\nfor i in range(10**6): os.symlink('x', str(i))"
    assert "wrote too many files" == ended(nursery, code, files=500)[0]


def test_what_ends_while_it_is_looked_at_is_no_error(monkeypatch):
    """A submission may start and end programs without end."""
    assert [] == [*usage.threads_of(2**22 + 1)]  # above the largest number there is
    monkeypatch.setattr(usage.os, "listdir", lambda path: [str(2**22 + 1)])
    assert [] == [*usage.threads_of(os.getpid())]


@pytest.mark.slow
def test_processes_that_compute_at_once_give_way_to_others(nursery):
    """A step is a factor of 1.25: after 9 steps, eight of them weigh as one."""
    code = """\
import os, time
for _ in range({}):
    if not os.fork():
        while True: pass
time.sleep(1)
seen = os.getpriority(os.PRIO_PROCESS, 0)"""
    steps = [
        int(ended(nursery, code.format(many))[1][0]["answers"]["seen"]["value"]["int"])
        for many in (1, 8)
    ]
    mine = os.getpriority(os.PRIO_PROCESS, 0)  # nobody becomes less nice
    few, many = (max(mine, it) for it in (3, 9))
    assert mine <= steps[0] <= few  # where it computes itself, when they are counted
    assert max(mine, 8) <= steps[1] <= many
    how, messages = ended(nursery, "import os; seen = os.getpriority(0, 0)")
    assert {"seen": {"value": {"int": str(mine)}}} == messages[0]["answers"]


def test_signals_without_end_do_not_keep_the_warm_process_busy(monkeypatch):
    """A child may send it those for which it waits; it gives no way to others."""
    looks, (pipe, _) = [], os.pipe()
    monkeypatch.setattr(nursery_of, "REQUESTS", pipe)
    monkeypatch.setattr(nursery_of, "descendants", lambda: [])
    monkeypatch.setattr(os, "waitid", lambda *_: looks.append(1))
    monkeypatch.setattr(signal, "sigtimedwait", lambda *_: signal.SIGCHLD)
    until = time.monotonic() + 0.2
    assert (LATE, 0) == nursery_of.watch(1, pipe, until, Limits())
    assert len(looks) < 100


@pytest.mark.slow
@needs_isolation
def test_sockets_are_counted(nursery):
    """Of all processes; what waits in them is in no process's memory."""
    code = "import os, socket, time\nos.fork()\n"
    code += "held = [socket.socketpair() for _ in range({})]\ntime.sleep(.5)"
    assert "opened too many sockets" == ended(nursery, code.format(20), sockets=60)[0]
    assert "done" == ended(nursery, code.format(9), sockets=60)[0]


def test_memory_that_processes_share_is_theirs():
    """As much as of a file's is not."""
    before = own_memory(os.getpid())
    with mmap.mmap(-1, 2**25) as shared:
        shared.write(b"x" * 2**25)
        assert 2**25 <= own_memory(os.getpid()) - before + 2**20


@pytest.mark.parametrize(
    "name, count",
    [("status", usage.own_memory), ("smaps_rollup", usage.share_of_memory)],
)
def test_memory_that_the_system_put_aside_counts(monkeypatch, name, count):
    """Else where it swaps, who has as much as is allowed could have more and more."""
    of_linux = {
        "status": b"VmRSS:\t 96 kB\nRssAnon:\t 64 kB\nRssFile:\t 32 kB\n"
        b"RssShmem:\t 0 kB\nVmSwap:\t 8 kB\n",
        "smaps_rollup": b"Pss: 96 kB\nPss_Anon: 64 kB\nPss_File: 32 kB\n"
        b"Pss_Shmem: 0 kB\nSwap: 16 kB\nSwapPss: 8 kB\n",
    }
    monkeypatch.setattr(usage, "of_living_thread", lambda _, of: of_linux[of])
    assert 72 * 1024 == count(1)


@pytest.mark.slow
@needs_isolation
def test_what_a_child_leaves_is_not_counted_as_the_next_ones(monkeypatch):
    """The second line, tried without the first one: folders are not emptied. Else
    who comes next would be over a limit before it began.
    """
    real = isolation.command

    def unemptied(*given):
        program = (
            "import os, helpers.grading.sandbox.nursery as it\n"
            "it.empty = lambda here: os.listdir(here) or os.rmdir(here)\n"
            "it.main('collect')"
        )
        return [*real(*given)[:-3], "-c", program]

    monkeypatch.setattr(isolation, "command", unemptied)
    new = Nursery("collect")
    code = "for i in range(300): open(str(i), 'w').close()"
    try:
        assert "done" == ended(new, code)[0]
        assert new.process is None
        assert "done" == ended(new, "import time; time.sleep(.2)", files=200)[0]
    finally:
        new.end()

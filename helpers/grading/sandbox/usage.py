"""What the children of a nursery use, with all that they started."""

import math
import os
import re
import tempfile
from pathlib import Path

import psutil

from helpers.grading.sandbox.limits import TOO_MUCH_MEMORY


def alone_here() -> bool:
    """Are all processes that this one can see its own? bubblewrap says so."""
    return os.environ.get("GRADING_ALONE") == "1"


def descendants():
    """All processes that children started, those that left their group too."""
    try:
        return psutil.Process().children(recursive=True)
    except psutil.Error:
        return []


def excess(processes, limits) -> str:
    """What children did too much of with all that they started, or nothing; a process
    has one thread at least.
    """
    threads = memory = 0
    for process in processes:
        try:
            threads += len(os.listdir(f"/proc/{process.pid}/task"))
            memory += own_memory(process.pid)
        except OSError:  # it is gone
            pass
    if memory > limits.resident_bytes:  # perhaps copies alone, which take no memory
        memory = sum(share_of_memory(it.pid) for it in processes)
    files, sockets = held()
    used = {
        "started too many processes": (threads, limits.processes),
        "wrote too many files": (files, limits.files),
        "opened too many sockets": (sockets, limits.sockets),
        TOO_MUCH_MEMORY: (memory, limits.resident_bytes),
    }
    return next((what for what, (now, most) in used.items() if now > most), "")


def give_way(processes) -> int:
    """Let all that compute at once weigh as much as one would: the nicer they are, the
    more of them there are. A step is a factor of 1.25 to the kernel. How many are they?
    """
    threads = [it for process in processes for it in threads_of(process.pid)]
    computing = sum(is_computing for _, is_computing in threads)
    nice = min(19, int(math.log(max(computing, 1), 1.25)))
    for thread, _ in threads:
        try:
            if os.getpriority(os.PRIO_PROCESS, thread) < nice:
                os.setpriority(os.PRIO_PROCESS, thread, nice)
        except OSError:  # it is gone
            pass
    return computing


def threads_of(pid):
    """The numbers of a process' threads, each with whether it computes or would."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:  # it is gone
        return
    for thread in threads:
        try:
            stat = Path(f"/proc/{pid}/task/{thread}/stat").read_bytes()
        except OSError:  # it is gone
            continue
        state = stat.rpartition(b") ")[2][:1]  # before it, a name that it chose itself
        yield int(thread), state == b"R"


def held() -> tuple[int, int]:
    """What outlives a process where somebody holds it: files and sockets; they are
    counted where nobody but children can have them.
    """
    if not alone_here():
        return 0, 0
    about = os.statvfs(tempfile.gettempdir())
    files = about.f_files - about.f_ffree  # deleted ones, too, while open; and folders
    sockets = re.search(r"used (\d+)", Path("/proc/net/sockstat").read_text("utf-8"))
    return files, int(sockets[1])


def own_memory(pid) -> int:
    """The bytes in memory that come from no file, those too that processes share, or
    that the system put aside.
    """
    status = of_living_thread(pid, "status")  # it may have any name
    return bytes_of(rb"Rss(?:Anon|Shmem)|VmSwap", status)


def bytes_of(names, text) -> int:
    """The sum of some numbers that the kernel tells in kB."""
    found = re.findall(rb"^(?:%b):\s+(\d+) kB$" % names, text, re.MULTILINE)
    return 1024 * sum(map(int, found))


def of_living_thread(pid, name) -> bytes:
    """A file of the last thread of a process; the first one is there when it has ended,
    and shows no memory then.
    """
    last = [pid, *os.listdir(f"/proc/{pid}/task")][-1]
    return Path(f"/proc/{pid}/task/{last}/{name}").read_bytes()


def share_of_memory(pid) -> int:
    """The same, but of what several processes have in memory a part for each; all of it
    where the process does not let anybody see that.
    """
    try:
        parts = of_living_thread(pid, "smaps_rollup")
        return bytes_of(rb"Pss_(?:Anon|Shmem)|SwapPss", parts) or own_memory(pid)
    except PermissionError:
        return own_memory(pid)
    except OSError:  # it is gone
        return 0


def waited(pid) -> float:
    """The seconds that a process' first thread wanted a processor, and others had it;
    all time there is where the kernel does not say.
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[1]) / 1e9
    except OSError:
        return math.inf


def ended_by_system() -> int:
    """How many processes this machine has ended because memory was short."""
    try:
        counts = Path("/proc/vmstat").read_bytes()
    except OSError:  # this kernel does not say
        return 0
    found = re.search(rb"^oom_kill (\d+)$", counts, re.MULTILINE)
    return int(found[1]) if found else 0

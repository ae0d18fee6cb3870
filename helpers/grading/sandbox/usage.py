"""What the children of a nursery use, with all that they started."""

import os
import re
import tempfile
from pathlib import Path

import psutil


def alone_here() -> bool:
    """Are all processes that this one can see its own? bubblewrap says so."""
    return os.environ.get("GRADING_ALONE") == "1"


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
    """The locks of these processes' files; those without an owner may be anybody's."""
    lines = Path("/proc/locks").read_text("utf-8").splitlines()
    return sum(" OFDLCK " not in line for line in lines)

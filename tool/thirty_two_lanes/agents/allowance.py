"""What a child may use and do: seconds, memory, files in its own folder, and neither
the network nor other processes.

It keeps a program's mistakes in, such as a loop without an end or a file in the wrong
place. Not modelled: a program that wants out, which `ctypes` lets; and on Windows and
macOS a limit of memory, which their systems do not keep.
"""

import os
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path

FILE_BYTES = 2**24  # of one file, what a program prints among them
STARTING_S = 60  # of computing, beside the seconds of the call
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# what Python tells its audit hooks: events that change files, and how many paths they
# begin with; https://docs.python.org/3/library/audit_events.html
CHANGES = {
    "os.chmod": 1,
    "os.chown": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.removexattr": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.setxattr": 1,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.utime": 1,
    "sqlite3.connect": 1,
}
PROCESSES = (
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pty.spawn",
    "subprocess.Popen",
)
HARMLESS = "socket.__new__", "socket.gethostname"  # what reaches no other machine


@dataclass(frozen=True)
class Allowance:
    """The most that one call may use."""

    seconds: int = 120
    megabytes: int = 4096  # of addresses, of which Numba's compiler takes a part


def limit(megabytes, seconds):
    """Hold this process to so much memory and computing, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, most in (
        (resource.RLIMIT_AS, megabytes * 2**20),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        # if the server was killed, nobody else ends it
        (resource.RLIMIT_CPU, 2 * ceil(seconds) + STARTING_S),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # macOS; or a lower limit is there
            resource.setrlimit(kind, (most, most))


@contextmanager
def fenced(folder):
    """Raise PermissionError for what a program may not do; it may write in a folder.
    Gives a function that opens the fence before its end.
    """
    inside, is_on = os.path.realpath(folder), True

    def leave():
        nonlocal is_on
        is_on = False  # a hook cannot be taken away

    def heard(event, arguments):
        if is_on and (what := refused(event, arguments, inside)):
            raise PermissionError(what)

    sys.addaudithook(heard)
    try:
        yield leave
    finally:
        leave()


def refused(event, arguments, inside) -> str:
    """Why a program may not do what Python announces; "" if it may."""
    if event in PROCESSES:
        return "a checked program may not start processes: do its work in this one"
    if event.startswith("socket.") and event not in HARMLESS:
        return "a checked program may not use the network: read a file, or make data"
    paths = arguments[: CHANGES.get(event, 0)]
    if event == "open" and arguments[2] and arguments[2] & WRITES:
        paths = arguments[:1]
    for path in paths:
        if isinstance(path, int) or path is None or path == os.devnull:
            continue
        place = os.path.realpath(os.fsdecode(path))
        if not Path(place).is_relative_to(inside):
            return (
                f"a checked program may not write {os.fsdecode(path)}: write below "
                "`tempfile.gettempdir()`, or leave it out"
            )
    return ""

"""Where children run: under bubblewrap, in a container, or as plain processes.

bubblewrap gives the untrusted child no network, no other process to see, no folder of
the course and no other submission: of the machine's files it has the interpreter, its
packages and `helpers`, and cannot write to them. It can write to one folder, which is
emptied after it.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from helpers.exercises.catalogue import GROUP
from helpers.grading.sandbox.limits import Limits

HELPERS = Path(__file__).resolve().parents[2]
SYSTEM = "/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives"
COURSE, WORK = "/grading/course", "/grading/work"
# where Docker's command finds its daemon; none of it reaches the container
DOCKERS = "PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT"
LEVELS = {
    "bubblewrap": "no network, no course folder, processes of its own (bubblewrap)",
    "container": "a container without network",
    "process": "NOT ISOLATED: a submission can read this machine's files and use its "
    "network. Install bubblewrap, or grade in a container (`--container IMAGE`)",
}


@cache
def has_bubblewrap() -> bool:
    """Can this user start bubblewrap here?"""
    if not shutil.which("bwrap"):
        return False
    trial = ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"]
    return subprocess.run(trial, capture_output=True).returncode == 0


def level_of(container="") -> str:
    """The level of isolation that is to be had here."""
    if container:
        return "container"
    return "bubblewrap" if has_bubblewrap() else "process"


def command(kind, level, container="") -> list[str]:
    """The command of a nursery; the judge is plain, since it runs no submission."""
    nursery = "-P -B -m helpers.grading.sandbox.nursery"
    program = [sys.executable, *nursery.split(), kind]
    if kind == "judge" or level == "process":
        return program
    if level == "container":
        return [*docker(container), "python", *program[1:]]
    return [*bubblewrap(), *program]


def environment(kind, level) -> dict:
    """The little that a nursery, or the command that begins its container, is given."""
    if level == "container" and kind == "collect":
        return {name: os.environ[name] for name in DOCKERS if name in os.environ}
    found = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        "CUDA_VISIBLE_DEVICES": "-1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
        "NUMBA_CACHE_DIR": "/nonexistent",
        "PYTHONPATH": str(HELPERS.parent),
    }
    if kind == "judge" and (path := os.environ.get("PYTHONPATH")):
        found["PYTHONPATH"] += os.pathsep + path
    return found


def bubblewrap() -> list[str]:
    """bubblewrap's command line, to which a program is added."""
    options = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session"]
    options += ["--uid", "65534", "--gid", "65534"]
    for path in dict.fromkeys([*SYSTEM, *packages()]):
        if Path(path).is_symlink():
            options += ["--symlink", os.readlink(path), path]
        elif Path(path).exists():
            options += ["--ro-bind", path, path]
    for folder in courses():  # installed among the packages, perhaps
        options += ["--tmpfs", folder, "--remount-ro", folder]
    options += ["--ro-bind", str(HELPERS), f"{COURSE}/helpers"]
    options += ["--proc", "/proc", "--remount-ro", "/proc"]  # root's /proc/sys is real
    options += ["--dev", "/dev", "--ro-bind", "/dev/null", "/dev/zero"]  # no memory
    options += ["--remount-ro", "/dev"]
    options += ["--tmpfs", "/dev/shm", "--remount-ro", "/dev/shm"]
    options += ["--size", str(Limits.folder_bytes), "--tmpfs", WORK, "--chdir", WORK]
    options += ["--remount-ro", "/"]  # else one child could leave modules to the next
    options += ["--setenv", "TMPDIR", WORK, "--setenv", "PYTHONPATH", COURSE]
    return [*options, "--setenv", "GRADING_ALONE", "1", "--"]


def packages() -> list[str]:
    """The folders of the interpreter and its packages, those of other environments
    too; never one that is on the path for the course's sake.
    """
    site = [
        it for it in sys.path if Path(it).name in ("site-packages", "dist-packages")
    ]
    return [sys.base_prefix, sys.prefix, *site]


def courses() -> list[str]:
    """The folders of courses among the packages that a child can read."""
    names = {point.value.partition(".")[0] for point in entry_points(group=GROUP)}
    folders = {str(Path(find_spec(name).origin).parent) for name in names}
    return sorted(it for it in folders if it.startswith(tuple(packages())))


def docker(image) -> list[str]:
    """Docker's command line; the image has this course's packages."""
    return [
        *("docker", "run", "--rm", "--interactive", "--network", "none", "--read-only"),
        *("--ipc", "none"),
        *("--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        *("--user", "65534"),
        *("--pids-limit", "128", "--memory", "4g", "--cpus", "1"),
        *("--tmpfs", f"{WORK}:size={Limits.folder_bytes}", "--workdir", WORK),
        *("--volume", f"{HELPERS}:{COURSE}/helpers:ro"),
        *("--env", f"PYTHONPATH={COURSE}", "--env", f"TMPDIR={WORK}"),
        *("--env", "GRADING_ALONE=1", image),
    ]

"""Where children run: under bubblewrap, in a container, or as plain processes.

bubblewrap gives the untrusted child no network, no other process to see, no folder of
the course and no other submission: of the machine's files it has the interpreter, its
packages, `helpers` and the tool, and cannot write to them. It can write to one folder,
which is emptied after it. The judge has the same and the courses, wherever bubblewrap
is there: it runs no line of a submission, but emulates its kernels.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import helpers
import thirty_two_lanes
from helpers.doctor import tools
from helpers.exercises.catalogue import GROUP
from helpers.grading.sandbox.limits import NOBODY, Limits

FOLDERS = (Path(it.__file__).resolve().parent for it in (helpers, thirty_two_lanes))
OURS = *FOLDERS, Path(tools.__file__).resolve()  # `import helpers` takes them all
SYSTEM = "/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives"
SITES = "site-packages", "dist-packages"
COURSE, WORK = "/grading/course", "/grading/work"
# where memory is short, the system ends the processes of a nursery first
FIRST_TO_END = 'echo 1000 > /proc/self/oom_score_adj; exec "$@"'
# where Docker's command finds its daemon; none of it reaches the container
DOCKERS = "PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT"
LEVELS = {
    "bubblewrap": "no network, no course folder, processes of its own (bubblewrap)",
    "container": "a container without network",
    "process": "NOT ISOLATED: a submission can read this machine's files and use its "
    "network.",
}
NAMES = {it: it for it in LEVELS} | {"process": "not isolated"}  # in marks and tables


def has_bubblewrap() -> bool:
    """Can this user start bubblewrap here?"""
    return not lack_of_bubblewrap()


@cache
def lack_of_bubblewrap() -> str:
    """Why this user cannot start bubblewrap here, and what to do; "" if they can."""
    if not shutil.which("bwrap"):
        return "install bubblewrap"
    trial = ["bwrap", *unshared(), "--ro-bind", "/", "/", "true"]
    done = subprocess.run(trial, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return ""
    said = done.stderr.strip().partition("\n")[0] or "it does not say why"
    return f"let bubblewrap start here (docs/GRADING.md; it says: {said})"


def level_of(container="") -> str:
    """The level of isolation that is to be had here."""
    if container:
        return "container"
    return "bubblewrap" if has_bubblewrap() else "process"


def command(kind, level, container="") -> list[str]:
    """The command of a nursery."""
    nursery = "-P -B -m helpers.grading.sandbox.nursery"
    program = [sys.executable, *nursery.split(), kind]
    if level == "container":
        return [*docker(container), "python", *program[1:]]
    alone = bubblewrap(kind) if level == "bubblewrap" else []
    return ["sh", "-c", FIRST_TO_END, "sh", *alone, *program]


def environment(kind, level) -> dict:
    """The little that a nursery, or the command that begins its container, is given."""
    if level == "container":
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
        "PYTHONPATH": os.pathsep.join(str(it.parent) for it in OURS),
    }
    if kind == "judge" and (path := os.environ.get("PYTHONPATH")):
        folders = map(os.path.abspath, path.split(os.pathsep))
        found["PYTHONPATH"] = os.pathsep.join([found["PYTHONPATH"], *folders])
    return found


def bubblewrap(kind) -> list[str]:
    """bubblewrap's command line, to which a program is added: it is process 1, since
    bubblewrap itself could be traced, and the grader's pipes be found with it.
    """
    options = ["bwrap", *unshared(), "--as-pid-1", "--die-with-parent", "--new-session"]
    for path in filter(os.path.exists, SYSTEM):
        linked = os.path.islink(path)
        source = ["--symlink", os.readlink(path)] if linked else ["--ro-bind", path]
        options += [*source, path]
    folders = {*packages(), *(sources() if kind == "judge" else ())} - {*SYSTEM}
    folders = {*filter(os.path.exists, folders)}
    empty = {*emptied([*SYSTEM, *folders])} - folders
    lists = (Path(it).parents for it in [*folders, f"{COURSE}/helpers"])
    above = {str(it) for parents in lists for it in parents}
    for path in sorted(above | folders | empty):  # a folder before its own
        if path in folders:
            options += ["--ro-bind", path, path]
        else:  # without --dir bubblewrap makes it for its own user alone
            options += ["--tmpfs" if path in empty else "--dir", path]
    for path in empty:
        options += ["--remount-ro", path]
    if kind == "collect":
        for folder in OURS:
            options += ["--ro-bind", str(folder), f"{COURSE}/{folder.name}"]
        options += ["--setenv", "PYTHONPATH", COURSE]
    options += ["--proc", "/proc", "--remount-ro", "/proc"]  # root's /proc/sys is real
    options += ["--dev", "/dev", "--remount-ro", "/dev"]
    for device in "zero", "full", "random", "tty":  # zero is memory, and each a trace
        options += ["--ro-bind", "/dev/null", f"/dev/{device}"]
    for folder in ("/dev/shm", "/dev/pts"):  # else children leave things to the next
        options += ["--tmpfs", folder, "--remount-ro", folder]
    options += ["--size", str(Limits.folder_bytes), "--perms", "0777", "--tmpfs", WORK]
    options += ["--chdir", WORK]
    options += ["--remount-ro", "/"]  # else one child could leave modules to the next
    options += ["--setenv", "TMPDIR", WORK, "--setenv", "GRADING_ALONE", "1"]
    return [*options, "--"]


def unshared() -> list[str]:
    """What a sandbox has of its own. Where root grades, it has no namespace of users:
    there, root itself would be who is called nobody. It begins as root instead, whose
    only right left is to become nobody.
    """
    nobody = str(NOBODY)
    if os.geteuid():
        return ["--unshare-all", "--uid", nobody, "--gid", nobody]
    kinds = "ipc", "pid", "net", "uts", "cgroup-try"
    rights = "--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID"
    return [*(f"--unshare-{it}" for it in kinds), *rights.split()]


def packages() -> list[str]:
    """The folders of the interpreter and its packages, those of other environments
    too; never one that is on the path for the course's sake.
    """
    site = [it for it in sys.path if Path(it).name in SITES]
    return [sys.base_prefix, sys.prefix, *site]


def sources() -> list[str]:
    """What the judge reads beside: ours, the courses, and its path; not the whole
    folders in which submissions and marks may lie as well.
    """
    mixed = {os.getcwd(), *(str(it.parent) for it in OURS)}
    path = [it for it in map(os.path.abspath, sys.path) if it not in mixed]
    return [*path, *map(str, OURS), *courses()]


def courses() -> list[str]:
    """The folders of courses."""
    names = {point.value.partition(".")[0] for point in entry_points(group=GROUP)}
    return sorted(str(Path(find_spec(name).origin).parent) for name in names)


def private() -> list[str]:
    """The folders that courses are in, with their tests and solutions, perhaps with
    marks; of a course among packages its own alone.
    """
    folders = map(Path, courses())
    return [str(it if it.parent.name in SITES else it.parent) for it in folders]


def emptied(folders):
    """Where private folders would be seen within others, which hold no course."""
    for path in map(os.path.realpath, private()):
        for folder in folders:
            real = os.path.realpath(folder)
            if Path(path).is_relative_to(real):
                yield os.path.normpath(Path(folder, os.path.relpath(path, real)))


def exposed(paths) -> list[tuple]:
    """Which of these paths, and of the private ones, a submission could read
    nevertheless, each with the folder of the sandbox in which it is.
    """
    folders = {*SYSTEM, *packages(), *map(str, OURS)}
    seen = {os.path.realpath(it): it for it in [*emptied(folders), *folders]}
    found = []
    for path in [*private(), *paths]:
        real = Path(os.path.realpath(path))
        within = [it for it in seen if real.is_relative_to(it)]
        nearest = seen[max(within, key=len)] if within else None
        if nearest in folders:
            found.append((str(path), nearest))
    return found


def docker(image) -> list[str]:
    """Docker's command line; the image has this course's packages."""
    # with --init=false a nursery is process 1, as above
    options = f"""
        docker run --rm --interactive --network none --read-only --ipc none
        --init=false --cap-drop ALL --security-opt no-new-privileges --user {NOBODY}
        --pids-limit 128 --memory 4g --cpus 1 --oom-score-adj 1000
        --tmpfs {WORK}:size={Limits.folder_bytes} --workdir {WORK}
        --env PYTHONPATH={COURSE} --env TMPDIR={WORK} --env GRADING_ALONE=1
    """
    volumes = (f"--volume={folder}:{COURSE}/{folder.name}:ro" for folder in OURS)
    return [*options.split(), *volumes, image]

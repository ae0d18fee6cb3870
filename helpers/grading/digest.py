"""A digest of all that can change a mark: the modules that marking a submission
reaches, the exercises, and the versions of what they stand on.

A front door leads to figures and films, too: of it, only the names that are asked for
are followed.
"""

import ast
import hashlib
import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path

import helpers
import thirty_two_lanes
from helpers.exercises.catalogue import exercises

ROOTS = (  # a package stands for all of its modules
    "helpers.grading.notebooks",
    "helpers.grading.worker",
    "helpers.grading.sandbox",
    "thirty_two_lanes.emulator.host",
    "thirty_two_lanes.intrinsics",
)
DOORS = helpers.__name__, thirty_two_lanes.__name__
PACKAGES = (
    "numba",
    "numba-cuda",
    "numpy",
    "llvmlite",
    "nvidia-nvvm",
    "nvidia-nvjitlink",
    "nvidia-cuda-nvdisasm",
)


def grader_digest() -> str:
    """A digest of the grader, as it is on disk."""
    found = hashlib.sha256(" ".join(versions()).encode())
    for name, file in sorted((files() | tables()).items()):
        found.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()


def tables() -> dict:
    """The tables beside modules of ours: hints, sizes of GPUs."""
    ours = [(name.split(".")[0], file) for name, file in files().items()]
    folders = {file.parent for first, file in ours if first in DOORS}
    return {it.name: it for folder in folders for it in folder.glob("*.toml")}


def versions():
    """The version of Python and of each package, "" for one that is not here."""
    yield platform.python_version()
    for package in PACKAGES:
        try:
            yield version(package)
        except PackageNotFoundError:
            yield ""


@cache
def files() -> dict:
    """The file of each module that can change a mark, by the module's name."""
    courses = {kind.__module__ for kind in exercises().values()}
    ours = {name.partition(".")[0] for name in (*courses, *DOORS)}
    found, waiting = {}, [*courses, *chain.from_iterable(map(modules, ROOTS))]
    while waiting:
        name = waiting.pop()
        file = file_of(name) if name.partition(".")[0] in ours else None
        if file and name not in found:
            found[name] = file
            waiting += [] if name in DOORS else reached(name, file)
    return found


def modules(root) -> list:
    """A module; of a package, all that are in it."""
    file = file_of(root)
    if file.name != "__init__.py":
        return [root]
    return [root, *(f"{root}.{it.stem}" for it in file.parent.glob("[!_]*.py"))]


def file_of(name) -> Path | None:
    """The file of a module or a package; None for a name within one."""
    first, *rest = name.split(".")
    top = Path(sys.modules[first].__file__)
    path = top.parent.joinpath(*rest)
    files = [path / "__init__.py", path.with_suffix(".py")] if rest else [top]
    return next((file for file in files if file.is_file()), None)


def reached(name, file):
    """What a module imports, wherever in it, and its package."""
    yield name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: -node.level] if node.level else []
            module = ".".join(filter(None, [*above, node.module]))
            yield module
            for alias in node.names:
                yield f"{module}.{alias.name}"
                if module in DOORS:  # what it gives was made elsewhere
                    value = getattr(sys.modules[module], alias.name, None)
                    yield getattr(value, "__module__", "")

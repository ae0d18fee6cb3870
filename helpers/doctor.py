"""What this machine can do, what it lacks, and how to get it: `python -m helpers`.

Imports the standard library alone, and the rest only inside the two examinations that
need it, so that it works where nothing is installed.
"""

from __future__ import annotations

import platform
import re
import sys
import traceback
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).parents[1]
VENV = FOLDER / ".venv"  # where `make` installs
TOOL, COURSE = "thirty-two-lanes", "thirty-two-lanes-course"
PYPROJECTS = "tool/pyproject.toml", "pyproject.toml"
OURS = "helpers", "thirty_two_lanes"  # as they are imported
OLDEST = (3, 11)
REMEDY = "python -m pip install --editable tool --editable ."
GPU_REMEDY = (  # brings the compiler's libraries
    'python -m pip install --editable ".[cu13]"     (driver older than 580: cu12)'
)
COMPILER_REMEDY = "python -m pip install --requirement requirements-compiler.lock"
OWN_REMEDY = "git status     (shows which of the course's own files were changed)"
STRANGER = "helpers"  # on the package index: another's package, imported like ours
STRANGER_REMEDY = (
    f"python -m pip uninstall {STRANGER}\n"
    "  python -m pip install --force-reinstall --no-deps --editable ."
)
IN_THE_WHEEL = {  # the same for who has a wheel, and no folder of the course
    "--editable tool --editable .": "{tool} {wheel}",
    "--editable .": "{wheel}",
    '--editable ".[cu13]"': '"{wheel}[cu13]"',
    "--requirement requirements-compiler.lock": '"{wheel}[compiler]"',
    OWN_REMEDY: "python -m pip install --force-reinstall --no-deps {wheel}",
}
RANGE = r"(?=.*>=([\d.]+))(?=.*<([\d.]+))[\d.,<>=]+"  # the limits in any order
REQUIREMENT = re.compile(rf"([\w-]+){RANGE}(?: *; *sys_platform != ['\"](\w+)['\"])?")


@dataclass(frozen=True)
class Row:
    """One row of the page: what was looked for, what was found, and what is wrong; or
    what is missing and not needed.
    """

    name: str
    found: str
    fault: str = ""
    remedy: str = REMEDY
    lack: str = ""


@dataclass(frozen=True)
class Requirement:
    """A package that the course needs, and the series of it that was tried."""

    name: str
    first: str
    last: str
    absent_on: str | None

    @property
    def series(self):
        """The versions that were tried, as pip writes them."""
        return f">={self.first},<{self.last}"

    def accepts(self, version):
        """Is this version in the series that was tried?"""
        return numbers(self.first) <= numbers(version) < numbers(self.last)


def examine():
    """Every finding, in the order in which the page shows them."""
    if sys.version_info < OLDEST:
        return [python()]
    machine = [device(), kernels(), compiler(), python()]
    return [*machine, *map(package, needed()), present(TOOL), course()]


def page(findings):
    """The findings as text: the rows, and below them what is wrong and its remedy."""
    width = max(len(finding.name) for finding in findings)
    lines = ["Thirty-Two Lanes", ""]
    lines += [f"  {each.name:{width}}  {each.found}" for each in findings]
    wrong = [each for each in findings if each.fault or each.lack]
    if not any(each.fault for each in wrong):
        lacks = [f" but {each.lack}" for each in wrong]
        lines += ["", f"Nothing is missing{''.join(lacks)}."]
    else:
        lines += ["", *(each.fault for each in wrong if each.fault)]
    remedies = dict.fromkeys(each.remedy for each in wrong if each.remedy)
    if (made := made_by_make()) and any(each.found == "missing" for each in wrong):
        remedies = [f"{made} -m helpers     (`make` installed all that into .venv)"]
    if remedies and is_a_folder():
        lines += ["", "In the course's folder:", *(f"  {each}" for each in remedies)]
    elif remedies:
        lines += ["", "In the wheel's folder:"]
        lines += [f"  {in_the_wheel(each)}" for each in remedies]
    return "\n".join(lines)


def made_by_make():
    """The Python that `make` made, as a reader types it; "" where it is the one that
    runs, or was not made.
    """
    runs = Path(sys.executable).parents[1].resolve() == VENV.resolve()
    if runs or not (VENV / "ready.txt").exists():
        return ""
    return r".venv\Scripts\python" if sys.platform == "win32" else ".venv/bin/python"


def in_the_wheel(remedy):
    """The same remedy, where a wheel was installed."""
    for here, there in IN_THE_WHEEL.items():
        remedy = remedy.replace(here, there)
    names = {"tool": TOOL, "wheel": COURSE}
    version = metadata.version(COURSE)
    files = {key: f"{name.replace('-', '_')}-{version}" for key, name in names.items()}
    return remedy.format(**{k: f"{it}-py3-none-any.whl" for k, it in files.items()})


def device():
    """Where kernels run."""
    try:
        from thirty_two_lanes.core.device import device as found
    except Exception as error:
        return unknown("device", error)
    return Row("device", repr(found))


def kernels():
    """What became of one small kernel, launched as a notebook launches it."""
    try:
        answer = launch()
    except ImportError as error:
        return not_imported(error.__cause__ or error)
    except Exception as error:  # whatever a compiler or a driver may raise
        sentence = str(error).partition("\n")[0]
        fault = f"A kernel does not run: {type(error).__name__}: {sentence}"
        return Row("kernels", "do not run", fault, remedy_here())
    fault = "" if answer == [1, 2, 3] else f"A kernel gives {answer}, not [1, 2, 3]."
    return Row("kernels", "give wrong numbers" if fault else "run", fault)


def compiler():
    """Whether `assemble` can compile; without, it shows what was recorded."""
    try:
        from thirty_two_lanes.assembly.compiler import missing
    except Exception as error:
        return unknown("compiler", error)
    lacking, _, how = missing().partition(": ")
    if not lacking:
        return Row("compiler", "runs")
    lack = "NVIDIA's compiler: `assemble` shows what was recorded"
    return Row("compiler", lacking, "", how and COMPILER_REMEDY, lack)


def unknown(name, error):
    """The row of what is unknown because an import fails."""
    own = is_our_own(error)
    until = "helpers can be imported" if own else "the packages below are installed"
    return Row(name, f"unknown until {until}")


def not_imported(error):
    """No kernel was tried, because an import fails: whose fault that is."""
    reason = str(error).partition(" (")[0]  # without the path of a file
    if stranger():
        return Row("kernels", "not tried")
    if is_our_own(error):
        fault = f"The course's own code has a fault: {reason}."
        return Row("kernels", "not tried", fault, OWN_REMEDY)
    if any(row.fault for row in (*map(package, needed()), present(TOOL))):
        return Row("kernels", "not tried")
    fault = f"A package is installed but cannot be imported: {reason}."
    return Row("kernels", "not tried", fault)


def launch():
    """Add one to 0, 1, 2 in a kernel."""
    import numpy as np
    from numba import cuda

    from helpers import emulate  # noqa: F401  launches are answered from here on

    @cuda.jit
    def add_one(values):
        """Each thread adds one to its element."""
        values[cuda.threadIdx.x] += 1

    values = np.arange(3)
    add_one[1, 3](values)
    return values.tolist()


def remedy_here():
    """What to install: CUDA's libraries too, on a machine with a GPU."""
    from thirty_two_lanes.core.device import device as found

    return GPU_REMEDY if found.has_gpu else REMEDY


def python():
    """The Python that runs."""
    version = platform.python_version()
    found = f"{version}, {platform.system()} {platform.machine()}"
    if sys.version_info >= OLDEST:
        return Row("Python", found)
    fault = f"Python {version} is too old: the course needs 3.11 or newer."
    return Row("Python", found, fault, "make setup")


def package(requirement):
    """What is installed of a package that the course needs."""
    name, series = requirement.name, requirement.series
    version = installed(name)
    if not version or requirement.accepts(version):
        return present(name)
    fault = f"{name} {version} is outside the tested range, {series}."
    return Row(name, f"{version}, not {series}", fault)


def present(name):
    """Whether a package is here, in any version."""
    missing = Row(name, "missing", f"{name} is missing.")
    return Row(name, version) if (version := installed(name)) else missing


def installed(name):
    """The version of a package that is here; None where it is missing."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def course():
    """The course itself, so that notebooks in any folder find `helpers`."""
    if version := stranger():
        fault = "The package index's `helpers` is another's: there is room for one."
        return Row("helpers", f"another's, {version}", fault, STRANGER_REMEDY)
    if version := installed(COURSE):
        return Row("helpers", version)
    fault = "helpers is not installed: notebooks in other folders do not find it."
    return Row("helpers", "not installed", fault)


def stranger():
    """The version of another's `helpers`, if it is installed."""
    return installed(STRANGER)


def needed():
    """The packages that the course needs on this system."""
    return [each for each in requirements() if each.absent_on != sys.platform]


def requirements():
    """The packages that the course asks for."""
    asked = map(REQUIREMENT.fullmatch, lines_of_requirements())
    return [Requirement(*line.groups()) for line in asked if line]


def lines_of_requirements():
    """What pyproject.toml asks for, or what the installed package has noted of it."""
    if is_a_folder():
        return [line for name in PYPROJECTS for line in project(name)["dependencies"]]
    return [line for name in (TOOL, COURSE) for line in metadata.requires(name)]


def is_a_folder():
    """Is this the course's folder, and not what a wheel brought?"""
    return sys.version_info < OLDEST or project("pyproject.toml").get("name") == COURSE


def project(name):
    """The table of that name in a pyproject.toml, if there is one."""
    import tomllib  # a Python that is too old has none

    file = FOLDER / name
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return tomllib.loads(text).get("project", {})


def numbers(version):
    """The numbers that a version begins with: (2, 5, 0) of "2.5.0rc1"."""
    return tuple(int(part) for part in re.match(r"[\d.]*\d", version)[0].split("."))


def unusable(error):
    """A `__getattr__` for a package whose dependencies are missing, or do not fit each
    other; a fault of our own is raised at once.
    """
    if is_our_own(error) and not is_being_asked():
        raise error

    def explain(name):
        """Say why `from helpers import ...` fails, and what to do."""
        raise ImportError(
            f"helpers.{name} cannot be used: {error}. `python -m helpers`, in the"
            f" course's folder, shows what is missing; `{REMEDY}` installs it."
        ) from error

    return explain


def is_our_own(error):
    """Is it about a module or a name of ours, or raised by a line of ours? A tool that
    is missing is a package that is missing.
    """
    if isinstance(error, ImportError):
        name = error.name or ""
    else:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        name = frame.f_globals["__name__"]
    return name.partition(".")[0] in OURS and name != "thirty_two_lanes"


def is_being_asked():
    """Is this `python -m helpers`, which reports a fault where others raise it?

    While Python looks for the module that `-m` names, the first argument is "-m".
    """
    return sys.argv[:1] == ["-m"]

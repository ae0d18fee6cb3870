"""What this machine can do for kernels, and what it lacks: `lanes doctor`.

It lies outside `thirty_two_lanes` and imports the standard library alone, and the rest
only inside the examinations that need it, so that it works where nothing is installed.
The course's page, `python -m helpers`, is made of the same rows.
"""

from __future__ import annotations

import ctypes
import platform
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from textwrap import fill

TOOL = "thirty-two-lanes"
OLDEST = (3, 11)
PYPROJECT = Path(__file__).with_name(
    "pyproject.toml"
)  # of a checkout; a wheel has none
GPU_EXTRA = "cu13"  # with a driver older than 580: cu12
WIDTH = 88
DRIVERS = {"win32": "nvcuda.dll"}  # libcuda.so.1 elsewhere
RANGE = r"(?=.*>=([\d.]+))(?=.*<([\d.]+))[\d.,<>=]+"  # the limits in any order
REQUIREMENT = re.compile(rf"([\w-]+){RANGE}(?: *; *sys_platform != ['\"](\w+)['\"])?")


@dataclass(frozen=True)
class Row:
    """One row of the page: what was looked for, what was found, and what is wrong; or
    what is missing and not needed. The remedy is a command; "" where there is none.
    """

    name: str
    found: str
    fault: str = ""
    remedy: str = ""
    lack: str = ""


@dataclass(frozen=True)
class Requirement:
    """A package that is needed, and the series of it that was tried."""

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


def main(options=None) -> int:
    """Print the page of this machine; 1 if something is wrong."""
    rows = examine()
    print("\n".join(lines(rows) + ending(rows)))
    return int(any(row.fault for row in rows))


def add_options(parser):
    """It has none; the commands of the tool are all asked."""


def examine() -> list[Row]:
    """Every finding, in the order in which the page shows them."""
    remedy = install()
    if sys.version_info < OLDEST:
        return [python()]
    machine = [asked("device", device), driver(), asked("kernels", kernels)]
    packages = [package(each, remedy) for each in needed(asked_for())]
    return [
        *machine,
        asked("compiler", lambda: compiler(install("compiler"))),
        python(),
        *packages,
        present(TOOL, remedy),
    ]


def asked(name, examination) -> Row:
    """What an examination finds, or that it cannot begin."""
    try:
        return examination()
    except Exception as error:  # other packages raise more than ImportError
        reason = str(error).partition("\n")[0]
        fault = "" if name != "kernels" else f"The tool cannot be imported: {reason}."
        return Row(name, "not tried", fault, install() if fault else "")


# ----------------------------------------------------------------- the page


def lines(rows) -> list[str]:
    """The rows, each below the last, and what is wrong or missing below them."""
    width = max(len(row.name) for row in rows)
    begin = " " * (width + 4)
    shown = [
        fill(
            f"  {row.name:{width}}  {' '.join(row.found.split())}",
            WIDTH,
            subsequent_indent=begin,
            break_on_hyphens=False,
        )
        for row in rows
    ]
    faults = [row.fault for row in rows if row.fault]
    lacks = "".join(f" but {row.lack}" for row in rows if row.lack)
    verdict = faults or [f"Nothing is missing{lacks}."]
    return ["Thirty-Two Lanes", "", *shown, "", *verdict]


def remedies(rows) -> list[str]:
    """The commands that would mend what is wrong or missing, each once."""
    wrong = (row for row in rows if row.fault or row.lack)
    return [*dict.fromkeys(row.remedy for row in wrong if row.remedy)]


def ending(rows) -> list[str]:
    """The remedies, and the folder in which they are to be typed."""
    found = remedies(rows)
    place = "In the folder `tool` of the checkout:"
    if not PYPROJECT.exists():
        place = "In the folder of the wheel:"
    return ["", place, *(f"  {each}" for each in found)] if found else []


def install(extra="") -> str:
    """The command that installs the tool, and an extra of it."""
    extra = f"[{extra}]" if extra else ""
    if PYPROJECT.exists():
        return f'python -m pip install --editable ".{extra}"'
    wheel = f"{TOOL.replace('-', '_')}-{installed(TOOL)}-py3-none-any.whl"
    return f'python -m pip install "./{wheel}{extra}"'


# ----------------------------------------------------------------- the rows


def device() -> Row:
    """Where kernels run."""
    from thirty_two_lanes.core.device import device as found

    return Row("device", repr(found))


def driver() -> Row:
    """NVIDIA's driver, asked itself: Numba may be what does not find it."""
    version, count = ctypes.c_int(), ctypes.c_int()
    try:
        cuda = ctypes.CDLL(DRIVERS.get(sys.platform, "libcuda.so.1"))
        cuda.cuDriverGetVersion(ctypes.byref(version))
        failed = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    except OSError:
        return Row("driver", "none of NVIDIA's")
    major, minor = divmod(version.value, 1000)
    gpus = f"{count.value} GPU{'s' * (count.value != 1)}"
    if failed:
        gpus = f"finds no GPU (error {failed})"
    return Row("driver", f"for CUDA {major}.{minor // 10}, {gpus}")


def kernels(launch=None, remedy=None) -> Row:
    """What became of one small kernel, launched as a program launches it.

    Raises ImportError where something is missing.
    """
    try:
        answer = (launch or one_launch)()
    except ImportError:
        raise
    except Exception as error:  # whatever a compiler or a driver may raise
        sentence = str(error).partition("\n")[0]
        fault = f"A kernel does not run: {type(error).__name__}: {sentence}"
        return Row("kernels", "do not run", fault, (remedy or for_this_device)())
    fault = "" if answer == [1, 2, 3] else f"A kernel gives {answer}, not [1, 2, 3]."
    return Row("kernels", "give wrong numbers" if fault else "run", fault)


def one_launch() -> list[int]:
    """Add one to 0, 1, 2 in a kernel; who answers launches is imported before."""
    import numpy as np
    from numba import cuda

    import thirty_two_lanes  # noqa: F401  launches are answered from here on

    @cuda.jit
    def add_one(values):
        """Each thread adds one to its element."""
        values[cuda.threadIdx.x] += 1

    values = np.arange(3)
    add_one[1, 3](values)
    return values.tolist()


def for_this_device() -> str:
    """What to install: CUDA's libraries too, on a machine with a GPU."""
    from thirty_two_lanes.core.device import device as found

    return install(GPU_EXTRA if found.has_gpu else "")


def compiler(remedy) -> Row:
    """Whether `assemble` can compile; without, it shows what was recorded."""
    from thirty_two_lanes.assembly.compiler import missing

    lacking, _, how = missing().partition(": ")
    if not lacking:
        return Row("compiler", "runs")
    lack = "NVIDIA's compiler: `assemble` shows what was recorded"
    return Row("compiler", lacking, "", how and remedy, lack)


def python() -> Row:
    """The Python that runs."""
    version = platform.python_version()
    found = f"{version}, {platform.system()} {platform.machine()}"
    if sys.version_info >= OLDEST:
        return Row("Python", found)
    fault = f"Python {version} is too old: 3.11 or newer is needed."
    return Row("Python", found, fault)


def package(requirement, remedy) -> Row:
    """What is installed of a package that is needed."""
    name, series = requirement.name, requirement.series
    version = installed(name)
    if not version or requirement.accepts(version):
        return present(name, remedy)
    fault = f"{name} {version} is outside the tested range, {series}."
    return Row(name, f"{version}, not {series}", fault, remedy)


def present(name, remedy) -> Row:
    """Whether a package is here, in any version."""
    missing = Row(name, "missing", f"{name} is missing.", remedy)
    return Row(name, version) if (version := installed(name)) else missing


# ----------------------------------------------------------------- packages


def installed(name) -> str | None:
    """The version of a package that is here; None where it is missing."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def asked_for() -> list[str]:
    """What the tool asks for: its pyproject.toml, or what the installed one noted."""
    if PYPROJECT.exists():
        return project(PYPROJECT)["dependencies"]
    return metadata.requires(TOOL) if installed(TOOL) else []


def needed(asked_for) -> list[Requirement]:
    """Those of the packages asked for that this system needs."""
    return [it for it in requirements(asked_for) if it.absent_on != sys.platform]


def requirements(asked_for) -> list[Requirement]:
    """The packages of some lines of a pyproject.toml, each with its series."""
    found = map(REQUIREMENT.fullmatch, asked_for)
    return [Requirement(*line.groups()) for line in found if line]


def project(file) -> dict:
    """The table of that name in a pyproject.toml, if there is one."""
    import tomllib  # a Python that is too old has none

    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return tomllib.loads(text).get("project", {})


def numbers(version) -> tuple[int, ...]:
    """The numbers that a version begins with: (2, 5, 0) of "2.5.0rc1"."""
    return tuple(int(part) for part in re.match(r"[\d.]*\d", version)[0].split("."))

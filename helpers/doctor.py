"""What this machine can do for the course, what it lacks, and how to get it:
`python -m helpers`.

Imports the standard library and the tool's doctor alone, and the rest only inside the
examinations that need it, so that it works where nothing is installed.
"""

from __future__ import annotations

import sys
import traceback
from dataclasses import replace
from importlib import import_module, metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

FOLDER = Path(__file__).parents[1]
VENV = FOLDER / ".venv"  # where `make` installs
TOOL, COURSE = "thirty-two-lanes", "thirty-two-lanes-course"
PYPROJECTS = "tool/pyproject.toml", "pyproject.toml"
OURS = "helpers", "thirty_two_lanes"  # as they are imported
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


def tools_doctor():
    """The tool's doctor; in the course's folder also where nothing is installed.

    Raises ImportError where neither is there.
    """
    name = "thirty_two_lanes_doctor"
    file = FOLDER / "tool" / f"{name}.py"
    if not file.exists():
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            missing = f"{TOOL} is missing: install its wheel beside the course's"
            raise ImportError(missing) from error
    spec = spec_from_file_location(name, file)
    sys.modules[name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tools = tools_doctor()
Row = tools.Row


def examine():
    """Every finding, in the order in which the page shows them."""
    if sys.version_info < tools.OLDEST:
        return [python()]
    machine = [device(), tools.driver(), kernels(), compiler(), python()]
    return [*machine, *map(package, needed()), present(TOOL), course()]


def page(findings):
    """The findings as text: the rows, and below them what is wrong and its remedy."""
    lines, remedies = tools.lines(findings), tools.remedies(findings)
    wrong = [each for each in findings if each.fault]
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
        return tools.device()
    except Exception as error:
        return unknown("device", error)


def kernels():
    """What became of one small kernel, launched as a notebook launches it."""
    try:
        return tools.kernels(launch, remedy_here)
    except ImportError as error:
        return not_imported(error.__cause__ or error)


def compiler():
    """Whether `assemble` can compile; without, it shows what was recorded."""
    try:
        return tools.compiler(COMPILER_REMEDY)
    except Exception as error:
        return unknown("compiler", error)


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
    """Add one to 0, 1, 2 in a kernel, with the course imported."""
    from helpers import emulate  # noqa: F401  it says so if it cannot be

    return tools.one_launch()


def remedy_here():
    """What to install: CUDA's libraries too, on a machine with a GPU."""
    from thirty_two_lanes.core.device import device as found

    return GPU_REMEDY if found.has_gpu else REMEDY


def python():
    """The Python that runs."""
    return replace(tools.python(), remedy="make setup")


def package(requirement):
    """What is installed of a package that the course needs."""
    return tools.package(requirement, REMEDY)


def present(name):
    """Whether a package is here, in any version."""
    return tools.present(name, REMEDY)


def course():
    """The course itself, so that notebooks in any folder find `helpers`."""
    if version := stranger():
        fault = "The package index's `helpers` is another's: there is room for one."
        return Row("helpers", f"another's, {version}", fault, STRANGER_REMEDY)
    if version := tools.installed(COURSE):
        return Row("helpers", version)
    fault = "helpers is not installed: notebooks in other folders do not find it."
    return Row("helpers", "not installed", fault)


def stranger():
    """The version of another's `helpers`, if it is installed."""
    return tools.installed(STRANGER)


def needed():
    """The packages that the course needs on this system."""
    return tools.needed(lines_of_requirements())


def lines_of_requirements():
    """What pyproject.toml asks for, or what the installed package has noted of it."""
    if is_a_folder():
        projects = (tools.project(FOLDER / name) for name in PYPROJECTS)
        return [line for project in projects for line in project["dependencies"]]
    return [line for name in (TOOL, COURSE) for line in metadata.requires(name)]


def is_a_folder():
    """Is this the course's folder, and not what a wheel brought?"""
    if sys.version_info < tools.OLDEST:
        return True
    return tools.project(FOLDER / "pyproject.toml").get("name") == COURSE


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

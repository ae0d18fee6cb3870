"""The wheels are complete, and work alone: in an empty folder, without a checkout."""

import json
import os
import site
import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec

import pytest

from tests.paths import ROOT
from tests.scripts.programs import written

BESIDE = {  # the package, and found without importing it
    "pytest_thirty_two_lanes.py",
    "thirty_two_lanes_script.py",
    "thirty_two_lanes_doctor.py",
}
OF_THE_COURSE = ("matplotlib", "PIL", "IPython", "jupyterlab", "ipykernel")
NOTEBOOK = ROOT / "notebooks/14_bank_conflicts.ipynb"
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
"""

pytestmark = pytest.mark.skipif(not find_spec("hatchling"), reason="needs hatchling")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The wheels of the tool and of the course, built with no network."""
    built = []
    for source in (ROOT / "tool", ROOT):
        folder = tmp_path_factory.mktemp("wheel")
        command = ["-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        subprocess.run(
            [sys.executable, *command], cwd=source, check=True, capture_output=True
        )
        built += folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def alone(wheels, tmp_path_factory):
    """Run Python in an empty folder, where only the wheels bring what is ours."""
    return empty_folder(tmp_path_factory, wheels)


@pytest.fixture(scope="module")
def with_the_tool(wheels, tmp_path_factory):
    """The same, with the tool's wheel and what it asks for alone."""
    return empty_folder(tmp_path_factory, wheels[:1], OF_THE_COURSE)


def empty_folder(tmp_path_factory, wheels, without=()):
    """A function that runs Python in an empty folder, with these wheels of ours."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder / "environment")
    (packages,) = folder.glob("environment/[Ll]ib/**/site-packages")
    for wheel in wheels:
        zipfile.ZipFile(wheel).extractall(packages)
    theirs = [path for path in site.getsitepackages() if path != str(packages)]
    lines = [f"import site; site.addsitedir({path!r})" for path in theirs]
    ours = [str(ROOT), str(ROOT / "tool")]
    lines.append(f"import sys; sys.path = [p for p in sys.path if p not in {ours!r}]")
    lines.append(f"import sys; sys.modules.update(dict.fromkeys({without!r}))")
    (packages / "theirs.pth").write_text("\n".join(lines))
    python = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
    empty = folder / "empty"
    empty.mkdir()
    hidden = {"PYTHONPATH", "PYTHONHOME", "EMULATOR_TURNS"}
    kept = {name: it for name, it in os.environ.items() if name not in hidden}

    def run(*arguments):
        return subprocess.run(
            [python / "python", *map(str, arguments)],
            cwd=empty,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**kept, "HOME": str(empty), "IPYTHONDIR": str(empty / ".ipython")},
            timeout=300,
        )

    run.folder, run.packages = empty, packages
    return run


def test_a_wheel_has_every_file_of_its_rooms(wheels):
    """Recordings and data as well as modules, and nothing else."""
    tool, course = map(held, wheels)

    assert ["thirty_two_lanes", "thirty_two_lanes_course"] == [
        it.name.partition("-")[0] for it in wheels
    ]
    assert {*files(ROOT / "tool", "thirty_two_lanes"), *BESIDE} == tool
    assert {*files(ROOT, "helpers"), *files(ROOT, "lessons")} == course
    assert any(name.startswith("helpers/recorded/") for name in course)


def held(wheel):
    """The files that a wheel brings."""
    names = zipfile.ZipFile(wheel).namelist()
    return {name for name in names if ".dist-info/" not in name}


def files(folder, room):
    """The files of a package."""
    return [
        file.relative_to(folder).as_posix()
        for file in (folder / room).rglob("*")
        if file.is_file() and not {"__pycache__", ".ruff_cache"} & {*file.parts}
    ]


@pytest.mark.slow
def test_the_tool_works_without_the_course(with_the_tool):
    """With a module `helpers` beside the program, which is the program's own."""
    folder = with_the_tool.folder
    (folder / "helpers.py").write_text("word = 'theirs'\n")
    launch = "double[2, 32](np.ones(64, np.float32))\n"
    file = written(folder, f"import helpers\nprint(helpers.word)\n{launch}")
    (folder / "test_it.py").write_text("from program import double as test_it\n")

    where = with_the_tool("-c", "import thirty_two_lanes as it; print(it.__file__)")
    report = with_the_tool("-m", "thirty_two_lanes", "run", "--html", "r.html", file)
    film = with_the_tool("-m", "thirty_two_lanes", "watch", "-o", "it.html", file)
    options = with_the_tool("-m", "pytest", "--help")

    assert where.stdout.startswith(str(with_the_tool.packages))
    assert (0, "") == (report.returncode, report.stderr)
    assert report.stdout.startswith("theirs\n")
    assert report.stdout.endswith("1 kernel, 1 launch: nothing wrong.\n")
    assert 0 == film.returncode and (folder / "it.html").exists()
    assert "--emulate-launches" in options.stdout


@pytest.mark.slow
def test_the_course_works_alone(alone):
    """The page of the machine."""
    where = alone("-c", "import helpers; print(helpers.__file__)")
    page = alone("-m", "helpers")

    assert where.stdout.startswith(str(alone.packages))
    assert (0, "") == (page.returncode, page.stderr)
    assert "kernels              run" in page.stdout


@pytest.mark.slow
def test_a_notebook_runs_beside_the_wheels(alone):
    """Lesson 14, alone in a folder: every cell, with its recorded times."""
    notebook = alone.folder / NOTEBOOK.name
    notebook.write_bytes(NOTEBOOK.read_bytes())

    done = alone("-c", EXECUTE, notebook)

    assert 0 == done.returncode, done.stderr[-2000:]
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code if "".join(cell["source"]))
    said = json.dumps([cell["outputs"] for cell in code])
    assert "the GPU's counts are the same" in said  # they were recorded

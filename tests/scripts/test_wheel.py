"""The wheel is complete, and works alone: in an empty folder, without a checkout."""

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
def wheel(tmp_path_factory):
    """The wheel, built with no network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """Run Python in an empty folder, where only the wheel brings what is ours."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder / "environment")
    (packages,) = folder.glob("environment/[Ll]ib/**/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    theirs = [path for path in site.getsitepackages() if path != str(packages)]
    lines = [f"import site; site.addsitedir({path!r})" for path in theirs]
    lines.append(f"import sys; sys.path = [p for p in sys.path if p != {str(ROOT)!r}]")
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


def test_the_wheel_has_every_file_of_its_rooms(wheel):
    """Recordings and data as well as modules, and nothing else."""
    rooms = [
        file.relative_to(ROOT).as_posix()
        for room in ("helpers", "lessons")
        for file in (ROOT / room).rglob("*")
        if file.is_file() and not {"__pycache__", ".ruff_cache"} & {*file.parts}
    ]
    names = zipfile.ZipFile(wheel).namelist()
    held = {name for name in names if ".dist-info/" not in name}

    assert wheel.name.startswith("thirty_two_lanes-")
    assert {*rooms, "pytest_thirty_two_lanes.py"} == held
    assert "helpers/recorded/nvidia_h200.json" in held


def test_the_wheel_works_alone(alone):
    """The page of the machine, the command, and the plugin by its entry point."""
    file = written(alone.folder, "double[2, 32](np.ones(64, np.float32))\n")
    (alone.folder / "test_it.py").write_text("from program import double as test_it\n")

    where = alone("-c", "import helpers; print(helpers.__file__)")
    page = alone("-m", "helpers")
    report = alone("-m", "helpers", "run", file)
    options = alone("-m", "pytest", "--help")

    assert where.stdout.startswith(str(alone.packages))
    assert (0, "") == (page.returncode, page.stderr)
    assert "kernels              run" in page.stdout
    assert (0, "") == (report.returncode, report.stderr)
    assert report.stdout.endswith("1 kernel, 1 launch: nothing wrong.\n")
    assert "--emulate-launches" in options.stdout


@pytest.mark.slow
def test_a_notebook_runs_beside_the_wheel(alone):
    """Lesson 14, alone in a folder: every cell, with its recorded times."""
    notebook = alone.folder / NOTEBOOK.name
    notebook.write_bytes(NOTEBOOK.read_bytes())

    done = alone("-c", EXECUTE, notebook)

    assert 0 == done.returncode, done.stderr[-2000:]
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code if "".join(cell["source"]))
    assert "NVIDIA H200" in json.dumps([cell["outputs"] for cell in code])

"""`python -m helpers`: the page is honest, and names a remedy for all that is wrong."""

import subprocess
import sys
import tomllib
from functools import partial
from importlib import metadata

import pytest
from packaging.requirements import Requirement as Asked
from packaging.specifiers import SpecifierSet as Set

from helpers import doctor
from helpers.doctor import REMEDY, package, page, tools
from tests.paths import ROOT

NUMPY = tools.Requirement("numpy", "2", "2.5", None)
Row = partial(tools.Row, remedy=REMEDY)


@pytest.fixture
def pretend(monkeypatch):
    """Say that a version of every package is installed; None: no package is."""

    def installed(version):
        def answer(name):
            if version is None:
                raise metadata.PackageNotFoundError(name)
            return version

        monkeypatch.setattr(metadata, "version", answer)

    return installed


@pytest.mark.slow
def test_the_page_of_this_machine():
    """The command runs one kernel, and shows every package that the course needs."""
    said = subprocess.run(
        [sys.executable, "-m", "helpers"], cwd=ROOT, capture_output=True, text=True
    )
    rows = [line for line in said.stdout.splitlines() if line.startswith("  ")]
    shown = dict(row.split(None, 1) for row in rows)

    assert "" == said.stderr
    assert "run" == shown["kernels"]
    assert metadata.version("numba") == shown["numba"]
    assert {each.name for each in doctor.needed()} <= shown.keys()


def test_the_page_comes_without_any_package():
    """A Python with nothing installed says what is missing, without a traceback."""
    said = subprocess.run(
        [sys.executable, "-S", "-E", "-m", "helpers"],  # -S hides what is installed
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert "" == said.stderr
    assert "numba is missing." in said.stdout
    assert f"  {doctor.REMEDY}" in said.stdout.splitlines()
    assert 1 == said.returncode


def test_another_python_than_the_one_that_make_made_is_told_of_it(
    monkeypatch, tmp_path
):
    """All is in .venv: nobody has to install it once more for the system's Python."""
    monkeypatch.setattr(doctor, "VENV", tmp_path)
    missing = [Row("numpy", "missing", "numpy is missing.")]
    assert "pip install" in page(missing)

    (tmp_path / "ready.txt").touch()
    assert "-m helpers     (`make` installed" in page(missing).splitlines()[-1]
    assert "pip install" not in page(missing)

    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    assert "pip install" in page(missing)


def test_the_front_door_says_what_to_do_without_packages():
    """`from helpers import emulate` names what is missing, and the remedy."""
    said = subprocess.run(
        [sys.executable, "-S", "-E", "-c", "from helpers import emulate"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert "ImportError: helpers.emulate cannot be used" in said.stderr
    assert "python -m helpers" in said.stderr


@pytest.mark.parametrize(
    "version, accepted",
    [
        ("1.26.4", False),
        ("2.0", True),
        ("2.4.6", True),
        ("2.5.0rc1", False),  # what will be 2.5 lacks what 2.5 lacks
        ("2.10", False),  # ten is more than five
    ],
)
def test_a_version_is_in_the_tried_series_or_not(version, accepted):
    """Versions are compared as numbers."""
    assert accepted == NUMPY.accepts(version)


def test_a_package_outside_its_series_is_a_fault(pretend):
    """The page names the version, the series and a command."""
    pretend("2.5.1")

    assert Row(
        "numpy",
        "2.5.1, not >=2,<2.5",
        "numpy 2.5.1 is outside the tested range, >=2,<2.5.",
    ) == package(NUMPY)


def test_a_package_that_is_missing_is_a_fault(pretend):
    """The page says so twice: in its row, and below."""
    pretend(None)

    assert Row("numpy", "missing", "numpy is missing.") == package(NUMPY)


def test_a_page_without_faults_says_so():
    """The last line is the verdict."""
    assert "Nothing is missing." == page([Row("numpy", "2.4.6")]).splitlines()[-1]


def test_a_compiler_that_is_missing_is_told_with_its_remedy(monkeypatch):
    """Nothing else needs it, so it is no fault; and the page does not hide it."""
    from thirty_two_lanes.assembly import compiler

    missing = f"NVIDIA's compiler is incomplete (nvdisasm missing): {compiler.HOW}"
    monkeypatch.setattr(compiler, "missing", lambda: missing)

    found = doctor.compiler()
    said = page([Row("numpy", "2.4.6"), found]).splitlines()

    assert "" == found.fault
    assert "NVIDIA's compiler is incomplete (nvdisasm missing)" == found.found
    assert (
        "Nothing is missing but NVIDIA's compiler: `assemble` shows what was recorded."
    ) in said
    assert "  " + doctor.COMPILER_REMEDY == said[-1]
    assert doctor.COMPILER_REMEDY in compiler.HOW


def test_a_compiler_that_no_command_brings_has_no_remedy(monkeypatch):
    """On macOS there is none; where it is complete, it is not mentioned."""
    from thirty_two_lanes.assembly import compiler

    for missing, last in (
        ("NVIDIA's compiler needs numba-cuda", "shows what was recorded."),
        ("", "Nothing is missing."),
    ):
        monkeypatch.setattr(compiler, "missing", lambda said=missing: said)
        assert page([doctor.compiler()]).splitlines()[-1].endswith(last)


def test_a_remedy_is_named_once():
    """Two faults with one remedy, one line."""
    faults = [Row(name, "missing", f"{name} is missing.") for name in "ab"]

    assert 1 == page(faults).count("python -m pip install")


def test_a_kernel_that_fails_is_reported_with_its_error(monkeypatch):
    """Whatever the compiler raises becomes a line of the page."""

    def launch():
        raise OSError("no libnvvm\nand much more")

    monkeypatch.setattr(doctor, "launch", launch)

    assert "A kernel does not run: OSError: no libnvvm" == doctor.kernels().fault


def test_a_package_that_is_there_and_does_not_load_is_a_fault(monkeypatch, pretend):
    """Every version fits, so no row of a package would say it."""

    def launch():
        raise ImportError("DLL load failed while importing _typeconv", name="numba")

    pretend("1")
    monkeypatch.setattr(doctor, "launch", launch)
    monkeypatch.setattr(doctor, "needed", lambda: [])
    monkeypatch.setattr(doctor, "stranger", lambda: None)

    assert (
        "A package is installed but cannot be imported: "
        "DLL load failed while importing _typeconv."
    ) == doctor.kernels().fault


def noted(name):
    """What a distribution of ours asks for, in the form of an installed one's notes."""
    folder = ROOT / "tool" if name == doctor.TOOL else ROOT
    text = (folder / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    return [str(Asked(line)) for line in project["dependencies"]]


def test_every_line_of_pyproject_can_be_read():
    """The doctor reads ranges of one form; the two pyproject.toml use no other."""
    asked = map(Asked, noted(doctor.TOOL) + noted(doctor.COURSE))
    asked = [each for each in asked if each.name != doctor.TOOL]  # is a row of its own
    read = tools.requirements(doctor.lines_of_requirements())
    assert [each.name for each in asked] == [each.name for each in read]
    assert [each.specifier for each in asked] == [Set(each.series) for each in read]


def test_an_installed_package_knows_what_it_needs_without_its_folder(
    monkeypatch, tmp_path
):
    """A wheel holds no pyproject.toml, but notes of it in a form of its own."""
    expected = doctor.needed()
    notes = {name: noted(name) for name in (doctor.TOOL, doctor.COURSE)}
    notes[doctor.COURSE] += ['psutil<8,>=7; extra == "grading"']
    monkeypatch.setattr(metadata, "requires", notes.get)
    monkeypatch.setattr(doctor, "FOLDER", tmp_path)

    assert expected == doctor.needed()

    file = tmp_path / "pyproject.toml"
    file.write_text('[project]\nname = "somebody-else"\n', "utf-8")
    assert expected == doctor.needed()


def test_another_package_called_helpers_is_a_fault(monkeypatch):
    """It came with `pip install helpers`: notebooks import it, and not ours."""
    versions = {"helpers": "0.2.0", doctor.COURSE: "0.1.0"}
    monkeypatch.setattr(metadata, "version", versions.__getitem__)

    found = doctor.course()
    failed = ImportError("cannot import name 'emulate' from 'helpers'", name="helpers")

    assert "another's, 0.2.0" == found.found
    assert "  python -m pip uninstall helpers" in page([found]).splitlines()
    assert "" == doctor.not_imported(failed).fault


def test_who_has_a_wheel_is_told_of_the_wheel(monkeypatch, tmp_path):
    """There is no folder of the course whose files a remedy could name."""
    monkeypatch.setattr(doctor, "FOLDER", tmp_path)
    monkeypatch.setattr(metadata, "version", {doctor.COURSE: "0.1.0"}.__getitem__)
    remedies = [doctor.REMEDY, doctor.COMPILER_REMEDY, doctor.STRANGER_REMEDY]
    remedies += [doctor.GPU_REMEDY, doctor.OWN_REMEDY]

    _, said = page(
        [Row("it", "missing", "It is missing.", remedy=each) for each in remedies]
    ).split("In the wheel's folder:\n")

    tool = "thirty_two_lanes-0.1.0-py3-none-any.whl"
    wheel = "thirty_two_lanes_course-0.1.0-py3-none-any.whl"
    install = "  python -m pip install"
    assert [
        f"{install} {tool} {wheel}",
        f'{install} "{wheel}[compiler]"',
        "  python -m pip uninstall helpers",
        f"{install} --force-reinstall --no-deps {wheel}",
        f'{install} "{wheel}[cu13]"     (driver older than 580: cu12)',
        f"{install} --force-reinstall --no-deps {wheel}",
    ] == said.splitlines()

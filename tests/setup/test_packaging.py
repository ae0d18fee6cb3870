"""What is installed: pyproject.toml, locks, environment.yml and workflows agree."""

import re
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from tests.paths import ROOT

COURSE, TOOL = (
    tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    for folder in (ROOT, ROOT / "tool")
)
EXTRAS = COURSE["optional-dependencies"]
NEEDED = [
    *TOOL["dependencies"],
    *(it for it in COURSE["dependencies"] if not it.startswith(TOOL["name"])),
]
ADDED = ["compiler", "cu13", "cu12"]
FILES = [f"requirements-{name}.lock" for name in [*ADDED, "site"]]
LOCKS = ["requirements.lock", *FILES]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTION = r"([\w-]+(?:/[\w-]+)+)@[0-9a-f]{40} # v\d+\.\d+\.\d+"  # a commit, its version
SYSTEMS = ["linux", "darwin", "win32"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def pins(lock):
    """The pinned requirements of a lock file, without their hashes."""
    lines = (ROOT / lock).read_text("utf-8").splitlines()
    return [Requirement(line.rstrip("\\")) for line in lines if re.match(r"\w", line)]


def installed(lock, python, system):
    """The versions, by name, that a lock installs with one Python on one system."""
    place = {"python_version": python, "python_full_version": f"{python}.9"}
    place |= {"sys_platform": system, "os_name": "nt" if system == "win32" else "posix"}
    place["platform_machine"] = "AMD64" if system == "win32" else "x86_64"
    wanted = [pin for pin in pins(lock) if not pin.marker or pin.marker.evaluate(place)]
    return {pin.name: Version(str(pin.specifier)[2:]) for pin in wanted}


def workflow(name):
    """A workflow, read."""
    return yaml.safe_load((ROOT / ".github/workflows" / name).read_text("utf-8"))


def commands(name):
    """Every command line of a workflow."""
    jobs = workflow(name)["jobs"].values()
    return "\n".join(step.get("run", "") for job in jobs for step in job["steps"])


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_holds_one_version_in_each_range(python, system):
    """What pyproject.toml asks for is pinned inside its range, on every platform."""
    versions = installed("requirements.lock", python, system)

    for asked in map(Requirement, NEEDED + EXTRAS["test"]):
        if not asked.marker or asked.marker.evaluate({"sys_platform": system}):
            assert asked.specifier.contains(versions[asked.name]), asked.name
        else:
            assert asked.name not in versions


@pytest.mark.parametrize("python", PYTHONS)
def test_the_site_is_made_with_what_is_pinned(python):
    """Another version of Sphinx or of the theme is another site."""
    versions = installed("requirements-site.lock", python, "linux")

    for asked in map(Requirement, EXTRAS["site"]):
        assert asked.specifier.contains(versions[asked.name]), asked.name


def test_a_lock_that_is_not_whole_says_so_in_its_head():
    """By itself it installs too little: it begins as `make lock` writes it."""
    source = (ROOT / ".make/lock.py").read_text()
    said = re.search(r'^ADDED = "(.*)\\n"$', source, re.MULTILINE)[1]
    locks = [*ROOT.glob("requirements-*.lock")]
    assert len(locks) == 4
    for lock in locks:
        assert said == lock.read_text().splitlines()[1], lock.name
    assert "requirements.lock" in said


def test_the_course_asks_for_the_tool_of_its_own_version():
    """Both are released together; what the tool's extras bring, the course's do."""
    assert f"{TOOL['name']}=={TOOL['version']}" == COURSE["dependencies"][0]
    assert COURSE["version"] == TOOL["version"]
    assert COURSE["classifiers"] == TOOL["classifiers"]
    for extra in ADDED:
        assert [f"{TOOL['name']}[{extra}]"] == EXTRAS[extra]
        assert extra in TOOL["optional-dependencies"]
    assert (ROOT / "LICENSE").read_text() == (ROOT / "tool" / "LICENSE").read_text()


def test_the_tool_needs_numba_numba_cuda_and_numpy():
    """Beside what these cannot be imported without; a checker in a CI installs no
    notebooks and no figures.
    """
    names = {Requirement(each).name for each in TOOL["dependencies"]}

    brought = {"llvmlite", "nvidia-cuda-runtime"}
    assert {"numba", "numba-cuda", "numpy", *brought} == names


def test_numba_and_numpy_stay_in_the_series_that_were_tried():
    """The pins that the emulator's front end rests on."""
    asked = {each.name: each for each in map(Requirement, TOOL["dependencies"])}

    assert {"numba": "<0.69,>=0.68", "numba-cuda": "<0.31,>=0.30.4"} == {
        name: str(asked[name].specifier) for name in ("numba", "numba-cuda")
    }
    assert not asked["numpy"].specifier.contains("2.5.0")


@pytest.mark.parametrize("series, bindings", [("13", 13), ("12", 12)])
@pytest.mark.parametrize("system", ["linux", "win32"])
def test_a_cuda_lock_brings_the_libraries_of_its_series(series, bindings, system):
    """After requirements.lock, it leaves CUDA's parts at one major version."""
    lock = f"requirements-cu{series}.lock"
    versions = installed("requirements.lock", "3.12", system)
    versions |= installed(lock, "3.12", system)

    assert bindings == versions["cuda-bindings"].major
    assert bindings == versions["cuda-toolkit"].major


@pytest.mark.parametrize("added", ADDED)
@pytest.mark.parametrize("system", ["linux", "win32"])
def test_every_way_of_setting_up_brings_the_disassembler(added, system):
    """`assemble` works wherever NVIDIA's compiler is made for."""
    assert "nvidia-cuda-nvdisasm" in installed(
        f"requirements-{added}.lock", "3.12", system
    )


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host(lock):
    """It can be installed from any mirror."""
    text = (ROOT / lock).read_text("utf-8")

    assert "://" not in text
    assert not re.search(r"^\s*-", text.replace("    --hash=sha256:", ""), re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_a_hash_for_every_package(lock):
    """pip refuses a file that was changed after it was pinned."""
    text = (ROOT / lock).read_text("utf-8")
    blocks = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]

    assert blocks
    assert [] == [block.split()[0] for block in blocks if "--hash=sha256:" not in block]


def test_macos_gets_no_package_of_cuda():
    """There is none for it; it uses the `numba.cuda` inside Numba."""
    names = set().union(*(installed(lock, "3.13", "darwin") for lock in LOCKS))

    assert set() == {name for name in names if "cuda" in name or "nvidia" in name}


def test_conda_installs_what_pyproject_asks_for():
    """environment.yml brings a tried Python and leaves the rest to pyproject.toml."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    python, pip, ours = environment["dependencies"]

    assert TOOL["name"] == environment["name"]
    assert "pip" == pip
    assert {"pip": ["--editable tool", "--editable .[test,compiler]"]} == ours
    tried = Requirement(python).specifier
    assert PYTHONS == [f"3.{minor}" for minor in range(8, 17) if f"3.{minor}" in tried]


def test_workflows_try_every_system_and_python():
    """Linux, macOS and Windows, with every Python that is promised."""
    matrix = workflow("tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    said = [line.split(" :: ")[-1] for line in COURSE["classifiers"]]

    assert PYTHONS == matrix["python"] == said
    assert ["ubuntu", "macos", "windows"] == [
        system.split("-")[0] for system in matrix["system"]
    ]


def test_workflows_pin_their_actions():
    """A tag can be moved and a commit cannot; of each action there is one, in the pages
    for other people's workflows too.
    """
    pages = [ROOT / "docs" / "grading.yml", ROOT / "docs" / "kernels.yml"]
    texts = [path.read_text("utf-8") for path in [*WORKFLOWS, *pages]]
    uses = [each for text in texts for each in re.findall(r"uses: (.*)", text)]
    pinned = [re.fullmatch(ACTION, each) for each in uses]

    assert len(texts) <= len(uses)
    assert [] == [each for each, pin in zip(uses, pinned, strict=True) if not pin]
    assert len({pin[1] for pin in pinned}) == len({pin[0] for pin in pinned})


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_step_stops_at_its_first_command_that_fails(path):
    """PowerShell, which Windows takes by itself, goes on; and nobody's Windows has
    Python's UTF-8 mode switched on, which hides files that are read in another code.
    """
    asked = workflow(path.name)
    steps = [step for job in asked["jobs"].values() for step in job["steps"]]

    assert "bash" == asked["defaults"]["run"]["shell"]
    assert {"bash"} >= {step["shell"] for step in steps if "shell" in step}
    assert "PYTHONUTF8" not in path.read_text("utf-8")


def test_the_weekly_run_renews_every_package():
    """It is started by a clock and upgrades all that pyproject.toml names."""
    compiler = TOOL["optional-dependencies"]["compiler"]
    asked = NEEDED + EXTRAS["test"] + compiler

    assert workflow("newest.yml")[True]["schedule"]  # YAML reads the key `on` as True
    upgraded = commands("newest.yml").split("--upgrade")[1].split("pip list")[0]
    renewed = set(re.findall(r"[a-z][\w-]+", upgraded))
    assert {Requirement(line).name for line in asked} <= renewed


def test_windows_is_tried_with_the_readme_lines():
    """The workflow types what the README tells a reader on Windows to type."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    windows = readme.split("## Without make")[1].split("Elsewhere")[0]
    lines = re.findall(r"^    (.+)$", windows, re.MULTILINE)
    typed = [line.split(" #")[0] for line in commands("tests.yml").splitlines()]
    in_bash = {".venv\\Scripts\\activate": "source .venv/Scripts/activate"}
    in_bash["jupyter lab work/index.ipynb"] = "jupyter lab --version"  # opens nothing

    wanted = [in_bash.get(line, line) for line in lines]
    first = typed.index(wanted[0])
    assert 7 == len(wanted)
    assert wanted == typed[first : first + len(wanted)]

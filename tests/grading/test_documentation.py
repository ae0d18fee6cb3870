"""What docs/GRADING.md and its workflow tell instructors to type."""

import os
import re
import shlex
import subprocess
import sys

import pytest
import yaml

from helpers.grading.__main__ import parser
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "GRADING.md").read_text(encoding="utf-8")
WORKFLOW = (ROOT / "docs" / "grading.yml").read_text(encoding="utf-8")
JOINED = (
    (PAGE + WORKFLOW).replace("\\\n", " ").replace('${SECRET:+--secret "$SECRET"}', "")
)
COMMANDS = re.findall(r"python -m helpers\.grading (.+)", JOINED)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_is_one(line):
    """Its names and options are those of the command line."""
    assert parser().parse_args(shlex.split(line)).command


def test_each_command_is_shown():
    """The five of them."""
    shown = {line.split()[0] for line in COMMANDS}
    assert {"release", "grade", "feedback", "report", "export"} == shown


def test_links_of_the_page_lead_somewhere():
    """Those to files here."""
    links = re.findall(r"\]\((?!http)([^)]+)\)", PAGE)
    assert links
    paths = [it.partition("#")[0] for it in links]
    assert [] == [it for it in paths if not (ROOT / "docs" / it).exists()]


def test_the_workflow_gives_a_pull_request_no_secret():
    """Its token reads, it is not kept, and the secret is for the instructor's run."""
    read = yaml.safe_load(WORKFLOW)
    assert {"contents": "read"} == read["permissions"]
    assert "pull_request_target" not in WORKFLOW.replace("# ", "")
    steps = read["jobs"]["grade"]["steps"]
    checkouts = [it["with"] for it in steps if "checkout" in it.get("uses", "")]
    assert [False] * 2 == [it["persist-credentials"] for it in checkouts]
    with_secrets = [it for it in steps if "secrets." in str(it)]
    assert ["grade"] == [it["name"] for it in with_secrets]
    assert "== 'workflow_dispatch' && secrets." in str(with_secrets)
    assert "--not-isolated" not in with_secrets[0]["run"]


@pytest.fixture
def own_course(tmp_path):
    """The package of docs/EXERCISES.md, as pip installs it: the folder that has it."""
    page = (ROOT / "docs" / "EXERCISES.md").read_text(encoding="utf-8")
    (project,) = re.findall(r"```toml\n(.+?)```", page, re.DOTALL)
    exercises, assignments, trial = re.findall(r"```python\n(.+?)```", page, re.DOTALL)
    tmp_path.chmod(0o755)  # where root grades, the judge is nobody
    package, about = tmp_path / "my_course", tmp_path / "my_course-1.dist-info"
    package.mkdir()
    about.mkdir()
    (package / "__init__.py").touch()
    (package / "exercises.py").write_text(exercises)
    (package / "assignments.py").write_text(assignments)
    (tmp_path / "try.py").write_text(trial)
    (about / "METADATA").write_text("Name: my-course\nVersion: 1\n")
    points = re.findall(r'"(thirty_two_lanes\.\w+)"]\n(\w+) = "(.+)"', project)
    lines = [f"[{group}]\n{name} = {value}" for group, name, value in points]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return tmp_path


NAMES = "doubled", "full_warps", "why_a_guard"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="nothing is graded there")
def test_the_course_of_the_page_is_released_and_graded(own_course):
    """Its exercises are a module, and no folder of them; the lessons' stay."""
    environment = os.environ | {"PYTHONPATH": f"{own_course}{os.pathsep}{ROOT}"}

    def run(*line):
        done = [sys.executable, *map(str, line)]
        subprocess.run(done, check=True, cwd=ROOT, env=environment)

    def call(*line):
        run("-m", "helpers.grading", *line)

    run(own_course / "try.py")

    out, handed_in, marks = (own_course / it for it in ("ps1", "submitted", "marks"))
    call("release", "first_week", "--out", out)
    call("release", "12", "--out", own_course / "ps2")
    text = (out / "first_week.ipynb").read_text("utf-8")
    (handed_in / "ann").mkdir(parents=True)
    (handed_in / "ann" / "first_week.ipynb").write_text(text, "utf-8")
    call("grade", handed_in, "--release", out, "--out", marks)
    rows = [f"ann,first_week,{it},0,2,no_answer\n" for it in NAMES]
    assert "".join(rows) in (marks / "marks.csv").read_text("utf-8")


STEPS = yaml.safe_load(WORKFLOW)["jobs"]["grade"]["steps"]


def run_step(part, folder, **environment):
    """Do what the step with such a name does, as GitHub's runner would."""
    (text,) = [it["run"] for it in STEPS if part in it.get("name", "")]
    line = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text]
    subprocess.run(line, cwd=folder, check=True, env=os.environ | environment)


@pytest.fixture
def class_repository(tmp_path):
    """A class, and a pull request in which ann hands in anew and bob is renamed."""
    root = tmp_path / "class"

    def git(*line):
        mine = ["-c", "user.name=a", "-c", "user.email=a@b", "-C", str(root)]
        subprocess.run(["git", *mine, *line], check=True, capture_output=True)

    def commit(text, *paths):
        for path in paths:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(f"{text} {path}")
        git("add", "--all")
        git("commit", "--message", text)

    root.mkdir()
    git("init", "--initial-branch=main")
    students = [f"submitted/{it}/one.ipynb" for it in ("ann", "bob", "cem", "dee e")]
    commit("old", "release/manifest.json", *students)
    git("checkout", "-b", "hand-in")
    (root / "submitted" / "bob").rename(root / "submitted" / "bo")
    (root / students[2]).unlink()
    commit(
        "new", "release/manifest.json", "x", students[0], "submitted/-e 安/one.ipynb"
    )
    git("checkout", "main")
    commit("later", students[3])
    git("merge", "--no-ff", "hand-in")
    return tmp_path


def texts(folder):
    """What the files of a folder hold, by path."""
    files = [it for it in folder.rglob("*") if it.is_file()]
    return {str(it.relative_to(folder)): it.read_text() for it in files}


def test_a_pull_request_brings_what_it_changes(class_repository):
    """Not the release, nor what others have handed in meanwhile."""
    run_step("that a pull request changes", class_repository)
    assert {
        "-e 安/one.ipynb": "new submitted/-e 安/one.ipynb",
        "ann/one.ipynb": "new submitted/ann/one.ipynb",
        "bo/one.ipynb": "old submitted/bob/one.ipynb",
    } == texts(class_repository / "submitted")
    release = {"manifest.json": "old release/manifest.json"}
    assert release == texts(class_repository / "release")


def test_the_class_is_marked_with_all_that_is_handed_in(class_repository):
    """As it is in the main branch."""
    run_step("all that is handed in", class_repository)
    found = texts(class_repository / "submitted")
    assert {"-e 安", "ann", "bo", "dee e"} == {it.split("/")[0] for it in found}
    assert {"manifest.json"} == texts(class_repository / "release").keys()


def test_a_pull_request_is_shown_its_feedback(tmp_path):
    """On the page of the run, as Markdown, and no more than that page takes."""
    for student in ("ann", "bob b"):
        path = tmp_path / "marks" / student / "one.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"# {student}\n" + "x" * 600_000)
    page = tmp_path / "page.md"
    run_step("its feedback", tmp_path, GITHUB_STEP_SUMMARY=str(page))
    text = page.read_text()
    assert 10**6 == len(text)
    assert text.startswith("# ann\n") and "# bob b\n" in text

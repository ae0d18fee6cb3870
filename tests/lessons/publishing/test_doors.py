"""Doors by a link: badges, the README's way to the folder, a lesson opened alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lessons.build import ROOT, main
from lessons.publishing.convert import convert, lessons_of
from lessons.publishing.doors import Project, project_of, with_address, with_doors
from lessons.publishing.errors import LessonError
from tests.lessons.courses import course, notebook

ADDRESS = "https://github.com/somebody/a-course"
URLS = f'[project]\nversion = "1.2.3"\n[project.urls]\nRepository = "{ADDRESS}"\n'
FOLDER = f"{ADDRESS}/releases/download/v1.2.3"
WHEELS = [
    f"{FOLDER}/thirty_two_lanes-1.2.3-py3-none-any.whl",
    f"{FOLDER}/thirty_two_lanes_course-1.2.3-py3-none-any.whl",
]
RUN_ALONE = """
import json, os, sys
cell, ours, *paths = json.loads(sys.argv[1])
others = [it for it in sys.path if it and not os.path.isdir(it + "/helpers")]
others = [it for it in others if not os.path.isdir(it + "/thirty_two_lanes")]
sys.path[:] = paths + others
from IPython.core.interactiveshell import InteractiveShell
shell, installed = InteractiveShell.instance(), []
def pip(line):
    installed.extend(line.split()[2:])
    sys.path[len(paths):len(paths)] = [ours, ours + "/tool"]
shell.register_magic_function(pip)
done = shell.run_cell(cell)
print(json.dumps([installed, repr(done.error_in_exec)]))
"""


@pytest.fixture
def linked(tmp_path):
    """A small course whose project has an address."""
    root = course(tmp_path, _01_add="\n# %%\n1 + 1\n")
    (root / "pyproject.toml").write_text(URLS)
    return root


def alone(cell, *paths, ours=ROOT):
    """What a cell installs, and its error, where only these paths have `helpers`."""
    asked = json.dumps([cell, str(ours), *map(str, paths)])
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALONE, asked],
        cwd=Path(sys.executable).parent,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_lesson_can_be_opened_by_a_link(linked):
    """Badges in its first cell, and before its first code what brings the rest."""
    (lesson,) = lessons_of(linked)

    first, brings, code = with_doors(linked, lesson).cells

    place = "v1.2.3/notebooks/01_add.ipynb"
    assert first.source.startswith(convert(lesson).cells[0].source)
    assert f"com/github/somebody/a-course/blob/{place})" in first.source
    assert "mybinder.org/v2/gh/somebody/a-course/v1.2.3?" in first.source
    assert "codespaces.new/somebody/a-course)" in first.source
    assert " ".join(WHEELS) in brings.source
    assert "1 + 1" == code.source


@pytest.mark.slow
def test_a_build_with_an_address_is_whole(linked):
    """The README and the notebook get it, and a check finds both in step."""
    assert 0 == main([], linked)
    assert 0 == main(["--check"], linked)

    assert f"    git clone {ADDRESS}\n    cd a-course" in (
        (linked / "README.md").read_text()
    )
    assert ADDRESS in notebook(linked, "01_add").read_text()
    (linked / "pyproject.toml").write_text(URLS.replace("somebody", "another"))
    assert 1 == main(["--check"], linked)


def test_without_an_address_nothing_leads_anywhere(tmp_path):
    """A notebook is its lesson, and the README says how one gets the folder."""
    root = course(tmp_path, _01_add="")
    (lesson,) = lessons_of(root)

    assert convert(lesson) == with_doors(root, lesson)
    assert project_of(root) is None
    assert 0 == main([], root)
    assert "Clone or download" in (root / "README.md").read_text()


def test_an_address_that_nothing_opens_is_refused(linked):
    """Colab and Binder know GitHub."""
    (linked / "pyproject.toml").write_text(URLS.replace("github", "example"))

    with pytest.raises(LessonError, match="https://github.com/OWNER/NAME"):
        project_of(linked)


def test_a_readme_without_marks_is_told_which():
    with pytest.raises(LessonError, match="<!-- address: begin -->"):
        with_address("", Project(ADDRESS, "1.0"), "")


@pytest.mark.slow
def test_a_notebook_alone_brings_what_is_missing(linked, tmp_path):
    """What is ours stays; another package of that name makes room; a file of that name
    beside the notebook, which hides ours, is named.
    """
    (lesson,) = lessons_of(linked)
    cell = with_doors(linked, lesson).cells[1].source
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "helpers.py").write_text("")

    assert [[], "None"] == alone(cell, ROOT, ROOT / "tool")
    assert [WHEELS, "None"] == alone(cell)
    installed, error = alone(cell, theirs)
    assert WHEELS == installed
    assert "cannot import name 'emulate'" in error and "helpers.py" in error

"""`work/`, the learner's copy of the notebooks, and its index: `make lab`."""

import contextlib
import io
import json
import runpy
import shutil
import subprocess
import sys

import pytest
from nbformat import read
from nbformat.sign import NotebookNotary

from tests.paths import ROOT

SCRIPTS = ROOT / ".make"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one lesson, with an assignment; `work/` is up to date."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    shutil.copytree(SCRIPTS, tmp_path / ".make")
    for folder in ("assignments", "solutions"):
        (tmp_path / "notebooks" / folder).mkdir(parents=True)
        (tmp_path / "notebooks" / folder / "01.ipynb").write_text(folder)
    (tmp_path / "notebooks/01.ipynb").write_text("first")
    lab(tmp_path)
    return tmp_path


def lab(course, *options):
    """Bring `work/` up to date; what was said."""
    work = runpy.run_path(str(course / ".make/work.py"))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        work["main"](*options)
    return said.getvalue()


def test_a_learner_gets_every_notebook(course):
    """An assignment lies as deep as in notebooks/: its link to the lesson works, and
    JupyterLab, which shows nothing outside work/, shows the solution beside it.
    """
    assert "first" == (course / "work/01.ipynb").read_text()
    assert "assignments" == (course / "work/assignments/01.ipynb").read_text()
    assert "solutions" == (course / "work/solutions/01.ipynb").read_text()


def test_what_a_learner_wrote_is_never_written_over(course):
    """The course changed the notebook too: the learner's is kept, and that is said."""
    (course / "work/01.ipynb").write_text("mine")
    (course / "notebooks/01.ipynb").write_text("second")

    said = lab(course)

    assert "mine" == (course / "work/01.ipynb").read_text()
    assert "01.ipynb" in said and "make fresh" in said


def test_a_notebook_that_nobody_touched_is_renewed(course):
    """It keeps in step with the course."""
    (course / "notebooks/01.ipynb").write_text("second")

    lab(course)

    assert "second" == (course / "work/01.ipynb").read_text()


def test_a_notebook_that_was_deleted_comes_back(course):
    """Deleting one's copy is a way to begin it again."""
    (course / "work/01.ipynb").unlink()

    lab(course)

    assert "first" == (course / "work/01.ipynb").read_text()


def test_beginning_anew_keeps_what_was_written(course):
    """`make fresh` moves the old copy aside."""
    (course / "work/01.ipynb").write_text("mine")

    lab(course, "--fresh")

    assert "first" == (course / "work/01.ipynb").read_text()
    (aside,) = course.glob("work-until-*")
    assert "mine" == (aside / "01.ipynb").read_text()


def notebook(text, outputs=(), **metadata):
    """A notebook with one cell, as it is stored."""
    cell = {"cell_type": "code", "source": [text], "outputs": list(outputs)}
    cell["metadata"] = {}
    cell["execution_count"] = 1 if outputs else None
    stored = {"cells": [cell], "metadata": metadata, "nbformat": 4}
    stored["nbformat_minor"] = 4
    return json.dumps(stored, indent=1, sort_keys=True) + "\n"


def test_a_copy_shows_nothing_that_a_reader_is_to_guess(course):
    """A solution does, and each where its reader asks for it."""
    for name in ("02", "solutions/02"):
        (course / f"notebooks/{name}.ipynb").write_text(notebook("a", ["2"]))

    lab(course)

    assert notebook("a") == (course / "work/02.ipynb").read_text()
    assert notebook("a", ["2"]) == (course / "work/solutions/02.ipynb").read_text()
    lab(course, "--outputs")
    assert notebook("a", ["2"]) == (course / "work/02.ipynb").read_text()
    lab(course)
    assert notebook("a") == (course / "work/02.ipynb").read_text()


def test_what_a_learner_ran_stays_as_long_as_the_courses_cells_do(course):
    """It is what the index knows to be done."""
    (course / "notebooks/02.ipynb").write_text(notebook("a", ["2"]))
    lab(course)
    (course / "work/02.ipynb").write_text(notebook("a", ["3"]))
    (course / "notebooks/02.ipynb").write_text(notebook("a", ["4"]))

    lab(course, "--outputs")

    assert notebook("a", ["3"]) == (course / "work/02.ipynb").read_text()


def test_a_copy_with_outputs_is_signed_unless_it_is_a_learners(course):
    """JupyterLab shows a figure in the dark theme's colours if somebody signed it."""
    output = {"output_type": "stream", "name": "stdout", "text": ["2"]}
    for name in ("02", "03"):
        (course / f"notebooks/{name}.ipynb").write_text(notebook(f"a{name}", [output]))
    lab(course)
    (course / "work/03.ipynb").write_text(notebook("b", [output]))

    lab(course, "--outputs")

    notary = NotebookNotary(data_dir=str(course / "jupyter"))
    signed = {
        name: notary.check_signature(read(course / f"work/{name}.ipynb", 4))
        for name in ("02", "03")
    }
    assert {"02": True, "03": False} == signed


ROWS = """\
| lesson | minutes | exercises |
|---|---:|---|
| [First](01.ipynb) | 50 | [exercises](assignments/01.ipynb) |
| [Second](02.ipynb) | 50 | |
| [Third](03.ipynb) | 50 | |
"""


def tasks(*said):
    """A notebook with an exercise for each thing that a check may say."""
    outputs = ([{"output_type": "stream", "text": [it]}] if it else [] for it in said)
    cells = [json.loads(notebook("t.check(a)", it))["cells"][0] for it in outputs]
    return json.dumps({"cells": cells})


def test_the_index_says_what_is_done_and_what_is_next(course):
    """By what the checks of the learner's notebooks say."""
    texts = ({"cell_type": "markdown", "source": [it]} for it in ("# All", ROWS))
    (course / "notebooks/index.ipynb").write_text(json.dumps({"cells": [*texts]}))
    for name in ("01", "02", "03", "assignments/01"):
        (course / f"notebooks/{name}.ipynb").write_text(tasks("… a: 0 of 2 points."))
    lab(course)
    new = index(course)
    right, wrong = "✓ a: 2 of 2 points.", "✗ a: 0 of 2 points (wrong)."
    for name, *said in (
        ("01", right),
        ("03", wrong, ""),
        ("assignments/01", right, wrong, right),
    ):
        (course / f"work/{name}.ipynb").write_text(tasks(*said), encoding="utf-8")

    lab(course)

    assert "**Next: [First](01.ipynb)**" in new and "|  | [First]" in new
    begun = index(course)
    assert "**Go on: [Third](03.ipynb)**" in begun
    assert "| ✓ | [First]" in begun and "|  | [Second]" in begun
    assert "| 1 of 2 cells | [Third]" in begun
    assert "[exercises](assignments/01.ipynb): 2 of 3 |" in begun


def index(course):
    """What the index of `work/` shows before its cell has run."""
    (cell,) = json.loads((course / "work/index.ipynb").read_text("utf-8"))["cells"]
    return cell["outputs"][0]["data"]["text/markdown"]


def test_a_notebook_that_was_only_run_is_renewed(course):
    """What came out of it is no work of the learner's; a changed cell is."""
    for name in ("02.ipynb", "03.ipynb"):
        (course / "notebooks" / name).write_text(notebook("a + 1"))
    lab(course)
    (course / "work/02.ipynb").write_text(notebook("a + 1", ["2"], kernel="mine"))
    (course / "work/03.ipynb").write_text(notebook("a + 2", ["3"]))
    for name in ("02.ipynb", "03.ipynb"):
        (course / "notebooks" / name).write_text(notebook("a + 10"))

    said = lab(course)

    assert notebook("a + 10") == (course / "work/02.ipynb").read_text()
    assert notebook("a + 2", ["3"]) == (course / "work/03.ipynb").read_text()
    assert "changed: 03.ipynb\n" in said and "make fresh OPTIONS=03" in said


def test_a_new_output_of_the_course_is_no_reason_to_speak(course):
    """The learner's cells are kept, and lack nothing."""
    (course / "notebooks/02.ipynb").write_text(notebook("a"))
    lab(course)
    (course / "work/02.ipynb").write_text(notebook("b"))
    (course / "notebooks/02.ipynb").write_text(notebook("a", ["1"]))

    assert "" == lab(course)


def test_one_lesson_begins_anew(course):
    """Its assignment, too; the others stay."""
    shutil.copy(course / "notebooks/01.ipynb", course / "notebooks/02_on.ipynb")
    lab(course)
    for name in ("01", "02_on", "assignments/01"):
        (course / f"work/{name}.ipynb").write_text("mine")

    lab(course, "--fresh", "01")

    assert "first" == (course / "work/01.ipynb").read_text()
    assert "assignments" == (course / "work/assignments/01.ipynb").read_text()
    assert "mine" == (course / "work/02_on.ipynb").read_text()
    (aside,) = course.glob("work-until-*")
    assert "mine" == (aside / "assignments/01.ipynb").read_text()
    with pytest.raises(
        SystemExit, match="No lesson is called 03; there are: 01, 02_on"
    ):
        lab(course, "--fresh", "03")


def test_beginning_anew_twice_in_a_second_keeps_both(course, monkeypatch):
    """The second copy gets a name of its own."""
    monkeypatch.setattr("time.strftime", lambda form: "work-until-now")

    lab(course, "--fresh")
    lab(course, "--fresh")

    assert ["work-until-now", "work-until-now-2"] == sorted(
        path.name for path in course.glob("work-until-*")
    )


def test_a_place_for_notebooks_that_cannot_be_written_is_a_sentence(course):
    """Here a file is where the folder should be."""
    shutil.rmtree(course / "work")
    (course / "work").write_text("")

    told = [sys.executable, course / ".make/work.py"]
    said = subprocess.run(told, capture_output=True, text=True).stderr

    assert "need a folder where you may write" in said
    assert "Traceback" not in said

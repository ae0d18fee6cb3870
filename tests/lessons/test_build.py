"""The build, tried on small courses: what it writes, what it finds, what it refuses."""

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import redirect_stderr
from pathlib import Path

import nbformat
import pytest

from lessons.build import ROOT, main
from lessons.publishing.contents import with_table
from lessons.publishing.convert import (
    canonical_cell,
    convert,
    is_folded,
    parsed,
    serialise,
)
from lessons.publishing.errors import LessonError
from lessons.publishing.execute import complete, execute
from tests.lessons.courses import BODY, FIRST, README, course, notebook


def build(root, *arguments):
    """The exit status of a build, and what it said."""
    said = io.StringIO()
    with redirect_stderr(said):
        status = main(arguments, root)
    return status, said.getvalue()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = course(tmp_path_factory.mktemp("built"), _01_add=BODY, _02_hands="")
    status, said = build(root)
    assert (0, 2) == (status, said.count(" cells in ")), said
    return root


@pytest.fixture
def copied(built, tmp_path):
    """A built course that a test may spoil."""
    return Path(shutil.copytree(built, tmp_path / "course"))


def test_a_second_build_writes_the_same_bytes(copied):
    """Nothing in a notebook is chance, but for what a cell tagged `timing` shows."""
    place = notebook(copied, "01_add")
    first = nbformat.read(place, as_version=4)
    place.unlink()

    build(copied, "01")

    second = nbformat.read(place, as_version=4)
    second.cells[2].outputs = first.cells[2].outputs
    assert serialise(first) == serialise(second)


@pytest.mark.slow
def test_a_check_is_content_with_what_a_build_wrote(copied):
    """A check of an untouched course passes, and writes nothing."""
    before = {p: p.read_bytes() for p in copied.rglob("*") if p.is_file()}

    status, said = build(copied, "--check")

    assert 0 == status, said
    assert before == {p: p.read_bytes() for p in copied.rglob("*") if p.is_file()}


@pytest.mark.slow
def test_a_check_names_each_thing_that_a_build_would_change(copied):
    """An edited, a missing and a stray notebook and an old table are four findings."""
    place = notebook(copied, "01_add")
    place.write_text(place.read_text().replace("a + 1", "a + 9"))
    notebook(copied, "02_hands").rename(notebook(copied, "03_stray"))
    (copied / "README.md").write_text(README)

    status, said = build(copied, "--check")

    assert 1 == status
    assert "notebooks/01_add.ipynb, cell [3]:\n    - a + 9\n    + a + 1\n" in said
    assert "notebooks/02_hands.ipynb is missing" in said
    assert "notebooks/03_stray.ipynb has no lesson" in said
    assert "README.md has an outdated table of lessons or address" in said
    assert "`python -m lessons.build` rewrites the rest." in said


def test_a_build_removes_notebooks_without_a_lesson(copied):
    """`notebooks/` holds nothing that a build does not write."""
    shutil.copy(notebook(copied, "02_hands"), notebook(copied, "03_stray"))

    status, said = build(copied, "02")

    assert 0 == status
    assert "removed notebooks/03_stray.ipynb" in said
    assert not notebook(copied, "03_stray").exists()


def test_a_notebook_has_the_canonical_form(built):
    """One space of indent, sorted keys, format 4.5, one newline, no more metadata."""
    text = notebook(built, "01_add").read_text("utf-8")
    page = nbformat.reads(text, as_version=4)

    assert text.startswith('{\n "cells": [\n  {\n   "cell_type": "markdown",\n')
    assert text.endswith(' "nbformat": 4,\n "nbformat_minor": 5\n}\n')
    assert {"kernelspec", "language_info"} == set(page.metadata)
    assert {"name": "python"} == page.metadata.language_info
    first = {"slideshow": {"slide_type": "slide"}}
    below = {"slideshow": {"slide_type": "subslide"}}
    expected = [first, below, {"tags": ["timing"]}, {}, {}]
    assert expected == [c.metadata for c in page.cells]


def test_a_cell_that_only_measures_is_folded():
    """JupyterLab shows the first line of a hidden source: what the cell does."""
    lesson = '# %% tags=["timing", "hide-input"]\n# Measures both.\nmeasure(copy)\n'
    (cell,) = (canonical_cell(it, Counter()) for it in parsed(lesson))
    hidden = {"source_hidden": True}

    assert {"tags": ["timing", "hide-input"], "jupyter": hidden} == cell.metadata


@pytest.mark.parametrize("source", ["copy()", "# It copies.\n@cuda.jit\ndef f(): 0"])
def test_a_folded_cell_says_what_it_does_and_holds_no_kernel(source):
    """Nobody opens a cell that does not say why."""
    lesson = f'# %% tags=["hide-input"]\n{source}\n'

    with pytest.raises(LessonError, match="begins with a comment"):
        [canonical_cell(it, Counter()) for it in parsed(lesson)]


def test_an_answer_is_folded_and_may_hold_a_kernel():
    """Readers open it once they have guessed."""
    source = "# The mended kernel.\n@cuda.jit\ndef f(): 0"
    lesson = f'# %% tags=["hide-input", "answer"]\n{source}\n'
    (cell,) = (canonical_cell(it, Counter()) for it in parsed(lesson))

    assert is_folded(cell)


def test_a_heading_begins_a_slide_and_other_texts_go_below_it():
    """Code and pictures stay with the text before them: `nbconvert --to slides`."""
    texts = "# %% [markdown]\n# ## A queue\n\n", "# %% [markdown]\n# It waits.\n"
    lesson = "# %%\n1\n\n".join(texts)
    cells = [canonical_cell(it, Counter()) for it in parsed(lesson)]

    assert ["slide", None, "subslide"] == [
        it.metadata.get("slideshow", {}).get("slide_type") for it in cells
    ]


def test_a_heading_within_a_text_begins_a_cell_of_its_own():
    """But for a comment of code that the text quotes."""
    lesson = "# %% [markdown]\n# It waits.\n#\n# ## Why\n# So.\n#\n# ### How\n# Thus.\n"
    quoted = "# %% [markdown]\n# ```\n# x\n# # no heading\n# ```\n"

    assert ["It waits.", "## Why\nSo.", "### How\nThus."] == [
        it.source for it in parsed(lesson)
    ]
    assert ["```\nx\n# no heading\n```"] == [it.source for it in parsed(quoted)]


def test_a_kernel_sees_no_gpu_and_an_empty_folder_and_gives_whole_texts(built):
    """What a notebook shows depends on nothing that a machine happens to have."""
    cells = nbformat.read(notebook(built, "01_add"), as_version=4).cells

    assert ["one\nand one\n"] == [output.text for output in cells[1].outputs]
    assert "('-1', True)" == cells[4].outputs[0].data["text/plain"]


def test_an_edit_changes_the_id_of_the_edited_cell_only(tmp_path):
    """Ids follow a cell's own text, so a small edit is a small diff."""
    root = course(tmp_path, _01_add=BODY, _02_add=BODY.replace("a + 1", "a + 2"))

    one, two = (convert(path) for path in sorted((root / "lessons").iterdir()))

    changed = [old.id != new.id for old, new in zip(one.cells, two.cells, strict=True)]
    assert [False, False, False, True, False] == changed


def test_equal_cells_have_ids_of_their_own(tmp_path):
    """Two cells with one text differ in their ids, as the format demands."""
    root = course(tmp_path, _01_add="\n# %%\na\n\n# %%\na\n\n# %%\na\n")

    cells = convert(root / "lessons/01_add.py").cells

    assert 4 == len({cell.id for cell in cells})


def test_the_table_says_what_a_first_cell_promises(built):
    """Title, sentence, minutes and needs are one row; links start at the top."""
    row = (
        "| [Add two numbers](notebooks/01_add.ipynb) | add, and then look. | 5 "
        "| [Hands](notebooks/02_hands.ipynb); no GPU |"
    )

    lines = (built / "README.md").read_text().splitlines()

    assert row in lines
    assert ["Top", "<!-- address: begin -->"] == lines[:2]
    assert ["<!-- lessons: end -->", "End"] == lines[-2:]


@pytest.mark.parametrize(
    "gone, lacks",
    [
        ("# # Add", "a title, `# ...`"),
        ("*5 minutes*", "`*25 minutes*`"),
        ("**What you'll do:**", "`**What you'll do:** ...`"),
        ("**What you'll need:**", "`**What you'll need:** ...`"),
    ],
)
def test_a_first_cell_that_lacks_a_part_is_refused(tmp_path, gone, lacks):
    """The message says which lesson, and which part in the very words to write."""
    lesson = course(tmp_path, _01_add="") / "lessons/01_add.py"
    lesson.write_text(FIRST.replace(gone, "# "))

    with pytest.raises(LessonError) as refusal:
        with_table(README, [lesson])

    assert f"lessons/01_add.py: the first cell lacks {lacks}" == str(refusal.value)


def test_a_readme_without_its_marks_is_refused():
    """A table is put between two marks or nowhere."""
    with pytest.raises(LessonError, match="needs <!-- lessons: begin -->"):
        with_table("no marks here", [])


def test_an_unknown_lesson_is_named_with_those_there_are(copied):
    """A slip of the keyboard writes nothing, and tells what could be meant."""
    status, said = build(copied, "14")

    assert 1 == status
    assert "\nno lesson 14; there are: 01_add, 02_hands\n" == said


FAILING = """
# %%
def divided(n):
    return n / 0

# %%
first = 1
divided(first)
"""
DYING = """
# %%
import os
os._exit(1)
"""
FAULTY = """
# %%
import os, sys
print(os.getcwd())

# %%
print("beware", file=sys.stderr)

# %%
object()

# %%
from IPython.display import display
display({"application/vnd.jupyter.widget-view+json": {}}, raw=True)
"""


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """What a build says of three lessons that it cannot store."""
    root = tmp_path_factory.mktemp("bad")
    course(root, _01_failing=FAILING, _02_dying=DYING, _03_faulty=FAULTY)
    for stem in ("01_failing", "02_dying", "03_faulty"):
        notebook(root, stem).write_text("as it was")
    status, said = build(root)
    assert 1 == status
    assert {"as it was"} == {p.read_text() for p in (root / "notebooks").iterdir()}
    return said


@pytest.mark.slow
def test_an_error_is_told_by_its_lesson_cell_line_and_sentence(complaints):
    """An author reads where it went wrong, without a traceback."""
    where = "\nlessons/01_failing.py, cell [2], line 2:\n    divided(first)\n"

    assert f"{where}    ZeroDivisionError: division by zero\n" in complaints


@pytest.mark.slow
def test_a_kernel_that_dies_is_told_by_its_cell(complaints):
    """A lesson that ends its own kernel does not take the build along."""
    assert "\nlessons/02_dying.py, cell [1] ended the kernel\n" in complaints


@pytest.mark.parametrize(
    "fault",
    [
        "cell [1] shows a path of this machine, ",
        "cell [2] writes to stderr, which every reader would see: beware",
        "cell [3] shows an object at 0x",
        "cell [4] shows a widget",
    ],
)
def test_an_output_that_must_not_be_committed_is_refused(complaints, fault):
    """Paths, warnings, addresses and widgets are no part of a page."""
    assert fault in complaints.partition("\nlessons/03_faulty.py, ")[2]


@pytest.mark.slow
def test_a_notebook_that_hangs_is_ended_and_named(tmp_path):
    """An endless loop costs the limit, and no more."""
    root = course(tmp_path, _01_hang="\n# %%\nwhile True: pass\n")
    hanging = convert(root / "lessons/01_hang.py")

    with pytest.raises(LessonError) as refusal:
        complete(execute(hanging, root, limit_s=1))

    assert "cell [1] was still running after 1 s" == str(refusal.value)


STARTED = """
# %%
import os, pathlib, time
pathlib.Path(os.environ["STARTED"]).write_text(str(os.getpid()))
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows sends no interrupt to one process")
def test_an_interrupted_build_leaves_notebooks_and_no_kernel(tmp_path):
    """Ctrl-C ends the kernels, and what was committed stays."""
    root = course(tmp_path, _01_long=STARTED)
    place = notebook(root, "01_long")
    place.write_text("as it was")
    started = tmp_path / "started"
    call = f"from lessons.build import main; raise SystemExit(main([], {str(root)!r}))"

    building = subprocess.Popen(
        [sys.executable, "-c", call],
        env=os.environ | {"PYTHONPATH": str(ROOT), "STARTED": str(started)},
        stderr=subprocess.PIPE,
        text=True,
    )
    kernel = wait_for(lambda: started.exists() and started.read_text())
    building.send_signal(signal.SIGINT)
    said = building.communicate(timeout=30)[1]

    assert (130, "as it was") == (building.returncode, place.read_text())
    assert "interrupted: all that is not named above is unchanged" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(kernel), 0)


def wait_for(question, limit_s=30):
    """The answer to a question, as soon as it is a yes."""
    deadline = time.monotonic() + limit_s
    while not (answer := question()):
        assert time.monotonic() < deadline, "nothing has started"
        time.sleep(0.05)
    return answer


def test_notebooks_are_read_without_a_grammar_of_addresses():
    """What checks addresses takes a second to start, in each process."""
    assert "nbformat" in sys.modules and "lark" not in sys.modules

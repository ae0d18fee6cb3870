"""A lesson, plain Python in percent cells, as a notebook in one fixed form.

Authors write the lesson; `lessons.build` runs and stores what comes out here.
"""

import hashlib
import re
from collections import Counter
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import jupytext
import nbformat
from nbformat import v4

from lessons.publishing.errors import LessonError

METADATA = {
    "kernelspec": {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
PART = re.compile(r"\n+(?=#{1,6} )|(?<=</details>)\n\n+")
FOLDED = "hide-input"  # the tag of a cell that only prepares data, or measures
ANSWER = "answer"  # of a folded cell that readers open once they have guessed
FENCE = "```"  # a line behind one may begin with `#` and be no heading
NEW_CELL = {
    "code": v4.new_code_cell,
    "markdown": v4.new_markdown_cell,
    "raw": v4.new_raw_cell,
}


def lessons_of(root):
    """The lessons of a course, in their order."""
    return sorted(Path(root, "lessons").glob("[0-9][0-9]_*.py"))


def notebook_path(root, lesson):
    """The place where the notebook of a lesson is stored."""
    return Path(root, "notebooks", f"{lesson.stem}.ipynb")


def convert(lesson):
    """The notebook of a lesson, not yet run."""
    return deepcopy(converted(lesson.read_text("utf-8")))


@lru_cache(maxsize=64)  # each page is asked for by those that name it, too
def converted(text):
    """The notebook of a lesson's text: not to be changed, since it is given again."""
    repeats = Counter()
    cells = [canonical_cell(cell, repeats) for cell in parsed(text)]
    below_the_title(cells)
    return v4.new_notebook(cells=cells, metadata=deepcopy(METADATA))


def below_the_title(cells):
    """Move a lesson's first code from the first slide, which alone cannot scroll."""
    first = next((it for it in cells if it.cell_type == "code"), None)
    if first is not None:
        first.metadata["slideshow"] = {"slide_type": "subslide"}


def parsed(text):
    """The cells of a lesson's text."""
    cells = jupytext.reads(text, fmt="py:percent").cells
    return [part for cell in cells for part in parts(cell)]


def parts(cell):
    """A text in parts that begin with its headings: each begins a slide. What follows
    a fold is apart, too, since it would stick to the fold when that is closed.
    """
    if cell.cell_type != "markdown" or FENCE in cell.source:
        return [cell]
    texts = PART.split(cell.source)
    return [v4.new_markdown_cell(it.strip("\n"), metadata=cell.metadata) for it in texts]


def serialise(notebook):
    """The text of a notebook's file: one for each notebook, always."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def named_cells(notebook):
    """Each cell, with its name in messages: its number, or how it begins."""
    number = 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            number += 1
            yield f"cell [{number}]", cell
        else:
            first_line = cell.source.partition("\n")[0]
            yield f"the text `{first_line[:40]}`", cell


def canonical_cell(cell, repeats):
    """A cell with an id of its own, and without what the converter noted."""
    metadata = dict(cell.metadata)
    metadata.pop("lines_to_next_cell", None)
    if cell.cell_type == "markdown":
        metadata["slideshow"] = {"slide_type": slide_type(cell)}
    if FOLDED in metadata.get("tags", []):
        fold(cell, metadata)
    new_cell = NEW_CELL[cell.cell_type]
    new_id = cell_id(cell, repeats)
    return new_cell(source=cell.source, metadata=metadata, id=new_id)


def fold(cell, metadata):
    """Fold a cell's source, but for what it does: the comment in its first line, which
    JupyterLab shows in its place, as the site does. Only an answer holds a kernel.
    """
    first = cell.source.partition("\n")[0]
    is_answer = ANSWER in metadata["tags"]
    if not first.startswith("# ") or "@cuda.jit" in cell.source and not is_answer:
        raise LessonError(
            f"a cell that is folded ({FOLDED}) begins with a comment that says what it "
            f"does, and holds no kernel: {first!r}"
        )
    metadata["jupyter"] = {"source_hidden": True}


def is_folded(cell):
    """Is the source of a notebook's cell folded?"""
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)


def slide_type(cell):
    """Where a text begins among `nbconvert --to slides`: code follows its text."""
    return "slide" if cell.source.startswith("#") else "subslide"


def cell_id(cell, repeats):
    """An id that follows a cell's text, and differs between equal cells."""
    words = f"{cell.cell_type} {cell.source}"
    repeats[words] += 1
    return hashlib.sha256(f"{repeats[words]} {words}".encode()).hexdigest()[:8]

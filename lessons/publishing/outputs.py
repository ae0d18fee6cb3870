"""What may stand in a committed output, and what two builds must show alike.

Not compared: figures, and what a cell tagged `timing` shows.
"""

import json
import re
import sys
import tempfile
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import nbformat

from lessons.publishing.convert import named_cells, serialise

# the pictures of an exploration, which are figures
EXPLORED = re.compile(r"(?<=<div class='lanes-explore'>).*?</script>", re.DOTALL)
WIDGET = "application/vnd.jupyter.widget-view+json"
LONGEST_DIFF = 10  # lines for each cell


def faults(notebook, root):
    """Why a notebook that was run must not be committed, as sentences."""
    return [
        f"{name} {fault}"
        for name, cell in named_cells(notebook)
        for output in cell.get("outputs", [])
        for fault in output_faults(output, root)
    ]


def output_faults(output, root):
    """Why one output must not be committed."""
    text = "\n".join(output_lines(output))
    if output.get("name") == "stderr":
        yield f"writes to stderr, which every reader would see: {output.text.strip()}"
    if WIDGET in output.get("data", {}):
        yield "shows a widget, which is blank without a kernel: use `explore`"
    if path := path_of_this_machine(text, root):
        yield f"shows a path of this machine, {path}: leave out the folder"
    if address := re.search(r" at 0x[0-9a-fA-F]+", text):
        yield f"shows an object{address[0]}, which changes: give it a repr"


def path_of_this_machine(text, root):
    """The first path in a text that starts in a folder of this machine."""
    folders = {Path(root), Path.home(), Path(tempfile.gettempdir())}
    folders |= {Path(sys.prefix), Path(sys.base_prefix)}
    folders |= {folder.resolve() for folder in folders}
    names = "|".join(re.escape(str(it)) for it in folders if it.name)
    found = re.search(rf"(?<![\w.])({names})(?!\w)[^\s'\"<>,;]*", text)
    return found and found[0].rstrip(":.")


def differences(committed_text, fresh):
    """How a committed notebook differs from a fresh one, cell by cell."""
    try:
        committed = nbformat.reads(committed_text, as_version=4)
    except ValueError:
        return ["is not a valid notebook: was a merge left unfinished?"]
    return cell_differences(committed, fresh) or form_differences(
        committed_text, committed, fresh
    )


def without_outputs(text):
    """The text of a notebook's file as if it had not been run."""
    try:
        notebook = nbformat.reads(text, as_version=4)
    except ValueError:
        return text
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return serialise(notebook)


def cell_differences(committed, fresh):
    """How the cells of two notebooks differ: a short diff for each."""
    by_cell = groupby(changed_lines(committed, fresh), itemgetter(0))
    return [f"{name}:\n{shortened(list(lines))}" for name, lines in by_cell]


def changed_lines(committed, fresh):
    """Each line that only one of two notebooks has, beside its cell."""
    old, new = list(compared_lines(committed)), list(compared_lines(fresh))
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seqs([line for _, line in old], [line for _, line in new])
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind != "equal":
            yield from ((name, f"    - {line}") for name, line in old[i1:i2])
            yield from ((name, f"    + {line}") for name, line in new[j1:j2])


def compared_lines(notebook):
    """Each line that two builds must have alike, beside its cell."""
    for name, cell in named_cells(notebook):
        for line in cell_lines(cell):
            yield name, line


def cell_lines(cell):
    """All of a cell that is compared: source, id, metadata, texts shown."""
    yield from cell.source.splitlines()
    yield f"id: {cell.id}"
    metadata = json.dumps(cell.metadata, sort_keys=True)
    yield f"{cell.cell_type} metadata: {metadata}"
    if "timing" not in cell.metadata.get("tags", []):
        for output in cell.get("outputs", []):
            yield from output_lines(output)


def output_lines(output):
    """The lines of an output that are text."""
    texts = {output.name: output.text} if "text" in output else {}
    for kind, text in sorted((texts | output.get("data", {})).items()):
        if not kind.startswith("image/"):
            lines = EXPLORED.sub("", str(text)).splitlines()
            yield from (f"{kind}: {line}" for line in lines)


def form_differences(text, committed, fresh):
    """What two notebooks with equal cells still have different."""
    if text == serialise(committed) and form(committed) == form(fresh):
        return []
    return ["is not as the build saves it: another tool saved it"]


def form(notebook):
    """What belongs to no cell's text: metadata, format, order of the run."""
    counts = [cell.get("execution_count") for cell in notebook.cells]
    version = notebook.nbformat, notebook.nbformat_minor
    return notebook.metadata, version, counts


def shortened(changes):
    """The first lines of a diff, and how many more there are."""
    lines = [line for _, line in changes[:LONGEST_DIFF]]
    if more := len(changes) - len(lines):
        lines.append(f"    ... and {more} more")
    return "\n".join(lines)

"""The index of `work/`: the course's own, with what is done, and what is next.

What is done is read from the learner's notebooks: from which cells were run, and from
what each `check` of an exercise said last.  Standard library only, as work.py, whose
part it is.
"""

import json
import re
from pathlib import Path

NAME = "index.ipynb"
ROW = re.compile(r"\| (?P<link>\[[^]]*\]\((?P<file>\w+\.ipynb)\))")  # of a lesson
EXERCISES = re.compile(r"\[exercises\]\([^)]*\)")
TASK = re.compile(r"^\w+\.check\(", re.MULTILINE)
RIGHT = re.compile(r"^✓ \w+: ", re.MULTILINE)  # as helpers/exercises/verdict.py has it
TITLE = "What is done, and what is next"
CELL = """\
# {}: Shift + Enter looks again
%run ../.make/work.py --show"""


def write(index, work):
    """Write the index of `work/`, made of the course's: one cell, which makes it anew.

    JupyterLab shows Markdown before a cell has run, and opens its links beside it.
    """
    data = {"text/markdown": text(index, work), "text/plain": TITLE}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    cell = {
        "id": "index",
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"jupyter": {"source_hidden": True}},
        "source": CELL.format(TITLE),
        "outputs": [output],
    }
    notebook = json.dumps(dict(read(index), cells=[cell]), indent=1)
    Path(work, NAME).write_text(notebook + "\n", encoding="utf-8")


def text(index, work):
    """The index in Markdown: marks beside its lessons, below its title what is next."""
    title, *tables = (source(cell) for cell in read(index)["cells"])
    lines, ahead, begun = [], [], []
    for line in "\n\n".join(tables).splitlines():
        lesson = ROW.match(line)
        if lesson:
            name = lesson.group("file")
            done, started = state(work, name)
            right, tasks = tried(work, "assignments/" + name)
            ahead += [] if done else [lesson.group("link")]
            begun += [] if done or not started else [lesson.group("link")]
            if right:
                line = EXERCISES.sub(rf"\g<0>: {right} of {tasks}", line)
            line = "| {} {}".format("✓" if done else started, line)
        elif line.startswith("|"):
            line = ("|:---:" if line.startswith("|---") else "| done ") + line
        lines.append(line)
    return "\n".join([title, "", next_of(ahead, begun), ""] + lines)


def next_of(ahead, begun):
    """What is next, of the lessons that are not done and of those of them begun."""
    if not ahead:
        return "**All lessons are done.**"
    return "**{}: {}**".format("Go on" if begun else "Next", (begun or ahead)[0])


def state(work, name):
    """Is a lesson done, and how much of it was run, in words."""
    right, tasks = tried(work, name)
    counts = [it["execution_count"] for it in code(work, name)]
    run = sum(1 for it in counts if it)
    return right == tasks > 0, f"{run} of {len(counts)} cells" if run else ""


def tried(work, name):
    """How many exercises of a notebook are right, and how many it has."""
    cells = [it for it in code(work, name) if TASK.search(source(it))]
    said = ("".join(map(printed, it["outputs"])) for it in cells)
    return sum(1 for it in said if RIGHT.search(it)), len(cells)


def code(work, name):
    """The code cells of a learner's notebook; none of one that is as it was copied."""
    mine, copied = Path(work, name), Path(work, ".as_copied", name)
    try:
        if copied.exists() and mine.read_bytes() == copied.read_bytes():
            return []
        return [it for it in read(mine)["cells"] if it["cell_type"] == "code"]
    except (OSError, ValueError, TypeError, KeyError):  # deleted, or no notebook
        return []


def printed(output):
    """What an output prints."""
    return "".join(output.get("text", ""))


def source(cell):
    """The text of a cell."""
    return "".join(cell["source"])


def read(path):
    """A notebook's file as Python has it."""
    return json.loads(Path(path).read_text("utf-8"))

"""Copy the notebooks to `work/`, where a learner writes: `make lab`, `make fresh`.

Copies have no outputs, since a lesson asks to guess before a cell is run; solutions,
and all with `--outputs`, have them.  What the learner has changed is never overwritten.
A copy whose cells hold what they held, run or not, is updated when the course's cells
change, so that it stays in step with `helpers`; `work/.as_copied/` holds each notebook
of the course as it was then.  Standard library only, and nothing newer than Python 3.6.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import progress

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
SOLUTIONS = NOTEBOOKS / "solutions"
WORK = ROOT / "work"
AS_COPIED = WORK / ".as_copied"
INDEX = NOTEBOOKS / progress.NAME


def main(*arguments):
    """Update `work/` and its index; with --fresh, move it aside and start again, or the
    notebooks that are named.
    """
    options = parser().parse_args(arguments)
    if options.show:
        return show()
    if options.fresh:
        move_aside(options.names)
    copied, kept = bring_up_to_date(options.outputs)
    if options.outputs:
        trust()
    if INDEX.exists():
        progress.write(INDEX, WORK)
    if copied:
        print(f"Notebooks copied to work/: {copied}.")
    if kept:
        print("Yours are kept, though the course has changed:", ", ".join(kept))
        print("`make fresh` gets the course's, and moves yours aside.")
        print("For one of them: make fresh OPTIONS=" + Path(kept[0]).stem)


def parser():
    """The command line."""
    new = argparse.ArgumentParser("python .make/work.py", description=__doc__)
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("--fresh", action="store_true", help="move yours aside first")
    new.add_argument("--outputs", action="store_true", help="copy them with outputs")
    new.add_argument("--show", action="store_true", help="the index, for its notebook")
    new.add_argument("names", nargs="*", help="with --fresh, only these: 14, or a name")
    return new


def show():
    """Show the index anew, in the notebook that it is."""
    from IPython.display import Markdown, display

    display(Markdown(progress.text(INDEX, WORK)))


def move_aside(names):
    """Move the learner's notebooks, of these lessons or all, out of `work/`."""
    mine = [WORK] if WORK.exists() else []
    if names:
        mine = [path for name in names for path in mine_of(name)]
    if mine:
        aside = unused(time.strftime("work-until-%Y-%m-%d-%H%M%S"))
        for path in mine:
            target = aside / path.relative_to(WORK)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        print(f"Your notebooks are now in {aside.name}/.")


def mine_of(name):
    """The learner's notebooks of a lesson, by its name or its number."""
    stems = {path.stem for path in NOTEBOOKS.rglob("*.ipynb")}
    known = sorted(stem for stem in stems if name in (stem, stem.split("_")[0]))
    if not known:
        sys.exit(f"No lesson is called {name}; there are: " + ", ".join(sorted(stems)))
    return sorted(
        path
        for stem in known
        for path in WORK.rglob(stem + ".ipynb")
        if AS_COPIED not in path.parents
    )


def unused(name):
    """A folder of this name that is not there yet, or of a name like it."""
    folder, number = ROOT / name, 1
    while folder.exists():
        number += 1
        folder = ROOT / f"{name}-{number}"
    return folder


def bring_up_to_date(outputs):
    """Copy what is new; how many were copied, and the names that were kept."""
    copied, kept = 0, []
    for path in sorted(NOTEBOOKS.rglob("*.ipynb")):
        if path == INDEX:
            continue
        mine, as_copied = (to / path.relative_to(NOTEBOOKS) for to in (WORK, AS_COPIED))
        wanted = form(path, outputs)
        if not mine.exists() or is_old(path, mine, as_copied, wanted):
            copy(path.read_bytes(), as_copied)
            copy(wanted, mine)
            copied += 1
        elif not same_cells(path, as_copied):
            kept.append(str(path.relative_to(NOTEBOOKS)))
    return copied, kept


def is_old(path, mine, as_copied, wanted):
    """Is a copy to be renewed: nobody's work, and not what the course has now?

    What a learner ran stays as long as the course's cells do.
    """
    if not as_copied.exists() or mine.read_bytes() == wanted:
        return False
    untouched = [as_copied.read_bytes(), without_outputs(as_copied)]
    if mine.read_bytes() in untouched:
        return True
    return same_cells(mine, as_copied) and not same_cells(path, as_copied)


def form(path, outputs):
    """What a copy of a notebook holds: outputs, if it is a solution or they are asked
    for.
    """
    if outputs or path.parent == SOLUTIONS:
        return path.read_bytes()
    return without_outputs(path)


def without_outputs(path):
    """A notebook's file as if it had not been run; all of one that is no notebook."""
    try:
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell.update(outputs=[], execution_count=None)
    except (ValueError, TypeError, KeyError):
        return path.read_bytes()
    text = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True)
    return (text + "\n").encode("utf-8")


def trust():
    """Sign the copies that are the course's to the byte, as `jupyter trust` does.

    JupyterLab shows no SVG of a notebook that nobody signed, but the PNG beside it,
    which is white in the dark theme, too.
    """
    try:
        from nbformat import from_dict, sign
    except ImportError:  # `make fresh`, on a Python without JupyterLab
        return
    notary = sign.NotebookNotary()
    for path in NOTEBOOKS.rglob("*.ipynb"):
        mine = WORK / path.relative_to(NOTEBOOKS)
        if mine.exists() and mine.read_bytes() == path.read_bytes():
            if cells(path) != path.read_bytes():  # it is a notebook
                notary.sign(from_dict(progress.read(mine)))


def same_cells(first, second):
    """Do two notebooks hold the same cells, whatever came out of them?"""
    return second.exists() and cells(first) == cells(second)


def cells(path):
    """The kind and the text of each cell; all of a file that is no notebook."""
    try:
        found = json.loads(path.read_text("utf-8"))["cells"]
        return [(each["cell_type"], "".join(each["source"])) for each in found]
    except (ValueError, TypeError, KeyError):
        return path.read_bytes()


def copy(content, target):
    """Write a file into a folder that may not exist yet."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(
            f"{error.strerror}: {error.filename}\n"
            "Your notebooks need a folder where you may write: copy the course to one."
        )

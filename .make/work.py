"""Copy the notebooks to `work/`, where a learner writes: `make lab`, `make fresh`.

What the learner has changed is never overwritten.  A copy whose cells hold what they
held, run or not, is updated when the course's notebook changes, so that it stays in
step with `helpers`; `work/.as_copied/` holds each notebook as it was copied.  Solutions
stay where they are.  Standard library only, and nothing newer than Python 3.6.
"""

import json
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
SOLUTIONS = NOTEBOOKS / "solutions"
WORK = ROOT / "work"
AS_COPIED = WORK / ".as_copied"


def main(option="", *names):
    """Update `work/`; with --fresh, move it aside and start again, or the notebooks
    that are named.
    """
    if option == "--fresh":
        move_aside(names)
    copied, kept = bring_up_to_date()
    if copied:
        print(f"Notebooks copied to work/: {copied}.")
    if kept:
        print("Yours are kept, though the course has changed:", ", ".join(kept))
        print("`make fresh` gets the course's, and moves yours aside.")
        print("For one of them: make fresh OPTIONS=" + Path(kept[0]).stem)


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


def bring_up_to_date():
    """Copy what is new; how many were copied, and the names that were kept."""
    copied, kept = 0, []
    for path in sorted(NOTEBOOKS.rglob("*.ipynb")):
        mine, as_copied = (to / path.relative_to(NOTEBOOKS) for to in (WORK, AS_COPIED))
        if path.parent == SOLUTIONS or mine.exists() and same_bytes(path, as_copied):
            continue
        if not mine.exists() or same_cells(mine, as_copied):
            copy(path, as_copied)
            copy(path, mine)
            copied += 1
        elif not same_cells(path, as_copied):
            kept.append(str(path.relative_to(NOTEBOOKS)))
    return copied, kept


def same_bytes(first, second):
    """Do two files hold the same bytes?"""
    return second.exists() and first.read_bytes() == second.read_bytes()


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


def copy(source, target):
    """Copy a file into a folder that may not exist yet."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(
            f"{error.strerror}: {error.filename}\n"
            "Your notebooks need a folder where you may write: copy the course to one."
        )

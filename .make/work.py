"""Copy the notebooks to `work/`, where a learner writes: `make lab`, `make fresh`.

What the learner has changed is never overwritten.  An unchanged copy is updated when
the course's notebook changes, so that it stays in step with `helpers`;
`work/.as_copied/` holds each notebook as it was copied.  Solutions stay where they are.
"""

import filecmp
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
SOLUTIONS = NOTEBOOKS / "solutions"
WORK = ROOT / "work"
AS_COPIED = WORK / ".as_copied"


def main(option=""):
    """Update `work/`; with --fresh, move it aside and start again."""
    if option == "--fresh" and WORK.exists():
        aside = ROOT / time.strftime("work-until-%Y-%m-%d-%H%M%S")
        WORK.rename(aside)
        print(f"Your notebooks are now in {aside.name}/.")
    copied, kept = bring_up_to_date()
    if copied:
        print(f"Notebooks copied to work/: {copied}.")
    if kept:
        print("Yours are kept, though the course has changed:", ", ".join(kept))
        print("`make fresh` gets the course's, and moves yours aside.")


def bring_up_to_date():
    """Copy what is new; how many were copied, and the names that were kept."""
    copied, kept = 0, []
    for path in sorted(NOTEBOOKS.rglob("*.ipynb")):
        name = path.relative_to(NOTEBOOKS)
        if path.parent == SOLUTIONS:
            continue
        if (WORK / name).exists() and same(path, AS_COPIED / name):
            continue
        if is_untouched(name):
            copy(path, AS_COPIED / name)
            copy(path, WORK / name)
            copied += 1
        else:
            kept.append(str(name))
    return copied, kept


def is_untouched(name):
    """Has the learner changed nothing in this copy?"""
    return not (WORK / name).exists() or same(WORK / name, AS_COPIED / name)


def same(first, second):
    """Do two files hold the same bytes?"""
    return second.exists() and filecmp.cmp(first, second, shallow=False)


def copy(source, target):
    """Copy a file into a folder that may not exist yet."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


if __name__ == "__main__":
    main(*sys.argv[1:])

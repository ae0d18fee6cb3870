"""Writes what a course hands out: its assignments, and the manifest to mark them by.

Which notebooks there are is the course's to say: an entry point of the group
`thirty_two_lanes.assignments` is a function of names, a seed and points.
"""

from importlib.metadata import entry_points
from pathlib import Path

import nbformat

from helpers.grading.manifest import (
    NAME,
    Manifest,
    ManifestError,
    are_points,
    item_of,
    parse,
)
from helpers.grading.words import many

GROUP = "thirty_two_lanes.assignments"


def release(out, names=(), seed=None, points=(), say=print) -> Manifest:
    """Write the notebooks and the manifest of some assignments into a folder.

    All is checked first: students may have the notebooks of an earlier call.
    """
    out = Path(out)
    made = list(assignments(names, seed, points))
    unknown = [it for it in names if not any(assignments([it], seed, points))]
    if unknown or not made:
        raise ManifestError(f"there is no assignment {', '.join(unknown) or 'at all'}")
    found = {
        name: [item_of(task, task.points) for task in tasks] for name, _, tasks in made
    }
    manifest = Manifest(seed, found)
    require_points(points, manifest)
    require_same(out / NAME, manifest)
    out.mkdir(parents=True, exist_ok=True)
    for name, notebook, _ in made:
        nbformat.write(notebook, out / f"{name}.ipynb")
        total = sum(item.points for item in found[name])
        say(f"{name}: {many(len(found[name]), 'exercise')}, {many(total, 'point')}")
        say("  " + ", ".join(f"{it.exercise} {it.points:g}" for it in found[name]))
    (out / NAME).write_text(manifest.as_json(), "utf-8")
    return manifest


def require_points(points, manifest):
    """Are these points, each of an exercise that is handed out?"""
    known = {it.exercise for items in manifest.assignments.values() for it in items}
    for name, value in points:
        if name not in known:
            raise ManifestError(f"--points: no exercise {name} is in these assignments")
        if not are_points(value):
            raise ManifestError(f"--points: {name} cannot have {value} points")


def require_same(path, manifest):
    """Has an earlier release into this folder the same notebooks, if there is one?"""
    if not path.exists():
        return
    if parse(path).handed_out() != manifest.handed_out():
        raise ManifestError(
            f"{path} is of another seed, other assignments or another version of the "
            "course: choose another folder, or remove it"
        )


def assignments(names, seed, points):
    """The assignments of all courses that are installed here."""
    points_of_entry = entry_points(group=GROUP)
    if not points_of_entry:
        raise ManifestError("no course is installed here: run `make setup`")
    for point in points_of_entry:
        yield from point.load()(names, seed, points)

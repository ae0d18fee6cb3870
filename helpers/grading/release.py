"""Writes what a course hands out: its assignments, and the manifest to mark them by.

Which notebooks there are is the course's to say: an entry point of the group
`thirty_two_lanes.assignments` is a function of names, a seed and points.
"""

from importlib.metadata import entry_points
from pathlib import Path

import nbformat

from helpers.grading.manifest import NAME, Manifest, ManifestError, item_of

GROUP = "thirty_two_lanes.assignments"


def release(out, names=(), seed=None, points=(), say=print) -> Manifest:
    """Write the notebooks and the manifest of some assignments into a folder."""
    found = {}
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for name, notebook, tasks in assignments(names, seed, points):
        nbformat.write(notebook, out / f"{name}.ipynb")
        found[name] = [item_of(task, task.points) for task in tasks]
        total = sum(item.points for item in found[name])
        say(f"{name}: {len(tasks)} exercises, {total:g} points")
    known = {item.exercise for items in found.values() for item in items}
    if not found:
        raise ManifestError(f"there is no assignment {', '.join(names) or 'at all'}")
    if unknown := [name for name in dict(points) if name not in known]:
        raise ManifestError(f"no exercise {', '.join(unknown)} is in these assignments")
    manifest = Manifest(seed, found)
    (out / NAME).write_text(manifest.as_json(), "utf-8")
    return manifest


def assignments(names, seed, points):
    """The assignments of all courses that are installed here."""
    points_of_entry = entry_points(group=GROUP)
    if not points_of_entry:
        raise ManifestError("no course is installed here: run `make setup`")
    for point in points_of_entry:
        yield from point.load()(names, seed, points)

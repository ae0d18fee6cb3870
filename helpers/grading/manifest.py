"""What a course asks for: `manifest.json` beside the notebooks that were handed out."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from helpers.exercises.catalogue import exercise
from helpers.exercises.exercise import Explain, Write
from helpers.exercises.page import parts
from thirty_two_lanes.core.errors import ExplainedError

NAME = "manifest.json"


class ManifestError(Exception):
    """A manifest that cannot be graded by; the message names the place."""


@dataclass(frozen=True)
class AssignmentItem:
    """An exercise of an assignment: `answer` is the name that its answer has, `asked` a
    digest of what the learner was asked and given.
    """

    exercise: str
    answer: str
    kind: str
    points: float
    asked: str


@dataclass(frozen=True)
class Manifest:
    """A course's assignments, each with its exercises, in the variant of a seed."""

    seed: int | str | None
    assignments: dict

    def as_json(self) -> str:
        items = {k: [asdict(it) for it in v] for k, v in self.assignments.items()}
        whole = {"seed": self.seed, "assignments": items}
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"

    def digest(self, assignment) -> str:
        """A digest of all that is asked for in an assignment; "" if it is none here."""
        if assignment not in self.assignments:
            return ""
        rows = [asdict(it) for it in self.assignments[assignment]]
        text = json.dumps([self.seed, rows], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def handed_out(self) -> dict:
        """All that notebooks depend on but for points, to compare."""
        found = {"": self.seed}
        for name, items in self.assignments.items():
            found[name] = [(it.exercise, it.asked) for it in items]
        return found

    def __str__(self):
        """What tells one release from another, in words."""
        seed = "no seed" if self.seed is None else f"the seed {self.seed}"
        return f"{', '.join(self.assignments)} with {seed}"


def item_of(task, points=None) -> AssignmentItem:
    """An exercise as an assignment asks for it, for as many points as are given."""
    name = task.kernel_name if isinstance(task, Write) else task.name
    kind = "explain" if isinstance(task, Explain) else task.kind
    points = task.points if points is None else points
    return AssignmentItem(task.name, name, kind, points, asked_of(task))


def asked_of(task) -> str:
    """A digest of what an exercise tells a learner and gives, but for its points."""
    given = task.given_text if isinstance(task, Write) else ""
    texts = [task.task, *(line for it in parts(task) for line in it.lines), given]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def load(path) -> Manifest:
    """Read and check a manifest; raises ManifestError."""
    path = Path(path)
    path = path / NAME if path.is_dir() else path
    manifest = parse(path)
    for name, items in manifest.assignments.items():
        for item in items:
            require_known(path, name, item, manifest.seed)
    return manifest


def parse(path) -> Manifest:
    """Read a manifest, of this version of the course or another."""
    try:
        data = json.loads(path.read_text("utf-8"))
        seed = data["seed"]
        found = {
            name: [AssignmentItem(**row) for row in rows]
            for name, rows in data["assignments"].items()
        }
    except FileNotFoundError:
        raise ManifestError(f"{path} is not there: `release` writes it") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ManifestError(f"{path} is no manifest: {error!r}") from None
    return Manifest(seed, found)


def require_known(path, assignment, item, seed):
    """Is there such an exercise, and is its answer called so?"""
    try:
        right = item_of(exercise(item.exercise, seed))
    except ExplainedError as error:
        raise ManifestError(f"{path}: {error}") from None
    if (item.answer, item.kind) != (right.answer, right.kind):
        raise ManifestError(
            f"{path}: the answer to `{item.exercise}` in {assignment} is "
            f"`{right.answer}` ({right.kind}), not `{item.answer}` ({item.kind})"
        )
    if item.asked != right.asked:
        raise ManifestError(
            f"{path}: `{item.exercise}` was handed out in other words, or another "
            "variant: grade with the version of the course that released it"
        )
    if not are_points(item.points):
        raise ManifestError(f"{path}: `{item.exercise}` has the points {item.points!r}")


def are_points(value) -> bool:
    """Can an exercise have so many?"""
    return isinstance(value, (int, float)) and math.isfinite(value) and value >= 0

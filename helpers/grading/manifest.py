"""What a course asks for: `manifest.json` beside the notebooks that were handed out."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from helpers.core.errors import ExplainedError
from helpers.exercises.catalogue import exercise
from helpers.exercises.exercise import Explain, Write

NAME = "manifest.json"


class ManifestError(Exception):
    """A manifest that cannot be graded by; the message names the place."""


@dataclass(frozen=True)
class Item:
    """An exercise of an assignment: `answer` is the name that its answer has."""

    exercise: str
    answer: str
    kind: str
    points: float


@dataclass(frozen=True)
class Manifest:
    """A course's assignments, each with its exercises, in the variant of a seed."""

    seed: int | str | None
    assignments: dict

    def as_json(self) -> str:
        items = {k: [asdict(it) for it in v] for k, v in self.assignments.items()}
        whole = {"seed": self.seed, "assignments": items}
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def item_of(task, points=None) -> Item:
    """An exercise as an assignment asks for it, for as many points as are given."""
    name = task.kernel_name if isinstance(task, Write) else task.name
    kind = "explain" if isinstance(task, Explain) else task.kind
    return Item(task.name, name, kind, task.points if points is None else points)


def load(path) -> Manifest:
    """Read and check a manifest; raises ManifestError."""
    path = Path(path)
    path = path / NAME if path.is_dir() else path
    try:
        data = json.loads(path.read_text("utf-8"))
        seed = data["seed"]
        found = {
            name: [Item(**row) for row in rows]
            for name, rows in data["assignments"].items()
        }
    except FileNotFoundError:
        raise ManifestError(f"{path} is not there: `release` writes it") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise ManifestError(f"{path} is no manifest: {error!r}") from None
    for name, items in found.items():
        for item in items:
            require_known(path, name, item, seed)
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
    if not isinstance(item.points, (int, float)) or not item.points >= 0:
        raise ManifestError(f"{path}: `{item.exercise}` has the points {item.points!r}")

"""How tests ask the grader: with short limits, and only where nothing can break.

Under bubblewrap, or in a container of the image that `GRADING_IMAGE` names:

    GRADING_IMAGE=course python -m pytest -m "slow or not slow" tests/grading
"""

import json
import os
from dataclasses import asdict, replace

import pytest

from helpers.exercises.catalogue import exercise
from helpers.grading.manifest import item_of
from helpers.grading.sandbox import isolation
from helpers.grading.sandbox.children import Nursery
from helpers.grading.sandbox.limits import Limits
from helpers.grading.worker import Submitted, grade
from tests.grading.attacks import ONLY_ALONE, SLOW
from tests.quick import slow, turn_of

SHORT = replace(Limits(), wall_s=12, cell_s=2, cpu_s=10)
IMAGE = os.environ.get("GRADING_IMAGE", "")
LEVEL = isolation.level_of(IMAGE)
WHY_NOT = "bubblewrap does not start here; without it the attack would be real"
needs_isolation = pytest.mark.skipif(LEVEL == "process", reason=WHY_NOT)


def marks(*cells, asked=("mirror",), secret="a secret"):
    """The result of a submission with these cells."""
    if LEVEL == "process" and any("os.kill(" in it for it in cells):
        pytest.skip(WHY_NOT)
    items = tuple(asdict(item_of(exercise(name))) for name in asked)
    limits = asdict(SHORT)
    return grade(Submitted(cells, items, None, secret, IMAGE, limits, isolated=False))


def each(attacks, every=1):
    """Attacks by name, with the marks that they need; `make test` tries one in so many,
    which its name decides.
    """
    rows = []
    for name, code in attacks.items():
        row = pytest.param(
            code, id=name, marks=[needs_isolation] if name in ONLY_ALONE else []
        )
        quick = turn_of(name, every) == 0 and name not in SLOW
        rows.append(row if quick else slow(row))
    return pytest.mark.parametrize("code", rows)


def points(result) -> list:
    """The points of a result, in the order of what was asked."""
    return [row["points"] for row in result["exercises"]]


def seen(nursery, expression, before="import os", **limits):
    """What a submission sees: the text of an expression of its own."""
    cells = [before, f"seen = str({expression})"]
    request = {"cells": cells, "answers": ["seen"]}
    answer = nursery.ask(request, replace(SHORT, **limits))
    found = [json.loads(it)["answers"].get("seen") for it in answer["messages"]]
    values = [it["value"] for it in found if it]
    return values[-1] if values else answer["ended"]


def ended(nursery, code, **limits):
    """How a submission of one cell ends, and its messages."""
    request = {"cells": [code], "answers": ["seen"]}
    answer = nursery.ask(request, replace(SHORT, **limits))
    return answer["ended"], [json.loads(it) for it in answer["messages"]]


def nursery_at(level):
    """A nursery of submissions at a level of isolation."""
    new = Nursery("collect", IMAGE)
    new.level = level
    return new

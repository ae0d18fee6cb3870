"""What a cheat who knows the judge would hand in, and what is right and unusual.

`cheats.toml` has a table for each exercise: of kernels, as pairs of old and new in its
answer, with the reason for which one loses points; a right one has none.
"""

import re
import tomllib
from pathlib import Path

import pytest

from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Write
from helpers.exercises.sources import edited
from tests.changed import turn_of
from tests.quick import slow

pytestmark = pytest.mark.slow

TABLE = tomllib.loads(Path(__file__).with_name("cheats.toml").read_text("utf-8"))
EVERY = 6  # one in so many is quick
OWN = {  # what their tiles hold is no copy of an array: what threads made
    *"attention bitonic dot equalise largest last_block letters remainders".split(),
    *"running_maximum sixteen_at_once spread wide_distance".split(),
    *"early_return column_sums".split(),  # whose given lines hold them to a tile
}


def kernels():
    rows = []
    for name, texts in TABLE.items():
        for what, row in texts.items():
            quick = turn_of(f"{name} {what}", EVERY) == 0
            rows.append((name, what) if quick else slow((name, what)))
            assert {"edits", "reason"} >= {*row}, what
    return rows


@pytest.mark.parametrize("name, what", kernels())
def test_a_cheat_loses_points_and_a_right_answer_none(name, what):
    """For the reason beside it; all of them give the right values, or have a race."""
    task, row = exercise(name), TABLE[name][what]
    text = edited(task.answer_text, *row["edits"])

    verdict = task.judge(task.kernel(text), 1)

    assert row.get("reason") == verdict.reason, verdict.text


def with_tiles():
    """The exercises whose answer keeps a copy of an array in shared memory."""
    kinds = exercises().items()
    names = [name for name, kind in kinds if issubclass(kind, Write)]
    tiled = [it for it in names if "shared.array" in exercise(it).answer_text]
    return [it for it in tiled if it not in OWN]


@pytest.mark.parametrize("name", with_tiles())
def test_an_exercise_on_shared_memory_refuses_its_answer_without_a_tile(name):
    """It has such a wrong answer, whose loads go past one tile of it at least."""
    task, cheats = exercise(name), TABLE.get(name, {})
    texts = [text for reason, text in task.wrong_texts().values() if over(reason)]
    texts += [
        edited(task.answer_text, *row["edits"])
        for row in cheats.values()
        if over(row.get("reason", ""))
    ]
    assert any(loads_of_tiles(it) < loads_of_tiles(task.answer_text) for it in texts)


def over(reason) -> bool:
    return reason.startswith("over_budget:")


def loads_of_tiles(text) -> int:
    """How many places of a text name an array in shared memory, and do not store."""
    tiles = re.findall(r"(\w+) = cuda\.shared\.array", text)
    stores = r"(?! = )(?!\[[^\]]*\] = )"
    return sum(len(re.findall(rf"\b{it}\b{stores}", text)) for it in tiles)


def test_who_is_in_the_table_is_an_exercise():
    assert {*TABLE} | OWN <= {*exercises()}

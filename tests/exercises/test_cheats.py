"""What a cheat who knows the judge would hand in, and what is right and unusual.

`cheats.toml` has a table for each exercise: of kernels, as pairs of old and new in its
answer, with the reason for which one loses points; a right one has none.
"""

import re
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.sources import edited
from tests.exercises.kinds import KERNELS
from tests.exercises.rewritten.without_tile import NoCopy, tiles_in, without_tiles

pytestmark = pytest.mark.slow

TABLE = tomllib.loads(Path(__file__).with_name("cheats.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    "name, what", [(name, what) for name, texts in TABLE.items() for what in texts]
)
def test_a_cheat_loses_points_and_a_right_answer_none(name, what):
    """For the reason beside it; all of them give the right values, or have a race."""
    task, row = exercise(name), TABLE[name][what]
    text = edited(task.answer_text, *row["edits"])

    verdict = task.judge(task.kernel(text), 1)

    assert row.get("reason") == verdict.reason, verdict.text


def with_tiles():
    """The exercises whose answer has an array in shared memory."""
    return [it for it in KERNELS if "shared.array" in exercise(it).answer_text]


@pytest.mark.parametrize("name", with_tiles())
def test_an_exercise_on_shared_memory_refuses_its_answer_without_a_tile(name):
    """Without each tile, and without any. What a tile is in the way of may be a race.

    Where it holds no copy, or one at other places, the exercise has such a wrong
    answer of its own, whose loads go past one tile of it at least.
    """
    task = exercise(name)
    reasons = [task.judge(task.kernel(it), 1).reason for it in without_a_tile(task)]

    assert None not in reasons
    if not reasons or not all(over(it) or it == "race" for it in reasons):
        least = loads_of_tiles(task.answer_text)
        assert any(loads_of_tiles(it) < least for it in over_budget(task))


def without_a_tile(task):
    """The answer without each of its tiles, and without any, where that can be made."""
    tiles = tiles_in(task.answer_text, task.kernel_name)
    for some in dict.fromkeys([(it,) for it in tiles] + [(*tiles,)]):
        with suppress(NoCopy):
            yield without_tiles(task.answer_text, task.kernel_name, some)


def over_budget(task) -> list:
    """Its wrong answers that are over a budget."""
    texts = [text for reason, text in task.wrong_texts().values() if over(reason)]
    rows = (
        it for it in TABLE.get(task.name, {}).values() if over(it.get("reason", ""))
    )
    return texts + [edited(task.answer_text, *it["edits"]) for it in rows]


def over(reason) -> bool:
    return reason.startswith("over_budget:")


def loads_of_tiles(text) -> int:
    """How many places of a text name an array in shared memory, and do not store."""
    tiles = re.findall(r"(\w+) = cuda\.shared\.array", text)
    stores = r"(?! = )(?!\[[^\]]*\] = )"
    return sum(len(re.findall(rf"\b{it}\b{stores}", text)) for it in tiles)


def test_the_table_has_kernels_of_exercises_and_nothing_else():
    rows = (row for texts in TABLE.values() for row in texts.values())

    assert {*TABLE} <= {*exercises()}
    assert all({"edits", "reason"} >= {*row} for row in rows)

"""Where blocks are not full, a right answer may do as much as if they were."""

import pytest

from helpers.exercises import sources
from helpers.exercises.catalogue import exercise
from tests.quick import beside

GUARD = "if top + r < a.shape[0] and left + c < a.shape[1]:"
LOADED = "a[top + r, left + c]"
ROW, COLUMN = "min(top + r, a.shape[0] - 1)", "min(left + c, a.shape[1] - 1)"
CLAMPED = {
    "the column": ("if top + r < a.shape[0]:", f"a[top + r, {COLUMN}]"),
    "both": ("if True:", f"a[{ROW}, {COLUMN}]"),
}
DRAWS = [(name, seed) for name in CLAMPED for seed in range(1, 21)]


@pytest.mark.slow
@pytest.mark.parametrize("clamped, seed", beside([("both", 3)], DRAWS))
def test_who_clamps_an_index_and_guards_no_load_is_refused_in_no_draw(clamped, seed):
    """Idle threads load what others do; in the third draw, three of four are idle."""
    task = exercise("pool_windows")
    guard, loaded = CLAMPED[clamped]
    text = sources.edited(task.answer_text, GUARD, guard, LOADED, loaded)

    verdict = task.judge(task.kernel(text), seed)
    assert verdict.reason is None, verdict.text

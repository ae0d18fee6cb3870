"""Floats elsewhere than `numbers` has them: at the ends of their type, or differing
little; whole numbers that are all equal.
"""

import numpy as np
import pytest

from helpers.exercises import sources
from helpers.exercises.catalogue import exercise
from helpers.exercises.drawn.elsewhere import ALIKE, ENDS
from helpers.exercises.drawn.special import with_equal_elements
from helpers.exercises.trials import drawn_trials
from tests.quick import slow

EXPANDED = (
    "dx * dx + dy * dy",
    (
        "tile_p[0, y] ** 2 + tile_q[0, x] ** 2 - 2 * tile_p[0, y] * tile_q[0, x]"
        " + tile_p[1, y] ** 2 + tile_q[1, x] ** 2 - 2 * tile_p[1, y] * tile_q[1, x]"
    ),
)
WRONG = [  # for numbers just beyond those that random ones are
    ("affine", "x[i] +", "min(x[i], float32(1e8)) +", "tail"),
    ("blend", "max(a[i], b[i])", "max(a[i], b[i], float32(-3e38))", "wrong"),
    slow(("mirror", "= a[row, col]", "= max(a[row, col], float32(-1e9))", "tail")),
    slow(("wide_turn", "= four[k]", "= four[k] if abs(four[k]) > 1e-9 else 0", "tail")),
    slow(("distance_matrix", *EXPANDED, "tail")),
    ("last_block", "out[0] = whole", "out[0] = whole\n            {}", "wrong"),
]
LEFT = "cuda.atomic.add(finished, 0, 12345)"


@pytest.mark.parametrize("name, old, new, reason", WRONG)
def test_who_is_right_for_what_is_drawn_alone_is_refused(name, old, new, reason):
    """By a bound on values, by a number that counts as zero, by what cancels, or with
    something else in an array of which the specification says nothing.
    """
    task = exercise(name)
    text = sources.edited(task.answer_text, old, new.format(LEFT))

    for seed in (1, 2, 3):
        found = task.judge(task.kernel(text), seed).reason
        if found:
            break
    assert found == reason


@pytest.mark.parametrize("name", ["affine", "mirror", "row_sums", "cubic"])
def test_floats_are_at_both_ends_and_alike(name):
    """As far out as the specification comes to a number for them."""
    _, alike, ends, *_ = drawn_trials(exercise(name), 3)
    floats = [
        np.concatenate([np.ravel(v) for v in floats_of(it)]) for it in (alike, ends)
    ]
    near, sizes = (np.abs(it) for it in floats)

    assert (ALIKE, ENDS) == (alike.side, ends.side)
    assert near.max() < 1.01 * near[near > 0].min()
    assert sizes.max() > 1e10 and sizes[sizes > 0].min() < 1e-7
    assert all(np.isfinite(it).all() for it in ends.expected.values())


def test_what_is_left_is_told_by_the_first_number_that_differs():
    task = exercise("last_block")
    spoilt = f"out[0] = whole\n            {LEFT}"
    text = sources.edited(task.answer_text, "out[0] = whole", spoilt)

    verdict = task.judge(task.kernel(text), 1)

    assert "in `finished`" in verdict.sentence and verdict.sentence.endswith(" at [0].")


def test_floats_at_the_ends_may_be_added_in_any_order():
    """Two large ones of one sign may come before a third one of the other."""
    task = exercise("row_by_row")

    for seed in range(1, 9):
        src = drawn_trials(task, seed)[2].arguments["src"]
        assert np.isfinite(task.spec(np.abs(src))).all(), seed


def test_floats_at_the_ends_are_finite_among_special_values():
    """Such as equal ones, of which the sum may be too large."""
    task = exercise("rows_of_any_length")

    for seed in range(1, 9):
        with np.errstate(over="raise"):
            found = drawn_trials(task, seed)[2].expected.values()
        assert all(np.isfinite(it).all() for it in found), seed


def floats_of(trial):
    """What `numbers` drew."""
    given = trial.arguments.items()
    kinds = np.ndarray, np.floating
    return [it for k, it in given if isinstance(it, kinds) and k != "weights"]


def test_all_elements_are_equal_where_a_part_of_a_word_counts():
    """Those of which there is something to count."""
    drawn = drawn_trials(exercise("letters"), 1)
    trial = max(drawn, key=lambda it: it.arguments["text"].size)
    found = with_equal_elements(trial)

    assert 1 == len({*found.arguments["text"].tolist()})
    assert trial.size[0] == found.expected["counts"].max()

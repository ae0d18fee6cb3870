"""What predictions earn: their share of what is right."""

import math
from collections import UserDict
from decimal import Decimal
from types import MappingProxyType

import numpy as np
import pytest

from tests.exercises.specimen import Strides


def test_predictions_earn_their_share():
    """All right, one of two, none, and words that are no option."""
    task = Strides()

    assert 2 == task.judge({"sectors": 8, "free": "no"}).points
    half = task.judge({"sectors": 9, "free": "no"})
    assert (0.5, "wrong") == (half.points, half.reason)
    empty = task.judge({"sectors": ..., "free": ...})
    assert (0, "no_answer") == (empty.points, empty.reason)
    for left_out in ({"sectors": 8, "free": ...}, {"sectors": 8, "free": None}):
        assert (0.5, "wrong") == (task.judge(left_out).points, "wrong")
    assert (0.5, "wrong") == (task.judge({"free": "no"}).points, "wrong")
    for number in (np.array([8, 8]), 10**400, Decimal("8.5"), math.nan, 8j, [8]):
        assert 0.5 == task.judge({"sectors": number, "free": "no"}).points
    for number in (np.int8(8), np.float32(8), np.array(8), np.array(8.0), Decimal(8)):
        assert 2 == task.judge({"sectors": number, "free": "no"}).points
    for kind in (MappingProxyType, UserDict):
        assert 2 == task.judge(kind({"sectors": 8, "free": "no"})).points
    with pytest.raises(TypeError, match="keys 'sectors', 'free'"):
        task.judge(np.array([8, 8]))
    with pytest.raises(TypeError, match="one of 'yes', 'no'"):
        task.judge({"sectors": 8, "free": "perhaps"})
    for other in (8, {"sectors": 8, "free": "no", "fee": "no"}):
        with pytest.raises(TypeError, match="keys 'sectors', 'free'"):
            task.judge(other)


def test_a_float_is_right_within_a_hundredth_unless_the_exercise_says_otherwise():
    """A whole number must be exact; a tolerance leaves room for its own rounding."""

    class Share(Strides):
        def truth(self):
            return self.share

    for share, tolerance, right, wrong in (
        (200 / 3, 0, (66.67, 67, 66.1), (68, 65)),
        (0.75, 0.01, (0.74, 0.76), (0.77, 0.73)),
        (50, 0, (50, 50.0), (50.1, 51)),
    ):
        task = Share()
        task.share, task.tolerance = share, tolerance
        assert {2} == {task.judge(it).points for it in right}
        assert {0} == {task.judge(it).points for it in wrong}


def test_a_number_does_not_wrap():
    """The size of the smallest whole number of a type is negative in that type."""

    class Zero(Strides):
        def truth(self):
            return 0

    assert 0 == Zero().judge(np.int8(-128)).points
    assert 2 == Zero().judge(np.uint8(0)).points


@pytest.mark.parametrize(
    "told, shown",
    [("8", "'8'"), ([8], "[8]"), (True, "True"), (None, ""), (9, ""), (Decimal(9), "")],
)
def test_a_prediction_that_is_no_number_is_told_so(told, shown):
    """Whoever writes `[8]` looks for the fault in the number otherwise."""
    sentence = Strides().judge({"sectors": told, "free": "no"}).sentence

    assert bool(shown) == sentence.endswith(f" {shown} is no number.")


def test_a_wrong_prediction_is_told_why():
    """For all, or for the first that is wrong; choices are filled in."""

    class ByName(Strides):
        why = {"free": "Stride $stride costs.", "sectors": "They lie apart."}

    class ForAll(Strides):
        why = "A stride of $stride spreads them."

    wrong = {"sectors": 9, "free": "yes"}
    assert ByName().judge(wrong).sentence.endswith("`sectors`: They lie apart.")
    second = ByName().judge(wrong | {"sectors": 8})
    assert second.sentence.endswith("(free). `free`: Stride 2 costs.")
    assert ForAll().judge(wrong).sentence.endswith("A stride of 2 spreads them.")

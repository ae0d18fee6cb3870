"""The numbers of trials: on a side, whole, of one element changed, moved or exact."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.exercises import trials
from helpers.exercises.arguments import POISON, InOut, Out
from helpers.exercises.reasons import Summand, allowed, beyond
from helpers.exercises.trials import SIDES, Trial, stretched
from tests.exercises.specimen import PairSums

RNG = np.random.default_rng(3)
KINDS = ["float32", "float64", "int8", "int32", "int64", "uint8", "uint32"]


class Ordered(PairSums):
    """Of which the order of two inputs alone matters."""

    ordered = ("a", "b")

    def spec(self, a):
        return a


def ordered(*arrays, side):
    """Two inputs, moved to a side."""
    inputs = dict(zip("ab", arrays, strict=True))
    others = {"out": Out(arrays[0].shape, arrays[0].dtype), "n": 7}
    given = Trial(Ordered(), (3,), inputs | others, "", 1)
    found = stretched(given, side)
    assert 7 == found.arguments["n"]
    return found, [found.arguments[name] for name in "ab"]


def ranks(*arrays):
    return np.unique(np.concatenate(arrays), return_inverse=True)[1].tolist()


@pytest.mark.parametrize("side", SIDES[1:])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_on_a_side_have_the_order_of_those_before(kind, side):
    """And their type; distances are as large as the type has room for, or one."""
    low = 0 if kind[0] == "u" else -20
    a, b = (RNG.integers(low, 20, 30).astype(kind) for _ in "ab")

    found, moved = ordered(a, b, side=side)

    if found.side != side:
        assert (kind[0], side) == ("u", "far below 0") and moved[0] is a
        return
    whole = np.concatenate(moved).astype(float if kind[0] == "f" else object)
    assert {a.dtype} == {it.dtype for it in moved}
    assert ranks(a, b) == ranks(*moved)
    if side == "close together":
        step = np.finfo(kind).eps if kind[0] == "f" else 1
        assert {step} == {*np.diff(np.unique(whole))}
        assert kind[0] == "f" or np.iinfo(kind).max - 1 == max(whole)
        return
    assert (max(whole) < 0) == (side == "far below 0") != (min(whole) > 0)
    info, room = (np.finfo, 16) if kind[0] == "f" else (np.iinfo, 4)
    most = float(info(kind).max)
    assert most / room < max(map(abs, whole)) <= most


def test_numbers_that_fill_their_type_stay_where_they_are():
    """There is no room beside them."""
    full = np.arange(-128, 128).astype(np.int8)

    for side in ("far below 0", "far above 0"):
        found, moved = ordered(full, full, side=side)
        assert "" == found.side and moved[0] is full
    found, moved = ordered(full[1:], full[1:], side="")
    assert "" == found.side and moved[0] is not None


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_numbers_of_a_type_come_first(kind):
    """Where nothing is computed with them: no sentinel is beyond them."""
    a, most = np.arange(5).astype(kind), (np.finfo if kind[0] == "f" else np.iinfo)

    _, (moved, _) = ordered(a, a, side="far above 0")
    assert most(kind).max == moved[-1] and most(kind).max * 0.9 < moved[0]
    _, (moved, _) = ordered(a, a, side="far below 0")
    assert kind[0] == "u" or -most(kind).max == moved[0]


def test_numbers_of_two_types_have_room_in_the_smaller():
    """Far above 0, both are as many times as large; close together, as they were."""
    a, b = np.array([1, 5], np.int8), np.array([3, 4], np.int32)

    _, moved = ordered(a, b, side="far above 0")
    assert ranks(a, b) == ranks(*moved) and 32 < moved[0].max() <= 127
    _, moved = ordered(np.float32(a), np.float64(b), side="close together")
    eps = float(np.finfo(np.float32).eps)
    assert [[1, 1 + 3 * eps], [1 + eps, 1 + 2 * eps]] == [it.tolist() for it in moved]
    _, moved = ordered(np.float32(a), b, side="close together")
    assert moved[0].tolist() == a.tolist() and moved[1] is b


class Changes(PairSums):
    """Three inputs, one of them fixed, and an array that is changed in place."""

    fixed = ("c",)

    def spec(self, a, b, c, d):
        return {"out": a * 1.0, "d": d + b.size}


def trial(size, n=12):
    names = {name: RNG.normal(size=n) for name in "abc"}
    names["b"] = RNG.normal(size=size)
    return Trial(
        Changes(), (n,), {"out": Out(n), **names, "d": InOut(np.zeros(n))}, "even", 3
    )


def test_an_output_is_moved_where_it_holds_what_was_given():
    """Or 0; not where anything is computed; of whole numbers nothing is said."""
    given = trial((3, 4))

    assert {"out"} == given.moved
    assert {"out": 0, "d": None} == {name: given.rtol(name) for name in ("out", "d")}
    given.task.rtol = 1e-3
    assert 1e-3 == given.rtol("out")
    del given.task.rtol


@pytest.mark.parametrize(
    "values, kind, whole",
    [
        ([1.0, -8.0], "f4", True),
        ([1.5], "f8", False),
        ([2.0**23 - 1], "f4", True),
        ([2.0**23], "f4", False),
        ([2.0**23], "f8", True),
        ([], "f4", True),
        ([3], "i4", False),
    ],
)
def test_floats_are_exact_where_sums_of_them_can_be(values, kind, whole):
    """Whole, and small enough for the type of the output."""
    values = np.array(values)
    of_type = np.zeros(values.shape, kind)
    made = SimpleNamespace(expected={"out": values}, held=lambda: {"out": of_type})

    assert whole == (trials.whole_outputs(made) == {"out"})


def test_an_argument_is_held_as_a_copy_and_an_output_as_unwritten():
    """What a launch changes, the next one finds as it was."""
    a = np.asfortranarray(RNG.normal(size=(3, 4)))
    held = trials.held_by(Out((2, 3), "i4"))

    assert ((2, 3), np.dtype("i4")) == (held.shape, held.dtype)
    assert {POISON} == set(held.tobytes())
    for argument in (a, InOut(a)):
        copy = trials.held_by(argument)
        assert copy.flags.f_contiguous and not np.shares_memory(copy, a)
        np.testing.assert_array_equal(a, copy)
        np.testing.assert_array_equal(a, trials.plain(argument))
    assert 3 == trials.held_by(3) == trials.plain(3)


PARTS = [Summand(2, "on line 3"), Summand(1200, "on line 5"), Summand(1, "on line 7")]


@pytest.mark.parametrize(
    "parts, limit, enough, told",
    [
        (PARTS, 1203, None, ""),
        (
            PARTS,
            1202,
            None,
            "1,203 loads, and 1,202 are allowed; 1,200 of them on line 5.",
        ),
        (
            PARTS,
            1,
            1,
            "1,203 loads, and 1 is allowed; 1 is enough; 1,200 of them on line 5.",
        ),
        (
            PARTS[:1],
            1.5,
            2,
            "2 loads, and 1.5 are allowed; 2 are enough; 2 of them on line 3.",
        ),
        ([Summand(2)], 0, None, "2 loads, and none is allowed."),
        ([], 0, None, ""),
    ],
)
def test_what_is_over_a_limit_is_told_with_its_largest_part(parts, limit, enough, told):
    """And with what is enough, where the limit is more than that."""
    assert told == beyond(iter(parts), limit, "{:,} loads", enough=enough)
    assert "2 are allowed" == allowed(2.0)

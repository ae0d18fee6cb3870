"""The sizes that are beyond what a kernel counts, and numbers that are whole."""

from math import ceil, prod
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.exercises import sizes, sources
from helpers.exercises.arguments import InOut, full, numbers
from helpers.exercises.bounds import numbers as numbers_of_a_kernel
from helpers.exercises.trials import SMALL, whole
from tests.exercises.specimen import PairSums


class Planes(PairSums):
    """Two axes, in multiples of 4; blocks of 64 threads lie along the second."""

    even, ragged = ((8, 128),), ((4, 60), (12, 64))
    limits, multiple = (None, None), 4

    def launch(self, rows, columns):
        return (ceil(columns / 64), rows), 64


LARGEST = {PairSums: (256,), Planes: (12, 128)}
SIZES = {PairSums: [(600,)], Planes: [(32, 128), (12, 300)]}  # larger along one axis
CASES = [(kind, size) for kind, several in SIZES.items() for size in several]


def outcome(size, each=1, busiest=300):
    """What a kernel did at a size: elements for each cell, instructions of a block."""
    balance = SimpleNamespace(busiest_block=busiest)
    return SimpleNamespace(
        trial=SimpleNamespace(size=size),
        held={"out": np.zeros(each * prod(size), np.int8), "n": 3},
        run=SimpleNamespace(balance=balance),
    )


def far(kind, size, counted=(), bounds=(), seed=1, **did):
    """The far size beyond some numbers, along the axis of a size that is larger."""
    own = numbers_of_a_kernel.OwnNumbers({1, *counted, *bounds}, set(bounds))
    return sizes.far_size(kind(), seed, own, outcome(size, **did), listed=300)


@pytest.mark.parametrize("kind, size", CASES)
@pytest.mark.parametrize("number", [5, 12, 48, 300, 5000])
def test_a_far_size_is_beyond_all_that_a_number_may_count(kind, size, number):
    """Elements, blocks and turns, where that is affordable; and not much beyond."""
    axis = int(np.greater(size, LARGEST[kind]).argmax())
    units = sizes.units_along(kind(), axis)
    reach = min(100 * size[axis], sizes.FARTHEST)  # 30,000 instructions of 300
    counts = [it * unit for it in (1, number) for unit in units]
    counts = [it for it in counts if size[axis] <= it <= reach]

    drawn = [far(kind, size, {number}, seed=seed) for seed in range(20)]

    for found in drawn if counts else ():
        assert max(counts) < found[axis] <= max(counts) + 2 * LARGEST[kind][axis] + 8
        assert all(0 < it and it % kind.multiple == 0 for it in found)
        assert np.less_equal(np.delete(found, axis), np.delete(size, axis)).all()
    assert bool(counts) == (drawn[0] is not None) == (len(set(drawn)) > 1)


def test_a_block_and_a_turn_are_counted_where_they_lie_along_an_axis():
    """A row of blocks has 64 threads a turn; one grid of them all that it has."""
    assert {1, 64, 256} == sizes.units_along(PairSums(), 0)
    assert ({1, 64}, {1, 64}) == tuple(sizes.units_along(Planes(), it) for it in (0, 1))


@pytest.mark.parametrize("did, least", [({}, 65_000), ({"busiest": 3000}, 50_000)])
def test_beyond_a_number_that_is_compared_sizes_go_farther(did, least):
    """Unless the work of a block grows with the size, or there would be too much."""
    (found,) = far(PairSums, (600,), bounds={least}, **did)

    assert least < found <= least + 256
    assert far(PairSums, (600,), {least}, **did) is None
    assert far(PairSums, (600,), bounds={70_001}, **did) is None
    assert far(PairSums, (600,), bounds={60_001}, busiest=3000) is None
    assert far(PairSums, (600,), bounds={20_000}, each=8) is None


def test_a_far_size_has_no_more_threads_than_there_is_time_for():
    """Fewer rows, and then a smaller number."""

    class Wide(PairSums):
        def launch(self, n):
            return n, 64  # threads, of which few have work

    below, above = sizes.THREADS // 64 - 100, sizes.THREADS // 64 + 100
    (found,) = far(Wide, (600,), {below, above})
    assert below < found < above
    assert above < far(Wide, (600,), {below}, {above})[0]


@pytest.mark.parametrize("number, rows", [(3000, 12), (16_000, 8), (60_000, 4)])
def test_a_far_size_is_so_small_along_the_others_that_it_stays_quick(number, rows):
    """140,000 elements in all, or as few rows as there may be."""
    found = far(Planes, (12, 300), bounds={number})

    assert rows == found[0] and found[1] > number
    assert rows == 4 or np.prod(found) <= sizes.MOST


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(-1, 1, 9),
        1000 + np.arange(9.0),
        np.array([0.0, 1e-30, -1e30, 2.5], np.float32),
        -np.linspace(0.5, 0.51, 40),
        np.zeros(3),
    ],
)
def test_whole_numbers_vary_and_have_the_signs_of_those_before(values):
    """However close together those are; of the same type."""
    found = whole(values)

    assert values.dtype == found.dtype
    np.testing.assert_array_equal(np.sign(values), np.sign(found))
    np.testing.assert_array_equal(np.rint(found), found)
    assert np.abs(found).max(initial=0) <= SMALL
    assert (len(np.unique(found)) > 1) == (len(np.unique(values)) > 1)
    np.testing.assert_array_equal(whole(InOut(values)).array, found)


@pytest.mark.parametrize("number, told", [(0.2, 1), (-2.5, -3), (99.5, 8), (0.0, 0)])
def test_a_number_alone_becomes_the_next_whole_one(number, told):
    """And none that is large."""
    found = whole(np.float32(number))

    assert told == found and np.float32 is type(found)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64"])
def test_whole_numbers_fill_a_type_where_it_has_room(kind):
    """A quarter of it or an eighth, which a narrower type or a float would lose; and
    half of a small one or more.
    """
    found = numbers(np.random.default_rng(1), kind, -100, 50, 1000)
    most = np.abs(found.astype(float)).max()

    times = 4 if np.dtype(kind).itemsize <= 2 else 1
    assert 2**-3 * 0.9 < most / times / np.iinfo(kind).max <= 2**-2
    assert [1.5, 0.25] == full("f4", [1.5, 0.25]).tolist()
    assert [0, 0] == full("i4", [0, 0]).tolist()


def test_one_line_of_many_alike_is_one_that_differs():
    """Of a long text, too, in which most lines are the same."""
    given = ["a += 1", "b += 1"] * 200
    mine = given[:250] + ["c = 0"] + given[251:]

    assert (1, 0) == (sources.different(given, mine), sources.different(given, given))

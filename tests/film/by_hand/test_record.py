"""A film as plain data: numbers, lanes and arrays as JSON and JavaScript hold them."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from thirty_two_lanes.film.arrays import FilmArray, plain
from thirty_two_lanes.film.record import EXACT, Patterns, _array, as_json, bits


@pytest.mark.parametrize(
    "value, told",
    [
        (1.5, 1.5),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (-float("inf"), "-inf"),
        (True, 1),
        (False, 0),
        (EXACT, EXACT),
        (-EXACT, -EXACT),
        (EXACT + 1, "9007199254740993"),
        (-EXACT - 1, "-9007199254740993"),
        (None, None),
        ("(1+2j)", "(1+2j)"),
    ],
)
def test_a_number_is_what_every_reader_of_json_understands(value, told):
    """Whole ones up to 2**53 are exact in JavaScript; larger ones are their digits."""
    found = as_json(value)

    assert (type(told), told) == (type(found), found)
    assert told == json.loads(json.dumps(found, allow_nan=False))
    assert not isinstance(told, int) or told is not None and float(told) == told


@pytest.mark.parametrize(
    "values, told",
    [
        (np.float32([0.1, 2]), [0.1, 2.0]),
        (np.float16([0.1]), [0.1]),
        (np.float64([0.1]), [0.1]),
        (np.complex64([1 + 2j]), ["(1+2j)"]),
        (np.int8([[1, 2], [3, 4]]), [1, 2, 3, 4]),
    ],
)
def test_numpys_numbers_have_as_few_digits_as_tell_them_apart(values, told):
    """A float32 of 0.1 is 0.1, and becomes the same float32 again."""
    assert told == plain(values)
    if values.dtype.kind == "f":
        np.testing.assert_array_equal(values, np.array(plain(values), values.dtype))


def test_lanes_are_the_bits_of_a_number():
    """The last one is the highest."""
    lanes = np.random.default_rng(1).random((20, 32)) < 0.5

    for each in (*lanes, np.ones(32, bool), np.zeros(32, bool)):
        assert int("".join("01"[int(it)] for it in each[::-1]), 2) == bits(each)


def test_patterns_are_cells_from_the_lowest_on_each_kept_once():
    """Lanes that take no part have none, whatever is in their place."""
    patterns, all_lanes = Patterns(), np.ones(32, bool)
    cells, some = np.arange(32), np.arange(32) % 2 == 1

    assert (0, 0) == patterns.number(cells, all_lanes)
    assert (0, 7) == patterns.number(cells + 7, all_lanes)
    assert (1, 8) == patterns.number(cells + 7, some)
    assert (1, 1) == patterns.number(np.where(some, cells, -9), some)
    assert [[*range(32)], [None if n % 2 == 0 else n - 1 for n in range(32)]] == (
        patterns.listed()
    )


def of_memory(view, space="global", **more):
    """A film's array over a view of memory, as a launch tells of it."""
    whole = view.base if view.base is not None else view
    memory = SimpleNamespace(
        address=whole.ctypes.data, step=8, scale=1, place=None, flat=whole.ravel()
    )
    about = {"name": "a", "space": space, "dtype": view.dtype, "shape": view.shape}
    first = view.ctypes.data
    return FilmArray(
        **about, first=first, strides=view.strides, memory=memory, place=0, **more
    )


BASE = np.arange(120.0)
VIEWS = {
    "whole": BASE,
    "backwards": BASE[::-1],
    "every third": BASE[5::3],
    "matrix": BASE.reshape(10, 12),
    "transposed": BASE.reshape(10, 12).T,
    "a part": BASE.reshape(10, 12)[2:7, 3:9],
    "mirrored": BASE.reshape(10, 12)[::-1, ::-2],
    "cube": BASE.reshape(4, 5, 6)[:, ::2, ::-1],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_cell_is_where_numpy_has_it(name):
    """Each address has its flat index in C order, and none outside of the view; what
    is there is what NumPy finds.
    """
    view = VIEWS[name]
    array = of_memory(view)
    within = BASE.ctypes.data + np.arange(960)
    starts = BASE.ctypes.data + 8 * np.arange(-3, 123)
    numbers = np.full(starts.shape, -1)
    numbers[np.ravel(view).astype(int) + 3] = np.arange(view.size)

    np.testing.assert_array_equal(numbers, array.cells_at(starts))
    of_bytes = np.repeat(numbers[3:-3], 8)  # each of an element's
    np.testing.assert_array_equal(of_bytes, array.cells_at(within))
    assert view.ravel().tolist() == array.look(np.arange(view.size)).tolist()
    assert (
        view.flags.c_contiguous
        == array.is_contiguous
        == ("strides" not in _array(array))
    )
    assert view.size == array.size


@pytest.mark.parametrize("name", ["whole", "transposed"])
def test_of_a_small_array_all_is_met_and_of_a_large_one_what_is_touched(name):
    """What nobody wrote is nothing; shared memory holds nothing at first."""
    view = VIEWS[name]
    marks = np.arange(view.size) % 2 == 0
    small, shared = of_memory(view, unwritten=marks), of_memory(view, "shared")
    large = of_memory(np.zeros(2000))

    for array in (small, shared, large):
        array.meet(np.array([3, 5, 3]))
    values = view.ravel().tolist()
    assert {
        n: None if n % 2 == 0 else it for n, it in enumerate(values)
    } == small.initial
    assert {3: None, 5: None} == shared.initial
    assert {3: 0.0, 5: 0.0} == large.initial == large.now
    large.now[3] = 9.0
    large.meet(np.array([3, 4]))
    assert ({3: 9.0, 4: 0.0, 5: 0.0}, 0.0) == (large.now, large.initial[3])
    assert [None if n % 2 == 0 else it for n, it in enumerate(values)] == (
        _array(small)["initial"]
    )
    assert {"only": {"3": 0.0, "4": 0.0, "5": 0.0}} == _array(large)["initial"]
    assert _array(shared)["initial"] is None


def test_an_array_that_is_spread_out_has_the_cells_of_one_element():
    """All of its indices are at one address, and no other address is in it."""
    one = of_memory(np.broadcast_to(BASE[4:5], (3, 5)))
    addresses = BASE.ctypes.data + np.array([24, 32, 39, 40])

    assert [False, True, True, False] == (one.cells_at(addresses) >= 0).tolist()

"""The replay and the histories of a film, on a record made by hand, and its numbers."""

import numpy as np
import pytest
from numba import cuda

from helpers import watch
from tests.film.hand_made import (
    BARRIER,
    FILL,
    READ,
    TILE,
    WARP,
    WRITE,
    Y,
    record,
    replayed,
)
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.film.history import block_number, cell_number, cells_of, values_of
from thirty_two_lanes.film.replay import frames

RECORD = record()
BLOCK = RECORD["block"]


def test_each_frame_is_what_plain_python_replays():
    """Cells, and which threads wait or have left."""
    steps = range(len(RECORD["steps"]))

    for frame in frames(RECORD, steps):
        expected = replayed(RECORD, frame.step)
        waits = {n for n, it in enumerate(frame.ends) if it in ("barrier", "pass")}
        assert expected["cells"] == frame.cells
        assert expected["waiting"] == waits
        assert expected["done"] == {
            n for n, it in enumerate(frame.ends) if it == "leave"
        }
    assert len(steps) - 1 == frame.step


@pytest.mark.parametrize("thread", [0, 3, 4, 31, 32, 33, 63])
def test_a_variable_has_a_row_for_each_time_it_was_given_a_value(thread):
    """In the steps of the thread's warp in which its lane is active."""
    found = values_of(RECORD, "value", thread)

    taken, before = [], "unset"
    for n, step in enumerate(RECORD["steps"]):
        now = replayed(RECORD, n)["values"]["value"].get(thread, "unset")
        here = step["w"] == thread // WARP and step["m"] >> thread % WARP & 1
        if here and "value" in step.get("v", ()) and (now != before or now == "nan"):
            taken.append((n + 1, step["l"], now))
        before = now
    assert taken == [*found]
    assert found.rows == values_of(RECORD, "value", (thread % 8, thread // 8)).rows


@pytest.mark.parametrize("cell", [0, 5, 31, 32, 63])
def test_a_cell_has_a_row_for_each_thread_that_touches_it(cell):
    """The tile is filled and read before the barrier, `y` is written behind it."""
    row, column = divmod(cell, 8)
    reader = column * 8 + row  # the matrix is read by columns

    tile = cells_of(RECORD, "tile", (row, column))
    (written,) = cells_of(RECORD, "y", (cell,))

    rows = {(line, thread, does) for _, _, line, thread, does, _ in tile}
    assert {(FILL, cell, "stores"), (READ, reader, "loads")} == rows
    assert {0} == {barriers for _, barriers, *_ in tile}
    end = replayed(RECORD, len(RECORD["steps"]) - 1)["cells"]
    assert (1, WRITE, cell, "stores", end[Y][cell]) == written[1:]
    filled = next(it for it in tile if it[4] == "stores")
    assert end[TILE][cell] == filled[5]
    (read,) = [it for it in tile if it[4] == "loads"]
    assert (None if read[0] < filled[0] else filled[5]) == read[5]


def test_threads_that_do_the_same_are_told_as_a_range():
    """A value that nobody has written is a word; a wait is no access."""
    text = repr(cells_of(RECORD, "tile", (4, 0)))

    assert f"{READ}    4       loads   unwritten" in text
    assert str(BARRIER) not in text


@pytest.mark.parametrize(
    "kind, does",
    [
        ("load", "loads"),
        ("store", "stores"),
        ("atomic", "updates"),
        ("copy", "copies"),
    ],
)
def test_an_access_has_its_verb(kind, does):
    """Also one that arrives later, and one that is a single step."""
    film = record()
    (access,) = (it for step in film["steps"][-1:] for it in step["a"])
    access["k"] = kind

    (row,) = cells_of(film, "y", (63,))

    assert does == row[4]


@pytest.mark.parametrize("shape", [(1,), (5,), (3, 4), (2, 3, 4)])
def test_a_cell_s_number_is_that_of_numpy_s_order(shape):
    """An index from the end counts from there, and all may be given as one tuple."""
    numbers = np.arange(np.prod(shape)).reshape(shape)
    array = {"name": "a", "shape": [*shape]}

    for index in np.ndindex(shape):
        back = tuple(i - n for i, n in zip(index, shape, strict=True))
        for given in (index, back, (index,)):
            assert numbers[index] == cell_number(array, given)
        assert numbers[index] == cell_number(array, tuple(map(np.int64, index)))


@pytest.mark.parametrize(
    "index", [(), (3, 0), (-4, 0), (0, 4), (0, -5), (0,), (0, 0, 0), (0.0, 0), ("0", 0)]
)
def test_what_is_no_cell_is_refused(index):
    """Of an array of 3 × 4."""
    with pytest.raises(ArgumentError, match="`a` has 3 × 4 cells: give an index for"):
        cell_number({"name": "a", "shape": [3, 4]}, index)


def test_the_only_cell_of_an_array_without_axes_has_a_history():
    """As if it had one axis."""

    @cuda.jit
    def doubles(a, others):
        a[()] *= 2
        others[0] = 1

    film = watch(doubles)[1, 1](np.array(3.0), np.zeros(2))

    rows = [row[4:] for name in ("a", "others") for row in film.cells(name, 0)]
    assert [("loads", 3.0), ("stores", 6.0), ("stores", 1.0)] == rows


def test_a_block_is_a_number_or_a_place_that_counts_along_x_first():
    """As CUDA counts; y and z may be left out."""
    grid = 2, 3, 4
    places = np.ndindex(grid[::-1])

    for number, place in enumerate(places):
        assert number == block_number(number, grid) == block_number(place[::-1], grid)
    assert (1, 5) == (block_number((1,), grid), block_number((1, 2), grid))


@pytest.mark.parametrize(
    "block", [24, -1, (2, 0, 0), (0, 3), (0, 0, 4), (0, 0, 0, 0), (), 1.0, "0", (0, -1)]
)
def test_what_is_no_block_is_refused(block):
    """Of a grid of 2 × 3 × 4."""
    with pytest.raises(ArgumentError, match=r"24, from 0 to 23, or .* to \(1, 2, 3\)"):
        block_number(block, (2, 3, 4))

"""The figures of rounds and of tiles in their order, held to the loops they show."""

import numpy as np
import pytest

from helpers import plotting
from tests.plotting.figures import hexadecimal, written
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError


def test_a_block_of_fewer_rows_comes_back():
    """Each element has the row of threads that takes it; the squares are five apart."""
    ax = plotting.plot_rounds(4, 2, (1, 1)).axes[0]

    whole, rounds = written(ax, 0, 0, 4, 4), written(ax, 9, 0, 4, 4)
    assert [[row] * 4 for row in range(4)] == whole.tolist()
    assert [[row % 2] * 4 for row in range(4)] == rounds.tolist()


def test_a_threads_elements_are_those_of_its_loop():
    """Thread (1, 1) has row 1, and in blocks of two rows also row 3."""
    ax = plotting.plot_rounds(4, 2, (1, 1)).axes[0]

    own = [it for it in ax.patches if style.LOAD == hexadecimal(it.get_edgecolor())]
    places = {(it.get_y(), it.get_x()) for it in own}
    assert {(1, 1), *((row, 9 + 1) for row in range(1, 4, 2))} == places


def test_it_says_who_takes_what():
    """The text alternative carries the picture's numbers."""
    assert (
        "A square of 4 × 4 elements. A block of 4 × 4 threads takes all of it at once, "
        "each thread one element. A block of 4 × 2 threads takes it in 2 rounds of "
        "2 rows: its thread (1, 1) has those of column 1 in rows 1, 3."
    ) == plotting.plot_rounds(4, 2, (1, 1)).alt


@pytest.mark.parametrize(
    "arguments, said",
    [
        ((8, 3), "3 rows of threads do not fill a square of 8 rows in whole rounds"),
        ((8, 2, (3, 2)), r"a block of 8 × 2 threads has no thread \(3, 2\)"),
    ],
)
def test_rounds_that_do_not_fit_are_refused(arguments, said):
    """The error says what to give instead."""
    with pytest.raises(ArgumentError, match=said):
        plotting.plot_rounds(*arguments)


@pytest.mark.parametrize("down", [False, True])
def test_a_tile_of_dst_has_the_block_of_its_turned_place(down):
    """src has 2 × 3 tiles, and dst begins five boxes further on."""
    ax = plotting.plot_tile_order((2, 3), 4, down).axes[0]

    src = np.arange(6).reshape(3, 2).T if down else np.arange(6).reshape(2, 3)
    assert src.tolist() == written(ax, 0, 0, 2, 3).tolist()
    assert src.T.tolist() == written(ax, 8, 0, 3, 2).tolist()


def test_the_blocks_that_run_are_strong_on_both_sides():
    """They load from one side and store to the other."""
    ax = plotting.plot_tile_order((2, 3), 4).axes[0]

    edges = [hexadecimal(it.get_edgecolor()) for it in ax.patches]
    assert 4 == edges.count(style.LOAD) == edges.count(style.STORE)


def test_an_order_is_told_in_words():
    """Block 1 tells which way the blocks go."""
    assert (
        "A matrix of 2 × 3 tiles. Blocks take them column by column of src, so those "
        "that run at one time load from tiles of a column of src and store to tiles of "
        "a row of dst: block 1 loads tile (1, 0) and stores tile (0, 1)."
    ) == plotting.plot_tile_order((2, 3), 4, down=True).alt

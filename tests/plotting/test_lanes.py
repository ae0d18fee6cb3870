"""Figures of a warp's lanes: what they ask for and give, held to the emulator."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate, plotting

LANES = range(32)


@cuda.jit
def copy(dst, src, offset, stride):
    """Each lane loads an element that is `stride` after its neighbour's."""
    lane = cuda.threadIdx.x
    dst[lane] = src[offset + stride * lane]


@pytest.mark.parametrize("offset, stride", [(0, 1), (1, 1), (0, 2), (3, 8), (0, 33)])
def test_lanes_stand_above_as_many_sectors_as_the_emulator_counts(offset, stride):
    """A faint box is a sector, and a strong one what a lane asks for."""
    src = np.zeros(2048, np.float32)
    run = emulate(copy)[1, 32](np.zeros(32, np.float32), src, offset, stride)
    load = run.coalescing.by_kind["load"]
    addresses = [4 * (offset + stride * lane) for lane in LANES]

    ax = plotting.plot_requests({"copy": addresses}).axes[0]

    memory = [it for it in ax.patches if it.get_y() > 1]
    widest = max(it.get_width() for it in memory)
    sectors = [it for it in memory if it.get_width() > 0.9 * widest]
    assert load.sectors == len(sectors)
    assert 32 == len(memory) - len(sectors) == len(ax.lines)
    for line, lane in zip(ax.lines, LANES, strict=True):
        assert lane + 0.5 == line.get_xdata()[0]


def test_the_sectors_of_a_line_lie_closer_than_those_of_two():
    """Five sectors from the second element on: the last is of the next line."""
    ax = plotting.plot_requests({"": [4 * lane + 4 for lane in LANES]}).axes[0]

    sectors = [it for it in ax.patches if it.get_width() > 5]
    ends = [(it.get_x(), it.get_x() + it.get_width()) for it in sectors]
    gaps = [after[0] - before[1] for before, after in zip(ends, ends[1:], strict=False)]
    assert 4 == len(gaps)
    assert 3 * [pytest.approx(gaps[0])] == gaps[:3]
    assert gaps[3] > 2 * gaps[0] > 0
    assert ["line 0", "line 1"] == [
        it.get_text() for it in ax.texts if it.get_text().startswith("line")
    ]


def test_a_lane_that_asks_for_nothing_has_no_line():
    """It has no number, either."""
    ax = plotting.plot_requests({"": [None, 4, *[None] * 30]}).axes[0]

    assert 1 == len(ax.lines)
    assert ["1"] == [it.get_text() for it in ax.texts if it.get_text().isdigit()]


SENTENCES = {
    "two requests": (
        lambda: plotting.plot_requests(
            {"columns": [4 * lane for lane in LANES], "rows": [0, 128]}, kind="store"
        ),
        "columns: 32 lanes store 4 bytes each, stride 1: 4 sectors in 1 line, "
        "128 bytes move and 128 of them are asked for; rows: 2 lanes store 4 bytes "
        "each, stride 32: 2 sectors in 2 lines, 64 bytes move and 8 of them are asked "
        "for.",
    ),
}


@pytest.mark.parametrize(("plot", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_a_picture_of_lanes_says_what_it_shows(plot, sentence):
    """The text alternative carries the picture's numbers."""
    assert sentence == plot().alt

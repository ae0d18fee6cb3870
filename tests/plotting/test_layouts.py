"""Figures of where things lie, held to what NumPy makes of the same."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate, plotting
from tests.plotting.figures import hexadecimal, written
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.wavefronts import request_wavefronts
from thirty_two_lanes.core.words import counted


@pytest.mark.parametrize("shared", [True, False])
def test_a_tile_is_where_numpys_transpose_has_it(shared):
    """src is 4 × 6, so dst is 6 × 4, at the right."""
    src = np.full((4, 6), -1)
    src[2:4, 4:6] = [[0, 1], [2, 3]]

    ax = plotting.plot_tile_move(2, 4, 2, (4, 6), 1, shared).axes[0]

    start = 6 + 3 + 5 * shared
    assert src.tolist() == written(ax, 0, 0, 4, 6).tolist()
    assert src.T.tolist() == written(ax, start, 0, 6, 4).tolist()


@pytest.mark.parametrize(
    "shared, stored", [(True, {(5, 2), (5, 3)}), (False, {(4, 3), (5, 3)})]
)
def test_a_warp_stores_side_by_side_only_through_shared_memory(shared, stored):
    """Without it, what it loads side by side becomes a column."""
    ax = plotting.plot_tile_move(2, 4, 2, (4, 6), 1, shared).axes[0]

    strong = style.tint(style.STORE, 0.5)
    boxes = [it for it in ax.patches if style.STORE == hexadecimal(it.get_edgecolor())]
    start = 6 + 3 + 5 * shared
    in_dst = {(it.get_y(), it.get_x() - start) for it in boxes if it.get_x() >= start}
    assert stored == in_dst
    assert {strong} == {hexadecimal(it.get_facecolor()) for it in boxes}


@pytest.mark.parametrize("first, shared", [(4, []), (3, [(0, 8), (1.3, 12)])])
def test_what_two_slices_share_is_hatched(first, shared):
    """An element of 8 bytes is, of which only 4 are another's."""
    arrays = {"time": (8, 0, 2), "mark": (4, first, first + 2)}
    ax = plotting.plot_slices(arrays, 24).axes[0]

    hatched = [it for it in ax.patches if it.get_hatch() == "///"]
    assert shared == [(it.get_y(), it.get_x()) for it in hatched]
    numbers = [3, 6]  # elements of 8 and of 4 bytes in 24
    assert sum(numbers) == len(ax.patches)


@cuda.jit
def mark(c):
    """Each thread marks its 2 × 4 elements, in two groups; a warp has 16 × 16."""
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    for i in range(2):
        for j in range(4):
            row = 16 * warp + 2 * (lane // 4) + i
            c[row, 8 * (j // 2) + 2 * (lane % 4) + j % 2] = cuda.threadIdx.x


def test_zooms_find_the_elements_that_a_lane_of_the_emulator_stores():
    """Lane 5 of warp 1 is the second of its warp's second row of lanes."""
    c = np.full((32, 16), -1)
    emulate(mark)[1, 64](c)
    owners = {"warp": c // 32, "lane": c % 32}

    picture = plotting.plot_zooms(owners, {"warp": 1, "lane": 5})

    rows, cols = (sorted({*it.tolist()}) for it in np.nonzero(c == 32 + 5))
    written = [it.get_text() for it in picture.axes[0].texts]
    assert [str(it) for it in rows + cols] == [it for it in written if it.isdigit()]
    assert (
        "c, 32 × 16: 2 warps; warp 1, 16 × 16: 32 lanes; lane 5: 2 × 4 sums, of 2 rows "
        "of a and 4 columns of b: rows 18 to 19; columns 2 to 3, 10 to 11."
    ) == picture.alt


@pytest.mark.slow
@pytest.mark.parametrize("step, apart", [(1, 32), (1, 33), (32, 1)])
def test_the_banks_of_a_bins_copies_are_those_that_its_wavefronts_tell(step, apart):
    """32 lanes that count the same bin, each in its copy, take 32 wavefronts where all
    copies of it lie in one bank, and one where they lie in 32.
    """
    copies = np.arange(32)
    cells = step * np.arange(4) + apart * copies[:, None]
    taken, _ = request_wavefronts(4 * cells[:, :1], np.ones((32, 1), bool), 4, "atomic")

    picture = plotting.plot_copies({"mine": (cells, copies)}, 32)

    bins = [it for it in picture.axes[0].texts if it.get_position()[1] > 1]
    zeros = {it.get_position()[0] for it in bins if it.get_text() == "0"}
    assert 32 // taken[0] == len(zeros)
    assert f"bin 0 lie in {len(zeros)} bank" in picture.alt


@pytest.mark.slow
@pytest.mark.parametrize("step, apart", [(1, 32), (1, 33), (32, 1)])
def test_a_request_takes_the_wavefronts_that_the_picture_says(step, apart):
    """As the hardware's rule has it; those that queue are as many as are hatched."""
    copies, values = np.arange(32), np.arange(32) * 5 % 32
    cells = step * np.arange(32) + apart * copies[:, None]
    asked = cells[copies, values]
    every = np.ones((32, 1), bool)
    taken, _ = request_wavefronts(4 * asked[:, None], every, 4, "atomic")
    queues = np.bincount(asked % 32)

    picture = plotting.plot_copies({"mine": (cells, copies)}, 32, values)

    hatched = [it for it in picture.axes[0].patches if it.get_hatch() == "///"]
    assert queues[queues > 1].sum() == len(hatched)
    said = f"the request takes {counted(int(taken[0]), 'wavefront')}."
    assert picture.alt.endswith(said)


SENTENCES = {
    "copies": (
        lambda: plotting.plot_copies({"by warp": ([[0, 1], [2, 3]], [0, 0, 1])}, 4),
        "by warp: 2 copies, up to 2 threads in each; the copies of bin 0 lie in 2 "
        "banks.",
    ),
    "a tile through shared memory": (
        lambda: plotting.plot_tile_move(2, 4, 2, (4, 6), 1),
        "A tile of 2 × 2 elements moves from src[2, 4] to dst[4, 2]. The warp of row 1 "
        "loads src[3, 4] to src[3, 5], uses row 1 and then column 1 of a tile in "
        "shared memory, and stores dst[5, 2] to dst[5, 3].",
    ),
    "a tile that goes straight": (
        lambda: plotting.plot_tile_move(2, 4, 2, (4, 6), 1, shared=False),
        "A tile of 2 × 2 elements moves from src[2, 4] to dst[4, 2]. The warp of row 1 "
        "loads src[3, 4] to src[3, 5], and stores dst[4, 3] to dst[5, 3].",
    ),
    "slices side by side": (
        lambda: plotting.plot_slices({"time": (8, 0, 2), "mark": (4, 4, 6)}, 24),
        "time: elements 0 to 1 of 8 bytes, bytes 0 to 15; mark: elements 4 to 5 of 4 "
        "bytes, bytes 16 to 23. No byte belongs to two of them.",
    ),
    "slices that overlap": (
        lambda: plotting.plot_slices({"time": (8, 0, 2), "mark": (4, 3, 5)}, 24),
        "time: elements 0 to 1 of 8 bytes, bytes 0 to 15; mark: elements 3 to 4 of 4 "
        "bytes, bytes 12 to 19. Bytes 12 to 15 belong to two of them.",
    ),
}


@pytest.mark.parametrize(("plot", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_a_picture_of_a_layout_says_what_it_shows(plot, sentence):
    """The text alternative carries the picture's numbers."""
    assert sentence == plot().alt


REFUSED = {
    "an owner of no rectangle": (
        lambda: plotting.plot_zooms({"lane": [[0, 1], [1, 0]]}),
        "what lane 0 computes here is not some rows by some columns: choose another "
        "one",
    ),
    "a tile that leaves the matrix": (
        lambda: plotting.plot_tile_move(6, 0, 4),
        "a tile of 4 × 4 at [6, 0] is not within a matrix of 8 × 12: choose a smaller "
        "`top`, `left` or `tile`",
    ),
    "a slice behind the last byte": (
        lambda: plotting.plot_slices({"time": (8, 0, 4)}, 24),
        "the slice of time ends at byte 32 of 24: draw more bytes, or a shorter slice",
    ),
}


@pytest.mark.parametrize(("draw", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_layout_that_cannot_be_is_refused(draw, sentence):
    """The error says what to give instead."""
    with pytest.raises(ArgumentError) as refused:
        draw()

    assert sentence == str(refused.value)

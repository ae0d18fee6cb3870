"""Figures of a warp's lanes: what they ask for and give, held to the emulator."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate, plotting
from thirty_two_lanes.core.errors import ArgumentError

LANES = range(32)


@cuda.jit
def copy(dst, src, offset, stride):
    """Each lane loads an element that is `stride` after its neighbour's."""
    lane = cuda.threadIdx.x
    dst[lane] = src[offset + stride * lane]


@cuda.jit
def add_down(values):
    """Halve the distance, step by step: lane 0 has the sum."""
    lane = cuda.threadIdx.x
    for k in range(5):
        values[lane] += cuda.shfl_down_sync(0xFFFFFFFF, values[lane], 16 >> k)


@cuda.jit
def add_up(values):
    """Double the distance, step by step: each lane has the sum up to it."""
    lane = cuda.threadIdx.x
    for k in range(5):
        before = cuda.shfl_up_sync(0xFFFFFFFF, values[lane], 1 << k)
        if lane >= 1 << k:
            values[lane] += before


@cuda.jit
def add_xor(values):
    """Exchange with the lane that differs in a bit: each lane has the sum."""
    lane = cuda.threadIdx.x
    for k in range(5):
        values[lane] += cuda.shfl_xor_sync(0xFFFFFFFF, values[lane], 16 >> k)


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


@pytest.mark.parametrize("apart", [16, 17, 20, 24])
def test_a_lane_is_marked_where_it_asks_for_another_sector(apart):
    """And in the first step; all marks together are the sectors of all its steps."""
    addresses = 4 * np.add.outer(apart * np.arange(32), np.arange(16))
    sectors = addresses // 32

    ax = plotting.plot_new_sectors({"rows": addresses}).axes[0]

    marks = {(it.get_y(), it.get_x()) for it in ax.patches}
    changes = {
        (lane, step)
        for lane in LANES
        for step in range(16)
        if step == 0 or sectors[lane, step] != sectors[lane, step - 1]
    }
    assert changes == marks


def test_a_line_stands_after_each_group_of_steps():
    """Also where the first steps are not drawn."""
    addresses = 4 * np.add.outer(64 * np.arange(32), np.arange(16))

    ax = plotting.plot_new_sectors({"rows": addresses}, since=6).axes[0]

    heavy = [it for it in ax.collections if it.get_linewidth()[0] > 1]
    ends = [segment[0][0] for it in heavy for segment in it.get_segments()]
    assert [2, 6, 10] == ends


@pytest.mark.parametrize(
    "kernel, kind, offsets",
    [
        (add_down, "down", (16, 8, 4, 2, 1)),
        (add_up, "up", (1, 2, 4, 8, 16)),
        (add_xor, "xor", (16, 8, 4, 2, 1)),
    ],
)
def test_a_lane_holds_as_many_values_as_its_sum_in_the_emulator(kernel, kind, offsets):
    """The value of lane k is bit k: a sum of different ones has a bit for each."""
    values = 1 << np.arange(32, dtype=np.int64)
    emulate(kernel)[1, 32](values)
    summed = [int(it).bit_count() for it in values]

    texts = plotting.plot_shuffles(offsets, kind).axes[0].texts
    low = max(it.get_position()[1] for it in texts if it.get_text().isdigit())
    last = {
        int(it.get_position()[0]): int(it.get_text())
        for it in texts
        if it.get_text().isdigit() and it.get_position()[1] == low
    }

    lanes = [0] if kind == "down" else list(LANES)
    assert {lane: summed[lane] for lane in lanes} == last


def test_only_additions_that_somebody_needs_have_a_line():
    """Of 31 additions of lane 0's tree, the first 16 come from lanes 16 to 31."""
    tree = plotting.plot_shuffles().axes[0].lines
    every = plotting.plot_shuffles(kind="xor").axes[0].lines

    first = [tuple(it.get_xdata()) for it in tree[:16]]
    assert (31, 160) == (len(tree), len(every))
    assert {(lane + 16.5, lane + 0.5) for lane in range(16)} == {*first}


@pytest.mark.parametrize(
    "arguments, remedy",
    {
        (tuple(range(6)), 4): "6 elements are not 4 for each lane",
        ((9,) * 32,): "the sum 108 does not fit into one of 32 boxes",
    }.items(),
)
def test_elements_that_lanes_cannot_share_or_show_are_refused(arguments, remedy):
    """The error says what does not fit."""
    with pytest.raises(ArgumentError, match=remedy):
        plotting.plot_fours(*arguments)


@pytest.mark.parametrize(
    "arguments, remedy",
    {
        ((1, 1), "xor", 4): "would add the value of lane 0 twice",
        ((1,), "left", 4): "one of down, up, xor, not 'left'",
        ((1,), "up", 33): "a warp has 32",
    }.items(),
)
def test_shuffles_that_no_warp_makes_are_refused(arguments, remedy):
    """The error says what is wrong with them."""
    with pytest.raises(ArgumentError, match=remedy):
        plotting.plot_shuffles(*arguments)


@pytest.mark.parametrize("each", [1, 2, 4])
def test_the_fours_of_lanes_end_in_numpys_scan(each):
    """The last row is the scan of all; the row above has it before each lane."""
    elements = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    scanned = elements.cumsum()

    texts = plotting.plot_fours(elements, each).axes[0].texts
    rows = {}
    for text in texts:
        if text.get_text().isdigit():
            rows.setdefault(text.get_position()[1], []).append(int(text.get_text()))
    first, _, before, last = rows.values()

    assert elements.tolist() == first
    assert scanned.tolist() == last
    assert [0, *scanned[each - 1 : -1 : each]] == before


SENTENCES = {
    "fours": (
        lambda: plotting.plot_fours([1] * 8),
        "2 lanes of 4 elements each: a lane adds up its own, and adds the sum of all "
        "lanes before it: 0, 4. The last element becomes 8.",
    ),
    "a tree of shuffles": (
        plotting.plot_shuffles,
        "32 lanes add what `shfl_down` by 16, 8, 4, 2, 1 brings. 16, 8, 4, 2, 1 of the "
        "additions are needed; then 1 lane has a sum of 32 values.",
    ),
    "a scan by shuffles": (
        lambda: plotting.plot_shuffles((1, 2), "up", 4),
        "4 lanes add what `shfl_up` by 1, 2 brings. 3, 2 of the additions are needed; "
        "then 4 lanes have a sum of 1 to 4 values.",
    ),
    "walks of four lanes": (
        lambda: plotting.plot_new_sectors(
            {
                "rows": 4 * np.add.outer(8 * np.arange(4), np.arange(16)),
                "longer": 4 * np.add.outer(12 * np.arange(4), np.arange(16)),
                "columns": 4 * np.add.outer(np.arange(4), 32 * np.arange(16)),
            },
            since=8,
        ),
        "Lanes that come to a new sector. rows: 4 of 4 in step 8, none in steps 9 to "
        "15; longer: 2 of 4 in steps 8, 12, none in steps 9 to 11, 13 to 15; columns: "
        "4 of 4 in steps 8 to 15.",
    ),
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

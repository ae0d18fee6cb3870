"""Figures of what happens in time: blocks on multiprocessors, steps of some work, and
instructions of warps.
"""

import math

import pytest

from helpers import plotting
from helpers.plotting.grids import looks, schedule
from helpers.plotting.intervals import shares_of
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError

EVERYONE = [True] * 32
EVEN = [lane % 2 == 0 for lane in range(32)]
SENTENCES = {
    "blocks": (
        lambda: plotting.plot_schedule({0: 2, 2: 1, 1: 3}, 2, places=1),
        "3 blocks on 2 multiprocessors, at most 1 at a time on each: "
        "multiprocessor 0 runs 0; multiprocessor 1 runs 2, 1.",
    ),
    "fewer blocks than multiprocessors": (
        lambda: plotting.plot_schedule({0: 2}, 2),
        "1 block on 2 multiprocessors, at most 2 at a time on each: "
        "multiprocessor 0 runs 0; multiprocessor 1 runs none.",
    ),
    "waves": (
        lambda: plotting.plot_waves([9, 99], [3, 4.25], {"1 wave": 50}, "rows"),
        "Times by rows: 3.0 µs for 9, 4.2 µs for 99; 1 wave: up to 50.",
    ),
    "waves that nobody measured": (
        lambda: plotting.plot_waves([9, 99]),
        "Times by columns: not measured for 9, not measured for 99.",
    ),
    "a scan": (
        lambda: plotting.plot_scan(4, [[(0, 1), (2, 3)], [(1, 3)]]),
        "A scan of 4 elements in 2 steps, with 2, 1 additions; then 3 cells hold the "
        "sum of all elements up to theirs.",
    ),
    "keys in passes": (
        lambda: plotting.plot_orders([[12, 21], [21, 12]], ["keys", "by digit"]),
        "The order of 2 keys: keys: 12, 21; by digit: 21, 12.",
    ),
    "a tile that looks back": (
        lambda: plotting.plot_look_back(["prefix", "prefix", "sum", "sum"], lanes=2),
        "Tile 4 looks at tiles 2 to 3; tiles 0 to 1. It adds the prefix of tile 1 and "
        "the sums of 2 tiles after it.",
    ),
    "steps": (
        lambda: plotting.plot_stages(
            {"CPU": {"loop": 4321.6}, "GPU": {"copy": 2000, "kernel": 55.5}}
        ),
        "Median times: CPU 4,322 µs; GPU 2,056 µs (copy 2,000 µs, kernel 56 µs).",
    ),
    "steps that nobody measured": (
        lambda: plotting.plot_stages({"CPU": {"loop": math.nan}}),
        "Median times: CPU not measured.",
    ),
    "instructions": (
        lambda: plotting.plot_issues([(0, "if:", EVERYONE), (1, "  a", EVEN)]),
        "Issued one after the other: warp 0 `if:` for 32 lanes, "
        "warp 1 `a` for 16 lanes.",
    ),
}


@pytest.mark.parametrize(("plot", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_a_picture_says_what_it_shows(plot, sentence):
    """The text alternative carries the picture's numbers."""
    assert sentence == plot().alt


def test_a_scan_adds_sums_only_where_one_ends_and_the_other_begins():
    """Elements 0 and 1 of a sum would be counted twice, or element 1 left out."""
    for step in [(0, 2)], [(1, 1)]:
        with pytest.raises(ArgumentError, match="does not end where"):
            plotting.plot_scan(4, [step])


def test_a_key_is_in_each_row_once():
    """A line could not tell equal keys apart, or lead to a key that is not there."""
    for orders in [[1, 1]], [[1, 2], [2, 3]]:
        with pytest.raises(ArgumentError, match="same keys, no two of them equal"):
            plotting.plot_orders(orders)


def test_neighbouring_groups_are_light_and_dark_by_turns():
    """The digit of the tens, of keys in their order."""
    shares = shares_of([10, 11, 20, 31], lambda key: key // 10)

    assert [0.06, 0.06, 0.45, 0.06] == shares


@pytest.mark.parametrize(
    ("known", "windows"),
    [
        (["prefix"] * 5, [(3, 5)]),
        (["prefix", "sum", "sum", "sum"], [(2, 4), (0, 2)]),
        (["sum"], [(0, 1)]),
        ([], []),
    ],
)
def test_a_tile_looks_back_until_it_finds_a_prefix(known, windows):
    """Two tiles at a time, nearest first, and no further than the first tile."""
    assert windows == looks(known, 2)


def test_a_block_takes_the_place_of_the_first_that_ends():
    """Two multiprocessors with two places: all get a block before any gets two."""
    rows = schedule({0: 4, 1: 1, 2: 2, 3: 5, 4: 1, 5: 1}, 2, 2)

    places = {block: (row // 2, start) for row, start, block in rows}
    assert {0: (0, 0), 1: (1, 0), 2: (0, 0), 3: (1, 0), 4: (1, 1)}.items() <= (
        places.items()
    )
    assert 2 == places[5][1]


def test_no_two_blocks_share_a_place_at_a_time():
    """And a block begins when another ends, with no gap."""
    lengths = {block: 1 + block * 7 % 5 for block in range(20)}
    ends = {}
    for row, start, block in sorted(schedule(lengths, 3, 2)):
        assert start == ends.get(row, 0)
        ends[row] = start + lengths[block]
    assert 6 == len(ends)


def test_a_block_is_a_box_as_long_as_it_takes():
    """Its number is in it, and the multiprocessors are named."""
    ax = plotting.plot_schedule({0: 2, 2: 1, 1: 3}, 2, places=1).axes[0]

    boxes = {(box.get_x(), box.get_width()) for box in ax.patches}
    written = {text.get_text() for text in ax.texts}
    assert {(0, 2), (0, 1), (1, 3)} == boxes
    assert {"block 0", "block 1", "block 2", "multiprocessor 1"} <= written


def test_a_schedule_that_nobody_can_read_is_refused():
    """Boxes of a tenth of an inch hold no text."""
    with pytest.raises(ArgumentError, match="draw a smaller grid"):
        plotting.plot_schedule(dict.fromkeys(range(100), 1), 1, 1)


def test_steps_follow_one_another_on_one_scale():
    """The second step of a bar begins where the first ends."""
    works = {"CPU": {"loop": 30}, "GPU": {"there": 60, "kernel": 1, "back": 39}}
    ax = plotting.plot_stages(works).axes[0]

    bars = [(box.get_x(), box.get_width(), round(box.get_y())) for box in ax.patches]
    assert [(0, 30, 0), (0, 60, 1), (60, 1, 1), (61, 39, 1)] == bars
    written = {text.get_text() for text in ax.texts}
    assert {"there", "back", "kernel, 1 µs", "30 µs", "100 µs"} <= written


def test_a_step_that_is_not_known_is_left_out():
    """The others keep their places, and nothing is drawn of NaN."""
    ax = plotting.plot_stages({"GPU": {"there": 6, "kernel": math.nan}}).axes[0]

    assert [(0, 6)] == [(box.get_x(), box.get_width()) for box in ax.patches]


def test_only_the_warp_that_issues_has_lanes_in_a_row():
    """Lanes that wait are hatched; the other warp's place is empty."""
    issued = [(0, "a", EVERYONE), (1, "b", EVEN), (1, "c", EVERYONE)]
    ax = plotting.plot_issues(issued).axes[0]

    rows = [[box for box in ax.patches if box.get_y() == row] for row in range(3)]
    assert [32, 32, 32] == [len(row) for row in rows]
    assert [0, 35, 35] == [min(box.get_x() for box in row) for row in rows]
    idle = style.HATCHES[style.IDLE]
    hatched = [sum(box.get_hatch() == idle for box in row) for row in rows]
    assert [0, 16, 0] == hatched
    assert {"warp 0", "warp 1"} <= {text.get_text() for text in ax.texts}

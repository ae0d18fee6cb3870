"""How the lanes of a warp add up by shuffles: who gives to whom, and what each has."""

from itertools import accumulate

import numpy as np

from helpers.plotting.boxes import (
    ROW_INCHES,
    SHARES,
    board,
    fill_row,
    join,
    refuse_too_many,
)
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, cell, note

NEAR, FAR = 1.9, 0.11  # rows to the next step: at least, and more for each lane between
SOURCES = {  # the lane that a lane gets its value from
    "down": lambda lane, offset: lane + offset,
    "up": lambda lane, offset: lane - offset,
    "xor": lambda lane, offset: lane ^ offset,
}


def plot_shuffles(offsets=(16, 8, 4, 2, 1), kind="down", lanes=WARP_SIZE, ax=None):
    """How lanes add up, where each adds what `shfl_down`, `_up` or `_xor` brings it.

    The number in a box is how many of the first values are in the lane's sum. A lane
    whose sum does not go into a result has no number: with "down", only lane 0 has the
    result, with "xor" every lane, and with "up" each lane the sum of all up to it.
    """
    refuse_what_is_no_shuffle(kind, lanes)
    refuse_too_many(lanes)
    held = [{lane} for lane in range(lanes)]
    needed = needed_after(offsets, kind, lanes)
    tops = list(accumulate((NEAR + FAR * it for it in offsets), initial=0))
    names = ["lane", *(f"{kind} {offset}" for offset in offsets)]
    rows = dict(zip(tops, names, strict=True))
    down = tops[-1] + 1
    with board(ax, 0.2 + (down + 1) * ROW_INCHES, lanes, down, rows) as ax:
        fill_row(ax, 0, [(lane, style.PLAIN, 0.25) for lane in range(lanes)])
        for turn, offset in enumerate(offsets, start=1):
            pairs = added_by(offset, kind, lanes)
            for lane in needed[turn] & pairs.keys():
                rows = tops[turn - 1] + 1, tops[turn]
                join(ax, (pairs[lane], lane), rows, style.LOAD, linewidth=0.9)
            held = add(held, pairs, needed[turn])
            draw_sums(ax, held, tops[turn], needed[turn])
        text = "number: how many values are in the sum"
        text += "; dotted: nobody needs it" * (len(needed[-1]) < lanes)
        note(ax, lanes, down, text, (0, -4), ha="right", va="top")
    return Picture(ax.figure, shuffles_of(offsets, kind, held, needed))


def refuse_what_is_no_shuffle(kind, lanes):
    """Raise where no shuffle has this name, or no warp these lanes."""
    if kind not in SOURCES:
        raise ArgumentError(f"a shuffle is one of {', '.join(SOURCES)}, not {kind!r}")
    if lanes > WARP_SIZE:
        raise ArgumentError(
            f"{lanes} lanes: a warp has {WARP_SIZE}, draw at most those"
        )


def added_by(offset, kind, lanes):
    """{lane: the lane whose value it adds}; beyond the warp there is none."""
    pairs = ((lane, SOURCES[kind](lane, offset)) for lane in range(lanes))
    return {lane: source for lane, source in pairs if 0 <= source < lanes}


def needed_after(offsets, kind, lanes):
    """The lanes whose sum goes into a result, before the first step and after each."""
    needed = [{0} if kind == "down" else {*range(lanes)}]
    for offset in reversed(offsets):
        pairs = added_by(offset, kind, lanes)
        needed.append(needed[-1] | {pairs[it] for it in needed[-1] if it in pairs})
    return needed[::-1]


def add(held, pairs, needed):
    """The first values that are in each lane's sum after a step."""
    for lane in needed & pairs.keys():
        if twice := held[lane] & held[pairs[lane]]:
            text = f"lane {lane} would add the value of lane {min(twice)} twice"
            raise ArgumentError(f"{text}: let each step's offset be another power of 2")
    return [it | held[pairs.get(lane, lane)] for lane, it in enumerate(held)]


def draw_sums(ax, held, top, needed):
    """Draw the lanes after a step, with how many values are in each sum."""
    boxes = [
        (len(it), style.STORE, 0.25) if lane in needed else ("", style.IDLE, 0.15)
        for lane, it in enumerate(held)
    ]
    fill_row(ax, top, boxes)


def shuffles_of(offsets, kind, held, needed):
    """Who has what in the end, and how many additions that took, in words."""
    steps = ", ".join(map(str, offsets))
    useful = [
        len(lanes & added_by(offset, kind, len(held)).keys())
        for offset, lanes in zip(offsets, needed[1:], strict=True)
    ]
    final = [len(held[lane]) for lane in sorted(needed[-1])]
    who = counted(len(final), "lane has", "lanes have")
    sums = f"{min(final)} to {max(final)}" if len({*final}) > 1 else f"{final[0]}"
    return (
        f"{counted(len(held), 'lane')} add what `shfl_{kind}` by {steps} brings. "
        f"{', '.join(map(str, useful))} of the additions are needed; then {who} a sum "
        f"of {sums} values."
    )


# ---------------------------------------------------------------- fours


def plot_fours(elements, each=4, ax=None):
    """A warp's scan, in which each lane has a few elements that follow one another.

    A lane adds up its own, the lanes scan their sums by shuffles, and each adds what
    all before it have. Strong is a lane's sum.
    """
    elements = np.asarray(elements)
    lanes = elements.size // each
    if elements.size != lanes * each or not lanes:
        raise ArgumentError(
            f"{elements.size} elements are not {each} for each lane: give a multiple"
        )
    refuse_too_many(elements.size)
    own = elements.reshape(lanes, each).cumsum(axis=1)
    before = own[:, -1].cumsum() - own[:, -1]
    result = own + before[:, None]
    refuse_long_numbers(result)
    with board(ax, 0.4 + 8 * ROW_INCHES, elements.size, 7.4, FOURS_ROWS) as ax:
        for lane in range(lanes):
            left, middle = lane * each, (lane + 0.5) * each
            note(ax, middle, 0, f"lane {lane}", (0, 5), va="bottom")
            mine = elements[left : left + each]
            fill_row(ax, 0, [(it, style.PLAIN, SHARES[lane % 2]) for it in mine], left)
            shares = [0.12] * (each - 1) + [0.6]
            sums = zip(own[lane], [style.STORE] * each, shares, strict=True)
            fill_row(ax, 1.6, sums, left)
            cell(ax, left, 4, str(before[lane]), style.LOAD, each, share=0.3)
            fill_row(ax, 6.4, [(it, style.STORE, 0.25) for it in result[lane]], left)
            line = {"color": style.LOAD, "linewidth": 0.9}
            if lane:
                ax.plot([left - 0.5, middle], [2.6, 4], **line)
            for at in range(each):
                ax.plot([middle, left + at + 0.5], [5, 6.4], **line)
    return Picture(ax.figure, fours_of(elements, each, before))


FOURS_ROWS = {
    0: "elements",
    1.6: "summed in a lane",
    4: "sum of all before",
    6.4: "scanned",
}
MOST_DIGITS = 72  # in a row of boxes


def refuse_long_numbers(sums):
    """Raise where a sum is wider than its box."""
    longest = max(map(str, sums.flat), key=len)
    if len(longest) * sums.size > MOST_DIGITS:
        raise ArgumentError(
            f"the sum {longest} does not fit into one of {sums.size} boxes: draw "
            "smaller numbers, or fewer"
        )


def fours_of(elements, each, before):
    """What each lane adds up and gets, in words."""
    sums = ", ".join(map(str, before))
    return (
        f"{counted(len(before), 'lane')} of {counted(each, 'element')} each: a lane "
        f"adds up its own, and adds the sum of all lanes before it: {sums}. The last "
        f"element becomes {elements.sum()}."
    )

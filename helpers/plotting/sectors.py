"""Which sectors of global memory a request of a warp touches, and what it uses.

The pictures count what they draw: different sectors over the bytes of the lanes.
"""

from collections import Counter
from itertools import pairwise

import numpy as np

from helpers.plotting.banks import lanes_text, refuse_what_is_no_request, request_of
from helpers.plotting.boxes import ROW_INCHES, board, fill_row
from thirty_two_lanes.core import style
from thirty_two_lanes.core.hardware import (
    LINE_BYTES,
    SECTOR_BYTES,
    WARP_SIZE,
    WORD_BYTES,
)
from thirty_two_lanes.core.sectors import sectors_of
from thirty_two_lanes.core.words import counted, ranges
from thirty_two_lanes.pictures import Picture, bare, canvas, cell, label, note

WORDS_IN_LINE = LINE_BYTES // WORD_BYTES
WORDS_IN_SECTOR = SECTOR_BYTES // WORD_BYTES
ROOMY_LINES = 12  # with this many lines a row may be higher


def plot_sectors(addresses, itemsize=4, kind="load", ax=None):
    """Each line of memory that one request touches, with its sectors and the lanes.

    `addresses` are bytes from a multiple of 128, lane by lane; None for a lane that
    takes no part.
    """
    refuse_what_is_no_request(addresses, itemsize, kind)
    words = lanes_by_word(addresses)
    sectors, lines, asked = touched(addresses, itemsize)
    few = len(lines) <= ROOMY_LINES
    row_inches = 0.29 if few else 0.165
    with canvas(ax, 0.6 + row_inches * len(lines)) as ax:
        for row, line in enumerate(lines):
            draw_line(ax, row, line, sectors, style.KINDS[kind])
        width = max(1, itemsize // WORD_BYTES)
        for word, lanes in words.items():
            row = lines.index(word // WORDS_IN_LINE)
            text = lanes_text(lanes, width, len(lines) if few else 99)
            at = word % WORDS_IN_LINE, row
            cell(ax, *at, text, style.KINDS[kind], width, share=0.5)
        finish(ax, lines, cost_of(sectors, asked))
    answer = answer_of(lines, sectors, asked)
    return Picture(ax.figure, f"{request_of(addresses, itemsize, kind)}: {answer}.")


def touched(addresses, itemsize):
    """The numbers of the sectors and of the lines that a request touches, and the bytes
    that it asks for.
    """
    firsts = {int(it) for it in addresses if it is not None}
    sectors = sectors_of(list(firsts), itemsize).tolist()
    lines = sorted({sector * SECTOR_BYTES // LINE_BYTES for sector in sectors})
    return sectors, lines, len(firsts) * itemsize


def lanes_by_word(addresses):
    """{first word: the lanes that ask for it}."""
    words = {}
    for lane, address in enumerate(addresses):
        if address is not None:
            words.setdefault(int(address) // WORD_BYTES, []).append(lane)
    return words


def draw_line(ax, row, line, sectors, colour):
    """Draw the four sectors of a line: pale where they move, dotted where not."""
    for part in range(LINE_BYTES // SECTOR_BYTES):
        moves = line * LINE_BYTES // SECTOR_BYTES + part in sectors
        left = part * WORDS_IN_SECTOR
        shade = colour if moves else style.IDLE
        cell(ax, left, row, "", shade, WORDS_IN_SECTOR, share=0.12)


def finish(ax, lines, cost):
    """Number the lines, count the bytes below, and say what a box is."""
    bare(ax)
    ax.set(xlim=(-0.1, WORDS_IN_LINE + 0.1), ylim=(len(lines) + 0.1, -0.1))
    steps = range(0, WORDS_IN_LINE + 1, WORDS_IN_SECTOR)
    ax.set_xticks(list(steps), [WORD_BYTES * step for step in steps])
    ax.set_xlabel("byte of the line")
    ax.set_yticks([row + 0.5 for row in range(len(lines))], lines)
    ax.set_ylabel("line")
    ax.tick_params(labelsize=style.SMALL)
    label(ax, 0, 0, cost, (0, 4), ha="left", va="bottom")
    text = "strong: asked for, by the lane; faint: moves with it; dotted: stays"
    note(ax, WORDS_IN_LINE, 0, text, (0, 4), ha="right", va="bottom")


def cost_of(sectors, asked):
    """What moves, and what is used of it."""
    moved = SECTOR_BYTES * len(sectors)
    return f"{counted(len(sectors), 'sector')}, {asked / moved:.0%} used"


def answer_of(lines, sectors, asked):
    """What the request costs, in words."""
    where = counted(len(lines), "line")
    moved = SECTOR_BYTES * len(sectors)
    return (
        f"{counted(len(sectors), 'sector')} in {where}, {counted(moved, 'byte')} move "
        f"and {asked:,} of them are asked for"
    )


# ---------------------------------------------------------------- several requests

BAND = 5.6  # rows, from one request to the next
MEMORY = 2.4  # rows, from the lanes down to the memory
GAPS = 0.1, 0.3  # boxes, between two sectors of a line, and of two lines
NAMED_LINES = 8  # as many have room for their numbers


def plot_requests(requests, itemsize=4, kind="load", ax=None):
    """The lanes of a warp above the sectors that their request touches, {name: byte
    addresses}.

    The sectors fill a row, however many they are; those of one line lie closer. A lane
    that takes no part has None.
    """
    for addresses in requests.values():
        refuse_what_is_no_request(addresses, itemsize, kind)
    down = BAND * len(requests) - 0.8
    tops = [BAND * band for band in range(len(requests))]
    rows = dict.fromkeys(tops, "lane") | {top + MEMORY: "memory" for top in tops}
    size = 0.3 + (down + 0.7) * ROW_INCHES, WARP_SIZE, down, rows
    said = []
    with board(ax, *size) as ax:
        for top, (name, addresses) in zip(tops, requests.items(), strict=True):
            sectors, lines, asked = touched(addresses, itemsize)
            answer = answer_of(lines, sectors, asked)
            label(ax, 0, top, name, (0, 4), ha="left", va="bottom", fontweight="bold")
            note(ax, WARP_SIZE, top, answer, (0, 4), ha="right", va="bottom")
            draw_sectors(ax, top + MEMORY, sectors, style.KINDS[kind])
            draw_lanes(ax, top, addresses, itemsize, sectors, style.KINDS[kind])
            said.append(f"{name}: {request_of(addresses, itemsize, kind)}: {answer}")
        text = "strong: asked for; faint: moves with it"
        note(ax, WARP_SIZE, down, text, ha="right", va="bottom")
    return Picture(ax.figure, "; ".join(said) + ".")


def place(address, sectors):
    """How far to the right a byte is, and how wide, where these sectors fill a row."""
    lines = [it * SECTOR_BYTES // LINE_BYTES for it in sectors]
    gaps = [GAPS[here != there] for here, there in pairwise(lines)]
    width = (WARP_SIZE - sum(gaps)) / len(sectors) / SECTOR_BYTES
    at = sectors.index(address // SECTOR_BYTES)
    left = sum(gaps[:at]) + width * (at * SECTOR_BYTES + address % SECTOR_BYTES)
    return left, width


def draw_sectors(ax, top, sectors, colour):
    """Draw sectors side by side, and number their lines."""
    named = {}
    for sector in sectors:
        left, width = place(sector * SECTOR_BYTES, sectors)
        cell(ax, left, top, "", colour, width * SECTOR_BYTES, share=0.12)
        named.setdefault(sector * SECTOR_BYTES // LINE_BYTES, left)
    shown = [*named] if len(named) <= NAMED_LINES else [min(named), max(named)]
    for line in shown:
        side = "right" if line == shown[-1] and len(named) > NAMED_LINES else "left"
        at = WARP_SIZE if side == "right" else named[line]
        note(ax, at, top + 1, f"line {line:,}", (0, -3), va="top", ha=side)


def draw_lanes(ax, top, addresses, itemsize, sectors, colour):
    """Draw the lanes, and from each a line to the bytes that it asks for."""
    boxes = [("", style.IDLE, 0.15)] * WARP_SIZE
    for lane, address in enumerate(addresses):
        if address is not None:
            boxes[lane] = lane, style.PLAIN, 0.25
            left, width = place(int(address), sectors)
            cell(ax, left, top + MEMORY, "", colour, width * itemsize, share=0.8)
            ends = lane + 0.5, left + width * itemsize / 2
            ax.plot(ends, [top + 1, top + MEMORY], color=colour, linewidth=0.9)
    fill_row(ax, top, boxes)


# ---------------------------------------------------------------- step by step

LANE_INCHES = 0.085
BESIDE = 2.2  # steps, between two walks
HEAVY = {"color": style.INK, "linewidth": 1.6}


def plot_new_sectors(walks, since=0, together=4, kind="load", ax=None):
    """The steps in which each lane comes to a new sector: {name: byte addresses}.

    A walk has a row of addresses for each lane, with a column for each step, and is
    drawn from the step `since` on. A line stands after each `together` steps, which a
    thread takes at a time.
    """
    found = {name: new_sectors(it)[:, since:] for name, it in walks.items()}
    lanes = max(len(it) for it in found.values())
    wide = max(it.shape[1] for it in found.values())
    across = (wide + BESIDE) * len(found) - BESIDE
    rows = {lane: lane for lane in range(0, lanes, 8)} | {lanes - 1: lanes - 1}
    with board(ax, 0.75 + LANE_INCHES * lanes, across, lanes, rows, 8) as ax:
        for turn, (name, new) in enumerate(found.items()):
            left = turn * (wide + BESIDE)
            label(ax, left, 0, name, (0, 4), ha="left", va="bottom", fontweight="bold")
            draw_walk(ax, left, new, since, together, style.KINDS[kind])
        ax.set(ylabel="lane", xlabel="step")
        text = f"a line after each {together} steps; filled: a new sector"
        note(ax, across, lanes, text, (0, -21), ha="right", va="top")
    said = (f"{name}: {steps_text(new, since)}" for name, new in found.items())
    return Picture(ax.figure, f"Lanes that come to a new sector. {'; '.join(said)}.")


def new_sectors(addresses):
    """In which steps each lane is in another sector than in the step before."""
    sectors = np.asarray(addresses) // SECTOR_BYTES
    return np.diff(sectors, axis=1, prepend=-1) != 0


def draw_walk(ax, left, new, since, together, colour):
    """Draw a box for each lane and step that needs a new sector, and the groups."""
    lanes, steps = new.shape
    thin = {"color": style.IDLE, "linewidth": 0.5, "zorder": 0}
    ax.vlines([left + step for step in range(steps + 1)], 0, lanes, **thin)
    ax.hlines([0, lanes], left, left + steps, **thin)
    for lane, step in np.argwhere(new):
        cell(ax, left + step, lane, "", colour, share=0.8)
    ends = range(together - since % together, steps + 1, together)
    ax.vlines([left + end for end in ends], 0, lanes, **HEAVY)
    for step in range(0, steps, max(together, 1)):
        note(ax, left + step + 0.5, lanes, f"{since + step}", (0, -3), va="top")


def steps_text(new, since):
    """How many lanes come to a new sector, and in which steps, in words."""
    counts = new.sum(axis=0)
    parts = []
    for count in sorted({*counts.tolist()}, reverse=True):
        steps = (since + np.flatnonzero(counts == count)).tolist()
        many = f"{count} of {len(new)}" if count else "none"
        word = "steps" if len(steps) > 1 else "step"
        parts.append(f"{many} in {word} {ranges(steps, ' to ')}")
    return ", ".join(parts)


# ---------------------------------------------------------------- places in lines

LANE = 0.34  # boxes, as high as a lane is drawn
EIGHT = 8  # lanes, from one that is named to the next
BETWEEN = 0.9  # boxes, from the lanes down to the counts


def plot_places(addresses, kind="load", ax=None):
    """At which place of its line each lane's number lies, and how many lie at each.

    `addresses` are bytes of numbers of 4 bytes, from a multiple of 128, lane by lane;
    None for a lane that takes no part.
    """
    refuse_what_is_no_request(addresses, WORD_BYTES, kind)
    words = lanes_by_word(addresses)
    found = Counter(word % WORDS_IN_LINE for word in words)
    most = max(found.values())
    colour = style.CONFLICT if most > 1 else style.KINDS[kind]
    counts = LANE * len(addresses) + BETWEEN
    rows = {
        LANE * (lane + 0.5) - 0.5: f"lane {lane}"
        for lane in range(0, len(addresses), EIGHT)
    }
    size = 0.75 + (counts + 1) * ROW_INCHES, WORDS_IN_LINE, counts + 1
    with board(ax, *size, rows | {counts: "numbers"}) as ax:
        draw_places(ax, addresses, colour)
        boxes = [("", style.IDLE, 0.12)] * WORDS_IN_LINE
        for place, numbers in found.items():
            boxes[place] = numbers, colour, 0.3
        fill_row(ax, counts, boxes)
        ax.set_xticks([it + 0.5 for it in range(WORDS_IN_LINE)], range(WORDS_IN_LINE))
        ax.tick_params(labelsize=style.SMALL)
        ax.set_xlabel("place in the line")
        above = {"offset": (0, 4), "va": "bottom"}
        label(ax, 0, 0, counted(most, "cycle"), ha="left", fontweight="bold", **above)
        text = "a row: a lane, and its number in the line that holds it"
        note(ax, WORDS_IN_LINE, 0, text, ha="right", **above)
    lanes = counted(sum(map(len, words.values())), "lane")
    return Picture(ax.figure, f"{lanes}: {places_text(len(words), found, most)}.")


def draw_places(ax, addresses, colour):
    """Draw a low box for each lane, at the place of its number."""
    for top in range(0, len(addresses), EIGHT):
        high = LANE * min(EIGHT, len(addresses) - top)
        cell(ax, 0, LANE * top, "", style.PLAIN, WORDS_IN_LINE, high, share=0.06)
    for lane, address in enumerate(addresses):
        if address is not None:
            at = int(address) // WORD_BYTES % WORDS_IN_LINE
            cell(ax, at, LANE * lane, "", colour, 1, LANE, share=0.8)


def places_text(numbers, places, most):
    """How the numbers lie in their lines, and how long they take, in words."""
    at = "one place" if len(places) == 1 else f"{len(places)} places"
    each = f", up to {most} at each" if most > 1 and len(places) > 1 else ""
    return f"{counted(numbers, 'number')} at {at}{each}; {counted(most, 'cycle')}"

"""Which bank of shared memory each lane of a warp asks for, in one request.

The picture counts what it draws: different words by bank. In which groups of lanes a
request goes is said by the rule that the emulator counts with, `core/wavefronts.py`.
"""

from itertools import pairwise
from numbers import Integral

import numpy as np

from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.hardware import NUM_BANKS, WARP_SIZE, WORD_BYTES
from thirty_two_lanes.core.wavefronts import wavefronts_of_groups
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, bare, canvas, cell, label, note

ROOMY_ROWS = 12  # with this many rows of boxes there is room for two lines in each
HEADER_INCHES = 0.26


def plot_banks(addresses, itemsize=4, kind="load", ax=None):
    """Each bank with the words that one request asks of it, and the lanes that ask.

    `addresses` are bytes from the start of shared memory, lane by lane; None for a lane
    that takes no part.
    """
    refuse_what_is_no_request(addresses, itemsize, kind)
    width = max(1, itemsize // WORD_BYTES)
    groups = lane_groups(addresses, itemsize, kind)
    stacks = [bank_stacks(addresses, lanes) for lanes in groups]
    rows = sum(map(ways, stacks))
    row_inches = 0.29 if rows <= ROOMY_ROWS else 0.16
    header = HEADER_INCHES / row_inches
    top = rows + header * len(groups)
    with canvas(ax, 0.5 + row_inches * top) as ax:
        draw_bank_axis(ax, top, header, width)
        passed = 0
        for lanes, stack in zip(groups, stacks, strict=True):
            top -= header + ways(stack)
            draw_stacks(ax, top, stack, width, style.KINDS[kind])
            text = header_of(lanes, ways(stack), len(groups), passed)
            passed += ways(stack)
            label(ax, 0, top + ways(stack), text, (0, 4), ha="left", va="bottom")
    alt = f"{request_of(addresses, itemsize, kind)}: {answer_of(stacks, width)}."
    return Picture(ax.figure, alt)


def lane_groups(addresses, itemsize, kind):
    """The lanes that are served together and take part, group by group."""
    groups = wavefronts_of_groups(*by_lane(addresses), itemsize, kind)
    return [np.flatnonzero(np.any(waves, axis=0)).tolist() for waves in groups]


def by_lane(addresses):
    """The address of each of 32 lanes, and which of them take part."""
    asked, active = np.zeros(WARP_SIZE, np.int64), np.zeros(WARP_SIZE, bool)
    for lane, address in enumerate(addresses):
        if address is not None:
            asked[lane], active[lane] = address, True
    return asked, active


def bank_stacks(addresses, lanes):
    """{bank: {word: the lanes that ask}}; a wide element counts by its first word."""
    stacks = {}
    for lane in lanes:
        word = int(addresses[lane]) // WORD_BYTES
        stacks.setdefault(word % NUM_BANKS, {}).setdefault(word, []).append(lane)
    return stacks


def ways(stack):
    """The most different words in one bank: the wavefronts of a group."""
    return max(map(len, stack.values()))


def refuse_what_is_no_request(addresses, itemsize, kind):
    """Raise where no warp could ask for these addresses at once."""
    if kind not in style.KINDS:
        kinds = ", ".join(style.KINDS)
        raise ArgumentError(f"a request is one of {kinds}, not {kind!r}")
    refuse_several_warps(addresses, "addresses")
    asked = [it for it in addresses if it is not None]
    if not all(isinstance(it, Integral) for it in asked):
        raise ArgumentError("addresses are whole numbers of bytes, one for each lane")
    if not asked:
        raise ArgumentError("no lane has an address: give one that is not None")
    for address in asked:
        if address % itemsize:
            raise ArgumentError(
                f"address {address} is no multiple of an element's {itemsize} bytes: "
                "multiply the index by the element's size"
            )


def refuse_several_warps(asked, what):
    """Raise where more is asked for than a warp has lanes."""
    if len(asked) > WARP_SIZE:
        raise ArgumentError(
            f"{len(asked)} {what} for the {WARP_SIZE} lanes of a warp: "
            "draw one warp at a time"
        )


def draw_stacks(ax, bottom, stack, width, colour):
    """Draw a group's words as boxes, stacked in their banks on a strip of idle ones."""
    cell(ax, 0, bottom, "", style.IDLE, NUM_BANKS, share=0.12)
    for bank, words in stack.items():
        shade = style.CONFLICT if len(words) > 1 else colour
        for row, lanes in enumerate(words.values()):
            text = lanes_text(lanes, width, ways(stack))
            cell(ax, bank, bottom + row, text, shade, width, fontsize=style.SMALL)


def lanes_text(lanes, width, rows):
    """The lanes of one box, as far as it has room."""
    if len(lanes) == 1:
        return str(lanes[0])
    if width == 1 and rows > ROOMY_ROWS:
        return f"×{len(lanes)}"
    between = "\n" if width == 1 else ""
    if lanes == list(range(lanes[0], lanes[-1] + 1)):
        return f"{lanes[0]}–{between}{lanes[-1]}"
    return f"{lanes[0]},{between}{lanes[1]}" if len(lanes) == 2 else f"×{len(lanes)}"


def header_of(lanes, most, groups, passed):
    """The lanes of a group, what they cost, and in which wavefronts they go."""
    conflict = f"{most}-way conflict" if most > 1 else "no conflict"
    if groups == 1:
        return f"{conflict}, {counted(most, 'wavefront')}"
    which = f"s {passed + 1}–{passed + most}" if most > 1 else f" {passed + 1}"
    return f"lanes {lanes[0]} to {lanes[-1]}: {conflict}, wavefront{which}"


def draw_bank_axis(ax, top, header, width):
    """Number the banks below, and say at the right of the top what a box is."""
    bare(ax)
    ax.set(xlim=(-0.1, NUM_BANKS + 0.1), ylim=(-0.1, top), xlabel="bank")
    ax.set_xticks([bank + 0.5 for bank in range(NUM_BANKS)], range(NUM_BANKS))
    ax.tick_params(labelsize=style.SMALL)
    words = counted(width, "word")
    text = f"in each box: {words}, numbered by the lanes that ask; dotted: idle"
    note(ax, NUM_BANKS, top - header, text, (0, 4), ha="right", va="bottom")


def request_of(addresses, itemsize, kind):
    """The kind of request, the bytes of each lane, and the stride."""
    lanes = counted(sum(it is not None for it in addresses), "lane")
    verb = f"{kind}s" if lanes == "1 lane" else kind
    size = counted(itemsize, "byte")
    return f"{lanes} {verb} {size} each{stride_of(addresses, itemsize)}"


def stride_of(addresses, itemsize):
    """ ", stride 2" where all neighbours are that many elements apart."""
    if any(it is None for it in addresses):
        return ""
    steps = {int(after) - int(before) for before, after in pairwise(addresses)}
    return f", stride {steps.pop() // itemsize}" if len(steps) == 1 else ""


def answer_of(stacks, width):
    """What the banks have to do, and in how many wavefronts."""
    costs = [ways(stack) for stack in stacks]
    loads = dict.fromkeys(load_of(stack, width) for stack in stacks)
    groups = f"in {len(stacks)} groups, " if len(stacks) > 1 else ""
    total = counted(sum(costs), "wavefront")
    terms = f"{' + '.join(map(str, costs))} = " if len(costs) > 1 else ""
    return f"{groups}{'; then '.join(loads)}; {terms}{total}"


def load_of(stack, width):
    """How a group's words lie in the banks."""
    counts = {len(words) for words in stack.values()}
    words = f"{max(counts)} different words" if max(counts) > 1 else "1 word"
    used = width * len(stack)
    where = f"each of {used} banks" if used > 1 else "1 bank"
    together = max(len(lanes) for words in stack.values() for lanes in words.values())
    parts = [f"{'up to ' if len(counts) > 1 else ''}{words} in {where}"]
    if together > 1:
        parts.append(f"up to {together} lanes on one word")
    if used < NUM_BANKS:
        parts.append(f"{counted(NUM_BANKS - used, 'bank')} idle")
    return ", ".join(parts)

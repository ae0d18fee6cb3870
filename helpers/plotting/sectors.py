"""Which sectors of global memory one request of a warp touches, and what it uses.

The picture counts what it draws: different sectors over the bytes of the lanes.
"""

from helpers.plotting.banks import lanes_text, refuse_what_is_no_request, request_of
from thirty_two_lanes.core import style
from thirty_two_lanes.core.hardware import LINE_BYTES, SECTOR_BYTES, WORD_BYTES
from thirty_two_lanes.core.sectors import sectors_of
from thirty_two_lanes.core.words import counted
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
    firsts = {int(it) for it in addresses if it is not None}
    sectors = sectors_of(list(firsts), itemsize).tolist()
    lines = sorted({sector * SECTOR_BYTES // LINE_BYTES for sector in sectors})
    asked = len(firsts) * itemsize
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

"""Which sectors of global memory one request of a warp moves, and how much of them it
asked for.
"""

from .. import style
from ..hardware import LINE_BYTES, SECTOR_BYTES, WORD_BYTES
from .banks import refuse_what_is_no_request, request_of
from .picture import Picture, bare, canvas, cell, counted, label

ROW_INCHES = 0.3
DENSE_INCHES = 0.17
ROOMY_ROWS = 12
PER_LINE = LINE_BYTES // SECTOR_BYTES


def plot_sectors(addresses, itemsize=4, kind="load", ax=None):
    """The 128-byte lines that one request touches, with the sectors that it moves.

    `addresses` are bytes from the start of a line, lane by lane; None for a lane that
    takes no part.
    """
    refuse_what_is_no_request(addresses, itemsize, kind)
    lanes = lanes_by_address(addresses)
    sectors = sectors_of(lanes, itemsize)
    rows = sorted({sector // PER_LINE for sector in sectors})
    inches = ROW_INCHES if len(rows) <= ROOMY_ROWS else DENSE_INCHES
    with canvas(ax, 0.85 + inches * len(rows)) as ax:
        for top, line in enumerate(rows):
            for place in range(PER_LINE):
                moved = line * PER_LINE + place in sectors
                draw_sector(ax, place * SECTOR_BYTES, top, moved)
        for first, size, text in boxes(lanes, itemsize):
            line, byte = divmod(first, LINE_BYTES)
            cell(ax, byte, rows.index(line), text, style.KINDS[kind], size)
        finish(ax, rows)
    request = request_of(addresses, itemsize, kind)
    return Picture(ax.figure, f"{request}: {cost_of(lanes, sectors, itemsize)}.")


def lanes_by_address(addresses):
    """{address: the lanes that ask for it}."""
    lanes = {}
    for lane, address in enumerate(addresses):
        if address is not None:
            lanes.setdefault(int(address), []).append(lane)
    return lanes


def sectors_of(lanes, itemsize):
    """The different sectors that the lanes' bytes lie in."""
    last = itemsize - 1
    ends = {(it // SECTOR_BYTES, (it + last) // SECTOR_BYTES) for it in lanes}
    return {sector for first, end in ends for sector in range(first, end + 1)}


def boxes(lanes, itemsize):
    """Each element's first byte, size and lanes; small ones in runs within a sector."""
    if itemsize >= WORD_BYTES:
        return [(at, itemsize, lanes_text(them)) for at, them in lanes.items()]
    runs = []
    for at in sorted(lanes):
        behind = runs and runs[-1][0] + runs[-1][1] == at
        if behind and at % SECTOR_BYTES:
            runs[-1][1] += itemsize
            runs[-1][2] += lanes[at]
        else:
            runs.append([at, itemsize, [*lanes[at]]])
    return [(at, size, lanes_text(them, size)) for at, size, them in runs]


def lanes_text(lanes, width=WORD_BYTES):
    """The lanes of a box, as far as it has room."""
    if len(lanes) == 1:
        return str(lanes[0]) if width >= WORD_BYTES else ""
    if width > WORD_BYTES and lanes == list(range(lanes[0], lanes[-1] + 1)):
        return f"{lanes[0]}–{lanes[-1]}"
    return f"×{len(lanes)}"


def draw_sector(ax, left, top, moved):
    """Draw a sector: dotted until something is asked of it; empty where it stays."""
    from matplotlib.patches import Rectangle

    if moved:
        cell(ax, left, top, "", style.IDLE, SECTOR_BYTES)
    box = Rectangle((left, top), SECTOR_BYTES, 1, facecolor="none", zorder=3)
    box.set(edgecolor=style.INK if moved else style.IDLE, in_layout=False)
    box.set(linewidth=1.2 if moved else 0.5, linestyle="-" if moved else ":")
    ax.add_patch(box)


def finish(ax, rows):
    """Name the lines at the left, the bytes below, and what the marks mean above."""
    bare(ax)
    ax.set(xlim=(-0.3, LINE_BYTES + 0.3), ylim=(len(rows) + 0.1, -0.1))
    middles = [top + 0.5 for top in range(len(rows))]
    ax.set_yticks(middles, [f"line {it}" for it in rows])
    ends = range(0, LINE_BYTES + 1, SECTOR_BYTES)
    ax.set_xticks(ends, ends)
    ax.set_xlabel("byte of the line; a sector is 32")
    note = {"ha": "right", "va": "bottom", "fontsize": style.SMALL}
    text = "boxes: what is asked for, by lane; dotted: moved and not asked for"
    label(ax, LINE_BYTES, 0, text, (0, 5), **note)


def cost_of(lanes, sectors, itemsize):
    """What moves for what was asked for, and the least that could."""
    lines = len({sector // PER_LINE for sector in sectors})
    moved = SECTOR_BYTES * len(sectors)
    used = len({byte for it in lanes for byte in range(it, it + itemsize)})
    asked = itemsize * sum(map(len, lanes.values()))
    ideal = min(len(sectors), -(-asked // SECTOR_BYTES))
    least = "the ideal" if ideal == len(sectors) else f"{ideal:,} would do"
    where = f"{counted(len(sectors), 'sector')} in {counted(lines, 'line')}"
    return f"{where}, {least}; {moved:,} bytes moved, {used:,} of them asked for"

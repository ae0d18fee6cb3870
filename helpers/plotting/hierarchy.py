"""Where a number can live: the memories of a GPU, near ones above far ones; which of
them for which number; and which blocks share the one that is near.
"""

from helpers.plotting.bars import beside as write_beside
from helpers.plotting.bars import name_rows
from helpers.plotting.rates import size_text
from thirty_two_lanes.core import style
from thirty_two_lanes.core.hardware import GPUS, WARP_SIZE
from thirty_two_lanes.core.occupancy import occupancy_of
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, bare, canvas, cell, inside, label, note

WIDTH = 30  # of a multiprocessor
LEFTS = 0, 32, 68  # of three of them; the others look alike
ACROSS = LEFTS[-1] + WIDTH
# of boxes: left, top, width, height, text, and the share of colour, paler the farther
OF_ONE = (  # multiprocessor; three threads stand for all that run there
    (0, 0, WIDTH, 29.5, "", 0.05),
    *((1 + thread * 9.6, 2, 8.8, 5, "thread", 0) for thread in range(3)),
    (1, 8.5, 28, 8, "registers, {registers}", 0.6),
    (1, 18, 10.5, 10, "L1 cache", 0.45),  # one memory, of which each has a part
    (11.5, 18, 17.5, 10, "shared memory,\n{shared}", 0.45),
)
OF_ALL = (
    (0, 33, ACROSS, 9, "L2 cache, {l2}", 0.2),
    (0, 45.5, ACROSS, 11, "global memory, {memory}", 0.1),
)


def plot_hierarchy(multiprocessors, registers, shared, l2, memory, ax=None):
    """The memories of a GPU, and who sees each; all sizes in bytes.

    `registers` and `shared` are those of one multiprocessor.
    """
    sizes = {"registers": registers, "shared": shared, "l2": l2, "memory": memory}
    sizes = {name: size_text(it) for name, it in sizes.items()}
    with canvas(ax, 3.3) as ax:
        for left, number in zip(LEFTS, (0, 1, multiprocessors - 1), strict=True):
            note(ax, left + WIDTH / 2, -2.2, f"multiprocessor {number}")
            draw_boxes(ax, left, OF_ONE, sizes)
        label(ax, 65, 15, "…", fontsize=14)
        draw_boxes(ax, 0, OF_ALL, sizes)
        draw_sides(ax)
        bare(ax)
        ax.set(xlim=(-15, ACROSS + 15), ylim=(58, -5))
    return Picture(
        ax.figure,
        f"The memories, from near to far: {sizes['registers']} of registers in each "
        "multiprocessor, each thread with its own; beside each other the L1 cache, for "
        f"all threads there, and up to {sizes['shared']} of shared memory, each block "
        f"with its own; {sizes['l2']} of L2 cache for all {multiprocessors} "
        f"multiprocessors; and {sizes['memory']} of global memory off the chip.",
    )


def draw_boxes(ax, beside, boxes, sizes, **options):
    """Draw boxes of the plain colour, so far to the right, each around its text."""
    for left, top, width, height, text, share in boxes:
        left += beside
        cell(ax, left, top, "", style.PLAIN, width, height, share)
        middle = left + width / 2, top + height / 2
        inside(ax, *middle, text.format(**sizes), style.halo(), **options)


def draw_sides(ax):
    """Write at the right who sees a row, and at the left how far it is."""
    seen = {
        12.5: "one thread",
        20.5: "shared memory:\none block",
        26.5: "L1: all on it",
        37.5: "all threads",
        51: "all threads\nand the host",
    }
    for at, who in seen.items():
        note(ax, ACROSS + 1.5, at, who, ha="left")
    arrow = {"arrowstyle": "->", "color": style.INK, "linewidth": 1.2}
    ax.annotate("", (-5, 56), (-5, 4), arrowprops=arrow)
    for at, text in ((7, "near"), (54, "far")):
        note(ax, -6.5, at, text, ha="right")


HOMES = (  # left, top, width, height, text, and the share of colour
    (0, 0, 1, 1, "if the compiler knows its index:\nregisters, {registers}", 0.6),
    (1, 0, 1, 1, "if only the data knows it:\na column of shared memory", 0.45),
    (0, 1, 2, 1, "shared memory, {shared}, and a barrier", 0.45),
    (0, 2, 1, 1, "if all lanes want one cell:\nconstant memory, {constant}", 0.2),
    (1, 2, 1, 1, "if each wants its own:\nglobal memory, {memory}", 0.1),
)
NEEDED = "one thread\nneeds it", "the threads\nof a block", "all threads,\nonly to read"


def plot_homes(registers, shared, constant, memory, ax=None):
    """The memory for a number, by who needs it and who knows its index; all sizes in
    bytes, `registers` and `shared` those of one multiprocessor.
    """
    sizes = {"registers": registers, "shared": shared, "constant": constant}
    sizes = {name: size_text(it) for name, it in (sizes | {"memory": memory}).items()}
    with canvas(ax, 1.9, 6.4) as ax:
        draw_boxes(ax, 0, HOMES, sizes, linespacing=1.4)
        bare(ax)
        ax.set(xlim=(-0.02, 2.02), ylim=(3.05, -0.05))
        ax.set_yticks([row + 0.5 for row in range(3)], NEEDED)
    return Picture(
        ax.figure,
        "Who needs a number? One thread: if the compiler knows its index, registers, "
        f"{sizes['registers']} in a multiprocessor; if only the data knows it, a "
        "column of shared memory. The threads of a block: shared memory, "
        f"{sizes['shared']}, and a barrier. All threads, only to read: if all lanes "
        f"want one cell, constant memory, {sizes['constant']}; if each wants its own, "
        f"global memory, {sizes['memory']}.",
    )


def plot_room(launches, room, ax=None):
    """The blocks that a multiprocessor holds at a time, in its `room` KB of shared
    memory, as {name of a launch: (KB of a block, its warps, how many are held)}.
    """
    with canvas(ax, 0.7 + 0.36 * len(launches)) as ax:
        for row, (size, warps, held) in enumerate(launches.values()):
            cell(ax, 0, row - 0.32, "", style.IDLE, room, 0.64, share=0)
            text = f"{warps} warps" if size > room / 12 else ""
            for block in range(held):
                cell(ax, size * block, row - 0.32, text, style.PLAIN, size, 0.64)
            write_beside(ax, room, row, f"{held * warps} warps")
        name_rows(ax, [*launches])
        ax.set(xlim=(0, 1.12 * room), xlabel="KB of shared memory")
        ax.set_xticks([*range(0, int(room) - 24, 48), room])
    rows = (
        f"{name}: {held} of {warps} warps each, {held * warps} in all"
        for name, (_, warps, held) in launches.items()
    )
    text = f"The blocks at a time in {room} KB of shared memory. {'; '.join(rows)}."
    return Picture(ax.figure, text)


def plot_occupancy(threads=256, registers=40, shared_kb=16, ax=None):
    """The blocks that a multiprocessor of each GPU that we know holds at a time, in
    places for warps, by what a block takes.
    """
    held = {
        name: occupancy_of(gpu.compute_capability, threads, registers, 1024 * shared_kb)
        for name, gpu in GPUS.items()
    }
    warps, most = -(-threads // WARP_SIZE), max(it.most_warps for it in held.values())
    with canvas(ax, 0.7 + 0.36 * len(held)) as ax:
        for row, it in enumerate(held.values()):
            cell(ax, 0, row - 0.32, "", style.IDLE, it.most_warps, 0.64, share=0)
            for block in range(it.blocks):
                text = str(warps) if warps > most / 24 else ""
                cell(ax, warps * block, row - 0.32, text, style.PLAIN, warps, 0.64)
            write_beside(ax, most, row, held_text(it))
        name_rows(ax, [*held])
        ax.set(xlim=(0, 1.75 * most), xlabel="warps of a multiprocessor")
        ax.set_xticks(range(0, most + 1, 16))
    takes = f"{threads} threads, {registers} registers a thread and {shared_kb} KB"
    rows = "; ".join(f"{name}: {held_text(it)}" for name, it in held.items())
    text = f"Blocks of {takes} of shared memory that a multiprocessor holds. {rows}."
    return Picture(ax.figure, text)


def held_text(it):
    """The blocks that are held, and what leaves no room for more."""
    if not it.blocks:
        return f"no block: {' and '.join(it.limited_by)}"
    said = f"{counted(it.blocks, 'block')}, {it.warps} of {it.most_warps} warps"
    return f"{said}: {' and '.join(it.limited_by)}" if it.limited_by else said

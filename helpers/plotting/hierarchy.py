"""Where a number can live: the memories of a GPU, near ones above far ones."""

from helpers.plotting.rates import size_text
from thirty_two_lanes.core import style
from thirty_two_lanes.pictures import Picture, bare, canvas, cell, inside, label, note

WIDTH = 30  # of a multiprocessor
LEFTS = 0, 32, 68  # of three of them; the others look alike
ACROSS = LEFTS[-1] + WIDTH
THREADS = 3  # boxes that stand for all that run there
ROW = 9
SHARES = {"registers": 0.6, "block": 0.45, "cache": 0.3, "L2": 0.2, "global": 0.1}


def plot_hierarchy(multiprocessors, registers, shared, constant, l2, memory, ax=None):
    """The memories of a GPU, and who sees each; all sizes in bytes.

    `registers` and `shared` are those of one multiprocessor.
    """
    with canvas(ax, 3.9) as ax:
        for left, number in zip(LEFTS, (0, 1, multiprocessors - 1), strict=True):
            draw_multiprocessor(ax, left, number, registers, shared)
        label(ax, 65, 19, "…", fontsize=14)
        draw_shared_by_all(ax, constant, l2, memory)
        draw_sides(ax)
        bare(ax)
        ax.set(xlim=(-15, ACROSS + 15), ylim=(75, -5))
    return Picture(
        ax.figure,
        f"The memories, from near to far: {size_text(registers)} of registers in each "
        f"multiprocessor, each thread with its own; {size_text(shared)} of shared "
        "memory beside them, each block with its own, where the L1 cache lies too; "
        f"{size_text(l2)} of L2 cache for all {multiprocessors} multiprocessors; and "
        f"{size_text(memory)} of global memory off the chip, where local memory and "
        f"{size_text(constant)} of constant memory lie too.",
    )


def draw_multiprocessor(ax, left, number, registers, shared):
    """Draw one multiprocessor: threads, registers, shared memory and its caches."""
    box(ax, left, 0, WIDTH, 38, "", 0.05)
    note(ax, left + WIDTH / 2, -2.2, f"multiprocessor {number}")
    for thread in range(THREADS):
        step = (WIDTH - 1.2) / THREADS
        box(ax, left + 1 + thread * step, 2, step - 0.8, 5, "thread", 0)
    text = f"registers, {size_text(registers)}"
    box(ax, left + 1, 8.5, WIDTH - 2, ROW, text, SHARES["registers"])
    text = f"shared memory, {size_text(shared)}"
    box(ax, left + 1, 19, WIDTH - 2, ROW - 1.5, text, SHARES["block"])
    half = (WIDTH - 2) / 2
    box(ax, left + 1, 28, half, ROW, "L1 cache", SHARES["cache"])
    cache = "constant\ncache"
    box(ax, left + 1 + half + 0.8, 28, half - 0.8, ROW, cache, SHARES["cache"])


def draw_shared_by_all(ax, constant, l2, memory):
    """Draw what all multiprocessors share: the L2 cache, and global memory."""
    box(ax, 0, 41, ACROSS, ROW, f"L2 cache, {size_text(l2)}", SHARES["L2"])
    box(ax, 0, 53, ACROSS, 20, "", SHARES["global"])
    label(ax, ACROSS / 2, 57, f"global memory, {size_text(memory)}")
    half = ACROSS / 2 - 6
    local = "local memory: each thread's own"
    box(ax, 4, 62, half, ROW - 1, local, SHARES["L2"])
    text = f"constant memory, {size_text(constant)}"
    box(ax, ACROSS - 4 - half, 62, half, ROW - 1, text, SHARES["L2"])


def draw_sides(ax):
    """Write at the right who sees a row, and at the left how far it is."""
    seen = {
        13: "one thread",
        22.7: "one block",
        32.5: "all threads\non it",
        45.5: "all",
        57: "all, and\nthe host",
    }
    for at, who in seen.items():
        note(ax, ACROSS + 1.5, at, who, ha="left")
    arrow = {"arrowstyle": "->", "color": style.INK, "linewidth": 1.2}
    ax.annotate("", (-5, 72), (-5, 4), arrowprops=arrow)
    for at, text in ((8, "near,\nsmall"), (68, "far,\nlarge")):
        note(ax, -6.5, at, text, ha="right")


def box(ax, left, top, width, height, text, share):
    """Draw a box of the plain colour, the paler the farther, around a text."""
    cell(ax, left, top, "", style.PLAIN, width, height, share)
    inside(ax, left + width / 2, top + height / 2, text, style.halo())

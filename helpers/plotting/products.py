"""Figures of a tiled product: which elements an element needs, how often each is
loaded, how the tiles walk, what warps do meanwhile, and how far a kernel may come.
"""

import math

import numpy as np

from helpers.plotting.bars import FEW, NAN, known
from helpers.plotting.boxes import shade
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.hardware import H200
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, bare, canvas, cell, inside, label, note

NUMBERED = 20  # rows or columns, in which numbers can still be read
CELL_INCHES = 0.34
MOST_BOXES = 128  # in a row: smaller ones cannot be seen, and take long to draw


def plot_reuse(loads, name="array", ax=None):
    """How often each element of a matrix was loaded, with numbers if it is small; in
    squares of elements if it is large.
    """
    loads = np.atleast_2d(np.asarray(loads))
    if loads.ndim > 2 or not loads.size:
        raise ArgumentError(
            f"`plot_reuse` draws a matrix, or a row, and this has the shape "
            f"{loads.shape}: draw a layer of it"
        )
    rows, cols = loads.shape
    side = CELL_INCHES * min(1, NUMBERED / max(rows, cols))
    shown, square = in_squares(loads)
    means = f", means of {square} × {square} elements" if square > 1 else ""
    with canvas(ax, 0.6 + side * rows, max(3, 0.6 + side * cols)) as ax:
        draw_loads(ax, shown)
        label(ax, 0, 0, f"loads of {name}{means}", (0, 4), ha="left", va="bottom")
    least, most = int(loads.min()), int(loads.max())
    often = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    of = f"the {rows:,} × {cols:,} elements of {name}"
    times = "time" if most == 1 else "times"
    return Picture(ax.figure, f"Each of {of} was loaded {often} {times}.")


def in_squares(loads):
    """The means of squares of elements, as few as can be drawn; and a square's side."""
    side = -(-max(loads.shape) // MOST_BOXES)
    if side == 1:
        return loads, 1
    ends = [[*range(0, size, side), size] for size in loads.shape]
    sums = np.add.reduceat(np.add.reduceat(loads, ends[0][:-1], 0), ends[1][:-1], 1)
    return sums / np.outer(*map(np.diff, ends)), side


def draw_loads(ax, loads):
    """Draw each element, darker the more often it was loaded."""
    rows, cols = loads.shape
    few = max(rows, cols) <= NUMBERED
    rim = {"edgecolor": style.PAPER, "linewidth": 0.8} if few else {}
    darkest = style.tint(style.LOAD, 0.5 if few else 1)
    shade(ax, loads, darkest, vmin=0, vmax=loads.max() or 1, **rim)
    if few:
        for (row, col), times in np.ndenumerate(loads):
            inside(ax, col + 0.5, row + 0.5, f"{times:g}", fontsize=style.SMALL)
    bare(ax)
    ax.set(xlim=(0, cols), ylim=(rows, 0), aspect="equal")


# ---------------------------------------------------------------- row times column


def plot_row_times_column(row=0, col=0, n=4, tile=None, ax=None):
    """The row of A and the column of B whose products add up to an element of C.

    Elements of n × n matrices have their names, as a01 for A[0, 1]; with `tile` the
    products stand in the steps of a walk by tiles of that size.
    """
    side = side_of(n)
    names = (
        {(row, k): f"a{row}{k}" for k in range(n)},
        {(k, col): f"b{k}{col}" for k in range(n)},
        {(row, col): f"c{row}{col}"},
    )
    titles = f"row {row} of A", f"column {col} of B", "C"
    with canvas(ax, 0.6 + side * (n + 2.3)) as ax:
        for number, (title, named) in enumerate(zip(titles, names, strict=True)):
            draw_matrix(ax, number, n, title, named)
        terms = [f"a{row}{k} · b{k}{col}" for k in range(n)]
        draw_terms(ax, n + 0.9, f"c{row}{col}  =", terms, tile or n)
        bare(ax)
        bottom = n + (2 if tile is None else 2.5)
        ax.set(xlim=(-0.1, 3 * n + 1.7), ylim=(bottom, -0.1), aspect="equal")
    return Picture(ax.figure, row_times_column_sentence(row, col, n, tile))


def draw_terms(ax, top, start, terms, tile):
    """Draw a sum of products, and below it the steps that they belong to."""
    inside(ax, 0.7, top + 0.5, start, fontsize=9)
    for k, term in enumerate(terms):
        left = 1.6 + 3 * k
        step = k // tile
        cell(ax, left, top, "", style.LOAD, 2.4, share=(0.12, 0.35)[step % 2])
        inside(ax, left + 1.2, top + 0.5, term, fontsize=9)
        if k:
            inside(ax, left - 0.3, top + 0.5, "+", fontsize=9)
        if k % tile == 0 and tile < len(terms):
            last = min(k + tile, len(terms)) - 1
            right = 1.6 + 3 * last + 2.4
            ax.plot([left, right], [top + 1.15] * 2, color=style.INK, linewidth=1)
            middle = (left + right) / 2
            note(ax, middle, top + 1.15, f"step {step}", (0, -4), va="top")


def row_times_column_sentence(row, col, n, tile):
    """The sum of products, in words."""
    terms = [f"a{row}{k} · b{k}{col}" for k in range(n)]
    if tile is None:
        return f"c{row}{col} = {' + '.join(terms)}."
    steps = [terms[at : at + tile] for at in range(0, n, tile)]
    sums = [f"{' + '.join(step)} in step {turn}" for turn, step in enumerate(steps)]
    return f"c{row}{col} is a sum: {', then '.join(sums)}."


# ---------------------------------------------------------------- the tiles' walk


def plot_tile_walk(step=0, n=4, tile=2, block=(0, 0), ax=None):
    """One step of a block's tiles through n × n matrices A and B, and its sums in C.

    The block and the threads are (x, y), as CUDA counts them. A tile names the
    thread that loads each element; C names the products, by their k, that are in each
    partial sum after the step.
    """
    col, row = (tile * it for it in block)
    at = tile * step
    loaded = {(y, x): f"{x},{y}" for y, x in np.ndindex(tile, tile)}
    summed = dict.fromkeys(loaded, sums(at + tile))
    drawn = (
        ("A: loaded by thread (x, y)", loaded, (row, at)),
        ("B: loaded by thread (x, y)", loaded, (at, col)),
        ("C: products in the sum, by k", summed, (row, col)),
    )
    with canvas(ax, 0.5 + side_of(n) * n) as ax:
        for number, (title, named, (top, left)) in enumerate(drawn):
            moved = {(top + y, left + x): text for (y, x), text in named.items()}
            draw_matrix(ax, number, n, title, moved)
        bare(ax)
        ax.set(xlim=(-0.1, 3 * n + 1.7), ylim=(n + 0.1, -0.1), aspect="equal")
    return Picture(ax.figure, walk_sentence(step, n, tile, block))


def fitting(text, inches):
    """The points of type at which a text fits into a box so wide."""
    letters = max(map(len, text.split("\n")))
    return max(style.SMALL, min(9, 72 * inches / (0.85 * letters)))


def side_of(n):
    """The inches of an element, where three n × n matrices stand side by side."""
    return style.WIDTH_INCHES / (3 * n + 1.8)


def draw_matrix(ax, number, n, title, named):
    """Draw A, B or C, the matrices 0 to 2: its rims, its title, the elements named."""
    thin = {"color": style.IDLE, "linewidth": 0.4}
    left, steps = number * (n + 0.8), range(n + 1)
    ax.vlines([left + step for step in steps], 0, n, **thin)
    ax.hlines(steps, left, left + n, **thin)
    label(ax, left, 0, title, (0, 4), ha="left", va="bottom")
    for (y, x), text in named.items():
        cell(ax, left + x, y, "", style.STORE if number == 2 else style.LOAD)
        size = fitting(text, side_of(n))
        inside(ax, left + x + 0.5, y + 0.5, text, fontsize=size)


def sums(until):
    """Which products a partial sum holds: "0–1" for those of k = 0 and 1."""
    return f"0–{until - 1}" if until > 1 else "0"


def walk_sentence(step, n, tile, block):
    """What a step of the walk shows, in words."""
    first, last = tile * step, tile * step + tile - 1
    col, row = (tile * it for it in block)
    rows, cols = f"{row} to {row + tile - 1}", f"{col} to {col + tile - 1}"
    return (
        f"Step {step} of {counted(math.ceil(n / tile), 'step')}: block {tuple(block)} "
        f"loads rows {rows}, columns {first} to {last} of A and "
        f"rows {first} to {last}, columns {cols} of B, one element per thread; "
        f"its {tile * tile} sums in C then hold the products of k = 0 to {last}."
    )


# ---------------------------------------------------------------- the cycle of a tile

COLOURS = {"load": style.LOAD, "compute": style.PLAIN}


def plot_tile_cycle(steps=2, warps=4, ax=None):
    """What the warps of a block do step by step: load, wait, compute, wait.

    How long each takes is made up, and only there to show that the slowest warp of each
    phase makes the others wait at the barrier.
    """
    phases = list(phase_times(steps, warps))
    with canvas(ax, 0.75 + 0.3 * warps) as ax:
        left = 0.0
        for turn, (name, times) in enumerate(phases):
            longest = max(times)
            for warp, time in enumerate(times):
                draw_phase(ax, left, warp, name, time, longest)
            if turn % 2 == 0:
                label(ax, left, warps, f"step {turn // 2}", (0, -10), ha="left")
            left += longest
            ax.plot([left, left], [0, warps], color=style.INK, linewidth=1.4)
            note(ax, left, 0, "barrier", (0, 7))
        note(ax, left, warps, "time →", (0, -10), ha="right")
        bare(ax)
        ax.set(xlim=(-0.1, left + 0.3), ylim=(warps + 0.1, -0.1))
        ax.set_yticks([row + 0.5 for row in range(warps)], range(warps))
        ax.set_ylabel("warp")
    return Picture(
        ax.figure,
        f"{counted(warps, 'warp')} of a block go through {counted(steps, 'step')}. In "
        "each, every warp loads its part of the tiles, waits at a barrier for the "
        "slowest, computes, and waits at a barrier again.",
    )


def phase_times(steps, warps):
    """Each phase of the walk with a made-up time for each warp."""
    for step in range(steps):
        yield "load", [4 + (3 * warp + 2 * step) % 4 for warp in range(warps)]
        yield "compute", [4 + (2 * warp + step + 1) % 4 * 0.7 for warp in range(warps)]


def draw_phase(ax, left, warp, name, time, longest):
    """Draw how long a warp works, and how long it then waits for the slowest."""
    size = {"fontsize": style.SMALL}
    cell(ax, left, warp + 0.08, name, COLOURS[name], time, 0.84, **size)
    if time < longest:
        rest = longest - time
        text = "wait" if rest > 1 else ""
        cell(ax, left + time, warp + 0.08, text, style.IDLE, rest, 0.84, **size)


# ---------------------------------------------------------------- the roofline


def plot_roofline(kernels, gpu=H200, ax=None):
    """A GPU's roof, and kernels below it: {name: (operations per byte, GFLOP/s)}.

    A kernel whose GFLOP/s are None or NaN, not measured, stands as a ring on the roof;
    one whose operations per byte are NaN has no place.
    """
    kernels = {k: (x, y) for k, (x, y) in kernels.items() if not math.isnan(x)}
    peak, bandwidth = 1000 * gpu.peak_tflop_per_s, gpu.peak_gb_per_s
    ridge = peak / bandwidth
    points = {k: (x, (known([y]) or [NAN])[0]) for k, (x, y) in kernels.items()}
    low = min([x for x, _ in points.values()] + [0.25]) / 2
    high = max([x for x, _ in points.values()] + [ridge]) * 4
    with canvas(ax, 3.3) as ax:
        ax.set(xscale="log", yscale="log", xlim=(low, high))
        ax.set(xlabel="operations per byte", ylabel="GFLOP/s")
        ax.xaxis.set_major_formatter(FEW)
        ax.yaxis.set_major_formatter(FEW)
        roof = [bandwidth * low, peak, peak]
        ax.plot([low, ridge, high], roof, color=style.INK, linewidth=1.4)
        text = f"peak, {peak:,.0f} GFLOP/s"
        note(ax, high, peak, text, (0, 3), ha="right", va="bottom")
        text = f"memory, {bandwidth:,.0f} GB/s"
        note(ax, low, roof[0], text, (8, -2), ha="left", va="top")
        for name, (x, y) in points.items():
            draw_kernel(ax, name, x, y, min(peak, bandwidth * x))
        reached = [y for _, y in points.values() if not math.isnan(y)]
        ax.set_ylim(min([roof[0], *reached]) / 3, 4 * peak)
    return Picture(ax.figure, roofline_sentence(points, gpu))


def draw_kernel(ax, name, x, y, roof, left=False):
    """Draw a kernel as a diamond where it was measured, else a ring on the roof; its
    name stands on the right, or on the left.
    """
    ax.plot([x, x], [1e-9, roof], color=style.IDLE, linewidth=0.8, linestyle=":")
    if math.isnan(y):
        ax.plot(x, roof, "o", markerfacecolor="none", color=style.EMULATED)
    else:
        ax.plot(x, y, "D", markersize=5, color=style.MEASURED)
    text = name if math.isnan(y) else f"{name}, {y:,.0f}"
    across, side = (-8, "right") if left else (8, "left")
    note(ax, x, roof if math.isnan(y) else y, text, (across, -10), ha=side)


def roofline_sentence(points, gpu):
    """The roof and each kernel, in words."""
    peak, bandwidth = 1000 * gpu.peak_tflop_per_s, gpu.peak_gb_per_s
    parts = [
        f"The roof of {gpu.name}: {bandwidth:,.0f} GB/s up to "
        f"{peak / bandwidth:.3g} operations per byte, then {peak:,.0f} GFLOP/s"
    ]
    for name, (x, y) in points.items():
        limit = min(peak, bandwidth * x)
        reached = "not measured" if math.isnan(y) else f"{y:,.0f} measured"
        bound = f"at most {limit:,.0f} GFLOP/s"
        parts.append(f"{name}: {x:.3g} operations a byte, {bound}, {reached}")
    return "; ".join(parts) + "."

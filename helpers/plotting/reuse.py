"""How often each element of an array was loaded."""

import numpy as np

from .. import style
from .picture import Picture, bare, canvas, cell, counted, inside, label

MOST = 24  # elements a side that have room for a number
SIDE_INCHES = 0.3
LARGE_INCHES = 3.6


def plot_reuse(loads, array="", ax=None):
    """A vector or a matrix of counts, darker for more, numbered where it is small."""
    loads = np.asarray(loads)
    if loads.ndim not in (1, 2) or not loads.size:
        raise ValueError(
            "a vector or a matrix of counts is needed, not an array of shape "
            f"{loads.shape}: draw a part of it"
        )
    grid = np.atleast_2d(loads)
    rows, cols = grid.shape
    if rows == 1 and cols > MOST:
        return Picture(draw_long(loads.ravel(), ax).figure, sentence(loads, array))
    small = max(rows, cols) <= MOST
    side = SIDE_INCHES if small else LARGE_INCHES / max(rows, cols)
    with canvas(ax, 0.8 + side * rows, 1.6 + max(2.4, side * cols)) as ax:
        draw_grid(ax, grid, small)
        label_axes(ax, grid, loads.ndim)
    return Picture(ax.figure, sentence(loads, array))


def draw_grid(ax, grid, small):
    """Draw each element in a shade, and those never loaded with dots."""
    from matplotlib.colors import LinearSegmentedColormap

    rows, cols = grid.shape
    ends = [style.PAPER, style.tint(style.LOAD, 0.65)]
    shades = LinearSegmentedColormap.from_list("loads", ends)
    shown = {"cmap": shades, "vmin": 0, "vmax": max(1, grid.max()), "aspect": "equal"}
    ax.imshow(grid, extent=(0, cols, rows, 0), interpolation="nearest", **shown)
    if not small:
        return
    for row, col in np.ndindex(rows, cols):
        if grid[row, col]:
            inside(ax, col + 0.5, row + 0.5, f"{grid[row, col]:,}", fontsize=7)
        else:
            cell(ax, col, row, "0", style.IDLE)
    lines = {"color": style.PAPER, "linewidth": 0.8}
    ax.hlines(range(rows + 1), 0, cols, **lines)
    ax.vlines(range(cols + 1), 0, rows, **lines)


def label_axes(ax, grid, ndim):
    """Number rows and columns, and say what a shade means."""
    rows, cols = grid.shape
    bare(ax)
    for axis, size in ((ax.xaxis, cols), (ax.yaxis, rows)):
        step = 1 << max(0, (size - 1) // 16).bit_length()
        ticks = range(0, size, step)
        axis.set_ticks([tick + 0.5 for tick in ticks], ticks)
    ax.set_xlabel("column" if ndim == 2 else "element")
    if ndim == 2:
        ax.set_ylabel("row")
    else:
        ax.set_yticks([])
    low, high = int(grid.min()), int(grid.max())
    many = f"{low:,}" if low == high else f"{low:,} (pale) to {high:,} (dark)"
    text = f"times loaded: {many}"
    label(ax, 0, 0, text, (0, 5), ha="left", va="bottom", fontsize=style.SMALL)


def draw_long(loads, ax):
    """Draw a long vector as steps."""
    with canvas(ax, 2.2) as ax:
        edges = np.arange(len(loads) + 1)
        fill = style.tint(style.LOAD, 0.35)
        ax.stairs(loads, edges, fill=True, facecolor=fill, edgecolor=style.LOAD)
        top = 1.15 * max(1, int(loads.max()))
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.set(xlim=(0, len(loads)), ylim=(0, top), xlabel="element")
        ax.set_ylabel("times loaded")
    return ax


def sentence(loads, array):
    """How often elements are loaded, in words."""
    axes = [
        counted(n, noun)
        for n, noun in zip(loads.shape, ("row", "column"), strict=False)
    ]
    size = " and ".join(axes) if loads.ndim == 2 else counted(loads.size, "element")
    name = f"{array}, {size}" if array else size[:1].upper() + size[1:]
    low, high = int(loads.min()), int(loads.max())
    if low == high:
        return f"{name}: each element is loaded {counted(low, 'time')}."
    never = int((loads == 0).sum())
    rest = f"; {counted(never, 'element')} never" if never else ""
    return (
        f"{name}: elements are loaded {low:,} to {counted(high, 'time')}, "
        f"{loads.mean():.3g} in the mean{rest}."
    )

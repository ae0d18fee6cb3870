"""The roofline of a GPU, and where kernels stand below it."""

import math

from .. import style
from ..hardware import H200
from .charts import known
from .picture import Picture, canvas, label

ROOM = 4  # times the outermost points that the axes go beyond


def plot_roofline(labels, flops_per_byte, tflop_per_s=None, gpu=H200, ax=None):
    """Kernels by their arithmetic intensity, under what a GPU can do at most.

    A diamond is a speed that was measured; a ring, where none was, is the most that
    the intensity allows.
    """
    intensities = [float(it) for it in flops_per_byte]
    if not intensities or min(intensities) <= 0:
        raise ValueError("each kernel needs more than 0 operations per byte")
    speeds = known(tflop_per_s) or [math.nan] * len(intensities)
    ridge = 1000 * gpu.peak_tflop_per_s / gpu.peak_gb_per_s
    low = min(*intensities, ridge) / ROOM
    high = max(*intensities, ridge) * ROOM
    with canvas(ax, 3.6) as ax:
        draw_roof(ax, gpu, low, ridge, high)
        for point in zip(labels, intensities, speeds, strict=True):
            draw_kernel(ax, *point, gpu)
        ax.set(xscale="log", yscale="log", xlim=(low, high))
        lowest = [it for it in speeds if not math.isnan(it)] + [limit(gpu, low)]
        ax.set_ylim(min(lowest) / 2, 2.5 * gpu.peak_tflop_per_s)
        ax.set(xlabel="float32 operations per byte", ylabel="TFLOP/s")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_formatter(lambda value, _: "")
        draw_signs(ax, speeds)
    return Picture(ax.figure, sentence(labels, intensities, speeds, gpu, ridge))


def limit(gpu, intensity):
    """The most TFLOP/s at an intensity: memory's slope or the peak."""
    return min(gpu.peak_tflop_per_s, intensity * gpu.peak_gb_per_s / 1000)


def draw_roof(ax, gpu, low, ridge, high):
    """Draw the slope of memory and the flat peak, each with its number."""
    peak = gpu.peak_tflop_per_s
    ends = [limit(gpu, low), peak, peak]
    ax.plot([low, ridge, high], ends, color=style.INK, linewidth=1.6)
    dotted = {"color": style.IDLE, "linewidth": 0.8, "linestyle": ":"}
    ax.plot([ridge, ridge], [limit(gpu, low) / 100, peak], **dotted)
    small = {"fontsize": style.SMALL}
    text = f"{gpu.name}: {peak:g} TFLOP/s"
    label(ax, high, peak, text, (-2, 4), ha="right", va="bottom", **small)
    place = ridge / 2
    text = f"{gpu.peak_gb_per_s:,.0f} GB/s"
    label(ax, place, limit(gpu, place), text, (-8, 4), ha="right", va="bottom", **small)
    text = f"{ridge:.3g} operations per byte"
    beside = {"ha": "left", "xycoords": ("data", "axes fraction")}
    label(ax, ridge, 0, text, (4, 8), **beside, **small)


def draw_kernel(ax, name, intensity, speed, gpu):
    """Draw a kernel: a diamond where it was measured, a ring at the roof otherwise."""
    beside = {"ha": "left", "fontsize": style.SMALL}
    if math.isnan(speed):
        ring = {"marker": "o", "s": 70, "facecolor": "none", "linewidth": 1.8}
        top = limit(gpu, intensity)
        ax.scatter([intensity], [top], edgecolor=style.EMULATED, zorder=3, **ring)
        label(ax, intensity, top, name, (9, -7), **beside)
        return
    stem = {"color": style.MEASURED, "linewidth": 0.8, "linestyle": (0, (1, 2))}
    ax.plot([intensity] * 2, [speed, limit(gpu, intensity)], **stem)
    ax.scatter([intensity], [speed], marker="D", s=30, color=style.MEASURED, zorder=3)
    label(ax, intensity, speed, f"{name}, {speed:.3g}", (8, 0), **beside)


def draw_signs(ax, speeds):
    """Say what the marks mean, those that there are."""
    unknown = [math.isnan(it) for it in speeds]
    above = {"ha": "left", "va": "bottom", "xycoords": "axes fraction"}
    if not all(unknown):
        label(ax, 0, 1, "◆ measured on the GPU", (0, 4), color=style.MEASURED, **above)
    if any(unknown):
        text = "○ the most that its intensity allows"
        label(
            ax,
            0 if all(unknown) else 0.3,
            1,
            text,
            (0, 4),
            color=style.EMULATED,
            **above,
        )


def sentence(labels, intensities, speeds, gpu, ridge):
    """Each kernel, what bounds it, and how near it comes."""
    told = [
        f"{name}, {intensity:.3g} operations per byte, {bound(intensity, ridge)}, "
        + reached(speed, limit(gpu, intensity))
        for name, intensity, speed in zip(labels, intensities, speeds, strict=True)
    ]
    roof = f"{gpu.peak_gb_per_s:,.0f} GB/s and {gpu.peak_tflop_per_s:g} TFLOP/s"
    return f"The roofline of an {gpu.name}, {roof}: {'; '.join(told)}."


def bound(intensity, ridge):
    """Which roof is above an intensity."""
    return "below memory's slope" if intensity < ridge else "below the peak"


def reached(speed, most):
    """A speed beside the most that there could be."""
    if math.isnan(speed):
        return f"at most {most:.3g} TFLOP/s"
    return f"{speed:.3g} of at most {most:.3g} TFLOP/s"

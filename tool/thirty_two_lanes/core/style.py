"""The look of every figure: one colour for each meaning, in all lessons.

Colours are Okabe and Ito's, three of them darkened so that marks stand out from white
by 3:1 and text by 4.5:1 (`tests/plotting/test_contrast.py`): colour-blind eyes tell
them apart, and a hatch, a mark or a label always says the same again. Figures are drawn
in the colours of a light page; `dark` gives those of a dark one. Nothing is set for
good: `look` lends the settings to one drawing, and a reader's own figures stay as they
were.
"""

from contextlib import contextmanager

import numpy as np

LOAD = "#0072B2"        # blue
STORE = "#CC7400"       # orange
CONFLICT = "#D55E00"    # vermilion: conflicts, hazards, what is missing
MEASURED = "#00805D"    # green: on a GPU
EMULATED = "#B0568A"    # purple: by the emulator
IDLE = "#858585"
PLAIN = "#5B7C99"       # slate: what has no other meaning, such as a block of threads
INK = "#222222"
PAPER = "#FFFFFF"       # opaque, so that the ink is seen where no theme is known

DARK = {                # where a colour stands on a dark page
    LOAD: "#56B4E9",
    STORE: "#E69F00",
    CONFLICT: "#F2703D",
    MEASURED: "#2BB48B",
    EMULATED: "#CC79A7",
    IDLE: "#8A8A8A",
    PLAIN: "#8DA9C4",
    INK: "#E8E8E8",
}
DARK_PAPER = "#131416"  # that of the site's dark pages; JupyterLab's is #111111
DARK_SHARES = (0, 0.6, 1), (0, 0.36, 1)  # a tint's, which lies behind light text

HATCHES = {CONFLICT: "///", IDLE: "...."}
KINDS = {"load": LOAD, "store": STORE}

WIDTH_INCHES = 8
SMALL = 8               # points: ticks, notes, numbers in cells; none is smaller

SETTINGS = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 144,                  # 1.5 dots to a pixel of the page
    "figure.facecolor": PAPER,
    "font.family": "DejaVu Sans",       # comes with matplotlib: alike everywhere
    "font.size": 9,
    "hatch.linewidth": 0.6,
    "text.color": INK,
    "text.hinting": "none",             # as wide in the PNG as in the SVG, at any size
    "xtick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.color": INK,
    "ytick.labelsize": SMALL,
}


@contextmanager
def look():
    """Lend the look to what is drawn inside."""
    from matplotlib import style

    with style.context(["default", SETTINGS]):
        yield


def tint(colour, share):
    """A colour thinned with white: `share` of it is left."""
    return mixed(colour, PAPER, share)


def dark(colour):
    """What a colour, or a tint of one, is on a dark page; grey tints are of `IDLE`."""
    drawn = np.array([channels(colour)]) - channels(PAPER)
    pure = np.array([channels(it) for it in DARK]) - channels(PAPER)
    shares = (drawn * pure).sum(1) / (pure * pure).sum(1)
    ink = np.array([it == INK for it in DARK])
    misses = np.abs(drawn - shares[:, None] * pure).max(1) + ink
    misses += 999 * ((shares > 1.01) & ~ink)  # no tint is darker than its colour
    base = list(DARK)[int(np.argmin(misses))]
    share = float(np.interp(shares[list(DARK).index(base)], *DARK_SHARES))
    return mixed(DARK[base], DARK_PAPER, share)


def mixed(colour, ground, share):
    """A colour of which `share` is left on a ground."""
    both = zip(channels(colour), channels(ground), strict=True)
    return "#" + "".join(f"{round(b - share * (b - a)):02X}" for a, b in both)


def channels(colour):
    """The red, green and blue of `#RRGGBB`."""
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def halo():
    """A rim of paper, so that a text can be read on lines and hatches."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground=PAPER)]

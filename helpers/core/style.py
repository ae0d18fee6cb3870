"""The look of every figure: one colour for each meaning, in all lessons.

Colours are Okabe and Ito's, three of them darkened so that marks stand out from white
by 3:1 and text by 4.5:1 (`tests/plotting/test_contrast.py`): colour-blind eyes tell
them apart, and a hatch, a mark or a label always says the same again. Nothing is set
for good: `look` lends the settings to one drawing, and a reader's own figures stay as
they were.
"""

from contextlib import contextmanager

LOAD = "#0072B2"        # blue
STORE = "#CC7400"       # orange
CONFLICT = "#D55E00"    # vermilion: conflicts, hazards, what is missing
MEASURED = "#00805D"    # green: on a GPU
EMULATED = "#B0568A"    # purple: by the emulator
IDLE = "#858585"
PLAIN = "#5B7C99"       # slate: what has no other meaning, such as a block of threads
INK = "#222222"
PAPER = "#FFFFFF"       # opaque, so that a dark notebook shows the ink

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
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - it)):02X}" for it in channels)


def halo():
    """A white rim, so that a text can be read on lines and hatches."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground=PAPER)]

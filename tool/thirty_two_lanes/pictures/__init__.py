"""A figure beside the sentence that says what it shows.

As the last line of a cell a `Picture` shows itself: the image, with the sentence as its
text alternative. Matplotlib is loaded by the first drawing, not by an import of this.
"""

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from thirty_two_lanes.core import style

CSS_PIXELS_PER_INCH = 96
DOTS = 1.5
COLOURS = 256
FEW_COLOURS = 32
# the themes of JupyterLab and of VS Code name no `color-scheme`, and without one the
# system's decides
THEMED = {
    "light": "[data-jp-theme-light=true],.vscode-light,.vscode-high-contrast-light",
    "dark": "[data-jp-theme-light=false],.vscode-dark,"
    ".vscode-high-contrast:not(.vscode-high-contrast-light)",
}
THEMES = "".join(
    f"body:is({bodies}) :is(.jp-RenderedSVG,.output_container svg,.lanes-explore)"
    f"{{color-scheme:{theme}}}"
    for theme, bodies in THEMED.items()
)


@dataclass(frozen=True)
class Picture:
    """A finished figure, and what it shows in a sentence."""

    figure: Any
    alt: str

    @property
    def axes(self):
        return self.figure.axes

    @property
    def pixels(self):
        """The width and height on a page, at which a screen shows it sharp."""
        return [round(CSS_PIXELS_PER_INCH * it) for it in self.figure.get_size_inches()]

    def svg(self):
        """The image as SVG, whose colours follow the theme of the page."""
        from thirty_two_lanes.pictures.svg import svg_of

        return svg_of(self.figure, self.alt)

    def png(self, dots=DOTS, colours=COLOURS):
        """The image's bytes, with so many dots to a pixel of the page; in so few
        colours that a notebook stays small.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.cbook import _setattr_cm
        from PIL import Image  # matplotlib brings it

        drawing = FigureCanvasAgg(self.figure)
        with style.look(), _setattr_cm(self.figure, dpi=CSS_PIXELS_PER_INCH * dots):
            drawing.draw()
            image = Image.fromarray(np.asarray(drawing.buffer_rgba())[..., :3])
        file = BytesIO()
        image.quantize(colours, Image.Quantize.MAXCOVERAGE).save(file, "png")
        return file.getvalue()

    def __repr__(self):
        return self.alt

    def _repr_mimebundle_(self, include=None, exclude=None):
        close(self.figure)
        width, height = self.pixels
        images = {"image/svg+xml": self.svg()}
        self.figure.set_layout_engine("none")  # laying it out once is enough
        images["image/png"] = self.png(1, FEW_COLOURS)
        # on a narrow page it scrolls: made smaller, its digits could not be read
        about = {"width": width, "height": height, "unconfined": True}
        about["alt"] = self.alt
        return images | {"text/plain": self.alt}, dict.fromkeys(images, about)

    def _ipython_display_(self):
        from IPython.display import display

        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        # JupyterLab drops the text alternative, so it stands below as well, folded
        said = f"<summary>The figure in words</summary>{escape(self.alt, quote=False)}"
        page = f"<details>{said}</details><style>{THEMES}</style>"
        display({"text/html": page}, raw=True)


def close(figure):
    """Take a figure from pyplot, which would show it a second time."""
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close(figure)


@contextmanager
def canvas(ax, height, width=style.WIDTH_INCHES):
    """Lend the reader's axes, or new ones on a figure of their own, in our look."""
    from matplotlib.figure import Figure

    with style.look():
        if ax is None:
            ax = Figure((width, height), layout="constrained").subplots()
        yield ax


def cell(
    ax, left, bottom, text, colour, width=1, height=1, share=0.25, rim=(), **options
):
    """Draw a box around a text: pale in its colour, hatched where that has a hatch.

    On a dark ground the box needs a white `rim`, `style.halo()`. Pale in another
    colour it is with a `ground`.
    """
    from matplotlib.patches import Rectangle

    hatch = style.HATCHES.get(colour)
    box = Rectangle((left, bottom), width, height, hatch=hatch, in_layout=False)
    ground = options.pop("ground", colour)
    box.set(facecolor=style.tint(ground, share), edgecolor=colour, linewidth=0.8)
    box.set(path_effects=rim)
    ax.add_artist(box)  # `add_patch` looks for the extrema of curves
    ax.update_datalim([(left, bottom), (left + width, bottom + height)])
    if not text:
        return
    middle = left + width / 2, bottom + height / 2
    if hatch:  # no line of which may run through the text
        options["bbox"] = {"facecolor": box.get_facecolor(), "linewidth": 0, "pad": 0.5}
    inside(ax, *middle, text, style.halo() if hatch else [], **options)


def inside(ax, x, y, text, effects=(), **options):
    """Write into a box; the layout need not make room, which saves most of its time."""
    options = {"fontsize": style.SMALL, "linespacing": 1} | options
    options |= {"ha": "center", "va": "center_baseline", "in_layout": False}
    ax.text(x, y, text, path_effects=effects, **options)


def label(ax, x, y, text, offset=(0, 0), **options):
    """Write at a point, or `offset` points beside it, readable on any ground."""
    options = {"ha": "center", "va": "center_baseline"} | options
    options |= {"textcoords": "offset points", "path_effects": style.halo()}
    ax.annotate(text, (x, y), offset, **options)


def note(ax, x, y, text, offset=(0, 0), **options):
    """The same in small type."""
    label(ax, x, y, text, offset, **{"fontsize": style.SMALL} | options)


def bare(ax):
    """Take away the frame and the ticks, which boxes do not need."""
    ax.spines[:].set_visible(False)
    ax.set(xticks=[], yticks=[])
    ax.tick_params(length=0)

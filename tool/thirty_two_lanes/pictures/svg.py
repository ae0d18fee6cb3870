"""A figure as SVG: text is text, and every colour follows the theme of the page.

It is dark where the `color-scheme` of its element is: of an <img>, or of the <svg> that
VS Code puts into its page. What two figures share has the same name in both, made from
its content: pages that put them side by side mix nothing up, and the frames of one
exploration have most lines alike.

Not modelled: gradients; clips other than boxes.
"""

from base64 import b64encode
from hashlib import sha256
from html import escape
from io import BytesIO

import numpy as np
from matplotlib.backend_bases import FigureCanvasBase, RendererBase
from matplotlib.cbook import _setattr_cm
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

from thirty_two_lanes.core import style

POINTS_PER_INCH = 72
PIXELS_PER_POINT = 4 / 3
SANS = "DejaVu Sans,Verdana,sans-serif"  # two that are as wide
MONO = "DejaVu Sans Mono,Menlo,Consolas,monospace"
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}
ANCHORS = {"left": (0, "start"), "center": (0.5, "middle"), "right": (1, "end")}
CAPS = {"projecting": "square", "round": "round"}
BOXES = (
    [Path.MOVETO, *3 * [Path.LINETO], Path.CLOSEPOLY],
    [Path.MOVETO, *4 * [Path.LINETO], Path.CLOSEPOLY],
    [Path.MOVETO, *4 * [Path.LINETO]],
)
HALO = "halo"
DOTS = "M0 0h0M3 0h0M1.5 3h0M0 6h0M3 6h0"
TILES = {  # of hatches: the width, the height, the lines, and how wide these are
    "///": (4, 4, "M-1 1L1-1M0 4L4 0M3 5L5 3", 0.6),
    "\\\\\\": (4, 4, "M-1 3L1 5M0 0L4 4M3-1L5 1", 0.6),
    "---": (4, 4, "M0 2H4", 0.6),
    "....": (3, 6, DOTS, 1.2),
}


def svg_of(figure, said):
    """The figure as an SVG of few long lines; `said` is its text alternative."""
    width, height = (POINTS_PER_INCH * it for it in figure.get_size_inches())
    canvas = Canvas(figure)
    canvas.drawing = drawing = Drawing(width, height)
    haloed = [it for it in figure.findobj(Text) if it.get_path_effects()]
    effects = [it.get_path_effects() for it in haloed]
    with style.look(), _setattr_cm(figure, dpi=POINTS_PER_INCH):
        for letters in haloed:  # as effects, letters would become outlines
            letters.set(path_effects=None, gid=HALO)
        try:
            figure.draw(drawing)
        finally:
            for letters, effect in zip(haloed, effects, strict=True):
                letters.set(path_effects=effect, gid=None)
    return drawing.text(said)


class Canvas(FigureCanvasBase):
    """Lends a figure the drawing in which its layout measures texts."""

    def get_renderer(self):
        return self.drawing


class Drawing(RendererBase):
    """What matplotlib draws on; y is up for it, and down in an SVG."""

    def __init__(self, width, height):
        super().__init__()
        self.width, self.height = width, height
        self.flipped = Affine2D().scale(1, -1).translate(0, height)
        self.classes, self.shared, self.lines = {}, {}, []
        self.paths = {}  # where the line of a look is, to which another path may go
        self.letters = None  # the look of the texts that the last lines are
        self.halo = False

    def get_canvas_width_height(self):
        return self.width, self.height

    def flipy(self):
        return True

    def points_to_pixels(self, points):
        return points

    def open_group(self, s, gid=None):
        self.halo = gid == HALO

    def close_group(self, s):
        self.halo = False

    def text(self, said):
        """The whole SVG."""
        self.end_texts()
        pixels = [round(PIXELS_PER_POINT * it) for it in (self.width, self.height)]
        head = (
            '<svg xmlns="http://www.w3.org/2000/svg" role="img" '
            f'width="{pixels[0]}" height="{pixels[1]}" '
            f'viewBox="0 0 {number(self.width)} {number(self.height)}" '
            f'fill="none" stroke-linejoin="round" aria-label="{escape(said)}">'
        )
        rules = [f".{name}{{{themed(rule)}}}" for rule, name in self.classes.items()]
        sheet = ["<style>", "svg{color-scheme:light dark}", *rules, "</style>"]
        return "\n".join([head, *sheet, *self.shared.values(), *self.lines, "</svg>"])

    def class_of(self, declarations):
        """The class of a look, the same one in all figures."""
        rule = ";".join(f"{k}:{v}" for k, v in declarations.items() if v is not None)
        return self.classes.setdefault(rule, named(rule))

    def share(self, element, inner):
        """The address of something that is drawn by its name."""
        name = named(element + inner)
        tag = element.partition(" ")[0]
        self.shared[name] = f'<{element} id="{name}">{inner}</{tag}>'
        return f"url(#{name})"

    # ------------------------------------------------------------ paths

    def draw_path(self, gc, path, transform, rgbFace=None):
        points = (transform + self.flipped).transform(path.vertices)
        d = "".join(steps(points, path.codes))
        name = self.class_of(self.look_of(gc, rgbFace))
        self.add_path(f'<path class="{name}"{self.clip_of(gc, points)} d="', d, gc)

    def add_path(self, start, d, gc):
        """Paths of one look that follow one another are one; those of a mesh, which
        have sharp edges, in any order.
        """
        self.end_texts()
        at = self.paths.get(start)
        if at is not None and (at == len(self.lines) - 1 or not gc.get_antialiased()):
            self.lines[at] = f'{self.lines[at][:-3]}{d}"/>'
            return
        if gc.get_antialiased():
            self.paths.clear()
        self.paths[start] = len(self.lines)
        self.lines.append(f'{start}{d}"/>')

    def look_of(self, gc, face):
        """The declarations of a path."""
        look = {}
        if face is not None and not (len(face) == 4 and face[3] == 0):
            look["fill"] = hexadecimal(face)
            look["fill-opacity"] = opacity(gc, face)
        if hatch := gc.get_hatch():
            look["fill"] = self.hatched(hatch, gc, look.get("fill", "none"))
        width = gc.get_linewidth()
        if width and gc.get_rgb()[3]:
            look |= {"stroke": hexadecimal(gc.get_rgb()), "stroke-width": number(width)}
            look["stroke-opacity"] = opacity(gc, gc.get_rgb())
            offset, dashes = gc.get_dashes()
            if dashes is not None:
                look["stroke-dasharray"] = " ".join(map(number, dashes))
                look["stroke-dashoffset"] = number(offset) if offset else None
            look["stroke-linecap"] = CAPS.get(gc.get_capstyle())
            join = gc.get_joinstyle()
            look["stroke-linejoin"] = join if join != "round" else None
        if not gc.get_antialiased():
            look["shape-rendering"] = "crispEdges"
        return look

    def hatched(self, hatch, gc, fill):
        """The address of a pattern; of a hatch that is not ours, matplotlib's lines."""
        if hatch in TILES:
            width, height, lines, thick = TILES[hatch]
        else:
            width = height = POINTS_PER_INCH
            path = gc.get_hatch_path()
            lines, thick = "".join(steps(width * path.vertices, path.codes)), 0.6
        ground = self.class_of({"fill": fill})
        colour = hexadecimal(gc.get_hatch_color())
        look = {"stroke": colour, "stroke-width": number(thick)}
        drawn = self.class_of(look | {"stroke-linecap": "round"})
        size = f'width="{width}" height="{height}"'
        inner = f'<rect class="{ground}" {size}/><path class="{drawn}" d="{lines}"/>'
        return self.share(f'pattern {size} patternUnits="userSpaceOnUse"', inner)

    def clip_of(self, gc, points):
        """The attribute that cuts off what leaves the clip's box, if anything does."""
        box = gc.get_clip_rectangle()
        if box is None or not len(points):
            return ""
        x0, x1, y0, y1 = box.x0, box.x1, self.height - box.y1, self.height - box.y0
        (left, top), (right, bottom) = points.min(0), points.max(0)
        if x0 - 2 < left and right < x1 + 2 and y0 - 2 < top and bottom < y1 + 2:
            return ""
        d = f"M{number(x0)} {number(y0)}H{number(x1)}V{number(y1)}H{number(x0)}z"
        return f' clip-path="{self.share("clipPath", f"<path d={d!r}/>")}"'

    # ------------------------------------------------------------ texts and images

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        if ismath:
            return self._draw_text_as_path(gc, x, y, s, prop, angle, ismath, mtext)
        # the lines of a text are drawn one by one, centred
        side = mtext.get_horizontalalignment() if mtext else "center"
        share, anchor = ANCHORS[side]
        along = share * self.get_text_width_height_descent(s, prop, ismath)[0]
        x += along * np.cos(np.radians(angle))
        y -= along * np.sin(np.radians(angle))
        turn = f' transform="rotate({-angle:g} {number(x)} {number(y)})"'
        mono = prop.get_family()[0] == "monospace"
        weight = prop.get_weight()
        look = {
            "font": f"{number(prop.get_size_in_points())}px {MONO if mono else SANS}",
            "font-weight": weight if weight not in ("normal", "regular", 400) else None,
            "fill": hexadecimal(gc.get_rgb()),
            "text-anchor": anchor if anchor != "start" else None,
        }
        if self.halo:
            look |= {"stroke": style.PAPER.lower(), "stroke-width": "2.5"}
            look["paint-order"] = "stroke"
        if s != " ".join(s.split()):
            s = s.replace(" ", "\u00a0")  # which is not drawn as one
        self.begin_texts(self.class_of(look))
        self.lines.append(
            f'<text x="{number(x)}" y="{number(y)}"'
            f"{turn if angle else ''}>{escape(s, quote=False)}</text>"
        )

    def begin_texts(self, name):
        """Texts of one look that follow one another name it once."""
        if name != self.letters:
            self.end_texts()
            self.lines.append(f'<g class="{name}">')
            self.letters = name

    def end_texts(self):
        """What follows is no text of this look."""
        if self.letters:
            self.paths.clear()
            self.lines.append("</g>")
            self.letters = None

    def draw_image(self, gc, x, y, im, transform=None):
        from PIL import Image

        file = BytesIO()
        Image.fromarray(im[::-1]).save(file, "png")
        rows, cols = im.shape[:2]
        data = b64encode(file.getvalue()).decode()
        self.end_texts()
        self.paths.clear()
        self.lines.append(
            f'<image x="{number(x)}" y="{number(self.height - y - rows)}" '
            f'width="{cols}" height="{rows}" href="data:image/png;base64,{data}"/>'
        )


def steps(points, codes):
    """The letters and numbers of a path."""
    if codes is None:
        codes = [Path.MOVETO] + [Path.LINETO] * (len(points) - 1)
    if box := box_of(points, codes):
        yield box
        return
    last = None
    for (x, y), code in zip(points, codes, strict=True):
        if code == Path.CLOSEPOLY:
            yield "z"
        elif np.isfinite(x) and code != Path.STOP:
            # the further points of a curve follow without a letter
            same = code == last and code in (Path.LINETO, Path.CURVE3, Path.CURVE4)
            yield f"{' ' if same else LETTERS[code]}{number(x)} {number(y)}"
        last = code


def box_of(points, codes):
    """The path of an upright box, which most paths are; None for any other."""
    if list(codes) not in BOXES:
        return None
    (left, top), (x1, y1), (right, bottom), (x3, y3) = points[:4]
    if top == y1 and x1 == right and bottom == y3 and x3 == left:
        low = f"M{number(left)} {number(top)}H{number(right)}"
        return f"{low}V{number(bottom)}H{number(left)}z"
    return None


def number(value):
    """A number to a tenth of a point."""
    return f"{round(float(value), 1) + 0:g}"


def hexadecimal(colour):
    """A colour as `#rrggbb`."""
    return "#" + "".join(f"{round(255 * it):02x}" for it in colour[:3])


def opacity(gc, colour):
    """How opaque a colour is, where it is not."""
    alpha = gc.get_alpha() if gc.get_forced_alpha() else (*colour, 1)[3]
    return number(alpha) if alpha not in (None, 1) else None


def named(content):
    """A short name for what has this content."""
    return "i" + sha256(content.encode()).hexdigest()[:6]


def themed(rule):
    """A rule with its colours once more, as they are in either theme; where nobody
    knows `light-dark`, those of a light page stay.
    """
    pairs = (it.split(":", 1) for it in rule.split(";"))
    both = [
        f"{k}:light-dark({v},{style.dark(v)})" for k, v in pairs if v.startswith("#")
    ]
    return ";".join([rule, *both])

"""Draws the rooms of the tool and of `helpers`, and the way of one launch through them.

    python -m tests.setup.rooms_figure        writes docs/rooms.svg

CONTRIBUTING.md shows it. Each box of a room is a rule of test_architecture.py, which
holds the figure to the rules.
"""

from html import escape
from typing import NamedTuple

from tests.paths import ROOT

FILE = ROOT / "docs" / "rooms.svg"
WIDTH, HEIGHT = 980, 562
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.name { font-weight: 600; }
.small { font-size: 11.5px; }
.room { fill: #eef3fa; stroke: #4a6fa5; }
.file { fill: #fff6e0; stroke: #9a6b00; stroke-dasharray: 5 3; }
.group { fill: none; stroke: #8b949e; }
.arrow { stroke: #1f2328; stroke-width: 1.4; fill: none; marker-end: url(#head); }
#head path { fill: #1f2328; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .room { fill: #1b2a3d; stroke: #7aa2d6; }
  .file { fill: #33290f; stroke: #d9a520; }
  .arrow { stroke: #e6edf3; }
  #head path { fill: #e6edf3; }
}
"""


class Box(NamedTuple):
    """A room, or a file that is a contract between two; in pixels."""

    name: str
    words: tuple[str, ...]
    left: int
    top: int
    width: int
    height: int = 62
    kind: str = "room"

    @property
    def label(self):
        """Its name, short within the emulator's frame."""
        name = self.name.removeprefix("emulator/")
        return name if name.endswith(".py") else f"{name}/"

    @property
    def right(self):
        """Its right edge."""
        return self.left + self.width


BOXES = (
    Box("frontend", ("Numba's typed IR", "made into ours"), 20, 110, 130),
    Box("intrinsics", ("what Numba's", "language lacks"), 20, 218, 130),
    Box("core/ir.py", ("contract",), 178, 118, 92, 46, "file"),
    Box("emulator/codegen", ("a NumPy function", "per basic block"), 298, 110, 138),
    Box("emulator/program.py", ("contract",), 298, 226, 138, 46, "file"),
    Box("emulator/machine", ("warps, barriers,", "memory: emits"), 464, 218, 138),
    Box("emulator/native", ("long launches, as", "machine code"), 802, 218, 132),
    Box("core/events.py", ("contract",), 470, 118, 126, 46, "file"),
    Box("emulator/judges", ("banks, sectors,", "races: listen"), 630, 110, 138),
    Box("emulator/report", ("findings, pages,", "assertions"), 796, 110, 138),
    Box(
        "emulator/host",
        ("`numba.cuda` answered", "where there is no GPU"),
        630,
        218,
        158,
    ),
    Box("assembly", ("NVIDIA's compiler,", "line by line"), 20, 318, 136),
    Box("language", ("what functions", "compute"), 170, 318, 120),
    Box("film", ("one block, step by", "step: listens"), 304, 318, 136),
    Box("scripts", ("runs a program,", "reports on it"), 454, 318, 124),
    Box("pictures", ("what a figure is;", "its SVG"), 592, 318, 124),
    Box("agents", ("what coding agents", "ask for, limited"), 730, 318, 136),
    Box(
        "core",
        ("what rooms say to each other, and facts: source, hardware, errors, style",),
        20,
        398,
        914,
        40,
    ),
    Box("measuring", ("times, and those", "recorded on a GPU"), 20, 484, 140),
    Box("checking", ("is it right, and", "if not, why"), 174, 484, 120),
    Box("plotting", ("takes numbers,", "never machines"), 308, 484, 124),
    Box("exercises", ("judges answers,", "says the reason"), 446, 484, 124),
    Box("grading", ("marks folders of", "submissions"), 584, 484, 124),
    Box("grading/sandbox", ("runs what", "nobody trusts"), 722, 484, 134),
)
BY_NAME = {box.name: box for box in BOXES}
FLOW = (
    ("frontend", "core/ir.py"),
    ("core/ir.py", "emulator/codegen"),
    ("emulator/codegen", "emulator/program.py"),
    ("emulator/program.py", "emulator/machine"),
    ("emulator/machine", "core/events.py"),
    ("core/events.py", "emulator/judges"),
    ("emulator/judges", "emulator/report"),
)


def figure() -> str:
    """The figure as SVG, for light pages and dark ones."""
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' "
        f"width='{WIDTH}' height='{HEIGHT}' role='img' aria-label='{sentence()}'>",
        f"<style>{STYLE}</style>",
        "<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' "
        "markerHeight='7' orient='auto'><path d='M0 0 L8 4 L0 8 z'/></marker></defs>",
        text(20, 30, "tool/thirty_two_lanes/", "name"),
        text(20, 472, "helpers/   what the course adds", "name"),
        text(
            20,
            52,
            "one launch goes along the arrows; a dashed box is a file, the "
            "contract between the rooms beside it",
        ),
        "<rect class='group' x='284' y='76' width='664' height='222' rx='8'/>",
        text(
            298,
            97,
            "emulator/   emulation.py, launch.py: compile, bind, run, judge",
            "name",
        ),
        *map(drawn, BOXES),
        *(arrow(BY_NAME[a], BY_NAME[b]) for a, b in FLOW),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def sentence() -> str:
    """What the figure shows, for those who cannot see it."""
    return "One launch: " + ", ".join([FLOW[0][0], *(after for _, after in FLOW)]) + "."


def drawn(box) -> str:
    """A box with its name and words."""
    middle = box.left + box.width / 2
    lines = [text(middle, box.top + 19, box.label, "name", "middle")]
    lines += [
        text(middle, box.top + 35 + 15 * n, words, "small", "middle")
        for n, words in enumerate(box.words)
    ]
    return (
        f"<rect class='{box.kind}' x='{box.left}' y='{box.top}' width='{box.width}' "
        f"height='{box.height}' rx='5'/>{''.join(lines)}"
    )


def arrow(start, end) -> str:
    """An arrow from one box to the next: to the right, or up or down."""
    if start.right <= end.left:
        y = start.top + start.height / 2
        return f"<path class='arrow' d='M{start.right + 2} {y} H{end.left - 3}'/>"
    x = end.left + end.width / 2
    down = start.top < end.top
    begin = start.top + start.height + 2 if down else start.top - 2
    stop = end.top - 3 if down else end.top + end.height + 3
    return f"<path class='arrow' d='M{x} {begin} V{stop}'/>"


def text(x, y, words, kind="small", anchor="start") -> str:
    """A line of text."""
    where = f"x='{x}' y='{y}' text-anchor='{anchor}'"
    return f"<text class='{kind}' {where}>{escape(words)}</text>"


if __name__ == "__main__":
    FILE.write_text(figure(), encoding="utf-8")

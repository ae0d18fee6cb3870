"""The page of an exploration: its controls, and all its pictures, which share lines."""

import json

from thirty_two_lanes.core.pages.packing import bare, packed, starter
from thirty_two_lanes.pictures import THEMES

HERE = __package__
PLAYS = ".lanes-explore[data-explore=plays]"
# the picture that stands for all is shown where no script runs, and only there
STYLE = (
    f"{THEMES}:is(.jp-OutputArea,.cell_output,.output,.cell_container):has({PLAYS}) "
    ":is(img,svg,.image-reference){display:none}"
)


def page(values, begin, pictures, instead):
    """The sliders for a notebook's output; `instead` stands where no script runs."""
    texts = [picture.svg() for picture in pictures]
    table, frames = shared([text.split("\n") for text in texts])
    record = {
        "controls": [control(name, each) for name, each in values.items()],
        "begin": begin,
        "lines": table,
        "frames": frames,
        "said": [picture.alt for picture in pictures],
        "style": bare(HERE, "player.css"),
    }
    text = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    data = f"<script type='text/plain'>{packed(text)}</script>"
    return (
        f"<style>{STYLE}</style><div class='lanes-explore'>{instead}{data}</div>"
        f"{starter(HERE, 'player.js')}"
    )


def shared(pages):
    """Every line once, and for each page the numbers of its lines, each less that of
    the line before: most are 1.
    """
    places = {}
    frames = []
    for lines in pages:
        numbers = [places.setdefault(line, len(places)) for line in lines]
        before = [-1, *numbers]
        frames.append([b - a for a, b in zip(before, numbers, strict=False)])
    return list(places), frames


def control(name, values):
    """What a page shows for one argument: a box to tick, a slider or a menu."""
    if set(map(type, values)) == {bool} and len(values) == len(set(values)) == 2:
        kind = "checkbox"
    elif all(isinstance(it, int | float) for it in values):
        kind = "range"
    else:
        kind = "select"
    short = float if kind == "range" else ()
    texts = [f"{it:g}" if isinstance(it, short) else str(it) for it in values]
    if kind == "checkbox":
        texts = [str(it).lower() for it in values]
    return {"name": name.replace("_", " "), "kind": kind, "values": texts}

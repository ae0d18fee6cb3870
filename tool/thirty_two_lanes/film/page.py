"""A film's page: the record, and the player that replays it, in one piece of HTML.

It needs no network and no kernel. Where scripts are taken away, the contact sheet and
the description stay. The player is plain JavaScript: the files beside this one, one
after the other in a function of their own, so that the films of a page share nothing.
"""

import json
from functools import cache
from html import escape

from thirty_two_lanes.core import style
from thirty_two_lanes.core.pages.packing import bare, packed, starter

SCRIPTS = (
    "replay words pen block layout scene memory follow legend stage controls".split()
)
SHEETS = "colours.css", "player.css", "legend.css"
COLOURS = {
    "ink": style.INK,
    "paper": style.PAPER,
    "load": style.LOAD,
    "store": style.STORE,
    "finding": style.EMULATED,
    "idle": style.IDLE,
}
FILE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{color-scheme: light dark}}
body {{margin: 12px; background: #fff; font: 13px system-ui, sans-serif}}
h1 {{font-size: 15px; margin: 0 0 8px}}
@media (prefers-color-scheme: dark) {{body {{background: #0e1114; color: #e9edf0}}}}
</style>
</head>
<body>
<main class="lanes-film-alone">
<h1>{title}</h1>
{film}
</main>
</body>
</html>
"""


def page(record, sheet=None) -> str:
    """The film for a notebook's output; `sheet` is the <img> of its contact sheet."""
    said = escape(record.get("description") or "", quote=False)
    text = json.dumps(record, separators=(",", ":"), allow_nan=False)
    scripts = (
        f"<script type='text/plain'>{packed(player())}</script>"
        f"<script type='text/plain'>{packed(text)}</script>"
        f"{starter('thirty_two_lanes.film', 'boot.js')}"
    )
    return (
        "<div class='lanes-film'>"
        f"<div class='lanes-film-sheet'>{sheet or ''}<p>{said}</p></div>"
        f"<div class='lanes-film-player'></div>{scripts}</div>"
    )


def document(record, sheet=None) -> str:
    """The film as a file of its own."""
    title = f"{record['kernel']}: a film of one block"
    return FILE.format(title=escape(title), film=page(record, sheet))


@cache
def player() -> str:
    """The script with its style sheet."""
    light = "".join(f"--{name}: {colour};" for name, colour in COLOURS.items())
    sheets = [f":host {{{light}}}", *(bare(__package__, name) for name in SHEETS)]
    look = json.dumps("\n".join(sheets))
    code = "\n".join(bare(__package__, f"{name}.js") for name in SCRIPTS)
    return f"(() => {{\n'use strict';\nconst STYLE = {look};\n{code}\n}})();"

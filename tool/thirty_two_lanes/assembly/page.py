"""An assembly as a page in a notebook: the kernel's lines, the types of the variables
that each gives a value, and its machine instructions, folded.
"""

from html import escape

from thirty_two_lanes.assembly.report import rows_of, sentence, summary
from thirty_two_lanes.core.pages.html import (
    LEFT,
    ROOT,
    STYLE,
    below,
    code,
    scroller,
    sign,
    source_code,
)

MEANINGS = {
    "costly": "costs many instructions or slow memory accesses",
    "slight": "could be fewer instructions",
}
MINE = f"""\
{ROOT} .m {{white-space: normal; max-width: 36em;
font-family: var(--jp-code-font-family, monospace)}}
{ROOT} .m details {{margin: 0; font-size: 12px}}
{ROOT} .m pre {{white-space: pre; margin: 2px 0; background: none; color: inherit}}
"""


def as_html(assembly) -> str:
    """The sentence and the source page."""
    names = {"source": "s", "types": "s"}
    if not assembly.missing:
        names["machine instructions"] = "m"
    head = "<td></td><td></td>" + "".join(
        f"<th class='{kind}' {LEFT}>{name}</th>" for name, kind in names.items()
    )
    rows = "".join(row for it in rows_of(assembly) for row in rows_for(assembly, *it))
    table = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    style = f"<style>{' '.join((STYLE + MINE).split())}</style>"
    return (
        f"<div class='run-page'>{style}<div>{escape(sentence(assembly))}</div>"
        f"{scroller(table, 2 * len(names))}</div>"
    )


def rows_for(assembly, line, text, made, types, notes):
    """A line's row, and one for each note about it."""
    levels = [it.level for it in assembly.findings if it.site.line == line]
    level = min(levels, default="")  # "costly" before "slight"
    kinds = "<br>".join(
        f"{escape(name)}: {escape(kind)}" for name, kind in types.items()
    )
    shown = source_code(text) if line else f"<i>routine: {escape(text)}</i>"
    cells = (
        f"<td class='n'>{line or ''}</td><td class='n'>{sign(level, MEANINGS)}</td>"
        f"<td class='s {level}' {LEFT}>{shown}</td><td class='s' {LEFT}>{kinds}</td>"
    )
    if not assembly.missing:
        cells += f"<td class='m' {LEFT}>{machine(made)}</td>"
    yield f"<tr>{cells}</tr>"
    for note in notes:
        yield f"<tr><td></td>{below(code(note), ('types', 'machine'))}</tr>"


def machine(made) -> str:
    """A line's instructions in a summary, and all of them when it is opened."""
    if not made:
        return ""
    text = "\n".join(f"{it.offset:04x}  {it}" for it in made)
    return (
        f"<details><summary>{escape(summary(made))}</summary>"
        f"<pre>{escape(text)}</pre></details>"
    )

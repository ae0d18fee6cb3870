"""What the pages of runs and of assemblies share: a style sheet, lines of source."""

import re
from html import escape

from thirty_two_lanes.core.style import CONFLICT, STORE

LEFT = "style='text-align: left'"  # holds where a viewer takes away the rules below
TINT = "20"  # how opaque a line's ground is: its edge stands out from it by 3:1
NARROWEST = 36  # characters of a source line that are seen whatever stands beside it
SIGNS = {"wrong": "✖", "costly": "▲", "slight": "△"}  # of findings
ROOT = ".run-page" * 3
# the class three times: a notebook's own rules for tables are more specific than once
STYLE = f"""\
{ROOT} table {{border-collapse: collapse; margin: 6px 0; font-size: 12px}}
{ROOT} tbody tr {{background: none}}
{ROOT} th, {ROOT} td {{padding: 1px 8px; border: 0; text-align: right;
vertical-align: top; white-space: nowrap; line-height: 1.35}}
{ROOT} thead * {{border-bottom: 1px solid; vertical-align: bottom;
white-space: normal; max-width: 6em}}
{ROOT} .s {{white-space: pre; max-width: none;
font-family: var(--jp-code-font-family, monospace)}}
{ROOT} .s code {{background: none; padding: 0; white-space: pre; display: block;
overflow-x: auto; scrollbar-width: thin; max-width: max(24em, 100cqw - var(--beside))}}
{ROOT} .n {{opacity: .7; padding: 1px 0 1px 8px}}
{ROOT} .a {{white-space: normal; max-width: 62em; padding-bottom: 4px}}
{ROOT} .a span {{display: block; position: sticky; left: 0;
max-width: min(62em, 100cqw - 4em)}}
{ROOT} .wide {{overflow-x: auto; container-type: inline-size}}
{ROOT} .wrong {{background: {CONFLICT}{TINT}}}
{ROOT} .costly {{background: {STORE}{TINT}}}
{ROOT} .s.wrong {{box-shadow: inset 3px 0 {CONFLICT}}}
{ROOT} .s.costly {{box-shadow: inset 3px 0 {STORE}}}
{ROOT} div, {ROOT} details {{font-size: 13px; margin: 4px 0}}
{ROOT} a {{color: inherit; text-decoration: underline}}
@media (pointer: coarse) {{{ROOT} summary {{padding: 4px 0}}}}
"""


def sign(level, meanings) -> str:
    """The sign of a level, with its meaning as a tooltip."""
    return level and f"<span title='{meanings[level]}'>{SIGNS[level]}</span>"


def source_code(text) -> str:
    """A source line, whose indent holds where a viewer takes away our styles."""
    code = text.lstrip()
    keys = " tabindex='0'" if len(text) > NARROWEST else ""  # scroll a long line
    return f"<code{keys}>{'&nbsp;' * (len(text) - len(code))}{escape(code)}</code>"


def below(text, columns) -> str:
    """A text below a line, as wide as the page also where the table is wider."""
    said = f"<span>{text}</span>"
    return f"<td></td><td class='a' {LEFT} colspan={1 + len(columns)}>{said}</td>"


def scroller(rows, beside) -> str:
    """A table of source lines: a line scrolls that does not fit the page with so many
    columns beside it, and the whole table where none fits.
    """
    name = "tabindex='0' role='group' aria-label='source lines'"
    width = f"style='--beside: {6 + 7 * beside}em'"
    return f"<div class='wide' {name} {width}><table>{rows}</table></div>"


def code(sentence) -> str:
    """A sentence in HTML, with what is between backticks as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(sentence, quote=False))

"""A run as a page: the kernel's source, its counts beside each line, and what to do
about the worst.

A column stands there only if it has something to say. What is wrong or costs is marked
by a colour and by a sign, in tints that show on light and on dark paper.
"""

from html import escape

from .findings import COSTLY, NOTE, WRONG, findings
from .judges import summed
from .report import sentence

SIGNS = {WRONG: "✕", COSTLY: "▲", NOTE: "·"}
TINTS = {
    WRONG: "rgba(213, 94, 0, 0.30)",
    COSTLY: "rgba(230, 159, 0, 0.22)",
    NOTE: "transparent",
}
COLUMNS = (
    ("active", "active lanes, of all of the warps that came here"),
    ("sectors", "sectors for each request to global memory (ideal)"),
    ("wavefronts", "wavefronts for each request to shared memory (ideal)"),
)
CELL = "padding: 0.1em 0.7em; text-align: "


def as_html(run) -> str:
    """The sentence, the source with counts and advice, and the notes."""
    told = findings(run)
    lines = _source(run)
    counts = {key: _counts(run, key) for key in lines}
    names = [n for n, _ in COLUMNS if any(row.get(n) for row in counts.values())]
    rows = [
        _line(key[0], text, counts[key], names, _level(told, key))
        + "".join(_advice(f, names) for f in told if _stands_at(f, key))
        for key, text in lines.items()
    ]
    notes = "".join(
        f"<div style='opacity: 0.75'>{SIGNS[NOTE]} {_code(f.text)}</div>"
        for f in told
        if f.level == NOTE
    )
    return (
        f"<div>{escape(sentence(run))}</div>"
        "<table style='border-collapse: collapse; margin: 0.5em 0'><thead><tr>"
        f"<th style='{CELL}right'>line</th><th style='{CELL}left'>source</th>"
        f"{''.join(_head(n, about) for n, about in COLUMNS if n in names)}"
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table>{notes}"
    )


def _source(run) -> dict:
    """The lines to show, by number and bare text: the kernel's, then what it calls."""
    lines = {(number, text.strip()): text for number, text in run.source}
    called = {}
    for table in (run.coalescing, run.bank_conflicts, run.divergence):
        for site in table.by_line:
            if (site.line, site.text) not in lines:
                called[site.line, site.text] = site.text
    return lines | dict(sorted(called.items()))


def _counts(run, key) -> dict:
    """A line's cells: text, and whether it costs more than it must."""
    found = {}
    share = _row(run.divergence, key)
    if share is not None and share.active_share < 1:
        found["active"] = f"{share.active_share:.0%}", False
    row = _row(run.coalescing, key)
    if row is not None:
        found["sectors"] = _each(row.sectors, row.ideal_sectors, row.requests)
    row = _row(run.bank_conflicts, key)
    if row is not None:
        found["wavefronts"] = _each(row.wavefronts, row.ideal_wavefronts, row.requests)
    return found


def _row(table, key):
    """The sum of a table's rows of a line, or None."""
    rows = [row for site, row in table.by_line.items() if (site.line, site.text) == key]
    return summed(rows) if rows else None


def _each(taken, ideal, requests):
    text = f"{taken / requests:.3g}"
    if taken == ideal:
        return text, False
    return f"{text} ({ideal / requests:.3g})", True


def _level(told, key):
    """The worst that is found at a line, or None."""
    levels = {f.level for f in told if key in _places(f)} - {NOTE}
    return WRONG if WRONG in levels else COSTLY if COSTLY in levels else None


def _places(finding):
    """The lines of a finding; its advice stands under the last."""
    sites = [site for site, _ in finding.others] or [finding.site]
    return [(site.line, site.text) for site in sites]


def _stands_at(finding, key) -> bool:
    return finding.level != NOTE and _places(finding)[-1] == key


def _line(line, text, counts, names, level):
    tint = f"background: {TINTS[level]};" if level else ""
    cells = "".join(_cell(*counts.get(name, ("", False))) for name in names)
    sign = f"{SIGNS[level]} " if level else ""
    return (
        f"<tr style='{tint}'><td style='{CELL}right'>{sign}{line}</td>"
        f"<td style='{CELL}left; white-space: pre'>"
        f"<code style='background: none'>{escape(text)}</code></td>{cells}</tr>"
    )


def _cell(text, costly):
    text = f"<b>{escape(text)}</b>" if costly else escape(text)
    return f"<td style='{CELL}right'>{text}</td>"


def _head(name, about):
    return f"<th style='{CELL}right' title='{escape(about)}'>{name}</th>"


def _advice(finding, names):
    """A row under a line: what is the matter, who did what, and what to do."""
    who = "".join(
        f"<br>line {site.line}: {escape(what)}" for site, what in finding.others
    )
    advice = f"<br><i>{_code(finding.advice)}</i>" if finding.advice else ""
    return (
        f"<tr style='background: {TINTS[finding.level]}'><td></td>"
        f"<td colspan='{1 + len(names)}' style='{CELL}left; max-width: 44em'>"
        f"{SIGNS[finding.level]} {_code(finding.text)}{who}{advice}</td></tr>"
    )


def _code(text):
    """Escaped, with what stands between backticks as code."""
    parts = escape(text).split("`")
    return "".join(
        f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts)
    )

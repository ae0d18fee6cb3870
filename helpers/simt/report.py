"""A run told to people: one sentence, and a table that quotes the kernel's lines."""

from html import escape

from ..hardware import WARP_SIZE


def as_text(run) -> str:
    """A sentence with units, then a line for each access that costs more than it must."""
    facts = [f"{run.blocks:,} {_plural('block', run.blocks)} × {run.threads_per_block:,} "
             f"{_plural('thread', run.threads_per_block)}"]
    if run.coalescing.requests:
        facts.append(f"{run.coalescing.sectors:,} sectors for {run.coalescing.requests:,} global "
                     f"{_plural('request', run.coalescing.requests)} "
                     f"(ideal {run.coalescing.ideal_sectors:,})")
    if run.bank_conflicts.requests:
        facts.append(f"{run.bank_conflicts.conflicts:,} bank "
                     f"{_plural('conflict', run.bank_conflicts.conflicts)} in "
                     f"{run.bank_conflicts.requests:,} shared "
                     f"{_plural('request', run.bank_conflicts.requests)}")
    lines = [f"emulated {run.kernel}: {', '.join(facts)}"]
    width = max((len(str(s.line)) for s, *_ in _costly(run)), default=0)
    for site, row, what in _costly(run):
        lines.append(f"  line {site.line:>{width}}  {site.text}    {row.kind} of {row.array}: {what}")
    return "\n".join(lines)


def _costly(run):
    for site, row in run.coalescing.by_line.items():
        if row.sectors > row.ideal_sectors:
            yield site, row, (f"{row.sectors / row.requests:.3g} sectors per request, ideal "
                              f"{row.ideal_sectors / row.requests:.3g}")
    for site, row in run.bank_conflicts.by_line.items():
        if row.conflicts:
            yield site, row, f"{1 + row.conflicts / row.ideal_wavefronts:.3g}-way bank conflict"


def _plural(word, count):
    return word if count == 1 else f"{word}s"


def as_html(run) -> str:
    """The sentence, and every access with its counts, like a profiler's source page."""
    rows = []
    for site, row in run.coalescing.by_line.items():
        rows.append((site, row, row.requests, f"{row.sectors / row.requests:.4g} sectors",
                     f"{row.ideal_sectors / row.requests:.4g}", row.sectors > row.ideal_sectors))
    for site, row in run.bank_conflicts.by_line.items():
        rows.append((site, row, row.requests, f"{row.wavefronts / row.requests:.4g} wavefronts",
                     f"{row.ideal_wavefronts / row.requests:.4g}", row.conflicts > 0))
    rows.sort(key=lambda r: (r[0].file, r[0].line))
    head = "".join(f"<th style='text-align:{'left' if n < 3 else 'right'}'>{name}</th>"
                   for n, name in enumerate(("line", "source", "access", "requests",
                                             "each takes", "ideal")))
    body = "".join(map(_html_row, rows))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    return f"<div>{escape(as_text(run).splitlines()[0])}</div>{table}"


def _html_row(row):
    site, counts, requests, each, ideal, costly = row
    caller = f" (from {site.called_from})" if site.called_from else ""
    weight = "bold" if costly else "normal"
    return (f"<tr><td style='text-align:left'>{site.line}{caller}</td>"
            f"<td style='text-align:left'><code>{escape(site.text)}</code></td>"
            f"<td style='text-align:left'>{counts.kind} of <code>{escape(counts.array)}</code></td>"
            f"<td style='text-align:right'>{requests:,}</td>"
            f"<td style='text-align:right;font-weight:{weight}'>{each}"
            f"{' ⚠' if costly else ''}</td><td style='text-align:right'>{ideal}</td></tr>")

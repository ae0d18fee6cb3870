"""A run told to people: one sentence, and a table that quotes the kernel's lines."""

from html import escape


def as_text(run) -> str:
    """A sentence with units, then each access that costs more than it must."""
    facts = [
        f"{run.blocks:,} {_plural('block', run.blocks)} × {run.threads_per_block:,} "
        f"{_plural('thread', run.threads_per_block)}"
    ]
    if run.coalescing.requests:
        facts.append(
            f"{run.coalescing.sectors:,} sectors for "
            f"{run.coalescing.requests:,} global "
            f"{_plural('request', run.coalescing.requests)} "
            f"(ideal {run.coalescing.ideal_sectors:,})"
        )
    if run.bank_conflicts.requests:
        facts.append(
            f"{run.bank_conflicts.conflicts:,} bank "
            f"{_plural('conflict', run.bank_conflicts.conflicts)} in "
            f"{run.bank_conflicts.requests:,} shared "
            f"{_plural('request', run.bank_conflicts.requests)}"
        )
    lines = [f"emulated {run.kernel}: {', '.join(facts)}"]
    width = max((len(str(s.line)) for s, *_ in _costly(run)), default=0)
    for site, row, what in _costly(run):
        lines.append(
            f"  line {site.line:>{width}}  {site.text}    "
            f"{row.kind} of {row.array}: {what}"
        )
    return "\n".join(lines)


def _costly(run):
    for site, row in run.coalescing.by_line.items():
        if row.sectors > row.ideal_sectors:
            yield (
                site,
                row,
                (
                    f"{row.sectors / row.requests:.3g} sectors per request, ideal "
                    f"{row.ideal_sectors / row.requests:.3g}"
                ),
            )
    for site, row in run.bank_conflicts.by_line.items():
        if row.conflicts:
            yield (
                site,
                row,
                f"{1 + row.conflicts / row.ideal_wavefronts:.3g}-way bank conflict",
            )


def _plural(word, count):
    return word if count == 1 else f"{word}s"


def as_html(run) -> str:
    """The sentence, and every access with its counts, like a profiler's source page."""
    rows = [
        (site, row, "sector", row.sectors, row.ideal_sectors)
        for site, row in run.coalescing.by_line.items()
    ] + [
        (site, row, "wavefront", row.wavefronts, row.ideal_wavefronts)
        for site, row in run.bank_conflicts.by_line.items()
    ]
    rows.sort(key=lambda row: (row[0].file, row[0].line))
    sentence = f"<div>{escape(as_text(run).splitlines()[0])}</div>"
    if not rows:
        return sentence
    names = ("line", "source", "access", "requests", "each takes", "ideal", "cost")
    head = "".join(_html_cell(name, "th", n < 3) for n, name in enumerate(names))
    body = "".join(map(_html_row, rows))
    return (
        f"{sentence}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _html_row(row):
    site, counts, unit, taken, ideal = row
    caller = f" (from {site.called_from})" if site.called_from else ""
    cost = f"{taken / ideal:.3g} ×" if ideal else ""
    cells = [
        f"{site.line}{caller}",
        f"<code>{escape(site.text)}</code>",
        f"{counts.kind} of <code>{escape(counts.array)}</code>",
        f"{counts.requests:,}",
        f"{taken / counts.requests:.4g} {_plural(unit, taken / counts.requests)}",
        f"{ideal / counts.requests:.4g}",
        f"<b>{cost}</b>" if taken > ideal else cost,
    ]
    return (
        f"<tr>{''.join(_html_cell(c, 'td', n < 3) for n, c in enumerate(cells))}</tr>"
    )


def _html_cell(text, tag, left):
    return f"<{tag} style='text-align:{'left' if left else 'right'}'>{text}</{tag}>"

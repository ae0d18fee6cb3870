"""A run told as text: one sentence with units, then what is wrong and what costs."""

from .findings import NOTE, findings, plural


def as_text(run) -> str:
    """The sentence, and each finding but the notes, which `run.warnings` has."""
    told = [f for f in findings(run) if f.level != NOTE]
    width = max((len(str(f.site.line)) for f in told), default=0)
    lines = [sentence(run)]
    for finding in told:
        line = f"{finding.site.line:>{width}}"
        if finding.others:
            lines.append(f"  {finding.text}")
            longest = max(len(site.text) for site, _ in finding.others)
            lines += [
                f"    line {site.line:>{width}}  {site.text:<{longest}}  {what}"
                for site, what in finding.others
            ]
        else:
            lines.append(f"  line {line}  {finding.site.text}    {finding.text}")
        if finding.advice:
            lines.append(f"    {finding.advice}")
    return "\n".join(lines)


def sentence(run) -> str:
    """What was emulated, and the sums, with units."""
    facts = [
        f"{plural('block', run.blocks)} × {plural('thread', run.threads_per_block)}"
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
    if run.races:
        facts.append(plural("race", len(run.races)))
    return f"emulated {run.kernel}: {', '.join(facts)}"


def _plural(word, count):
    return word if count == 1 else f"{word}s"

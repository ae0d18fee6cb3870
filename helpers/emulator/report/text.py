"""A run told in a terminal: one sentence, then what was found, worst first."""

from helpers.emulator.report.findings import counted, findings_of

MOST = 12  # findings that are told; the tables have all
WIDEST = 78  # characters of a warning's first words
WIDEST_SOURCE = 48  # of a source line that others are aligned with


def as_text(run) -> str:
    """The sentence; races with both lines; each other line that can be better."""
    found = [it for it in findings_of(run) if it.also is None]
    rows = [(_number(it.site), it.site.text, _shortened(it.what)) for it in found]
    races = [line for race in run.races[:MOST] for line in race_lines(race)]
    told = [*races, *_aligned(rows[:MOST]), *map(_minor, run.races.minor[:MOST])]
    return "\n".join([sentence(run), *told, *_rest(run, rows)])


def sentence(run) -> str:
    """What ran, and its sums."""
    facts = [
        f"{counted(run.blocks, 'block')} × {counted(run.threads_per_block, 'thread')}"
    ]
    if run.races:
        facts.append(counted(len(run.races), "race"))
    if run.races.minor:
        facts.append(counted(len(run.races.minor), "minor race"))
    if run.coalescing.requests:
        facts.append(
            f"{counted(run.coalescing.sectors, 'sector')} for "
            f"{counted(run.coalescing.requests, 'global request')} "
            f"(ideal {run.coalescing.ideal_sectors:,})"
        )
    if run.bank_conflicts.requests:
        facts.append(
            f"{counted(run.bank_conflicts.conflicts, 'bank conflict')} in "
            f"{counted(run.bank_conflicts.requests, 'shared request')}"
        )
    return f"emulated {run.kernel}: {', '.join(facts)}"


def race_lines(race):
    """A race: what it is, both lines with both threads, and what would order them."""
    yield f"  {race.title}"
    numbers = [_number(site) for site, _ in race.accesses]
    for (site, access), number in zip(race.accesses, numbers, strict=True):
        line = f"{number:<{max(map(len, numbers))}}  "
        text = f"{site.text:<{max(len(s.text) for s, _ in race.accesses)}}"
        yield f"    {line}{text}    {access}"
    yield f"    {race.remedy}"


def _minor(race):
    """A minor race in a line."""
    lines = dict.fromkeys([_number(race.first), _number(race.second)])
    return f"  minor: {race.title} ({' and '.join(lines)})"


def _number(site):
    """A line's number, and whence it was called."""
    caller = f", called from line {site.called_from}" if site.called_from else ""
    return f"line {site.line}{caller}"


def _aligned(rows):
    width = max((len(number) for number, *_ in rows), default=0)
    texts = [len(text) for _, text, _ in rows if len(text) <= WIDEST_SOURCE]
    for number, text, what in rows:
        yield f"  {number:<{width}}  {text:<{max(texts, default=0)}}    {what}"


def _shortened(what):
    """The first words of a long sentence."""
    return what if len(what) <= WIDEST else f"{what[:WIDEST].rsplit(' ', 1)[0]} …"


def _rest(run, rows):
    told = (rows, run.races, run.races.minor)
    more = sum(max(0, len(findings) - MOST) for findings in told)
    if more:
        yield f"  and {more} more: the tables of the run have all"

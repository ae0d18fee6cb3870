"""A run as text, for a terminal: one sentence, then what was found, worst first. Below
what is wrong stands its remedy; above it, all that have the same one.
"""

from itertools import groupby
from textwrap import indent

from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.race import below
from thirty_two_lanes.core.source import WIDEST_LINE
from thirty_two_lanes.core.warp_races import NOUNS, within_warps
from thirty_two_lanes.core.words import counted, lowered
from thirty_two_lanes.emulator.report.findings import findings_of

MOST_FINDINGS = 12  # to show; the tables of a run have all
MOST_BEFORE = 6  # to show below an error
WIDEST = 78  # characters of a warning that is shown in full
TOLD = ("tail",)  # kinds of notes that a terminal is told, too


def as_text(run) -> str:
    """The sentence; races with both lines; each other line that can be better."""
    found = [it for it in findings_of(run) if it.topic != "races"]
    races = [*run.races, *within_warps(run.races.minor)]
    told = [(it.facts, it.remedy) for it in races[:MOST_FINDINGS]]
    first = [remedy for _, remedy in told]
    told.sort(key=lambda it: first.index(it[1]))
    shown = found[:MOST_FINDINGS]
    rows = zip(_aligned(shown), map(_remedy, shown), strict=True)
    minor = [(_minor(it), _own_remedy(it)) for it in minor_of(run)[:MOST_FINDINGS]]
    lines = [*_with_remedies(told), *_with_remedies(rows), *_with_remedies(minor)]
    notes = [_note(it) for it in run.warnings if it.note and it.kind in TOLD]
    lines = [indent(it, "  ") for it in [*lines, *notes]]
    rest = _rest(found, races, minor_of(run))
    return wrapped("\n".join([sentence(run), *lines, *rest]))


def _with_remedies(told):
    """Facts, and below each, or below several that follow one another, the remedy."""
    for remedy, group in groupby(told, key=lambda it: it[1]):
        facts = [fact for fact, _ in group]
        yield from facts
        if len(facts) > 1 and remedy:
            remedy = f"For these {len(facts)}: {lowered(remedy)}"
        if remedy:
            yield below(remedy)


def minor_of(run) -> list:
    """The races that change no value, or whose lines race between warps, too."""
    return [race for race in run.races.minor if race.same_value or race.implied]


def found_before(run) -> str:
    """What was wrong before an error stopped a launch, as lines below the error's."""
    found = [it for it in findings_of(run) if it.level == "wrong"]
    lines = [f"    {it.site.label}: {_shortened(it.what)}" for it in found]
    if len(lines) > MOST_BEFORE:
        more = f"    and {len(lines) - MOST_BEFORE} more: `error.run` has all"
        lines[MOST_BEFORE:] = [more]
    return "\n".join(["\n  Found before that:", *lines]) if lines else ""


def sentence(run) -> str:
    """What ran, and its sums."""
    facts = [
        f"{counted(run.blocks, 'block')} × {counted(run.threads_per_block, 'thread')}"
    ]
    if run.races:
        facts.append(counted(len(run.races), "race"))
    within = sum(len(it.races) for it in within_warps(run.races.minor))
    if within:
        facts.append(counted(within, *NOUNS))
    if minor := minor_of(run):
        facts.append(counted(len(minor), "minor race"))
    if run.barriers:
        facts.append(counted(len(run.barriers), "missed barrier"))
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
    if run.data_path is not None:
        facts.append(counted(run.data_path.wavefronts, "LSU wavefront"))
    return f"emulated {run.kernel}: {', '.join(facts)}"


def _note(warning):
    """What may be meant, in a line."""
    return f"note: {warning.text} ({warning.site.label})"


def _minor(race):
    """A minor race in a line."""
    lines = dict.fromkeys([race.first.label, race.second.label])
    return f"minor: {race.title} ({' and '.join(lines)})"


def _own_remedy(race):
    """The remedy of a minor race, if no other has it already."""
    return "" if race.implied else race.remedy


def _aligned(found):
    """A line for each finding, in columns."""
    sites = [it.site for it in found]
    width = max((len(it.label) for it in sites), default=0)
    texts = [len(it.text) for it in sites if len(it.text) <= WIDEST_LINE]
    text = max(texts, default=0)
    for it in found:
        source = f"{it.site.label:<{width}}  {it.site.text:<{text}}"
        yield f"{source}    {_shortened(it.what)}"


def _remedy(finding) -> str:
    """What to do about a line, where the line does not say it."""
    return "" if finding.remedy in _shortened(finding.what) else finding.remedy


def _shortened(what):
    """The first sentence of what is long, which says what to change."""
    return what if len(what) <= WIDEST else what.partition(". ")[0]


def _rest(*findings):
    more = sum(max(0, len(some) - MOST_FINDINGS) for some in findings)
    if more:
        yield f"  and {more} more: the tables of the run show all"

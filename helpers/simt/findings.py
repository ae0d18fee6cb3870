"""What of a run is worth telling, the worst first, each with one sentence of advice.

Advice ends in the name of the subject that explains it, which is a lesson's title.
"""

from typing import NamedTuple

from .events import Site

WRONG, COSTLY, NOTE = "wrong", "costly", "note"
FEW_LANES = 0.5  # a line of which fewer take part is told of


class Finding(NamedTuple):
    """A line, what is the matter with it, and what to do."""

    level: str
    site: Site
    text: str
    advice: str
    others: tuple = ()  # the lines of a pair, and what happens at each


def findings(run) -> list[Finding]:
    """All findings of a run: what is wrong, what costs, and notes."""
    return [
        *map(_race, run.races),
        *(_uninitialised(run, found) for found in run.uninitialised),
        *(_warning(w) for w in run.warnings if not w.note),
        *(found for _, found in sorted(_costs(run), key=lambda cost: -cost[0])),
        *(_warning(w) for w in run.warnings if w.note),
    ]


def plural(word, count) -> str:
    """`1 block`, `2 blocks`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


_DONE = {"load": "loaded", "store": "stored", "atomic": "updated"}


def _race(race) -> Finding:
    others = tuple(
        (site, f"{_DONE[kind]} by {thread}")
        for site, kind, thread in (
            (race.first, race.first_kind, race.first_thread),
            (race.second, race.second_kind, race.second_thread),
        )
    )
    return Finding(
        WRONG,
        race.first,
        f"{str(race).splitlines()[0]}, such as `{race.cell}`",
        f"{race.remedy} (Barriers and races)",
        others,
    )


def _uninitialised(run, found) -> Finding:
    """A race explains what it leaves unwritten."""
    raced = any(race.array == found.array for race in run.races)
    advice = "Store to each cell first, and let a barrier come between (Shared memory)"
    return Finding(
        WRONG,
        found.site,
        f"reads {plural('cell', found.count)} of {found.space} `{found.array}` that "
        "nobody wrote",
        "" if raced else advice,
    )


def _warning(warning) -> Finding:
    return Finding(NOTE if warning.note else WRONG, warning.site, warning.text, "")


def _costs(run):
    """Each line that costs more than it must, with how much."""
    for site, row in run.bank_conflicts.by_line.items():
        if row.conflicts:
            ways = 1 + row.conflicts / row.ideal_wavefronts
            yield (
                row.conflicts,
                Finding(
                    COSTLY,
                    site,
                    f"{row.kind} of shared `{row.array}`: {ways:.3g}-way bank conflict",
                    "Let neighbouring lanes take neighbouring words, or lengthen "
                    "each row by one element (Banks and conflicts)",
                ),
            )
    for site, row in run.coalescing.by_line.items():
        if row.sectors > row.ideal_sectors:
            yield row.sectors - row.ideal_sectors, _uncoalesced(site, row)
    for site, row in run.divergence.by_line.items():
        if row.splits and row.splits == row.branches:
            yield (
                row.instructions,
                Finding(
                    COSTLY,
                    site,
                    f"splits every warp that comes to it, {row.splits:,} of them",
                    "Let whole warps decide alike, as in `if warp % 2 == 0` "
                    "(Warps and divergence)",
                ),
            )


def _uncoalesced(site, row) -> Finding:
    sectors, ideal = row.sectors / row.requests, row.ideal_sectors / row.requests
    if sectors <= ideal + 1:
        advice = "Begin at a multiple of 32 bytes: a view that begins elsewhere"
        advice += " touches one sector more"
    else:
        advice = "Let neighbouring threads take neighbouring elements"
    return Finding(
        COSTLY,
        site,
        f"{row.kind} of `{row.array}`: {sectors:.3g} sectors per request, ideal "
        f"{ideal:.3g}",
        f"{advice} (Coalescing)",
    )

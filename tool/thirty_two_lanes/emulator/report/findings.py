"""What a run found, worst first: a figure, a sentence of advice and its topic.

Three levels: "wrong" can give wrong answers, "costly" costs at least 1.5 times the
ideal, "slight" less. Costs are compared as lost passes of a warp: a wavefront, four
sectors, an instruction's 32 idle lanes. Not modelled: what a pass costs in time.
"""

from typing import NamedTuple

from thirty_two_lanes.core.hardware import LINE_BYTES, SECTOR_BYTES, WARP_SIZE
from thirty_two_lanes.core.words import counted

COSTLY = 1.5  # times the ideal
IDLE = 0.5  # of the lanes that a warp has, at which or below a line is divergent
SIGNIFICANT = 0.05  # of all lanes of a run, which must idle on a line to be reported

MISTAKES = {
    "wrap": "guards",
    "overflow": "types",
    "exception": "guards",
    "grid": "guards",
}


class Finding(NamedTuple):
    """What is wrong or costs too much on a line; `also` is the other line of two. The
    advice is "" where a line with the same topic and a higher cost has it.
    """

    level: str
    site: object
    topic: str  # words that the name of a lesson would hold
    what: str
    advice: str
    cost: float = 0.0
    also: object = None


def findings_of(run) -> list[Finding]:
    """All findings of a run, worst first; races are in the order of run.races."""
    costs = [*_accesses(run), *_divergence(run)]
    costs += [_float64(w) for w in run.warnings if w.kind == "float64"]
    costs.sort(key=lambda it: (it.level != "costly", -it.cost))
    return [
        *map(race, run.races),
        *map(missing, run.barriers),
        *map(stray, run.lanes),
        *map(uninitialised, run.uninitialised),
        *(mistake(w) for w in run.warnings if w.kind in MISTAKES),
        *costs,
    ]


def level_of(taken, ideal) -> str:
    """The level of a cost; "" where it is ideal."""
    if taken <= ideal:
        return ""
    return "costly" if taken >= COSTLY * ideal else "slight"


def figure(number) -> str:
    """A number of a request: three digits, and no decimals where it is whole."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


# ------------------------------------------------------------------ what may be wrong


def race(race) -> Finding:
    """Two lines that race."""
    return Finding(
        "wrong",
        race.first,
        "races",
        race.title,
        f"Races for `{race.array}` with {_other(race)}: {_lowered(race.remedy)}.",
        race.hazards,
        race.second,
    )


def _other(race):
    same = race.second.line == race.first.line
    return "itself, in another thread" if same else f"line {race.second.line}"


def _lowered(sentence):
    return sentence[:1].lower() + sentence[1:]


def missing(found) -> Finding:
    """A barrier that threads miss."""
    threads, blocks = counted(found.threads, "thread"), counted(found.blocks, "block")
    gpu = (
        "Since Volta a barrier does not wait for threads that have ended; those that "
        "skip it and go on may leave the others waiting forever"
        if found.left
        else "A GPU takes the two for one barrier, which CUDA does not promise"
    )
    return Finding(
        "wrong",
        found.site,
        "barriers",
        f"barrier missed by {threads}, {found.how}",
        f"{threads} of {blocks} missed this barrier ({found.how}); the first is "
        f"thread {found.thread} of block {found.block}. {gpu}. Let all threads reach "
        "it: guard the work, not the barrier.",
        found.threads,
        found.elsewhere,
    )


_LEAVE_ALONE = {
    "outside": "Name in the mask all lanes that execute this line and are read.",
    "left": "Let all lanes of the warp come to this line, and guard what follows.",
    "absent": "Launch whole warps of 32 threads, or read only lanes that exist.",
    "unnamed": "Name in the mask exactly the lanes that execute this line, "
    "`0xFFFFFFFF` for all 32.",
}


def stray(found) -> Finding:
    """A shuffle, a vote or a `syncwarp` with lanes that it must leave alone."""
    advice = (
        f"{_raised(found.text)}, first in thread {found.thread} of block "
        f"{found.block}: undefined on a GPU. {_LEAVE_ALONE[found.kind]}"
    )
    what = f"{found.text}: undefined"
    return Finding("wrong", found.site, "warps", what, advice, found.count)


_WRITE_FIRST = {
    "shared": "store to each cell first, and wait at a barrier before this line",
    "local": "give each cell a value before this line",
    "global": "`cuda.device_array` holds whatever was there before: store to each "
    "element first",
}


def uninitialised(found) -> Finding:
    """A line that reads what was never written."""
    cells = counted(found.count, "cell")
    what = f"reads {cells} of {found.space} `{found.array}` that nobody wrote"
    advice = f"{_raised(what)}: {_WRITE_FIRST.get(found.space, 'write it first')}."
    topic = "shared memory" if found.space == "shared" else "memory hierarchy"
    return Finding("wrong", found.site, topic, what, advice, found.count)


def _raised(sentence):
    return sentence[:1].upper() + sentence[1:]


def mistake(warning) -> Finding:
    """A silent mistake."""
    topic = MISTAKES[warning.kind]
    advice = f"{_raised(warning.text)}."
    return Finding("wrong", warning.site, topic, warning.text, advice)


# ------------------------------------------------------------------ what costs


def _accesses(run):
    for site, row in run.coalescing.by_line.items():
        if row.sectors > row.ideal_sectors:
            yield scattered(site, row)
    for site, row in run.bank_conflicts.by_line.items():
        if row.conflicts:
            yield conflict(site, row)


def scattered(site, row, limit=None) -> Finding:
    """A line whose requests to global memory touch more sectors than the ideal."""
    taken, ideal = row.sectors / row.requests, row.ideal_sectors / row.requests
    best = f"ideally {figure(ideal)}"
    if limit not in (None, row.ideal_sectors):
        best = f"at most {figure(limit / row.requests)} allowed"
    apart = taken >= 0.9 * row.active_lanes / row.requests > 1
    why = "its lanes use only a part of the sectors that they touch"
    remedy = "Let a warp access 32 numbers that lie side by side"
    if apart:
        why = "neighbouring lanes are a sector or more apart"
        remedy = "Let neighbouring threads access neighbouring elements"
    return Finding(
        level_of(row.sectors, row.ideal_sectors),
        site,
        "coalescing",
        f"{row.kind} of {row.array}: {taken:.3g} sectors per request, "
        f"ideal {ideal:.3g}",
        f"Each {row.kind} of `{row.array}` takes {counted_figure(taken, 'sector')} "
        f"({best}), because {why}. {remedy}, "
        "or use a tile in shared memory.",
        (row.sectors - row.ideal_sectors) * SECTOR_BYTES / LINE_BYTES,
    )


AT_ONE_BANK = {  # why lanes queue, and what helps: is it an atomic?
    False: (
        "its lanes access different words of the same bank",
        "Pad each row by one element, so that the stride is odd, or swizzle the index",
    ),
    True: (  # lanes of one word take turns, too
        "several of its lanes update cells of the same bank, in turn",
        "Let one lane update a cell for many, after a vote or a sum by shuffles, or "
        "give the lanes cells of different banks",
    ),
}


def conflict(site, row) -> Finding:
    """A line whose requests to shared memory take more wavefronts than the ideal."""
    taken, ideal = row.wavefronts / row.requests, row.ideal_wavefronts / row.requests
    why, remedy = AT_ONE_BANK[row.kind == "atomic"]
    return Finding(
        level_of(row.wavefronts, row.ideal_wavefronts),
        site,
        "bank conflicts",
        f"{row.kind} of {row.array}: "
        f"{1 + row.conflicts / row.ideal_wavefronts:.3g}-way bank conflict",
        f"Each {row.kind} of `{row.array}` takes {counted_figure(taken, 'wavefront')} "
        f"(ideally {figure(ideal)}), because {why}. {remedy}.",
        row.conflicts,
    )


def counted_figure(number, noun) -> str:
    """A mean beside its noun."""
    return f"{figure(number)} {noun}" + ("" if number == 1 else "s")


def _divergence(run):
    """The lines where lanes of a warp wait for others; the worst has the advice."""
    if run.threads_per_block < WARP_SIZE:
        return  # its only warp is never full: no order of its threads would fill it
    total = run.divergence.present_lanes
    found = []
    for site, row in run.divergence.by_line.items():
        idle = row.present_lanes - row.active_lanes
        if row.active_of_present <= IDLE and idle >= SIGNIFICANT * total > 0:
            found.append((idle, site, row))
    found.sort(key=lambda it: -it[0])
    for n, (idle, site, row) in enumerate(found):
        it = idling(site, row, idle / WARP_SIZE)
        yield it._replace(advice="") if n else it


def idling(site, row, cost=0.0) -> Finding:
    """A line on which most lanes wait for the others of their warp."""
    active = row.active_of_present
    share = f"{active:.3g}" if active < 0.01 else f"{active:.0%}"
    return Finding(
        "costly",
        site,
        "divergence",
        f"{share} of the lanes are active",
        f"Over the whole launch, {share} of the lanes are active here; the rest of "
        "each warp waits. A warp whose 32 threads decide alike waits for nobody.",
        cost,
    )


def _float64(warning):
    advice = f"{_raised(warning.text)}."
    return Finding("costly", warning.site, "types", warning.text, advice)

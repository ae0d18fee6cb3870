"""What a ledger says, as an agent can use it: findings, each with its places, the
threads that met there, and the advice.
"""

from thirty_two_lanes.scripts import report
from thirty_two_lanes.scripts.kinds import FAULTS, KINDS, OF_ERRORS

MOST_FINDINGS = 30
OF_ENDS = [kind.name for kind in OF_ERRORS]  # of launches that an error ended
REMEDY = "\n  Remedy: "  # as errors of launches say it
LEVELS = "wrong", "costly", "slight"  # worst first


def answer_of(ledger) -> dict:
    """The report's last sentence, and its findings, worst first."""
    found = [it for shape in ledger.worst_first() for it in findings_of(shape)]
    found.sort(key=lambda it: (LEVELS.index(it["level"]), KINDS.index(it["kind"])))
    counts = ledger.counts()
    return {
        "summary": report.total(ledger, FAULTS),
        "failed": any(counts[kind] for kind in {*FAULTS, *OF_ENDS}),
        "findings": found[:MOST_FINDINGS],
        "left_out": max(0, len(found) - MOST_FINDINGS),
    }


def findings_of(shape) -> list[dict]:
    """What ended launches of a kernel and shape, and what was found in them."""
    of = {"launch": report.heading(shape)}
    stops = [{**of, **stop(*error, n)} for error, n in shape.stops.items()]
    races = {race.finding: race for race in races_of(shape.run)}
    return stops + [
        {
            **of,
            "kind": it.kind,
            "level": it.finding.level,
            "what": it.finding.what,
            "advice": it.finding.advice,
            "places": places(it.finding, races.get(it.finding)),
            "launches": it.launches,
        }
        for it in shape.seen.values()
    ]


def stop(kind, sentence, launches) -> dict:
    """An error that ended launches; its sentence names the place and ends with what to
    do, where that is known.
    """
    what, _, advice = sentence.partition(REMEDY)
    return {
        "kind": kind,
        "level": "wrong",
        "what": what,
        "advice": advice,
        "places": [],
        "launches": launches,
    }


def races_of(run) -> list:
    """The races of a run, which know their threads; none where there is no run."""
    return [*run.races, *run.races.minor] if run else []


def places(finding, race) -> list[dict]:
    """The line of a finding, or both; of a race, with what a thread does there."""
    if race:
        return [{**place(site), "does": does} for site, does in race.accesses]
    return [place(site) for site in (finding.site, finding.also) if site]


def place(site) -> dict:
    """A line of a file."""
    return {"file": site.file, "line": site.line, "text": site.text}

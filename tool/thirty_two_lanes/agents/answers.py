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
    found = [it for entry in ledger.worst_first() for it in findings_of(entry)]
    found.sort(key=lambda it: (LEVELS.index(it["level"]), KINDS.index(it["kind"])))
    counts = ledger.counts()
    return {
        "summary": report.total(ledger, FAULTS),
        "failed": any(counts[kind] for kind in {*FAULTS, *OF_ENDS}),
        "findings": found[:MOST_FINDINGS],
        "left_out": max(0, len(found) - MOST_FINDINGS),
    }


def findings_of(entry) -> list[dict]:
    """What ended launches of a kernel, and what was found in them."""
    of = {"launch": report.heading(entry)}
    stops = [{**of, **stop(it)} for it in entry.stops.values()]
    return stops + [
        {
            **of,
            "kind": it.kind,
            "level": it.finding.level,
            "what": it.finding.what,
            "advice": it.finding.advice,
            "places": places(it.finding),
            "launches": it.launches,
        }
        for it in entry.seen.values()
    ]


def stop(it) -> dict:
    """An error that ended launches; its sentence names the place and ends with what to
    do, where that is known.
    """
    what, _, advice = it.sentence.partition(REMEDY)
    return {
        "kind": it.kind,
        "level": "wrong",
        "what": what,
        "advice": advice,
        "places": [place(it.site)] if it.site else [],
        "launches": it.launches,
    }


def places(finding) -> list[dict]:
    """The line of a finding, or both; of a race, with what a thread does there."""
    if finding.accesses:
        return [{**place(site), "does": does} for site, does in finding.accesses]
    return [place(site) for site in (finding.site, finding.also) if site]


def place(site) -> dict:
    """A line of a file."""
    return {"file": site.file, "line": site.line, "text": site.text}

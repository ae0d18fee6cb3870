"""What a run found, worst first, in the words of its judges."""

from thirty_two_lanes.core.words import Finding
from thirty_two_lanes.emulator.judges import JUDGES


def findings_of(run) -> list[Finding]:
    """All findings of a run: first what is wrong, races before the rest; then what
    costs, by how much. Races are in the order of run.races.
    """
    found = [finding for judge in JUDGES for finding in judge.findings(run)]
    return sorted(found, key=_place)


def _place(finding) -> tuple:
    """By what findings are sorted; equals stay in the order of the judges."""
    if finding.level == "wrong":
        return 0, finding.topic != "races"
    return 1, finding.level != "costly", -finding.cost

"""What a program's launches showed, as other tools want it told: each finding once,
worst first, with its places in files that they find.

A place in a file outside the repository has no path: nobody who reads a report
elsewhere has that file, and no report tells where somebody's home is.
"""

import os
from pathlib import Path
from typing import NamedTuple

from thirty_two_lanes.core.source import file_name, source_line

SEVERITIES = ("error", "warning", "note")


def in_a_workflow() -> bool:
    """Is this a step of one of GitHub's workflows?"""
    return os.environ.get("GITHUB_ACTIONS") == "true"


class Paths(NamedTuple):
    """How files are named: from `root` on, and where a name is relative, as Python's
    are of a program, it is so to `start`.
    """

    start: Path
    root: Path

    @classmethod
    def here(cls):
        """From the folder in which the command begins; in a workflow, the checkout."""
        start = Path.cwd()
        checkout = in_a_workflow() and os.environ.get("GITHUB_WORKSPACE")
        return cls(start, Path(checkout or start).resolve())

    def of(self, file) -> str | None:
        """A file from the root on, with slashes; None of one that lies elsewhere, and
        of a text that is no file.
        """
        path = Path(self.start, file).resolve()
        if not path.is_file() or not path.is_relative_to(self.root):
            return None
        return path.relative_to(self.root).as_posix()


class Place(NamedTuple):
    """A line of a file, by its name and by its path, if it has one. Of a race, `does`
    says which thread does what there.
    """

    file: str
    path: str | None
    line: int
    text: str
    does: str = ""


class Told(NamedTuple):
    """A finding; `severity` is "error" where it fails the program, "warning" where it
    can give wrong answers, and else "note". The first place is the finding's own; of a
    race, both accesses are `places`.
    """

    severity: str
    kind: str
    kernel: str
    what: str
    advice: str
    places: tuple[Place, ...]

    @property
    def message(self) -> str:
        """What was found, what each thread does, and the advice, in lines."""
        apart = len({it.file for it in self.places}) > 1
        does = [
            f"{f'{it.file}, ' if apart else ''}line {it.line}: {it.does}"
            for it in self.places
            if it.does
        ]
        repeated = not does and self.what.lower() in self.advice.lower()
        lines = ["" if repeated else self.what, *does, self.advice]
        return "\n".join(filter(None, lines))


def told(ledger, fail_on, paths) -> list[Told]:
    """Everything that was found, worst first."""
    found = [
        it for entry in ledger.worst_first() for it in _of_kernel(entry, fail_on, paths)
    ]
    return sorted(found, key=lambda it: SEVERITIES.index(it.severity))


def _of_kernel(entry, fail_on, paths):
    """What was found in the launches of a kernel."""
    for kind, finding, *_ in entry.seen.values():
        severity = "warning" if finding.level == "wrong" else "note"
        severity = "error" if kind in fail_on else severity
        facts = entry.kernel, finding.what, finding.advice, places_of(finding, paths)
        yield Told(severity, kind, *facts)
    for stop in entry.stops.values():
        severity = "error" if stop.kind in fail_on else "warning"
        places = (place_of_error(entry, stop, paths),)
        yield Told(severity, stop.kind, entry.kernel, stop.sentence, "", places)


def places_of(finding, paths) -> tuple[Place, ...]:
    """The places of a finding: its line, or both of a race."""
    accesses = finding.accesses or ((finding.site, ""),)
    return tuple(
        Place(site.file, paths.of(site.path), site.line, site.text, does)
        for site, does in accesses
    )


def place_of_error(entry, stop, paths) -> Place:
    """The line at which a launch stopped, or was refused; or the kernel's first."""
    if site := stop.site:
        return Place(site.file, paths.of(site.path), site.line, site.text)
    file, line = entry.code.co_filename, entry.code.co_firstlineno
    return Place(file_name(file), paths.of(file), line, source_line(file, line))

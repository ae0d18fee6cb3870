"""The kinds of findings that a command line names: `--only races,banks`."""

from dataclasses import replace

from thirty_two_lanes.core.errors import BarrierError, KernelIndexError
from thirty_two_lanes.emulator.judges import JUDGES, OF_PROGRAMS
from thirty_two_lanes.emulator.judges.judge import Kind
from thirty_two_lanes.emulator.report.findings import findings_of

OF_ERRORS = (  # a launch that ends with an error has no Run
    Kind("bounds", 10, ("index out of bounds", "indices out of bounds"), fault=True),
    Kind(
        "errors",
        60,
        ("launch that ends with an error", "launches that end with an error"),
    ),
)
ALL = sorted(
    {*OF_ERRORS, *(kind for judge in (*JUDGES, *OF_PROGRAMS) for kind in judge.kinds)},
    key=lambda kind: kind.rank,
)
KINDS = tuple(kind.name for kind in ALL)  # worst first
OF_HOST = tuple(kind.name for judge in OF_PROGRAMS for kind in judge.kinds)
FAULTS = tuple(kind.name for kind in ALL if kind.fault)
NOUNS = {kind.name: kind.nouns for kind in ALL if kind.nouns}  # of one, of several


class UnknownKind(ValueError):
    """A kind that there is not, and those that there are."""


def kinds_in(text) -> tuple[str, ...]:
    """The kinds that a text with commas names, in our order; `none` is none."""
    names = set(text.replace(",", " ").split()) - {"none"}
    for name in sorted(names - set(KINDS)):
        raise UnknownKind(f"there is no kind {name}: {', '.join(KINDS)}, or none")
    return tuple(kind for kind in KINDS if kind in names)


def narrowed(run, kinds):
    """A Run as if only the judges of some kinds had listened to its launch."""
    if set(kinds) >= set(KINDS).difference(OF_HOST):
        return run
    tables = {it.name: it.of_kinds(getattr(run, it.name), kinds) for it in JUDGES}
    return replace(run, **tables)


def classified(run) -> list:
    """Each finding of a Run, with its kind: (kind, Finding), worst first."""
    return [
        (kind, finding)
        for kind in KINDS
        if kind not in OF_HOST
        for finding in findings_of(narrowed(run, (kind,)))
    ]


def kind_of(error) -> str:
    """The kind of an error that ended a launch."""
    if isinstance(error, KernelIndexError):
        return "bounds"
    return "barriers" if isinstance(error, BarrierError) else "errors"

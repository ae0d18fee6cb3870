"""The kinds of findings that a command line names: `--only races,banks`."""

from dataclasses import replace
from functools import cache

from thirty_two_lanes.core.errors import BarrierError, KernelIndexError
from thirty_two_lanes.core.race import Races
from thirty_two_lanes.emulator.judges import new_judges
from thirty_two_lanes.emulator.report.findings import findings_of

SILENT = ("wrap", "overflow", "exception", "grid")
FIELDS = {  # the fields of a Run that hold them, worst first
    "races": ("races",),
    "bounds": (),  # such a launch ends with an error, and has no Run
    "uninitialised": ("uninitialised",),
    "barriers": ("barriers",),
    "lanes": ("lanes",),
    "mistakes": ("warnings",),
    "errors": (),
    "banks": ("bank_conflicts",),
    "sectors": ("coalescing", "local_memory"),
    "divergence": ("divergence",),
    "float64": ("warnings",),
}
KINDS = tuple(FIELDS)
FAULTS = ("races", "bounds", "uninitialised", "barriers", "lanes")
WARNINGS = {"mistakes": SILENT, "float64": ("float64",)}
NOUNS = {  # one of them, and several
    "races": ("race", "races"),
    "bounds": ("index out of bounds", "indices out of bounds"),
    "uninitialised": ("uninitialised read", "uninitialised reads"),
    "barriers": ("missed barrier", "missed barriers"),
    "lanes": ("shuffle or vote of missing lanes", "shuffles or votes of missing lanes"),
    "mistakes": ("likely mistake", "likely mistakes"),
    "errors": ("launch that ends with an error", "launches that end with an error"),
}


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
    if set(kinds) == set(KINDS):
        return run
    kept = {name for kind in kinds for name in FIELDS[kind]} - {"warnings"}
    blank = {name: of for name, of in _nothing().items() if name not in kept}
    wanted = {name for kind in kinds for name in WARNINGS.get(kind, ())}
    warnings = tuple(it for it in run.warnings if it.kind in wanted)
    return replace(run, **blank, warnings=warnings)


def classified(run) -> list:
    """Each finding of a Run, with its kind: (kind, Finding), worst first."""
    return [
        (kind, finding)
        for kind, fields in FIELDS.items()
        if any(getattr(run, name) for name in fields)
        for finding in findings_of(narrowed(run, (kind,)))
    ]


def kind_of(error) -> str:
    """The kind of an error that ended a launch."""
    if isinstance(error, KernelIndexError):
        return "bounds"
    return "barriers" if isinstance(error, BarrierError) else "errors"


@cache
def _nothing() -> dict:
    """What each judge says of a launch that did nothing."""
    lists = dict.fromkeys(("barriers", "lanes", "uninitialised"), ())
    names = ("coalescing", "bank_conflicts", "local_memory", "divergence")
    judges = new_judges()
    tables = {name: judges[name].table() for name in names}
    return {**tables, **lists, "races": Races()}

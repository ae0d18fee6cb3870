"""A run made by hand, for those who tell of it: tables of one or two lines."""

from types import SimpleNamespace

import numpy as np

from thirty_two_lanes.core.advice.strides import Strides
from thirty_two_lanes.core.race import Race, Races
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.emulator.judges import new_judges
from thirty_two_lanes.emulator.judges.barriers import Missing
from thirty_two_lanes.emulator.judges.divergence import Share
from thirty_two_lanes.emulator.judges.judge import ByLine, Counts
from thirty_two_lanes.emulator.judges.lanes import Stray
from thirty_two_lanes.emulator.judges.mistakes import LineWarning
from thirty_two_lanes.emulator.judges.uninitialised import Uninitialised
from thirty_two_lanes.emulator.report.assertions import RunAssertions


class HandMade(RunAssertions, SimpleNamespace):
    """What emulate would return, with the numbers that a test gives it."""

    function = None

    @property
    def strides(self):
        return Strides(self.function, ())


def site(line, text="tile[t] = 1", called_from=None):
    return Site("kernel.py", line, text, called_from)


def sectors(requests, taken, ideal, array="a", kind="load"):
    """A row of run.coalescing, of full warps."""
    return Counts(
        requests=requests,
        sectors=taken,
        ideal_sectors=ideal,
        active_lanes=32 * requests,
        kind=kind,
        array=array,
    )


def wavefronts(requests, taken, ideal, array="tile", kind="load"):
    """A row of run.bank_conflicts."""
    return Counts(
        requests=requests,
        wavefronts=taken,
        ideal_wavefronts=ideal,
        conflicts=taken - ideal,
        kind=kind,
        array=array,
    )


def share(instructions, active_lanes, branches=0, splits=0, present_lanes=None):
    """A row of run.divergence, of full warps unless it is said otherwise."""
    return Share(
        instructions=instructions,
        active_lanes=active_lanes,
        present_lanes=32 * instructions if present_lanes is None else present_lanes,
        branches=branches,
        splits=splits,
    )


def race(**changes):
    """A race between lines 7 and 8, as a missing barrier makes it."""
    known = {
        "kind": "RAW",
        "space": "shared",
        "scope": "block",
        "array": "tile",
        "first": site(7, "tile[t] = src[i]"),
        "second": site(8, "dst[i] = tile[t - 1]"),
        "hazards": 31,
        "cell": "tile[31]",
        "first_thread": "thread 31",
        "second_thread": "thread 32",
        "first_kind": "store",
        "second_kind": "load",
    }
    return Race(**known | changes)


def unwritten(line=9, array="tile", count=3):
    return Uninitialised(site(line, "x = tile[t]"), array, "shared", count)


def missed(line=12, threads=24, left=True):
    elsewhere = site(9, "return" if left else "cuda.syncthreads()")
    return Missing(
        *(site(line, "cuda.syncthreads()"), elsewhere, left, threads, 2, "40", "0")
    )


def stray(kind="left", line=13, lanes=(16, 17, 18), count=6):
    return Stray(
        *(site(line, "x = cuda.shfl_sync(m, v, 16)"), kind, lanes, count, "3", "1")
    )


def warning(line=9, kind="wrap", note=False):
    return LineWarning(site(line, "x = a[i - 1]"), kind, f"a {kind} happens", note)


def traffic(loads):
    """How often each element of an argument was loaded."""
    loads = np.array(loads)
    numbers = dict.fromkeys(("bytes_asked", "bytes_moved"), 4 * int(loads.sum()))
    rest = {"bytes_distinct": 4 * loads.size, "bytes_stored": 0, "reuse": 1.5}
    return SimpleNamespace(loads=loads, **numbers, **rest)


def table(rows, make, *zero):
    """A table of rows by site, with their sums."""
    rows = ByLine(rows or {})
    names = [n for n in vars(make(*zero)) if n not in ("kind", "array")]
    sums = {n: sum(getattr(row, n) for row in rows.values()) for n in names}
    kind = Share if make is share else Counts
    return kind(**sums, by_line=rows)


def hand_made(
    coalescing=None, bank_conflicts=None, divergence=None, races=(), minor=(), **found
):
    """A run with these rows, and nothing else to tell."""
    of_races = Races(races)
    of_races.minor = tuple(minor)
    tables = {name: judge.table() for name, judge in new_judges().items()}
    tables |= {name: tuple(rows) for name, rows in found.items() if name != "reuse"}
    tables |= {
        "coalescing": table(coalescing, sectors, 0, 0, 0),
        "bank_conflicts": table(bank_conflicts, wavefronts, 0, 0, 0),
        "divergence": table(divergence, share, 0, 0),
        "reuse": found.get("reuse", {}),
        "waits": SimpleNamespace(block=2, grid=0),
        "races": of_races,
        "data_path": None,
    }
    launch = {"kernel": "shift", "blocks": 2, "threads_per_block": 64, "source": None}
    return HandMade(**launch, **tables)

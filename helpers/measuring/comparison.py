"""Launches side by side: a row for each, a column for each quantity.

A row may hold what several verbs found of one launch, such as its time and its counts;
each column takes the first of them that knows the quantity.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from thirty_two_lanes.core.errors import ArgumentError, short_traceback, shown
from thirty_two_lanes.core.hardware import SECTOR_BYTES, gpu_named
from thirty_two_lanes.core.pages.tables import table

GB = 1e9


@dataclass(frozen=True)
class Quantity:
    """A column: what a part of a row must have to say it, and how it does."""

    needs: str
    value: Callable


def counted(name, scale=1):
    """One of Nsight Compute's counters."""
    return Quantity("counters", lambda it: scale * it.counters.get(name, math.nan))


def asked(level):
    """The GB that a level of memory was asked for, loads and stores together."""
    return Quantity("traffic", lambda it: it.traffic.get(level, math.nan) / GB)


def per_warp(name):
    """A counter, for each warp of the launch."""
    return Quantity(
        "counters", lambda it: it.counters.get(name, math.nan) / (it.warps or math.nan)
    )


def data_path_cycles(it):
    """For how many cycles the L1s and shared memories pass data, all added up."""
    busy, cycles = (
        it.counters.get(name, math.nan) for name in ("l1_data_percent", "cycles")
    )
    known = gpu_named(it.counters_gpu or it.gpu)
    return busy / 100 * cycles * known.multiprocessors if known else math.nan


def cycles_per_request(it):
    """How long a multiprocessor's L1 and shared memory pass data for each request of a
    warp, in cycles: the share of cycles in which they do, over the requests.
    """
    names = "global_load", "global_store", "shared_load", "shared_store"
    requests = sum(it.counters.get(f"{name}_requests", math.nan) for name in names)
    return data_path_cycles(it) / requests if requests else math.nan


def of_loads(name, per):
    """A count of the emulator's loads from global memory, for each `per` of them."""

    def share(run):
        loads = run.coalescing.by_kind["load"]
        return getattr(loads, name) / getattr(loads, per)

    return Quantity("coalescing", share)


QUANTITIES = {
    "µs": Quantity("median_us", lambda it: it.median_us),
    "GB/s": Quantity("gb_per_s", lambda it: it.gb_per_s),
    "TFLOP/s": Quantity("gflop_per_s", lambda it: it.gflop_per_s / 1e3),
    "% of a copy": Quantity("share_of_copy", lambda it: 100 * it.share_of_copy),
    "% of the peak": Quantity("share_of_peak", lambda it: 100 * it.share_of_peak),
    "GB through L1": asked("L1"),
    "GB through L2": asked("L2"),
    "GB through memory": asked("memory"),
    "GB loaded from L2": counted("l2_read_sectors", SECTOR_BYTES / GB),
    "GB stored to L2": counted("l2_write_sectors", SECTOR_BYTES / GB),
    "GB read from memory": counted("memory_read_bytes", 1 / GB),
    "instructions per warp": per_warp("instructions"),
    "sectors from L2 per warp": per_warp("l2_read_sectors"),
    "sectors to L2 per warp": per_warp("l2_write_sectors"),
    "issue slots used, %": counted("issue_percent"),
    "data path busy, %": counted("l1_data_percent"),
    "L2 busy, %": counted("l2_percent"),
    "memory busy, %": counted("memory_percent"),
    "occupancy, %": counted("occupancy_percent"),
    "cycles per request": Quantity("counters", cycles_per_request),
    "data path cycles per warp": Quantity(
        "counters", lambda it: data_path_cycles(it) / (it.warps or math.nan)
    ),
    "waits most for": Quantity("counters", lambda it: next(iter(it.waits), None)),
    "threads per block": Quantity("threads_per_block", lambda it: it.threads_per_block),
    "instructions": Quantity("divergence", lambda it: it.divergence.instructions),
    "active share, %": Quantity(
        "divergence", lambda it: 100 * it.divergence.active_share
    ),
    "sectors per load": of_loads("sectors", "requests"),
    "sectors per request": Quantity(
        "coalescing", lambda it: it.coalescing.sectors / it.coalescing.requests
    ),
    "bank conflicts": Quantity(
        "bank_conflicts", lambda it: it.bank_conflicts.conflicts
    ),
    "registers": Quantity("registers", lambda it: it.registers),
    "bytes spilled": Quantity("spill_stores", lambda it: it.spill_stores),
    "machine instructions": Quantity("opcodes", lambda it: len(it.instructions)),
}


@short_traceback
def compare(rows, *columns, by="launch"):
    """A table of launches: a row for each name, a column for each quantity.

    `rows` maps a name to what `measure`, `baseline`, `emulate` or `assemble` gave for
    one launch, or to a tuple of these. A column is the name of a quantity, or a
    dictionary of names and functions of a row. `by` heads the names; where each is a
    tuple, `by` is one, too.
    """
    if not isinstance(rows, Mapping) or not rows:
        raise ArgumentError(
            "`compare` takes a dictionary of names and launches, and then the names of "
            'quantities, as in `compare({"naive": measured}, "µs", "GB/s")`'
        )
    wanted = dict(function for it in columns for function in functions_of(it))
    found = [[*pieces(name), *values(wanted, rows[name])] for name in rows]
    return table([*pieces(by), *wanted], found)


def functions_of(column):
    """The columns that an argument names, each with its function of a row."""
    if isinstance(column, Mapping):
        return column.items()
    if column not in QUANTITIES:
        near = get_close_matches(str(column), QUANTITIES)
        known = f"did you mean {near[0]!r}?" if near else f"it knows {[*QUANTITIES]}"
        raise ArgumentError(f"`compare` knows no quantity {shown(column)}; {known}")
    return [(column, lambda row: known_of(QUANTITIES[column], row))]


def known_of(quantity, row):
    """A quantity, by the first part of a row that can say it; None if none can."""
    parts = row if isinstance(row, tuple) else (row,)
    part = next((it for it in parts if hasattr(it, quantity.needs)), None)
    return None if part is None else quantity.value(part)


def values(wanted, row):
    return [function(row) for function in wanted.values()]


def pieces(name):
    return name if isinstance(name, tuple) else (name,)

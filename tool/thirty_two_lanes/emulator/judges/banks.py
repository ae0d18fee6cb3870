"""Bank conflicts of shared memory: how many wavefronts each request takes.

The rule is in `core/wavefronts.py`. `conflicts = wavefronts - ideal`, with one ideal
wavefront for each group of lanes that has an active one:
l1tex__data_bank_conflicts_pipe_lsu_mem_shared. Nsight's source page uses another ideal
for 8 and 16 bytes. A load of which two lanes or more ask for the same words is a
broadcast when all do, and a multicast when some do and several words go out.
Not modelled: lost arbitration, a few units in tens of thousands on hardware; one
wavefront more that some loops of 16-byte stores take, unexplained.
"""

import numpy as np

from thirty_two_lanes.core.hardware import WORD_BYTES
from thirty_two_lanes.core.wavefronts import request_wavefronts
from thirty_two_lanes.core.words import Finding, counted_figure, figure, level_of
from thirty_two_lanes.emulator.judges.judge import Cost, Judge, Kind, Registration


def request_sharing(addresses, active, itemsize):
    """Which requests are broadcasts, and which multicasts, of (32, requests)."""
    words = addresses // max(itemsize, WORD_BYTES)
    ordered = np.sort(np.where(active, words, -1), axis=0)
    new = (ordered[1:] != ordered[:-1]) & (ordered[1:] >= 0)
    different = np.count_nonzero(new, axis=0) + (ordered[0] >= 0)
    shared = different < active.sum(axis=0)
    return shared & (different == 1), shared & (different > 1)


class BankConflicts(Judge):
    """Requests to shared memory and the wavefronts that they take."""

    spaces = ("shared",)
    columns = (
        "requests",
        "wavefronts",
        "ideal_wavefronts",
        "conflicts",
        "active_lanes",
        "broadcasts",
        "multicasts",
    )

    def count(self, addresses, active, access):
        size, kind = access.dtype.itemsize, access.reference.kind
        served_as = access.reference.served_as
        wavefronts, ideal = request_wavefronts(addresses, active, size, served_as)
        sharing = np.zeros((2, addresses.shape[1]), np.int64)
        if kind == "load":
            sharing = request_sharing(addresses, active, size)
        lanes = active.sum(axis=0)
        return np.stack(
            [lanes > 0, wavefronts, ideal, wavefronts - ideal, lanes, *sharing]
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


ONE_AXIS = (  # no row to pad
    "Let neighbouring lanes take neighbouring cells, or cells that are an odd number "
    "of words apart"
)


IN_ROWS = (  # one element more would only move the banks that they share
    "Let each warp be in one row, in blocks 32 threads wide: lanes of several rows "
    "share banks, padded or not"
)


def conflict(site, row, strides=None) -> Finding:
    """A line whose requests to shared memory take more wavefronts than the ideal;
    `strides` is what the source says of it, if it is at hand.
    """
    taken, ideal = row.wavefronts / row.requests, row.ideal_wavefronts / row.requests
    why, remedy = AT_ONE_BANK[row.kind == "atomic"]
    if row.kind != "atomic" and strides:
        known = (strides.one_axis, ONE_AXIS), (strides.rows, IN_ROWS)
        remedy = next((what for sites, what in known if site in sites), remedy)
    level = level_of(row.wavefronts, row.ideal_wavefronts)
    return Finding(
        level,
        site,
        "bank conflicts",
        f"{row.kind} of {row.array}: "
        f"{1 + row.conflicts / row.ideal_wavefronts:.3g}-way bank conflict",
        f"Each {row.kind} of `{row.array}` takes {counted_figure(taken, 'wavefront')} "
        f"(ideally {figure(ideal)}), because {why}. {remedy}.",
        row.conflicts,
        remedy=remedy if level == "costly" else "",
    )


def findings(run):
    """The lines with bank conflicts."""
    for site, row in run.bank_conflicts.by_line.items():
        if row.conflicts:
            yield conflict(site, row, run.strides)


JUDGE = Registration(
    "bank_conflicts",
    BankConflicts,
    findings=findings,
    kinds=(Kind("banks", 70),),
    cost=Cost("shared requests", "wavefronts", "ideal_wavefronts"),
)

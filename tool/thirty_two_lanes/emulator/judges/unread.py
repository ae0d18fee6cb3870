"""Factors of a product of which the same end of their common axis is never loaded: the
loop that goes through both stops too early, by the number of blocks, say.

Told only where all else of both is loaded, each element of one as often as the others,
and all results are stored: what a kernel leaves out on purpose hardly looks so.
"""

import numpy as np


def unread_ends(reuse):
    """For each two such arrays, their names with what is not loaded, and the axis."""
    inputs = [
        traffic
        for names in reuse.arguments.values()
        for traffic in names.values()
        if traffic.bytes_asked and not traffic.lanes_stored
    ]
    whole = reuse.stores and all(traffic.stores.all() for traffic in reuse.stores)
    for one in inputs if whole else ():
        *others, size = one.allocation.shape or (0,)
        for other in inputs if others else ():
            if other is one or other.allocation.shape[:1] != (size,):
                continue
            end = _end(other.loads)
            if 0 < end < size and _end(np.moveaxis(one.loads, -1, 0)) == end:
                yield (
                    f"{one.name}[{':, ' * len(others)}{end}:{size}]",
                    f"{other.name}[{end}:{size}]",
                    f"{one.name}.shape[{len(others)}]",
                )


def _end(loads) -> int:
    """The place along the first axis from which on nothing is loaded, where all before
    it is, each element as often; else 0.
    """
    rows = loads.reshape(len(loads), -1)
    end = int(np.count_nonzero(rows.any(axis=1)))
    alike = end > 0 and rows[:end].min() == rows[:end].max()
    return end if alike and rows[0].any() else 0

"""`raise` and `assert` in a kernel: with `debug=True` the launch raises in the end what
a thread raised first; without it the thread ends in silence.

Not modelled: a launch that raises keeps its results, where a GPU leaves arrays of the
host as they were.
"""

import numpy as np

from helpers.core.hardware import WARP_SIZE


def note(warp, active, request):
    """Remember an exception and the first thread that raises it."""
    if "raised" in vars(warp.memory):
        return
    shape = (WARP_SIZE, warp.blocks)
    active = warp.live if active is None else active
    takes_part = np.broadcast_to(True if active is None else active, shape)
    block, lane = np.argwhere(takes_part.T)[0]
    thread = [int(np.broadcast_to(axis, shape)[lane, block]) for axis in warp.thread]
    place = [int(np.broadcast_to(axis, shape)[lane, block]) for axis in warp.block]
    warp.memory.raised = request, thread[::-1], place[::-1]


def raise_noted(memory):
    """Raise what a thread of a launch raised, in Numba's own words."""
    if "raised" not in vars(memory):
        return
    request, thread, block = memory.raised
    told = (
        f"In function {request.function!r}, file {request.site.file}, line "
        f"{request.site.line}, tid={thread} ctaid={block}"
    )
    first, *rest = request.arguments or (None,)
    raise request.exception(told if first is None else f"{told}: {first}", *rest)

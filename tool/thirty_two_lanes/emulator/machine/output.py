"""What threads report to the host: `print`, `raise` and `assert` in a kernel.

`print` gives a line for each thread, in the order in which the warps ran. With
`debug=True` the launch raises in the end what a thread raised first; without it the
thread ends silently, and is emitted; so are the notes of a kernel that has them. Not
modelled: a launch that raises keeps its results, where a GPU leaves arrays of the host
as they were.
"""

import numpy as np

from thirty_two_lanes.core.errors import complete
from thirty_two_lanes.core.events import Noted, Raised
from thirty_two_lanes.core.hardware import WARP_SIZE

MOST_LINES = 1_000  # of one launch; a GPU keeps a megabyte of them


def show(warp, active, items):
    """Print the items in each active thread, block by block and lane by lane."""
    if warp.memory.quiet:
        return
    shape = (WARP_SIZE, warp.blocks)
    values = [
        item if isinstance(item, str) else np.broadcast_to(item, shape)
        for item in items
    ]
    takes_part = np.broadcast_to(True if active is None else active, shape)
    for block, lane in np.argwhere(takes_part.T):
        warp.memory.printed += 1
        if warp.memory.printed == MOST_LINES + 1:
            print(f"… (the emulator prints the first {MOST_LINES:,} lines of a launch)")
        if warp.memory.printed > MOST_LINES:
            return
        print(*(v if isinstance(v, str) else printed(v[lane, block]) for v in values))


def printed(value) -> str:
    """A value as a GPU prints it: six decimals for a float."""
    return f"{value:f}" if value.dtype.kind == "f" else str(value)


def note(warp, active, request):
    """Remember an exception and the first thread that raises it; outside of debug mode,
    emit them.
    """
    shape = (WARP_SIZE, warp.blocks)
    active = warp.live if active is None else active
    takes_part = np.broadcast_to(True if active is None else active, shape)
    block, lane = np.argwhere(takes_part.T)[0]
    if not request.debug:
        where = warp.thread_at(lane), warp.block_at(block)
        event = Raised(request.site, in_words(request), int(takes_part.sum()), *where)
        for listener in warp.listeners["raised"]:
            listener(event)
        return
    if warp.memory.raised is not None:
        return
    thread = [int(np.broadcast_to(axis, shape)[lane, block]) for axis in warp.thread]
    block_id = [int(np.broadcast_to(axis, shape)[lane, block]) for axis in warp.block]
    warp.memory.raised = request, thread[::-1], block_id[::-1]


def tell(warp, active, note, value):
    """Emit that a line begins, or what a variable has got."""
    for listener in warp.listeners["note"]:
        listener(Noted(note, value, active, warp.who))


def in_words(request) -> str:
    """An exception by its class, and what it says."""
    said = (str(said) for said in request.arguments[:1] if said is not None)
    return ": ".join([request.exception.__name__, *said])


def raise_noted(memory):
    """Raise what a thread of a launch raised, in Numba's own words."""
    if memory.raised is None:
        return
    request, thread, block = memory.raised
    sentence = (
        f"In function {request.function!r}, file {request.site.file}, line "
        f"{request.site.line}, tid={thread} ctaid={block}"
    )
    first, *rest = request.arguments or (None,)
    text = sentence if first is None else f"{sentence}: {first}"
    raise complete(request.exception(text, *rest))

"""`print` in a kernel: a line for each thread, in the order in which the warps ran."""

import numpy as np

from helpers.core.hardware import WARP_SIZE

MOST_LINES = 1_000  # of one launch; a GPU keeps a megabyte of them


def show(warp, active, items):
    """Print the items in each active thread, block by block and lane by lane."""
    if warp.memory.quiet:
        return
    shape = (WARP_SIZE, warp.blocks)
    values = [it if isinstance(it, str) else np.broadcast_to(it, shape) for it in items]
    takes_part = np.broadcast_to(True if active is None else active, shape)
    for block, lane in np.argwhere(takes_part.T):
        warp.memory.printed += 1
        if warp.memory.printed == MOST_LINES + 1:
            print(f"… (the emulator prints the first {MOST_LINES:,} lines of a launch)")
        if warp.memory.printed > MOST_LINES:
            return
        print(*(it if isinstance(it, str) else told(it[lane, block]) for it in values))


def told(value) -> str:
    """A value as a GPU prints it: six decimals for a float."""
    return f"{value:f}" if value.dtype.kind == "f" else str(value)

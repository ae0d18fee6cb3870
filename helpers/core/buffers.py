"""Memory that is used again from launch to launch: clearing old pages costs less than
fresh ones do.
"""

import numpy as np

MOST = 256 << 20  # bytes that are kept

_spare = {}  # bytes: arrays of so many


def borrow(cells, dtype) -> np.ndarray:
    """An array that holds anything; give its memory back with `give_back`."""
    size = cells * np.dtype(dtype).itemsize
    kept = _spare.get(size)
    memory = kept.pop() if kept else np.empty(size, np.uint8)
    return memory.view(dtype)


def give_back(array):
    """Let the memory of a borrowed array be borrowed again."""
    memory = array.view(np.uint8)
    if sum(size * len(kept) for size, kept in _spare.items()) + memory.size <= MOST:
        _spare.setdefault(memory.size, []).append(memory)

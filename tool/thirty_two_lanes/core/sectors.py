"""Which sectors of memory a request touches: one rule for all who count.

`sectors` are the different aligned 32-byte pieces that hold the active lanes' bytes;
`ideal` is as many as those bytes would fill, or fewer when lanes share them:
min(sectors, ceil(bytes / 32)). Settled on an H200 in 36 of 36 patterns,
l1tex__t_sectors_pipe_lsu_mem_global_op_ld and _st (docs/AGREEMENT.md). A complex number
is two accesses, real and imaginary part, as the compiler makes them. Local arrays lie
word by word, those of 32 lanes side by side. An element lies in one sector, since its
address is a multiple of its size.
"""

import numpy as np

from thirty_two_lanes.core.hardware import (
    LINE_BYTES,
    SECTOR_BYTES,
    WARP_SIZE,
    WORD_BYTES,
)

LANES = np.arange(WARP_SIZE)[:, None]


def request_sectors(addresses, active, itemsize, parts=1):
    """Sectors and ideal sectors of requests, from (lanes, requests) addresses; added up
    where an element is several accesses of `itemsize` bytes.
    """
    filled = -(-lanes_of(active) * itemsize // SECTOR_BYTES)
    total = np.zeros((2, addresses.shape[1]), np.int64)
    for part in range(parts):
        touched = (addresses + part * itemsize if part else addresses) // SECTOR_BYTES
        sectors = different(touched, active)
        total += sectors, np.minimum(sectors, filled)
    return total


def local_sectors(addresses, active, itemsize, parts=1):
    """The same of local arrays: `addresses` are bytes in a thread's own memory."""
    size = min(itemsize, WORD_BYTES)  # of what lies together
    total = np.zeros((2, addresses.shape[1]), np.int64)
    for part in range(parts):
        each = addresses + part * itemsize
        words = [each // WORD_BYTES + word for word in range(itemsize // size)]
        lie_at = [word * LINE_BYTES + LANES * WORD_BYTES for word in words]
        total += request_sectors(
            np.concatenate(lie_at), np.concatenate([active] * len(words)), size
        )
    return total


def accesses_of(dtype):
    """The bytes of one access to an element, and how many accesses it takes."""
    return (dtype.itemsize // 2, 2) if dtype.kind == "c" else (dtype.itemsize, 1)


def sectors_of(addresses, itemsize) -> np.ndarray:
    """The numbers of the sectors that some elements lie in, in order."""
    first = np.asarray(addresses, np.int64).reshape(-1)
    bytes_of = np.arange(0, itemsize, min(itemsize, SECTOR_BYTES))
    last = first + itemsize - 1
    return np.unique(np.append(first[:, None] + bytes_of, last) // SECTOR_BYTES)


def lanes_of(active):
    """How many lanes are active, by request; few enough for a byte."""
    sums = np.add.reduce(
        active.view(np.uint8), axis=0, dtype=np.uint8
    )  # few: fit a byte
    return sums.astype(np.int64)


def different(numbers, active):
    """How many different numbers the active lanes hold, by request; often in order."""
    whole = active.all()
    if whole:
        steps = numbers[1:] - numbers[:-1]
        if (steps >= 0).all():
            return 1 + np.count_nonzero(steps, axis=0)
    low = numbers.min(initial=0)
    inactive = numbers.max(initial=0) + 1 - low
    small = np.uint16 if inactive < 1 << 16 else np.int32
    numbers = (numbers - low).astype(small if inactive < 1 << 31 else np.int64)
    if not whole:
        numbers[~active] = inactive
    ordered = np.ascontiguousarray(numbers.T)  # a row is sorted where it lies together
    ordered.sort(axis=1)
    new = ordered[:, 1:] != ordered[:, :-1]
    new &= ordered[:, 1:] != inactive
    changes = np.einsum("ij->i", new.view(np.uint8), dtype=np.uint16)  # a fast sum
    return (whole or active.any(axis=0)) + changes.astype(np.int64)

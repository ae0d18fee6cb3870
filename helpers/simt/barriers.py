"""What a barrier asks: that every thread of the block comes, and to the same one."""

import numpy as np

from ..hardware import WARP_SIZE
from .errors import BarrierError
from .memory import merge

_COMBINE = {
    "count": lambda votes: votes.sum(axis=0, dtype=np.int32, keepdims=True),
    "and": lambda votes: votes,
    "or": lambda votes: votes.any(axis=0, keepdims=True).astype(np.int32),
}


def release(batch):
    """Let waiting threads go on; a BarrierError where those of a block differ."""
    frames = batch.frames
    together = {
        next(iter(f.waiting)) for f in frames if len(f.waiting) == 1 and f.complete
    }
    if len(together) != 1 or not all(
        len(f.waiting) == 1 and f.complete for f in frames
    ):
        _check(batch)
    _answer(batch)
    for frame in frames:
        for position, (active, _) in frame.waiting.items():
            frame.add(position, active)
        frame.waiting = {}


def _check(batch):
    """Does every block have all its threads at one barrier?"""
    places = _positions(batch)  # (threads, blocks)
    for block in range(places.shape[1]):
        column = places[:, block]
        if (column != column[0]).any():
            raise _divergence(batch, block, column)


def _positions(batch):
    """The barrier that each thread waits at, -1 for those that returned."""
    rows = []
    for frame in batch.frames:
        place = np.full((WARP_SIZE, batch.blocks), -1)
        for position, (active, _) in frame.waiting.items():
            place[np.broadcast_to(True if active is None else active, place.shape)] = (
                position
            )
        rows.append(place)
    return np.concatenate(rows)[: batch.geometry.threads]


def _divergence(batch, block, column):
    pieces = batch.launch.program.pieces
    barriers = {p.then: p.ending for p in pieces if hasattr(p.ending, "predicate")}
    first = int(column[column >= 0].max())
    site = barriers[first].site
    arrived = int((column == first).sum())
    missing = np.flatnonzero(column != first)
    place = batch.frames[0].block_at(block)
    other = int(column[missing[0]])
    where = (
        "never come to it"
        if other < 0
        else f"wait at the barrier of line {barriers[other].site.line}"
    )
    return BarrierError(
        f"the barrier of line {site.line} is reached by {arrived:,} of the "
        f"{len(column):,} threads "
        f"of block {place}: {_threads(missing)} {where}\n"
        f"    {site.text}\n"
        f"  {site.place}\n"
        "  Remedy: every thread of a block must reach the same barrier. Take it out of "
        "the `if` "
        "or the loop that some threads leave, and guard the work, not the barrier"
    )


def _threads(numbers):
    """Threads in words: `thread 5`, `threads 32 to 63`, `threads 1, 3, …`."""
    if len(numbers) == 1:
        return f"thread {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"threads {numbers[0]} to {numbers[-1]}"
    return f"threads {numbers[0]}, {numbers[1]}, … ({len(numbers)} of them)"


def _answer(batch):
    """Give the threads the count, the and or the or of what they brought."""
    pieces = batch.launch.program.pieces
    for piece in pieces:
        operator = getattr(piece.ending, "operator", None)
        slot = batch.launch.program.results.get(piece.then)
        if operator not in _COMBINE or slot is None:
            continue
        votes = [
            _votes(batch, f.waiting[piece.then])
            for f in batch.frames
            if piece.then in f.waiting
        ]
        if not votes:
            continue
        holds, arrived = (np.concatenate(part) for part in zip(*votes, strict=True))
        if operator == "and":
            result = (holds | ~arrived).all(axis=0, keepdims=True).astype(np.int32)
        else:
            result = _COMBINE[operator](holds & arrived)
        for frame in batch.frames:
            if piece.then in frame.waiting:
                active = frame.waiting[piece.then][0]
                frame.values[slot] = (
                    result
                    if active is None
                    else merge(active, result, frame.values[slot])
                )


def _votes(batch, waiting):
    active, predicate = waiting
    shape = (WARP_SIZE, batch.blocks)
    return (
        np.broadcast_to(np.asarray(predicate) != 0, shape),
        np.broadcast_to(True if active is None else active, shape),
    )

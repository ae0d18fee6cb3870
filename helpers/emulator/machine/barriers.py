"""Barriers: every thread of a block must reach the same one."""

import warnings

import numpy as np

from helpers.core.errors import BarrierError, caller_level
from helpers.core.events import Sync
from helpers.core.hardware import WARP_SIZE
from helpers.emulator.machine.access import merge

_COMBINE = {
    "count": lambda votes: votes.sum(axis=0, dtype=np.int32, keepdims=True),
    "and": lambda votes: votes,
    "or": lambda votes: votes.any(axis=0, keepdims=True).astype(np.int32),
}


def release(batch) -> bool:
    """Release threads that wait for their block; a BarrierError where they differ.

    False when there are none, and all wait for the grid.
    """
    warps = batch.warps
    together = {
        next(iter(w.waiting)) for w in warps if len(w.waiting) == 1 and w.complete
    }
    if len(together) != 1 or not all(len(w.waiting) == 1 and w.complete for w in warps):
        _check(batch)
    _answer(batch)
    _emit_sync(batch)
    return _let_go(batch, wanted=False)


def release_grid(batches, finished):
    """Release all threads of a grid; a BarrierError where some have ended before."""
    for batch in batches:
        ended = _positions(batch) < 0
        missing = ended.any() if batch.launch.strict else ended.all(axis=0).any()
        if finished or missing:
            raise _missing_threads_error(batch)
        _let_go(batch, wanted=True)
    for listener in batches[0].launch.listeners["sync"]:
        listener(Sync("grid"))


def _emit_sync(batch):
    """Emit a Sync of the blocks that meet at a barrier of their own."""
    grid = batch.launch.program.grid_barriers
    listeners = batch.launch.listeners["sync"]
    for pc in {p for w in batch.warps for p in w.waiting} if listeners else ():
        if pc not in grid:
            waiting = [w.waiting.get(pc, (False,))[0] for w in batch.warps]
            blocks = None
            if not any(threads is None for threads in waiting):
                here = [np.any(threads, axis=0, keepdims=True) for threads in waiting]
                blocks = np.broadcast_to(
                    np.any(np.broadcast_arrays(*here), axis=0), (1, batch.blocks)
                )
            for listener in listeners:
                listener(
                    Sync(
                        "block",
                        batch.warps[0].who,
                        blocks=blocks,
                        site=_barriers(batch)[pc].site,
                    )
                )


def _barriers(batch):
    """Each barrier by the pc behind it."""
    code = batch.launch.program.code
    return {p.then: p.ending for p in code if hasattr(p.ending, "predicate")}


def _let_go(batch, wanted) -> bool:
    """Release the threads that wait for the grid, or those that do not."""
    gone = False
    for warp in batch.warps:
        staying = {}
        for pc, (active, predicate) in warp.waiting.items():
            if (pc in batch.launch.program.grid_barriers) is wanted:
                warp.add(pc, active)
                warp.iterations, gone = 0, True
            else:
                staying[pc] = (active, predicate)
        warp.waiting = staying
    return gone


def _missing_threads_error(batch):
    site = next(
        p.ending.site
        for p in batch.launch.program.code
        if getattr(p.ending, "operator", None) == "grid"
    )
    return BarrierError(
        f"not all threads of the grid reach the grid barrier of line {site.line}: "
        "some ended before it, and the others would wait forever\n"
        f"    {site.text}\n  {site.place}\n  Remedy: guard the work, not the barrier"
    )


def missing_lanes_error(site):
    """The error of lanes that wait for others of their mask, which never come."""
    return BarrierError(
        f"the mask of line {site.line} names lanes that never execute it: the others "
        f"would wait forever, or read undefined values\n    {site.text}\n"
        f"  {site.place}\n  Remedy: name in the mask only the lanes that execute "
        "this line, or move the call out of the `if`"
    )


def _check(batch):
    """Does every block have all its threads at one barrier?

    A launch that is not strict goes on without threads that returned, as the hardware
    does, and warns.
    """
    places = _positions(batch)  # (threads, blocks)
    first = places.max(axis=0)
    missed = (places != first).any(axis=0)
    if not missed.any():
        return
    block = int(np.argmax(missed))
    launch = batch.launch
    if launch.strict or ((places != first) & (places >= 0)).any():
        raise _divergence(batch, block, places[:, block])
    if not launch.warned:
        launch.warned = True
        sentence = str(_divergence(batch, block, places[:, block])).splitlines()[0]
        warnings.warn(
            f"{sentence}. A GPU continues without them, and so does this launch; CUDA "
            "does not guarantee it, and `emulate` treats it as an error",
            stacklevel=caller_level(),
        )


def _positions(batch):
    """The barrier that each thread waits at, -1 for those that returned."""
    rows = []
    for warp in batch.warps:
        place = np.full((WARP_SIZE, batch.blocks), -1)
        for pc, (active, _) in warp.waiting.items():
            place[np.broadcast_to(True if active is None else active, place.shape)] = pc
        rows.append(place)
    return np.concatenate(rows)[: batch.geometry.threads]


def _divergence(batch, block, column):
    barriers = _barriers(batch)
    first = int(column[column >= 0].max())
    site = barriers[first].site
    arrived = int((column == first).sum())
    missing = np.flatnonzero(column != first)
    place = batch.warps[0].block_at(block)
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
        f"  {_on_hardware(column, first)}\n"
        "  Remedy: every thread of a block must reach the same barrier. Move it out "
        "of the `if`, or of the loop that some threads leave, and guard the work, not "
        "the barrier"
    )


def _on_hardware(column, first):
    """What a GPU does where some threads miss a barrier."""
    at_others = (column >= 0) & (column != first)
    if not at_others.any():
        return (
            "On a GPU the others silently continue without those that ended; CUDA does "
            "not guarantee it"
        )
    warps = np.flatnonzero(column == first) // WARP_SIZE
    if np.isin(np.flatnonzero(at_others) // WARP_SIZE, warps).any():
        return "On a GPU lanes of one warp at two barriers hang, without an error"
    return (
        "A GPU treats the two as one barrier and silently continues, although not all "
        "threads have reached either of them"
    )


def unnamed_caller_error(warp, site, lane, block):
    """The error of a lane that calls with a mask that does not name it."""
    return BarrierError(
        f"the mask of line {site.line} does not name lane {lane}, which executes "
        f"it: thread {warp.thread_at(lane)} of block {warp.block_at(block)}\n"
        f"    {site.text}\n  {site.place}\n"
        "  On a GPU the behaviour is undefined: it may not wait, or may hang\n"
        "  Remedy: name in the mask exactly the lanes that execute this line, "
        "`0xFFFFFFFF` for all 32"
    )


def _threads(numbers):
    """Threads in words: `thread 5`, `threads 32 to 63`, `threads 1, 3, …`."""
    if len(numbers) == 1:
        return f"thread {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"threads {numbers[0]} to {numbers[-1]}"
    return f"threads {numbers[0]}, {numbers[1]}, … ({len(numbers)} of them)"


def _answer(batch):
    """Give the threads the count, the `and` or the `or` of their predicates."""
    code = batch.launch.program.code
    for basic_block in code:
        operator = getattr(basic_block.ending, "operator", None)
        slot = batch.launch.program.results.get(basic_block.then)
        if operator not in _COMBINE or slot is None:
            continue
        votes = [
            _votes(batch, w.waiting[basic_block.then])
            for w in batch.warps
            if basic_block.then in w.waiting
        ]
        if not votes:
            continue
        holds, arrived = (np.concatenate(part) for part in zip(*votes, strict=True))
        if operator == "and":
            result = (holds | ~arrived).all(axis=0, keepdims=True).astype(np.int32)
        else:
            result = _COMBINE[operator](holds & arrived)
        for warp in batch.warps:
            if basic_block.then in warp.waiting:
                active = warp.waiting[basic_block.then][0]
                warp.values[slot] = (
                    result
                    if active is None
                    else merge(active, result, warp.values[slot])
                )


def _votes(batch, waiting):
    active, predicate = waiting
    shape = (WARP_SIZE, batch.blocks)
    return (
        np.broadcast_to(np.asarray(predicate) != 0, shape),
        np.broadcast_to(True if active is None else active, shape),
    )

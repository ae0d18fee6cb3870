"""Barriers: threads of a block wait for each other, or are found to be missing.

A GPU does not wait for threads that have left, and takes two barriers at which whole
warps wait for one, if both only wait or combine in the same way; and two `syncwarp` at
which lanes wait with one mask: so does the machine, and emits who was missing. What
would hang on a GPU is an error.
"""

import numpy as np

from thirty_two_lanes.core.errors import BarrierError, warn
from thirty_two_lanes.core.events import MissedBarrier, StrayLanes, Sync
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.machine.accesses.access import merge
from thirty_two_lanes.emulator.machine.warp_functions import (
    mask_bits,
    meeting_lanes,
    unnamed_callers,
    waiting_lanes,
)
from thirty_two_lanes.emulator.machine.warps import CycleDetector, whole
from thirty_two_lanes.emulator.program import WARP_SYNC
from thirty_two_lanes.language.warp_intrinsics import LANES

_COMBINE = {  # of those that are here, and whose predicate holds
    "count": lambda here, holds: (here & holds).sum(axis=0, keepdims=True),
    "and": lambda here, holds: (holds | ~here).all(axis=0, keepdims=True),
    "or": lambda here, holds: (here & holds).any(axis=0, keepdims=True),
}


def release(batch) -> bool:
    """Release the blocks whose threads all wait for their block; False if there are
    none. A BarrierError where they wait at barriers that do not go together.
    """
    places = blocks = None
    if not _all_together(batch):
        places = _positions(batch)
        ready = _ready(batch, places)
        if not ready.any():
            return False
        places = np.where(ready, places, -1)
        _check(batch, places)
        _emit_missed(batch, places)
        blocks = None if ready.all() else ready[None, :]
    _answer(batch, blocks)
    _emit_sync(batch, places, blocks)
    _let_go(batch, blocks, grid=False)
    return True


def release_grid(batches, finished):
    """Release all threads of a grid; a BarrierError where blocks have ended before."""
    for batch in batches:
        places = _positions(batch)
        if finished or (places < 0).all(axis=0).any():
            raise _missing_blocks_error(batch)
        _emit_missed(batch, places)
        _let_go(batch, None, grid=True)
    for listener in batches[0].launch.listeners["sync"]:
        listener(Sync("grid"))


def _all_together(batch) -> bool:
    """Do all threads of all blocks wait at one barrier of their block?"""
    at = {pc for warp in batch.warps for pc in warp.waiting}
    return (
        len(at) == 1
        and at.isdisjoint(batch.launch.program.grid_barriers)
        and all(w.waiting and w.complete and not w.groups for w in batch.warps)
    )


def _ready(batch, places):
    """The blocks that wait for themselves, and of which no thread runs."""
    grid = list(batch.launch.program.grid_barriers)
    ready = ((places >= 0) & ~np.isin(places, grid)).any(axis=0)
    for warp in batch.warps:
        for active in warp.groups.values():
            ready &= ~whole(active, (WARP_SIZE, batch.blocks)).any(axis=0)
    return ready


def _positions(batch):
    """The barrier that each thread waits at, -1 for those that do not."""
    rows = []
    for warp in batch.warps:
        waits_at = np.full((WARP_SIZE, batch.blocks), -1)
        for pc, (active, _) in warp.waiting.items():
            waits_at[whole(active, waits_at.shape)] = pc
        rows.append(waits_at)
    return np.concatenate(rows)[: batch.geometry.threads]


def _emit_sync(batch, places, blocks):
    """Emit a Sync of the blocks that meet, for each barrier at which they do."""
    listeners = batch.launch.listeners["sync"]
    if not listeners:
        return
    if places is None:
        meeting = {pc: blocks for warp in batch.warps for pc in warp.waiting}
    else:
        last = places.max(axis=0, keepdims=True)
        meeting = {int(pc): last == pc for pc in np.unique(last[last >= 0])}
    barriers = _barriers(batch)
    for pc, those in meeting.items():
        for listener in listeners:
            site = barriers[pc].site
            listener(Sync("block", batch.warps[0].who, blocks=those, site=site))


def _barriers(batch):
    """Each barrier by the pc behind it."""
    code = batch.launch.program.code
    return {p.then: p.ending for p in code if hasattr(p.ending, "predicate")}


def _let_go(batch, blocks, grid):
    """Release those of some blocks that wait for the grid, or for their block."""
    for warp in batch.warps:
        staying = {}
        for pc, (active, predicate) in warp.waiting.items():
            if (pc in batch.launch.program.grid_barriers) is not grid:
                staying[pc] = (active, predicate)
                continue
            going = _of_blocks(active, blocks)
            if going is None or going.any():
                warp.add(pc, going)
                warp.iterations, warp.cycle = 0, CycleDetector()
            if blocks is not None and (rest := _of_blocks(active, ~blocks)).any():
                staying[pc] = (rest, predicate)
        warp.waiting = staying


def _of_blocks(active, blocks):
    """Those of the active threads that are in some blocks; None is all."""
    if blocks is None:
        return active
    return blocks if active is None else active & blocks


# who is missing


def _check(batch, places):
    """Refuse barriers that do not go together; `places` are those of all threads that
    are about to be released, (threads, blocks).
    """
    if len(np.unique(places[places >= 0])) == 1:
        return
    barriers, grid = _barriers(batch), batch.launch.program.grid_barriers
    last = places.max(axis=0)
    for block in np.flatnonzero(((places != last) & (places >= 0)).any(axis=0)):
        column = places[:, block]
        at = set(column[column >= 0].tolist())
        alike = len({barriers[pc].operator for pc in at}) == 1
        if not alike or _differ_in_a_warp(column) or at & grid:
            raise _divergence(batch, block, column)


def _differ_in_a_warp(column) -> bool:
    """Do lanes of one warp wait at different barriers?"""
    warps = np.split(column, range(WARP_SIZE, len(column), WARP_SIZE))
    return any(len(np.unique(warp[warp >= 0])) > 1 for warp in warps)


def _emit_missed(batch, places):
    """Emit the threads that are not at the barrier where others of their block meet; a
    plain launch warns once.
    """
    last = places.max(axis=0)
    missing = (places != last) & (last >= 0)
    if not missing.any():
        return
    launch = batch.launch
    if launch.warns and not launch.warned:
        launch.warned = True
        _warn(batch, places, int(np.argmax(missing.any(axis=0))))
    listeners = launch.listeners["missed_barrier"]
    for event in _missed(batch, places, last, missing) if listeners else ():
        for listener in listeners:
            listener(event)


def _missed(batch, places, last, missing):
    """An event for each pair of a barrier and a place where some were instead."""
    barriers, code = _barriers(batch), batch.launch.program.code
    nowhere = np.full((WARP_SIZE, batch.blocks), -1)
    left_at = [nowhere if w.left_at is None else w.left_at for w in batch.warps]
    left_at = np.concatenate(left_at)[: len(places)]
    for pc in np.unique(last[last >= 0]):
        site, those = barriers[pc].site, missing & (last == pc)
        for left, at_pc, here in (
            (True, left_at, those & (places < 0)),
            (False, places, those & (places >= 0)),
        ):
            for at in np.unique(at_pc[here]):
                elsewhere = code[at].ending.site if left else barriers[at].site
                threads = here & (at_pc == at)
                yield MissedBarrier(site, elsewhere, left, threads, batch.first)


def _warn(batch, places, block):
    sentence = str(_divergence(batch, block, places[:, block])).splitlines()[0]
    warn(
        f"{sentence}. A GPU goes on all the same, and so does this launch; CUDA does "
        "not guarantee it, and `emulate` reports it"
    )


def _missing_blocks_error(batch):
    site = next(
        p.ending.site
        for p in batch.launch.program.code
        if getattr(p.ending, "operator", None) == "grid"
    )
    return BarrierError(
        f"not all blocks of the grid reach the grid barrier of line {site.line}: "
        "some ended before it, and the others would wait forever\n"
        f"    {site.text}\n  {site.place}\n  Remedy: guard the work, not the barrier"
    ).placed(site)


def missing_lanes_error(batch):
    """The error of lanes that wait for others of their mask, which never come; None
    where those that they wait for spin, or wait for one that does.
    """
    found = filter(None, (_waits_in_vain(batch, warp) for warp in batch.warps))
    site = next(found, None)
    return site and BarrierError(
        f"the mask of line {site.line} names lanes that never execute it: those "
        f"that do would wait forever, or read undefined values\n    {site.text}\n"
        f"  {site.place}\n  Remedy: name in the mask only the lanes that execute "
        "this line, or move the call out of the `if`"
    ).placed(site)


def _waits_in_vain(batch, warp):
    """The first place where lanes of a warp wait for others that nothing lets come."""
    shape, code = (WARP_SIZE, batch.blocks), batch.launch.program.code
    groups = {pc: whole(lanes, shape) for pc, lanes in sorted(warp.groups.items())}
    at = [pc for pc in groups if code[pc].kind == WARP_SYNC]
    masks = {pc: code[pc].run(warp, groups[pc], 0) for pc in at}
    may_come, before = np.zeros(shape, bool), None
    for pc in groups.keys() - masks.keys():
        may_come |= groups[pc]
    while before is None or (before != may_come).any():
        before = may_come
        for pc, mask in masks.items():
            waiting = waiting_lanes(warp, groups[pc] | may_come, mask)
            may_come = may_come | groups[pc] & ~(False if waiting is None else waiting)
    return next((code[pc].site for pc in masks if (groups[pc] & ~may_come).any()), None)


def _divergence(batch, block, column):
    barriers = _barriers(batch)
    first = int(column[column >= 0].max())
    site = barriers[first].site
    arrived = int((column == first).sum())
    missing = np.flatnonzero(column != first)
    block_id = batch.warps[0].block_at(block)
    other = int(column[missing[0]])
    where = (
        "never come to it"
        if other < 0
        else f"wait at the barrier of line {barriers[other].site.line}"
    )
    error = BarrierError(
        f"the barrier of line {site.line} is reached by {arrived:,} of the "
        f"{len(column):,} threads "
        f"of block {block_id}: {_threads(missing)} {where}\n"
        f"    {site.text}\n"
        f"  {site.place}\n"
        f"  {_on_hardware(column, first)}\n"
        "  Remedy: every thread of a block must reach the same barrier. Move it out "
        "of the `if`, or of the loop that some threads leave, and guard the work, not "
        "the barrier"
    ).placed(site)
    error.sites = (site,) if other < 0 else (site, barriers[other].site)
    return error


def _on_hardware(column, first):
    """What a GPU does where threads wait at barriers that do not go together."""
    if _differ_in_a_warp(column):
        return "CUDA leaves open what lanes of one warp at two barriers do on a GPU"
    return "On a GPU this hangs, or ends the launch as an illegal instruction"


def _threads(numbers):
    """Threads in words: `thread 5`, `threads 32 to 63`, `threads 1, 3, …`."""
    if len(numbers) == 1:
        return f"thread {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"threads {numbers[0]} to {numbers[-1]}"
    return f"threads {numbers[0]}, {numbers[1]}, … ({len(numbers)} of them)"


# lanes of a warp at several `syncwarp`


def meet_elsewhere(batch, warp, pc, waiting, mask):
    """Let lanes go on that wait with one mask at this `syncwarp` and at others; those
    that still wait at this one, None if there are none.
    """
    code = batch.launch.program.code
    others = [
        (at, warp.groups[at], code[at].run(warp, warp.groups[at], 0))
        for at in warp.arriving & warp.groups.keys()
        if code[at].ending.function == "cuda.syncwarp"
    ]
    shape = WARP_SIZE, batch.blocks
    places, masks = np.full(shape, -1), np.zeros(shape, np.int64)
    for at, lanes, named in [(pc, waiting, mask), *others]:
        here = whole(lanes, shape)
        places[here] = at
        masks[here] = np.broadcast_to(mask_bits(named), shape)[here]
    going = meeting_lanes(warp, places >= 0, masks)
    if going.any():
        _emit_meeting(batch, warp, np.where(going, places, -1), masks)
        for at, lanes, named in others:
            _let_lanes_go(warp, code[at], at, lanes & going, named)
    waiting = waiting & ~going
    return waiting if waiting.any() else None


def _let_lanes_go(warp, block, at, going, mask):
    """Let lanes go on that waited at a pc for lanes that came to another."""
    if going.any():
        emit_unnamed(warp, block.site, going, mask)
        waiting = warp.groups.pop(at) & ~going
        if waiting.any():
            warp.groups[at] = waiting
        warp.add(block.then, going)


def _emit_meeting(batch, warp, places, masks):
    """Emit that lanes met, and that some were elsewhere than at the last place."""
    code, going, last = batch.launch.program.code, places >= 0, places.max(axis=0)
    for one in np.unique(masks[going]):
        for listener in warp.listeners["sync"]:
            listener(Sync("warp", warp.who, lanes=going & (masks == one)))
    shape, first = (batch.geometry.threads, batch.blocks), warp.number * WARP_SIZE
    missing = going & (places != last)
    for met, at in np.unique([(last + 0 * places)[missing], places[missing]], axis=1).T:
        threads = np.zeros(shape, bool)
        lanes = (places == at) & (last == met)
        threads[first : first + WARP_SIZE] = lanes[: shape[0] - first]
        sites = code[met].site, code[at].site
        for listener in warp.listeners["missed_barrier"]:
            listener(MissedBarrier(*sites, False, threads, batch.first))


def emit_unnamed(warp, site, active, mask):
    """Emit the lanes that their own mask does not name."""
    listeners = warp.listeners["stray_lanes"]
    unnamed = unnamed_callers(active, mask) if listeners else None
    if unnamed is not None:
        for listener in listeners:
            listener(StrayLanes(site, "unnamed", unnamed, LANES, warp.who))


# what barriers give their threads


def _answer(batch, blocks):
    """Give the threads the count, the `and` or the `or` of their predicates."""
    if not batch.launch.program.results:
        return
    barriers, pcs = _barriers(batch), {}
    for warp in batch.warps:
        for pc in warp.waiting:
            pcs.setdefault(barriers[pc].operator, set()).add(pc)
    for operator in pcs.keys() & _COMBINE.keys():
        waiting = [[w.waiting.get(pc) for pc in pcs[operator]] for w in batch.warps]
        votes = [_votes(batch, filter(None, each)) for each in waiting]
        holds, here = (np.concatenate(part) for part in zip(*votes, strict=True))
        result = _COMBINE[operator](here, holds).astype(np.int32)
        for pc in pcs[operator]:
            _give(batch, pc, result, blocks)


def _give(batch, pc, result, blocks):
    """Give a barrier's result to the threads that wait there."""
    slot = batch.launch.program.results.get(pc)
    for warp in batch.warps:
        if slot is not None and pc in warp.waiting:
            active = _of_blocks(warp.waiting[pc][0], blocks)
            old = warp.values[slot]
            warp.values[slot] = result if active is None else merge(active, result, old)


def _votes(batch, waiting):
    """Whose predicate holds, and who is here, of a warp's threads at some barriers."""
    holds, arrived = np.zeros((2, WARP_SIZE, batch.blocks), bool)
    for active, predicate in waiting:
        threads = whole(active, arrived.shape)
        arrived |= threads
        holds |= threads & (np.asarray(predicate) != 0)
    return holds, arrived

"""Many requests of few blocks as one access, with a column for each.

What a warp asks again in the same interval between barriers is one column, which counts
as often as it was asked: judges learn a loop's pattern once.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.events import Access, AccessSite
from thirty_two_lanes.core.hardware import WARP_SIZE

EVERY_LANE = np.ones((WARP_SIZE, 1), bool)
WEIGHTS = np.random.default_rng(32).integers(1, 2**63, (WARP_SIZE, 1), np.uint64)
ODD, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class Stretch(NamedTuple):
    """Accesses between which no barrier and no sync was counted: the number of the last
    one before them; barriers by first block, a number or (1, blocks); by first block
    and warp how often lanes of the warp had waited for each other, and how often all.
    """

    accesses: list
    order: int
    intervals: dict
    syncs: dict


class Owners(NamedTuple):
    """Who made each request, and when: columns.

    `order`, `iterations` and `least` are those of the first or least of a column's
    times, `last_iterations` and `most` of the last or most; `all_iterations` is a sum.
    `least` and `most` are bits of what is stored, (lanes, requests), or None.
    """

    warp: np.ndarray
    block: np.ndarray
    interval: np.ndarray
    syncs: np.ndarray
    whole_syncs: np.ndarray
    order: np.ndarray
    iterations: np.ndarray
    last_iterations: np.ndarray
    all_iterations: np.ndarray
    least: np.ndarray | None = None
    most: np.ndarray | None = None


class Columns(NamedTuple):
    """Requests as they were made; `source` are places in `sources`. `active` may be
    None for all lanes, and `values`, which only stores have.
    """

    sources: list[AccessSite]
    source: np.ndarray
    addresses: np.ndarray
    active: np.ndarray | None
    warp: np.ndarray
    block: np.ndarray
    interval: np.ndarray
    syncs: np.ndarray
    whole_syncs: np.ndarray
    order: np.ndarray
    iterations: np.ndarray
    values: np.ndarray | None


def by_source(stretches) -> list:
    """The accesses of stretches by place and array; of each also its number, and the
    stretch that it is in.
    """
    piles = {}
    for stretch in stretches:
        for number, access in enumerate(stretch.accesses, stretch.order + 1):
            kind = access.space, access.dtype.itemsize
            key = id(access.reference), access.step, access.base, *kind
            pile = piles.get(key)
            if pile is None:
                pile = piles[key] = ([], [], [])
            accesses, numbers, when = pile
            accesses.append(access)
            numbers.append(number)
            when.append(stretch)
    return [*piles.values()]


def stacked(pile, with_values) -> Columns:
    """Accesses of one place to one array, side by side."""
    accesses, order, when = pile
    one = accesses[0]
    blocks = [access.blocks for access in accesses]
    active = values = None
    if any(access.active is not None for access in accesses):
        masks = [EVERY_LANE if a.active is None else a.active for a in accesses]
        active = _rows(_side_by_side(masks, blocks))
    if with_values and one.value is not None:
        values = _side_by_side([access.value for access in accesses], blocks)
        values = _rows(as_bits(values).view(np.int64))
    cells = _side_by_side([access.cells for access in accesses], blocks)
    return Columns(
        [AccessSite(one.reference, one.space, one.dtype)],
        np.zeros(cells.shape[1], np.int64),
        _rows(cells * one.step + one.base),
        active,
        *_whose(accesses, blocks),
        *_moments(accesses, when, blocks),
        _each(order, blocks),
        _each([access.iterations for access in accesses], blocks),
        values,
    )


def joined(parts) -> Columns:
    """Columns side by side, in the order of their making; each has values, or none."""
    if len(parts) == 1:
        return parts[0]
    numbers, sources, places = {}, [], []
    for part in parts:
        for source in part.sources:
            if id(source) not in numbers:
                numbers[id(source)] = len(sources)
                sources.append(source)
        place = np.array([numbers[id(source)] for source in part.sources], np.int64)
        places.append(place[part.source])
    addresses, masks, *rows = zip(*(part[2:] for part in parts), strict=True)
    active = None
    if any(mask is not None for mask in masks):
        masks = [EVERY_LANE if mask is None else mask for mask in masks]
        active = _side_by_side(masks, [part.shape[1] for part in addresses])
    rows = [None if row[0] is None else np.hstack(row) for row in rows]
    return Columns(sources, np.hstack(places), np.hstack(addresses), active, *rows)


def _whose(accesses, blocks):
    """The warp and the block of each request."""
    warp = _each([access.who.warp for access in accesses], blocks)
    block = _each([access.who.first_block for access in accesses], blocks)
    if max(blocks) > 1:
        block += np.arange(len(block)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    return warp, block


def _moments(accesses, when, blocks):
    """The barriers and syncs before each request."""
    interval = syncs = whole = np.zeros(sum(blocks), np.int64)
    if any(stretch.intervals for stretch in (when[0], when[-1])):
        pairs = zip(accesses, when, strict=True)
        interval = [np.asarray(w.intervals.get(a.who.first_block, 0)) for a, w in pairs]
        interval = _side_by_side(interval, blocks)[0]
    if any(stretch.syncs for stretch in (when[0], when[-1])):
        pairs = zip(accesses, when, strict=True)
        known = [w.syncs.get((a.who.first_block, a.who.warp), (0, 0)) for a, w in pairs]
        syncs, whole = (_each(counts, blocks) for counts in zip(*known, strict=True))
    return interval, syncs, whole


def _each(numbers, blocks):
    """A number of each access as a number of each of its requests."""
    numbers = np.array(numbers, np.int64)
    return numbers if max(blocks) == 1 else np.repeat(numbers, blocks)


def _rows(columns):
    """Columns with a row for each lane."""
    if len(columns) == WARP_SIZE:
        return columns
    return np.broadcast_to(columns, (WARP_SIZE, columns.shape[1]))


def _side_by_side(values, blocks):
    """Values that broadcast against (lanes, blocks) as columns: one for each block."""
    shapes = {value.shape for value in values}
    shape = shapes.pop()
    if shapes or len(shape) not in (0, 2):
        wide = np.empty((WARP_SIZE, sum(blocks)), np.result_type(*values))
        end = 0
        for value, count in zip(values, blocks, strict=True):
            begin, end = end, end + count
            wide[:, begin:end] = value
        return wide
    if not shape:
        columns = np.array(values)[None, :]
    else:
        columns = np.concatenate(values, axis=1)
        if shape[1] != 1:
            return columns
    return columns if max(blocks) == 1 else np.repeat(columns, blocks, axis=1)


def distinct(columns):
    """Each request once, with its times: an access of each source that was asked."""
    columns, bits = _of_active(columns)
    if not len(bits):
        return
    rows = (bits, *columns[4:9], columns.source)
    order, start = _sorted(columns.addresses, rows)
    chosen, turns, values = order, columns.iterations, columns.values
    if len(start) < len(order):
        chosen = np.minimum.reduceat(order, start)
    first = np.argsort(columns.source[chosen] * len(order) + chosen)
    chosen = chosen[first]  # by source, in the order of their making

    def over(ufunc, rows):
        if len(start) == len(order):
            return rows[..., chosen]
        return ufunc.reduceat(rows[..., order], start, axis=-1)[..., first]

    owners = Owners(
        *(column[chosen] for column in columns[4:10]),
        *(over(ufunc, turns) for ufunc in (np.minimum, np.maximum, np.add)),
        *(
            values if values is None else over(ufunc, values)
            for ufunc in (np.minimum, np.maximum)
        ),
    )
    times = np.diff(start, append=len(order))[first]
    source, active = columns.source[chosen], columns.active
    active = None if active is None else active[:, chosen]
    limits = np.flatnonzero(np.diff(source, prepend=-1, append=-1)).tolist()
    requests = columns.addresses[:, chosen], active, owners, times
    for begin, end in pairwise(limits):
        place = columns.sources[source[begin]]
        yield _access(place, slice(begin, end), *requests)


def _access(source, here, addresses, active, owners, times):
    """Some of the requests, all of one source, as an access."""
    mask = None if active is None else active[:, here]
    return Access(
        *source,
        addresses[:, here],
        None if mask is None or mask.all() else mask,
        *(here.stop - here.start, {}),
        who=Owners(*(row if row is None else row[..., here] for row in owners)),
        times=times[here],
    )


def _of_active(columns):
    """The requests of which a lane takes part, and the bits of those lanes; inactive
    lanes have the address of an active one.
    """
    active, count = columns.active, columns.addresses.shape[1]
    if active is None:
        return columns, np.full(count, 2**WARP_SIZE - 1, np.uint64)
    bits = np.packbits(active, axis=0, bitorder="little")
    bits = np.ascontiguousarray(bits.T).view(np.uint32)[:, 0].astype(np.uint64)
    if not bits.all():
        asked = np.flatnonzero(bits)
        sources, *parts = columns
        parts = (None if part is None else part[..., asked] for part in parts)
        columns, bits = Columns(sources, *parts), bits[asked]
    active, addresses = columns.active, columns.addresses
    lowest = np.frexp(bits & ~bits + np.uint64(1))[1] - 1  # of the active lanes
    some = addresses[lowest, np.arange(len(bits))]
    return columns._replace(addresses=np.where(active, addresses, some)), bits


def _sorted(addresses, rows):
    """The order of requests, equal ones together, and where in it others begin."""
    digest = digests(addresses, rows)
    order = np.argsort(digest)
    digest = digest[order]
    new = np.ones(len(order), bool)
    new[1:] = digest[1:] != digest[:-1]
    start = np.flatnonzero(new)
    if len(start) == len(order):
        return start, start
    again = np.flatnonzero(~new)
    equal, again = order[start][np.cumsum(new)[again] - 1], order[again]
    same = (row[again] == row[equal] for row in rows)
    same = (*same, (addresses[:, again] == addresses[:, equal]))
    if not all(one.all() for one in same):  # two requests have one digest
        return np.arange(len(order)), np.arange(len(order))
    return order, start


def digests(addresses, rows):
    """A number for each request, equal for equal ones, and nearly never for others."""
    digest = (addresses.view(np.uint64) * WEIGHTS).sum(axis=0)
    for row in rows:
        digest += row.view(np.uint64)
        digest *= ODD
        digest ^= digest >> HALF
    return digest


def as_bits(values):
    """Values as whole numbers, equal where the values are."""
    values = np.ascontiguousarray(values)
    if values.itemsize <= 8:
        return values.view(f"u{values.itemsize}").astype(np.uint64)
    words = values.view(np.uint64).reshape(*values.shape, -1)
    return words[..., 0] * np.uint64(31) + words[..., 1]

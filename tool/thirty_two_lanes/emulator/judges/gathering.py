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
TURN_BITS = 60  # a multiple of small numbers: of turns that take turns, too
ODD, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class Kept(NamedTuple):
    """An access that waits, how many were made before it, the barriers that its blocks
    had passed, a number or (1, blocks), and how often lanes of its warp had waited for
    each other, and how often all.
    """

    access: Access
    order: int
    interval: object
    syncs: tuple


class Owners(NamedTuple):
    """Who made each request, and when: columns.

    `order`, `iterations` and `least` are those of the first or least of a column's
    times, `last_iterations` and `most` of the last or most; `all_iterations` is a sum,
    and `turns` has a bit for each of them, modulo TURN_BITS.
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
    turns: np.ndarray
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

    def chosen(self, which):
        """Some of the requests."""
        _, *rows = self
        rows = (None if row is None else row[..., which] for row in rows)
        return Columns(self.sources, *rows)


def columns_of(kept, with_values) -> Columns:
    """Accesses that waited, side by side; with the values that they store, or not."""
    accesses, order, interval, syncs = zip(*kept, strict=True)
    blocks = [access.blocks for access in accesses]
    numbers, sources, source = {}, [], []
    for one in accesses:
        array = one.space, one.dtype.itemsize, one.step, one.base
        key = id(one.reference), *array  # a line may access one array or another
        if key not in numbers:
            numbers[key] = len(sources)
            sources.append(AccessSite(one.reference, one.space, one.dtype))
        source.append(numbers[key])
    active = values = None
    if any(access.active is not None for access in accesses):
        masks = [EVERY_LANE if a.active is None else a.active for a in accesses]
        active = _side_by_side(masks, blocks, bool)
    if with_values:
        values = [as_bits(access.value) for access in accesses]
        values = _side_by_side(values, blocks, np.uint64).view(np.int64)
    block = _each([access.who.first_block for access in accesses], blocks)
    if max(blocks) > 1:
        block += np.arange(len(block)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    syncs, whole_syncs = (_each(counts, blocks) for counts in zip(*syncs, strict=True))
    return Columns(
        sources,
        _each(source, blocks),
        _side_by_side([access.addresses for access in accesses], blocks, np.int64),
        active,
        _each([access.who.warp for access in accesses], blocks),
        block,
        _side_by_side(interval, blocks, np.int64, lanes=1)[0],
        syncs,
        whole_syncs,
        _each(order, blocks),
        _each([access.iterations for access in accesses], blocks),
        values,
    )


def joined(parts) -> Columns:
    """Columns side by side; each has values, or none."""
    if len(parts) == 1:
        return parts[0]
    lists = {id(part.sources): part.sources for part in parts}  # few, and long
    sources = {id(source): source for those in lists.values() for source in those}
    numbers = {key: number for number, key in enumerate(sources)}
    places = {
        key: np.array([numbers[id(source)] for source in those])
        for key, those in lists.items()
    }
    source = [places[id(part.sources)][part.source] for part in parts]
    active = None
    if any(part.active is not None for part in parts):
        masks = [EVERY_LANE if part.active is None else part.active for part in parts]
        counts = [len(part.source) for part in parts]
        active = _side_by_side(masks, counts, bool)
    parts = [part._replace(sources=None, active=None) for part in parts]
    rows = zip(*parts, strict=True)
    rows = (None if row[0] is None else np.concatenate(row, axis=-1) for row in rows)
    return Columns(*rows)._replace(
        sources=[*sources.values()], source=np.concatenate(source), active=active
    )


def _each(numbers, blocks):
    """A number of each access as a number of each of its requests."""
    numbers = np.array(numbers, np.int64)
    return numbers if max(blocks) == 1 else np.repeat(numbers, blocks)


def _side_by_side(values, blocks, dtype, lanes=WARP_SIZE):
    """Values that broadcast against (lanes, blocks) as columns: one for each block."""
    shapes = {np.shape(value) for value in values}
    if shapes == {(lanes, 1)} and max(blocks) == 1:
        return np.concatenate(values, axis=1).astype(dtype, copy=False)
    wide = np.empty((lanes, sum(blocks)), dtype)
    end = 0
    for value, count in zip(values, blocks, strict=True):
        begin, end = end, end + count
        wide[:, begin:end] = value
    return wide


def distinct(columns):
    """Each request once, with its times: an access of each source that was asked."""
    columns, bits = _of_active(columns)
    if not len(bits):
        return
    _, source, addresses, active, *who, order, turns, values = columns
    firsts = order
    order, start = _sorted(addresses, (bits, *who, source))
    chosen = order
    if len(start) < len(order):
        chosen = np.minimum.reduceat(order, start)
    first = np.argsort(source[chosen] * len(order) + chosen)
    chosen = chosen[first]  # by source, in the order of their making

    def over(ufunc, rows):
        if len(start) == len(order):
            return rows[..., chosen]
        return ufunc.reduceat(rows[..., order], start, axis=-1)[..., first]

    owners = Owners(
        *(column[chosen] for column in (*who, firsts)),
        *(over(ufunc, turns) for ufunc in (np.minimum, np.maximum, np.add)),
        over(np.bitwise_or, turn_bits(turns)),
        *(
            values if values is None else over(ufunc, values)
            for ufunc in (np.minimum, np.maximum)
        ),
    )
    times = np.diff(start, append=len(order))[first]
    source = source[chosen]
    active = None if active is None else active[:, chosen]
    limits = np.flatnonzero(np.diff(source, prepend=-1, append=-1)).tolist()
    requests = addresses[:, chosen], active, owners, times
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
        columns, bits = columns.chosen(asked), bits[asked]
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


def turn_bits(iterations):
    """A bit for a turn of a loop, which other turns have, too: those whose bits differ
    are not the same.
    """
    return 1 << iterations % TURN_BITS


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

"""Requests sorted by shape: whatever the addresses, nothing is lost or added."""

from collections import Counter

import numpy as np
import pytest

from tests.emulator.judges.bank_oracle import brute_sectors
from thirty_two_lanes.core.events import Access
from thirty_two_lanes.core.source import Reference, Site
from thirty_two_lanes.emulator.judges.coalescing import Coalescing
from thirty_two_lanes.emulator.judges.requests import requests_of

LINE = Reference(Site("cell", 1, "a[i]"), "load", "a")


def access(cells, active, blocks, dtype=np.float32):
    """A load of cells by a warp of each block."""
    dtype = np.dtype(dtype)
    return Access(
        LINE,
        "global",
        dtype,
        cells,
        active,
        blocks,
        {},
        step=dtype.itemsize,
        base=16 * 37,
    )


def by_thread(given):
    """The addresses of each request, lane by lane."""
    shape = (32, given.blocks)
    cells = np.broadcast_to(given.cells, shape)
    active = np.broadcast_to(True if given.active is None else given.active, shape)
    for block in range(given.blocks):
        lanes = [lane for lane in range(32) if active[lane, block]]
        if lanes:
            yield [int(cells[n, block]) * given.step + given.base for n in lanes]


def random_access(rng):
    """Orderly cells or not, masks of each shape, in 1 to 40 blocks."""
    blocks = int(rng.integers(1, 41))
    lanes = rng.integers(-3, 4) * np.arange(32)[:, None] + 200
    cells = [
        lambda: np.int64(5),
        lambda: lanes,
        lambda: rng.integers(0, 900, (1, blocks)),
        lambda: lanes + rng.integers(0, 900, (1, blocks)),
        lambda: rng.integers(0, 900, (32, blocks)),
        lambda: np.where(rng.random((1, blocks)) < 0.5, lanes, lanes[::-1]),
    ][rng.integers(6)]()
    masks = rng.random((32, 3)) < 0.6
    active = [
        lambda: None,
        lambda: masks[:, :1],
        lambda: rng.random((1, blocks)) < 0.5,
        lambda: rng.random((32, blocks)) < 0.5,
        lambda: masks[:, rng.integers(0, 3, blocks)],
        lambda: np.zeros((32, 1), bool),
        lambda: np.arange(32)[:, None] * np.ones((1, blocks), int) < 40 - blocks,
    ][rng.integers(7)]()
    if active is not None and active.shape == (32, blocks) and rng.random() < 0.5:
        cells = np.where(active, cells, 0)  # as an index that is outside there
    return access(np.asarray(cells), active, blocks)


@pytest.mark.parametrize("seed", range(20))
def test_groups_and_the_rest_are_the_requests_that_were_made(seed):
    """The same addresses, request by request, as many times."""
    rng = np.random.default_rng(seed)
    for _ in range(50):
        given = random_access(rng)
        groups, rest = requests_of(given)

        found = Counter()
        for group in groups:
            for first in group.firsts.tolist():
                request = tuple(sorted(first + lane for lane in group.lanes.tolist()))
                found[request] += group.times
        for block in range(0 if rest is None else rest.active.shape[1]):
            chosen = rest.addresses[:, block][rest.active[:, block]]
            found[tuple(sorted(chosen.tolist()))] += bool(len(chosen))
        assert Counter(tuple(sorted(r)) for r in by_thread(given)) == +found


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64, np.complex128])
def test_sectors_of_accesses_are_those_of_their_requests(dtype):
    """The judge's sums against a set of bytes for each request."""
    rng = np.random.default_rng(7)
    for _ in range(200):
        given = random_access(rng)
        given = access(given.cells, given.active, given.blocks, dtype)
        judge = Coalescing()
        judge.observe(given)
        table = judge.table()

        size = given.dtype.itemsize
        parts = (0, size // 2) if given.dtype.kind == "c" else (0,)
        size //= len(parts)
        expected = np.zeros(6, int)
        for lanes in by_thread(given):
            for part in parts:
                padded = [a + part for a in lanes] + [0] * (32 - len(lanes))
                active = [n < len(lanes) for n in range(32)]
                sectors, ideal = brute_sectors(padded, active, size)
                count = len(lanes)
                expected += [1, sectors, ideal, count, count * size, 32 * sectors]
        assert expected.tolist() == [getattr(table, c) for c in judge.columns]


def test_blocks_whose_lanes_lie_alike_are_one_group():
    """Wherever each begins, however its lanes are spread; one mask for all."""
    lanes = (np.arange(32)[:, None] * 7) % 32 * 2
    cells = lanes + np.array([[5, 900, 17]])

    for active in (None, np.arange(32)[:, None] < 20):
        ((group,), rest) = requests_of(access(cells, active, 3))
        assert rest is None and 3 == len(group.firsts)


def test_blocks_whose_lanes_lie_otherwise_are_told_apart():
    """Even where neighbours add up alike: 0, 3, 0, 3 and 1, 2, 1, 2."""
    odd = np.arange(32)[:, None] % 2
    cells = np.where(odd, [[3, 2, 3]], [[0, 1, 0]])

    given = access(cells, None, 3)
    groups, rest = requests_of(given)

    found = [rest.addresses[:, block] for block in range(3)] if rest else []
    found += [f + group.lanes for group in groups for f in group.firsts.tolist()]
    expected = sorted(map(sorted, by_thread(given)))
    assert expected == sorted(sorted(request.tolist()) for request in found)

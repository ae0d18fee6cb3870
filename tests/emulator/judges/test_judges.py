"""Bank conflicts and sectors: hand-made patterns, and a slow second opinion."""

import math

import numpy as np
import pytest
from numba import complex64, complex128, cuda, float32, float64, int8, int16, int32

from helpers import emulate
from tests.emulator.judges.bank_oracle import (
    brute_sectors,
    brute_wavefronts,
    random_request,
)
from tests.specimens.kernels import transpose_with
from thirty_two_lanes.core.sectors import request_sectors
from thirty_two_lanes.core.wavefronts import request_wavefronts
from thirty_two_lanes.emulator.judges.banks import request_sharing

LANES = np.arange(32)


def wavefronts(addresses, itemsize, kind="load", active=None):
    """Wavefronts and ideal wavefronts of one request."""
    active = np.ones(32, bool) if active is None else active
    counts = request_wavefronts(
        np.asarray(addresses)[:, None], active[:, None], itemsize, kind
    )
    return tuple(int(count[0]) for count in counts)


def only(*lanes):
    """The active lanes of a warp."""
    return np.isin(LANES, lanes)


@pytest.mark.parametrize(
    "name, items, lanes, expected",
    [
        ("lanes 15 and 16 read item 4", LANES * 0 + 4, [15, 16], 2),
        ("lanes 0 and 15 read their own", LANES, [0, 15], 1),
        ("neighbours by 2 agree", (LANES // 8) * 2 + ((LANES % 8) // 2) % 2, LANES, 2),
        (
            "one half by 1, the other by 2",
            np.where(LANES < 16, LANES // 2, (LANES // 8) * 2 + LANES % 2),
            LANES,
            4,
        ),
        ("all the same", LANES * 0, LANES, 2),
        ("each its own", LANES, LANES, 4),
        (
            "merged halves that conflict",
            (LANES // 16) * 4 + (LANES % 16) // 8 + (LANES % 8) // 4 * 8,
            LANES,
            4,
        ),
    ],
)
def test_loads_of_16_bytes_take_as_many_wavefronts_as_on_hardware(
    name, items, lanes, expected
):
    """Patterns whose wavefronts Nsight Compute counted."""
    assert expected == wavefronts(16 * items, 16, active=only(*lanes))[0]


def test_a_merged_load_of_16_bytes_can_conflict():
    """Two merged groups of two wavefronts each: two conflicts."""
    items = (LANES // 16) * 4 + (LANES % 16) // 8 + (LANES % 8) // 4 * 8

    assert (4, 2) == wavefronts(16 * items, 16)


@pytest.mark.parametrize(
    "items, kind, expected",
    [
        (LANES, "load", 2),
        (LANES // 2, "load", 1),
        (LANES // 2, "store", 2),
        (LANES * 0, "load", 1),
        (LANES * 0, "store", 2),
        (LANES * 2, "load", 4),
        (LANES * 16, "load", 32),
    ],
)
def test_accesses_of_8_bytes_go_by_half_warps(items, kind, expected):
    """Loads whose neighbours agree take one wavefront, stores never merge."""
    assert expected == wavefronts(8 * items, 8, kind)[0]


@pytest.mark.parametrize(
    "itemsize, items, expected",
    [
        (4, LANES, (1, 1)),
        (4, LANES * 0, (1, 1)),
        (4, LANES * 32, (32, 1)),
        (4, LANES % 2 * 32, (2, 1)),
        (2, LANES, (1, 1)),
        (2, LANES * 2, (1, 1)),
        (2, LANES * 4, (2, 1)),
        (1, LANES * 4, (1, 1)),
        (1, LANES * 128, (32, 1)),
        (4, 31 - LANES, (1, 1)),
    ],
)
def test_accesses_of_up_to_4_bytes_are_one_group(itemsize, items, expected):
    """Lanes of one word share it; different words of a bank wait for each other."""
    assert expected == wavefronts(itemsize * items, itemsize)


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_random_patterns_are_judged_as_the_rules_say(itemsize):
    """400 requests judged together, and each again lane by lane."""
    rng = np.random.default_rng(itemsize)
    requests = [random_request(rng, itemsize) for _ in range(400)]
    addresses, active = (np.stack(part, axis=1) for part in zip(*requests, strict=True))

    for kind in ("load", "store", "atomic", "increment"):
        expected = [brute_wavefronts(*r, itemsize, kind) for r in requests]
        actual = request_wavefronts(addresses, active, itemsize, kind)
        assert expected == list(zip(*(count.tolist() for count in actual), strict=True))
    expected = [brute_sectors(*r, itemsize) for r in requests]
    actual = request_sectors(addresses, active, itemsize)
    assert expected == list(zip(*(count.tolist() for count in actual), strict=True))


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 8, 13, 16, 32, 33])
def test_a_stride_in_shared_memory_conflicts_by_its_common_divisor_with_32(stride):
    """Each load of float32 costs gcd(stride, 32) wavefronts, one of them ideal."""

    @cuda.jit
    def strided(out):
        cells = cuda.shared.array(33 * 64, float32)
        t = cuda.threadIdx.x
        out[t] = cells[t * stride]

    (row,) = emulate(strided)[3, 64](np.zeros(64)).bank_conflicts.by_line.values()

    assert (6, 6) == (row.requests, row.ideal_wavefronts)
    assert 6 * (math.gcd(stride, 32) - 1) == row.conflicts
    assert ("load", "cells") == (row.kind, row.array)


def test_a_padded_transpose_has_no_conflicts_and_names_its_lines():
    """The counts of each line, asked for by its number."""
    a, out = np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float32)

    run = emulate(transpose_with(32))[(2, 2), (32, 32)](a, out)

    tables = run.bank_conflicts.by_line
    store, load = sorted(site.line for site in tables)
    assert (128, 0, "store") == (
        tables[store].requests,
        tables[store].conflicts,
        tables[store].kind,
    )
    assert (128, 128 * 31, "load") == (
        tables[load].requests,
        tables[load].conflicts,
        tables[load].kind,
    )
    assert (
        "tile[y, x] = a[row, col]" in {site.line: site.text for site in tables}[store]
    )
    with pytest.raises(KeyError, match="lines that have one"):
        tables[1]


@pytest.mark.parametrize("offset, sectors", [(0, 4), (1, 5), (7, 5), (8, 4)])
def test_a_shifted_load_touches_a_sector_more(offset, sectors):
    """32 neighbours of 4 bytes fill four sectors when the first begins one."""

    @cuda.jit
    def shifted(a, out):
        t = cuda.grid(1)
        out[t] = a[t + offset]

    run = emulate(shifted)[2, 64](np.zeros(200, np.float32), np.zeros(128, np.float32))

    rows = {row.kind: row for row in run.coalescing.by_line.values()}
    assert (4, 4 * sectors, 16) == (
        rows["load"].requests,
        rows["load"].sectors,
        rows["load"].ideal_sectors,
    )
    assert (4, 16, 16) == (
        rows["store"].requests,
        rows["store"].sectors,
        rows["store"].ideal_sectors,
    )


@pytest.mark.parametrize(
    "dtype, stride, sectors, ideal",
    [
        (np.int8, 1, 1, 1),
        (np.int16, 1, 2, 2),
        (np.float32, 1, 4, 4),
        (np.float64, 1, 8, 8),
        (np.float32, 2, 8, 4),
        (np.float32, 32, 32, 4),
        (np.float32, 0, 1, 1),
        (np.float64, 3, 24, 8),
        (np.int8, 32, 32, 1),
    ],
)
def test_sectors_of_element_sizes_and_strides(dtype, stride, sectors, ideal):
    """A warp's sectors are those that its bytes lie in; a broadcast is ideal."""

    @cuda.jit
    def strided(a):
        t = cuda.grid(1)
        a[t * stride] = 1

    run = emulate(strided)[1, 32](np.zeros(32 * max(stride, 1), dtype))

    assert (1, sectors, ideal) == (
        run.coalescing.requests,
        run.coalescing.sectors,
        run.coalescing.ideal_sectors,
    )


def test_a_complex_number_is_two_accesses_in_global_memory():
    """complex128: two of 8 bytes, 16 bytes apart; complex64: two of 4."""

    @cuda.jit
    def fill(a):
        a[cuda.grid(1)] = 1

    counts = {
        dtype: emulate(fill)[1, 32](np.zeros(32, dtype)).coalescing
        for dtype in (np.complex128, np.complex64)
    }

    assert (2, 32) == (counts[np.complex128].requests, counts[np.complex128].sectors)
    assert (2, 16) == (counts[np.complex64].requests, counts[np.complex64].sectors)


@pytest.mark.parametrize(
    "dtype, wavefronts",
    [
        (int8, 1),
        (int16, 1),
        (int32, 1),
        (float32, 1),
        (float64, 2),
        (complex64, 2),
        (complex128, 4),
    ],
)
def test_elements_of_each_size_in_order_have_no_conflicts(dtype, wavefronts):
    """1, 2 and 4 bytes a lane are one wavefront, 8 are two, 16 are four."""

    @cuda.jit
    def fill(out):
        cells = cuda.shared.array(32, dtype)
        cells[cuda.threadIdx.x] = 1

    counts = emulate(fill)[1, 32](np.zeros(1)).bank_conflicts

    assert (1, wavefronts, wavefronts, 0) == (
        counts.requests,
        counts.wavefronts,
        counts.ideal_wavefronts,
        counts.conflicts,
    )


@pytest.mark.parametrize(
    "itemsize, items, lanes, expected",
    [
        (4, LANES * 0, LANES, "broadcast"),
        (4, LANES // 2, LANES, "multicast"),
        (4, LANES, LANES, "neither"),
        (4, LANES * 0, [7], "neither"),
        (4, LANES * 0, [7, 9], "broadcast"),
        (1, LANES, LANES, "multicast"),
        (1, LANES % 4, LANES, "broadcast"),
        (8, LANES * 0, LANES, "broadcast"),
        (8, LANES, LANES, "neither"),
        (16, LANES // 16, LANES, "multicast"),
    ],
)
def test_loads_of_fewer_words_than_lanes_are_broadcasts_or_multicasts(
    itemsize, items, lanes, expected
):
    """One word for all is a broadcast, several for more lanes a multicast."""
    cells, active = (itemsize * items)[:, None], only(*lanes)[:, None]

    shared = request_sharing(cells, active, itemsize)

    names = ("broadcast", "multicast")
    named = [n for n, s in zip(names, shared, strict=True) if s[0]]
    assert [expected] == (named or ["neither"])


def test_the_table_counts_broadcasts_of_loads_and_active_lanes():
    """One load of a line is a broadcast, the other is not, and stores never are."""

    @cuda.jit
    def both(out):
        cells = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        cells[t] = t
        cuda.syncthreads()
        if t < 40:
            out[t] = cells[t // 32] + cells[t]

    run = emulate(both)[5, 64](np.zeros(64, np.float32))

    counts = run.bank_conflicts
    assert (2 * 5, 0) == (counts.broadcasts, counts.multicasts)
    assert (64 + 2 * 40) * 5 == counts.active_lanes
    assert 64 * 5 == counts.by_kind["store"].active_lanes
    assert (40 * 5, 160 * 5, 5 * 32 * 5) == (
        run.coalescing.active_lanes,
        run.coalescing.bytes,
        run.coalescing.bytes_moved,
    )


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
def test_random_loads_share_words_as_sets_say(itemsize):
    """Different words, lane by lane, against lanes."""
    rng = np.random.default_rng(itemsize)
    requests = [random_request(rng, itemsize) for _ in range(300)]
    addresses, active = (np.stack(part, axis=1) for part in zip(*requests, strict=True))

    broadcasts, multicasts = request_sharing(addresses, active, itemsize)

    width = max(4, itemsize)
    for n, (cells, lanes) in enumerate(requests):
        words = {int(c) // width for c, on in zip(cells, lanes, strict=True) if on}
        fewer = len(words) < lanes.sum()
        assert bool(broadcasts[n]) == (fewer and len(words) == 1)
        assert bool(multicasts[n]) == (fewer and len(words) > 1)

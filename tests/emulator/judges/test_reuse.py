"""How often elements are loaded, and which bytes that asks for and moves."""

from collections import Counter

import numpy as np
import pytest
from numba import cuda

from helpers import emulate, load4
from tests.specimens.kernels import add, matrix_product, numbers
from thirty_two_lanes.emulator.judges import reuse as reuse_module


def test_each_element_of_a_sum_is_loaded_once():
    """100 elements by 128 guarded threads; `out` is stored only."""
    a, b, out = (np.zeros(100, np.float32) for _ in "abo")

    table = emulate(add)[4, 32](a, b, out).reuse

    assert np.ones(100).tolist() == table["a"].loads.tolist()
    assert (400, 400, 0, 1.0) == (
        table["a"].bytes_asked,
        table["a"].bytes_distinct,
        table["a"].bytes_stored,
        table["a"].reuse,
    )
    assert 13 * 32 == table["a"].bytes_moved
    assert (0, 400, 0.0) == (
        table["out"].bytes_distinct,
        table["out"].bytes_stored,
        table["out"].reuse,
    )
    assert 3 * 13 * 32 == table.bytes_moved


def test_updates_are_told_apart_from_stores():
    """64 threads add to one element each, and 40 of them store to another array."""

    @cuda.jit
    def both(added, stored):
        i = cuda.grid(1)
        cuda.atomic.add(added, i, 1)
        if i < 40:
            stored[i] = 1

    table = emulate(both)[2, 32](np.zeros(64, np.int32), np.zeros(64, np.int32)).reuse

    assert [(64, 64), (40, 0)] == [
        (table[name].lanes_stored, table[name].lanes_updated)
        for name in ("added", "stored")
    ]


def test_a_broadcast_loads_its_element_once_for_each_lane():
    """Every thread of the grid asks for element 3."""

    @cuda.jit
    def broadcast(a, out):
        out[cuda.grid(1)] = a[3]

    row = emulate(broadcast)[5, 64](np.zeros(8), np.zeros(320)).reuse["a"]

    assert [0, 0, 0, 320, 0, 0, 0, 0] == row.loads.tolist()
    assert (320.0, 8, 320 * 8, 10 * 32) == (
        row.reuse,
        row.bytes_distinct,
        row.bytes_asked,
        row.bytes_moved,
    )


def test_an_array_that_is_none_is_named_with_those_that_there_are():
    """As a line without an access is."""
    reuse = emulate(add)[1, 64](np.zeros(64), np.zeros(64), np.zeros(64)).reuse

    with pytest.raises(KeyError, match="has no array `c`; there are `"):
        reuse["c"]
    assert reuse.get("c") is None and "c" not in reuse


def test_a_wide_load_loads_all_its_elements():
    """8 threads load 4 of 40 elements each, and thread 0 the last 4 again."""

    @cuda.jit
    def fours(a, out):
        i = cuda.grid(1)
        x, y, z, w = load4(a, 4 * i)
        out[i] = x + y + z + w
        if i == 0:
            out[0] = load4(a, 28)[3]

    a, out = np.zeros(40, np.float32), np.zeros(8, np.float32)

    row = emulate(fours)[1, 8](a, out).reuse["a"]

    assert 28 * [1] + 4 * [2] + 8 * [0] == row.loads.tolist()
    assert (128, 144, 36 / 32) == (row.bytes_distinct, row.bytes_asked, row.reuse)


def test_tiles_of_16_load_each_element_a_16th_as_often_as_threads_use_it():
    """48 by 48: each element of `a` and of `b` is loaded by 3 blocks."""
    a, b, out = numbers(48, 48), numbers(48, 48), np.zeros((48, 48), np.float32)

    table = emulate(matrix_product)[(3, 3), (16, 16)](a, b, out).reuse

    for name in "ab":
        assert np.full((48, 48), 3).tolist() == table[name].loads.tolist()
        assert 3.0 == table[name].reuse


def test_views_count_in_their_own_shape():
    """A reversed column and a shifted part of one array."""

    @cuda.jit
    def pick(a, b, out):
        t = cuda.grid(1)
        if t < 3:
            out[t] = a[t] + b[2 * t, 1]

    whole = np.zeros((8, 6), np.float32)
    a, b = whole[::-1, 2], whole[2:, 1:4]

    table = emulate(pick)[1, 32](a, b, np.zeros(3)).reuse

    assert [1, 1, 1, 0, 0, 0, 0, 0] == table["a"].loads.tolist()
    expected = np.zeros((6, 3), int)
    expected[[0, 2, 4], 1] = 1
    assert expected.tolist() == table["b"].loads.tolist()


def test_one_array_under_two_names_is_counted_under_each():
    """`a` is loaded and `out` stored, though they are the same memory."""

    @cuda.jit
    def shift(a, out):
        t = cuda.grid(1)
        out[t] = a[t + 1]

    both = np.zeros(33)

    table = emulate(shift)[1, 32](both, both).reuse

    assert [0] + [1] * 32 == table["a"].loads.tolist()
    assert [1] * 32 + [0] == table["out"].stores.tolist()
    assert (0, 0) == (table["out"].loads.sum(), table["a"].stores.sum())


def test_fields_of_records_are_bytes_of_their_own():
    """Two fields of 4 and 8 bytes in a record of 16: 12 bytes are asked for."""
    dtype = np.dtype([("x", np.float32), ("n", np.int64)], align=True)

    @cuda.jit
    def take(a, out):
        t = cuda.grid(1)
        out[t] = a[t].x + a[t].n

    row = emulate(take)[1, 32](np.zeros(40, dtype), np.zeros(32)).reuse["a"]

    assert [2] * 32 + [0] * 8 == row.loads.tolist()
    assert (32 * 12, 32 * 12) == (row.bytes_asked, row.bytes_distinct)


def test_an_atomic_update_is_a_store():
    """64 threads add to 4 cells."""

    @cuda.jit
    def count(out):
        cuda.atomic.add(out, cuda.grid(1) % 4, 1)

    row = emulate(count)[2, 32](np.zeros(6, np.int32)).reuse["out"]

    assert [16] * 4 + [0] * 2 == row.stores.tolist()
    assert (0, 16, 256) == (row.bytes_distinct, row.bytes_stored, row.bytes_asked)


@cuda.jit
def scattered(a, index, step, limit, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(step, step + 12):
        if index[i] % limit < k:
            total += a[(i * k) % a.size] + a[index[i]] + a[k]
    out[i] = total


@pytest.mark.parametrize("pending", [1, 50, 1 << 20])
@pytest.mark.parametrize("seed", range(4))
def test_random_loads_are_counted_one_by_one(seed, pending, monkeypatch):
    """A loop over threads says the same, however many wait to be counted."""
    monkeypatch.setattr(reuse_module, "PENDING", pending)
    rng = np.random.default_rng(seed)
    size, step, limit = int(rng.integers(40, 900)), int(rng.integers(0, 5)), 9
    a, index = np.zeros(size), rng.integers(0, size, 7 * 64).astype(np.int32)

    row = emulate(scattered)[7, 64](a, index, step, limit, np.zeros(7 * 64)).reuse["a"]

    expected = Counter()
    for i in range(7 * 64):
        for k in range(step, step + 12):
            if index[i] % limit < k:
                expected.update([(i * k) % size, int(index[i]), k])
    assert expected == Counter(dict(enumerate(row.loads.tolist()))) + Counter()
    assert 8 * sum(expected.values()) == row.bytes_asked
    assert 8 * len(expected) == row.bytes_distinct

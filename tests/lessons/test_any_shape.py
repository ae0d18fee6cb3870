"""The product of any shape: by every tile, whole and in pieces, at ragged shapes."""

from functools import cache

import numpy as np
import pytest

from helpers import emulate
from lessons.baselines import lesson_kernels
from tests.quick import slow

UNIT = 2.0**-24  # what a float32 is rounded by, at most
TILES = list(lesson_kernels("35")["TILES"])
RANDOM = np.random.default_rng()
SPECIAL = (1, 1, 1), (3, 0, 5), (5, 4, 2), (16, 16, 16), (64, 32, 128)


@cache
def lesson():
    return lesson_kernels("35")


def factors(m, k, n):
    """Two factors, and room that is full of NaN."""
    a, b = (RANDOM.standard_normal(it, dtype=np.float32) for it in ((m, k), (k, n)))
    return np.full((m, n), np.nan, np.float32), a, b


def near(c, a, b):
    """Is each element within the bound of its additions?"""
    k = a.shape[1]
    exact = a.astype(np.float64) @ b
    bound = k * UNIT / (1 - k * UNIT) * (abs(a).astype(np.float64) @ abs(b))
    return bool((abs(c - exact) <= bound).all())


def plan_of(tile, m, k, n, left, parts):
    """A plan with the last tiles in so many parts."""
    rows, cols, _ = lesson()["sides"](tile)
    tiles, deep = -(-m // rows) * -(-n // cols), -(-k // 16)
    length = 16 * -(-deep // parts)
    return tile, tiles, max(0, tiles - left), -(-k // length) if length else 1, length


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SPECIAL)
def test_a_shape_may_be_tiny_or_empty(sizes):
    """Zeros where nothing is added."""
    c, a, b = factors(*sizes)

    lesson()["multiply"](c, a, b)

    assert near(c, a, b)


@pytest.mark.slow
def test_nothing_is_computed_where_there_is_nothing():
    lesson()["multiply"](*factors(0, 3, 4))
    lesson()["multiply"](*factors(4, 3, 0))


@pytest.mark.slow
def test_what_is_not_a_number_stays_in_its_row_and_column():
    """A zero that fills up a tile is multiplied by a zero only."""
    c, a, b = factors(40, 21, 33)
    a[3, 20], b[20, 2], b[7, 32] = np.nan, np.inf, -np.inf

    lesson()["multiply"](c, a, b)

    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.isnan(a @ b), np.isnan(c))


@pytest.mark.slow
@pytest.mark.parametrize("fours", [True, False])
@pytest.mark.parametrize("tile", [slow(it) for it in TILES])
def test_every_tile_is_right_in_whole_and_in_pieces(tile, fours):
    """At random shapes, with no race, and nothing read that nobody wrote."""
    rows, cols, threads = lesson()["sides"](tile)
    m, k = RANDOM.integers(1, rows + 20), RANDOM.integers(17, 90)
    n = RANDOM.integers(1, cols + 20)
    n = 4 * (n // 4) + 4 if fours else 4 * (n // 4) + RANDOM.integers(1, 4)
    c, a, b = factors(int(m), int(k), int(n))
    plan = plan_of(tile, *a.shape, b.shape[1], left=1, parts=RANDOM.integers(2, 4))

    c, runs = emulated(plan, c, a, b)

    assert near(c, a, b), (plan, a.shape, b.shape)
    for run in runs:
        run.assert_no_races()
        assert not run.uninitialised


def emulated(plan, c, a, b):
    """The product, and what the emulator found of both kernels."""
    tile, (tiles, whole, parts, length) = plan[0], map(int, plan[1:])
    (rows, cols, threads), sizes = lesson()["sides"](tile), (*a.shape, b.shape[1])
    room = np.full(max(1, (tiles - whole) * parts * rows * cols), np.nan, np.float32)
    flat = [it.ravel() for it in (c, a, b)]
    kernel = lesson()["make_product"](tile, sizes[2] % 4 == 0)
    blocks = whole + (tiles - whole) * parts
    arguments = flat[0], room, *flat[1:], *sizes, whole, parts, length
    runs = [emulate(kernel)[blocks, threads](*arguments)]
    strips = (tiles - whole) * rows * cols // 128
    arguments = flat[0], room, sizes[0], sizes[2], whole, parts, rows, cols
    runs.append(emulate(lesson()["add_parts"])[strips // 8, (32, 1, 8)](*arguments))
    return flat[0].reshape(c.shape), runs

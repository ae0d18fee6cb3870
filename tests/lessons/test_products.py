"""The rungs of the ladder to cuBLAS, on inputs that are not kind."""

from functools import cache

import numpy as np
import pytest

from lessons.baselines import lesson_kernels

LADDER = "24"
RUNGS = list(lesson_kernels(LADDER)["RUNGS"])
STEPS = 32  # a multiple of every tile's
UNIT = 2.0**-24  # what a float32 is rounded by, at most


@cache
def ladder():
    return lesson_kernels(LADDER)


def product(name, a, b):
    """What a rung makes of one block's factors."""
    kernel, high, wide, threads, turned = ladder()["RUNGS"][name]
    c = np.full((high, wide), np.nan, np.float32)
    kernel[(1, 1), threads](c, np.ascontiguousarray(a.T) if turned else a, b)
    return c


def factors(name, fill):
    """Factors of one block of a rung."""
    _, high, wide, *_ = ladder()["RUNGS"][name]
    return fill((high, STEPS)), fill((STEPS, wide))


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNGS)
def test_a_rung_is_within_the_bound_of_its_additions(name):
    """Each of k steps rounds once, by at most 2⁻²⁴ of the sum so far."""
    random = np.random.default_rng(1)
    a, b = factors(name, lambda s: random.standard_normal(s, dtype=np.float32))

    error = abs(product(name, a, b) - a.astype(np.float64) @ b)
    assert (error <= 1.01 * STEPS * UNIT * (abs(a).astype(float) @ abs(b))).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNGS)
def test_a_rung_keeps_what_is_not_a_number_in_its_row_and_column(name):
    """Infinities and NaN reach the elements that they belong to, and no others."""
    a, b = factors(name, lambda shape: np.full(shape, -0.0, np.float32))
    a[3, 5], b[7, 2] = np.nan, np.inf

    with np.errstate(invalid="ignore"):
        assert np.array_equal(a @ b, product(name, a, b), equal_nan=True)


@pytest.mark.parametrize("size", [(0, 3, 4), (1, 1, 1), (3, 0, 5), (5, 4, 0)])
def test_any_size_may_be_tiny_or_empty(size):
    """Nothing is computed where there is nothing, and zeros where nothing is added."""
    check_any_size(*size)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(257, 33, 129), (20, 50, 260), (300, 7, 31)])
def test_any_size_may_be_ragged(size):
    """More than one block and more than one step, neither of them full."""
    check_any_size(*size)


def check_any_size(m, k, n):
    random = np.random.default_rng(2)
    a = random.standard_normal((m, k), dtype=np.float32)
    b = random.standard_normal((k, n), dtype=np.float32)
    c = np.full((m, n), np.nan, np.float32)

    ladder()["multiply"](c, a, b, *ladder()["room_for"](a, b))

    bound = 1.01 * k * UNIT * (abs(a).astype(float) @ abs(b))
    assert (abs(c - a.astype(np.float64) @ b) <= bound).all()

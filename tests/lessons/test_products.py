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

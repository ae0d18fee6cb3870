"""Tests whose assertions hold, whatever the launches do."""

import unittest

import numpy as np
import pytest
from conftest import HAS_GPU
from lanes_example.kernels import beyond, early_return, find_any, scaled, sums

if not HAS_GPU:
    pytest.skip("needs a GPU", allow_module_level=True)


def find():
    """The place of some 7 in a list that has two."""
    values, found = np.zeros(64), np.zeros(1, np.int64)
    values[[5, 40]] = 7
    find_any[2, 32](values, 7, found)
    return found[0]


def test_scaled(doubled):
    assert (doubled == 2).all()


def test_race():
    assert find() in (5, 40)


def test_uninitialised():
    out = np.zeros(2, np.float32)
    sums[2, 64](np.ones(100, np.float32), out)
    assert out[0] == 64


def test_bounds():
    with pytest.raises(IndexError):
        beyond[1, 33](np.ones(32))


def test_barrier():
    values = np.ones(60, np.float32)
    early_return[1, 64](values)
    assert (values == 2).all()


@pytest.mark.emulate(allow="races")
def test_race_that_is_meant():
    assert find() in (5, 40)


@pytest.mark.emulate(launches=0)
def test_race_that_is_not_judged():
    assert find() in (5, 40)


@pytest.mark.xfail(strict=True)
def test_race_that_is_known():
    assert find() in (5, 40)


def test_fixture_that_races(racing):
    assert racing.size == 1


def test_that_fails_of_itself():
    assert find() == -1


def test_counts(emulated):
    scaled[2, 32](np.ones(64, np.float32), np.float32(2))
    scaled[1, 64](np.ones(64, np.float32), np.float32(2))

    assert [2, 1] == [run.blocks for run in emulated.runs]
    assert emulated.runs[0].coalescing.requests == 4
    emulated.runs[1].assert_no_races().assert_coalesced()


class TestOld(unittest.TestCase):
    def test_race_in_a_class(self):
        self.assertIn(find(), (5, 40))

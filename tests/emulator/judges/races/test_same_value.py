"""Races in which all stores to a cell put the same value, and what is said of them."""

import numpy as np
import pytest
from numba import cuda, int32

from helpers import emulate


def test_threads_that_write_the_same_value_are_a_minor_race():
    """A flag that many threads raise."""

    @cuda.jit
    def raised(out):
        out[0] = 1

    run = emulate(raised)[2, 64](np.zeros(1, np.int32))

    assert ((), {True}) == (
        tuple(run.races),
        {r.same_value for r in run.races.minor},
    )


@pytest.mark.parametrize(
    ("number", "dtype", "said"),
    [
        (3, np.int32, ", all store 3"),
        (-2.5, np.float64, ", all store -2.5"),
        (1, np.complex128, ", all store the same"),
    ],
)
def test_the_value_that_all_store_is_named(number, dtype, said):
    """If it has 8 bytes at most; and the finding is below a wrong one."""

    @cuda.jit
    def raised(out, number):
        out[0] = number

    run = emulate(raised)[2, 64](np.zeros(1, dtype), dtype(number))

    assert {"slight"} == {it.finding.level for it in run.races.minor}
    assert all(race.title.endswith(said) for race in run.races.minor)


def test_values_that_differ_by_block_are_no_value_of_all():
    """Each block has a cell of its own, and many do the same."""

    @cuda.jit
    def marked(out):
        mark = cuda.shared.array(1, int32)
        mark[0] = cuda.blockIdx.x
        cuda.syncthreads()
        out[cuda.grid(1)] = mark[0]

    run = emulate(marked)[40, 64](np.zeros(2560))

    assert {", all store the same"} == {race.alike for race in run.races.minor}

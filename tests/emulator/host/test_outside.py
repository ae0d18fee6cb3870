"""What belongs inside a kernel says so where the host calls it."""

import pytest
from numba import cuda, float32

from helpers import load4
from tests.plain_words import internals_of
from thirty_two_lanes.core.errors import KernelError

CALLS = {
    "cuda.grid": lambda: cuda.grid(1),
    "cuda.syncthreads": lambda: cuda.syncthreads(),
    "cuda.syncwarp": lambda: cuda.syncwarp(),
    "cuda.threadfence": lambda: cuda.threadfence(),
    "cuda.shared.array": lambda: cuda.shared.array(8, float32),
    "cuda.local.array": lambda: cuda.local.array(shape=8, dtype=float32),
    "cuda.const.array_like": lambda: cuda.const.array_like([1]),
    "cuda.atomic.add": lambda: cuda.atomic.add([1], 0, 1),
    "cuda.shfl_sync": lambda: cuda.shfl_sync(-1, 1, 0),
    "cuda.popc": lambda: cuda.popc(3),
    "load4": lambda: load4([1], 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_for_kernels_says_so_on_the_host(name):
    """By the name that the reader wrote, at the reader's line."""
    with pytest.raises(KernelError) as told:
        CALLS[name]()

    assert f"`{name}` works inside a kernel only" in str(told.value)
    assert [] == internals_of(told.value)

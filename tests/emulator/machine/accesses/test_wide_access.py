"""Requests of several neighbours, at the end of an array."""

import numpy as np
import pytest
from numba import cuda

from helpers import emulate, load4


@pytest.mark.parametrize("size, inside", [(12, True), (11, False)])
def test_the_last_neighbour_lies_within_the_array(size, inside):
    """Four from the eighth on need twelve; with eleven it is the line's own error."""

    @cuda.jit
    def kernel(a, out):
        x, y, z, w = load4(a, 8)
        out[0] = x + y + z + w

    a, out = np.ones(size, np.float32), np.zeros(1, np.float32)
    if inside:
        emulate(kernel)[1, 1](a, out)
        assert 4 == out[0]
    else:
        with pytest.raises(IndexError, match=r"a\[11\], but `a` has shape \(11,\)"):
            emulate(kernel)[1, 1](a, out)

"""Values that an operation overwrites: only those that nobody reads again."""

import numpy as np
import pytest
from numba import cuda

import helpers  # noqa: F401  launches are emulated

X = np.arange(1, 129, dtype=np.float32)


@cuda.jit
def sums(out, x, w):
    """Products of values that are each used again, or not."""
    i = cuda.grid(1)
    own = x[i]
    again = own * own
    out[0, i] = again + own
    out[1, i] = x[i] * w[0] - w[i % 32] * x[i]
    out[2, i] = again * w[cuda.threadIdx.x] + w[0] * w[1]
    total = x[i] * w[1]
    for k in range(3):
        total = total + x[k] * w[k]
        out[3 + k, i] = total
    out[6, i] = total + own - again


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [32, 64])
def test_what_is_read_again_keeps_its_value(dtype, threads):
    """Numbers of one lane, of a warp, of all blocks, in either type, beside NumPy's."""
    x, w = X.astype(dtype), (X[:64] / 4).astype(dtype)
    out = np.zeros((7, 128), dtype)

    sums[128 // threads, threads](out, x, w)

    i = np.arange(128)
    running = x * w[1] + np.cumsum(x[:3] * w[:3])[:, None]
    expected = [x * x + x, x * w[0] - w[i % 32] * x]
    expected += [x * x * w[i % threads] + w[0] * w[1], *running]
    expected += [running[2] + x - x * x]
    np.testing.assert_allclose(out, expected, rtol=1e-6)

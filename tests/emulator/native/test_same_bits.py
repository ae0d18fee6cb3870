"""Machine code gives what NumPy's functions give, to the bit, errors and races too."""

import numpy as np
import pytest
from numba import cuda, float32

from tests.emulator.native.comparison import same_in_both
from tests.quick import beside
from tests.specimens.race_cases import CASES
from tests.specimens.random_kernels.launches import as_kernel, compiled
from tests.specimens.random_kernels.program import PLAIN_LAUNCH, plain_program, program
from tests.specimens.zoo_cases import ZOO

SPECIMENS = {case.name: case for case in [*CASES, *ZOO]}


@pytest.mark.parametrize("name", beside([*SPECIMENS][::25], SPECIMENS))
def test_a_specimen_gives_the_same_bits_and_the_same_error(name):
    """Every labelled kernel and the zoo, races, errors and deadlocks among them."""
    case = SPECIMENS[name]
    arguments = case.fresh(lambda array: array.copy())

    same_in_both(case.kernel, case.launch, arguments)


@pytest.mark.parametrize("seed", beside(range(2), range(60), slow_every=4))
def test_a_random_kernel_gives_the_same_bits(seed):
    """Nested loops, branches, early returns, and arithmetic of every type."""
    made = plain_program(seed)
    kernel = compiled(made.text, "kernel", as_kernel, seed)

    same_in_both(kernel, PLAIN_LAUNCH, [made.n, *made.arrays()])


@pytest.mark.parametrize("seed", beside([407], range(402, 602), slow_every=4))
def test_a_random_kernel_of_every_feature_gives_the_same_bits(seed):
    """Barriers, warp functions, atomics, views and special numbers among them."""
    made = program(seed)
    kernel = compiled(made.text, "kernel", as_kernel, seed)

    same_in_both(kernel, (made.blocks, made.threads), [made.n, *made.arrays()])


WHOLE = (np.int32, np.int8, np.uint8, np.uint32, np.int64, np.uint64)
LIMITS = [0, 1, -1, 2, -(2**63), 2**63 - 1, 2**31, -(2**31), 255, 31, 64]
SPECIAL = [0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 3e38, 2.0**63]


@pytest.mark.parametrize("dtype", beside([np.int32], WHOLE))
def test_integers_give_the_same_bits_at_their_limits(dtype):
    """Operators and conversions, of 0, -1 and the limits in many pairs."""
    some = np.random.default_rng(3).integers(-1000, 1000, 21)
    numbers = np.array([*LIMITS, *some]).astype(dtype)
    out = np.zeros((32, 16), dtype), np.zeros((32, 16))

    same_in_both(of_integers, (1, 32), [numbers, np.roll(numbers, 5), *out])


@pytest.mark.parametrize("dtype", beside([np.float32], [np.float64]))
def test_floats_give_the_same_bits_at_their_limits(dtype):
    """Operators and conversions, of NaN, infinities and zeros of both signs."""
    some = np.random.default_rng(3).normal(size=14) * 1e3
    special = np.array(SPECIAL)
    numbers = np.concatenate([special, -special, some]).astype(dtype)
    out = np.zeros((32, 16), dtype), np.zeros((32, 16), np.int64)

    same_in_both(of_floats, (1, 32), [numbers, np.roll(numbers, 5), *out])


@cuda.jit
def of_integers(a, b, whole, real):
    t = cuda.threadIdx.x
    x, y = a[t], b[t]
    whole[t, 0] = x // y if y != 0 else x
    whole[t, 1] = x % y if y != 0 else y
    whole[t, 2] = x << (y & 7)
    whole[t, 3] = x >> y
    whole[t, 4] = min(x, y)
    whole[t, 5] = max(x, y)
    whole[t, 6] = abs(x)
    whole[t, 7] = -x
    whole[t, 8] = ~x
    whole[t, 9] = x**2
    whole[t, 10] = x * y - x
    whole[t, 11] = x ^ (y | x)
    real[t, 0] = x
    real[t, 1] = np.float32(y)
    real[t, 2] = x / 7
    real[t, 3] = (x < y) + 2 * (x >= y) + 4 * (x == y)


@cuda.jit
def of_floats(a, b, real, whole):
    t = cuda.threadIdx.x
    x, y = a[t], b[t]
    real[t, 0] = min(x, y)
    real[t, 1] = max(x, y)
    real[t, 2] = x / (y if y != 0 else x * 0 + 1)
    real[t, 3] = x**3
    real[t, 4] = abs(x) - y
    real[t, 5] = -x * y
    real[t, 6] = x if x < y else y
    whole[t, 0] = np.int32(x)
    whole[t, 1] = np.uint8(x)
    whole[t, 2] = np.int64(x)
    whole[t, 3] = np.int8(y)
    whole[t, 4] = (x < y) + 2 * (x != y) + 4 * (x >= y)
    whole[t, 5] = bool(x)
    whole[t, 6] = not y


def test_an_index_that_numpy_meets_first_is_the_same_for_the_next_warp():
    """Rows change the number of the turn in place, and NumPy's functions keep what they
    found at an index: both warps add up the same elements.
    """

    @cuda.jit
    def kernel(out, a):
        tile, t = cuda.shared.array(8, float32), cuda.threadIdx.x
        if t < 8:
            tile[t] = a[t]
        cuda.syncthreads()
        total = float32(0)
        for k in range(a.size):
            total = cuda.fma(tile[k], float32(2), total)
        out[t] = total

    out, a = np.zeros(64, np.float32), np.arange(8, dtype=np.float32)
    (found, _), error, _ = same_in_both(kernel, (1, 64), [out, a])

    assert error is None
    assert [56] * 64 == np.frombuffer(found, np.float32).tolist()

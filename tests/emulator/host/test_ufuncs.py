"""`vectorize`, `guvectorize` and `cuda.reduce`, which launch kernels of Numba's own:
beside NumPy.
"""

import numpy as np
import pytest
from numba import cuda, guvectorize, vectorize

from helpers import device

pytestmark = pytest.mark.skipif(device.has_gpu, reason="launches go to the GPU")
VALUES = np.arange(999.0) % 97
STACK = np.arange(24.0).reshape(2, 3, 4)


@pytest.fixture(scope="module")
def scaled():
    """A ufunc of two types."""

    @vectorize(["float64(float64, float64)", "int64(int64, int64)"], target="cuda")
    def scaled(a, b):
        return a + 2 * b

    return scaled


@pytest.fixture(scope="module")
def added():
    """A ufunc that can reduce."""

    @vectorize(["int64(int64, int64)"], target="cuda")
    def added(a, b):
        return a + b

    return added


@pytest.fixture(scope="module")
def product():
    """A generalised ufunc, a matrix by a vector."""

    @guvectorize(
        ["void(float64[:, :], float64[:], float64[:])"], "(m,n),(n)->(m)", target="cuda"
    )
    def product(matrix, vector, out):
        for i in range(matrix.shape[0]):
            row, total = matrix[i], 0.0
            for j in range(row.shape[0]):
                total += row[j] * vector[j]
            out[i] = total

    return product


@pytest.mark.parametrize(
    "a, b",
    [
        (VALUES, VALUES),
        (VALUES, 3.0),
        ([1.0, 2.0], [3.0, 4.0]),
        (STACK[:, :1], STACK),
        (np.asfortranarray(STACK), STACK),
        (np.arange(5), np.arange(5)),
        (np.zeros(0), np.zeros(0)),
    ],
)
def test_a_ufunc_takes_arrays_of_host_and_device_and_numbers(scaled, a, b):
    """Broadcast as NumPy's, in the types of one of its signatures."""
    expected = np.asarray(a) + 2 * np.asarray(b)

    for there in (np.asarray, cuda.to_device):
        given = [
            there(np.ascontiguousarray(it)) if np.ndim(it) else it for it in (a, b)
        ]
        found = scaled(*given)
        found = found.copy_to_host() if cuda.is_cuda_array(found) else found
        assert (expected.dtype, expected.tolist()) == (found.dtype, found.tolist())


def test_a_ufunc_stores_where_it_is_told_and_takes_steps_on_the_device(scaled):
    """By `out`, of either kind, and `stream`."""
    here, there = np.zeros(999), cuda.device_array(999)
    values = cuda.to_device(VALUES)

    scaled(VALUES, VALUES, out=here)
    scaled(values, values, out=there, stream=cuda.stream())
    every_other = scaled(values[::2], values[::2])

    assert (3 * VALUES).tolist() == here.tolist() == there.copy_to_host().tolist()
    assert (3 * VALUES[::2]).tolist() == every_other.copy_to_host().tolist()


def test_numba_broadcasts_fewer_axes_by_their_first_element(scaled):
    """Its own code does, before any launch."""
    expected = STACK[0] + 2 * np.array([7.0])

    assert expected.tolist() == scaled(STACK[0], np.arange(7.0, 11.0)).tolist()


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_a_ufunc_reduces_arrays_of_any_length(added, size):
    """Of the host and of the device, on a stream."""
    values = np.arange(size) + 3

    assert values.sum() == added.reduce(values)
    assert values.sum() == added.reduce(cuda.to_device(values), stream=cuda.stream())


def test_a_generalised_ufunc_gives_what_numpy_gives(product):
    """For one core, for many, where one argument is broadcast, on either side."""
    vector = np.arange(4.0)
    here, there = np.zeros((2, 3)), cuda.device_array((2, 3))
    on_device = cuda.to_device(STACK), cuda.to_device(np.stack([vector, vector]))

    product(STACK, vector, out=here)
    product(*on_device, out=there, stream=cuda.stream())

    assert (STACK[0] @ vector).tolist() == product(STACK[0], vector).tolist()
    expected = (STACK @ vector).tolist()
    assert expected == product(STACK, vector).tolist()
    assert expected == here.tolist() == there.copy_to_host().tolist()
    assert expected == product(*on_device).copy_to_host().tolist()


def test_a_generalised_ufunc_has_several_results_and_takes_numbers():
    """A number of each core, and two arrays."""

    @guvectorize(
        ["void(float64[:], float64, float64[:], float64[:])"],
        "(n),()->(n),()",
        target="cuda",
    )
    def shifted(a, by, out, total):
        total[0] = 0
        for i in range(a.shape[0]):
            out[i] = a[i] + by
            total[0] += out[i]

    out, total = shifted(STACK[0], np.arange(3.0))
    expected = STACK[0] + np.arange(3.0)[:, None]

    assert (expected.tolist(), expected.sum(1).tolist()) == (
        out.tolist(),
        total.tolist(),
    )


@pytest.mark.slow
def test_a_reduction_takes_what_numba_offers():
    """A first value, fewer elements, where the result goes, a stream."""
    total = cuda.reduce(lambda a, b: a + b)
    values, there = cuda.to_device(VALUES), cuda.device_array(1)
    into = total(values, res=there, stream=cuda.stream())

    assert VALUES.sum() == total(VALUES) == total(values) == there.copy_to_host()[0]
    assert VALUES.sum() + 5 == total(VALUES, init=5)
    assert VALUES[:300].sum() == total(VALUES, size=300)
    assert (3, None) == (total(VALUES, size=0, init=3), into)
    assert 96 == cuda.Reduce(lambda a, b: a if a > b else b)(VALUES)


@pytest.mark.parametrize("size", [1, 31, 128, 129, 8193])
def test_a_reduction_takes_any_length(size):
    """Of whole blocks of 128 and of a part of one."""
    values = np.arange(size) % 1000

    assert values.sum() == _total(values)


_total = cuda.reduce(lambda a, b: a + b)


def test_what_numba_refuses_of_ufuncs_is_refused(scaled):
    """In Numba's own words: it is the same code."""
    dynamic = vectorize(target="cuda")(lambda a, b: a + b)

    with pytest.raises(TypeError, match="No matching version"):
        dynamic(VALUES, VALUES)
    with pytest.raises(TypeError, match="No matching version"):
        scaled(np.arange(3, dtype=np.int8), np.arange(3, dtype=np.int8))
    with pytest.raises(TypeError, match="'is_dynamic'"):
        guvectorize("(n)->(n)", target="cuda")(lambda a, out: None)
    for name in ("accumulate", "outer", "at"):
        assert not hasattr(scaled, name)
    with pytest.raises(ValueError, match="contiguous"):
        scaled(VALUES[::2], VALUES[::2])
    with pytest.raises(ValueError, match="broadcast"):
        scaled(np.zeros(3), np.zeros(4))

"""Fixtures that launch kernels, too."""

import numpy as np
import pytest
from lanes_example.kernels import find_any, scaled
from numba import cuda

HAS_GPU = cuda.is_available()


@pytest.fixture
def doubled():
    """Numbers that a kernel doubled."""
    values = np.ones(64, np.float32)
    scaled[2, 32](values, np.float32(2))
    return values


@pytest.fixture
def racing():
    """What a racing kernel left."""
    found = np.zeros(1, np.int64)
    find_any[2, 32](np.ones(64), 1, found)
    return found

"""A first kernel, run in a warm process before it has children: what it imports and
what Numba prepares for it would take each child a third of its time.
"""

import numpy as np
from numba import cuda

from thirty_two_lanes import emulate


@cuda.jit
def copy(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i]


def warm_up():
    """Compile and judge it."""
    emulate(copy)[1, 32](np.zeros(32), np.zeros(32))

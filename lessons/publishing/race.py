"""The film on the site's first page: a race, with its two lines."""

from numba import cuda, float32


@cuda.jit
def rotate(out, a):
    """Each thread hands its number on."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[(t + 1) % 64]


def film() -> str:
    """The film, as a part of a page."""
    import numpy as np

    from helpers import watch

    a = np.arange(64, dtype=np.float32)
    return watch(rotate)[1, 64](np.zeros_like(a), a)._repr_html_()

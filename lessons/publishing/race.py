"""The kernel of the first pages, the README's and the site's: a race, with its two
lines.
"""

from numba import cuda, float32


@cuda.jit
def rotate(out):
    """Each thread hands its number on."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = t
    out[t] = tile[(t + 1) % 64]


def launched(verb):
    """What `emulate` or `watch` gives of its launch."""
    import numpy as np

    return verb(rotate)[1, 64](np.zeros(64, np.float32))


def film() -> str:
    """The film, as a part of a page."""
    from helpers import watch

    return launched(watch)._repr_html_()

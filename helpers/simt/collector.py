"""Python's garbage collector, held back while Numba compiles: what it makes stays, and
looking through all of it again and again took a fifth of the first launch.
"""

import contextlib
import gc


@contextlib.contextmanager
def held_back():
    """Let no collection run meanwhile."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

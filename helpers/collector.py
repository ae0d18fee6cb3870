"""Python's garbage collector, held back while much is made that stays.

Importing Numba, and compiling a kernel, make some 100,000 objects; looking through them
again and again took a fifth of the first launch.
"""

import contextlib
import gc


@contextlib.contextmanager
def held_back():
    """Let no collection run meanwhile, nor look for it at what was made."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                gc.freeze()  # and back: what is young counts as old, unseen
                gc.unfreeze()
            gc.enable()

"""Python's garbage collector, held back while much is made that stays.

Importing Numba, and compiling a kernel, make some 100,000 objects; looking through them
again and again took a fifth of the first launch.
"""

import contextlib
import gc


@contextlib.contextmanager
def gc_paused(promote=False):
    """Let no collection run meanwhile; `promote`: nor look for it at what was made.

    Not where launches went before: what they left holds memory that is wanted back.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if promote and not gc.get_freeze_count():
                gc.freeze()  # and back: what is young counts as old, unseen
                gc.unfreeze()
            gc.enable()

"""Python's garbage collector, paused while many long-lived objects are created.

Importing Numba, and compiling a kernel, create some 100,000 objects; scanning them
repeatedly took a fifth of the first launch.
"""

import contextlib
import gc


@contextlib.contextmanager
def gc_paused(promote=False):
    """Run no collection; `promote`: afterwards count all objects as old, unscanned.

    Do not promote after launches: what they leave holds memory that must be freed.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if promote and not gc.get_freeze_count():
                gc.freeze()  # and back: young objects count as old, unscanned
                gc.unfreeze()
            gc.enable()

"""What `numba.cuda` offers the host, answered without a GPU."""
from contextlib import contextmanager
@contextmanager
def borrowed(arguments):
    yield list(arguments)

"""Streams and events where there is no GPU: everything has happened when a call
returns. What a GPU would still have to do, `told.py` tells the judge of streams.
"""

import itertools
import time
import warnings
from contextlib import contextmanager

from numba.cuda.cudadrv import driver

from thirty_two_lanes.emulator.host.hearing import tell, wake

_NAMES = {
    0: "<Default CUDA stream>",
    1: "<Legacy default CUDA stream>",
    2: "<Per-thread default CUDA stream>",
}
_handles = itertools.count(0x1000)


class Stream(driver.Stream):
    """A stream: a name for an order that the emulator keeps in any case."""

    def __init__(self, handle=None, external=False):
        self.handle = next(_handles) if handle is None else int(handle)
        self.external = external
        wake()

    def __int__(self):
        return self.handle

    def __repr__(self):
        kind = "External" if self.external else "Emulated"
        return _NAMES.get(self.handle, f"<{kind} CUDA stream {self.handle}>")

    def __cuda_stream__(self):
        return (0, self.handle)

    def synchronize(self):
        tell("ended", self)

    @contextmanager
    def auto_synchronize(self):
        yield self
        self.synchronize()

    def add_callback(self, callback, arg=None):
        """Call back at once: all earlier work is done."""
        try:
            tell("called_back", self, True)
            callback(self, 0, arg)
        except Exception as error:
            warnings.warn(f"Exception in stream callback: {error}", stacklevel=2)
        finally:
            tell("called_back", self, False)

    def async_done(self):
        """What can be awaited until all earlier work is done."""
        done, event = super().async_done(), Event()
        event.record(self)
        done.add_done_callback(lambda _: event.synchronize())  # before who awaits it
        return done


class Event(driver.Event):
    """An event: a moment of the host's clock, in nanoseconds, in its handle's place."""

    def __init__(self, timing=True):
        self.handle, self.timing = 0, timing

    def record(self, stream=0):
        self.handle = time.perf_counter_ns()
        tell("recorded", self, stream)

    def query(self):
        self.synchronize()
        return True

    def synchronize(self):
        tell("ended", None, self)

    def wait(self, stream=0):
        tell("awaited", self, stream)


def elapsed(start, end):
    """Milliseconds between two events."""
    return (end - start) / 1e6

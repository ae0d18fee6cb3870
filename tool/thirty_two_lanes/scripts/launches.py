"""Plain launches, `kernel[blocks, threads](*args)`, handed to a function of ours.

    with handed_to(function):
        kernel[blocks, threads](*args)      # calls function(launch, *args)

The function decides what a launch does: `launch.plainly(*args)` is what would have
happened, and `launch.emulated(*args)` the same with all judges. It holds for every
thread of the process. With a GPU, an emulated launch gets copies of device arrays and
copies them back; Numba's callbacks before a launch are called in the emulator alone.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from numba import cuda
from numba.cuda.dispatcher import _LaunchConfiguration as NumbasLaunch

from thirty_two_lanes.core.device import device
from thirty_two_lanes.core.errors import short_traceback
from thirty_two_lanes.core.source import package_of
from thirty_two_lanes.emulator.arguments import contiguous_or_refused
from thirty_two_lanes.emulator.emulation import Emulation
from thirty_two_lanes.emulator.host.dispatch import LaunchConfiguration


@dataclass(frozen=True)
class PlainLaunch:
    """A launch of somebody's program, which has not happened yet."""

    kernel: object
    blocks: tuple[int, int, int]
    threads: tuple[int, int, int]
    shared_bytes: int
    plainly: object  # called with the arguments
    _begin: object = None  # called with the arguments' types
    stream: object = 0

    @property
    def is_numbas_own(self) -> bool:
        """Is it a kernel that Numba brings, as for `cuda.reduce`?"""
        return package_of(self.kernel.py_func) == "numba"

    def emulated(self, *arguments, by=Emulation):
        """Run it with all judges; its arrays become what the launch makes of them. It
        is run `by` an emulation, or what is launched like one.
        """
        contiguous_or_refused(self.kernel, arguments)
        if device.has_gpu:
            cuda.synchronize()  # what other streams still write
        config = self.blocks, self.threads, 0, self.shared_bytes
        return by(self.kernel, begin=self._begin)[config](*arguments)


@contextmanager
def handed_to(function):
    """Hand every plain launch to `function(launch, *arguments)` for a while."""
    kind = NumbasLaunch if device.has_gpu else LaunchConfiguration
    before = kind.__call__

    @short_traceback
    def call(configured, *arguments, **named):
        if named:  # an error: no kernel takes them
            return before(configured, *arguments, **named)
        launch = PlainLaunch(
            configured.dispatcher,
            tuple(configured.griddim),
            tuple(configured.blockdim),
            configured.sharedmem,
            partial(before, configured),
            getattr(configured, "begin", None),
            configured.stream,
        )
        return function(launch, *arguments)

    kind.__call__ = call
    try:
        yield
    finally:
        kind.__call__ = before

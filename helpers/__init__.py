"""The front door of Thirty-Two Lanes: what its lessons import.

Importing it changes three things for the whole process. Numba's warnings about small
grids and host arrays are switched off: `measure` and the reports say it instead. The
traceback of an error of ours ends at the line that called us. And where there is no
GPU, the emulator answers launches and host calls of `numba.cuda`: `cuda.is_available()`
is then True, as in Numba's simulator, and `device` says where kernels really run. Where
there is a GPU, launches and host calls go to it as usual.
The environment variables `EMULATOR_SEED` and `EMULATOR_TURNS` set what a launch does
not; `EMULATOR_DEBUG=1` shows tracebacks whole, and what an error of the emulator's own
came from.
"""

import sys

if sys.version_info < (3, 8):  # it cannot read the modules that tell newer ones
    sys.exit("This Python is too old: the course needs 3.11 or newer.")

from thirty_two_lanes.core.gc_pause import gc_paused
from helpers.doctor import unusable

__all__ = [
    "emulate",
    "watch",
    "assemble",
    "measure",
    "check",
    "expect",
    "explore",
    "device",
    "table",
    "baseline",
    "twin",
    "load4",
    "store4",
    "copy4_async",
    "commit_copies",
    "wait_copies",
    "load_acquire",
    "store_release",
    "allow_dynamic_shared",
    "exercise",
]

try:
    with gc_paused(promote=True):
        from helpers import plotting
        from thirty_two_lanes.assembly import assemble
        from helpers.checking.check import check, expect
        from thirty_two_lanes.core.device import device
        from thirty_two_lanes.core.dynamic_shared import allow_dynamic_shared
        from thirty_two_lanes.core.errors import show_readers_part
        from thirty_two_lanes.core.tables import table
        from thirty_two_lanes.emulator import emulate, twin
        from thirty_two_lanes.emulator.host import install as host
        from helpers.exercises.catalogue import exercise
        from thirty_two_lanes.film.watch import watch
        from thirty_two_lanes.frontend.target import silence_numba
        from thirty_two_lanes.intrinsics.async_copies import (
            commit_copies,
            copy4_async,
            wait_copies,
        )
        from thirty_two_lanes.intrinsics.ordered_access import load_acquire, store_release
        from thirty_two_lanes.intrinsics.wide_access import load4, store4
        from helpers.measuring.baselines import baseline
        from helpers.measuring.timing import measure
        from helpers.plotting import *  # noqa: F403  its `__all__`: the figures
        from helpers.plotting.sliders.explore import explore
except Exception as error:  # other packages raise more than ImportError
    __getattr__ = unusable(error)
else:
    __all__ += plotting.__all__
    silence_numba()
    show_readers_part()
    if not device.has_gpu:
        host.install()

"""Thirty-Two Lanes, the tool: runs, judges and films kernels of `numba.cuda`.

Importing it brings Numba and NumPy, and changes three things for the whole process.
Numba's warnings about small grids and host arrays are switched off: `measure` and the
reports say it instead. The traceback of an error of ours ends at the line that called
us. And where there is no GPU, the emulator answers launches and host calls of
`numba.cuda`: `cuda.is_available()` is then True, as in Numba's simulator, and `device`
says where kernels really run. Where there is a GPU, launches and host calls go to it as
usual.
The environment variables `EMULATOR_SEED` and `EMULATOR_TURNS` set what a launch does
not, `EMULATOR_PATIENCE` after how many seconds it says that it still runs;
`EMULATOR_DEBUG=1` shows tracebacks whole, and what an error of the emulator's own came
from.
"""

import os
import sys

SIMULATOR = (
    "NUMBA_ENABLE_CUDASIM is set, so Numba's simulator would answer the launches: "
    "unset it"
)
if os.environ.get("NUMBA_ENABLE_CUDASIM", "0").strip() not in ("", "0"):
    if sys.argv[:1] != ["-m"]:  # what it is while Python looks for what `-m` names
        raise ImportError(SIMULATOR)
    print(f"python -m thirty_two_lanes: {SIMULATOR}", file=sys.stderr)
    sys.exit(2)

from thirty_two_lanes.core.gc_pause import gc_paused

with gc_paused(promote=True):
    from thirty_two_lanes.assembly import assemble
    from thirty_two_lanes.core.device import device
    from thirty_two_lanes.core.dynamic_shared import allow_dynamic_shared
    from thirty_two_lanes.core.errors import show_readers_part
    from thirty_two_lanes.emulator import emulate, twin
    from thirty_two_lanes.emulator.host import install as host
    from thirty_two_lanes.film.watch import watch
    from thirty_two_lanes.frontend.target import silence_numba
    from thirty_two_lanes.intrinsics.async_copies import (
        commit_copies,
        copy4_async,
        copy4_or_zero_async,
        copy_or_zero_async,
        wait_copies,
    )
    from thirty_two_lanes.intrinsics.ordered_access import load_acquire, store_release
    from thirty_two_lanes.intrinsics.wide_access import load4, store4

__all__ = [
    "emulate",
    "watch",
    "assemble",
    "device",
    "twin",
    "load4",
    "store4",
    "copy4_async",
    "copy4_or_zero_async",
    "copy_or_zero_async",
    "commit_copies",
    "wait_copies",
    "load_acquire",
    "store_release",
    "allow_dynamic_shared",
]

silence_numba()
show_readers_part()
if not device.has_gpu:
    host.install()

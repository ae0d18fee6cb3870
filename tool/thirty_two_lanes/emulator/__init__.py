"""The emulator: real `numba.cuda` kernels on a machine with no GPU, and what a profiler
would say.

kernel -> Numba's front end -> our IR -> NumPy functions -> machine -> judges -> report
          frontend             core/ir   codegen            machine    judges    report

`launch` takes a kernel through these rooms, `emulate` adds all judges, and `host` runs
plain launches.
"""

from thirty_two_lanes.core.errors import (
    BarrierError,
    KernelError,
    LaunchError,
    NoProgressError,
)
from thirty_two_lanes.emulator.emulation import Run, emulate
from thirty_two_lanes.language.twin_registry import twin

__all__ = [
    "BarrierError",
    "KernelError",
    "LaunchError",
    "NoProgressError",
    "Run",
    "emulate",
    "twin",
]

"""The emulator: real `numba.cuda` kernels on a machine with no GPU, and what a profiler
would say.

kernel -> Numba's front end -> our IR -> NumPy functions -> machine -> judges -> report
          frontend             core/ir   codegen            machine    judges    report

`launch` takes a kernel through these rooms, `emulate` adds all judges, and `host` runs
plain launches.
"""

import numpy as np

from thirty_two_lanes.core.errors import (
    BarrierError,
    KernelError,
    LaunchError,
    NoProgressError,
    short_traceback,
    shown,
)
from thirty_two_lanes.frontend.kernels import require_kernel
from thirty_two_lanes.language.twin_registry import twin

__all__ = [
    "BarrierError",
    "KernelError",
    "LaunchError",
    "NoProgressError",
    "emulate",
    "twin",
]


@short_traceback
def emulate(
    kernel, *, seed=None, turns=None, strict=False, merged=False, assembly=None
):
    """Run `emulate(kernel)[blocks, threads](*args)` in the emulator and return a Run.

    Arrays are changed in place, as by a launch. The seed chooses the order in which
    warps run, and blocks take turns at an atomic. A loop that comes back to where it
    was is an error, as it never ends; a long one runs, but for at most `turns`
    iterations of a warp. Where they are left out, and for a plain launch, the
    environment variables `EMULATOR_SEED` (0) and `EMULATOR_TURNS` (no limit) apply.
    Where `strict`, an atomic operation orders nothing before what follows it unless a
    fence stands between the two, as in the PTX memory model; a compare-and-swap or an
    exchange orders nothing without one in any case. Where `merged`, what the
    kernel computes or loads again counts once if the compiler does so once; mistakes
    and races are found as ever. With the `assembly` that `assemble` gives of this
    launch, `run.data_path` has the LSU wavefronts.
    """
    from thirty_two_lanes.emulator.emulation import Emulation

    require_kernel(kernel, "emulate")
    options = whole("seed", seed), whole("turns", turns)
    more = {"strict": strict, "merged": merged, "assembly": assembly}
    return Emulation(kernel, *options, **more)


def whole(name, value, verb="emulate") -> int | None:
    """An option that is a whole number, or None for what the environment says."""
    if value is None or isinstance(value, (int, np.integer)) and value >= 0:
        return value
    raise LaunchError(
        f"`{name}` of `{verb}` is a whole number, 0 or more, not {shown(value)}"
    )

"""The launches that a GPU refuses: too many threads, too much shared memory, a grid too
large for a grid barrier. The limits are those of an H200.

Not modelled: registers, for which a GPU may refuse a smaller grid with a grid barrier.
"""

import numpy as np

from thirty_two_lanes.core import hardware
from thirty_two_lanes.core.dynamic_shared import check_dynamic_shared
from thirty_two_lanes.core.errors import LaunchError
from thirty_two_lanes.core.occupancy import resident_blocks
from thirty_two_lanes.emulator.program import static_bytes


def check_static_shared(program):
    """Refuse shared arrays that are larger than a block may declare."""
    used = static_bytes(program, "shared")
    if used > hardware.STATIC_SHARED_BYTES:
        raise LaunchError(
            f"`{program.name}` declares {used:,} bytes of shared arrays; a block may "
            f"declare at most {hardware.STATIC_SHARED_BYTES:,}. Use smaller tiles, or "
            "dynamic shared memory, of which `allow_dynamic_shared` allows more"
        )


def check_local(program):
    """Refuse local arrays that are larger than a thread may have."""
    used = static_bytes(program, "local")
    if used > hardware.LOCAL_BYTES:
        raise LaunchError(
            f"`{program.name}` declares {used:,} bytes of local arrays; a thread has "
            f"at most {hardware.LOCAL_BYTES:,}. Use smaller ones, or pass an array "
            "of the host's with a row for each thread"
        )


def most_threads(options) -> int:
    """The threads that a block may have: `launch_bounds` may say fewer."""
    bounds = options.get("launch_bounds") or hardware.MAX_THREADS_PER_BLOCK
    bounds = bounds if isinstance(bounds, (tuple, list)) else (bounds,)
    if len(bounds) > 3:
        raise LaunchError(
            "`launch_bounds` is the maximum of threads per block, then the minimum of "
            f"blocks per multiprocessor, then the maximum of blocks per cluster, not "
            f"{bounds}"
        )
    return int(bounds[0])


def check_launch(kernel, program, config):
    """Refuse a launch that this kernel forbids, or whose grid barrier would hang."""
    grid_dim, block_dim, shared_bytes = config
    threads, most = int(np.prod(block_dim)), most_threads(kernel.targetoptions)
    if threads > most:
        raise LaunchError(
            f"`{program.name}` promises at most {most:,} threads a block "
            f"(`launch_bounds`), but this launch has {threads:,}"
        )
    static = static_bytes(program, "shared")
    check_dynamic_shared(kernel, shared_bytes, static)
    if program.grid_barriers:
        shared_bytes += static
        most = resident_blocks(hardware.H200, threads, shared_bytes)
        blocks = int(np.prod(np.array(grid_dim, dtype=np.int64)))
        if blocks > most:
            raise LaunchError(
                f"`{program.name}` has a grid barrier, so all {blocks:,} blocks "
                f"must be on the GPU at once; an H200 holds {most:,} of them. Use "
                "fewer blocks, and a grid-stride loop"
            )

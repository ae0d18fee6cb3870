"""The attributes of the emulated device: an H200's, as its driver gives them.

They have the names that CUDA gives them. What depends on the machine that a GPU is in,
such as its place on a bus, is 0 or missing.
"""

import difflib
import re
from functools import cache

from thirty_two_lanes.core import hardware
from thirty_two_lanes.core.hardware import H200

MEMORY_BYTES = 150_109_880_320  # cuDeviceTotalMem
CUDA = (13, 0)  # of that driver


def attribute(name, gpu=H200):
    """The value of an attribute, by CUDA's name or by that of Numba's own target."""
    known, values = _by_cuda(name), attributes_of(gpu)
    if known in values:
        return values[known]
    close = difflib.get_close_matches(known, values, 1)
    meant = f"; did you mean `{close[0]}`?" if name.isupper() and close else ""
    raise AttributeError(f"the emulated device has no attribute `{name}`{meant}")


def _by_cuda(name):
    """CUDA's name of an attribute that Numba's own target calls something else."""
    name = re.sub(r"^(?:MAX_)+(TEXTURE|SURFACE)_", r"MAXIMUM_\1", name)
    name = name.removeprefix("IS_").replace("MULTI_PROCESSOR", "MULTIPROCESSOR")
    return re.sub("_ALT$", "_ALTERNATE", name)


@cache
def attributes_of(gpu) -> dict:
    """A GPU's: what only a driver tells is the H200's, but for what is known of it."""
    holds, (major, minor) = gpu.multiprocessor, gpu.compute_capability
    sizes = {"BLOCK": hardware.MAX_BLOCK_DIM, "GRID": hardware.MAX_GRID_DIM}
    return {
        **H200.attributes,
        **gpu.attributes,
        **{
            f"MAX_{what}_DIM_{axis}": most
            for what, limits in sizes.items()
            for axis, most in zip("XYZ", limits, strict=True)
        },
        "COMPUTE_CAPABILITY_MAJOR": major,
        "COMPUTE_CAPABILITY_MINOR": minor,
        "WARP_SIZE": hardware.WARP_SIZE,
        "MAX_THREADS_PER_BLOCK": hardware.MAX_THREADS_PER_BLOCK,
        "MAX_SHARED_MEMORY_PER_BLOCK": hardware.STATIC_SHARED_BYTES,
        "SHARED_MEMORY_PER_BLOCK": hardware.STATIC_SHARED_BYTES,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": holds.shared_bytes_per_block,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": holds.reserved_bytes,
        "REGISTERS_PER_BLOCK": holds.registers,
        "MAX_REGISTERS_PER_BLOCK": holds.registers,
        "MULTIPROCESSOR_COUNT": gpu.multiprocessors,
        "MAX_THREADS_PER_MULTIPROCESSOR": holds.threads,
        "MAX_BLOCKS_PER_MULTIPROCESSOR": holds.blocks,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": holds.registers,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": holds.shared_bytes,
    }

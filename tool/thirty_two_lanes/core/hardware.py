"""The sizes that the rules of a GPU's memory are made of, and the limits and peaks of
some GPUs, which gpus.toml lists.
"""

import math
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

WARP_SIZE = 32  # threads
NUM_BANKS = 32  # of shared memory
WORD_BYTES = 4  # the width of a bank
SECTOR_BYTES = 32  # the smallest transfer of global memory
LINE_BYTES = 128  # of the caches: four sectors

MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK_DIM = (1024, 1024, 64)
MAX_GRID_DIM = (2**31 - 1, 65535, 65535)
STATIC_SHARED_BYTES = 48 * 1024  # what a block may use without asking for more
LOCAL_BYTES = 512 * 1024  # the most of a thread


@dataclass(frozen=True)
class Multiprocessor:
    """What a multiprocessor holds at a time: NVIDIA's CUDA programming guide, table of
    technical specifications by compute capability; how it is handed out:
    `cuda_occupancy.h` of the CUDA toolkit.
    """

    warps: int
    blocks: int
    shared_bytes: int
    reserved_bytes: int = 1024  # of shared memory, in each block, by the system
    shared_granularity: int = 128  # bytes

    registers: int = 65536  # of 4 bytes
    register_granularity: int = 256  # a warp gets a multiple of these
    partitions: int = 4  # each has its share of the registers and of the warps

    @property
    def threads(self) -> int:
        """The threads that it holds at a time."""
        return self.warps * WARP_SIZE

    @property
    def shared_bytes_per_block(self) -> int:
        """The most shared memory that one block can have."""
        return self.shared_bytes - self.reserved_bytes


MULTIPROCESSORS = {  # by compute capability
    (7, 5): Multiprocessor(32, 16, 64 * 1024, 0, 256),
    (8, 0): Multiprocessor(64, 32, 164 * 1024),
    (8, 6): Multiprocessor(48, 16, 100 * 1024),
    (8, 9): Multiprocessor(48, 24, 100 * 1024),
    (9, 0): Multiprocessor(64, 32, 228 * 1024),
    (10, 0): Multiprocessor(64, 32, 228 * 1024),
    (12, 0): Multiprocessor(48, 24, 100 * 1024),
}


@dataclass(frozen=True)
class GPU:
    """A GPU's size and peaks, of its data sheet; its name is what its driver says."""

    name: str = ""
    compute_capability: tuple[int, int] = (0, 0)
    multiprocessors: int = 0
    peak_gb_per_s: float = math.nan
    peak_tflop_per_s: float = math.nan  # float32, without tensor cores
    attributes: dict = field(default_factory=dict, compare=False)  # of its driver

    @property
    def multiprocessor(self) -> Multiprocessor:
        """What one of its multiprocessors holds."""
        return MULTIPROCESSORS[self.compute_capability]


def gpu_named(name) -> GPU | None:
    """The GPU of this name, that of its driver or that which people use."""
    known = {_plain(it): gpu for short, gpu in GPUS.items() for it in (short, gpu.name)}
    return known.get(_plain(name))


def _plain(name):
    return name.casefold().removeprefix("nvidia ").removeprefix("geforce ")


FILE = Path(__file__).with_name("gpus.toml")
GPUS = {  # by the name that people use
    short: GPU(**{it: tuple(v) if type(v) is list else v for it, v in facts.items()})
    for short, facts in tomllib.loads(FILE.read_text(encoding="utf-8")).items()
}
H200 = GPUS["H200"]  # whose recordings lessons tell of, and whose limits are emulated

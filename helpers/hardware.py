"""The sizes that the rules of a GPU's memory are made of, and the limits and peaks of
some GPUs.
"""

from dataclasses import dataclass

WARP_SIZE = 32  # threads
NUM_BANKS = 32  # of shared memory
WORD_BYTES = 4  # the width of a bank
SECTOR_BYTES = 32  # what global memory moves at least
LINE_BYTES = 128  # of the caches: four sectors

MAX_THREADS_PER_BLOCK = 1024
THREADS_PER_MULTIPROCESSOR = 2048
MAX_BLOCK_DIM = (1024, 1024, 64)
MAX_GRID_DIM = (2**31 - 1, 65535, 65535)
STATIC_SHARED_BYTES = 48 * 1024  # what a block may use without asking for more


@dataclass(frozen=True)
class GPU:
    """A GPU's limits: NVIDIA's CUDA programming guide, table of compute capabilities;
    its data sheet for the peaks.
    """

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    shared_bytes_per_block: int
    shared_bytes_per_multiprocessor: int
    peak_gb_per_s: float
    peak_tflop_per_s: float  # float32, without tensor cores


H200 = GPU("NVIDIA H200", (9, 0), 132, 227 * 1024, 228 * 1024, 4800.0, 67.0)

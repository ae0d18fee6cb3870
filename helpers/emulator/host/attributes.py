"""The attributes of an NVIDIA H200, by CUDA's names
(`cuDeviceGetAttribute`, driver 580); attributes that it lacks are 0.
"""

from helpers.core import hardware

MEMORY_BYTES = 150_109_880_320  # cuDeviceTotalMem
CUDA = (13, 0)  # of that driver
HOLDS = hardware.H200.multiprocessor

ATTRIBUTES = {
    **{
        f"MAX_{what}_DIM_{axis}": size
        for what, sizes in (
            ("BLOCK", hardware.MAX_BLOCK_DIM),
            ("GRID", hardware.MAX_GRID_DIM),
        )
        for axis, size in zip("XYZ", sizes, strict=True)
    },
    "MULTIPROCESSOR_COUNT": hardware.H200.multiprocessors,
    "WARP_SIZE": hardware.WARP_SIZE,
    "MAX_THREADS_PER_BLOCK": hardware.MAX_THREADS_PER_BLOCK,
    "MAX_THREADS_PER_MULTIPROCESSOR": HOLDS.threads,
    "MAX_SHARED_MEMORY_PER_BLOCK": hardware.STATIC_SHARED_BYTES,
    "SHARED_MEMORY_PER_BLOCK": hardware.STATIC_SHARED_BYTES,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": HOLDS.shared_bytes_per_block,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": HOLDS.shared_bytes,
    "COMPUTE_CAPABILITY_MAJOR": hardware.H200.compute_capability[0],
    "COMPUTE_CAPABILITY_MINOR": hardware.H200.compute_capability[1],
    "TOTAL_CONSTANT_MEMORY": 65536,
    "MAX_PITCH": 2147483647,
    "REGISTERS_PER_BLOCK": HOLDS.registers,
    "MAX_REGISTERS_PER_BLOCK": HOLDS.registers,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": HOLDS.registers,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": HOLDS.blocks,
    "RESERVED_SHARED_MEMORY_PER_BLOCK": HOLDS.reserved_bytes,
    "CLOCK_RATE": 1980000,  # kHz
    "MEMORY_CLOCK_RATE": 3201000,
    "GLOBAL_MEMORY_BUS_WIDTH": 6016,  # bits
    "L2_CACHE_SIZE": 62914560,
    "MAX_PERSISTING_L2_CACHE_SIZE": 39321600,
    "TEXTURE_ALIGNMENT": 512,
    "TEXTURE_PITCH_ALIGNMENT": 32,
    "SURFACE_ALIGNMENT": 512,
    "ASYNC_ENGINE_COUNT": 3,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 2,
    **dict.fromkeys(
        (
            "GPU_OVERLAP",
            "CAN_MAP_HOST_MEMORY",
            "CONCURRENT_KERNELS",
            "ECC_ENABLED",
            "UNIFIED_ADDRESSING",
            "STREAM_PRIORITIES_SUPPORTED",
            "GLOBAL_L1_CACHE_SUPPORTED",
            "LOCAL_L1_CACHE_SUPPORTED",
            "MANAGED_MEMORY",
            "CONCURRENT_MANAGED_ACCESS",
            "COMPUTE_PREEMPTION_SUPPORTED",
            "COOPERATIVE_LAUNCH",
            "MEMORY_POOLS_SUPPORTED",
            "CLUSTER_LAUNCH",
        ),
        1,
    ),
    **dict.fromkeys(
        (
            "KERNEL_EXEC_TIMEOUT",
            "INTEGRATED",
            "COMPUTE_MODE",
            "PCI_BUS_ID",
            "PCI_DEVICE_ID",
            "PCI_DOMAIN_ID",
            "TCC_DRIVER",
            "MULTI_GPU_BOARD",
            "HOST_NATIVE_ATOMIC_SUPPORTED",
            "PAGEABLE_MEMORY_ACCESS",
        ),
        0,
    ),
}

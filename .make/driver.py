"""Ask the NVIDIA driver, if there is one, which CUDA it supports.

Asks the driver itself (`libcuda`, `nvcuda.dll`) and not `nvidia-smi`, so that the
answer is the same in containers and under WSL.  Standard library only, as
environment.py, which asks.
"""

import ctypes
import os

COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = 75, 76  # names in cuda.h


def cuda_series():
    """The CUDA libraries to install: "13", "12", or "none"."""
    return series_for(*ask_driver())


def series_for(cuda_version, capability):
    """The newest series that both a driver and its GPU can use."""
    if cuda_version >= 13000 and capability >= (7, 5):
        return "13"
    return "12" if cuda_version >= 12000 else "none"


def ask_driver():
    """The driver's CUDA version, as 1000 x major, and its first GPU's capability."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return 0, (0, 0)
    gpus = number(driver.cuDeviceGetCount) if driver.cuInit(0) == 0 else 0
    if gpus == 0:
        return 0, (0, 0)
    capability = (
        number(driver.cuDeviceGetAttribute, COMPUTE_CAPABILITY_MAJOR, 0),
        number(driver.cuDeviceGetAttribute, COMPUTE_CAPABILITY_MINOR, 0),
    )
    return number(driver.cuDriverGetVersion), capability


def number(function, *arguments):
    """The number that a function of the driver gives; 0 when it refuses."""
    answer = ctypes.c_int()
    return 0 if function(ctypes.byref(answer), *arguments) else answer.value

"""Where kernels run: the GPU of this machine, or the emulator; the one line a notebook
opens with.
"""

import functools
import os
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from numba import cuda

from thirty_two_lanes.core.errors import wrapped


class Device:
    """The GPU of this machine, or the emulator that stands in for one."""

    @functools.cached_property
    def has_gpu(self) -> bool:
        """Is there a GPU that Numba can use?"""
        return not simulated() and _numba_sees_a_gpu()

    @functools.cached_property
    def name(self) -> str:
        """The GPU's name, or "emulator"."""
        if not self.has_gpu:
            return "emulator"
        name = cuda.get_current_device().name
        return name.decode() if isinstance(name, bytes) else name

    @functools.cached_property
    def compute_capability(self) -> tuple[int, int] | None:
        """The GPU's, such as (9, 0); None where there is none."""
        if not self.has_gpu:
            return None
        return tuple(cuda.get_current_device().compute_capability)

    @functools.cached_property
    def description(self) -> str:
        """Where kernels run and what times are worth, in one sentence."""
        if not self.has_gpu:
            return (
                "Emulator: no GPU here. It counts what your source does (a compiler "
                "may merge or drop some of it); times, where shown, are of a GPU."
            )
        present = cuda.get_current_device()
        major, minor = self.compute_capability
        return (
            f"{self.name}: compute capability {major}.{minor}, "
            f"{present.MULTIPROCESSOR_COUNT} multiprocessors."
        )

    def __repr__(self):
        return wrapped(self.description)


def simulated() -> bool:
    """Is Numba's own simulator switched on (NUMBA_ENABLE_CUDASIM)?"""
    from numba.core import config

    return bool(config.ENABLE_CUDASIM)


def _numba_sees_a_gpu():
    try:
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1")
        return not hidden and bool(cuda.is_available()) and len(cuda.gpus) > 0
    except Exception:
        return False


def installed(packages) -> dict[str, str]:
    """The versions of packages, those that are here."""
    found = {}
    for name in packages:
        with suppress(PackageNotFoundError):  # numba-cuda, on macOS
            found[name] = version(name)
    return found


device = Device()

"""The front door of Thirty-Two Lanes: what its lessons import.

Importing it has one global effect: where there is no GPU, launches and host calls of `numba.cuda`
are answered by the emulator (`cuda.is_available()` is then True, as in Numba's simulator; `device`
tells the truth). Where there is a GPU, nothing changes. Numba's warnings about small grids and host
arrays are off everywhere.
"""

from .device import device, silence_numba
from .simt import emulate, host

silence_numba()
if not device.has_gpu:
    host.install()

__all__ = ["device", "emulate"]

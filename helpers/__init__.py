"""The front door of Thirty-Two Lanes: what its lessons import.

Importing it has one global effect: where there is no GPU, launches and host calls of
`numba.cuda` are answered by the emulator (`cuda.is_available()` is then True, as in
Numba's simulator; `device` tells the truth). Where there is a GPU, nothing changes.
Numba's warnings about small grids and host arrays are off everywhere. The environment
variables `EMULATOR_SEED` and `EMULATOR_TURNS` choose what `emulate` says of them.
"""

from helpers.core.gc_pause import held_back
from helpers.doctor import unusable

try:
    with held_back(old=True):
        from helpers.assembly import assemble
        from helpers.checking.check import check, expect
        from helpers.core.device import device, silence_numba
        from helpers.core.tables import table
        from helpers.emulator import emulate, twin
        from helpers.emulator.host import install as host
        from helpers.measuring.baselines import baseline
        from helpers.measuring.timing import measure
        from helpers.plotting import (
            plot_bandwidth,
            plot_banks,
            plot_conflicts,
            plot_exchange,
            plot_grid,
            plot_grid_2d,
            plot_grid_stride,
            plot_halo,
            plot_hierarchy,
            plot_instructions,
            plot_intervals,
            plot_lanes,
            plot_latency,
            plot_reuse,
            plot_roofline,
            plot_sectors,
            plot_tile_banks,
            plot_tile_walk,
            plot_times,
            plot_traffic,
            plot_warps,
        )
        from helpers.plotting.explore import explore
        from helpers.wide_access import load4, store4
except ImportError as error:  # a package is missing, or does not fit the others
    __getattr__ = unusable(error)
else:
    silence_numba()
    if not device.has_gpu:
        host.install()

__all__ = [
    "assemble",
    "baseline",
    "check",
    "device",
    "emulate",
    "expect",
    "explore",
    "load4",
    "measure",
    "plot_bandwidth",
    "plot_banks",
    "plot_conflicts",
    "plot_exchange",
    "plot_grid",
    "plot_grid_2d",
    "plot_grid_stride",
    "plot_halo",
    "plot_hierarchy",
    "plot_instructions",
    "plot_intervals",
    "plot_lanes",
    "plot_latency",
    "plot_reuse",
    "plot_roofline",
    "plot_sectors",
    "plot_tile_banks",
    "plot_tile_walk",
    "plot_times",
    "plot_traffic",
    "plot_warps",
    "store4",
    "table",
    "twin",
]

"""Figures: each function takes numbers, never a machine, and gives a `Picture`."""

from .banks import plot_banks
from .blocks import plot_exchange, plot_halo
from .charts import plot_conflicts, plot_times
from .grids import plot_grid, plot_grid_2d, plot_grid_stride
from .hierarchy import plot_hierarchy
from .instructions import plot_instructions
from .intervals import plot_intervals
from .picture import Picture
from .products import plot_reuse, plot_roofline, plot_tile_walk
from .rates import plot_bandwidth, plot_latency, plot_traffic
from .sectors import plot_sectors
from .tiles import plot_tile_banks
from .warps import plot_lanes, plot_warps

__all__ = [
    "Picture",
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
]

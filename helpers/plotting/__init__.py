"""Figures: each function takes numbers, never a machine, and gives a `Picture`."""

from .banks import plot_banks
from .charts import plot_conflicts, plot_times
from .divergence import plot_divergence
from .grids import plot_grid, plot_grid_2d, plot_grid_stride
from .intervals import plot_intervals
from .picture import Picture
from .reuse import plot_reuse
from .roofline import plot_roofline
from .sectors import plot_sectors
from .tiles import plot_tile_banks

__all__ = [
    "Picture",
    "plot_banks",
    "plot_conflicts",
    "plot_divergence",
    "plot_grid",
    "plot_grid_2d",
    "plot_grid_stride",
    "plot_intervals",
    "plot_reuse",
    "plot_roofline",
    "plot_sectors",
    "plot_tile_banks",
    "plot_times",
]

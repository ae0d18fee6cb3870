"""Figures: each function takes numbers, never a machine, and gives a `Picture`.

`__all__` lists the figures; `helpers` offers them all.
"""

# ruff: noqa: F401  what is imported here is what there is

from helpers.plotting.banks import plot_banks
from helpers.plotting.blocks import (
    plot_exchange,
    plot_halo,
    plot_layer_walk,
    plot_meeting,
    plot_neighbours,
    plot_sides,
    plot_strip_walk,
    plot_tree,
)
from helpers.plotting.chains import plot_chains
from helpers.plotting.charts import (
    plot_conflicts,
    plot_exposed,
    plot_rungs,
    plot_series,
    plot_stages,
    plot_times,
)
from helpers.plotting.grids import (
    plot_grid,
    plot_grid_2d,
    plot_grid_stride,
    plot_look_back,
    plot_rounds,
    plot_schedule,
    plot_tile_order,
    plot_waves,
)
from helpers.plotting.hierarchy import (
    plot_hierarchy,
    plot_homes,
    plot_occupancy,
    plot_room,
)
from helpers.plotting.instructions import plot_instructions, plot_steps
from helpers.plotting.intervals import plot_intervals, plot_orders, plot_scan
from helpers.plotting.layouts import (
    plot_copies,
    plot_slices,
    plot_tile_move,
    plot_zooms,
)
from helpers.plotting.products import (
    plot_reuse,
    plot_roofline,
    plot_row_times_column,
    plot_tile_cycle,
    plot_tile_walk,
)
from helpers.plotting.rates import (
    plot_bandwidth,
    plot_in_flight,
    plot_latency,
    plot_rates,
    plot_speeds,
)
from helpers.plotting.sectors import (
    plot_new_sectors,
    plot_places,
    plot_requests,
    plot_sectors,
)
from helpers.plotting.shuffles import plot_fours, plot_shuffles
from helpers.plotting.tiles import (
    plot_ragged_walk,
    plot_register_tile,
    plot_tile_banks,
)
from helpers.plotting.timelines import (
    plot_fences,
    plot_letter,
    plot_look_backs,
    plot_pipeline,
)
from helpers.plotting.traffic import plot_levels
from helpers.plotting.warps import plot_issues, plot_lanes, plot_warps
from thirty_two_lanes.pictures import Picture

__all__ = sorted(name for name in globals() if name.startswith("plot_"))

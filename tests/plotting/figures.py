"""A call of each figure, with all that it can draw; what tests ask a figure."""

from functools import cache

import numpy as np

from helpers import plotting
from thirty_two_lanes.core import style

LANES = range(32)
HALF = [lane < 16 for lane in LANES]
SIZES = 2**18, 2**16, 3 * 2**20, 5 * 2**30
ASKED = {"L1": 100, "L2": 60, "memory": 30}
WOVEN = np.add.outer(np.arange(16) % 2, np.arange(16) // 2 % 4 * 2)
KINDS = ("float32", "float64", "global loads", "integers and addresses", "moves")
KINDS += ("constant loads", "calls")
RACE = [[("store", 0)], [("load", 0)]], [[("store", 0)], [("load", 1)]]
FIGURES = {
    "plot_bandwidth": lambda: plotting.plot_bandwidth(
        [2**14, 2**21], [900, 800], {"L1 ends": 2**18}, {"a copy": 700}, [ASKED] * 2
    ),
    "plot_banks": lambda: (
        [plotting.plot_banks([0, 128, 4, 132], kind=kind) for kind in style.KINDS]
        + [plotting.plot_banks([0, 4, 8], kind=kind) for kind in style.KINDS]
        + [plotting.plot_banks([16 * (lane + lane // 8) for lane in LANES], 16)]
    ),
    "plot_chains": lambda: [
        plotting.plot_chains(),
        plotting.plot_chains(2, 1, 2, (3,)),
    ],
    "plot_conflicts": lambda: plotting.plot_conflicts([1, 2], [0, 1], [0, 1], [5, 6]),
    "plot_copies": lambda: [
        plotting.plot_copies(
            {"rows": ([[0, 1, 2], [4, 5, 6]], [0, 0, 1, 1]), "one": ([[0, 2]], [0])}, 4
        ),
        plotting.plot_copies({"two": ([[0, 1], [4, 6]], [0, 1, 0])}, 4, [0, 0, 1]),
    ],
    "plot_exchange": lambda: plotting.plot_exchange([0, 1], [1, None]),
    "plot_exposed": lambda: plotting.plot_exposed([2, 4, 8], [3, 9, 30], [1, 4, None]),
    "plot_fences": lambda: [plotting.plot_fences(it, it) for it in (True, False)],
    "plot_fours": lambda: plotting.plot_fours([1, 2, 3, 4, 5, 6], 2),
    "plot_grid": lambda: [plotting.plot_grid(2, 4, n) for n in (7, 9)],
    "plot_grid_2d": lambda: plotting.plot_grid_2d((2, 1), (4, 3), (5, 7)),
    "plot_grid_stride": lambda: plotting.plot_grid_stride(2, 4, 11),
    "plot_halo": lambda: [plotting.plot_halo(2, 4, 1, it) for it in (None, 2)],
    "plot_strip_walk": lambda: plotting.plot_strip_walk(5, 3, 2),
    "plot_hierarchy": lambda: plotting.plot_hierarchy(8, *SIZES),
    "plot_homes": lambda: plotting.plot_homes(2**18, 2**16, 2**12, 5 * 2**30),
    "plot_in_flight": lambda: plotting.plot_in_flight(
        {"a": (1e6, 2000), "b": (4e6, None)}, 400, 4000
    ),
    "plot_instructions": lambda: plotting.plot_instructions(
        {"a kernel": dict.fromkeys(KINDS, 9)}
    ),
    "plot_intervals": lambda: plotting.plot_intervals(RACE),
    "plot_issues": lambda: plotting.plot_issues([(0, "a", HALF), (1, "b", HALF)]),
    "plot_lanes": lambda: plotting.plot_lanes({"a line": HALF}),
    "plot_latency": lambda: plotting.plot_latency([512, 4096], [9, 8], {"L1": 1024}),
    "plot_layer_walk": lambda: plotting.plot_layer_walk((1, 2), 4, 2),
    "plot_letter": lambda: [plotting.plot_letter(it) for it in (True, False)],
    "plot_levels": lambda: plotting.plot_levels({"rows": ASKED}),
    "plot_look_back": lambda: plotting.plot_look_back(["prefix", "sum", "", "sum"], 2),
    "plot_look_backs": lambda: plotting.plot_look_backs([(0, 4), (0, 2), (1, 4)]),
    "plot_meeting": lambda: [
        plotting.plot_meeting(it) for it in ([5] * 4, [1, 4, 8, 13])
    ],
    "plot_pipeline": lambda: plotting.plot_pipeline(3, buffers=(1, 3)),
    "plot_rates": lambda: plotting.plot_rates(
        {"a": {"p": 1, "q": 20}, "b": {"p": 300, "q": 300}}, 4000
    ),
    "plot_ragged_walk": lambda: [
        plotting.plot_ragged_walk(step, block=(step, 1)) for step in (0, 1)
    ],
    "plot_register_tile": lambda: plotting.plot_register_tile(
        [0, 1, 8, 9], [0, 1], (32, 16), (range(16), range(8))
    ),
    "plot_neighbours": lambda: plotting.plot_neighbours(
        {(0, 0, 0): "here", (0, 0, 1): "east", (1, 0, 0): "above"}
    ),
    "plot_new_sectors": lambda: [
        plotting.plot_new_sectors(
            {"rows": 4 * np.add.outer(9 * np.arange(4), np.arange(16))}, 8, kind=kind
        )
        for kind in style.KINDS
    ],
    "plot_places": lambda: [
        plotting.plot_places([4 * apart * lane for lane in range(lanes)], kind)
        for apart, lanes in ((33, 32), (40, 9))
        for kind in style.KINDS
    ],
    "plot_occupancy": lambda: plotting.plot_occupancy(256, 40, 48),
    "plot_orders": lambda: plotting.plot_orders(
        [[3, 1, 2], [1, 2, 3]], ["keys", "sorted"], [None, lambda key: key // 2]
    ),
    "plot_requests": lambda: [
        plotting.plot_requests({"rows": [128, 160, None], "next": [12, 28]}, kind=kind)
        for kind in style.KINDS
    ],
    "plot_reuse": lambda: [
        plotting.plot_reuse(np.arange(size).reshape(1, -1)) for size in (4, 40)
    ],
    "plot_roofline": lambda: plotting.plot_roofline({"a": (2, 100), "b": (3, None)}),
    "plot_row_times_column": lambda: plotting.plot_row_times_column(tile=2),
    "plot_scan": lambda: plotting.plot_scan(4, [[(0, 1), (2, 3)], [(1, 3)]]),
    "plot_room": lambda: plotting.plot_room(
        {"small": (1, 8, 8), "large": (100, 8, 2)}, 228
    ),
    "plot_rungs": lambda: plotting.plot_rungs(["a", "b"], [90, 12], [70, None], 77),
    "plot_schedule": lambda: plotting.plot_schedule({0: 2, 1: 3, 2: 1}, 2),
    "plot_sectors": lambda: [
        plotting.plot_sectors([0, 4, 128], kind=kind) for kind in style.KINDS
    ],
    "plot_series": lambda: plotting.plot_series(
        [1, 9], {"a": [3, 4], "b": [5, 4], "c": [1, 1]}, "lines", 1
    ),
    "plot_rounds": lambda: plotting.plot_rounds(4, 2, (1, 1)),
    "plot_shuffles": lambda: [
        plotting.plot_shuffles((4, 2, 1), kind, 8) for kind in ("down", "up", "xor")
    ],
    "plot_sides": lambda: plotting.plot_sides(2, 4),
    "plot_slices": lambda: [
        plotting.plot_slices({"a": (8, 0, 2), "b": (4, first, 8)}, 32)
        for first in (4, 2)
    ],
    "plot_speeds": lambda: plotting.plot_speeds(["a", "b"], [10, 500], 1000),
    "plot_stages": lambda: plotting.plot_stages({"way": {"there": 9, "back": 9}}),
    "plot_steps": lambda: plotting.plot_steps({"a": (1, 2, 9), "b": (1, 2, None)}),
    "plot_tile_banks": lambda: [
        plotting.plot_tile_banks([range(4)] * 2, cells, kind, 1)
        for cells in ([(0, 2), (1, 2)], [(0, 0), (0, 2)])
        for kind in style.KINDS
    ],
    "plot_tile_cycle": plotting.plot_tile_cycle,
    "plot_tile_move": lambda: [
        plotting.plot_tile_move(2, 4, 2, (4, 6), 1, shared) for shared in (True, False)
    ],
    "plot_tile_order": lambda: [
        plotting.plot_tile_order((2, 3), 4, down) for down in (False, True)
    ],
    "plot_tile_walk": plotting.plot_tile_walk,
    "plot_times": lambda: plotting.plot_times(["a"], [3], [(2, 4)], 1),
    "plot_tree": lambda: plotting.plot_tree([{0: (0, 1), 1: (2, 3)}, {0: (0, 2)}], 8),
    "plot_waves": lambda: plotting.plot_waves([9, 99], [3, 4], {"1 wave": 50}),
    "plot_zooms": lambda: plotting.plot_zooms(
        {"warp": np.arange(8).repeat(32).reshape(16, 16) // 2, "lane": WOVEN}
    ),
    "plot_warps": lambda: [plotting.plot_warps(it) for it in (33, (4, 4))],
}


@cache
def drawn(name):
    """What a figure's function draws here, each picture with its SVG: once for all
    tests of a worker.
    """
    pictures = FIGURES[name]()
    each = pictures if isinstance(pictures, list) else [pictures]
    return [(it, it.svg()) for it in each]


def pictures(name):
    """The pictures, laid out."""
    return [picture for picture, _ in drawn(name)]


def written(ax, left, top, rows, cols):
    """The texts of the boxes whose corners are in an area, as a matrix of numbers."""
    found = np.full((rows, cols), -1)
    for text in ax.texts:
        x, y = (it - 0.5 for it in text.get_position())
        if left <= x < left + cols and top <= y < top + rows:
            if text.get_text().isdigit():
                found[int(y - top), int(x - left)] = int(text.get_text())
    return found


def hexadecimal(colour):
    """A colour of matplotlib's as the style has it."""
    from matplotlib.colors import to_hex

    return to_hex(colour).upper()

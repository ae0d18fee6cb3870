"""How keys change places, step by step: in a network, or in passes over digits."""

from helpers.plotting.boxes import ROW_INCHES, board, fill_row, join, refuse_too_many
from thirty_two_lanes.core import style
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture

SHADES = 0.06, 0.45


def plot_orders(orders, names=None, groups=None, ax=None):
    """Keys in rows, one row for each step, with a line from each place to the next.

    `orders` has the keys, no two of them equal, in the order after each step. `names`
    are the rows', and `groups`, for each row, what a key is grouped by, such as a
    digit: groups by turns are light and dark.
    """
    keys = sorted(orders[0])
    if len(set(keys)) < len(keys) or any(sorted(it) != keys for it in orders):
        raise ArgumentError("each row has the same keys, no two of them equal")
    refuse_too_many(len(keys))
    names = names or [f"step {turn}" for turn in range(len(orders))]
    rows = {2 * turn: name for turn, name in enumerate(names)}
    size = 0.3 + 2 * ROW_INCHES * len(orders), len(keys), 2 * len(orders) - 1
    with board(ax, *size, rows) as ax:
        for turn, order in enumerate(orders):
            shares = shares_of(order, groups[turn] if groups else None)
            boxes = zip(order, [style.STORE] * len(order), shares, strict=True)
            fill_row(ax, 2 * turn, boxes)
            for place, key in enumerate(order if turn else ()):
                before = orders[turn - 1].index(key)
                join(ax, (before, place), (2 * turn - 1, 2 * turn), style.STORE)
    return Picture(ax.figure, said_of(orders, names))


def shares_of(order, group):
    """Light and dark by turns, where the group changes; all light without groups."""
    found, dark = [], False
    for place, key in enumerate(order):
        if group and place:
            dark ^= group(key) != group(order[place - 1])
        found.append(SHADES[dark])
    return found


def said_of(orders, names):
    """The keys of each row, in words."""
    rows = "; ".join(
        f"{name}: {', '.join(map(str, order))}"
        for name, order in zip(names, orders, strict=True)
    )
    return f"The order of {counted(len(orders[0]), 'key')}: {rows}."

"""A recorder's rows, merged where a thread does the same again, and sorted."""

from dataclasses import dataclass

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.race import HARMFUL, Accessor
from thirty_two_lanes.emulator.judges.races.case import TURN

ACCESS = {"load": 0, "store": 1, "atomic": 2, "acquire": 3, "release": 2}
INTERVAL = 1 << 44  # more than any time within an interval between barriers


KEYS = (
    "cell",
    "epoch",
    "interval",
    "thread",
    "place",
    "warp_syncs",
    "acquired",
    "fences",
)
COLUMNS = (*KEYS, "soonest", "latest", "turns", "least", "most")


def merged(rows) -> dict:
    """Rows of columns, merged where only times and values differ."""
    order, start = in_order(*(rows[name] for name in KEYS))
    first = order[start]
    result = {name: rows[name][first] for name in KEYS}
    for name, function in (
        ("soonest", np.minimum),
        ("latest", np.maximum),
        ("turns", np.bitwise_or),
        ("least", np.minimum),
        ("most", np.maximum),
    ):
        result[name] = reduced(function, rows[name][order], start)
    return result


@dataclass(eq=False)
class Accesses:
    """A recorder's rows, merged where only time and value differ, in the order of the
    keys: columns. Times count on through the intervals between barriers; `weight` is
    how many blocks did the same.
    """

    cell: np.ndarray
    epoch: np.ndarray
    interval: np.ndarray
    thread: np.ndarray
    place: np.ndarray
    warp_syncs: np.ndarray
    acquired: np.ndarray
    fences: np.ndarray
    soonest: np.ndarray
    latest: np.ndarray
    turns: np.ndarray  # bits
    kind: np.ndarray
    block: np.ndarray
    warp: np.ndarray
    same_value: np.ndarray
    value: np.ndarray  # its bits, of a store whose cell gets the same one always
    weight: np.ndarray

    @classmethod
    def of(cls, rows, width, kinds):
        """Those of rows, `width` threads to a block; kinds are by place."""
        rows = merged(rows)
        least, most = rows.pop("least"), rows.pop("most")
        for name in ("soonest", "latest"):
            rows[name] += rows["interval"] * INTERVAL
        kind, thread = kinds[rows["place"]], rows["thread"]
        same_value = _same_value(rows["cell"], kind, least, most)
        return cls(
            **rows,
            kind=kind,
            block=thread // width,
            warp=thread // WARP_SIZE,
            same_value=same_value,
            value=np.where(same_value & (kind == 1), least, 0),
            weight=np.ones_like(thread),
        )

    def __len__(self):
        return len(self.cell)

    def chosen(self, which):
        """Some of the accesses."""
        return Accesses(*(column[which] for column in vars(self).values()))

    def moment(self, which) -> Accessor:
        """Who made some of the accesses, and when."""
        return Accessor(self.thread[which], self.block[which], self.interval[which])

    @property
    def group(self):
        """A number for each cell and time between barriers of the grid."""
        return _numbered_in_order(self.cell, self.epoch)

    def pairs(self) -> int:
        """How many pairs of accesses to one cell there are, each in both orders."""
        sizes = np.bincount(self.group)
        return int((sizes * sizes).sum())

    def represented(self, first, count):
        """Only the first of the blocks that did the same, as often as they are; they
        store the same value where each of them does. Both are by block.
        """
        of = first[self.block]
        group = numbered(self.cell - self.block, of)  # cells count blocks
        differs = np.bincount(group, ~self.same_value) > 0
        self.same_value = ~differs[group]
        self.weight = count[self.block]
        return self.chosen(self.block == of)

    def in_crowded_cells(self, few):
        """Which are to cells that more than a few accesses are to?"""
        cell = _numbered_in_order(self.cell)
        return np.bincount(cell)[cell] > few

    def without_repetition(self):
        """Without intervals of a block that do to a cell what an earlier one did."""
        group = numbered(self.cell, self.epoch, self.interval)
        parts = (self.thread, self.place, self.warp_syncs, self.acquired, self.fences)
        parts = (*parts, self.soonest % INTERVAL, self.latest % INTERVAL)
        digest = np.zeros(len(self), np.uint64)
        for n, part in enumerate(parts):
            digest += part.astype(np.uint64) * np.uint64(2 * n + 3)
            digest *= np.uint64(0x9E3779B97F4A7C15)
            digest ^= digest >> np.uint64(29)
        whole = np.zeros(int(group.max(initial=-1)) + 1, np.uint64)
        np.add.at(whole, group, digest)
        order, start = in_order(self.cell, whole[group].view(np.int64), group)
        first = np.r_[True, self.cell[order][start][1:] != self.cell[order][start][:-1]]
        sums = whole[group][order][start]
        first[1:] |= sums[1:] != sums[:-1]
        kept = np.zeros(len(whole), bool)
        kept[group[order][start][first[: len(start)]]] = True
        return self.chosen(kept[group])

    def over_intervals(self):
        """A thread's accesses at one place merged, whatever barriers are between."""
        order, start = in_order(self.cell, self.epoch, self.thread, self.place)
        other = self.chosen(order[start])
        other.soonest = reduced(np.minimum, self.soonest[order], start)
        other.latest = reduced(np.maximum, self.latest[order], start)
        other.turns = reduced(np.bitwise_or, self.turns[order], start)
        return other

    def in_conflict(self):
        """Only cells that two threads touch, one of them writing."""
        group = self.group
        bits = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
        np.bitwise_or.at(bits, group, 1 << self.kind)
        low, high = np.full(len(bits), np.iinfo(np.int64).max), np.zeros_like(bits)
        np.minimum.at(low, group, self.thread)
        np.maximum.at(high, group, self.thread)
        return self.chosen(((low != high) & HARMFUL[bits])[group])


def apart(one, other):
    """Were accesses and others never of one turn of a loop? Turns of other blocks are
    told by their order alone: those may have passed more barriers.
    """
    before = one.latest // TURN < other.soonest // TURN
    return before | (one.block == other.block) & (one.turns & other.turns == 0)


def _same_value(cell, kind, least, most):
    """Do all stores to each access's cell store the same value?"""
    cell = _numbered_in_order(cell)
    stores, none = kind == 1, np.iinfo(np.int64)
    low = np.full(int(cell.max(initial=-1)) + 1, none.max)
    high = np.full(len(low), none.min)
    np.minimum.at(low, cell[stores], least[stores])
    np.maximum.at(high, cell[stores], most[stores])
    high[cell[kind == 2]] = none.max
    return (low == high)[cell]


def in_order(*columns):
    """The order of rows by columns, and where in it a new combination begins."""
    columns = as_one(columns)
    order = np.argsort(columns[0]) if len(columns) == 1 else np.lexsort(columns[::-1])
    new = np.zeros(len(order), bool)
    new[:1] = True
    for column in columns:
        column = column[order]
        new[1:] |= column[1:] != column[:-1]
    return order, np.flatnonzero(new)


def as_one(columns):
    """One column of numbers in the order of all columns, where it has room for them."""
    whole, room = 0, 1
    for column in columns if len(columns[0]) else ():
        least = int(column.min())
        count = int(column.max()) - least + 1
        room *= count
        if room >= 1 << 63 or column.dtype == np.uint64:
            return columns
        if count > 1:
            whole = whole * count + (column - least)
    return columns if np.ndim(whole) == 0 else [whole]


def reduced(function, column, start):
    return function.reduceat(column, start) if len(start) else column


def numbered(*columns, also=None):
    """A number for each combination of columns, in their order.

    With `also`, for the combinations with that in the first column's place, too.
    """
    if also is not None:
        both = [np.r_[columns[0], also], *(np.r_[c, c] for c in columns[1:])]
        numbers = numbered(*both)
        return numbers[: len(also)], numbers[len(also) :]
    order, start = in_order(*columns)
    numbers = np.empty(len(order), np.int64)
    counts = np.diff(np.r_[start, len(order)])
    numbers[order] = np.repeat(np.arange(len(start)), counts)
    return numbers


def _numbered_in_order(*columns):
    """A number for each combination of columns that are in order already."""
    new = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.cumsum(new)

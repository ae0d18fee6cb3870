"""Threads by number, and the barriers that each has passed: how races are judged."""

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.judges.gathering import Owners

LANES = np.arange(WARP_SIZE)[:, None]


class Clocks:
    """Numbers threads through the grid, `width` to a block, and counts barriers."""

    def __init__(self):
        self.width = self.threads_in_grid = WARP_SIZE  # threads of a block, of the grid
        self.seed = 0  # of the launch
        self.epoch = 0  # barriers of the grid
        self.intervals = {}  # first block of a batch: barriers, a number or (1, blocks)
        self.threads = {}
        self.sync_masks = {}  # (first block, warp): the lanes of each `syncwarp`

    def start(self, start):
        self.width = -(-int(np.prod(start.block_dim)) // WARP_SIZE) * WARP_SIZE
        self.seed = start.seed
        blocks = int(np.prod(np.array(start.grid_dim, np.int64)))
        self.threads_in_grid = self.width * blocks

    def synchronise(self, sync):
        """Count a barrier of blocks or of the grid."""
        if sync.scope == "grid":
            self.epoch += 1
        elif sync.scope == "block":
            first = sync.who.first_block
            one = 1 if sync.blocks is None else sync.blocks.astype(np.int32)
            self.intervals[first] = self.intervals.get(first, 0) + one
        else:
            warp, first, blocks = sync.who
            lanes = np.broadcast_to(sync.lanes, (WARP_SIZE, blocks))
            self.sync_masks.setdefault((first, warp), []).append(lanes)

    def thread(self, who):
        """The number of each thread of a warp, (lanes, blocks)."""
        if isinstance(who, Owners):
            return who.block * self.width + who.warp * WARP_SIZE + LANES
        key = (who.first_block, who.warp)
        if key not in self.threads:
            if self.threads and next(iter(self.threads))[0] != who.first_block:
                self.threads = {}
            block = np.arange(who.blocks)[None, :] + who.first_block
            lane = np.arange(WARP_SIZE)[:, None] + who.warp * WARP_SIZE
            self.threads[key] = block * self.width + lane
        return self.threads[key]

    def warp_syncs(self, who):
        """How often lanes of a warp have waited for each other."""
        if isinstance(who, Owners):
            return who.syncs[None, :]
        return len(self.sync_masks.get((who.first_block, who.warp), ()))

    def synced(self, thread, lanes, since, until) -> bool:
        """Did two lanes of a thread's warp wait for each other, after `since` and up to
        `until`?
        """
        block, warp = thread // self.width, thread % self.width // WARP_SIZE
        first = max(f for f, w in self.sync_masks if w == warp and f <= block)
        masks = self.sync_masks[first, warp][since:until]
        return any(mask[list(lanes), block - first].all() for mask in masks)

    def interval(self, who):
        """The barriers that the blocks have passed, a number or (1, blocks)."""
        if isinstance(who, Owners):
            return who.interval[None, :]
        return self.intervals.get(who.first_block, 0)


def active_rows(access, *columns):
    """The addresses of the active lanes in rows, and columns of shape (lanes, blocks),
    broadcast; numbers stay numbers.
    """
    shape = (WARP_SIZE, access.blocks)
    columns = (np.asarray(access.addresses), *columns)
    if access.active is None:
        return [_rows(column, shape) for column in columns]
    active = np.broadcast_to(access.active, shape)
    return [_rows(column, shape, active) for column in columns]


def _rows(column, shape, active=None):
    if np.ndim(column) == 0 and not isinstance(column, np.ndarray):
        return column
    if column.shape != shape:
        column, narrow = np.empty(shape, column.dtype), column
        column[...] = narrow
    return column.reshape(-1) if active is None else column[active]


def split(addresses, itemsize, granularity, *columns):
    """The cells, of `granularity` bytes, of accesses, and the columns beside them."""
    parts = itemsize // granularity
    cells = addresses // granularity
    if parts == 1:
        return cells, *columns
    cells = (cells[:, None] + np.arange(parts)).reshape(-1)
    repeated = (np.repeat(c, parts) if np.ndim(c) else c for c in columns)
    return cells, *repeated

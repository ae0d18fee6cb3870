"""Arrays in which each cell belongs to one thread (Eraser's exclusive state): the quick
answer to "no race here".

Most arrays that a kernel writes are like this, and while one is, a cell needs one
number: its thread, and whether it wrote. Neighbouring lanes on neighbouring cells are
checked as windows, a block at a time; and as long as all windows begin at multiples of
their length, the first cell of each tells of all.
"""

from functools import lru_cache

import numpy as np

from thirty_two_lanes.core.events import Warps
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.judges.requests import requests_of

NOBODY = 0  # what fresh memory holds
SHORTEST = 4  # cells of a window that is faster than single cells
MOST_WARPS = 32  # of a block


class CellOwners:
    """The owner of each cell: 2 * thread + 2, and one more if it wrote. Threads are
    numbered through the grid, `width` to a block. A number is for `unit` neighbours,
    which belong to neighbouring threads: the first one's.
    """

    def __init__(self, cells, width, threads, has_barriers):
        self.width, self.unit = width, None  # not known yet
        self.owner = np.zeros(cells, np.int32 if threads < 1 << 29 else np.int64)
        self.since = np.zeros(cells, np.int32) if has_barriers else None
        self.codes = {}  # of the threads of warps, a row for each block

    def windows(self, kind, windows, who, time) -> bool:
        """Record loads or stores; False if a cell already has another owner."""
        firsts, length = windows
        code = self._code_by_block(who).reshape(*firsts.shape, length)
        if self._has_one_number_for(firsts, length):
            firsts, length, code = firsts // length, 1, code[..., :1]
        if not self._take(kind, _runs_in(self.owner, length), firsts, code):
            return False
        if self.since is not None:
            since = _runs_in(self.since, length)
            time = time if np.ndim(time) == 0 else time.reshape(-1, 1, 1)
            since[firsts] = np.maximum(since[firsts], time)
        return True

    def cells(self, kind, cell, thread, time) -> bool:
        """The same, cell by cell; False also if two lanes touch one cell."""
        self._refine()
        code = self._code(thread)
        if not self._take(kind, self.owner, cell, code):
            return False
        if self.since is not None:
            self.since[cell] = np.maximum(self.since[cell], time)
        return bool((self.owner[cell] | 1 == code + 1).all())

    def _has_one_number_for(self, firsts, length) -> bool:
        """Is a number enough for each window, and was it for those before?"""
        aligned = not np.bitwise_or.reduce(firsts, axis=None) & length - 1
        if aligned and self.unit is None:
            self.unit = length
        if aligned and self.unit == length:
            return True
        self._refine()
        return False

    def _refine(self):
        """Have a number for each cell."""
        unit, self.unit = self.unit or 1, 1
        if unit > 1:
            owner = _repeated(self.owner, unit)
            owner += 2 * (np.arange(len(owner), dtype=owner.dtype) % unit)
            owner[_repeated(self.owner == NOBODY, unit)] = NOBODY
            self.owner = owner
            self.since = None if self.since is None else _repeated(self.since, unit)

    def _code_by_block(self, who):
        """The code of each thread of warps, (blocks, lanes)."""
        if not isinstance(who, Warps):
            return self._code_of(who)
        if who not in self.codes:
            if len(self.codes) == MOST_WARPS:  # of blocks that are done
                self.codes = {}
            self.codes[who] = self._code_of(who)
        return self.codes[who]

    def _code_of(self, who):
        firsts = who.block * self.width + who.warp * WARP_SIZE
        lanes = 2 * np.arange(WARP_SIZE, dtype=self.owner.dtype)
        return self._code(firsts)[:, None] + lanes

    def _code(self, thread):
        code = thread.astype(self.owner.dtype)
        code *= 2
        code += 2
        return code

    def writer_and_reader(self, nobody):
        """The last writer of each cell, and who else read it."""
        self._refine()
        thread, wrote = (self.owner >> 1) - 1, self.owner & 1 > 0
        thread = np.where(self.owner == NOBODY, nobody, thread.astype(np.int64))
        return np.where(wrote, thread, nobody), np.where(wrote, nobody, thread)

    def _take(self, kind, owner, where, code):
        before = owner[where]
        writing = code + 1
        if not before.any():
            owner[where] = writing if kind == "store" else code
            return True
        own = before | 1 == writing
        if own.all():
            if kind == "store":
                owner[where] = writing
            return True
        if not (own | (before == NOBODY)).all():
            return False
        owner[where] = writing if kind == "store" else np.maximum(before, code)
        return True


def _runs_in(cells, length):
    """Each run of neighbours, as a row; NumPy's own windows take ten times as long."""
    shape = len(cells) - length + 1, length
    return np.ndarray(shape, cells.dtype, cells, 0, cells.strides * 2)


def _repeated(numbers, unit):
    """Each of the first numbers so many times; as many as there were."""
    return np.repeat(numbers[: -(-len(numbers) // unit)], unit)[: len(numbers)]


def windows_of(access, granularity, start):
    """Where windows begin, (blocks, windows), and their length in cells; None where
    lanes have other offsets, or share a cell.
    """
    if access.active is not None or access.dtype.itemsize != granularity:
        return None
    groups, rest = requests_of(access)
    if rest is not None or len(groups) != 1 or len(groups[0].firsts) != access.blocks:
        return None
    runs = _runs(groups[0].key, granularity)
    if runs is None:
        return None
    offsets, length, span = runs
    firsts = np.ascontiguousarray((groups[0].firsts - start) // granularity)
    if len(firsts) > 1 and not _disjoint(firsts, offsets, length, span):
        return None
    return firsts[:, None] + offsets, length


@lru_cache(maxsize=4096)
def _runs(key, granularity):
    """Where runs of neighbours begin, their length, and the span of all; in cells."""
    lanes = np.frombuffer(key, np.int64) // granularity
    if len(lanes) != WARP_SIZE:
        return None
    length = WARP_SIZE
    while length >= SHORTEST:
        runs = lanes.reshape(-1, length)
        starts = runs[:, 0]
        whole = (runs == starts[:, None] + np.arange(length)).all()
        if whole and (len(starts) == 1 or _least_step(np.sort(starts)) >= length):
            return starts.copy(), length, int(starts.max()) + length
        length //= 2
    return None


def _disjoint(firsts, offsets, length, span) -> bool:
    """Are the windows of different blocks disjoint?"""
    if _least_step(firsts) >= span:
        return True
    every = np.sort((firsts[:, None] + offsets).ravel())
    return bool(_least_step(every) >= length)


def _least_step(numbers):
    return (numbers[1:] - numbers[:-1]).min()

"""Races in shared and global memory: accesses of one cell by different threads, one of
them a write, that nothing orders.

Barriers order the threads of their block, `syncwarp` the lanes of its mask, grid
barriers all, and a write, a fence and an atomic are ordered before what follows another
thread's later atomic on the same cell. Votes and shuffles order nothing. An atomic and
a plain access race. Found whatever order ran, for the accesses that the run made:
compute-sanitizer's racecheck sees shared memory alone, and neither atomics against
plain accesses nor what the compiler hid. A launch is looked at twice: once to see which
cells could be in a race, and if there are any, once more to look at those.
"""

import numpy as np

from helpers.core.coordinates import coordinates
from helpers.core.race import Race, Races
from helpers.emulator.judges.races.clocks import Clocks
from helpers.emulator.judges.races.global_suspects import GlobalSuspects
from helpers.emulator.judges.races.hazards import find_hazards
from helpers.emulator.judges.races.recorder import BLOCKS, Witness
from helpers.emulator.judges.races.release_acquire import Chains
from helpers.emulator.judges.races.shared_suspects import SharedSuspects


class RaceJudge:
    """Listens to a first run, and says whether a second one is needed."""

    def __init__(self):
        self.clocks = Clocks()
        self.shared = SharedSuspects()
        self.shadows = GlobalSuspects(self.clocks)
        self.allocations = []
        self.block_dim = self.grid_dim = None

    def hears(self):
        return {
            "launch": self.start,
            "allocation": self.allocation,
            "shared": self.shared.access,
            "global": self.shadows.access,
            "sync": self.meet,
        }

    def start(self, start):
        self.block_dim, self.grid_dim = start.block_dim, start.grid_dim
        self.clocks.start(start)
        self.shadows.start(start)

    def allocation(self, allocation):
        self.allocations.append(allocation)
        self.shadows.allocation(allocation)

    def meet(self, sync):
        self.shared.meet(sync)
        self.shadows.meet(sync)
        self.clocks.meet(sync)

    def witness(self):
        """Who listens to a second run; None where no cell could be in a race."""
        self.shared.finish()
        shadows = filter(None, self.shadows.allocations.values())
        if not self.shared.bytes and not any(s.suspects.any() for s in shadows):
            return None
        clocks = Clocks()
        return Witness(clocks, Chains(clocks), self.shared, self.shadows)

    def let_go(self):
        """Let go of the memory that was needed while the launch ran."""
        for shadow in filter(None, self.shadows.allocations.values()):
            shadow.let_go()

    def verdict(self, witness) -> Races:
        """The races that a witness saw."""
        if witness is None:
            return Races()
        found = find_hazards(
            witness.rows, witness.places, witness.clocks, witness.chains
        )
        races = [self._race(hazards, witness.places) for hazards in found]
        races.sort(key=lambda r: (-r.hazards, r.first.line, r.second.line, r.kind))
        minor = [r for r in races if r.scope == "warp" or r.same_value]
        result = Races(r for r in races if r not in minor)
        result.minor = Races(minor)
        return result

    def _race(self, hazards, places) -> Race:
        first, first_kind, array, space = places[hazards.earlier]
        second, second_kind, other, _ = places[hazards.later]
        width = self.clocks.width
        threads = [
            self._thread(number, space, hazards.scope) for number in hazards.threads
        ]
        return Race(
            kind=hazards.kind,
            space=space,
            scope=hazards.scope,
            array=array,
            first=first,
            second=second,
            hazards=hazards.count,
            cell=self._cell(hazards.cell, array, space, width),
            first_thread=threads[0],
            second_thread=threads[1],
            first_kind=first_kind,
            second_kind=second_kind,
            same_value=hazards.same_value,
            exact=hazards.exact,
        )

    def _thread(self, number, space, scope):
        block, thread = divmod(number, self.clocks.width)
        where = f"thread {coordinates(thread, self.block_dim)}"
        if scope == "grid" or int(np.prod(self.grid_dim)) > 1:
            where += f" of block {coordinates(block, self.grid_dim)}"
        return where

    def _cell(self, cell, array, space, width):
        """`tile[3, 4]`: the cell by the array's own indices."""
        if space == "shared":
            address = cell // BLOCKS * self.shared.grain
        else:
            shadow = self.shadows.shadow_at(cell)
            address = shadow.start + (cell - shadow.start) * shadow.grain
        fitting = [
            r for r in self.allocations if r.space == space and _holds(r, address)
        ]
        fitting.sort(key=lambda allocation: allocation.name != array)
        if not fitting:
            return array
        allocation = fitting[0]
        index = index_at(
            address - allocation.first, allocation.shape, allocation.strides
        )
        return f"{allocation.name}[{', '.join(map(str, index))}]"


def _holds(allocation, address):
    return allocation.start <= address < allocation.start + allocation.size


def index_at(offset, shape, strides) -> tuple[int, ...]:
    """The index of the element that a byte belongs to."""
    order = sorted(range(len(shape)), key=lambda axis: -abs(strides[axis]))
    index = [0] * len(shape)
    for axis in order:
        if strides[axis] > 0 and shape[axis] > 1:
            index[axis], offset = divmod(offset, strides[axis])
        elif strides[axis] < 0:
            index[axis] = -(offset // -strides[axis])
            offset += -strides[axis] * index[axis]
    return tuple(int(part) for part in index)

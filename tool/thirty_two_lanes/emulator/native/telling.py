"""What machine code tells the judges of a launch of few blocks: each request of their
warps as a row of a buffer, and counts of steps and splits.

Rows tell nothing where the machine would tell more than a request, at a negative index
or a number that does not fit: there NumPy's functions run. Judges get what waits before
they get anything that the machine emits.
"""

from functools import partial

import numpy as np

from thirty_two_lanes.core.events import Access, BranchSplit, Requests, Steps
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.native.ahead import Ahead, told_as
from thirty_two_lanes.emulator.native.kernel import FACTS

MOST_TOLD = 4096  # requests that wait, each of one block
AFTER = ("global", "shared", "local", "sync", "fence", "end")  # have a place in order


class Teller:
    """The buffers of a launch of one batch, and what they say to its listeners."""

    def __init__(self, listeners):
        self.heard = listeners
        self.listeners = listeners | {
            topic: (partial(self._in_order, listeners[topic]),)
            for topic in AFTER
            if listeners.get(topic)
        }
        self.warps, self.asking = [], None
        self.arrays = {}  # by variable: the one that is told of

    def connect(self, ahead):
        """Let a warp's rows find the buffers."""
        if self.asking is None:
            blocks = ahead.warp.blocks
            self.most = max(1, MOST_TOLD // blocks)
            size = self.most + max(len(b) for b in ahead.tape.program.ir.blocks)
            self.sources = ahead.tape.sources
            self.addresses = np.zeros((size, WARP_SIZE, blocks), np.int64)
            self.values = np.zeros((size, WARP_SIZE, blocks), np.uint64)
            self.lanes_told = np.zeros((size, blocks), np.int64)
            self.facts = np.zeros((size, FACTS), np.int64)
        buffers = ("addresses", "values", "lanes_told", "facts")
        ahead.set(most=self.most, **{n: getattr(self, n).ctypes.data for n in buffers})
        self.warps.append(ahead)
        self.ask(ahead)

    def ask(self, ahead):
        """A warp runs on, behind the requests of those before it."""
        if self.asking not in (None, ahead):
            ahead.set(asked=self.asking.get("asked"))
            self.asking.set(asked=0)
        self.asking = ahead

    def can_tell(self, name, array) -> bool:
        """May rows tell of the array that a variable holds? Only of its first one: a
        request says its place in the source, and not which array it asks.
        """
        cells = array.cells
        which = cells.space, cells.address, cells.step
        return self.arrays.setdefault(name, which) == which and is_tellable(array)

    def _in_order(self, listeners, event):
        """Tell what was before; an access keeps no numbers that are rows' to change."""
        self.tell()
        if isinstance(event, Access):
            cells, value = map(Ahead.unchanged, (event.cells, event.value))
            event = event._replace(cells=cells, value=value)
        for listener in listeners:
            listener(event)

    def tell(self):
        """Tell the requests that wait, which are of the warp that ran last."""
        count = self.asking.get("asked") if self.asking else 0
        if not count:
            return
        self.asking.set(asked=0)
        each, block = np.nonzero(self.lanes_told[:count])
        source, iterations, warp = self.facts[:count].T[:, each]
        who = self.asking.warp.who
        requests = Requests(
            self.sources,
            who.first_block,
            source.astype(np.int32),
            self.addresses[each, :, block],
            self.lanes_told[each, block].astype(np.uint32),
            warp.astype(np.int32),
            (who.first_block + block).astype(np.int32),
            iterations.astype(np.int32),
            self.values[each, :, block] if self.heard.get("values") else None,
        )
        for listener in self.heard["requests"]:
            listener(requests)

    def tell_counts(self):
        """Tell the steps and splits of each warp, once."""
        self.tell()
        for ahead in self.warps:
            who, code = ahead.warp.who, ahead.tape.program.code
            for pc, (lanes, splits) in enumerate(ahead.counts.tolist()):
                both, times = np.ones((1, splits), bool), ahead.steps[pc]
                steps = Steps(pc, who, lanes, int(times.sum()), times)
                for listener in self.heard.get("steps", ()) if lanes else ():
                    listener(steps)
                for listener in self.heard.get("split", ()) if splits else ():
                    several = who._replace(blocks=splits)
                    listener(BranchSplit(code[pc].ending.site, both, both, several))


def is_tellable(array) -> bool:
    """Are this array's cells those that are told, each so many times as far from where
    its block's begin, and does a request ask for whole elements?
    """
    cells = array.cells
    apart, own = told_as(cells)
    whole = cells.scale == apart * (WARP_SIZE if cells.space == "local" else 1)
    return bool(whole and apart and np.all(own == np.max(own, 0))) and not cells.packed

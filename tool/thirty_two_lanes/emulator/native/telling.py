"""What machine code tells the judges of a launch of one block: each request of a warp
as a row of a buffer, and counts of steps and splits.

Rows tell nothing where the machine would tell more than a request, at a negative index
or a number that does not fit: there NumPy's functions run. Judges get what waits before
they get anything that the machine emits.
"""

from functools import partial

import numpy as np

from thirty_two_lanes.core.events import Access, BranchSplit, Requests, Steps
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.native.ahead import Ahead
from thirty_two_lanes.emulator.native.kernel import FACTS

MOST_TOLD = 4096  # requests that wait
AFTER = ("global", "shared", "local", "sync", "fence", "end")  # have a place in order


class Teller:
    """The buffers of a launch of one block, and what they say to its listeners."""

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
            size = MOST_TOLD + max(len(b) for b in ahead.tape.program.ir.blocks)
            self.sources = ahead.tape.sources
            self.addresses = np.zeros((size, WARP_SIZE), np.int64)
            self.values = np.zeros((size, WARP_SIZE), np.uint64)
            self.facts = np.zeros((size, FACTS), np.int64)
        buffers = ("addresses", "values", "facts")
        ahead.set(most=MOST_TOLD, **{n: getattr(self, n).ctypes.data for n in buffers})
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
        source, active, iterations, warp = self.facts[:count].T
        known = np.flatnonzero(np.bincount(source))
        requests = Requests(
            tuple(self.sources[number] for number in known.tolist()),
            0,
            np.searchsorted(known, source).astype(np.int32),
            self.addresses[:count],
            active.astype(np.uint32),
            warp.astype(np.int32),
            np.zeros(count, np.int32),
            iterations.astype(np.int32),
            self.values[:count] if self.heard.get("values") else None,
        )
        for listener in self.heard["requests"]:
            listener(requests)

    def tell_counts(self):
        """Tell the steps and splits of each warp, once."""
        self.tell()
        for ahead in self.warps:
            who, code = ahead.warp.who, ahead.tape.program.code
            for pc, (lanes, steps, splits) in enumerate(ahead.counts.tolist()):
                both = np.ones((1, splits), bool)
                for listener in self.heard.get("steps", ()) if steps else ():
                    listener(Steps(pc, who, lanes, steps))
                for listener in self.heard.get("split", ()) if splits else ():
                    several = who._replace(blocks=splits)
                    listener(BranchSplit(code[pc].ending.site, both, both, several))


def is_tellable(array) -> bool:
    """Do addresses of this array's memory differ from those that are told by one
    distance, and does a request ask for whole elements?
    """
    cells, lane = array.cells, np.arange(WARP_SIZE)[:, None]
    scale, place = (WARP_SIZE, lane) if cells.space == "local" else (1, 0)
    own = 0 if cells.place is None else cells.place
    same = cells.scale == scale and np.all(own == place)
    return bool(same) and not cells.packed

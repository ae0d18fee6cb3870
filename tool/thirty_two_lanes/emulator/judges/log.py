"""Keeps what few blocks ask of memory, until it is worth judging: a judge takes about
as long for one request as for a hundred.

An access of many blocks goes on at once. Judges that add up get a log's accesses one
by one; those that follow what each thread does get all of them together, by the topic
"gathered", with the order in which they were made.
"""

from itertools import chain

import numpy as np

from thirty_two_lanes.emulator.judges.gathering import (
    Columns,
    Stretch,
    by_source,
    distinct,
    joined,
    stacked,
)

FEW_BLOCKS = 16  # of an access that is worth keeping
MOST_REQUESTS = 1 << 12  # that wait, and a sixteenth more for each place that asks,
MOST_IN_ALL = 1 << 15  # since judging those of one place has a cost of its own
SPACES = ("global", "shared", "local")


class Log:
    """Between the machine and its judges: `listeners` are its own, and the judges'."""

    def __init__(self, judges, few_blocks=FEW_BLOCKS, most=MOST_REQUESTS):
        self.few_blocks, self.most = few_blocks, most
        self.hear, self.hear_each, self.hear_all = {}, {}, []
        for judge in judges:
            heard = judge.listeners()
            for topic, hear in heard.items():
                if topic == "gathered":
                    self.hear_all.append(hear)
                    continue
                self.hear[topic] = (*self.hear.get(topic, ()), hear)
                if "gathered" not in heard:
                    self.hear_each[topic] = (*self.hear_each.get(topic, ()), hear)
        self.kept, self.stretches, self.columns = [], [], []
        self.waiting = self.order = 0  # requests that are kept; accesses so far
        self.places = set()  # that ask
        self.intervals = {}  # by first block: barriers, a number or (1, blocks)
        self.syncs = {}  # by first block and warp: those of lanes, and of all lanes

    def listeners(self) -> dict:
        """The listeners of each topic."""
        spaces = {space: (self.access,) for space in SPACES if space in self.hear}
        own = {"sync": self.sync, "fence": self.fence, "end": self.end}
        own = {topic: (hear,) for topic, hear in own.items()}
        return {**self.hear, **own, **spaces, "requests": (self.requests,)}

    def access(self, access):
        """Keep an access of few blocks; pass on one of many."""
        blocks = access.blocks
        if blocks > self.few_blocks:
            if self.waiting:
                self.flush()
            self.order += 1
            for hear in self.hear[access.space]:
                hear(access)
            return
        self.kept.append(access)
        self.places.add(id(access.reference))
        self._wait_for(blocks)

    def requests(self, requests):
        """Keep requests that were made together."""
        self._end_stretch()
        count = len(requests.source)
        order = self.order + np.arange(1, count + 1)
        self.order += count
        interval = np.asarray(self.intervals.get(requests.first_block, 0)).reshape(-1)
        within = requests.block - requests.first_block
        interval = interval[np.minimum(within, len(interval) - 1)]
        syncs = np.zeros((2, count), np.int64)
        for warp in np.unique(requests.warp).tolist() if self.syncs else ():
            known = self.syncs.get((requests.first_block, warp), (0, 0))
            syncs[:, requests.warp == warp] = np.array(known)[:, None]
        rows = (interval, *syncs, order, requests.iterations)
        stores = [s.reference.kind == "store" for s in requests.sources]
        heard = [s.space in self.hear for s in requests.sources]
        stores, heard = (np.array(it)[requests.source] for it in (stores, heard))
        for kind, stored in ((~stores, False), (stores, "values" in self.hear)):
            chosen = kind & heard
            if chosen.any():
                chosen = slice(None) if chosen.all() else np.flatnonzero(chosen)
                self.columns.append(_chosen(requests, rows, chosen, stored))
        self.places.update(id(source.reference) for source in requests.sources)
        self._wait_for(count)

    def _wait_for(self, count):
        """Let more requests wait, or have all judged."""
        self.waiting += count
        most = self.most + self.most // 16 * len(self.places)
        if self.waiting >= min(most, MOST_IN_ALL):
            self.flush()

    def sync(self, sync):
        """Count the barriers of a block and the syncs of a warp; a barrier of the grid
        ends all that is kept.
        """
        self._end_stretch()
        if sync.scope == "grid":
            self.flush()
        elif sync.scope == "block":
            first = sync.who.first_block
            one = 1 if sync.blocks is None else sync.blocks.astype(np.int64)
            self.intervals[first] = self.intervals.get(first, 0) + one
        else:
            key = sync.who.first_block, sync.who.warp
            syncs, whole = self.syncs.get(key, (0, 0))
            self.syncs[key] = syncs + 1, whole + bool(sync.lanes.all())
        for hear in self.hear.get("sync", ()):
            hear(sync)

    def fence(self, fence):
        """For those who hear fences, what follows one is judged at once, since its
        order has a meaning.
        """
        for hear in self.hear.get("fence_passed", ()):
            hear(fence)
        if "fence" in self.hear:
            self.flush()
            self.most = 1
            for hear in self.hear["fence"]:
                hear(fence)

    def end(self, who):
        """Blocks have ended: so has what they asked."""
        self.flush()
        for hear in self.hear.get("end", ()):
            hear(who)

    def _end_stretch(self):
        kept, self.kept = self.kept, []
        if kept:
            known = dict(self.intervals), dict(self.syncs)
            self.stretches.append(Stretch(kept, self.order, *known))
            self.order += len(kept)

    def flush(self):
        """Have all that is kept judged."""
        self._end_stretch()
        stretches, columns = self.stretches, self.columns
        self.stretches, self.columns, self.waiting = [], [], 0
        self.places.clear()
        with_values = "values" in self.hear
        columns += (stacked(pile, with_values) for pile in by_source(stretches))
        stored = [part for part in columns if part.values is not None]
        others = [part for part in columns if part.values is None]
        accesses = [
            *chain.from_iterable(
                distinct(joined(parts)) for parts in (others, stored) if parts
            )
        ]
        for access in accesses:
            for hear in self.hear_each.get(access.space, ()):
                hear(access)
        for hear in self.hear_all if accesses else ():
            hear(accesses)


def _chosen(requests, rows, chosen, with_values):
    """Some of many requests, a column each."""
    bits = np.ascontiguousarray(requests.active[chosen].astype("<u4"))
    active = np.unpackbits(bits.view(np.uint8), bitorder="little").reshape(-1, 32).T
    values = None
    if with_values:
        values = requests.values[chosen].T.copy().view(np.int64)
    barriers, syncs, whole, order, iterations = (
        row[chosen].astype(np.int64) for row in rows
    )
    return Columns(
        requests.sources,
        requests.source[chosen].astype(np.int64),
        requests.addresses[chosen].T.copy(),
        None if active.all() else active.astype(bool),
        requests.warp[chosen].astype(np.int64),
        requests.block[chosen].astype(np.int64),
        *(barriers, syncs, whole, order, iterations),
        values,
    )

"""Keeps what few blocks ask of memory, until it is worth judging: a judge takes about
as long for one request as for a hundred.

An access of many blocks goes on at once. Judges that add up get a log's accesses one
by one; those that follow what each thread does get all of them together, by the topic
"gathered", with the order in which they were made.
"""

from itertools import chain

import numpy as np

from helpers.emulator.judges.gathering import Columns, Moment, distinct, stacked

FEW_BLOCKS = 64  # of an access that is worth keeping
MOST_REQUESTS = 1 << 13  # that wait
SPACES = ("global", "shared", "local")


class Log:
    """Between the machine and its judges: `listeners` are its own, and the judges'."""

    def __init__(self, judges, few_blocks=FEW_BLOCKS, most=MOST_REQUESTS):
        self.few_blocks, self.most = few_blocks, most
        self.hear, self.hear_each, self.hear_all = {}, {}, []
        for judge in judges:
            for topic, hear in judge.listeners().items():
                if topic == "gathered":
                    self.hear_all.append(hear)
                    continue
                self.hear[topic] = (*self.hear.get(topic, ()), hear)
                if "gathered" not in judge.listeners():
                    self.hear_each[topic] = (*self.hear_each.get(topic, ()), hear)
        self.piles, self.columns, self.waiting = {}, [], 0
        self.order = 0
        self.intervals = {}  # by first block: barriers, a number or (1, blocks)
        self.syncs = {}  # by first block and warp: those of lanes, and of all lanes

    def listeners(self) -> dict:
        """The listeners of each topic."""
        topics = {**dict.fromkeys(SPACES, self.access), "requests": self.requests}
        topics |= {"sync": self.sync, "fence": self.fence, "end": self.end}
        if not self.hear.keys() & {*SPACES}:
            return self.hear
        own = {t: (heard,) for t, heard in topics.items() if self._has_use_for(t)}
        return self.hear | own

    def _has_use_for(self, topic):
        return topic in self.hear or topic in ("requests", "sync", "end")

    def access(self, access):
        """Keep an access of few blocks; pass on one of many."""
        self.order += 1
        if access.blocks > self.few_blocks:
            if self.waiting:
                self.flush()
            for hear in self.hear[access.space]:
                hear(access)
            return
        warp, first_block, blocks = access.who
        key = id(access.reference), access.step, access.base, access.dtype.itemsize
        pile = self.piles.get(key)
        if pile is None:
            pile = self.piles[key] = []
        interval = self.intervals.get(first_block, 0)
        syncs = self.syncs.get((first_block, warp), (0, 0))
        pile.append((access, Moment(self.order, interval, *syncs)))
        self.waiting += blocks
        if self.waiting >= self.most:
            self.flush()

    def requests(self, requests):
        """Keep requests that were made together."""
        count = len(requests.source)
        order = self.order + np.arange(1, count + 1)
        self.order += count
        interval = self.intervals.get(requests.first_block, 0)
        barriers = np.zeros(count, np.int64) + np.asarray(interval).reshape(-1)[
            np.minimum(requests.block - requests.first_block, np.size(interval) - 1)
        ]
        syncs = np.zeros((2, count), np.int64)
        for warp in np.unique(requests.warp).tolist():
            known = self.syncs.get((requests.first_block, warp), (0, 0))
            syncs[:, requests.warp == warp] = np.array(known)[:, None]
        rows = (barriers, *syncs, order, requests.iterations)
        for number, source in enumerate(requests.sources):
            if source.space in self.hear:
                chosen = np.flatnonzero(requests.source == number)
                if len(chosen):
                    self.columns.append(_chosen(requests, source, rows, chosen))
        self.waiting += count
        if self.waiting >= self.most:
            self.flush()

    def sync(self, sync):
        """Count the barriers of a block and the syncs of a warp; a barrier of the grid
        ends all that is kept.
        """
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
        """What follows a fence is judged at once, since its order has a meaning."""
        self.flush()
        self.most = 1
        for hear in self.hear["fence"]:
            hear(fence)

    def end(self, who):
        """Blocks have ended: so has what they asked."""
        self.flush()
        for hear in self.hear.get("end", ()):
            hear(who)

    def flush(self):
        """Have all that is kept judged."""
        piles, columns = self.piles, self.columns
        self.piles, self.columns, self.waiting = {}, [], 0
        values = "values" in self.hear
        stacks = (stacked(*zip(*p, strict=True), values) for p in piles.values())
        accesses = [*filter(None, map(distinct, chain(stacks, columns)))]
        for access in accesses:
            for hear in self.hear_each.get(access.space, ()):
                hear(access)
        for hear in self.hear_all if accesses else ():
            hear(accesses)


def _chosen(requests, source, rows, chosen):
    """Some of many requests, a column each."""
    bits = np.ascontiguousarray(requests.active[chosen].astype("<u4"))
    active = np.unpackbits(bits.view(np.uint8), bitorder="little").reshape(-1, 32).T
    values = requests.values
    if values is None or source.reference.kind != "store":
        values = None
    else:
        values = np.ascontiguousarray(values[chosen].T).view(np.int64)
    barriers, syncs, whole, order, iterations = (
        row[chosen].astype(np.int64) for row in rows
    )
    return Columns(
        source,
        np.ascontiguousarray(requests.addresses[chosen].T),
        None if active.all() else active.astype(bool),
        requests.warp[chosen].astype(np.int64),
        requests.block[chosen].astype(np.int64),
        *(barriers, syncs, whole, order, iterations),
        values,
    )

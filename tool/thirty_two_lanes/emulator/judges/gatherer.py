"""Keeps what few blocks ask of memory, until it is worth judging: a judge takes about
as long for one request as for a hundred.

An access of many blocks goes on at once. Judges that add up get what waited one access
at a time; those that follow what each thread does get all of it together, by the topic
"gathered", with the order in which it was made.
"""

import numpy as np

from thirty_two_lanes.emulator.judges.gathering import (
    Columns,
    Kept,
    columns_of,
    distinct,
    joined,
)

FEW_BLOCKS = 16  # of an access that is worth keeping
MOST_REQUESTS = 1 << 12  # that wait, and a sixteenth more for each line that asks,
MOST_IN_ALL = 1 << 15  # since judging those of one line has a cost of its own
SPACES = ("global", "shared", "local")


class Gatherer:
    """Between the machine and its judges: `listeners` are its own, and the judges'."""

    def __init__(self, judges, few_blocks=FEW_BLOCKS, most=MOST_REQUESTS):
        self.few_blocks, self.most = few_blocks, most
        self.by_topic, self.of_single, self.of_gathered = {}, {}, []
        for judge in judges:
            topics = judge.listeners()
            for topic, listener in topics.items():
                if topic == "gathered":
                    self.of_gathered.append(listener)
                    continue
                self.by_topic.setdefault(topic, []).append(listener)
                if "gathered" not in topics:
                    self.of_single.setdefault(topic, []).append(listener)
        self.kept, self.columns = [], []
        self.waiting = self.order = 0  # requests that are kept; accesses so far
        self.references = set()  # of those that wait
        self.intervals = {}  # by first block: barriers, a number or (1, blocks)
        self.syncs = {}  # by first block and warp: those of lanes, and of all lanes

    def listeners(self) -> dict:
        """The listeners of each topic."""
        spaces = dict.fromkeys(set(SPACES) & set(self.by_topic), [self.access])
        own = {"sync": [self.sync], "fence": [self.fence], "end": [self.end]}
        return {**self.by_topic, **own, **spaces, "requests": [self.requests]}

    def _tell(self, topic, event):
        for listener in self.by_topic.get(topic, ()):
            listener(event)

    def access(self, access):
        """Keep an access of few blocks; pass on one of many."""
        self.order += 1
        if access.blocks > self.few_blocks:
            if self.waiting:
                self.flush()
            return self._tell(access.space, access)
        warp, first, _ = access.who
        interval, syncs = self.intervals.get(first, 0), self.syncs.get((first, warp))
        self.kept.append(Kept(access, self.order, interval, syncs or (0, 0)))
        self.references.add(id(access.reference))
        self._wait_for(access.blocks)

    def requests(self, requests):
        """Keep requests that were made together."""
        count, first = len(requests.source), requests.first_block
        interval = np.asarray(self.intervals.get(first, 0)).reshape(-1)
        interval = interval[np.minimum(requests.block - first, len(interval) - 1)]
        syncs = np.zeros((2, count), np.int64)
        for warp in np.unique(requests.warp).tolist() if self.syncs else ():
            known = self.syncs.get((first, warp), (0, 0))
            syncs[:, requests.warp == warp] = np.array(known)[:, None]
        bits = np.ascontiguousarray(requests.active.astype("<u4")).view(np.uint8)
        lanes = np.unpackbits(bits, bitorder="little").reshape(-1, 32).T
        values = requests.values
        made = Columns(
            requests.sources,
            requests.source.astype(np.int64),
            requests.addresses.T,
            None if lanes.all() else lanes.astype(bool),
            requests.warp.astype(np.int64),
            requests.block.astype(np.int64),
            interval.astype(np.int64),
            *syncs,
            self.order + np.arange(1, count + 1),
            requests.iterations.astype(np.int64),
            None if values is None else values.T.view(np.int64),
        )
        self.order += count
        asked = np.flatnonzero(np.bincount(made.source)).tolist()
        stores, known = np.zeros((2, len(requests.sources)), bool)
        for number in asked:
            reference, space, _ = requests.sources[number]
            stores[number] = reference.kind == "store" and values is not None
            known[number] = space in self.by_topic
            self.references.add(id(reference))
        for which, columns in ((stores, made), (~stores, made._replace(values=None))):
            chosen = np.flatnonzero((which & known)[made.source])
            if len(chosen):
                self.columns.append(columns.chosen(chosen))  # which copies them
        self._wait_for(count)

    def _wait_for(self, count):
        """Let more requests wait, or have all judged."""
        self.waiting += count
        most = self.most + self.most // 16 * len(self.references)
        if self.waiting >= min(most, MOST_IN_ALL):
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
        self._tell("sync", sync)

    def fence(self, fence):
        """Where fences have a meaning, what follows one is judged at once."""
        self._tell("fence_passed", fence)
        if "fence" in self.by_topic:
            self.flush()
            self.most = 1
            self._tell("fence", fence)

    def end(self, who):
        """Blocks have ended: so has what they asked."""
        self.flush()
        self._tell("end", who)

    def flush(self):
        """Have all that is kept judged."""
        kept, columns = self.kept, self.columns
        self.kept, self.columns, self.waiting = [], [], 0
        self.references.clear()
        accesses = []
        for stored in (False, True):
            parts = [part for part in columns if (part.values is not None) == stored]
            rows = [it for it in kept if self._has_values(it.access) == stored]
            if rows:
                parts.append(columns_of(rows, stored))
            if parts:
                accesses += distinct(joined(parts))
        for access in accesses:
            for listener in self.of_single.get(access.space, ()):
                listener(access)
        for listener in self.of_gathered if accesses else ():
            listener(accesses)

    def _has_values(self, access) -> bool:
        """Does any judge ask what it stores?"""
        return access.value is not None and "values" in self.by_topic

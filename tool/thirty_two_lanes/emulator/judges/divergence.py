"""Divergence: how many lanes of a warp are active when it issues an instruction.

`active_share` is smsp__thread_inst_executed_per_inst_executed / 32, over instructions
of our IR in the machine code's place; `splits` are warps whose lanes took both sides of
a branch, smsp__sass_branch_targets_threads_divergent. The lanes that the last warp of a
block lacks are inactive to the hardware; `active_of_present` leaves them out, since a
warp that is not full is no divergence. Arithmetic is counted with it.
Not modelled: short branches that the compiler replaces by predicates or selections.
"""

import math

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.words import Finding, counted
from thirty_two_lanes.emulator.judges.judge import ByLine, Counts, Kind, Registration
from thirty_two_lanes.emulator.program import KINDS

IDLE = 0.5  # of the lanes that a warp has, at which or below a line is divergent
MOST_PARTS = 1 << 12  # that wait to be added up
SIGNIFICANT = 0.05  # of all lanes of a run, which must idle on a line to be reported


class Share(Counts):
    """A line's instructions and active lanes, and the branches that split warps."""

    @property
    def active_share(self) -> float:
        """Active lanes of all lanes, of the warps that issued an instruction."""
        issued = WARP_SIZE * self.instructions
        return self.active_lanes / issued if issued else 1.0

    @property
    def active_of_present(self) -> float:
        """Active lanes of those that the warps have: the others wait."""
        present = self.present_lanes
        return self.active_lanes / present if present else 1.0


class Divergence:
    """Instructions, the lanes that take part, and the branches that split warps."""

    def __init__(self):
        self.code, self.warps, self.lanes, self.present = (), [], [], []
        self.threads = 0  # of a block
        self.splits, self.repeats = {}, {}

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        own = {"split": self.add_split, "repeat": self.repeat}
        return {"launch": self.start, "steps": self.steps, **own}

    def start(self, start):
        """Keep the code, with no counts."""
        self.code = start.code
        self.warps = [0] * len(start.code)
        self.lanes = [0] * len(start.code)
        self.present = [0] * len(start.code)
        self.threads = math.prod(map(int, start.block_dim))

    def steps(self, steps):
        """Add runs of a basic block."""
        self.warps[steps.basic_block] += steps.warps
        self.lanes[steps.basic_block] += steps.lanes
        self.present[steps.basic_block] += steps.warps * self.lanes_of(steps.who.warp)

    def lanes_of(self, warp) -> int:
        """The lanes that a warp of a block has."""
        return min(WARP_SIZE, self.threads - WARP_SIZE * warp)

    def by_work(self):
        """Each basic block's work on a line, with the warps and lanes that did it, and
        the lanes that those warps have.
        """
        counts = self.warps, self.lanes, self.present
        for basic_block, *done in zip(self.code, *counts, strict=True):
            for work in basic_block.work if done[0] else ():
                yield work, *done

    def repeat(self, repeat):
        """Add an instruction that goes on to its next element."""
        row = self.repeats.setdefault(repeat.site, _share())
        row.instructions += repeat.warps
        row.active_lanes += repeat.lanes
        row.present_lanes += repeat.warps * self.lanes_of(repeat.who.warp)

    def add_split(self, split):
        """Add the warps that a branch splits."""
        both = split.then.any(axis=0) & split.otherwise.any(axis=0)
        count = int(both.sum()) * (split.who.blocks // len(both))
        self.splits[split.site] = self.splits.get(split.site, 0) + count

    def table(self) -> Share:
        """The sums, `.active_share` too, and `.by_line`."""
        rows = {site: _share(**vars(row)) for site, row in self.repeats.items()}
        for work, warps, lanes, present in self.by_work():
            row = rows.setdefault(work.site, _share())
            row.instructions += work.instructions * warps
            row.active_lanes += work.instructions * lanes
            row.present_lanes += work.instructions * present
        for basic_block, warps in zip(self.code, self.warps, strict=True):
            if (
                basic_block.then != basic_block.otherwise
                and basic_block.ending.site in rows
            ):
                rows[basic_block.ending.site].branches += warps
        for site, count in self.splits.items():
            rows[site].splits += count
        return _table(rows, _share())


class Operations:
    """Arithmetic by kind, for each active lane: counted in instruction_counts.py;
    `Divergence` knows the lanes.
    """

    def __init__(self, divergence):
        self.divergence = divergence

    def listeners(self) -> dict:
        """None."""
        return {}

    def table(self) -> Counts:
        """The sums by kind of number, and `.by_line`."""
        rows = {}
        for work, _, lanes, _ in self.divergence.by_work():
            if any(work.operations):
                row = rows.setdefault(work.site, _no_operations())
                for kind, count in zip(KINDS, work.operations, strict=True):
                    setattr(row, kind, getattr(row, kind) + count * lanes)
        return _table(rows, _no_operations())


class BusiestCounts(Counts):
    """The instructions and stores of the busiest block, and of the busiest warp."""

    def __repr__(self):
        return (
            f"{counted(self.busiest_block, 'instruction')} of the busiest block, "
            f"{self.busiest_warp:,} of the busiest warp; at most "
            f"{counted(self.stores_of_block, 'store')} of a block, "
            f"{self.stores_of_warp:,} of a warp"
        )


class Balance:
    """The instructions of the busiest block, and of the busiest warp; and the most
    requests by which one of them stores to global memory, or updates it.

    Nsight Compute has no such counter: it adds up those of a multiprocessor.
    """

    def __init__(self):
        self.instructions = []  # by basic block
        self.runs = {}  # by first block: by warp, of each block
        self.stores = [np.zeros((2, 0), np.int64)]  # numbers of warps, and requests
        self.stores_of = {}  # by warps of many blocks: requests of each

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        own = {"steps": self.steps, "repeat": self.repeat, "global": self.access}
        return {"launch": self.start, **own}

    def start(self, start):
        """Note how many instructions each basic block has."""
        self.instructions = [
            sum(work.instructions for work in block.work) for block in start.code
        ]

    def steps(self, steps):
        """Add runs of a basic block."""
        self.add(steps, self.instructions[steps.basic_block])

    def repeat(self, repeat):
        """Add an instruction that goes on to its next element."""
        self.add(repeat, 1)

    def add(self, event, instructions):
        """Add instructions of each warp that an event is about."""
        who = event.who
        times = event.of_blocks
        if times is None:
            times = event.warps // who.blocks
        runs = self.runs.setdefault(who.first_block, {})
        runs[who.warp] = runs.get(who.warp, 0) + instructions * times

    def access(self, access):
        """Add the requests of each warp that stores, or updates."""
        if access.reference.kind == "load":
            return
        active = 1 if access.active is None else access.active.any(axis=0)
        if access.times is None:  # of a warp of each block
            stores = self.stores_of.setdefault(access.who, 0)
            self.stores_of[access.who] = stores + active
            return
        made = active * access.times
        numbers = access.who.block * WARP_SIZE + access.who.warp
        self.stores.append(np.stack([numbers, np.broadcast_to(made, numbers.shape)]))
        if len(self.stores) > MOST_PARTS:
            self.stores = [added_up(*np.concatenate(self.stores, axis=1))]

    def _of_many(self):
        """The stores of warps of many blocks: numbers of warps, and requests."""
        for who, made in self.stores_of.items():
            numbers = who.block * WARP_SIZE + who.warp
            yield np.stack([numbers, np.broadcast_to(made, numbers.shape)])

    def table(self) -> BusiestCounts:
        """The instructions of the busiest block and warp, and their stores."""
        blocks = [np.max(sum(runs.values())) for runs in self.runs.values()]
        warps = [np.max(it) for runs in self.runs.values() for it in runs.values()]
        of_warps = added_up(*np.concatenate([*self.stores, *self._of_many()], axis=1))
        of_blocks = added_up(of_warps[0] // WARP_SIZE, of_warps[1])
        most = (int(max(it, default=0)) for it in (blocks, warps))
        stores = (int(it[1].max(initial=0)) for it in (of_blocks, of_warps))
        names = "busiest_block busiest_warp stores_of_block stores_of_warp".split()
        return BusiestCounts(**dict(zip(names, (*most, *stores), strict=True)))


def added_up(numbers, counts) -> np.ndarray:
    """The different ones of some numbers, and the sum of the counts of each."""
    different, where = np.unique(numbers, return_inverse=True)
    sums = np.zeros(len(different), np.int64)
    np.add.at(sums, where, counts)
    return np.stack([different, sums])


def _share(**counts):
    names = "instructions", "active_lanes", "present_lanes", "branches", "splits"
    return Share(**dict.fromkeys(names, 0) | counts)


def _no_operations():
    return Counts(**dict.fromkeys(KINDS, 0))


def _table(rows, zero):
    """The sums of rows, beginning with `zero`, and the rows by line."""
    sums = {name: sum(getattr(it, name) for it in rows.values()) for name in vars(zero)}
    by_line = ByLine((site, rows[site]) for site in sorted(rows))
    return type(zero)(**sums, by_line=by_line)


def findings(run):
    """The lines where lanes of a warp wait for others; the worst has the advice."""
    if run.threads_per_block < WARP_SIZE:
        return  # its only warp is never full: no order of its threads would fill it
    total = run.divergence.present_lanes
    found = []
    for site, row in run.divergence.by_line.items():
        idle = row.present_lanes - row.active_lanes
        if row.active_of_present <= IDLE and idle >= SIGNIFICANT * total > 0:
            found.append((idle, site, row))
    found.sort(key=lambda it: -it[0])
    for n, (idle, site, row) in enumerate(found):
        it = idling(site, row, idle / WARP_SIZE)
        yield it._replace(advice="") if n else it


def idling(site, row, cost=0.0) -> Finding:
    """A line on which most lanes wait for the others of their warp."""
    active = row.active_of_present
    share = f"{active:.3g}" if active < 0.01 else f"{active:.0%}"
    return Finding(
        "costly",
        site,
        "divergence",
        f"{share} of the lanes are active",
        f"Over the whole launch, {share} of the lanes are active here; the rest of "
        "each warp waits. A warp whose 32 threads decide alike waits for nobody.",
        cost,
    )


JUDGE = Registration(
    "divergence", Divergence, findings=findings, kinds=(Kind("divergence", 90),)
)
OPERATIONS = Registration("operations", Operations, needs=("divergence",))
BALANCE = Registration("balance", Balance)

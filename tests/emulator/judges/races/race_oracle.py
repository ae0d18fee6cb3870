"""A slow second opinion on races: a vector clock for every thread, and every pair of
accesses compared; and a generator of small kernels that race or do not.
"""

from itertools import combinations

import numpy as np
from numba import cuda, int32

from thirty_two_lanes.core.events import in_turn
from thirty_two_lanes.emulator.arguments import staged_arguments
from thirty_two_lanes.emulator.launch import bind, compile_kernel, run
from thirty_two_lanes.frontend.argument_types import argument_types
from thirty_two_lanes.frontend.kernels import configuration

CELLS = 24


class Trace:
    """Each access of each thread, with the clock that the thread had."""

    def __init__(self):
        self.accesses = []
        self.clocks, self.released, self.acquired, self.left = {}, {}, {}, {}
        self.barriers, self.epoch = {}, 0

    def listeners(self):
        return {
            "launch": self.start,
            "shared": self.access,
            "global": self.access,
            "sync": self.meet,
            "fence": self.fence,
        }

    def start(self, start):
        self.size = int(np.prod(start.block_dim))
        self.blocks, self.seed = int(np.prod(start.grid_dim)), start.seed
        self.order = {id(r): n for n, r in enumerate(start.references)}
        for block in range(self.blocks):
            for thread in range(self.size):
                self.clocks[block, thread] = {(block, thread): 1}

    def lanes(self, event):
        shape = (32, event.who.blocks)
        active = np.True_ if event.active is None else event.active
        blocks = event.who.first_block + np.arange(event.who.blocks)
        turns = in_turn(self.seed, blocks)
        for lane, turn in np.argwhere(np.broadcast_to(active, shape)[:, turns]):
            thread, column = event.who.warp * 32 + int(lane), turns[turn]
            if thread < self.size:
                yield (int(blocks[column]), thread), lane, column

    def access(self, access):
        shape = (32, access.who.blocks)
        addresses = np.broadcast_to(access.addresses, shape)
        for who, lane, column in self.lanes(access):
            address = int(addresses[lane, column])
            cell = (access.space, address, who[0] if access.space == "shared" else 0)
            if access.reference.kind == "atomic":
                self.atomic(who, cell)
            moment = (
                self.epoch,
                self.barriers.get(who[0], 0),
                access.iterations,
                self.order[id(access.reference)],
            )
            stamp = self.clocks[who][who]
            known = dict(self.clocks[who])
            self.accesses.append((cell, who, access.reference, moment, stamp, known))
            self.clocks[who][who] += 1

    def atomic(self, who, cell):
        acquired = self.acquired.setdefault(who, {})
        join(acquired, self.left.get(cell, {}))
        join(self.clocks[who], acquired)
        if who in self.released:
            left = self.left.setdefault(cell, {})
            join(left, self.released[who])
            join(left, acquired)

    def fence(self, fence):
        for who, _, _ in self.lanes(fence):
            self.released[who] = dict(self.clocks[who])
            self.clocks[who][who] += 1

    def meet(self, sync):
        if sync.scope == "grid":
            self.epoch += 1
            self.together(list(self.clocks))
        elif sync.scope == "block":
            for column in range(sync.who.blocks):
                block = sync.who.first_block + column
                self.barriers[block] = self.barriers.get(block, 0) + 1
                self.together([(block, thread) for thread in range(self.size)])
        else:
            lanes = np.broadcast_to(sync.lanes, (32, sync.who.blocks))
            for column in range(sync.who.blocks):
                block, first = sync.who.first_block + column, sync.who.warp * 32
                here = np.flatnonzero(lanes[:, column]).tolist()
                self.together([(block, first + lane) for lane in here])

    def together(self, threads):
        """All of them know what each knows, and what each released."""
        known, released, acquired = {}, {}, {}
        for who in threads:
            join(known, self.clocks[who])
            join(released, self.released.get(who, {}))
            join(acquired, self.acquired.get(who, {}))
        for who in threads:
            join(self.clocks[who], known)
            self.acquired[who] = dict(acquired)
            self.clocks[who][who] += 1
            if released:
                self.released[who] = dict(released)

    def hazards(self, ordered=False):
        """Triples by lines, kind and scope, as the report counts them; or those of the
        pairs that something orders.
        """
        cells, found = {}, {}
        for access in self.accesses:
            cells.setdefault(access[0], []).append(access)
        for cell, accesses in cells.items():
            for one, other in combinations(accesses, 2):
                one, other = sorted((one, other), key=lambda a: (a[3], a[1]))
                kinds = one[2].kind, other[2].kind
                if one[1] == other[1] or harmless(*kinds):
                    continue
                if ordered != self.ordered(one, other):
                    continue
                lines = one[2].site.line, other[2].site.line
                key = (*lines, hazard(*kinds), scope(one[1], other[1]))
                found.setdefault(key, set()).add((cell, one[1], other[1]))
        return {key: len(triples) for key, triples in found.items()}

    def ordered(self, one, other):
        """Did the one whose clock is behind happen before the other?"""
        return (
            other[5].get(one[1], 0) >= one[4] + 1
            or one[5].get(other[1], 0) >= other[4] + 1
        )


def join(clock, other):
    for who, time in other.items():
        clock[who] = max(clock.get(who, 0), time)


def harmless(first, second):
    return first == second != "store"


def hazard(first, second):
    if second == "load":
        return "RAW"
    return "WAR" if first == "load" else "WAW"


def scope(one, other):
    if one[0] != other[0]:
        return "grid"
    return "warp" if one[1] // 32 == other[1] // 32 else "block"


def traced(kernel, blocks, threads, *arguments):
    """The accesses of a launch, each with its clock."""
    trace = Trace()
    listeners = {topic: (hear,) for topic, hear in trace.listeners().items()}
    with staged_arguments(kernel, arguments) as values:
        types = argument_types(kernel, values)
        program, config = compile_kernel(kernel, types), configuration(blocks, threads)
        run(kernel, bind(kernel, program, config, values, types), listeners)
    return trace


def reported(run):
    """The hazards of a run by lines, kind and scope."""
    found = {}
    for race in (*run.races, *run.races.minor):
        key = (race.first.line, race.second.line, race.kind, race.scope)
        found[key] = found.get(key, 0) + race.hazards
    return found


def random_kernel(rng, spaced=0):
    """A kernel of random accesses, barriers, fences and atomics; `spaced` is the share
    of its statements that a barrier follows.
    """
    body = []
    for _ in range(rng.integers(3, 9)):
        body += statement(rng)
        if spaced and rng.random() < spaced:
            body += ["cuda.syncthreads()"]
    source = "\n    ".join(
        [
            "def racy(g, out):",
            "s = cuda.shared.array(CELLS, int32)",
            "t, b, x = cuda.threadIdx.x, cuda.blockIdx.x, 0",
            *body,
            "out[cuda.grid(1)] = x",
        ]
    )
    names = {"cuda": cuda, "int32": int32, "CELLS": CELLS}
    exec(source, names)
    return cuda.jit(names["racy"]), source


def statement(rng, depth=0):
    """Lines of one statement."""
    kind = rng.integers(0, 12)
    if kind < 8 or depth:
        return [touch(rng)]
    if kind == 8:
        return ["cuda.syncthreads()"]
    if kind == 9:
        sync = ("cuda.syncwarp()", "cuda.threadfence()")[rng.integers(0, 2)]
        return [sync]
    if kind == 10:
        of = rng.integers(2, 5)
        test = f"if t % {of} == {rng.integers(0, of)}:"
        return [test, *(f"    {line}" for line in statement(rng, 1))]
    turns = [f"    {line}" for _ in range(2) for line in statement(rng, 1)]
    return [f"for k in range({rng.integers(1, 4)}):", *turns]


def touch(rng):
    """A load, a store or an atomic of shared or global memory."""
    array = ("s", "g")[rng.integers(0, 2)]
    step, start = rng.integers(0, 3), rng.integers(0, CELLS)
    other = f" + {rng.integers(0, 3)} * b" if array == "g" else ""
    cell = f"{array}[(t * {step} + {start}{other}) % CELLS]"
    index = cell[2:-1]
    return (
        f"x += {cell}",
        f"{cell} = t + {rng.integers(0, 9)}",
        f"cuda.atomic.add({array}, {index}, 1)",
    )[rng.choice(3, p=[0.4, 0.35, 0.25])]

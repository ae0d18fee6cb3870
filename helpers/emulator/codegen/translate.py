"""A kernel of our IR made into Python: one NumPy function per piece, which writer.py
writes.

A piece is a straight line of instructions between two places where threads may part or
wait. Pieces are numbered so that every piece of a loop comes before the pieces behind
the loop, and a piece comes before those it leads to: threads that run the lowest number
first meet again at the end of each `if`, of each turn of a loop, and of the loop.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from helpers.core import ir
from helpers.emulator.codegen.instruction_counts import work_of
from helpers.emulator.codegen.liveness import (
    Gathering,
    Wait,
    live_at_start,
    read_arrays,
    reads,
    successors,
    without_dead_code,
    written_arrays,
)
from helpers.emulator.codegen.reconvergence import position_order
from helpers.emulator.codegen.static_facts import Definitions, float64_of, guards_of
from helpers.emulator.codegen.writer import Writer
from helpers.emulator.machine.allocation import seen_otherwise

JUMP, BRANCH, RETURN, BARRIER, GATHER = range(5)


@dataclass(frozen=True, slots=True)
class Piece:
    """One compiled piece and where it leads; `needs` are the slots read at or after its
    start.
    """

    run: Callable  # (frame, active, others) -> condition or predicate
    kind: int
    then: int
    otherwise: int
    needs: int  # a set of slots, as bits
    site: object  # the first line of source in it, or None
    ending: object  # the terminator, for messages
    work: tuple = ()  # what it does, by source line


@dataclass(frozen=True)
class Program:
    """A kernel ready to run: its pieces by position, and a frame's slots."""

    name: str
    arguments: tuple[int, ...]  # the slots of the arguments
    pieces: tuple[Piece, ...]
    slots: int
    results: dict[int, int]  # position after a barrier: slot of its result
    allocations: tuple[ir.Allocate, ...]
    seen_otherwise: frozenset[ir.Allocate]  # as elements of another size
    grid_barriers: frozenset[int]  # positions after barriers of the grid
    references: tuple  # in the order in which threads come to them
    read: frozenset[str]  # arguments whose elements may be read
    written: frozenset[str]  # arguments whose elements may be written
    source: str
    site: object = None  # where the kernel begins
    float64: tuple = ()  # lines that compute in float64, among float32
    guards: frozenset = frozenset()  # what conditions compare with


def translate(kernel: ir.Kernel) -> Program:
    """The program of a kernel."""
    blocks = without_dead_code(_straighten(kernel.blocks, kernel.entry))
    order, latches = position_order(
        {n: successors(b[-1]) for n, b in blocks.items()}, kernel.entry
    )
    blocks = _with_latches(blocks, latches)
    position = {number: place for place, number in enumerate(order)}
    live = live_at_start(blocks)
    shared = (
        set().union(*live.values(), kernel.arguments) if live else set(kernel.arguments)
    )
    slots = {name: slot for slot, name in enumerate(sorted(shared))}
    read = {name for block in blocks.values() for i in block for name in reads(i)}
    writer = Writer(slots, read, kernel.types)
    definitions = Definitions(kernel, blocks.values())
    sources = [writer.piece(position[n], blocks[n]) for n in order]
    text = "\n\n".join(sources)
    namespace = writer.namespace
    exec(compile(text, f"<emulated {kernel.name}>", "exec"), namespace)
    pieces = tuple(
        _piece(
            namespace[f"piece_{position[n]}"],
            blocks[n],
            position,
            sum(1 << slots[name] for name in live[n]),
            work_of(blocks[n], kernel.types),
        )
        for n in order
    )
    results = {
        position[b[-1].block]: slots[b[-1].barrier.target]
        for b in blocks.values()
        if isinstance(b[-1], Wait) and b[-1].barrier.target in slots
    }
    grid_barriers = frozenset(
        position[b[-1].block]
        for b in blocks.values()
        if isinstance(b[-1], Wait) and b[-1].barrier.operator == "grid"
    )
    allocations = dict.fromkeys(
        i for b in blocks.values() for i in b if isinstance(i, ir.Allocate)
    )
    return Program(
        kernel.name,
        tuple(slots[a] for a in kernel.arguments),
        pieces,
        len(slots),
        results,
        tuple(allocations),
        seen_otherwise(blocks),
        grid_barriers,
        tuple(r for n in order for i in blocks[n] for r in ir.references_of(i)),
        read_arrays(kernel, blocks.values()).intersection(kernel.arguments),
        written_arrays(kernel, blocks.values()).intersection(kernel.arguments),
        text,
        kernel.site,
        float64_of(definitions),
        guards_of(definitions),
    )


def _straighten(blocks, entry):
    """The reachable blocks, with barriers as terminators and straight chains joined."""
    blocks = {number: _with_wait(block) for number, block in blocks.items()}
    reached, waiting, arrivals = set(), [entry], {entry: 1}
    while waiting:
        number = waiting.pop()
        if number in reached:
            continue
        reached.add(number)
        for following in successors(blocks[number][-1]):
            arrivals[following] = arrivals.get(following, 0) + 1
            waiting.append(following)
    joined = set()
    for number in sorted(reached):
        while number not in joined and isinstance(blocks[number][-1], ir.Jump):
            following = blocks[number][-1].block
            again = isinstance(blocks[following][-1], Gathering)
            if arrivals[following] != 1 or following == number or again:
                break
            blocks[number] = blocks[number][:-1] + blocks[following]
            joined.add(following)
    return {number: blocks[number] for number in reached - joined}


def _with_latches(blocks, latches):
    """The blocks with one way back in each loop, where early threads wait."""
    blocks = dict(blocks)
    for latch, (first, back) in latches.items():
        for number in back:
            *straight, end = blocks[number]
            blocks[number] = [*straight, _redirected(end, first, latch)]
        blocks[latch] = [ir.Jump(first)]
    return blocks


def _redirected(terminator, old, new):
    """The terminator with one of the blocks that it leads to exchanged."""
    ways = {
        name: new
        for name in ("block", "then", "otherwise")
        if getattr(terminator, name, None) == old
    }
    return replace(terminator, **ways)


def _with_wait(block):
    if len(block) > 1 and isinstance(block[-2], ir.Barrier):
        return [*block[:-2], Wait(block[-2], block[-1].block)]
    if len(block) > 1 and isinstance(block[-2], ir.Gather):
        return [Gathering(block[-2], block[-1].block)]
    return list(block)


_KINDS = {
    ir.Jump: JUMP,
    ir.Branch: BRANCH,
    ir.Return: RETURN,
    Wait: BARRIER,
    Gathering: GATHER,
}


def _piece(function, block, position, needs, work):
    end = block[-1]
    kind = _KINDS[type(end)]
    after = [position[n] for n in successors(end)]
    sites = [getattr(i, "site", None) for i in block]
    sites.append(getattr(getattr(end, "gather", None), "site", None))
    sites += [r.site for i in block for r in ir.references_of(i)]
    return Piece(
        function,
        kind,
        after[0] if after else -1,
        after[-1] if after else -1,
        needs,
        min(filter(None, sites), key=lambda site: site.line, default=None),
        getattr(end, "barrier", None) or getattr(end, "gather", end),
        work,
    )

"""Which variables the instructions of our IR read and write, and which are needed
later.
"""

from dataclasses import replace
from operator import attrgetter

from thirty_two_lanes.core import ir


def successors(terminator) -> tuple[int, ...]:
    """The blocks that a terminator leads to."""
    return tuple(getattr(terminator, name) for name in terminator.nature.leads)


def redirected(terminator, old, new):
    """The terminator with one of the blocks that it leads to replaced."""
    changes = {
        name: new
        for name in terminator.nature.leads
        if getattr(terminator, name) == old
    }
    return replace(terminator, **changes)


def reads(instruction) -> set[str]:
    """The variables that an instruction reads."""
    return named_in(instruction, instruction.nature.reads)


def named_in(instruction, fields) -> set[str]:
    """The variables in some fields of an instruction."""
    return {name for f in fields for name in _operands(attrgetter(f)(instruction))}


def _operands(item):
    """The variables in a field of an instruction."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _operands(part)
    elif isinstance(item, ir.Slice):
        yield from _operands((item.start, item.stop, item.step))


def writes(instruction) -> tuple[str, ...]:
    """The variables that an instruction writes."""
    if isinstance(instruction, ir.Copy):
        return instruction.targets
    target = getattr(instruction, "target", None)
    return (target,) if isinstance(target, str) else ()


def read_before_written(block) -> set[str]:
    """The variables that a block takes from the blocks before it."""
    read, written = set(), set()
    for instruction in block:
        read |= reads(instruction) - written
        written |= set(writes(instruction))
    return read


def live_at_start(blocks):
    """The variables that each block, or one it leads to, reads before it writes."""
    uses, defs = {}, {}
    for number, block in blocks.items():
        uses[number] = read_before_written(block)
        defs[number] = {name for i in block for name in writes(i)}
    live = {number: set(use) for number, use in uses.items()}
    changed = True
    while changed:
        changed = False
        for number, block in reversed(list(blocks.items())):
            after = set().union(*(live[n] for n in successors(block[-1])))
            if isinstance(block[-1], ir.WaitAtBarrier):
                after.discard(block[-1].barrier.target)
            now = uses[number] | (after - defs[number])
            if now != live[number]:
                live[number], changed = now, True
    for block in blocks.values():
        if isinstance(block[-1], ir.WaitAtBarrier) and block[-1].barrier.target:
            live[block[-1].block].add(block[-1].barrier.target)
    return live


def without_dead_code(blocks):
    """The blocks without values that are never read; memory accesses stay, they are
    what counts.
    """
    while True:
        read = {name for block in blocks.values() for i in block for name in reads(i)}
        kept = {
            number: [j for i in block for j in _needed(i, read)]
            for number, block in blocks.items()
        }
        if sum(map(len, kept.values())) == sum(map(len, blocks.values())) and all(
            a is b for n in kept for a, b in zip(kept[n], blocks[n], strict=True)
        ):
            return kept
        blocks = kept


def _needed(instruction, read):
    if instruction.nature.pure and instruction.target not in read:
        return [] if getattr(instruction, "pure", True) else [instruction]
    if isinstance(instruction, ir.Copy) and not read.issuperset(instruction.targets):
        pairs = [
            (t, s)
            for t, s in zip(instruction.targets, instruction.sources, strict=True)
            if t in read
        ]
        return [ir.Copy(*map(tuple, zip(*pairs, strict=True)))] if pairs else []
    return [instruction]

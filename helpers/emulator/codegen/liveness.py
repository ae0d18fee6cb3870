"""Which variables the instructions of our IR read and write, and which are needed
later.
"""

from dataclasses import dataclass

from helpers.core import ir


@dataclass(frozen=True)
class Wait:
    """A barrier as a terminator: wait, then go on with a block."""

    barrier: ir.Barrier
    block: int


@dataclass(frozen=True)
class Gathering:
    """A Gather as a terminator, of a block of its own that can be run again."""

    gather: ir.Gather
    block: int


def successors(terminator) -> tuple[int, ...]:
    """The blocks that a terminator leads to."""
    if isinstance(terminator, ir.Branch):
        return (terminator.then, terminator.otherwise)
    return () if isinstance(terminator, ir.Return) else (terminator.block,)


def _operands(item):
    """The variables in a field of an instruction."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _operands(part)
    elif isinstance(item, ir.Slice):
        yield from _operands((item.start, item.stop, item.step))


_READS = {
    ir.Operation: ("operands",),
    ir.Cast: ("operand",),
    ir.Call: ("operands",),
    ir.Copy: ("sources",),
    ir.Pack: ("items",),
    ir.Item: ("operand",),
    ir.Attribute: ("array",),
    ir.Field: ("array",),
    ir.Reinterpret: ("array",),
    ir.Reshape: ("array", "shape"),
    ir.Allocate: (),
    ir.View: ("array", "indices"),
    ir.Load: ("array", "indices"),
    ir.Store: ("array", "indices", "value"),
    ir.Fill: ("array", "value"),
    ir.Move: ("array", "source"),
    ir.Twin: ("operands",),
    ir.Atomic: ("array", "indices", "values"),
    ir.Print: ("items",),
    ir.Raise: (),
    ir.Branch: ("condition",),
    ir.Jump: (),
    ir.Return: (),
}


def reads(instruction) -> set[str]:
    """The variables that an instruction reads."""
    if isinstance(instruction, Gathering):
        return set(_operands(instruction.gather.mask))
    if isinstance(instruction, Wait):
        return set(_operands(instruction.barrier.predicate))
    fields = _READS[type(instruction)]
    return {name for f in fields for name in _operands(getattr(instruction, f))}


def writes(instruction) -> tuple[str, ...]:
    """The variables that an instruction writes."""
    if isinstance(instruction, ir.Copy):
        return instruction.targets
    target = getattr(instruction, "target", None)
    return (target,) if isinstance(target, str) else ()


def live_at_start(blocks):
    """The variables that each block, or one it leads to, reads before it writes."""
    uses, defs = {}, {}
    for number, block in blocks.items():
        read, written = set(), set()
        for instruction in block:
            read |= reads(instruction) - written
            written |= set(writes(instruction))
        uses[number], defs[number] = read, written
    live = {number: set(use) for number, use in uses.items()}
    changed = True
    while changed:
        changed = False
        for number, block in reversed(list(blocks.items())):
            after = set().union(*(live[n] for n in successors(block[-1])))
            if isinstance(block[-1], Wait):
                after.discard(block[-1].barrier.target)
            now = uses[number] | (after - defs[number])
            if now != live[number]:
                live[number], changed = now, True
    for block in blocks.values():
        if isinstance(block[-1], Wait) and block[-1].barrier.target:
            live[block[-1].block].add(block[-1].barrier.target)
    return live


def written_arrays(kernel, blocks) -> set[str]:
    """The variables whose elements may be written."""
    return _reached(kernel, blocks, (ir.Store, ir.Atomic, ir.Fill, ir.Move), "array")


def read_arrays(kernel, blocks) -> set[str]:
    """The variables whose elements may be read."""
    loads = _reached(kernel, blocks, (ir.Load, ir.Atomic), "array")
    return loads | _reached(kernel, blocks, (ir.Move,), "source")


def _reached(kernel, blocks, kinds, field):
    """The arrays that instructions touch, and those that they are made from."""
    instructions = [i for block in blocks for i in block]
    found = {getattr(i, field) for i in instructions if isinstance(i, kinds)}
    found |= {o for i in instructions if isinstance(i, ir.Twin) for o in reads(i)}
    size = -1
    while size != len(found):
        size = len(found)
        for instruction in instructions:
            if found.intersection(writes(instruction)):
                found |= {
                    name
                    for name in reads(instruction)
                    if isinstance(kernel.types.get(name), (ir.ArrayType, tuple))
                }
    return found


def without_dead_code(blocks):
    """The blocks without values that nobody reads; memory accesses stay, they are what
    counts.
    """
    pure = (ir.Operation, ir.Cast, ir.Call, ir.Pack, ir.Item, ir.Attribute, ir.View)
    pure += (ir.Field,)
    while True:
        read = {name for block in blocks.values() for i in block for name in reads(i)}
        kept = {
            number: [j for i in block for j in _needed(i, read, pure)]
            for number, block in blocks.items()
        }
        if sum(map(len, kept.values())) == sum(map(len, blocks.values())) and all(
            a is b for n in kept for a, b in zip(kept[n], blocks[n], strict=True)
        ):
            return kept
        blocks = kept


def _needed(instruction, read, pure):
    if isinstance(instruction, pure) and instruction.target not in read:
        return [] if getattr(instruction, "pure", True) else [instruction]
    if isinstance(instruction, ir.Copy) and not read.issuperset(instruction.targets):
        pairs = [
            (t, s)
            for t, s in zip(instruction.targets, instruction.sources, strict=True)
            if t in read
        ]
        return [ir.Copy(*map(tuple, zip(*pairs, strict=True)))] if pairs else []
    return [instruction]

"""Which variables the instructions of our IR read and write, and which are needed
later.
"""

from thirty_two_lanes.core import ir


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
    ir.Captured: (),
    ir.ChooseArray: ("index", "arrays"),
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
    ir.Note: ("value",),
    ir.Branch: ("condition",),
    ir.Jump: (),
    ir.Return: (),
}


def operand_fields(instruction) -> tuple[str, ...]:
    """The fields of an instruction that name what it reads."""
    return _READS.get(type(instruction), ())


def reads(instruction) -> set[str]:
    """The variables that an instruction reads."""
    if isinstance(instruction, ir.WaitForLanes):
        return set(_operands(instruction.sync.mask))
    if isinstance(instruction, ir.WaitAtBarrier):
        return set(_operands(instruction.barrier.predicate))
    fields = _READS[type(instruction)]
    return {name for f in fields for name in _operands(getattr(instruction, f))}


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
    pure = (ir.Operation, ir.Cast, ir.Call, ir.Pack, ir.Item, ir.Attribute, ir.View)
    pure += (ir.Field, ir.Captured, ir.ChooseArray)
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

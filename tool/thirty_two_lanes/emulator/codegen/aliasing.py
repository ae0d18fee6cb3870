"""Which variables share memory: arrays whose elements may be read or written, and
allocations that are viewed as elements of another size.
"""

from thirty_two_lanes.core import ir
from thirty_two_lanes.emulator.codegen.liveness import reads, writes


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


def reinterpreted(blocks) -> frozenset:
    """The allocations of a program that are viewed as elements of another size."""
    instructions = [i for block in blocks.values() for i in block]
    sources, other = {}, set()
    for i in instructions:
        if isinstance(i, ir.Copy):
            for target, source in zip(i.targets, i.sources, strict=True):
                sources.setdefault(target, []).append(source)
        elif isinstance(i, (ir.View, ir.Attribute, ir.Field, ir.Reshape, ir.Item)):
            whole = i.operand if isinstance(i, ir.Item) else i.array
            sources.setdefault(i.target, []).append(whole)
        elif isinstance(i, ir.Pack):
            sources.setdefault(i.target, []).extend(i.items)
        elif isinstance(i, ir.Reinterpret):
            sources.setdefault(i.target, []).append(i.array)
            other.add(i.array)
    waiting = list(other)
    while waiting:
        for source in sources.get(waiting.pop(), ()):
            if isinstance(source, str) and source not in other:
                other.add(source)
                waiting.append(source)
    return frozenset(
        i
        for i in instructions
        if isinstance(i, ir.Allocate) and (i.target in other or i.dtype.names)
    )

"""Which variables share memory: arrays whose elements may be read or written, and
allocations that are viewed as elements of another size.
"""

from thirty_two_lanes.core import ir
from thirty_two_lanes.emulator.codegen.liveness import named_in, reads, writes


def read_arrays(kernel, blocks) -> set[str]:
    """The variables whose elements may be read."""
    touched = (named_in(i, i.nature.loads) for block in blocks for i in block)
    return _made_of(kernel, blocks, set().union(*touched))


def written_arrays(kernel, blocks) -> set[str]:
    """The variables whose elements may be written."""
    touched = (named_in(i, i.nature.stores) for block in blocks for i in block)
    return _made_of(kernel, blocks, set().union(*touched))


def reinterpreted(kernel, blocks) -> frozenset:
    """The allocations of a program that are viewed as elements of another size."""
    instructions = [i for block in blocks for i in block]
    viewed = {i.array for i in instructions if isinstance(i, ir.Reinterpret)}
    viewed = _made_of(kernel, blocks, viewed)
    return frozenset(
        i
        for i in instructions
        if isinstance(i, ir.Allocate) and (i.target in viewed or i.dtype.names)
    )


def _made_of(kernel, blocks, names) -> set[str]:
    """Variables, and the arrays and tuples that they are made of."""
    sources = {}
    for i in (i for block in blocks for i in block):
        pairs = [(target, reads(i)) for target in writes(i)]
        if isinstance(i, ir.Copy):
            pairs = [(t, {s}) for t, s in zip(i.targets, i.sources, strict=True)]
        for target, source in pairs:
            sources.setdefault(target, set()).update(source)
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += filter(_is_whole(kernel), sources.get(name, ()))
    return found


def _is_whole(kernel):
    return lambda name: isinstance(kernel.types.get(name), (ir.ArrayType, tuple))

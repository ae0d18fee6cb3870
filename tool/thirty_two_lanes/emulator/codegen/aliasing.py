"""Which variables share memory: arrays whose elements may be read or written, and
allocations that are viewed as elements of another size.
"""

from collections import defaultdict

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import named_in, reads, writes

GLOBAL, DYNAMIC = "global memory", "dynamic shared memory"


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


def memories_of(kernel, blocks) -> dict:
    """For each variable, the memories in which its elements may lie: allocations, all
    dynamic ones as one, and global memory. Constant memory is none, as nothing changes
    it.
    """
    found = defaultdict(set, {name: {GLOBAL} for name in kernel.arguments})
    for i in (i for block in blocks for i in block):
        if isinstance(i, ir.Allocate):
            found[i.target] |= {i if i.shape != (0,) else DYNAMIC}
        elif isinstance(i, ir.Captured) and i.space == "global":
            found[i.target] |= {GLOBAL}
    sources, changed = _sources(kernel, blocks), True
    while changed:
        changed = False
        for target, them in sources.items():
            more = set().union(*(found[it] for it in them)) - found[target]
            found[target] |= more
            changed |= bool(more)
    return found


def _made_of(kernel, blocks, names) -> set[str]:
    """Variables, and the arrays and tuples that they are made of."""
    sources, found, waiting = _sources(kernel, blocks), set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += sources.get(name, ())
    return found


def _sources(kernel, blocks) -> dict[str, set[str]]:
    """The arrays and tuples that each variable is made of."""
    sources = {}
    for i in (i for block in blocks for i in block):
        pairs = [(target, reads(i)) for target in writes(i)]
        if isinstance(i, ir.Copy):
            pairs = [(t, {s}) for t, s in zip(i.targets, i.sources, strict=True)]
        for target, source in pairs:
            whole = (it for it in source if _is_whole(kernel, it))
            sources.setdefault(target, set()).update(whole)
    return sources


def _is_whole(kernel, name) -> bool:
    return isinstance(kernel.types.get(name), (ir.ArrayType, tuple))

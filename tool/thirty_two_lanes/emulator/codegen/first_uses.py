"""Which line of a basic block first computes with what it takes from others.

A block may begin with the copies that lead to a line; a message is to name the line.
"""

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import (
    read_before_written,
    reads,
    writes,
)
from thirty_two_lanes.emulator.program import Input


def inputs_of(block, slots) -> tuple[Input, ...]:
    """What a block takes from those before it, in the order in which it is used."""
    taken, origins, used = read_before_written(block), {}, {}
    for index, instruction in enumerate(block):
        if isinstance(instruction, ir.Copy):
            pairs = zip(instruction.targets, instruction.sources, strict=True)
            origins |= {t: origins.get(s, s) for t, s in list(pairs)}
            continue
        for name in sorted(reads(instruction)):
            used.setdefault(origins.get(name, name), _site_at(block, index))
        origins |= dict.fromkeys(writes(instruction))
    order = [*(name for name in used if name in taken), *sorted(taken - set(used))]
    return tuple(Input(slots[n], ir.source_name(n), used.get(n)) for n in order)


def sites_of(instruction) -> list:
    """The lines of source that an instruction is of."""
    holder = getattr(instruction, "sync", None) or getattr(instruction, "barrier", None)
    sites = [getattr(instruction, "site", None), getattr(holder, "site", None)]
    sites += [reference.site for reference in ir.references_of(instruction)]
    return [site for site in sites if site is not None]


def _site_at(block, index):
    """The line of an instruction, or of the next that has one."""
    following = (site for i in block[index:] for site in sites_of(i))
    return next(following, None)

"""What makes each variable of a kernel, as its IR has them."""

from collections import defaultdict
from operator import attrgetter

from thirty_two_lanes.core import ir


def makers_in(code) -> dict:
    """What makes each variable, by its name."""
    makers = defaultdict(list)
    for target, maker in assignments(code):
        makers[target].append(maker)
    return makers


def made_once(code) -> dict:
    """What makes each variable that one instruction alone makes, by its name; loops
    have some of theirs twice.
    """
    made = {}
    for target, maker in assignments(code):
        made[target] = maker if made.get(target, maker) == maker else None
    return made


def assignments(code):
    """Each variable that is assigned, and what makes it: an instruction, or for a copy
    another variable or a constant.
    """
    for it in code:
        if isinstance(it, ir.Copy):
            yield from zip(it.targets, it.sources, strict=True)
        else:
            yield getattr(it, "target", None), it


def operands_of(instruction):
    """What an instruction reads: variables, constants, and tuples of them."""
    return (attrgetter(name)(instruction) for name in instruction.nature.reads)

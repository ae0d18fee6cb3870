"""What a kernel may bring along: few numbers of its own, in arrays and in tuples."""

from helpers.exercises.bounds.makers import makers_in, operands_of
from helpers.exercises.sources import tuples_of
from helpers.exercises.totals import LOOKED_UP
from helpers.exercises.verdict import Refusal
from thirty_two_lanes.core import ir

LARGEST_TUPLE = 256  # numbers; a compiler takes long over larger ones


def holds_no_table(case):
    """Are its tuples small? A large one takes long to compile, so it is not."""
    sizes = [items_in(it) for it in tuples_of(case.kernel)]
    if max(sizes, default=0) > LARGEST_TUPLE + case.task.captured:
        raise Refusal(
            "constant",
            f"The kernel brings a tuple of {max(sizes):,} numbers along. What it needs "
            "are its arguments.",
        )


def brings_nothing_along(case):
    """Has it no arrays and no tuples of its own that could hold the answer?"""
    code = [it for block in case.program.ir.blocks for it in block]
    captured = [it for it in code if isinstance(it, ir.Captured)]
    # a record holds more numbers than one
    numbers = (max(it.array.size, it.array.nbytes // 8) for it in captured)
    arrays = dict(zip((it.array.tobytes() for it in captured), numbers, strict=True))
    operations = [it for it in code if isinstance(it, ir.Operation)]
    tuples = {it.operands[1:] for it in operations if it.operator == "choose"}
    makers = makers_in(code)
    own = sum(items_in(it, lambda item: is_own(item, makers)) for it in tuples)
    looked_up = max(own - LOOKED_UP, 0)
    total = sum(arrays.values()) + looked_up
    if total > case.task.captured:
        names = [f"`{name}`" for name in dict.fromkeys(it.name for it in captured)]
        names += ["tuples"] * bool(looked_up)
        raise Refusal(
            "constant",
            f"The kernel brings {total:,} numbers of its own along, in "
            f"{', '.join(names)}; {case.task.captured:,} are allowed. "
            "What it needs are its arguments.",
        )


def items_in(operands, counts=lambda item: True) -> int:
    """How many numbers some items are, or tuples of them: of those that count."""
    return sum(
        items_in(value, counts) if isinstance(value, tuple) else counts(it)
        for it in operands
        for value in [getattr(it, "value", it)]
    )


def is_own(item, makers) -> bool:
    """Does a constant of the kernel take part in it? None does in what is loaded."""
    left, seen = [item], set()
    while left:
        part = left.pop()
        if isinstance(part, tuple):
            left += part
        elif not isinstance(part, str):
            return True
        elif part not in seen:
            seen.add(part)
            for maker in makers[part]:
                left += parts_of(maker)
    return False


def parts_of(maker) -> tuple:
    """What takes part in a value: a maker's operands, but none of what is loaded."""
    if isinstance(maker, str | ir.Const):
        return (maker,)
    return () if maker.nature.loads else tuple(operands_of(maker))

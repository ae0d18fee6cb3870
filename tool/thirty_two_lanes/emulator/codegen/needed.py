"""Which values a kernel's stores and branches need: a compiler leaves out the others,
such as an item of a tuple that a device function returns and its caller does not use.

Not modelled: what only the last iteration of a loop does not need.
"""

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import reads

WHOLE = None  # of a variable, beside the places of a tuple's items


def needed_values(blocks) -> dict[str, set]:
    """The variables that are needed, and of a tuple which items."""
    needed, known = {}, -1
    while known < (known := sum(map(len, needed.values()))):
        for block in reversed(blocks):
            for instruction in reversed(block):
                for name, part in _needed_by(instruction, needed):
                    needed.setdefault(name, set()).add(part)
    return needed


def _needed_by(instruction, needed):
    """What an instruction needs: each a variable, and WHOLE or an item's place."""
    if isinstance(instruction, ir.Copy):
        for target, source in zip(
            instruction.targets, instruction.sources, strict=True
        ):
            if isinstance(source, str):
                yield from ((source, part) for part in list(needed.get(target, ())))
    elif instruction.nature.pure and instruction.target not in needed:
        return
    elif isinstance(instruction, ir.Item) and isinstance(instruction.operand, str):
        yield instruction.operand, instruction.index
    elif isinstance(instruction, ir.Pack):
        parts = needed[instruction.target]
        for place, item in enumerate(instruction.items):
            if isinstance(item, str) and (WHOLE in parts or place in parts):
                yield item, WHOLE
    else:
        yield from ((name, WHOLE) for name in reads(instruction))

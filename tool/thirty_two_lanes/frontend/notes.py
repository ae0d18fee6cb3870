"""Notes: where each line of the source begins, and what each of its variables gets.

A line begins where its first statement does in a block, so one that goes on in another
block, behind a barrier or a call, has more notes. What only Numba assigns, to phi nodes
or from one version of a variable to the next, is no line's; and a library's lines are
no reader's.
"""

import numpy as np

from thirty_two_lanes.core import ir

STORES = ("SetItem", "StaticSetItem", "SetAttr")
ON_A_LINE = ("Assign", "Branch", "Raise", "StaticRaise", "Print", *STORES)
JUMPS = ("break", "continue")


def note_line(builder, statement):
    """Note that a line begins, if one does, before its statement is lowered."""
    here = builder.block, builder.line
    is_news = here != builder.noted and not _is_silent(builder)
    if is_news and _is_written(builder, statement):
        builder.noted = here
        builder.emit(ir.Note(builder.site(), builder.function))


def note_value(builder, statement):
    """Note what a variable of the source has got, if the statement assigned one."""
    if _is_silent(builder) or type(statement).__name__ != "Assign":
        return
    name = ir.source_name(builder.name(statement.target))
    if name is None or not _is_written(builder, statement):
        return
    value = builder.operand(statement.target)
    if isinstance(builder.type_of(value), np.dtype):
        builder.emit(ir.Note(builder.site(), builder.function, name, value))


def _is_silent(builder) -> bool:
    elsewhere = builder.within is not None or builder.inlined is not None
    return elsewhere or not builder.body.notes


def _is_written(builder, statement) -> bool:
    """Is this a statement of the source's, and of this line?"""
    kind = type(statement).__name__
    if kind == "Jump":  # Python lets the end of an `if` jump to another `continue`
        here = builder.label
        blocks = builder.typed.ir.blocks.values()
        ways_in = sum(here in block.terminator.get_targets() for block in blocks)
        return builder.site().text in JUMPS and ways_in == 1
    if kind == "Return":
        return builder.site().text.startswith("return")
    return kind in ON_A_LINE and not _is_made_up(statement)


def _is_made_up(statement) -> bool:
    """Is this an assignment that the source has not: of a phi node, or an argument?"""
    value = getattr(statement, "value", None)
    if type(value).__name__ == "Var":
        before = ir.source_name(value.name)
        return before is not None and before == ir.source_name(statement.target.name)
    return getattr(value, "op", None) == "phi" or type(value).__name__ == "Arg"

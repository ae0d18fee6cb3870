"""Notes: where each line of the source begins, and what each of its variables gets.

A line begins where its first statement does in a block, so one that goes on in another
block, behind a barrier or a call, has more notes. What only Numba assigns, to phi nodes
or from one version of a variable to the next, is no line's; and a library's lines are
no reader's.
"""

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.source import INLINED, contents, name_on

STORES = ("SetItem", "StaticSetItem", "SetAttr")
ON_A_LINE = ("Assign", "Branch", "Raise", "StaticRaise", "Print", *STORES)
JUMPS = ("break", "continue")


def note_line(builder, statement):
    """Note that a line begins, if one does, before its statement is lowered."""
    here = builder.block, builder.line
    is_news = here != builder.noted and not _is_silent(builder)
    if is_news and _is_written(builder, statement):
        builder.noted = here
        builder.emit(ir.Note(builder.site(), _whose_line(builder)))


def note_value(builder, statement):
    """Note what a variable of the source has got, if the statement assigned one."""
    if _is_silent(builder) or type(statement).__name__ != "Assign":
        return
    name = _spelt(builder, ir.source_name(builder.name(statement.target)))
    if name is None or not _is_written(builder, statement):
        return
    value = builder.operand(statement.target)
    if _is_number(builder, value):
        builder.emit(ir.Note(builder.site(), _whose_line(builder), name, value))


def _whose_line(builder):
    """The function whose line it is: this one, or one that Numba inlined."""
    known = [builder.function]
    for function in known:
        if _has_line(function, builder.function.__code__.co_filename, builder.line):
            return function
        named = [function.__globals__.get(it) for it in function.__code__.co_names]
        named += map(contents, function.__closure__ or ())
        functions = (getattr(it, "py_func", None) for it in named)
        known += [it for it in functions if it is not None and it not in known]
    return builder.function


def _has_line(function, file, line) -> bool:
    """Is a line of a file one of a function's?"""
    code = function.__code__
    last = max(it for *_, it in code.co_lines() if it is not None)
    return code.co_filename == file and code.co_firstlineno <= line <= last


def _spelt(builder, name) -> str | None:
    """What the source calls a variable, if it does, and if its function is known."""
    inlined = name is not None and INLINED.match(name)
    if not inlined or name in builder.function.__code__.co_varnames:
        return name
    is_known = _whose_line(builder) is not builder.function
    return name_on(builder.site().text, name) if is_known else None


def _is_number(builder, operand) -> bool:
    """Is it a number? A grid's group, a function or a slice has no type of ours."""
    has_type = isinstance(operand, ir.Const) or operand in builder.body.types
    return has_type and isinstance(builder.type_of(operand), np.dtype)


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

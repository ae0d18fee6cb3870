"""Numba's typed IR made into ours: a kernel, its statements, and the edges between its
blocks.

The room is built of functions in tables, from the top down: STATEMENTS here, VALUES and
EXPRESSIONS in expressions.py, then calls.py, with BUILTINS and METHODS, operators.py,
loops.py and iterators.py, inlining.py, captured.py, arrays.py, tuples.py, optionals.py.
Below them is the IRBuilder, which each function gets, with state.py. A file imports
only those after it.
"""

import re

import numpy as np
from numba.core.types import none

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.errors import ExplainedError
from thirty_two_lanes.frontend.inference import typed_ir
from thirty_two_lanes.frontend.lower.arrays import (
    set_attribute,
    set_item,
    static_set_item,
)
from thirty_two_lanes.frontend.lower.builder import IRBuilder
from thirty_two_lanes.frontend.lower.expressions import EXPRESSIONS, VALUES
from thirty_two_lanes.frontend.lower.optionals import settled
from thirty_two_lanes.frontend.lower.state import Body, Edges
from thirty_two_lanes.frontend.notes import note_line, note_value
from thirty_two_lanes.frontend.refusals.refusals import returns_nothing, unknown
from thirty_two_lanes.frontend.types import is_text


@np.errstate(all="ignore")  # constants are converted as on a GPU
def kernel_ir(function, argument_types, options=None, notes=False) -> ir.Kernel:
    """Our IR of a kernel for one list of Numba's argument types; with `notes`, it tells
    which line begins, and what variables get.
    """
    body = Body(lower, options or {}, notes)
    typed = typed_ir(function, argument_types, options, body.typed)
    if typed.result != none:
        raise returns_nothing(function)
    entry = body.new_block()
    arguments = tuple(f"{name}" for name in typed.ir.arg_names)
    builder = IRBuilder(body, typed, {name: name for name in arguments})
    lower(builder, entry)
    return ir.Kernel(
        function.__name__,
        arguments,
        body.types,
        body.blocks,
        entry,
        builder.site(function.__code__.co_firstlineno),
    )


def lower(builder, entry):
    """Append a whole function to the body; control arrives at `entry`."""
    blocks = builder.typed.ir.blocks
    labels = sorted(blocks)
    numbers = {label: builder.body.new_block() for label in labels}
    builder.edges = Edges(numbers, _phi_copies(blocks))
    builder.body.blocks[entry].append(ir.Jump(numbers[labels[0]]))
    for label in labels:
        builder.edges.label, builder.block = label, numbers[label]
        for statement in blocks[label].body:
            builder.go_to(statement.loc)
            note_line(builder, statement)
            _lower_statement(builder, statement)
            note_value(builder, statement)


def _lower_statement(builder, statement):
    """Lower a statement; whatever goes wrong is about its line."""
    kind = type(statement).__name__
    if kind not in STATEMENTS:
        builder.refuse(f"the emulator does not support `{kind.lower()}` yet")
    try:
        STATEMENTS[kind](builder, _with_values(builder, statement))
    except ExplainedError:
        raise
    except Exception as error:
        if builder.within is not None:  # a library's function: its caller's line
            raise
        raise unknown(builder.function, error, builder.line) from error


def _with_values(builder, statement):
    """A store whose variables have a value; others take None."""
    return (
        settled(builder, statement) if "Set" in type(statement).__name__ else statement
    )


# assignments


def assign(builder, statement):
    """`target = value`."""
    target, value = statement.target.name, settled(builder, statement.value)
    table, kind = VALUES, type(value).__name__
    _check_type(builder, target)
    if kind == "Expr":
        table, kind = EXPRESSIONS, value.op
    if kind == "call":
        _check_text(builder, target)
    if kind not in table:
        builder.refuse(f"the emulator does not support this construct yet: {kind}")
    table[kind](builder, target, value)


def _check_type(builder, target):
    """Refuse a variable of a type that our IR lacks."""
    kind = builder.typed.types.get(target)
    small = re.search(r"bfloat16|fp8", str(kind) if kind is not None else "")
    if small and "Module" not in str(kind):
        builder.refuse(
            f"numbers of type {small[0]} are not emulated: use float16 or float32"
        )


def _check_text(builder, target):
    """Refuse a call that makes a string."""
    if is_text(builder.typed.types.get(target)):
        builder.refuse("strings can only be printed in a kernel")


# the ends of blocks, and the edges between them


def jump(builder, statement):
    """Go on in another block."""
    builder.leave(ir.Jump(_edge(builder, statement.target), builder.site()))


def branch(builder, statement):
    """`if`: a jump, where the condition is known."""
    condition = builder.operand(statement.cond)
    if isinstance(condition, ir.Const):
        target = statement.truebr if condition.value else statement.falsebr
        builder.leave(ir.Jump(_edge(builder, target)))
        return
    then = _edge(builder, statement.truebr)
    otherwise = _edge(builder, statement.falsebr)
    builder.leave(ir.Branch(condition, then, otherwise, builder.site()))


def return_(builder, statement):
    """End the thread; or leave the result of an inlined function, and go back."""
    if builder.caller is None:
        builder.leave(ir.Return(builder.site()))
        return
    builder.assign(builder.caller.target, builder.operand(statement.value))
    builder.leave(ir.Jump(builder.caller.block))


def raise_(builder, statement):
    """`raise error(…)`."""
    builder.end_thread(statement.exc_class, statement.exc_args or ())


def _phi_copies(blocks):
    """What phi nodes copy, by the blocks that an edge leads from and to."""
    copies = {}
    for label, block in blocks.items():
        for statement in block.body:
            value = getattr(statement, "value", None)
            if getattr(value, "op", None) != "phi":
                continue
            for source, origin in zip(
                value.incoming_values, value.incoming_blocks, strict=True
            ):
                if type(source).__name__ == "Var":
                    copies.setdefault((origin, label), []).append((statement, source))
    return copies


def _edge(builder, label) -> int:
    """The block to go to for `label`: one of the edge's own if there are phi copies."""
    edges = builder.edges
    copies = [
        copy
        for copy in edges.copies.get((edges.label, label), ())
        if copy[0].target.name in builder.typed.types
    ]
    if not copies:
        return edges.numbers[label]
    here, builder.block = builder.block, builder.body.new_block()
    targets, sources = [], []
    for statement, source in copies:
        _copy_on_edge(builder, statement.target.name, source.name, targets, sources)
    builder.emit(ir.Copy(tuple(targets), tuple(sources)))
    builder.leave(ir.Jump(edges.numbers[label]))
    edge, builder.block = builder.block, here
    return edge


def _copy_on_edge(builder, target, source, targets, sources):
    dtype = builder.our_type(target)
    if is_text(builder.numba_type(target)):
        builder.refuse(
            "a string that differs between paths is not emulated: use a number"
        )
    targets.append(builder.declare(target, dtype))
    sources.append(builder.cast(builder.operand(source), dtype))


# the others


def print_(builder, statement):
    """`print(…)`."""
    items = tuple(_printed(builder, variable) for variable in statement.args)
    builder.emit(ir.Print(items, builder.site()))


def _printed(builder, variable):
    """What `print` gets: a string, or a number."""
    known = builder.known.get(variable.name)
    if isinstance(known, str):
        return ir.Const(known)
    if not isinstance(builder.our_type(variable), np.dtype):
        builder.refuse("`print` in a kernel takes strings and numbers: print the parts")
    return builder.operand(variable)


def nothing(builder, statement):
    """The end of a variable's life, which our IR does not have."""


# a kind of Numba's statements: (builder, statement) -> None
STATEMENTS = {
    "Assign": assign,
    "Del": nothing,
    "SetItem": set_item,
    "StaticSetItem": static_set_item,
    "SetAttr": set_attribute,
    "Jump": jump,
    "Branch": branch,
    "Return": return_,
    "Raise": raise_,
    "StaticRaise": raise_,
    "Print": print_,
}

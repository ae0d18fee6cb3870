"""Numba's typed IR made into ours: a kernel, its statements, and the edges between its
blocks.

The room is built of functions in tables, from the top down: STATEMENTS here, VALUES and
EXPRESSIONS in expressions.py, then calls.py, with BUILTINS and METHODS, operators.py,
loops.py and inlining.py, arrays.py, tuples.py. Below them is the Builder, which each
function gets, with state.py. A file imports only those after it.
"""

import re

import numpy as np

from helpers.core import ir
from helpers.core.errors import ExplainedError
from helpers.frontend.inference import typed_ir
from helpers.frontend.lower.arrays import set_attribute, set_item, static_set_item
from helpers.frontend.lower.builder import Builder
from helpers.frontend.lower.expressions import EXPRESSIONS, VALUES
from helpers.frontend.lower.state import Body, Edges
from helpers.frontend.refusals.refusals import at, unknown
from helpers.frontend.types import our_type


def kernel_ir(function, argument_types, options=None) -> ir.Kernel:
    """Our IR of a kernel for one list of Numba's argument types."""
    body = Body(lower, options or {})
    typed = typed_ir(function, argument_types, options, body.typed)
    if our_type(typed.result) is not None:
        raise at(
            function,
            function.__code__.co_firstlineno,
            "a kernel returns nothing: store its results in an array; a bare "
            "`return` ends a thread early",
        )
    entry = body.new_block()
    arguments = tuple(f"{name}" for name in typed.ir.arg_names)
    builder = Builder(body, typed, {name: name for name in arguments})
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
            if not _is_foreign(builder, statement):
                builder.line = statement.loc.line
            _lower_statement(builder, statement)


def _is_foreign(builder, statement) -> bool:
    """Was this written by Numba's loops, and not in the kernel's file?"""
    return statement.loc.filename != builder.function.__code__.co_filename


def _lower_statement(builder, statement):
    """Lower a statement; whatever goes wrong is about its line."""
    kind = type(statement).__name__
    if kind not in STATEMENTS:
        builder.refuse(f"the emulator does not support `{kind.lower()}` yet")
    try:
        STATEMENTS[kind](builder, statement)
    except ExplainedError:
        raise
    except Exception as error:
        if builder.within is not None:  # a library's function: its caller's line
            raise
        raise unknown(builder.function, error, builder.line) from error


# assignments


def assign(builder, statement):
    """`target = value`."""
    target, value = statement.target.name, statement.value
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
    if type(kind).__name__ == "Optional":
        name = target.split(".")[0]
        builder.refuse(
            f"`{name}` is None on one path and has a value on another: use a "
            "number instead of None"
        )
    small = re.search(r"bfloat16|fp8", str(kind) if kind is not None else "")
    if small and "Module" not in str(kind):
        builder.refuse(
            f"numbers of type {small[0]} are not emulated: use float16 or float32"
        )


def _check_text(builder, target):
    """Refuse a call that makes a string."""
    kind = type(builder.typed.types.get(target)).__name__
    if kind in ("UnicodeType", "StringLiteral"):
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

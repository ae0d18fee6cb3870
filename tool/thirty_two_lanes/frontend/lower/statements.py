"""Numba's typed IR made into ours: a kernel, its statements, and the edges between its
blocks.

The room is built of functions in tables, from the top down: STATEMENTS here, VALUES and
EXPRESSIONS in expressions.py, then calls.py, with BUILTINS and METHODS, operators.py,
loops.py and iterators.py, inlining.py, captured.py, arrays.py, tuples.py, optionals.py.
Below them is the IRBuilder, which each function gets, with state.py. A file imports
only those after it.
"""

import re
from collections import defaultdict

import numpy as np
from numba.core.types import none

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.errors import ExplainedError
from thirty_two_lanes.frontend.inference import typed_ir
from thirty_two_lanes.frontend.lower import arrays
from thirty_two_lanes.frontend.lower.builder import IRBuilder, absent
from thirty_two_lanes.frontend.lower.expressions import EXPRESSIONS, VALUES
from thirty_two_lanes.frontend.lower.optionals import settled
from thirty_two_lanes.frontend.lower.state import Body
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
    arguments = tuple(map(str, typed.ir.arg_names))
    builder = IRBuilder(body, typed, {name: name for name in arguments})
    lower(builder, entry)
    name, site = function.__name__, builder.site(function.__code__.co_firstlineno)
    return ir.Kernel(name, arguments, body.types, body.blocks, entry, site)


def lower(builder, entry):
    """Append a whole function to the body; control arrives at `entry`."""
    blocks = builder.typed.ir.blocks
    labels = sorted(blocks)
    builder.numbers = {label: builder.body.new_block() for label in labels}
    builder.copies = _phi_copies(blocks)
    builder.block = entry
    for variable in _without_a_value(blocks):
        _unset(builder, variable)
    builder.body.blocks[entry].append(ir.Jump(builder.numbers[labels[0]]))
    for label in labels:
        builder.label, builder.block = label, builder.numbers[label]
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
        if "Set" in kind:  # a store needs values; other statements take None
            statement = settled(builder, statement)
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
    target, value = statement.target.name, settled(builder, statement.value)
    table, kind = VALUES, type(value).__name__
    if kind == "Expr":
        table, kind = EXPRESSIONS, value.op
    _check_type(builder, builder.typed.types.get(target), kind)
    if kind not in table:
        builder.refuse(f"the emulator does not support this construct yet: {kind}")
    table[kind](builder, target, value)


def _check_type(builder, numba_type, kind):
    """Refuse a variable of a type that our IR lacks, and a call that makes a string."""
    small = re.search(r"bfloat16|fp8", str(numba_type))
    if small and "Module" not in str(numba_type):
        builder.refuse(
            f"numbers of type {small[0]} are not emulated: use float16 or float32"
        )
    if kind == "call" and is_text(numba_type):
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
        return builder.leave(ir.Jump(_edge(builder, target)))
    then = _edge(builder, statement.truebr)
    otherwise = _edge(builder, statement.falsebr)
    builder.leave(ir.Branch(condition, then, otherwise, builder.site()))


def return_(builder, statement):
    """End the thread; or leave the result of an inlined function, and go back."""
    if builder.caller is None:
        return builder.leave(ir.Return(builder.site()))
    builder.assign(builder.caller.target, builder.operand(statement.value))
    builder.leave(ir.Jump(builder.caller.block))


def raise_(builder, statement):
    """`raise error(…)`."""
    builder.end_thread(statement.exc_class, statement.exc_args or ())


def _phi_copies(blocks):
    """What phi nodes copy, by the blocks that an edge leads from and to: targets, and
    their sources.
    """
    copies = defaultdict(dict)
    for label, block in blocks.items():
        for phi in (s for s in block.body if _operation(s) == "phi"):
            values = zip(
                phi.value.incoming_values, phi.value.incoming_blocks, strict=True
            )
            for source, origin in values:
                if type(source).__name__ == "Var":
                    copies[origin, label][phi.target.name] = source.name
    return copies


def _without_a_value(blocks) -> dict:
    """The phi nodes that have no value on some edge, in order. None of them has got one
    before such an edge, so it is enough to say so where the function begins.
    """
    return {
        phi.target.name: None
        for block in blocks.values()
        for phi in (s for s in block.body if _operation(s) == "phi")
        if any(type(it).__name__ != "Var" for it in phi.value.incoming_values)
    }


def _unset(builder, variable):
    """Say that a variable has no value, if it could have one."""
    dtype = variable in builder.typed.types and builder.our_type(variable)
    if isinstance(dtype, (np.dtype, tuple, ir.ArrayType)):
        builder.emit(ir.Unset(builder.declare(variable, dtype), absent(dtype)))


def _operation(statement):
    """What a statement assigns is called so in Numba's IR; None for others."""
    return getattr(getattr(statement, "value", None), "op", None)


def _edge(builder, label) -> int:
    """The block to go to for `label`: one of the edge's own if there are phi copies."""
    copies = builder.copies[builder.label, label].items()
    copies = [(to, source) for to, source in copies if to in builder.typed.types]
    if not copies:
        return builder.numbers[label]
    here, builder.block = builder.block, builder.body.new_block()
    targets, sources = [], []
    for target, source in copies:
        if is_text(builder.numba_type(target)):
            builder.refuse(
                "a string that differs between paths is not emulated: use a number"
            )
        targets.append(builder.declared(target))
        sources.append(builder.cast(builder.operand(source), builder.our_type(target)))
    builder.emit(ir.Copy(tuple(targets), tuple(sources)))
    builder.leave(ir.Jump(builder.numbers[label]))
    edge, builder.block = builder.block, here
    return edge


# the others


def print_(builder, statement):
    """`print(…)`."""
    printed = []
    for variable in statement.args:
        known = builder.known.get(variable.name)
        if isinstance(known, str):
            printed.append(ir.Const(known))
        elif isinstance(builder.our_type(variable), np.dtype):
            printed.append(builder.operand(variable))
        else:
            builder.refuse(
                "`print` in a kernel takes strings and numbers: print the parts"
            )
    builder.emit(ir.Print(tuple(printed), builder.site()))


def nothing(builder, statement):
    """The end of a variable's life, which our IR does not have."""


# a kind of Numba's statements: (builder, statement) -> None
STATEMENTS = {
    "Assign": assign,
    "Del": nothing,
    "SetItem": arrays.set_item,
    "StaticSetItem": arrays.static_set_item,
    "SetAttr": arrays.set_attribute,
    "Jump": jump,
    "Branch": branch,
    "Return": return_,
    "Raise": raise_,
    "StaticRaise": raise_,
    "Print": print_,
}

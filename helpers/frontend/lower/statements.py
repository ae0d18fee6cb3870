"""Numba's typed IR made into ours: blocks, edges and device functions; expressions.py
does the rest.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from helpers.core import ir
from helpers.core.errors import Told, UnsupportedError
from helpers.core.source import Reference, Site, file_name, source_line
from helpers.frontend.inference import typed_ir
from helpers.frontend.lower.arrays import Arrays
from helpers.frontend.lower.builtins import BuiltinCalls
from helpers.frontend.lower.calls import Calls
from helpers.frontend.lower.expressions import Expressions
from helpers.frontend.lower.inlining import Inlining
from helpers.frontend.lower.loops import Iteration
from helpers.frontend.lower.methods import Methods
from helpers.frontend.lower.records import Records
from helpers.frontend.lower.tuples import Tuples
from helpers.frontend.lower.ufuncs import Ufuncs
from helpers.frontend.lower.unrolling import Unrolling
from helpers.frontend.refusals.refusals import at, unknown
from helpers.frontend.refusals.source_constructs import (
    explanation_from_source,
    is_certain,
)
from helpers.frontend.types import our_type


def kernel_ir(function, argument_types, options=None) -> ir.Kernel:
    """Our IR of a kernel for one list of Numba's argument types."""
    program = Program(options=options or {})
    typed = typed_ir(function, argument_types, options, program.typed)
    if our_type(typed.result) is not None:
        raise at(
            function,
            function.__code__.co_firstlineno,
            "a kernel returns nothing: store its "
            "results in an array, and `return` alone to end a thread early",
        )
    entry = program.new_block()
    arguments = tuple(f"{name}" for name in typed.ir.arg_names)
    names = {name: name for name in arguments}
    lowering = Lowering(program, typed, names)
    lowering.run(entry)
    return ir.Kernel(
        function.__name__,
        arguments,
        program.types,
        program.blocks,
        entry,
        lowering.site(function.__code__.co_firstlineno),
    )


@dataclass
class Program:
    """What is being built: blocks by number, and every variable's type."""

    blocks: dict = field(default_factory=dict)
    types: dict = field(default_factory=dict)
    functions: int = 0
    options: dict = field(default_factory=dict)  # of `@cuda.jit`
    typed: dict = field(default_factory=dict)  # what the front end knows of functions

    def new_block(self) -> int:
        number = len(self.blocks)
        self.blocks[number] = []
        return number


class Lowering(
    Expressions,
    Arrays,
    Calls,
    BuiltinCalls,
    Methods,
    Ufuncs,
    Tuples,
    Iteration,
    Records,
    Unrolling,
    Inlining,
):
    """One function's statements, appended to a program; prefixed when inlined."""

    def __init__(self, program, typed, arguments, caller=None):
        self.program, self.typed, self.caller = program, typed, caller
        self.function = typed.function
        self.arguments, self.specialisation = arguments, ()
        self.prefix = f"{self.function.__name__}#{program.functions}." if caller else ""
        program.functions += 1
        self.within = None  # of a library's function: the site of its call
        self.known = {}  # name: the Python object that it always is
        self.given = {}  # argument of an inlined function: such an object
        self.packed = {}  # name: the operands of a tuple built once
        self.aliases = {}  # name of an iterator: the name whose state it shares
        self.iterators = {}  # name: an Iterator
        self.flats = {}  # name of an array's `.flat`: the array
        self.addresses = {}  # name of an array's `.ctypes`: the array
        self.methods = {}  # name of a method: the variable that it is of, its name
        self.array_names = {}  # argument of a library's function: the kernel's name
        self.pairs = {}  # name of a pair: what comes next, and is there one?
        self.sites = {}
        self.block, self.line = None, self.function.__code__.co_firstlineno
        self.definitions = Counter(
            statement.target.name
            for block in typed.ir.blocks.values()
            for statement in block.body
            if type(statement).__name__ == "Assign"
        )

    def run(self, entry):
        """Append the whole function; control arrives at `entry`."""
        blocks = self.typed.ir.blocks
        labels = sorted(blocks)
        self.numbers = {label: self.program.new_block() for label in labels}
        self.edges = self._phi_edges(blocks)
        self.program.blocks[entry].append(ir.Jump(self.numbers[labels[0]]))
        for label in labels:
            self.label, self.block = label, self.numbers[label]
            for statement in blocks[label].body:
                if not self.is_foreign(statement):
                    self.line = statement.loc.line
                self._statement(statement)

    # names, types, places

    def name(self, variable) -> str:
        """Our name of one of Numba's variables."""
        return self.prefix + getattr(variable, "name", variable)

    def numba_type(self, variable):
        return self.typed.types[getattr(variable, "name", variable)]

    def type_of(self, operand):
        """Our type of an operand."""
        if isinstance(operand, ir.Const):
            return type_of_value(operand.value)
        return self.program.types[operand]

    def new_name(self, dtype, hint="t") -> str:
        name = f"{self.prefix}{hint}%{len(self.program.types)}"
        self.program.types[name] = dtype
        return name

    def emit(self, instruction):
        self.program.blocks[self.block].append(instruction)

    def site(self, line=None) -> Site:
        """The source line being lowered."""
        if self.within is not None:  # a library's function: the line that called it
            return self.within
        line = line or self.line
        if line not in self.sites:
            file = self.function.__code__.co_filename
            self.sites[line] = Site(
                file_name(file),
                line,
                source_line(file, line),
                self.caller.line if self.caller else None,
            )
        return self.sites[line]

    def reference(self, kind, array) -> Reference:
        """A memory access of this line, by the name that the source gives the array."""
        return Reference(self.site(), kind, self.array_name(array))

    def array_name(self, array) -> str:
        """The name that the kernel gives an array."""
        name = self.aliases.get(array, array)
        bare = name.split(".")[-1] if "#" in name else name.split(".")[0]
        return (
            f"part of {self.function.__name__}'s array"
            if bare.startswith("$")
            else bare
        )

    def refuse(self, sentence, error=UnsupportedError):
        """Stop: this line cannot be run."""
        if self.within is not None and self.caller:
            self.caller.lowering.refuse(sentence, error)
        explained = explanation_from_source(self.function, self.line)
        if explained and is_certain(explained[0]):
            raise at(self.function, explained[1], explained[0])
        raise at(self.function, self.line, sentence, error)

    # statements

    def _statement(self, statement):
        method = getattr(self, f"_do_{type(statement).__name__}", None)
        if method is None:
            self.refuse(
                f"the emulator does not know `{type(statement).__name__.lower()}` yet"
            )
        try:
            method(statement)
        except Told:
            raise
        except Exception as error:
            if self.within is not None:  # a library's function: its caller's line
                raise
            raise unknown(self.function, error, self.line) from error

    def _do_Del(self, statement):
        pass

    def _do_Assign(self, statement):
        value = statement.value
        kind = type(value).__name__
        self._check(statement.target.name)
        if kind == "Expr" and value.op == "call":
            self._check_text(statement.target.name)
        handler = getattr(self, f"_value_{kind}", None)
        if kind == "Expr":
            handler = getattr(self, f"_expr_{value.op}", None)
        if handler is None:
            what = value.op if kind == "Expr" else kind
            self.refuse(f"the emulator does not know this construct yet: {what}")
        handler(statement.target.name, value)

    def _check(self, target):
        """Refuse a variable of a type that is none of ours."""
        kind = self.typed.types.get(target)
        if type(kind).__name__ == "Optional":
            name = target.split(".")[0]
            self.refuse(
                f"`{name}` is None on one path and has a value on another: give it a "
                "number that stands for nothing"
            )
        small = re.search(r"bfloat16|fp8", str(kind) if kind is not None else "")
        if small and "Module" not in str(kind):
            self.refuse(
                f"numbers of type {small[0]} are not emulated: use float16 or float32"
            )

    def _check_text(self, target):
        kind = type(self.typed.types.get(target)).__name__
        if kind in ("UnicodeType", "StringLiteral"):
            self.refuse("texts exist in kernels only to be printed")

    def _do_Jump(self, statement):
        self._leave(ir.Jump(self._edge(statement.target), self.site()))

    def _do_Branch(self, statement):
        condition = self.operand(statement.cond)
        if isinstance(condition, ir.Const):
            target = statement.truebr if condition.value else statement.falsebr
            self._leave(ir.Jump(self._edge(target)))
            return
        self._leave(
            ir.Branch(
                condition,
                self._edge(statement.truebr),
                self._edge(statement.falsebr),
                self.site(),
            )
        )

    def _do_Return(self, statement):
        if self.caller is None:
            self._leave(ir.Return())
            return
        self.assign(self.caller.target, self.operand(statement.value))
        self._leave(ir.Jump(self.caller.block))

    def _do_StaticRaise(self, statement):
        self._raise(statement.exc_class, statement.exc_args or ())

    _do_Raise = _do_StaticRaise

    def _raise(self, exception, arguments):
        """End the thread; the host is told of it in debug mode."""
        if self.program.options.get("debug"):
            name = self.function.__name__
            self.emit(ir.Raise(exception, tuple(arguments), name, self.site()))
        self._leave(ir.Return())

    def refuse_thread(self, condition, exception, text):
        """End the threads for which a condition holds."""
        wrong, right = self.program.new_block(), self.program.new_block()
        self._leave(ir.Branch(condition, wrong, right, self.site()))
        self.block = wrong
        self._raise(exception, (text,))
        self.block = right

    def _do_Print(self, statement):
        items = tuple(map(self._printed, statement.args))
        self.emit(ir.Print(items, self.site()))

    def _printed(self, variable):
        """What `print` gets: a text, or a number."""
        known = self.known.get(variable.name)
        if isinstance(known, str):
            return ir.Const(known)
        if not isinstance(our_type(self.numba_type(variable)), np.dtype):
            self.refuse("`print` in a kernel takes texts and numbers: print the parts")
        return self.operand(variable)

    def _leave(self, terminator):
        self.program.blocks[self.block].append(terminator)

    # edges: phi nodes become copies in a block of the edge's own

    def _phi_edges(self, blocks):
        edges = {}
        for label, block in blocks.items():
            for statement in block.body:
                value = getattr(statement, "value", None)
                if getattr(value, "op", None) != "phi":
                    continue
                for source, origin in zip(
                    value.incoming_values, value.incoming_blocks, strict=True
                ):
                    if type(source).__name__ == "Var":
                        edges.setdefault((origin, label), []).append(
                            (statement, source)
                        )
        return edges

    def _edge(self, label) -> int:
        """The block to go to for `label`, after its phi copies."""
        copies = [
            copy
            for copy in self.edges.get((self.label, label), ())
            if copy[0].target.name in self.typed.types
        ]
        if not copies:
            return self.numbers[label]
        here, self.block = self.block, self.program.new_block()
        targets, sources = [], []
        for statement, source in copies:
            self._copy_on_edge(statement.target.name, source.name, targets, sources)
        self.emit(ir.Copy(tuple(targets), tuple(sources)))
        self._leave(ir.Jump(self.numbers[label]))
        edge, self.block = self.block, here
        return edge

    def _copy_on_edge(self, target, source, targets, sources):
        dtype = our_type(self.numba_type(target))
        name = self.declare(target, dtype)
        targets.append(name)
        sources.append(self.cast(self.operand(source), dtype))

    def _expr_phi(self, target, value):
        self.declare(target, our_type(self.numba_type(target)))


def type_of_value(value):
    """Our type of a constant."""
    if isinstance(value, tuple):
        return tuple(map(type_of_value, value))
    return value.dtype

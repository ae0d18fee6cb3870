"""The state of lowering one function, and the operations that every construct uses.

The other files of this room are functions of a builder; statements.py says how they
fit. What only arrays, tuples or loops need to remember of names is in state.py.
"""

import os
import re
from pathlib import Path

import numba
import numpy as np
from numba import cuda

from thirty_two_lanes.core import ir, source
from thirty_two_lanes.core.errors import UnsupportedError
from thirty_two_lanes.core.source import Reference, Site
from thirty_two_lanes.frontend.known_values import constant_value
from thirty_two_lanes.frontend.lower.state import Arrays
from thirty_two_lanes.frontend.refusals.refusals import at
from thirty_two_lanes.frontend.refusals.source_constructs import (
    explanation_from_source,
    is_certain,
)
from thirty_two_lanes.frontend.source_names import source_names
from thirty_two_lanes.frontend.types import our_type
from thirty_two_lanes.language.operators import convert

LIBRARIES = tuple(  # folders with lines that Numba inlines and no reader has written
    f"{folder}{os.sep}"
    for folder in (
        Path(numba.__file__).parent,
        Path(cuda.__file__).parent,
        Path(__file__).parents[2],
    )
)
_NO_VALUE = (
    "the emulator does not support what this line does with a text, a type, a slice or "
    "an iterator yet: use numbers, tuples and arrays"
)
WORD = re.compile(r"\w+")
INDEX = np.dtype(np.int64)
TRUE, FALSE = ir.Const(np.True_), ir.Const(np.False_)
ONE, ZERO = ir.Const(np.int64(1)), ir.Const(np.int64(0))
NONE = ir.Const(None)


class IRBuilder:
    """One function, lowered into a kernel's body; its names are prefixed if inlined.

    Numba's typed IR assigns each variable once, so what is known of one holds.
    """

    def __init__(self, body, typed, arguments, caller=None, within=None):
        self.body, self.typed, self.caller = body, typed, caller
        self.function = typed.function
        self.kernel = caller.builder.kernel if caller else self.function
        self.within = within  # of a library's function: the site of its call
        self.arguments, self.specialisation = arguments, ()
        self.prefix = f"{self.function.__name__}#{body.functions}." if caller else ""
        body.functions += 1
        self.block, self.line = None, self.function.__code__.co_firstlineno
        self.inlined = None  # file and line of what Numba inlined from another file
        self.sites = {}
        self.noted = None  # the block and line that a note was last about
        self.known = {}  # name: the Python object that it always is
        self.spelt = {}  # name of such an object from outside: how the source names it
        self.given = {}  # argument of an inlined function: such an object
        self.methods = {}  # name of a method: the variable that it is of, its name
        self.arrays = Arrays()
        self.packed = {}  # a tuple or a range: its operands
        self.iterators = {}  # a loop's variable: what of iterators.py it steps through
        self.pairs = {}  # a step of a loop: what comes next, and is there one?
        self.values = {}  # (label, variable that may be None): one that is not, there
        self.label, self.numbers = None, {}  # of Numba's blocks: the one at hand, ours
        self.copies = {}  # (label, label): what phi nodes copy there, {target: source}
        self.source_names = source_names(typed.ir)

    # names and types

    def name(self, variable) -> str:
        """Our name of one of Numba's variables."""
        return self.prefix + getattr(variable, "name", variable)

    def numba_type(self, variable):
        """The type that Numba inferred for a variable."""
        return self.typed.types[getattr(variable, "name", variable)]

    def kind(self, variable) -> str:
        """The name of the class of that type."""
        return type(self.numba_type(variable)).__name__

    def our_type(self, variable):
        """Our type of a variable."""
        return our_type(self.numba_type(variable))

    def type_of(self, operand):
        """Our type of an operand."""
        if isinstance(operand, ir.Const):
            return type_of_value(operand.value)
        if operand not in self.body.types:
            self.refuse(_NO_VALUE)
        return self.body.types[operand]

    def new_name(self, dtype, hint="t") -> str:
        """A name that nothing has yet, for a value between two steps."""
        name = f"{self.prefix}{hint}%{len(self.body.types)}"
        self.body.types[name] = dtype
        return name

    def declare(self, target, dtype) -> str:
        """Our name of a variable, which has this type from now on."""
        name = self.name(target)
        self.body.types[name] = dtype
        return name

    def declared(self, target) -> str:
        """Our name of a variable, declared with the type that Numba inferred."""
        return self.declare(target, self.our_type(target))

    # the source

    def go_to(self, loc):
        """Let a statement's line be the one being lowered; Numba's own is nobody's."""
        if loc.filename == self.function.__code__.co_filename:
            self.line, self.inlined = loc.line, None
        elif not loc.filename.startswith(LIBRARIES):
            if source.source_line(loc.filename, loc.line):  # a reader can look it up
                self.inlined = loc.filename, loc.line

    def site(self, line=None) -> Site:
        """The source line being lowered."""
        if self.within is not None:  # a library's function: the line that called it
            return self.within
        caller = self.caller.line if self.caller else None
        here = self.function.__code__.co_filename, line or self.line, caller
        if self.inlined and line is None:
            here = *self.inlined, caller or self.line
        if here not in self.sites:
            file, number, caller = here
            apart = file != self.kernel.__code__.co_filename
            name, text = source.file_name(file), source.source_line(file, number)
            self.sites[here] = Site(name, number, text, caller, None, None, apart, file)
        return self.sites[here]

    def reference(self, kind, array) -> Reference:
        """A memory access of this line, by the name that the source gives the array."""
        return Reference(self.site(), kind, self.array_name(array))

    def array_name(self, array) -> str:
        """The name that the kernel gives an array."""
        name = self.arrays.base(array)
        if name in self.arrays.spelt:
            return self.arrays.spelt[name]
        name = ir.without_function(name)
        name = self.source_names.get(name, name.split(".")[0])
        if name.startswith("$"):
            return f"part of {self.function.__name__}'s array"
        known = {*self.function.__code__.co_varnames, *WORD.findall(self.site().text)}
        first = WORD.match(name)[0]
        return source.without_inlined(first, known) + name[len(first) :]

    def refuse(self, sentence, error=UnsupportedError):
        """Stop: this line cannot be run."""
        if self.within is not None and self.caller:
            self.caller.builder.refuse(sentence, error)
        explained = explanation_from_source(self.function, self.line)
        if explained and is_certain(explained[1]):
            raise at(self.function, *explained)
        raise at(self.function, self.line, sentence, error)

    # operands

    def operand(self, variable) -> ir.Operand:
        """What one of Numba's variables is to us: a constant, or a name."""
        name = getattr(variable, "name", variable)
        if is_always_none(self.typed.types.get(name)):
            return NONE
        if name in self.packed:
            items = self.packed[name]
            return constant_tuple(items) or self.name(name)
        if name in self.known:
            constant = constant_value(self.known[name], self.our_type(name))
            if constant is not None:
                return constant
        ours = self.name(name)
        return ours if ours in self.body.types else self.arguments.get(name, ours)

    def operands(self, variables) -> list:
        """What several variables are to us."""
        return [self.operand(variable) for variable in variables]

    def items(self, variable) -> tuple:
        """The operands of a tuple, or the one operand that is not a tuple."""
        name = getattr(variable, "name", variable)
        if name in self.packed:
            return self.packed[name]
        return self.parts(self.operand(name))

    def range_of(self, variable) -> tuple:
        """Start, stop and step of a `range`, as operands."""
        name = getattr(variable, "name", variable)
        if name not in self.packed:
            self.refuse(_NO_VALUE)
        return self.packed[name]

    def parts(self, operand) -> tuple:
        """The operands that an operand is made of."""
        dtype = self.type_of(operand)
        if not isinstance(dtype, tuple):
            return (operand,)
        if isinstance(operand, ir.Const):
            return tuple(ir.Const(item) for item in operand.value)
        names = []
        for index, item in enumerate(dtype):
            names.append(self.new_name(item, "item"))
            self.emit(ir.Item(names[-1], operand, index))
        return tuple(names)

    def tuple_of(self, operands, dtypes) -> ir.Operand:
        """An operand that is a tuple of operands of these types."""
        items = self.casts(operands, dtypes)
        return constant_tuple(items) or self.pack(items, dtypes, "tuple")

    def pack(self, items, dtypes, hint) -> str:
        """The name of a tuple of items."""
        target = self.new_name(dtypes, hint)
        self.emit(ir.Pack(target, items))
        return target

    def casts(self, operands, dtypes) -> tuple:
        """Operands, each converted to its type."""
        return tuple(self.cast(o, d) for o, d in zip(operands, dtypes, strict=True))

    def cast(self, operand, dtype, explicit=False) -> ir.Operand:
        """The operand converted to a type, at once when it is a constant."""
        if operand is None or dtype is None or is_same(self.type_of(operand), dtype):
            return operand
        source = self.type_of(operand)
        if isinstance(dtype, ir.Optional):
            return self._optional(operand, dtype)
        if source is None:
            return operand
        if isinstance(source, ir.Optional):
            return self.cast(self._required(operand), dtype, explicit)
        if isinstance(dtype, tuple):
            return self.tuple_of(self.parts(operand), dtype)
        if not isinstance(dtype, np.dtype):
            return operand
        if isinstance(operand, ir.Const):
            return ir.Const(convert(operand.value, dtype))
        target = self.new_name(dtype, "cast")
        self.emit(ir.Cast(target, operand, dtype, self.site(), explicit))
        return target

    def _optional(self, operand, dtype) -> ir.Operand:
        """A value, or None, as one that may be None."""
        source, present = self.type_of(operand), TRUE
        if source is None:
            operand, present = ir.Const(absent(dtype.value)), FALSE
        elif isinstance(source, ir.Optional):
            operand, present = self.parts(operand)
        value = self.cast(operand, dtype.value)
        return self.pack((value, present), dtype, "optional")

    def _required(self, operand) -> ir.Operand:
        """The value of what may be None; as in Numba, a None ends the thread."""
        value, present = self.parts(operand)
        dtype = self.type_of(value)
        what = dtype if isinstance(dtype, np.dtype) else "a value"
        missing = self.truth("not", present)
        self.end_threads_where(missing, TypeError, f"expected {what}, got None")
        return value

    # instructions

    def emit(self, instruction):
        """Append an instruction to the current block."""
        self.body.blocks[self.block].append(instruction)

    def assign(self, name, operand):
        """`name = operand`, in the type that `name` was declared with."""
        arrays = self.arrays
        if self.within is not None and arrays.base(operand) in arrays.spelt:
            arrays.alias(name, operand)
        if self.body.types.get(name) is not None and operand is not None:
            self.emit(ir.Copy((name,), (self.cast(operand, self.body.types[name]),)))

    def bind(self, target, operand):
        """Give an operand a name, without a copy where that is the same."""
        self.assign(self.declared(target), operand)

    def operate(self, target, name, operands, dtypes, result):
        """`target = name(operands)` on operands cast to `dtypes`, cast to the declared
        type.
        """
        cast = self.casts(operands, dtypes)
        declared = self.our_type(target)
        ours = self.declare(target, declared)
        direct = ours if declared == result else self.new_name(result, name)
        self.emit(ir.Operation(direct, name, cast, self.site()))
        if direct is not ours:
            self.assign(ours, direct)

    def computed(self, operator, operands, dtype, hint) -> str:
        """The name of what an operator makes of operands."""
        target = self.new_name(dtype, hint)
        self.emit(ir.Operation(target, operator, operands, self.site()))
        return target

    def truth(self, operator, *operands) -> str:
        """The name of a condition: an operator's, of operands."""
        if any(isinstance(self.type_of(o), ir.ArrayType) for o in operands):
            self.refuse("whole arrays are not compared here: compare their elements")
        return self.computed(operator, operands, np.dtype(np.bool_), "more")

    def index(self, operator, *operands) -> str:
        """The name of an index that is computed."""
        return self.computed(operator, operands, INDEX, "index")

    # blocks

    def leave(self, terminator):
        """End the current block."""
        self.body.blocks[self.block].append(terminator)

    def continue_in(self, block):
        """Jump to another block, and go on there."""
        self.leave(ir.Jump(block))
        self.block = block

    def branch(self, condition, after=None) -> int:
        """Go on where a condition holds; the block for where it does not."""
        inside = self.body.new_block()
        after = self.body.new_block() if after is None else after
        self.leave(ir.Branch(condition, inside, after, self.site()))
        self.block = inside
        return after

    def end_thread(self, exception, arguments):
        """End the thread by an exception, which the launch raises in debug mode."""
        name, debug = self.function.__name__, bool(self.body.options.get("debug"))
        self.emit(ir.Raise(exception, tuple(arguments), name, self.site(), debug))
        self.leave(ir.Return(self.site()))

    def end_threads_where(self, condition, exception, text):
        """End the threads for which a condition holds."""
        right = self.branch(condition)
        self.end_thread(exception, (text,))
        self.block = right


def index_constant(number) -> ir.Const:
    """A number as an index."""
    return ir.Const(np.int64(number))


def constant_tuple(items) -> ir.Const | None:
    """The constant that a tuple of operands is, where all of them are constants."""
    if all(isinstance(item, ir.Const) for item in items):
        return ir.Const(tuple(item.value for item in items))
    return None


def is_always_none(numba_type) -> bool:
    """Does a variable of this type never have a value but None?"""
    kind = type(numba_type).__name__
    return kind == "NoneType" or kind == "Omitted" and numba_type.value is None


def is_same(one, other) -> bool:
    """Are two of our types the same? NumPy would take a tuple, or None, for a dtype."""
    return type(one) is type(other) and one == other


def absent(dtype):
    """What stands for a value that is None."""
    if isinstance(dtype, tuple):
        return tuple(map(absent, dtype))
    return dtype.type(0) if isinstance(dtype, np.dtype) else None


def type_of_value(value):
    """Our type of a constant."""
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(map(type_of_value, value))
    return value.dtype

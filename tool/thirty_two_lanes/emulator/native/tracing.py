"""A basic block as rows for a warp, found by following the tables of `language`.

Each operator and each cast is asked for once, with values that note what NumPy would
compute: the rows are NumPy's own loops, in that order. Where a function of the tables
looks at its numbers (`np.any`), the trace goes on as if each case occurred, and if that
cannot be followed, with the usual case alone, behind a `guard`. What is not followed
stays with NumPy.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.emulator.native.kernel import number_type
from thirty_two_lanes.emulator.native.loops import loop_of

MOST_ROWS = 2000  # of one basic block
INT64, UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
BOOL = np.dtype(np.bool_)


class Untraceable(Exception):
    """NumPy's functions run this."""


class Word(NamedTuple):
    """An operand of a row: "fixed" and "temporary" are numbers for each thread, "block"
    is where the rows of a basic block begin, "threads" is their number.
    """

    kind: str
    number: int = 0


class Known(NamedTuple):
    """An array that a variable holds when the warp comes."""

    name: str


class Value(np.lib.mixins.NDArrayOperatorsMixin):
    """A number for each thread, which notes what is computed from it."""

    __hash__ = object.__hash__

    def __init__(self, trace, word, dtype):
        self.trace, self.word, self.dtype = trace, word, dtype

    def __array_ufunc__(self, ufunc, method, *operands, dtype=None, **more):
        if method != "__call__" or more:
            raise Untraceable(f"{ufunc.__name__}.{method}")
        return self.trace.compute(ufunc, operands, dtype)

    def __array_function__(self, function, types, operands, named):
        if function not in FOLLOWED or named:
            raise Untraceable(function.__name__)
        return FOLLOWED[function](self.trace, *operands)

    def astype(self, dtype, copy=True):
        return self.trace.cast(self, np.dtype(dtype))

    def view(self, dtype):
        if np.dtype(dtype).itemsize != self.dtype.itemsize:
            raise Untraceable("a view of another size")
        return Value(self.trace, self.word, np.dtype(dtype))

    def any(self):
        return self.trace.any(self)

    def all(self):
        return self.trace.all(self)

    def __getitem__(self, index):
        return self if index == () else _refuse(self)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Untraceable(name)


def _refuse(*operands, **named):
    raise Untraceable("a number that is not known")


for _name in ("array", "bool", "int", "float", "complex", "index", "len", "iter"):
    setattr(Value, f"__{_name}__", _refuse)


class Trace:
    """The rows of a basic block on their way; `tape` has what is fixed for a warp."""

    def __init__(self, tape, usual):
        self.tape, self.types, self.usual = tape, tape.types, usual
        self.rows, self.values, self.known = [], {}, {}
        self.temporaries = 0

    def row(self, key, *words):
        if len(self.rows) > MOST_ROWS:
            raise Untraceable("too many rows")
        self.rows.append((key if isinstance(key, tuple) else (key,), words))

    def value(self, dtype):
        """A new number for each thread."""
        if number_type(dtype) is None:
            raise Untraceable(f"{dtype}")
        self.temporaries += 1
        return Value(self, Word("temporary", self.temporaries - 1), dtype)

    def fixed(self, dtype, *key):
        return Value(self, self.tape.fixed(dtype, *key), np.dtype(dtype))

    def made(self, key, dtype, *words):
        """What a row makes of its operands; once, if it comes again."""
        if (key, words) not in self.known:
            result = self.known[key, words] = self.value(dtype)
            self.row(key, *words, result.word)
        found = self.known[key, words]
        return Value(self, found.word, dtype)

    # what functions of NumPy do

    def compute(self, ufunc, operands, dtype=None):
        given = [o.dtype if isinstance(o, Value) else _weak(o) for o in operands]
        if dtype is not None:
            given = [np.dtype(dtype)] * len(operands)
        try:
            dtypes = ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout))
        except TypeError:
            raise Untraceable(ufunc.__name__) from None
        loop = loop_of(ufunc, dtypes)
        if loop is None:
            raise Untraceable(ufunc.__name__)
        inputs = [
            self.cast(self.lift(o, d), d)
            for o, d in zip(operands, dtypes, strict=False)
        ]
        words = tuple(value.word for value in inputs)
        key = "loop", ufunc, dtypes
        if (key, words) not in self.known:
            result = self.known[key, words] = self.value(dtypes[-1])
            steps = (d.itemsize for d in dtypes)
            head = *loop, Word("threads"), len(dtypes)
            self.row("loop", *head, *words, result.word, *steps)
        return self.known[key, words]

    def lift(self, value, dtype=None) -> Value:
        """A number that is known, or one of each lane, as a number for each thread."""
        if isinstance(value, Value):
            return value
        try:
            number = np.asarray(value, None if hasattr(value, "dtype") else dtype)
        except OverflowError:
            raise Untraceable(f"{value}") from None
        if number.ndim and number.shape != (WARP_SIZE, 1):
            raise Untraceable(f"{number.shape}")
        key = number.dtype.str, number.shape, number.tobytes()
        return self.fixed(number.dtype, "number", *key)

    def cast(self, value, dtype) -> Value:
        """`value.astype(dtype)`, of numbers that the type has."""
        source = value.dtype
        if source == dtype:
            return value
        if dtype == BOOL:
            return self.compute(np.not_equal, (value, source.type(0)))
        if {number_type(source), number_type(dtype)} & {None}:
            raise Untraceable(f"{source} to {dtype}")
        if source.kind == "f" and dtype.kind in "iu":
            limits = np.iinfo(dtype)
            self.guard((value > limits.min) & (value < limits.max))
        if source.kind in "iu" and dtype.kind in "iu":
            if source.itemsize == dtype.itemsize:
                return value.view(dtype)
        return self.made(("cast", source, dtype), dtype, value.word)

    def where(self, condition, one, other):
        dtype = np.result_type(*(getattr(o, "dtype", o) for o in (one, other)))
        parts = [self.cast(self.lift(o, dtype), dtype) for o in (one, other)]
        holds = self.cast(self.lift(condition), BOOL)
        words = (part.word for part in (holds, *parts))
        return self.made(("select", dtype.itemsize), dtype, *words)

    def any(self, value) -> bool:
        """Does it hold somewhere? As if so; or never, which is guarded."""
        if self.usual:
            self.guard(np.logical_not(value))
        return not self.usual

    def all(self, value) -> bool:
        """Does it hold everywhere? As if not; or always, which is guarded."""
        if self.usual:
            self.guard(value)
        return self.usual

    def guard(self, condition):
        """Leave the basic block to NumPy where this does not hold."""
        if not isinstance(condition, Value):
            condition = self.lift(condition)
        word = self.cast(condition, BOOL).word
        if ("guard", word) not in self.known:
            self.known["guard", word] = True
            self.row("guard", word)

    # what instructions name

    def operand(self, operand):
        """A value, a number that is known, a tuple of them, or an array."""
        if isinstance(operand, ir.Const):
            if operand.value is None:
                raise Untraceable("None")
            return operand.value
        if operand not in self.values:
            self.values[operand] = self._taken(operand)
        return self.values[operand]

    def _taken(self, name):
        """What another basic block has left."""
        dtype = self.types.get(name)
        if isinstance(dtype, ir.ArrayType):
            return Known(self.tape.names.get(name, name))
        if not is_number(dtype) or name not in self.tape.slots:
            raise Untraceable(name)
        if name in self.tape.unsure:
            self.guard(self.fixed(BOOL, "defined", name))
        return self.fixed(dtype, "slot", name)

    def part(self, array, what, axis=0):
        """A number of an array: its address, a size or a stride in bytes."""
        if not isinstance(array, Known) or array.name not in self.tape.slots:
            raise Untraceable("an array that is made here")
        self.guard(self.fixed(BOOL, "array", array.name, "known", 0))
        return self.fixed(INT64, "array", array.name, what, axis)

    def address(self, array, indices):
        """Where an element is; indices that need a rule are NumPy's."""
        at = self.part(array, "address")
        for axis, operand in enumerate(indices):
            index, size = self.operand(operand), self.part(array, "size", axis)
            if getattr(index, "dtype", BOOL).kind not in "iu":
                raise Untraceable("no whole number")
            index = index.astype(INT64)
            self.guard(index.view(UINT64) < size.view(UINT64))
            at = at + index * self.part(array, "stride", axis)
        return at

    def tell(self, i, array, at, value=None):
        """Tell the judges of a request, where there are any."""
        if self.tape.tells:
            dtype = self.types[i.array].dtype
            source = self.tape.source(i.reference, dtype)
            space = self.part(array, "space")
            far = at - self.part(array, "own")
            told = space, far, *(self.part(array, it) for it in ("first", "apart"))
            words = [it.word for it in (*told, *(() if value is None else (value,)))]
            self.row(("tell", 0 if value is None else dtype.itemsize), source, *words)


def is_number(dtype) -> bool:
    return isinstance(dtype, np.dtype) and number_type(dtype) is not None


def has_type(value, dtype) -> bool:
    """Is this a number of a type? To NumPy, no type at all is float64."""
    return isinstance(dtype, np.dtype) and getattr(value, "dtype", 0) in (dtype,)


def _weak(operand):
    """What decides the type of a result: a number of Python's only by its kind."""
    if type(operand) in (int, float):
        return type(operand)
    return operand.dtype if hasattr(operand, "dtype") else _refuse(operand)


FOLLOWED = {
    np.where: Trace.where,
    np.any: Trace.any,
    np.all: Trace.all,
    np.size: lambda trace, value: 1,
}

"""Loops: over `range`, a tuple, an array, `enumerate` and `zip`.

An iterator is a variable or two of its own, which `iternext` reads and moves on. An
array's element is loaded only where there is one, and within `zip` only where every
array has one: the compiler leaves out the load of what is dropped.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from helpers.core import ir
from helpers.frontend.lower.arrays import (
    array_number,
    index_operation,
    unravelled,
    unravelled_in,
)
from helpers.frontend.lower.builder import INDEX, ONE, ZERO
from helpers.frontend.lower.tuples import choose_array, pack, repack
from helpers.frontend.types import our_type

# what may be iterated over: `next` emits a step and gives what comes next, an operand
# or a tuple of them, and whether there is one; `ahead` leaves the rest to its caller


class Iterator:
    """What a loop iterates over, one step after the other."""

    def ahead(self, builder):
        """Is there more? And what moves on where there is, and gives what reads it."""
        first, more = self.next(builder)
        return more, lambda: lambda: first


@dataclass(frozen=True)
class Range(Iterator):
    """The numbers of a `range`."""

    following: str
    stop: str
    step: str

    def next(self, builder):
        first = _kept(builder, self.following)
        more = builder.truth("in range", (self.following, self.stop, self.step))
        _step(builder, self.following, self.step)
        return first, more


@dataclass(frozen=True)
class Items(Iterator):
    """The items of a tuple."""

    index: str
    items: tuple

    def next(self, builder):
        index, items = self.index, self.items
        more = builder.truth("lt", (index, ir.Const(np.int64(len(items)))))
        first = builder.new_name(builder.type_of(items[0]), "item")
        if isinstance(builder.type_of(first), ir.ArrayType):
            choose_array(builder, first, index, items)
        else:
            operands = (index, *items)
            builder.emit(ir.Operation(first, "choose", operands, builder.site()))
        _step(builder, index, ONE)
        return first, more


@dataclass(frozen=True)
class OfArray(Iterator):
    """What an array holds; `index` is the number of what comes next."""

    index: str
    array: str

    def next(self, builder):
        more = self.more(builder)
        with _where(builder, more):
            first = self.read(builder, self.place(builder))
            self.move(builder)
        return first, more

    def ahead(self, builder):
        def move():
            place = self.place(builder)
            self.move(builder)
            return lambda: self.read(builder, place)

        return self.more(builder), move

    def move(self, builder):
        """Go on to what follows."""
        _step(builder, self.index, ONE)

    def element(self, builder, place, axes=0, view=False):
        """What is at a place: an element, or a part with these axes."""
        array, dtype = self.array, builder.type_of(self.array).dtype
        view = view or axes > 0 or dtype.names is not None
        first = builder.new_name(ir.ArrayType(dtype, axes) if view else dtype, "item")
        builder.arrays.alias(first, array)
        read, reference = ir.View if view else ir.Load, builder.reference("load", array)
        builder.emit(read(first, array, place, reference))
        return first


class Rows(OfArray):
    """The elements of an array of one axis, the parts of one of several."""

    def more(self, builder):
        """Is there one?"""
        size = array_number(builder, self.array, "shape0")
        return builder.truth("lt", (self.index, size))

    def place(self, builder):
        """The index of what comes next."""
        return (_kept(builder, self.index),)

    def read(self, builder, place):
        """What is there."""
        return self.element(builder, place, builder.type_of(self.array).ndim - 1)

    def all(self, builder, count):
        """The items of an array of this length; other lengths end the thread."""
        length = array_number(builder, self.array, "shape0")
        _end_unless(builder, builder.truth("eq", (length, ir.Const(np.int64(count)))))
        axes = builder.type_of(self.array).ndim - 1
        places = [(ir.Const(np.int64(place)),) for place in range(count)]
        return tuple(self.element(builder, place, axes) for place in places)


@dataclass(frozen=True)
class Elements(OfArray):
    """All elements of an array, by their number; as arrays without axes in a `view`,
    and with their indices if they are `numbered`.
    """

    order: str = "C"
    view: bool = False
    numbered: bool = False

    def more(self, builder):
        """Is there one?"""
        size = array_number(builder, self.array, "size")
        return builder.truth("lt", (self.index, size))

    def place(self, builder):
        """The indices of what comes next."""
        index = _kept(builder, self.index)
        return unravelled(builder, self.array, index, self.order)

    def read(self, builder, place):
        """What is there."""
        first = self.element(builder, place, view=self.view)
        return (place, first) if self.numbered else first


@dataclass(frozen=True)
class Indices(Iterator):
    """All indices of an array of these sizes."""

    index: str
    sizes: tuple

    def next(self, builder):
        count = ONE
        for size in self.sizes:
            count = index_operation(builder, "mul", count, size)
        more = builder.truth("lt", (self.index, count))
        indices = unravelled_in(builder, self.sizes, _kept(builder, self.index))
        _step(builder, self.index, ONE)
        return indices, more


@dataclass(frozen=True)
class Enumerated(Iterator):
    """What another iterator gives, each with its number."""

    count: str
    inner: Iterator

    def next(self, builder):
        number = _kept(builder, self.count)
        first, more = self.inner.next(builder)
        _step(builder, self.count, ONE)
        return (number, first), more

    def ahead(self, builder):
        number = _kept(builder, self.count)
        more, inner = self.inner.ahead(builder)

        def move():
            read = inner()
            _step(builder, self.count, ONE)
            return lambda: (number, read())

        return more, move


@dataclass(frozen=True)
class Zipped(Iterator):
    """What several iterators give, as long as all do; one that has ended ends it, and
    those behind it stay where they are.
    """

    inner: tuple

    def next(self, builder):
        with self._while_all(builder) as (more, reads):
            first = tuple(read() for read in reads)
        return first, more

    def ahead(self, builder):
        with self._while_all(builder) as (more, reads):
            pass
        return more, lambda: lambda: tuple(read() for read in reads)

    @contextmanager
    def _while_all(self, builder):
        """Move each on if there is more; where all have, what reads them."""
        all_more, reads = builder.new_name(np.dtype(np.bool_), "more"), []
        after = builder.body.new_block()
        for iterator in self.inner:
            more, move = iterator.ahead(builder)
            builder.emit(ir.Copy((all_more,), (more,)))
            inside = builder.body.new_block()
            builder.leave(ir.Branch(more, inside, after, builder.site()))
            builder.block = inside
            reads.append(move())
        yield all_more, reads
        builder.continue_in(after)


@contextmanager
def _where(builder, condition):
    """Emit what only the threads do for which a condition holds."""
    inside, after = builder.body.new_block(), builder.body.new_block()
    builder.leave(ir.Branch(condition, inside, after, builder.site()))
    builder.block = inside
    yield
    builder.continue_in(after)


def _kept(builder, variable) -> str:
    """A copy of a variable that is about to change."""
    copy = builder.new_name(builder.type_of(variable), "now")
    builder.emit(ir.Copy((copy,), (variable,)))
    return copy


def _step(builder, variable, step):
    operands = (variable, step)
    builder.emit(ir.Operation(variable, "add", operands, builder.site()))


# where iterators begin


def getiter(builder, target, value):
    """`for … in value`, before the loop."""
    builder.loops.iterators[target] = _iterator(builder, target, value.value)


def _iterator(builder, name, variable):
    """The iterator over what a variable holds, at its beginning."""
    source = variable.name
    if source in builder.loops.iterators:
        return builder.loops.iterators[source]
    if type(builder.numba_type(source)).__name__ == "RangeType":
        dtype = our_type(builder.numba_type(source).dtype)
        packed = builder.tuples.packed[source]
        parts = zip(("next", "stop", "step"), packed, strict=True)
        return Range(*[_begin(builder, f"{name}.{p}", o, dtype) for p, o in parts])
    if source in builder.arrays.flats:
        array = builder.arrays.flats[source]
        return Elements(_begin_index(builder, name), array)
    operand = builder.operand(source)
    dtype = builder.type_of(operand)
    if isinstance(dtype, tuple):
        items = builder.items(source)
        return Items(_begin_index(builder, name), items)
    if not isinstance(dtype, ir.ArrayType):
        builder.refuse(
            "a loop iterates over a `range`, a tuple or an array here: use "
            "`range(n)` and index"
        )
    return Rows(_begin_index(builder, name), operand)


def _begin(builder, name, operand, dtype) -> str:
    """A variable of an iterator, with its first value."""
    ours = builder.declare(name, dtype)
    builder.emit(ir.Copy((ours,), (builder.cast(operand, dtype),)))
    return ours


def _begin_index(builder, name) -> str:
    """The variable of an iterator that counts from 0."""
    return _begin(builder, f"{name}.index", ZERO, INDEX)


def begin_enumerate(builder, target, arguments, signature):
    """`enumerate(…)`, with or without a start."""
    start = builder.operand(arguments[1]) if len(arguments) > 1 else ZERO
    inner = _iterator(builder, f"{target}.of", arguments[0])
    count = _begin(builder, f"{target}.count", start, INDEX)
    builder.loops.iterators[target] = Enumerated(count, inner)


def begin_zip(builder, target, arguments, signature):
    """`zip(…)`."""
    inner = (_iterator(builder, f"{target}.{n}", a) for n, a in enumerate(arguments))
    builder.loops.iterators[target] = Zipped(tuple(inner))


def begin_nditer(builder, target, arguments, signature):
    """`np.nditer(array)`."""
    order = builder.numba_type(target).layout
    operands = builder.items(arguments[0])
    if len(operands) != 1 or order not in "CF":
        builder.refuse("`np.nditer` iterates over one array here: index the others")
    index = _begin_index(builder, target)
    builder.loops.iterators[target] = Elements(index, operands[0], order, view=True)


def begin_ndenumerate(builder, target, arguments, signature):
    """`np.ndenumerate(array)`."""
    array = builder.operand(arguments[0])
    index = _begin_index(builder, target)
    builder.loops.iterators[target] = Elements(index, array, numbered=True)


def begin_ndindex(builder, target, arguments, signature):
    """`np.ndindex(*sizes)`."""
    sizes = tuple(builder.cast(s, INDEX) for a in arguments for s in builder.items(a))
    builder.loops.iterators[target] = Indices(_begin_index(builder, target), sizes)


def begin_iterator(builder, target, arguments, signature):
    """`iter(…)`."""
    builder.loops.iterators[target] = _iterator(builder, target, arguments[0])


# how they go on


def next_item(builder, target, arguments, signature):
    """`next(iterator)`."""
    first, _ = builder.loops.iterators[arguments[0].name].next(builder)
    builder.bind(target, first)


def iternext(builder, target, value):
    """A step of a loop: what comes next, and is there one?"""
    iterator = builder.loops.iterators[value.value.name]
    builder.loops.pairs[target] = iterator.next(builder)


def pair_first(builder, target, value):
    """What came next."""
    first = builder.loops.pairs[value.value.name][0]
    if isinstance(first, tuple):
        return repack(builder, target, tuple(_flat(builder, item) for item in first))
    builder.bind(target, first)


def _flat(builder, item):
    """A tuple within a tuple, as a variable of its own."""
    if not isinstance(item, tuple):
        return item
    items = tuple(_flat(builder, it) for it in item)
    name = builder.new_name(tuple(builder.type_of(it) for it in items), "pair")
    builder.emit(ir.Pack(name, items))
    return name


def unpack(builder, target, value):
    """`a, b = value`, before its items are taken: of a tuple, or of what is iterated.

    As in Numba, too few items or too many end the thread.
    """
    if isinstance(builder.our_type(value.value), tuple):
        return pack(builder, target, builder.items(value.value))
    iterator = _iterator(builder, target, value.value)
    if isinstance(iterator, Rows):
        return pack(builder, target, iterator.all(builder, value.count))
    items = []
    for _ in range(value.count):
        item, more = iterator.next(builder)
        _end_unless(builder, more)
        items.append(_flat(builder, item))
    _, more = iterator.next(builder)
    _end_unless(builder, builder.truth("not", (more,)))
    pack(builder, target, tuple(items))


def _end_unless(builder, condition):
    """End the threads that have too few items to unpack, or too many."""
    wrong = builder.truth("not", (condition,))
    builder.end_threads_where(wrong, ValueError, "too few or too many values to unpack")


def pair_second(builder, target, value):
    """Was there something?"""
    builder.bind(target, builder.loops.pairs[value.value.name][1])


def each_cell(builder, array, indices, body):
    """Emit a loop over the axes of an array that are left, with `body` within."""
    if len(indices) == builder.type_of(array).ndim:
        return body(indices)
    index = builder.new_name(INDEX, "cell")
    builder.emit(ir.Copy((index,), (ZERO,)))
    again, inside, after = (builder.body.new_block() for _ in range(3))
    builder.continue_in(again)
    length = array_number(builder, array, f"shape{len(indices)}")
    more = builder.truth("lt", (index, length))
    builder.leave(ir.Branch(more, inside, after, builder.site()))
    builder.block = inside
    each_cell(builder, array, (*indices, index), body)
    _step(builder, index, ONE)
    builder.continue_in(again)
    builder.block = after

"""What a loop iterates over: a range, a tuple, an array, and what `enumerate` and `zip`
make of them.

An iterator is a variable or two of its own, which `next` reads and moves on. An array's
element is loaded only where there is one, and within `zip` only where every array has
one: the compiler leaves out the load of what is dropped.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.lower.arrays import (
    array_number,
    unravelled,
    unravelled_in,
)
from thirty_two_lanes.frontend.lower.builder import ONE, index_constant
from thirty_two_lanes.frontend.lower.tuples import choose


class Iterator:
    """What gives one thing after the other.

    `next` emits a step: it gives what comes next, an operand or a tuple of them, and
    whether there is one. `ahead` leaves the rest to its caller.
    """

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
        first = kept(builder, self.following)
        more = builder.truth("in range", self.following, self.stop, self.step)
        advance(builder, self.following, self.step)
        return first, more


@dataclass(frozen=True)
class Items(Iterator):
    """The items of a tuple."""

    index: str
    items: tuple

    def next(self, builder):
        index, items = self.index, self.items
        more = builder.truth("lt", index, index_constant(len(items)))
        first = builder.new_name(builder.type_of(items[0]), "item")
        choose(builder, first, index, items)
        advance(builder, index, ONE)
        return first, more


@dataclass(frozen=True)
class OfArray(Iterator):
    """What an array holds; `index` is the number of what comes next."""

    index: str
    array: str

    def next(self, builder):
        more = self.more(builder)
        after = builder.branch(more)
        first = self.read(builder, self.indices(builder))
        advance(builder, self.index, ONE)
        builder.continue_in(after)
        return first, more

    def ahead(self, builder):
        def move():
            indices = self.indices(builder)
            advance(builder, self.index, ONE)
            return lambda: self.read(builder, indices)

        return self.more(builder), move

    def more(self, builder):
        """Is there one?"""
        size = array_number(builder, self.array, self.size)
        return builder.truth("lt", self.index, size)

    def element(self, builder, indices, axes=0, view=False):
        """What is at these indices: an element, or a part with these axes."""
        array, dtype = self.array, builder.type_of(self.array).dtype
        view = view or axes > 0 or dtype.names is not None
        first = builder.new_name(ir.ArrayType(dtype, axes) if view else dtype, "item")
        builder.arrays.alias(first, array)
        read, reference = ir.View if view else ir.Load, builder.reference("load", array)
        builder.emit(read(first, array, indices, reference))
        return first


class Rows(OfArray):
    """The elements of an array of one axis, the parts of one of several."""

    size = "shape0"

    def indices(self, builder):
        """The index of what comes next."""
        return (kept(builder, self.index),)

    def read(self, builder, indices):
        """What is there."""
        return self.element(builder, indices, builder.type_of(self.array).ndim - 1)

    def all(self, builder, count):
        """The items of an array of this length; other lengths end the thread."""
        length = array_number(builder, self.array, self.size)
        end_unless(builder, builder.truth("eq", length, index_constant(count)))
        rows = map(index_constant, range(count))
        return tuple(self.read(builder, (row,)) for row in rows)


@dataclass(frozen=True)
class Elements(OfArray):
    """All elements of an array, by their number; as arrays without axes in a `view`,
    and with their indices if they are `numbered`.
    """

    order: str = "C"
    view: bool = False
    numbered: bool = False
    size = "size"

    def indices(self, builder):
        """The indices of what comes next."""
        index = kept(builder, self.index)
        return unravelled(builder, self.array, index, self.order)

    def read(self, builder, indices):
        """What is there."""
        first = self.element(builder, indices, view=self.view)
        return (indices, first) if self.numbered else first


@dataclass(frozen=True)
class Indices(Iterator):
    """All indices of an array of these sizes."""

    index: str
    sizes: tuple

    def next(self, builder):
        count = ONE
        for size in self.sizes:
            count = builder.index("mul", count, size)
        more = builder.truth("lt", self.index, count)
        indices = unravelled_in(builder, self.sizes, kept(builder, self.index))
        advance(builder, self.index, ONE)
        return indices, more


@dataclass(frozen=True)
class Enumerated(Iterator):
    """What another iterator gives, each with its number."""

    count: str
    inner: Iterator

    def next(self, builder):
        number = kept(builder, self.count)
        first, more = self.inner.next(builder)
        advance(builder, self.count, ONE)
        return (number, first), more

    def ahead(self, builder):
        number = kept(builder, self.count)
        more, inner = self.inner.ahead(builder)

        def move():
            read = inner()
            advance(builder, self.count, ONE)
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
            builder.branch(more, after)
            reads.append(move())
        yield all_more, reads
        builder.continue_in(after)


def kept(builder, variable) -> str:
    """A copy of a variable that is about to change."""
    copy = builder.new_name(builder.type_of(variable), "now")
    builder.emit(ir.Copy((copy,), (variable,)))
    return copy


def advance(builder, variable, step):
    operands = (variable, step)
    builder.emit(ir.Operation(variable, "add", operands, builder.site()))


def end_unless(builder, condition):
    """End the threads that have too few items to unpack, or too many."""
    wrong = builder.truth("not", condition)
    builder.end_threads_where(wrong, ValueError, "too few or too many values to unpack")

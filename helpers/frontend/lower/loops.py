"""Loops: over `range`, a tuple, an array, `enumerate` and `zip`; a mix-in of Lowering.

An iterator is a variable or two of its own, which `iternext` reads and moves on. An
array's element is loaded only where there is one, so that loads count as on a GPU.
"""

from dataclasses import dataclass

import numpy as np

from helpers.core import ir
from helpers.frontend.types import our_type

INDEX = np.dtype(np.int64)
ONE, ZERO = ir.Const(np.int64(1)), ir.Const(np.int64(0))


@dataclass(frozen=True)
class Iterator:
    """What is iterated over, and the variables that hold how far."""

    kind: str  # a method `_next_of_<kind>`
    state: tuple[str, ...]
    parts: tuple  # the items of a tuple, an array, sizes, or iterators within


class Iteration:
    """How iterators begin and go on."""

    def _expr_getiter(self, target, value):
        self.iterators[target] = self._iterator(target, value.value)

    def _iterator(self, name, variable) -> Iterator:
        """The iterator over what a variable holds, at its beginning."""
        source = variable.name
        kind = type(self.numba_type(source)).__name__
        if source in self.iterators:
            return self.iterators[source]
        if kind == "RangeType":
            dtype = our_type(self.numba_type(source).dtype)
            parts = zip(("next", "stop", "step"), self.packed[source], strict=True)
            state = tuple(self._begin(f"{name}.{p}", o, dtype) for p, o in parts)
            return Iterator("range", state, ())
        if source in self.flats:
            return self._over_elements("elements", name, self.flats[source])
        operand = self.operand(source)
        dtype = self.type_of(operand)
        if isinstance(dtype, tuple):
            items, kind = self.items(source), "tuple"
        elif isinstance(dtype, ir.ArrayType):
            items, kind = (operand,), "array"
        else:
            self.refuse(
                "loops go over a `range`, a tuple or an array here: loop over "
                "`range(n)` and index"
            )
        return Iterator(kind, (self._begin(f"{name}.index", ZERO, INDEX),), items)

    def _begin(self, name, operand, dtype) -> str:
        """A variable of an iterator, with its first value."""
        ours = self.declare(name, dtype)
        self.emit(ir.Copy((ours,), (self.cast(operand, dtype),)))
        return ours

    def _builtin_enumerate(self, target, arguments, signature):
        start = self.operand(arguments[1]) if len(arguments) > 1 else ZERO
        inner = self._iterator(f"{target}.of", arguments[0])
        state = (self._begin(f"{target}.count", start, INDEX),)
        self.iterators[target] = Iterator("enumerate", state, (inner,))

    def _builtin_zip(self, target, arguments, signature):
        inner = (self._iterator(f"{target}.{n}", a) for n, a in enumerate(arguments))
        self.iterators[target] = Iterator("zip", (), tuple(inner))

    def _over_elements(self, kind, name, array, order="C"):
        """An iterator over all elements of an array, by their number."""
        state = (self._begin(f"{name}.index", ZERO, INDEX),)
        return Iterator(kind, state, (array, order))

    def _builtin_nditer(self, target, arguments, signature):
        kind = self.numba_type(target)
        operands = self.items(arguments[0])
        if len(operands) != 1 or kind.layout not in "CF":
            self.refuse("`np.nditer` goes over one array here: index the others")
        self.iterators[target] = self._over_elements(
            "parts", target, operands[0], kind.layout
        )

    def _builtin_ndenumerate(self, target, arguments, signature):
        array = self.operand(arguments[0])
        self.iterators[target] = self._over_elements("numbered", target, array)

    def _builtin_ndindex(self, target, arguments, signature):
        sizes = tuple(self.cast(s, INDEX) for a in arguments for s in self.items(a))
        state = (self._begin(f"{target}.index", ZERO, INDEX),)
        self.iterators[target] = Iterator("indices", state, sizes)

    def _builtin_iter(self, target, arguments, signature):
        self.iterators[target] = self._iterator(target, arguments[0])

    def _builtin_next(self, target, arguments, signature):
        first, _ = self._advance(self.iterators[arguments[0].name])
        self._bind(target, first)

    def _expr_iternext(self, target, value):
        self.pairs[target] = self._advance(self.iterators[value.value.name])

    def _advance(self, iterator):
        """What comes next, an operand or a tuple of them, and is there one?"""
        return getattr(self, f"_next_of_{iterator.kind}")(iterator)

    def _next_of_range(self, iterator):
        following, stop, step = iterator.state
        first = self._kept(following)
        more = self._truth("in range", (following, stop, step))
        self._step(following, step)
        return first, more

    def _next_of_tuple(self, iterator):
        (index,), items = iterator.state, iterator.parts
        more = self._truth("lt", (index, ir.Const(np.int64(len(items)))))
        first = self.new_name(self.type_of(items[0]), "item")
        if isinstance(self.type_of(first), ir.ArrayType):
            self._choose_array(first, index, items)
        else:
            self.emit(ir.Operation(first, "choose", (index, *items), self.site()))
        self._step(index, ONE)
        return first, more

    def _next_of_array(self, iterator):
        (index,), (array,) = iterator.state, iterator.parts
        more = self._truth("lt", (index, self._array_number(array, "shape0")))
        dtype = self.type_of(array)
        row = ir.ArrayType(dtype.dtype, dtype.ndim - 1)
        record = dtype.dtype.names is not None
        part = record or row.ndim > 0
        first = self.new_name(row if part else dtype.dtype, "item")
        self.aliases[first] = self.aliases.get(array, array)
        inside, after = self.program.new_block(), self.program.new_block()
        self._leave(ir.Branch(more, inside, after, self.site()))
        self.block = inside
        read = ir.View if part else ir.Load
        self.emit(read(first, array, (index,), self.reference("load", array)))
        self._step(index, ONE)
        self._leave(ir.Jump(after))
        self.block = after
        return first, more

    def _next_of_elements(self, iterator):
        return self._next_element(iterator)[1:]

    def _next_of_parts(self, iterator):
        return self._next_element(iterator, view=True)[1:]

    def _next_of_numbered(self, iterator):
        indices, first, more = self._next_element(iterator)
        return (indices, first), more

    def _next_element(self, iterator, view=False):
        """The indices of what comes next, the element, and is there one?"""
        (index,), (array, order) = iterator.state, iterator.parts
        more = self._truth("lt", (index, self._array_number(array, "size")))
        dtype = self.type_of(array).dtype
        view = view or dtype.names is not None
        first = self.new_name(ir.ArrayType(dtype, 0) if view else dtype, "item")
        self.aliases[first] = self.aliases.get(array, array)
        inside, after = self.program.new_block(), self.program.new_block()
        self._leave(ir.Branch(more, inside, after, self.site()))
        self.block = inside
        indices = self.unravelled(array, self._kept(index), order)
        read = ir.View if view else ir.Load
        self.emit(read(first, array, indices, self.reference("load", array)))
        self._step(index, ONE)
        self._leave(ir.Jump(after))
        self.block = after
        return indices, first, more

    def _next_of_indices(self, iterator):
        (index,), sizes = iterator.state, iterator.parts
        count = ONE
        for size in sizes:
            count = self._of_index("mul", count, size)
        more = self._truth("lt", (index, count))
        indices = self.unravelled_in(sizes, self._kept(index))
        self._step(index, ONE)
        return indices, more

    def _next_of_enumerate(self, iterator):
        (count,), (inner,) = iterator.state, iterator.parts
        number = self._kept(count)
        first, more = self._advance(inner)
        self._step(count, ONE)
        return (number, first), more

    def _next_of_zip(self, iterator):
        pairs = [self._advance(inner) for inner in iterator.parts]
        more = pairs[0][1]
        for _, other in pairs[1:]:
            more = self._truth("and", (more, other))
        return tuple(first for first, _ in pairs), more

    def _kept(self, variable) -> str:
        """A copy of a variable that is about to change."""
        copy = self.new_name(self.type_of(variable), "now")
        self.emit(ir.Copy((copy,), (variable,)))
        return copy

    def _truth(self, operator, operands) -> str:
        target = self.new_name(np.dtype(np.bool_), "more")
        self.emit(ir.Operation(target, operator, operands, self.site()))
        return target

    def _step(self, variable, step):
        self.emit(ir.Operation(variable, "add", (variable, step), self.site()))

    def _expr_pair_first(self, target, value):
        first = self.pairs[value.value.name][0]
        if isinstance(first, tuple):
            return self._repack(target, tuple(map(self._flat, first)))
        self._bind(target, first)

    def _flat(self, item):
        """A tuple within a tuple, as a variable of its own."""
        if not isinstance(item, tuple):
            return item
        items = tuple(map(self._flat, item))
        name = self.new_name(tuple(self.type_of(it) for it in items), "pair")
        self.emit(ir.Pack(name, items))
        return name

    def _expr_pair_second(self, target, value):
        self._bind(target, self.pairs[value.value.name][1])

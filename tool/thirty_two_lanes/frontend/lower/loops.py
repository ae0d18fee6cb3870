"""Loops: over `range`, a tuple, an array, `enumerate` and `zip`, as Numba's IR writes
them: where their iterators begin, and how they go on.
"""

from thirty_two_lanes.core import ir
from thirty_two_lanes.frontend.lower.builder import INDEX, ZERO
from thirty_two_lanes.frontend.lower.iterators import (
    Elements,
    Enumerated,
    Indices,
    Items,
    Range,
    Rows,
    Zipped,
    end_unless,
)
from thirty_two_lanes.frontend.lower.tuples import pack, repack
from thirty_two_lanes.frontend.types import our_type

# where iterators begin


def getiter(builder, target, value):
    """`for … in value`, before the loop."""
    builder.iterators[target] = _iterator(builder, target, value.value)


def _iterator(builder, name, variable):
    """The iterator over what a variable holds, at its beginning."""
    source = variable.name
    if source in builder.iterators:
        return builder.iterators[source]
    if builder.kind(source) == "RangeType":
        dtype = our_type(builder.numba_type(source).dtype)
        packed = builder.range_of(source)
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
    builder.iterators[target] = Enumerated(count, inner)


def begin_zip(builder, target, arguments, signature):
    """`zip(…)`."""
    inner = (_iterator(builder, f"{target}.{n}", a) for n, a in enumerate(arguments))
    builder.iterators[target] = Zipped(tuple(inner))


def begin_nditer(builder, target, arguments, signature):
    """`np.nditer(array)`."""
    order = builder.numba_type(target).layout
    operands = builder.items(arguments[0])
    one = len(operands) == 1 and isinstance(builder.type_of(operands[0]), ir.ArrayType)
    if not one or order not in "CF":
        builder.refuse("`np.nditer` iterates over one array here: index the others")
    index = _begin_index(builder, target)
    builder.iterators[target] = Elements(index, operands[0], order, view=True)


def begin_ndenumerate(builder, target, arguments, signature):
    """`np.ndenumerate(array)`."""
    array = builder.operand(arguments[0])
    index = _begin_index(builder, target)
    builder.iterators[target] = Elements(index, array, numbered=True)


def begin_ndindex(builder, target, arguments, signature):
    """`np.ndindex(*sizes)`."""
    sizes = tuple(builder.cast(s, INDEX) for a in arguments for s in builder.items(a))
    builder.iterators[target] = Indices(_begin_index(builder, target), sizes)


def begin_iterator(builder, target, arguments, signature):
    """`iter(…)`."""
    builder.iterators[target] = _iterator(builder, target, arguments[0])


# how they go on


def next_item(builder, target, arguments, signature):
    """`next(iterator)`."""
    if arguments[0].name not in builder.iterators:
        builder.refuse("`next` takes what `iter(…)` gives here")
    first, _ = builder.iterators[arguments[0].name].next(builder)
    _bind(builder, target, first)


def iternext(builder, target, value):
    """A step of a loop: what comes next, and is there one?"""
    iterator = builder.iterators[value.value.name]
    builder.pairs[target] = iterator.next(builder)


def pair_first(builder, target, value):
    """What came next."""
    _bind(builder, target, builder.pairs[value.value.name][0])


def _bind(builder, target, item):
    """Give what an iterator gave a name: an operand, or a tuple of them."""
    if isinstance(item, tuple):
        return repack(builder, target, tuple(_flat(builder, inner) for inner in item))
    builder.bind(target, item)


def _flat(builder, item):
    """A tuple within a tuple, as a variable of its own."""
    if not isinstance(item, tuple):
        return item
    items = tuple(_flat(builder, inner) for inner in item)
    return builder.pack(items, tuple(map(builder.type_of, items)), "pair")


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
        end_unless(builder, more)
        items.append(_flat(builder, item))
    _, more = iterator.next(builder)
    end_unless(builder, builder.truth("not", more))
    pack(builder, target, tuple(items))


def pair_second(builder, target, value):
    """Was there something?"""
    builder.bind(target, builder.pairs[value.value.name][1])

"""Addresses of elements in intrinsics, whose indices count as Numba's own do."""

from llvmlite import ir
from numba.core import types

from thirty_two_lanes.frontend.target import target

COUNT = 4  # elements of a wide access
FOUR_BYTES = types.float32, types.int32, types.uint32
SHARED = 3  # the address space
ADDRESS = ir.IntType(32)


def require_elements(name, array, index, elements):
    """Refuse an array or an index that an intrinsic cannot take."""
    if not isinstance(array, types.Array) or array.dtype not in elements:
        *others, last = (str(dtype) for dtype in elements)
        kinds = f"{', '.join(others)} or {last}"
        raise TypeError(f"`{name}` takes an array of {kinds}, not {array}")
    if array.layout != "C":
        raise TypeError(f"`{name}` takes a contiguous array, not {array}")
    parts = index.types if isinstance(index, types.BaseTuple) else (index,)
    if len(parts) != array.ndim or not all(isinstance(p, types.Integer) for p in parts):
        raise TypeError(f"`{name}` takes as many indices as the array has axes")


def element(context, builder, array, index, data, place):
    """A pointer to `array[index]`, in the generic address space."""
    made, offset = _offset(context, builder, array, index, data, place)
    return builder.gep(made.data, [offset])


def shared_pointer(context, builder, array, index, data, place):
    """The address of `array[index]` in shared memory, by a pointer as elsewhere."""
    ours = element(context, builder, array, index, data, place)
    ours = builder.addrspacecast(ours, ours.type.pointee.as_pointer(SHARED))
    return builder.ptrtoint(ours, ADDRESS)


def shared_address(context, builder, array, index, data, place):
    """The same in numbers of 32 bits: what is known of an index then becomes part of
    the instruction that uses it.
    """
    made, offset = _offset(context, builder, array, index, data, place)
    start = builder.addrspacecast(made.data, made.data.type.pointee.as_pointer(SHARED))
    offset = builder.trunc(offset, ADDRESS)
    size = ir.Constant(ADDRESS, array.dtype.bitwidth // 8)
    return builder.add(builder.ptrtoint(start, ADDRESS), builder.mul(offset, size))


def _offset(context, builder, array, index, data, place):
    """An array, and the number of the element `array[index]`."""
    made = target.make_array(array)(context, builder, data)
    parts = [place]
    kinds = [index]
    if isinstance(index, types.BaseTuple):
        kinds = list(index.types)
        parts = [builder.extract_value(place, k) for k in range(len(kinds))]
    shape = [builder.extract_value(made.shape, k) for k in range(len(kinds))]
    offset = ir.Constant(ir.IntType(64), 0)
    for part, kind, size in zip(parts, kinds, shape, strict=True):
        part = context.cast(builder, part, kind, types.intp)
        if kind.signed:  # a negative index counts from the end
            negative = builder.icmp_signed("<", part, ir.Constant(part.type, 0))
            part = builder.select(negative, builder.add(part, size), part)
        offset = builder.add(builder.mul(offset, size), part)
    return made, offset

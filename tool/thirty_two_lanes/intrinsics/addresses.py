"""Addresses of elements in intrinsics, whose indices count as Numba's own do."""

from llvmlite import ir
from numba.core import types

from thirty_two_lanes.frontend.target import target

COUNT = 4  # elements of a wide access
FOUR_BYTES = types.float32, types.int32, types.uint32


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
    return builder.gep(made.data, [offset])

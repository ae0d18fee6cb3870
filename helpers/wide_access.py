"""Wide loads and stores: four neighbours of 4 bytes in one request of 16.

Numba makes none by itself. These are intrinsics, for kernels on a GPU, and their twins,
for the emulator.
"""

from llvmlite import ir
from numba.core import types

from helpers.emulator import twin
from helpers.frontend.target import target

COUNT = 4  # elements of one request
ALIGNMENT = 16  # bytes
_ELEMENTS = {
    types.float32: ir.FloatType(),
    types.int32: ir.IntType(32),
    types.uint32: ir.IntType(32),
}


@target.intrinsic
def load4(typingctx, array, index):
    """`array[index]` and the next three, by one load; `index` is a multiple of 4."""
    _check(array, index)
    signature = types.UniTuple(array.dtype, COUNT)(array, index)

    def codegen(context, builder, signature, arguments):
        array, index = signature.args
        pointer = _pointer(context, builder, array, index, *arguments)
        loaded = builder.load(pointer)
        loaded.align = ALIGNMENT
        items = [builder.extract_element(loaded, _number(k)) for k in range(COUNT)]
        return context.make_tuple(builder, signature.return_type, items)

    return signature, codegen


@target.intrinsic
def store4(typingctx, array, index, values):
    """Store four values to `array[index]` and the next three, by one store."""
    _check(array, index)
    if not isinstance(values, types.BaseTuple) or len(values) != COUNT:
        raise TypeError(f"`store4` stores a tuple of four numbers, not {values}")
    wanted = types.UniTuple(array.dtype, COUNT)
    signature = types.void(array, index, wanted)

    def codegen(context, builder, signature, arguments):
        array, index, _ = signature.args
        pointer = _pointer(context, builder, array, index, *arguments[:2])
        vector = ir.Constant(pointer.type.pointee, ir.Undefined)
        for k in range(COUNT):
            item = builder.extract_value(arguments[2], k)
            vector = builder.insert_element(vector, item, _number(k))
        builder.store(vector, pointer).align = ALIGNMENT
        return context.get_dummy_value()

    return signature, codegen


def _check(array, index):
    """Can these be meant?"""
    if not isinstance(array, types.Array) or array.dtype not in _ELEMENTS:
        raise TypeError(
            "`load4` and `store4` take an array of float32, int32 or uint32, not "
            f"{array}"
        )
    if array.layout != "C":
        raise TypeError(f"`load4` and `store4` take a contiguous array, not {array}")
    parts = index.types if isinstance(index, types.BaseTuple) else (index,)
    if len(parts) != array.ndim or not all(isinstance(p, types.Integer) for p in parts):
        raise TypeError(
            "`load4` and `store4` take as many indices as the array has axes"
        )


def _number(k):
    return ir.Constant(ir.IntType(32), k)


def _pointer(context, builder, array, index, data, place):
    """The address of the first of the four, as that of a vector."""
    made = target.make_array(array)(context, builder, data)
    parts = [place]
    kinds = [index]
    if isinstance(index, types.BaseTuple):
        kinds = list(index.types)
        parts = [builder.extract_value(place, k) for k in range(len(kinds))]
    shape = [builder.extract_value(made.shape, k) for k in range(len(kinds))]
    offset = ir.Constant(ir.IntType(64), 0)
    for part, kind, size in zip(parts, kinds, shape, strict=True):
        wide = types.intp if kind.signed else types.uintp
        part = context.cast(builder, part, kind, wide)
        if kind.signed:  # a negative index counts from the end
            negative = builder.icmp_signed("<", part, ir.Constant(part.type, 0))
            part = builder.select(negative, builder.add(part, size), part)
        offset = builder.add(builder.mul(offset, size), part)
    vector = ir.VectorType(_ELEMENTS[array.dtype], COUNT)
    return builder.bitcast(builder.gep(made.data, [offset]), vector.as_pointer())


@twin(load4)
def _load4(array, index):
    return array.load(index, COUNT)


@twin(store4)
def _store4(array, index, values):
    array.store(index, values)

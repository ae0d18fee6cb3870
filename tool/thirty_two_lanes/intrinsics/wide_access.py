"""Wide loads and stores: four neighbours of 4 bytes in one request of 16.

Numba makes none by itself. These are intrinsics, for kernels on a GPU, and their twins,
for the emulator.
"""

from llvmlite import ir
from numba.core import types

from thirty_two_lanes.emulator import twin
from thirty_two_lanes.frontend.target import target
from thirty_two_lanes.intrinsics.addresses import (
    COUNT,
    FOUR_BYTES,
    element,
    require_elements,
)


@target.intrinsic
def load4(typingctx, array, index):
    """`array[index]` and the next three, by one load; `index` is a multiple of 4."""
    require_elements("load4", array, index, FOUR_BYTES)
    signature = types.UniTuple(array.dtype, COUNT)(array, index)

    def codegen(context, builder, signature, arguments):
        array, index = signature.args
        pointer = _vector(builder, element(context, builder, array, index, *arguments))
        loaded = builder.load(pointer)
        items = [builder.extract_element(loaded, _number(k)) for k in range(COUNT)]
        return context.make_tuple(builder, signature.return_type, items)

    return signature, codegen


@target.intrinsic
def store4(typingctx, array, index, values):
    """Store four values to `array[index]` and the next three, by one store."""
    require_elements("store4", array, index, FOUR_BYTES)
    given = f"one of {len(values)}" if isinstance(values, types.BaseTuple) else values
    if given != f"one of {COUNT}":
        raise TypeError(f"`store4` stores a tuple of four numbers, not {given}")
    wanted = types.UniTuple(array.dtype, COUNT)
    signature = types.void(array, index, wanted)

    def codegen(context, builder, signature, arguments):
        array, index, _ = signature.args
        place = element(context, builder, array, index, *arguments[:2])
        pointer = _vector(builder, place)
        vector = ir.Constant(pointer.type.pointee, ir.Undefined)
        for k in range(COUNT):
            item = builder.extract_value(arguments[2], k)
            vector = builder.insert_element(vector, item, _number(k))
        builder.store(vector, pointer)
        return context.get_dummy_value()

    return signature, codegen


def _number(k):
    return ir.Constant(ir.IntType(32), k)


def _vector(builder, pointer):
    """The address of the first of the four, as that of a vector, a multiple of 16."""
    vector = ir.VectorType(pointer.type.pointee, COUNT)
    return builder.bitcast(pointer, vector.as_pointer())


@twin(load4, loads=True)
def _load4(array, index):
    return array.load(index, COUNT)


@twin(store4)
def _store4(array, index, values):
    array.store(index, values)

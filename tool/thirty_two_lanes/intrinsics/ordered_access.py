"""Loads that acquire and stores that release: how a thread hands data to threads of
other blocks without an atomic.

A thread that loads with `load_acquire` what another stored with `store_release` also
sees what that other did before (PTX ISA, "Memory consistency model"). Numba has
neither: they are PTX's `ld.acquire.gpu` and `st.release.gpu`, which become
LD.E.STRONG.GPU, and MEMBAR and ST.E.STRONG.GPU.
"""

from llvmlite import ir
from numba.core import types

from thirty_two_lanes.emulator import twin
from thirty_two_lanes.frontend.target import target
from thirty_two_lanes.intrinsics.addresses import element, require_elements

ELEMENTS = {  # the type in PTX, and the letter of a register
    types.int32: ("u32", "r"),
    types.uint32: ("u32", "r"),
    types.float32: ("f32", "f"),
    types.int64: ("u64", "l"),
    types.uint64: ("u64", "l"),
    types.float64: ("f64", "d"),
}


@target.intrinsic
def load_acquire(typingctx, array, index):
    """`array[index]`; what its storer did before it released it is visible after."""
    require_elements("load_acquire", array, index, ELEMENTS)
    signature = array.dtype(array, index)

    def codegen(context, builder, signature, arguments):
        array, index = signature.args
        pointer = element(context, builder, array, index, *arguments)
        kind, letter = ELEMENTS[array.dtype]
        function = ir.FunctionType(pointer.type.pointee, [pointer.type])
        text = f"ld.acquire.gpu.{kind} $0, [$1];"
        call = ir.InlineAsm(function, text, f"={letter},l,~{{memory}}", True)
        return builder.call(call, [pointer])

    return signature, codegen


@target.intrinsic
def store_release(typingctx, array, index, value):
    """`array[index] = value`, after all that this thread did before, and what it knows
    of others from a barrier.
    """
    require_elements("store_release", array, index, ELEMENTS)
    if not isinstance(value, types.Number):
        raise TypeError(f"`store_release` stores a number, not {value}")
    signature = types.void(array, index, array.dtype)

    def codegen(context, builder, signature, arguments):
        array, index, _ = signature.args
        pointer = element(context, builder, array, index, *arguments[:2])
        kind, letter = ELEMENTS[array.dtype]
        value = arguments[2]
        function = ir.FunctionType(ir.VoidType(), [pointer.type, value.type])
        text = f"st.release.gpu.{kind} [$0], $1;"
        call = ir.InlineAsm(function, text, f"l,{letter},~{{memory}}", True)
        builder.call(call, [pointer, value])
        return context.get_dummy_value()

    return signature, codegen


@twin(load_acquire)
def _load_acquire(array, index):
    return array.load_acquire(index)


@twin(store_release)
def _store_release(array, index, value):
    array.store_release(index, value)

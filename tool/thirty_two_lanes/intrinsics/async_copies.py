"""Asynchronous copies from global to shared memory: the thread goes on while they are
under way, and no register holds what they move.

Numba has none: they are PTX's `cp.async` (PTX ISA, "Data movement and conversion
instructions: non-bulk copy"), which becomes LDGSTS on a GPU of compute capability 8.0
or newer. A thread's copies since its last `commit_copies` are a group, and groups
arrive in order. What has arrived for one thread is not visible to others before a
barrier.

A copy counts as a load and a store of 16 bytes a lane. An H200 counts the same where a
warp copies 512 bytes to as many in a row, each to the same place within its line of
128: 16 sectors and 4 wavefronts. Not modelled: where these bytes are shifted, Nsight
Compute's count by instruction (`smsp__sass_..._op_ldgsts`) is 6 to 17 wavefronts. It
is a model of the tool's: the hardware's own counter of all wavefronts
(`l1tex__data_pipe_lsu_wavefronts`) is the same for 11 such shifts (2026-11-23).
"""

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from thirty_two_lanes.emulator import twin
from thirty_two_lanes.frontend.target import target
from thirty_two_lanes.intrinsics.addresses import (
    COUNT,
    FOUR_BYTES,
    element,
    require_elements,
)

SHARED = 3  # the address space
ADDRESS, POINTER = ir.IntType(32), ir.IntType(64)


@target.intrinsic
def copy4_async(typingctx, to, to_index, source, source_index):
    """Begin to copy `source[source_index]` and the next three, of global memory, to
    `to[to_index]`, of shared memory; both indices are multiples of 4. It becomes
    LDGSTS.E.BYPASS.128.
    """
    require_elements("copy4_async", to, to_index, FOUR_BYTES)
    require_elements("copy4_async", source, source_index, FOUR_BYTES)
    if to.dtype != source.dtype:
        raise TypeError(
            f"`copy4_async` copies elements of one type, not {source.dtype} to "
            f"{to.dtype}"
        )
    signature = types.void(to, to_index, source, source_index)

    def codegen(context, builder, signature, arguments):
        to, to_index, source, source_index = signature.args
        ours = element(context, builder, to, to_index, *arguments[:2])
        ours = builder.addrspacecast(ours, ours.type.pointee.as_pointer(SHARED))
        theirs = element(context, builder, source, source_index, *arguments[2:])
        operands = [builder.ptrtoint(ours, ADDRESS), builder.ptrtoint(theirs, POINTER)]
        text = "cp.async.cg.shared.global [$0], [$1], 16;"
        return _assembly(context, builder, text, "r,l", operands)

    return signature, codegen


@target.intrinsic
def commit_copies(typingctx):
    """Make a group of the copies that this thread began since its last one."""

    def codegen(context, builder, signature, arguments):
        return _assembly(context, builder, "cp.async.commit_group;")

    return types.void(), codegen


@target.intrinsic
def wait_copies(typingctx, pending):
    """Wait until at most `pending` of this thread's groups, a number written in the
    source, are under way.
    """
    if not isinstance(pending, types.IntegerLiteral):
        raise TypingError(f"`wait_copies` takes a number such as 0 or 1, not {pending}")
    count = pending.literal_value

    def codegen(context, builder, signature, arguments):
        return _assembly(context, builder, f"cp.async.wait_group {count};")

    return types.void(pending), codegen


def _assembly(context, builder, text, constraints="", operands=()):
    """An instruction that the compiler may not move past accesses of memory."""
    kinds = ir.FunctionType(ir.VoidType(), [it.type for it in operands])
    constraints = ",".join(filter(None, (constraints, "~{memory}")))
    call = ir.InlineAsm(kinds, text, constraints, side_effect=True)
    builder.call(call, list(operands))
    return context.get_dummy_value()


@twin(copy4_async)
def _copy4_async(to, to_index, source, source_index):
    to.copy_async(to_index, source, source_index, COUNT)


@twin(commit_copies, of_threads=True)
def _commit_copies(threads):
    threads.commit_copies()


@twin(wait_copies, of_threads=True)
def _wait_copies(threads, pending):
    threads.wait_copies(int(pending))

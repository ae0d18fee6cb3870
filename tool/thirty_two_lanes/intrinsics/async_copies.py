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
    shared_address,
    shared_pointer,
)

POINTER = ir.IntType(64)


@target.intrinsic
def copy4_async(typingctx, to, to_index, source, source_index):
    """Begin to copy `source[source_index]` and the next three, of global memory, to
    `to[to_index]`, of shared memory; both indices are multiples of 4. It becomes
    LDGSTS.E.BYPASS.128.
    """
    _require("copy4_async", to, to_index, source, source_index)
    text = "cp.async.cg.shared.global [$0], [$1], 16;"
    return types.void(to, to_index, source, source_index), _copying(text)


@target.intrinsic
def copy4_or_zero_async(typingctx, to, to_index, source, source_index, inside):
    """Like `copy4_async` where `inside` is true. Elsewhere the copy reads nothing and
    brings four zeros, and `source_index` may be anything.
    """
    _require("copy4_or_zero_async", to, to_index, source, source_index, inside)
    text = "cp.async.cg.shared.global.L2::128B [$0], [$1], 16, $2;"
    return types.void(to, to_index, source, source_index, inside), _copying(text, 16)


@target.intrinsic
def copy_or_zero_async(typingctx, to, to_index, source, source_index, inside):
    """Begin to copy `source[source_index]`, 4 bytes of global memory, to
    `to[to_index]`, of shared memory, where `inside` is true. Elsewhere the copy reads
    nothing and brings a zero. It becomes LDGSTS.E.
    """
    _require("copy_or_zero_async", to, to_index, source, source_index, inside)
    text = "cp.async.ca.shared.global.L2::128B [$0], [$1], 4, $2;"
    return types.void(to, to_index, source, source_index, inside), _copying(text, 4)


def _require(name, to, to_index, source, source_index, inside=types.boolean):
    """Refuse what a copy cannot take."""
    require_elements(name, to, to_index, FOUR_BYTES)
    require_elements(name, source, source_index, FOUR_BYTES)
    if to.dtype != source.dtype:
        raise TypeError(
            f"`{name}` copies elements of one type, not {source.dtype} to {to.dtype}"
        )
    if not isinstance(inside, types.Boolean):
        raise TypeError(f"`{name}` takes a condition such as `i < n`, not {inside}")


def _copying(text, size=0):
    """Code of an instruction, which reads so many bytes, or none where a condition is
    false.
    """
    there = shared_address if size else shared_pointer

    def codegen(context, builder, signature, arguments):
        to, to_index, source, source_index, *_ = signature.args
        ours = there(context, builder, to, to_index, *arguments[:2])
        theirs = element(context, builder, source, source_index, *arguments[2:4])
        operands = [ours, builder.ptrtoint(theirs, POINTER)]
        for inside in arguments[4:]:
            sizes = (ir.Constant(ir.IntType(32), it) for it in (size, 0))
            operands.append(builder.select(inside, *sizes))
        letters = "r,l,r" if size else "r,l"
        return _assembly(context, builder, text, letters, operands)

    return codegen


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


@twin(copy4_or_zero_async)
def _copy4_or_zero_async(to, to_index, source, source_index, inside):
    to.copy_async(to_index, source, source_index, COUNT, inside)


@twin(copy_or_zero_async)
def _copy_or_zero_async(to, to_index, source, source_index, inside):
    to.copy_async(to_index, source, source_index, 1, inside)


@twin(commit_copies, of_threads=True)
def _commit_copies(threads):
    threads.commit_copies()


@twin(wait_copies, of_threads=True)
def _wait_copies(threads, pending):
    threads.wait_copies(int(pending))

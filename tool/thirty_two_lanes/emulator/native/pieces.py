"""Basic blocks cut into pieces that can run thread by thread, each in one go.

A piece computes and loads, then stores at its end: so every load of the block's
lock-step order comes before the store, for all threads, and a piece that stops midway
has changed nothing. What has no machine code is a piece of its own, for NumPy.
"""

from dataclasses import dataclass, replace

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.emulator.codegen.liveness import operand_fields, reads, writes
from thirty_two_lanes.emulator.native import scalars

ENDS = (ir.Jump, ir.Branch, ir.Return, ir.WaitAtBarrier, ir.WaitForLanes)
GEOMETRY = {  # what a warp knows of itself from the start
    *(f"cuda.{n}.{a}" for n in ("threadIdx", "blockIdx", "blockDim") for a in "xyz"),
    *(f"cuda.gridDim.{a}" for a in "xyz"),
    *("cuda.grid", "cuda.gridsize", "cuda.laneid", "cuda.warpsize"),
}

SHUFFLES = {  # what makes a lane's number of the lane and the operand
    "cuda.shfl_sync": "or_",
    "cuda.shfl_up_sync": "sub",
    "cuda.shfl_down_sync": "add",
    "cuda.shfl_xor_sync": "xor",
}


@dataclass(frozen=True)
class Piece:
    """Some instructions of the block at `pc`; the last piece has its terminator.

    `leaves` are the variables that something behind the piece reads.
    """

    pc: int
    instructions: tuple
    end: object  # the terminator, or None
    native: bool
    leaves: tuple[str, ...]


def pieces_of(program, names, told=False) -> list[Piece]:
    """The pieces of a program, in order; `names` are the arrays' own. What the judges
    are told of a shuffle, NumPy's function knows.
    """
    found = []
    for pc, block in enumerate(program.ir.blocks):
        parts = list(_parts(without_copies(block, names), program.ir.types, told))
        later = {names.get(name, name) for name in _after(program, pc)}
        made = []
        for native, instructions in reversed(parts):
            *body, end = [*instructions, None]
            if body and isinstance(body[-1], ENDS):
                end = body.pop()
            if isinstance(end, (ir.WaitAtBarrier, ir.WaitForLanes)):
                later |= reads(end)  # by the machine
            written = dict.fromkeys(name for i in body for name in writes(i))
            leaves = tuple(name for name in written if name in later)
            native = native and not any(
                isinstance(program.ir.types.get(name), tuple) for name in leaves
            )
            made.append(Piece(pc, tuple(body), end, native, leaves))
            for i in instructions:
                later |= reads(i)
        found += reversed(made)
    return found


def array_names(program) -> dict:
    """For each variable that only ever is another array: the name of that array.

    A variable written in one place has one value there, and is read behind it.
    """
    written = [name for block in program.ir.blocks for i in block for name in writes(i)]
    slots = program.ir.slot_of.items()
    written += [name for name, slot in slots if slot in program.arguments]
    once = {name for name in written if written.count(name) == 1}
    copies = {
        target: source
        for block in program.ir.blocks
        for i in block
        if isinstance(i, ir.Copy)
        for target, source in zip(i.targets, i.sources, strict=True)
        if isinstance(program.ir.types.get(target), ir.ArrayType)
        and {target, source} <= once
    }
    for target in copies:
        while copies[target] in copies:
            copies[target] = copies[copies[target]]
    return copies


def without_copies(block, names):
    """The instructions of a block, with the arrays' own names."""
    for i in block:
        if isinstance(i, ir.Copy):
            pairs = zip(i.targets, i.sources, strict=True)
            kept = [pair for pair in pairs if pair[0] not in names]
            if kept:
                yield ir.Copy(*(tuple(part) for part in zip(*kept, strict=True)))
        else:
            yield named(i, names)


def named(item, names):
    """An instruction, or a part of one, with other names for its variables."""
    if isinstance(item, str):
        return names.get(item, item)
    if isinstance(item, tuple):
        return tuple(named(part, names) for part in item)
    if isinstance(item, ir.Slice):
        return ir.Slice(*named((item.start, item.stop, item.step), names))
    if operand_fields(item) and not reads(item).isdisjoint(names):
        return replace(
            item, **{f: named(getattr(item, f), names) for f in operand_fields(item)}
        )
    return item


def _after(program, pc) -> set:
    """The variables that are read behind a block."""
    block = program.code[pc]
    needs = 0
    for following in (block.then, block.otherwise):
        needs |= program.code[following].needs if following >= 0 else 0
    return {name for name, slot in program.ir.slot_of.items() if needs >> slot & 1}


def _parts(block, types, told):
    """Instructions that can be run in one go, and whether they are native."""
    part, native = [], True
    for i in block:
        ours = is_native(i, types) and _knows_tuples(i, native and part, types)
        ours = ours and not (told and is_shuffle(i))
        ended = part and isinstance(part[-1], ir.Store) and native
        ended = ended or _reads_across(i) & {n for other in part for n in writes(other)}
        if part and (ours is not native or ended):
            yield native, part
            part = []
        native = ours
        part.append(i)
    yield native, part


def _reads_across(i) -> set:
    """What an instruction reads of other threads, from their slots."""
    return {i.operands[1]} if is_shuffle(i) else set()


def is_shuffle(i) -> bool:
    return isinstance(i, ir.Call) and i.function in SHUFFLES


def _knows_tuples(i, part, types) -> bool:
    """Are the tuples that an instruction reads made by others of its piece?"""
    tuples = {name for name in reads(i) if isinstance(types.get(name), tuple)}
    return tuples <= {name for other in part or () for name in writes(other)}


def is_native(i, types) -> bool:
    """Can one thread's part of an instruction be machine code?"""
    test = _TESTS.get(type(i))
    return test is not None and test(i, types)


def type_of(operand, types):
    """The type of an operand, as `Kernel.types` has it."""
    if isinstance(operand, ir.Const):
        value = operand.value
        if isinstance(value, tuple):
            return tuple(type_of(ir.Const(item), types) for item in value)
        return value.dtype if isinstance(value, np.generic) else None
    return types.get(operand)


def is_number(dtype) -> bool:
    return scalars.number_type(dtype) is not None


def _is_value(operand, types) -> bool:
    """Is this a number, or a tuple of them?"""
    found = type_of(operand, types)
    return all(map(is_number, found)) if isinstance(found, tuple) else is_number(found)


def _operation(i, types):
    dtypes = [type_of(o, types) for o in i.operands]
    return scalars.row(i, dtypes, types[i.target]) is not None


def _cast(i, types):
    return is_number(type_of(i.operand, types)) and is_number(i.dtype)


def _call(i, types):
    if i.function in SHUFFLES:
        source, operand = i.operands[1:]
        return (
            isinstance(source, str)
            and is_number(types.get(i.target))
            and types[i.target] == types.get(source)
            and getattr(type_of(operand, types), "kind", "") in ("i", "u")
        )
    return i.function in GEOMETRY and _is_value(i.target, types)


def _copy(i, types):
    return all(
        is_number(types.get(target)) and type_of(source, types) == types[target]
        for target, source in zip(i.targets, i.sources, strict=True)
    )


def _pack(i, types):
    return all(_is_value(item, types) for item in i.items)


def _item(i, types):
    return is_number(types.get(i.target)) and _is_value(i.operand, types)


def _attribute(i, types):
    name = i.name.rstrip("0123456789")
    return name in ("shape", "size") and isinstance(types.get(i.array), ir.ArrayType)


def _access(i, types):
    array = types.get(i.array) if isinstance(i.array, str) else None
    return (
        isinstance(array, ir.ArrayType)
        and is_number(array.dtype)
        and len(i.indices) == array.ndim
        and all(
            getattr(type_of(index, types), "kind", "") in ("i", "u")
            for index in i.indices
        )
    )


def _load(i, types):
    return _access(i, types) and types[i.target] == types[i.array].dtype


def _store(i, types):
    return _access(i, types) and type_of(i.value, types) == types[i.array].dtype


def _branch(i, types):
    return is_number(type_of(i.condition, types))


def _always(i, types):
    return True


_TESTS = {
    ir.Operation: _operation,
    ir.Cast: _cast,
    ir.Call: _call,
    ir.Copy: _copy,
    ir.Pack: _pack,
    ir.Item: _item,
    ir.Attribute: _attribute,
    ir.Allocate: _always,  # once: it is the same array ever after
    ir.Captured: _always,
    ir.Load: _load,
    ir.Store: _store,
    ir.Branch: _branch,
    ir.Jump: _always,
    ir.Return: _always,
    ir.WaitAtBarrier: _always,  # the machine waits
    ir.WaitForLanes: _always,
}

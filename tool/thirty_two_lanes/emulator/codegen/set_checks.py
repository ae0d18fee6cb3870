"""Checks at each read of a variable that may have no value, such as one that only an
`if` sets.

A variable may be unset if an `Unset`, or a copy of one that may be unset, gives it to
be. Each of those has a truth beside it, which says by thread whether it is set, and is
copied where it is copied; what computes with it, or stores it, requires it to hold. A
copy is no use, as that of an item of a tuple, or to one; nor is a shuffle one of the
lanes that nobody reads. Not modelled: the mask of a `syncwarp`.
"""

from dataclasses import replace

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import (
    reads,
    without_dead_code,
    writes,
)
from thirty_two_lanes.core.source import name_on
from thirty_two_lanes.emulator.codegen.first_uses import sites_of
from thirty_two_lanes.language.warp_intrinsics import SHUFFLES

TRUTH = np.dtype(np.bool_)
SET, NOT_SET = ir.Const(np.True_), ir.Const(np.False_)
NO_USE = (ir.Note, ir.WarpSync, ir.Unset)


def without_unset(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel as if all variables had values."""
    blocks = kernel.blocks.items()
    kept = {n: [i for i in b if not isinstance(i, ir.Unset)] for n, b in blocks}
    return replace(kernel, blocks=kept)


def may_be_unset(kernel: ir.Kernel) -> bool:
    """Is a variable read that may have no value?"""
    return bool(_unset(without_dead_code(kernel.blocks)))


def with_set_checks(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with a check at each read of what may be unset."""
    blocks = without_dead_code(kernel.blocks)
    origins = _unset(blocks)
    truths = {name: f"{name}%set" for name in origins}
    types = {**kernel.types, **dict.fromkeys(truths.values(), TRUTH)}
    checked = {n: _checked(block, truths, origins) for n, block in blocks.items()}
    return replace(kernel, blocks=checked, types=types)


def _unset(blocks) -> dict[str, str]:
    """The variables that may be unset where they are read, and of which each is a copy,
    or itself.
    """
    instructions = [i for block in blocks.values() for i in block]
    found = {i.target: i.target for i in instructions if isinstance(i, ir.Unset)}
    copies = [pair for i in instructions for pair in _copies(i)]
    before = None
    while before != len(found):
        before = len(found)
        for target, source in copies:
            if source in found:
                found.setdefault(target, found[source])
    return found


def _copies(instruction):
    """What an instruction only copies: targets, and their sources."""
    if isinstance(instruction, ir.Copy):
        return list(zip(instruction.targets, instruction.sources, strict=True))
    if isinstance(instruction, ir.Cast) and not instruction.explicit:
        return [(instruction.target, instruction.operand)]
    if isinstance(instruction, ir.Item):
        return [(instruction.target, instruction.operand)]
    if isinstance(instruction, ir.Pack):
        return [(instruction.target, item) for item in instruction.items]
    return []


def _checked(block, truths, origins) -> list:
    """A basic block with checks, and with the truths of what it sets and copies."""
    made, sites = [], [next(iter(sites_of(i)), None) for i in block]
    for index, instruction in enumerate(block):
        told = _told(instruction, truths, origins)
        if told is None and not isinstance(instruction, NO_USE):
            site = next(filter(None, [*sites[index:], *sites[index::-1]]), None)
            made += _checks(instruction, truths, origins, site)
        made.append(instruction)
        if told is None:
            now = NOT_SET if isinstance(instruction, ir.Unset) else SET
            told = {truths[it]: now for it in writes(instruction) if it in truths}
        if told:
            made.append(ir.Copy(tuple(told), tuple(told.values())))
    return made


def _told(instruction, truths, origins):
    """The truths of what an instruction only copies, and of what each is a copy; None
    where it does more, as where it makes a tuple of several variables.
    """
    copies = _copies(instruction)
    if isinstance(instruction, ir.Pack):
        copies = [pair for pair in copies if pair[1] in origins][:1]
        several = {origins[it] for it in instruction.items if it in origins}
        if len(several) > 1:
            return None
    if not copies:
        return None
    return {
        truths[target]: truths.get(source, SET)
        for target, source in copies
        if target in truths
    }


def _checks(instruction, truths, origins, site):
    """A check for each variable that an instruction uses and that may be unset."""
    shuffle = None, None
    if getattr(instruction, "function", None) in SHUFFLES:
        shuffle = instruction.function, instruction.operands[2]
    for name in sorted(reads(instruction) & truths.keys()):
        of_lanes = shuffle[0] and instruction.operands[1] == name
        more = shuffle if of_lanes else ()
        variable = ir.source_name(origins[name])
        if variable and site:
            variable = name_on(site.text, variable)
        yield ir.RequireSet(truths[name], variable, site, *more)

"""The contract between code generator and machine: a program, its basic blocks, and
what each of them does.

`codegen` makes it of a kernel's IR, `machine` runs it, and judges read what it says of
the source.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from traceback import walk_tb
from types import MappingProxyType
from typing import NamedTuple

from thirty_two_lanes.core.ir import Allocate
from thirty_two_lanes.core.source import Site

KINDS = ("float32", "float64", "float16", "integer")
JUMP, BRANCH, RETURN, BARRIER, WARP_SYNC = range(5)


class LineCounts(NamedTuple):
    """One line's work in one basic block, for each active lane; operations by KINDS."""

    site: Site
    instructions: int
    operations: tuple[int, int, int, int]


class Input(NamedTuple):
    """A variable that a basic block takes from those before it."""

    slot: int
    name: str | None  # in the source
    site: Site | None  # the first line that computes with it


@dataclass(frozen=True, slots=True)
class BasicBlock:
    """One compiled basic block and where it leads; `needs` are the slots read at or
    after its start, and `inputs` those that it reads itself, in that order.
    """

    run: Callable  # (warp, active, others) -> condition or predicate
    kind: int
    then: int
    otherwise: int
    needs: int  # a set of slots, as bits
    inputs: tuple[Input, ...]
    site: object  # the first line of source in it, or None
    ending: object  # the terminator, for messages
    work: tuple = ()  # what it does, by source line
    sites: tuple = ()  # the site of each line of `run`

    def site_in(self, traceback):
        """The site of the instruction at which an error stopped the basic block."""
        code = self.run.__code__
        lines = [line for frame, line in walk_tb(traceback) if frame.f_code is code]
        site = self.sites[lines[-1] - code.co_firstlineno] if lines else None
        return site or self.site


class Instructions(NamedTuple):
    """What the basic blocks do, in our IR, by pc; the numbers by which they name each
    other; its variables' types and slots.
    """

    blocks: tuple = ()
    types: dict = MappingProxyType({})
    slot_of: dict = MappingProxyType({})
    numbers: tuple = ()


@dataclass(frozen=True)
class Program:
    """A kernel ready to run: its basic blocks by pc, and a warp's slots."""

    name: str
    arguments: tuple[int, ...]  # the slots of the arguments
    code: tuple[BasicBlock, ...]
    slots: int
    results: dict[int, int]  # pc after a barrier: slot of its result
    allocations: tuple[Allocate, ...]
    reinterpreted: frozenset[Allocate]  # as elements of another size
    grid_barriers: frozenset[int]  # pcs after barriers of the grid
    references: tuple  # in the order of the program
    read: frozenset[str]  # arguments whose elements may be read
    written: frozenset[str]  # arguments whose elements may be written
    source: str
    site: object = None  # where the kernel begins
    float64: tuple = ()  # lines that compute in float64, among float32
    guards: frozenset = frozenset()  # what conditions compare with
    from_the_end: frozenset = frozenset()  # (reference, axis): -1 is written there
    ir: Instructions = Instructions()
    compiled: dict = field(default_factory=dict)  # what `native` keeps of it


def static_bytes(program, space) -> int:
    """The bytes of shared memory of a block, or of local memory of a thread, that a
    program declares.
    """
    return sum(
        math.prod(array.shape) * array.dtype.itemsize
        for array in program.allocations
        if array.space == space
    )

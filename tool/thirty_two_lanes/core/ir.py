"""Our own small IR: what the front end makes and the code generator reads.

A variable is a name, which `source_name` reads; its type is a NumPy dtype for a scalar,
an `ArrayType`, a tuple of types, an `Optional`, or None. Blocks are lists of
instructions whose last one is a terminator. Scalars are already cast to the types that
Numba inferred, phi nodes are copies on edges, and device functions are inlined.

A front end gives a `Kernel` in which every variable has a type and every instruction
its site; functions are called by Numba's names, the keys of the tables in `language`. A
`Barrier` is the last instruction before a `Jump`, and a `WarpSync` has a block of its
own with one, since it runs again until its lanes have come. The code generator makes
terminators of both, `WaitAtBarrier` and `WaitForLanes`, and a `RequireSet` of each read
of what may be `Unset`; no front end writes these.
What each class of instructions reads, touches and counts as is declared with it, by
`node`. In one file: a reader looks all of them up here.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.source import Reference, Site


@dataclass(frozen=True)
class ArrayType:
    """An array of a kernel: what its elements are and how many axes it has."""

    dtype: np.dtype
    ndim: int


class Optional(NamedTuple):
    """The type of what may be None: of a tuple of a value and whether there is one."""

    value: object  # the type of the value
    present: np.dtype = np.dtype(np.bool_)


@dataclass(frozen=True)
class Const:
    """A value known before the launch: a NumPy scalar, a tuple of them, or None."""

    value: object


Operand = str | Const


class Nature(NamedTuple):
    """What is known of all instructions of a class, by names of their fields."""

    reads: tuple[str, ...]  # operands: variables, constants, tuples of them
    loads: tuple[str, ...]  # arrays whose elements it reads
    stores: tuple[str, ...]  # arrays whose elements it may write
    leads: tuple[str, ...] | None  # basic blocks that may follow; None: the next line
    pure: bool  # can it be left out when its target is not read?
    counts: bool  # does it become machine code of its own?


NODES = []  # the classes of instructions; each is declared once, where it is defined


def node(
    reads="", *, loads="", stores="", leads=None, pure=False, counts=False, eq=True
):
    """Declare a class of instructions, and its `nature`."""

    def declared(made):
        made = dataclass(frozen=True, eq=eq)(made)
        names = (text.split() for text in (reads, loads, stores))
        ends = leads if leads is None else tuple(leads.split())
        made.nature = Nature(*map(tuple, names), ends, pure, counts)
        NODES.append(made)
        return made

    return declared


@node("operands", pure=True, counts=True)
class Operation:
    """`target = operator(*operands)`, lane by lane, on operands already cast."""

    target: str
    operator: str  # a key of operators.OPERATORS or FUNCTIONS
    operands: tuple[Operand, ...]
    site: Site


@node("operand", pure=True, counts=True)
class Cast:
    """`target = dtype(operand)`, converted as the GPU converts."""

    target: str
    operand: Operand
    dtype: np.dtype
    site: Site | None = None
    explicit: bool = False  # does the kernel ask for it, even if it changes the value?


@node("operands", pure=True, counts=True)
class Call:
    """`target = function(*operands)`, of a function that sees threads and lanes."""

    target: str
    function: str  # a key of warp_intrinsics.INTRINSICS
    operands: tuple[Operand, ...]
    site: Site
    pure: bool = True  # can it be left out when the target is not read?


@node(pure=True, counts=True)
class Captured:
    """`target` = an array that the kernel captures from its globals: frozen at
    compilation in "const" memory, or a device array in "global" memory.
    """

    target: str
    array: np.ndarray = field(compare=False)
    name: str
    space: str
    site: Site


@node("index arrays", pure=True, counts=True)
class ChooseArray:
    """`target = arrays[index]`, of a tuple of arrays, lane by lane."""

    target: str
    index: Operand
    arrays: tuple[Operand, ...]
    site: Site


@node("sources")
class Copy:
    """`targets = sources`, all at once, as phi nodes ask."""

    targets: tuple[str, ...]
    sources: tuple[Operand, ...]


@node(pure=True)
class Unset:
    """`target` has no value yet; a checked program goes on with this one. In an array's
    place there is None, and what the array is in other threads.
    """

    target: str
    value: np.generic | tuple | None


@node("is_set operand")
class RequireSet:
    """A variable is read, and should be set: by the thread itself, or where a shuffle
    reads it, by that of the lane which the operand names.
    """

    is_set: Operand
    variable: str | None  # in the source
    site: Site
    shuffle: str | None = None  # a key of warp_intrinsics.SHUFFLES
    operand: Operand | None = None


@node("items", pure=True)
class Pack:
    """`target = (items…)`, a tuple."""

    target: str
    items: tuple[Operand, ...]


@node("operand", pure=True)
class Item:
    """`target = operand[index]`, an item of a tuple, known by its place."""

    target: str
    operand: Operand
    index: int


@node("array", pure=True)
class Attribute:
    """`target = array.name`, of an array: shape, size, strides or T."""

    target: str
    array: Operand
    name: str


@node("array", pure=True)
class Field:
    """`target` = a field of each element, at a byte of it; `inner` are its own axes."""

    target: str
    array: Operand
    dtype: np.dtype
    offset: int
    inner: tuple[int, ...]
    packed: bool = False  # may it begin at any byte?


@node("array")
class Reinterpret:
    """`target = array.view(dtype)`: the same bytes as other elements."""

    target: str
    array: Operand
    dtype: np.dtype
    site: Site


@node("array shape")
class Reshape:
    """`target = array.reshape(shape)`, of a contiguous array."""

    target: str
    array: Operand
    shape: tuple[Operand, ...]
    site: Site


@node()
class Allocate:
    """`target = cuda.<space>.array(shape, dtype)`; shape (0,) is dynamic.

    Those with one key are one array: a device function, compiled once, has one shared
    array however often it is called.
    """

    target: str = field(compare=False)
    space: str
    shape: tuple[int, ...]
    dtype: np.dtype
    name: str = field(compare=False)
    site: Site = field(compare=False)
    key: tuple = ()
    alignment: int = 1


@node("array indices", pure=True)
class View:
    """`target = array[indices]`, an array again: slices, or fewer indices than axes."""

    target: str
    array: Operand
    indices: tuple[object, ...]  # operands, `Slice`s, Ellipsis, None: a new axis
    reference: Reference


@dataclass(frozen=True)
class Slice:
    """`start:stop:step` within a View; None where nothing is written."""

    start: Operand | None
    stop: Operand | None
    step: Operand | None


@node("array indices", loads="array", counts=True)
class Load:
    """`target = array[indices]`."""

    target: str
    array: Operand
    indices: tuple[Operand, ...]
    reference: Reference


@node("array indices value", stores="array", counts=True)
class Store:
    """`array[indices] = value`."""

    array: Operand
    indices: tuple[Operand, ...]
    value: Operand
    reference: Reference


@node("array value", stores="array", counts=True)
class Fill:
    """`array[...] = value`: each element in turn; a tuple gives one each."""

    array: Operand
    value: Operand
    reference: Reference


@node("array source", loads="source", stores="array", counts=True)
class Move:
    """`array[...] = record`, byte by byte; both are references to records."""

    array: Operand
    source: Operand
    stored: Reference
    loaded: Reference


class TwinReferences(NamedTuple):
    """What a twin may do with an array."""

    loaded: Reference
    stored: Reference
    arrived: Reference  # a store, of what it copied and does not wait for
    acquired: Reference
    released: Reference


@node("operands", loads="operands", stores="operands", counts=True)
class Twin:
    """`target = intrinsic(*operands)`, computed by its twin on NumPy arrays.

    `references` has, for each operand, what the twin may do with it if it is an array.
    """

    target: str | None
    function: object
    operands: tuple[Operand, ...]
    result: object  # our type
    references: tuple[TwinReferences | None, ...]
    site: Site


@node("array indices values", loads="array", stores="array", counts=True)
class Atomic:
    """`target = array[indices]`, then the update."""

    target: str | None
    operator: str  # a key of ATOMICS in the machine's atomics.py
    array: Operand
    indices: tuple[Operand, ...]
    values: tuple[Operand, ...]
    reference: Reference


@node("predicate")
class Barrier:
    """`cuda.syncthreads()`, and its count, and, or of a predicate."""

    target: str | None
    operator: str | None
    predicate: Operand | None
    site: Site


@node("mask")
class WarpSync:
    """Wait for the lanes of a mask, before a shuffle, a vote or `syncwarp`; alone in
    its block.
    """

    mask: Operand
    site: Site
    function: str = "cuda.syncwarp"  # a key of warp_intrinsics.INTRINSICS


@node("items", counts=True)
class Print:
    """`print(*items)`, in each thread; a text is a Const."""

    items: tuple[Operand, ...]
    site: Site


@node()
class Raise:
    """An exception, which ends the thread; in debug mode the launch raises it."""

    exception: type
    arguments: tuple
    function: str
    site: Site
    debug: bool = False


@node("value", eq=False)
class Note:
    """Tell listeners that a line of a function begins, or what a variable of the source
    gets; only a kernel that is lowered with notes has them.
    """

    site: Site
    function: object  # whose line it is
    variable: str | None = None
    value: Operand | None = None


@node(leads="block")
class Jump:
    block: int
    site: Site | None = None


@node("condition", leads="then otherwise", counts=True)
class Branch:
    condition: Operand
    then: int
    otherwise: int
    site: Site


@node("barrier.predicate", leads="block")
class WaitAtBarrier:
    """A barrier as a terminator: wait, then go on with a block."""

    barrier: Barrier
    block: int


@node("sync.mask", leads="block")
class WaitForLanes:
    """A WarpSync as a terminator, of a block of its own that can be run again."""

    sync: WarpSync
    block: int


@node(leads="")
class Return:
    """The end of a thread, by a `return` or behind the kernel's last line."""

    site: Site | None = None


@dataclass(frozen=True)
class Kernel:
    """A kernel for one list of argument types: blocks by number, entered at `entry`."""

    name: str
    arguments: tuple[str, ...]
    types: dict[str, object]
    blocks: dict[int, list]
    entry: int
    site: Site | None = None


def references_of(instruction) -> tuple[Reference, ...]:
    """The references of an instruction that touches memory, loads first."""
    if isinstance(instruction, Twin):
        return tuple(one for all in instruction.references if all for one in all)
    names = ("reference", "loaded", "stored")
    return tuple(getattr(instruction, n) for n in names if hasattr(instruction, n))


def without_function(name) -> str:
    """A variable's name in the function that it is of: `x.2` of `twice#1.x.2`."""
    return name.rpartition("#")[2].partition(".")[2] if "#" in name else name


def source_name(name) -> str | None:
    """What the source calls a variable, or None for one of a front end's own."""
    name = without_function(name)
    return None if name[0] == "$" or "%" in name else name.split(".")[0]

"""What the machine emits and judges listen to: the contract between the two.

Each has one of TOPICS, and reaches the listeners of it; an access that of its space,
and "end" with the Warps of a batch that is done. Compiled pieces of a program emit many
requests at once: the topic is "requests", and "values" has a listener where they must
say what is stored.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.source import Reference, Site

GOLDEN = 0x9E3779B97F4A7C15  # 2**64 by the golden ratio: multiples lie far apart

TOPICS = (
    "launch allocation step steps split sync missed_barrier stray_lanes shuffle fence "
    "negative_index overflow raised early repeat note unset_read end global shared "
    "local const requests values"
).split()


class LaunchBegin(NamedTuple):
    """A launch begins: its shape, and the program's references and code in order.

    `program` has other facts about the code; `arguments` are the launch's, by name. The
    seed chooses the order of its warps, and the turns of its blocks. `unlike` are
    sentences about arguments that the kernel reads as another type.
    """

    grid_dim: tuple
    block_dim: tuple
    references: tuple[Reference, ...]
    code: tuple
    program: object = None
    arguments: dict | None = None
    seed: int = 0
    unlike: tuple[str, ...] = ()


def in_turn(seed, blocks) -> np.ndarray:
    """The order in which blocks that run together take their turns at an atomic: no
    hardware promises one. An even seed and the next have opposite orders, so that no
    block is the last in both; with the usual seed, 0, the highest of many is not.
    """
    pair = np.uint64(int(seed) // 2 * GOLDEN % 2**64)
    keys = (np.asarray(blocks).astype(np.uint64) + np.uint64(2)) * np.uint64(GOLDEN)
    keys ^= pair
    return np.argsort(~keys if seed % 2 else keys)


class Allocation(NamedTuple):
    """An array is allocated or passed: a name, elements, and the memory they are in.

    `start` and `size` are that memory's first byte and length; `first` is the address
    of the first element, `strides` are bytes. `written`: may the kernel write it?
    `device`: is it on the device? `unwritten` marks its bytes that were
    never written, None where there are none. `cells` are the machine's own, to look
    into while it waits for a listener. `kept_at` is where the host has the memory.
    """

    name: str
    space: str
    start: int
    size: int
    written: bool
    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    device: bool = False
    unwritten: np.ndarray | None = None
    cells: object = None
    kept_at: int = 0


class Warps(NamedTuple):
    """The warps that do something: one of each block of a batch."""

    warp: int
    first_block: int
    blocks: int
    order = 0  # of single requests, which are judged as they are made

    @property
    def block(self) -> np.ndarray:
        """The number of each block."""
        return self.first_block + np.arange(self.blocks)


class Access(NamedTuple):
    """One request of a warp, of each block of a batch.

    `addresses` are bytes, of shape (lanes or 1, blocks or 1): `cells` of `step` bytes
    from `base`. `active` broadcasts against (lanes, blocks), None when all take part.
    `cache` is a dictionary in which judges keep what they computed from the addresses.
    Where `recurs`, it is the same dictionary each time that this reference asks for
    these addresses in every block, so that a count may be kept and multiplied.
    `iterations` counts those of the warp's loops since it last waited for its block;
    `value` is what a store stores, or None. Where judges get many requests together, a
    column is one that was made `times` times, and `who` has a column for each.
    """

    reference: Reference
    space: str
    dtype: np.dtype
    cells: np.ndarray
    active: np.ndarray | None
    blocks: int
    cache: dict
    recurs: bool = False
    who: Warps | None = None
    iterations: int = 0
    value: object = None
    step: int = 1
    base: int = 0
    times: np.ndarray | None = None

    @property
    def first_address(self) -> int:
        """The byte that the first lane of the first block asks for."""
        return int(np.asarray(self.cells).flat[0]) * self.step + self.base

    @property
    def addresses(self) -> np.ndarray:
        """The bytes that the lanes ask for, computed when a judge wants them all."""
        if self.step == 1 and not self.base:
            return self.cells
        found = self.cache.get("addresses")
        if found is None:
            found = self.cache["addresses"] = self.cells * self.step + self.base
        return found


class AccessSite(NamedTuple):
    """A place in the code, and the kind of array that it accesses."""

    reference: Reference
    space: str
    dtype: np.dtype


class Requests(NamedTuple):
    """Requests, each of one warp of one block of a batch, in the order of their making.

    `source` are places in `sources`, `addresses` bytes of shape (requests, lanes), and
    `active` has a bit for each lane. `block` counts through the grid; `values` are the
    bits of what is stored, (requests, lanes), or None. The listener copies what it
    keeps.
    """

    sources: tuple[AccessSite, ...]
    first_block: int
    source: np.ndarray
    addresses: np.ndarray
    active: np.ndarray
    warp: np.ndarray
    block: np.ndarray
    iterations: np.ndarray
    values: np.ndarray | None = None


class Step(NamedTuple):
    """A basic block begins."""

    basic_block: int
    active: np.ndarray | None
    who: Warps


class Steps(NamedTuple):
    """A basic block has run some times: how many lanes were active, and in how many
    warps, in all; how often each block's warp ran it, None where all did as often.
    """

    basic_block: int
    who: Warps
    lanes: int
    warps: int
    of_blocks: np.ndarray | None = None


class Repeat(NamedTuple):
    """An instruction goes on to its next element; Steps count the first one alone."""

    site: Site
    active: np.ndarray | None
    who: Warps
    lanes: int
    warps: int
    of_blocks: np.ndarray | None = None


class Noted(NamedTuple):
    """A line begins, or a variable has got a value: what an `ir.Note` tells."""

    note: object
    value: object
    active: np.ndarray | None
    who: Warps


class UnsetRead(NamedTuple):
    """Threads read a variable that has no value yet; `lanes` are (lanes, blocks)."""

    site: Site
    variable: str | None
    lanes: np.ndarray
    who: Warps


class BranchSplit(NamedTuple):
    """A branch splits warps: `then` and `otherwise` are lanes, (lanes, blocks)."""

    site: Site
    then: np.ndarray
    otherwise: np.ndarray
    who: Warps | None = None


class Sync(NamedTuple):
    """Threads waited for each other, and go on: a scope's "warp", "block" or "grid".

    `lanes` are those of a warp, (lanes, blocks or 1); `blocks` those of the batch that
    met at a barrier, None for all; a sync of the grid has neither.
    """

    scope: str
    who: Warps | None = None
    lanes: np.ndarray | None = None
    blocks: np.ndarray | None = None
    site: Site | None = None


class MissedBarrier(NamedTuple):
    """Threads that were not there when the others of their block met at a barrier.

    `threads`, (threads of a block, blocks of the batch), had left at `elsewhere`, or
    waited at that other barrier, which then counts as the same one.
    """

    site: Site
    elsewhere: Site | None
    left: bool
    threads: np.ndarray
    first_block: int


class StrayLanes(NamedTuple):
    """Lanes that a warp function should not have read, or been called by.

    `callers` are lanes, (lanes, blocks or 1), and `lanes` those that they read: not in
    their mask ("outside"), returned ("left"), come "past" the line to the kernel's end,
    or never there ("absent"). Or the callers are "unnamed" by their own mask, and
    `lanes` are they themselves.
    """

    site: Site
    kind: str
    callers: np.ndarray
    lanes: np.ndarray
    who: Warps


class Shuffle(NamedTuple):
    """Lanes take values of others: the lane that each reads, (lanes, blocks or 1)."""

    site: Site
    lanes: np.ndarray
    active: np.ndarray | None
    who: Warps


class NegativeIndex(NamedTuple):
    """Negative indices counted from the end of an axis: how many, and the first, with
    the element that it means.
    """

    reference: Reference
    axis: int
    count: int
    index: int
    element: int
    thread: str
    block: str


class Overflow(NamedTuple):
    """Integers that did not fit: how many, and the first of them."""

    site: Site
    dtype: np.dtype
    count: int
    before: int
    after: int
    thread: str
    block: str


class Raised(NamedTuple):
    """Threads ended by an exception, which is in words: how many, and the first."""

    site: Site
    exception: str
    count: int
    thread: str
    block: str


class EarlyAccess(NamedTuple):
    """An access to cells to which an asynchronous copy is under way, that a thread of
    the same block, by its number there, began; `addresses` and `lanes` are (lanes,
    blocks).
    """

    reference: Reference
    copy: Reference
    thread: int
    addresses: np.ndarray
    lanes: np.ndarray
    who: Warps


class Fence(NamedTuple):
    """`cuda.threadfence()` of the active lanes, or that of a store that releases;
    `scope` is "grid" or "block".
    """

    scope: str
    active: np.ndarray | None
    who: Warps
    of_store: bool = False

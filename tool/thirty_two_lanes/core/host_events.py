"""What calls of the host emit and the judge of streams listens to: the contract between
the two, as `events.py` is between machine and judges. Each has one of HOST_TOPICS.
"""

from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.source import Site

HOST_TOPICS = "operation access record wait end callback allocation".split()
LEGACY = 1  # the legacy default stream, which waits for all and all for it
PER_THREAD = 2  # the default stream of a thread of the host


class Bytes(NamedTuple):
    """Bytes of memory: runs of addresses that do not touch, in order."""

    first: np.ndarray  # the address of each run's first byte
    end: np.ndarray  # and of that behind its last

    @classmethod
    def between(cls, first, end):
        """One run."""
        return cls(np.array([first]), np.array([end]))

    @classmethod
    def of(cls, array):
        """Those of a NumPy array's elements."""
        first, end = np.lib.array_utils.byte_bounds(array)
        if end - first <= array.nbytes:
            return cls.between(first, end)
        starts = np.zeros(1, np.int64) + array.ctypes.data
        for count, step in zip(array.shape, array.strides, strict=True):
            starts = (starts[:, None] + np.arange(count) * step).ravel()
        return cls.merged(starts, starts + array.itemsize)

    @classmethod
    def merged(cls, first, end):
        """Pieces in any order, which may overlap."""
        order = np.argsort(first, kind="stable")
        first, end = first[order], np.maximum.accumulate(end[order])
        begins = np.append(True, first[1:] > end[:-1])
        return cls(first[begins], end[np.append(begins[1:], True)])

    def shared_with(self, other) -> int | None:
        """The first address that both have."""
        if self.end[-1] <= other.first[0] or other.end[-1] <= self.first[0]:
            return None
        at = np.searchsorted(other.end, self.first, "right")
        near = np.minimum(at, len(other.end) - 1)
        both = (at < len(other.end)) & (other.first[near] < self.end)
        if not both.any():
            return None
        run = int(np.argmax(both))
        return int(max(self.first[run], other.first[near[run]]))

    def covers(self, other) -> bool:
        """Has it all that another has?"""
        at = np.searchsorted(self.first, other.first, "right") - 1
        return bool((at >= 0).all() and (self.end[at] >= other.end).all())


class Operand(NamedTuple):
    """Memory that an operation or the host reads or writes; an argument's name."""

    bytes: Bytes
    writes: bool
    name: str = ""


class CallSite(NamedTuple):
    """The line of the program that called; `array` names memory by an address in it,
    and `stream` a stream by its number, as that line would: "" where it has no name.
    """

    site: Site
    array: object
    stream: object


class StreamOperation(NamedTuple):
    """Something is handed to a stream: what it is, in words, and its memory.

    `waits` says what the host waits for before the call returns: for what the stream
    had "before", for it "after" all, or "" for nothing.
    """

    what: str
    stream: int
    operands: tuple[Operand, ...]
    caller: CallSite
    waits: str = ""


class HostAccess(NamedTuple):
    """The host reads or writes memory that the device may use, too."""

    operand: Operand
    caller: CallSite


class EventRecord(NamedTuple):
    """An event is recorded on a stream."""

    event: object
    stream: int


class StreamWait(NamedTuple):
    """A stream waits for what an event recorded last."""

    event: object
    stream: int


class HostWait(NamedTuple):
    """The host waits for a stream, for what an event recorded, or else for all."""

    stream: int | None = None
    event: object = None


class Callback(NamedTuple):
    """A stream begins to call the host back, or has done so."""

    stream: int
    begins: bool

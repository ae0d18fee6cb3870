"""Stream order: two accesses of memory, of which one writes and which nothing orders.
They are of operations on different streams, or of the host and an operation that it
did not wait for.

It listens to a whole program, not to a launch: to `core/host_events.py`. The values are
those of the order in which the program calls, so nothing goes wrong here; a GPU may
take another. Two operations that were found count as ordered from then on, so that one
missing wait is told once, and of an operation the host's first access that is too
early. No tool of NVIDIA's reports this of Numba's programs. Not modelled: what
`stream_clocks.py` leaves out; accesses of the host that nobody tells of.
"""

import threading
from typing import NamedTuple

from thirty_two_lanes.core.host_events import LEGACY, StreamOperation
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.core.words import Finding
from thirty_two_lanes.emulator.judges.judge import Kind, Registration
from thirty_two_lanes.emulator.judges.stream_clocks import StreamClocks, join


class Touch(NamedTuple):
    """What an operation does to some memory, and the operation's number on its stream;
    the host has neither.
    """

    operand: object
    what: str
    site: Site
    stream: int | None = None
    number: int = 0

    def is_before(self, clock) -> bool:
        """Did it come before what has this clock?"""
        return clock.get(self.stream, 0) >= self.number

    def is_told_by(self, other) -> bool:
        """Is whatever meets it a hazard with a later one, too?"""
        mine, its = self.operand, other.operand
        return (its.writes or not mine.writes) and its.bytes.covers(mine.bytes)

    @property
    def does(self) -> str:
        """Its verb."""
        return "writes" if self.operand.writes else "reads"


class StreamOrder:
    """Keeps what operations touched until all that follows comes after them."""

    def __init__(self):
        self.clocks, self.touches = StreamClocks(), []
        self.found = {}  # by what is the same: a finding, and how often it was made
        self.within = []  # streams that call the host back
        self.met = {}  # the clock of the host, had it waited for all that it met
        self._lock = threading.RLock()

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        listeners = {
            "operation": self._operation,
            "access": self._access,
            "record": lambda it: self.clocks.record(it.event, it.stream),
            "wait": lambda it: self.clocks.wait(it.event, it.stream),
            "end": self._end,
            "callback": self._callback,
            "allocation": self._forget,
        }
        return {topic: self._alone(f) for topic, f in listeners.items()}

    def table(self) -> tuple:
        """Each hazard in the order of being found, and how often it was met."""
        return tuple(self.found.values())

    def _alone(self, function):
        def call(event):
            with self._lock:
                function(event)

        return call

    def _operation(self, it):
        if it.waits == "before":
            self._waited(stream=it.stream)
        clock = self.clocks.submit(it.stream)
        for operand in it.operands:
            own = it.stream, clock[it.stream]
            touch = Touch(operand, it.what, it.caller.site, *own)
            self._meet(touch, clock, it.caller)
            self._keep(touch, clock)
        self.clocks.follow(it.stream, clock)
        if it.waits == "after":
            self._waited(stream=it.stream)

    def _access(self, it):
        if self.within:  # the stream waits until its callback has returned
            facts = "a callback", self.within[-1], (it.operand,), it.caller
            return self._operation(StreamOperation(*facts))
        touch = Touch(it.operand, "the host", it.caller.site)
        join(self.met, self.clocks.host)
        self._meet(touch, self.met, it.caller)

    def _end(self, it):
        self._waited(it.stream, it.event)

    def _callback(self, it):
        if it.begins:
            self.within.append(it.stream)
        elif self.within:
            self.within.pop()

    def _waited(self, stream=None, event=None):
        """The host waited: all that follows comes after what has ended."""
        self.clocks.end(stream, event)
        host = self.clocks.host
        self.touches = [it for it in self.touches if not it.is_before(host)]

    def _forget(self, new):
        """The memory is another array's now."""
        self.touches = [
            it for it in self.touches if it.operand.bytes.shared_with(new) is None
        ]

    def _keep(self, touch, clock):
        self.touches = [
            it
            for it in self.touches
            if not (it.is_before(clock) and it.is_told_by(touch))
        ]
        self.touches.append(touch)

    def _meet(self, touch, clock, caller):
        """Find what an access meets that is not before it; it is so from now on."""
        for first in reversed(self.touches):
            if first.is_before(clock):
                continue
            if first.operand.writes or touch.operand.writes:
                at = first.operand.bytes.shared_with(touch.operand.bytes)
                if at is not None:
                    join(clock, {first.stream: first.number})
                    found = hazard(first, touch, caller, at)
                    before, count = self.found.get(found.same, (found, 0))
                    self.found[found.same] = before, count + 1


def hazard(first, second, caller, address) -> Finding:
    """What a report says of two accesses that nothing orders."""
    array = caller.array(address) or second.operand.name or first.operand.name
    array = f"`{array}`" if array else "memory"
    line = first.site.label
    if first.site.file != second.site.file:
        line = first.site.place
    before = f"{first.what}{_on(first, caller)}"
    after = f"{second.what}{_on(second, caller)}"
    if second.stream is None:
        what = (
            f"the host {second.does} {array}, which {first.what} of {line}"
            f"{_on(first, caller)} still {first.does}"
        )
        remedy = f"Wait before {second.site.label}: {_synchronise(first, caller)}"
    else:
        what = (
            f"{after} {second.does} {array}, which {first.what} of {line}"
            f"{_on(first, caller)} {first.does}: nothing orders the two"
        )
        remedy = (
            f"Let one wait for the other: `event.record({_named(first, caller)})` "
            f"behind {line} and `event.wait({_named(second, caller)})` before "
            f"{second.site.label}; or put both on one stream"
        )
    accesses = (
        (first.site, f"{before} {first.does} {array}"),
        (second.site, f"{after} {second.does} it"),
    )
    same = first.site, second.site, first.what, second.what, first.does, second.does
    return Finding(
        *("wrong", second.site, "streams", what, f"{remedy}."),
        also=first.site,
        same=same,
        accesses=accesses,
        remedy=remedy,
    )


def _named(touch, caller) -> str:
    """A stream as it is written in the program."""
    return caller.stream(touch.stream) or "its stream"


def _on(touch, caller) -> str:
    """Where an operation is, in words."""
    if touch.stream is None:
        return ""
    if touch.stream == LEGACY:
        return " on the default stream"
    name = caller.stream(touch.stream)
    return f" on `{name}`" if name else " on another stream"


def _synchronise(touch, caller) -> str:
    """What the host waits for an operation with."""
    name = caller.stream(touch.stream)
    if touch.stream == LEGACY or not name:
        return "`cuda.synchronize()`"
    return f"`{name}.synchronize()`"


JUDGE = Registration(
    "streams",
    StreamOrder,
    findings=lambda found: (finding for finding, _ in found),
    kinds=(Kind("streams", 15, ("stream hazard", "stream hazards"), fault=True),),
)

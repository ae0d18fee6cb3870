"""What comes before what on the streams of a program: vector clocks.

Each operation has a number on its stream. A clock has for each stream the number of its
last operation that came before. What the rules are taken from, in NVIDIA's words, says
docs/AGREEMENT.md. Not modelled: threads of the host, which count as one, in the order
of their calls; streams that do not wait for the legacy default stream, which Numba
makes none of; graphs.
"""

from weakref import WeakKeyDictionary

from thirty_two_lanes.core.host_events import LEGACY


class StreamClocks:
    """The clocks of the host, of each stream, and of what events recorded."""

    def __init__(self):
        self.host, self.streams = {}, {}
        self.events = WeakKeyDictionary()

    def submit(self, stream) -> dict:
        """Hand an operation to a stream: its clock, in which its own number is."""
        clock = self._arrive(stream)
        clock[stream] = clock.get(stream, 0) + 1
        return dict(clock)

    def record(self, event, stream):
        """Let an event be what a stream has so far."""
        self.events[event] = dict(self._arrive(stream))

    def wait(self, event, stream):
        """Let a stream wait for what an event recorded; for nothing if it did not."""
        self.follow(stream, self.events.get(event, {}))

    def follow(self, stream, clock):
        """Let a stream wait for what has a clock."""
        join(self._arrive(stream), clock)

    def end(self, stream=None, event=None):
        """Let the host wait for what a stream was given, for an event, or for all."""
        if event is not None:
            join(self.host, self.events.get(event, {}))
        elif stream == LEGACY:
            join(self.host, self._arrive(stream))
        elif stream is not None:
            join(self.host, self.streams.get(stream, {}))
        else:
            for clock in self.streams.values():
                join(self.host, clock)

    def _arrive(self, stream) -> dict:
        """A stream's clock, when it is given something: the host has come this far; all
        wait for the legacy default stream, and it for all.
        """
        clock = self.streams.setdefault(stream, {})
        join(clock, self.host)
        others = self.streams.values() if stream == LEGACY else [self._of_legacy()]
        for other in list(others):
            join(clock, other)
        return clock

    def _of_legacy(self) -> dict:
        return self.streams.get(LEGACY, {})


def join(clock, other):
    """Let a clock come after another, too."""
    for stream, number in other.items():
        if clock.get(stream, 0) < number:
            clock[stream] = number

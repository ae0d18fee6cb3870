"""What the launches of a program did, by kernel: the worst run of each, and in how many
launches each finding was seen; and what its host's calls did.
"""

import re
import threading
from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import NamedTuple

from thirty_two_lanes.core.device import device
from thirty_two_lanes.core.errors import UnsupportedError
from thirty_two_lanes.core.source import place
from thirty_two_lanes.emulator.host.hearing import host_heard_by, tell
from thirty_two_lanes.emulator.judges import OF_PROGRAMS
from thirty_two_lanes.emulator.report.text import found_before
from thirty_two_lanes.scripts.kinds import FAULTS, KINDS, classified, kind_of, narrowed
from thirty_two_lanes.scripts.launches import handed_to

NAMES = re.compile("`[^`]*`")
PLACES = re.compile(r"line \d+|`[^`]*`")  # what tells one error from another


class Sighting(NamedTuple):
    """A finding at its worst, in how many launches it was seen, and the blocks and
    threads of the worst.
    """

    kind: str
    finding: object
    launches: int
    shape: tuple


class Stop(NamedTuple):
    """An error that ended launches: the sentence of the first, how many, and the line,
    where it is known.
    """

    kind: str
    sentence: str
    launches: int
    site: object = None


@dataclass(kw_only=True)
class Entry:
    """What was found in something that has a name and a place."""

    kernel: str
    place: str
    seen: dict = field(default_factory=dict)  # sightings by kind and lines
    stops: dict = field(default_factory=dict)  # by kind and lines, too

    @property
    def kinds(self) -> set:
        """The kinds of all that was found."""
        return {it.kind for it in [*self.seen.values(), *self.stops.values()]}

    @property
    def severity(self) -> tuple:
        """By what kernels are sorted, the worst first."""
        faults = self.kinds.intersection(FAULTS)
        wrong = [it for it in self.seen.values() if it.finding.level == "wrong"]
        return len(faults), len(self.stops), len(wrong), self.cost

    @property
    def cost(self) -> float:
        """The lost passes of a warp, of all costly lines."""
        found = (it.finding for it in self.seen.values())
        return sum(it.cost for it in found if it.level != "wrong")

    def counts(self) -> Counter:
        """How many different findings of each kind there are."""
        found = Counter(it.kind for it in self.stops.values())
        for it in self.seen.values():
            found[it.kind] += it.finding.count
        return found


class HostCalls(Entry):
    """The calls of a program's host: what they did together."""

    judged = 1


@dataclass(kw_only=True)
class KernelLaunches(Entry):
    """The launches of one kernel; a shape is the blocks and the threads of some."""

    shape: tuple  # of the worst run, or of the first launch
    code: object = None  # the kernel's
    shapes: Counter = field(default_factory=Counter)  # launches by shape
    judged: int = 0
    run: object = None  # the worst

    @property
    def launches(self) -> int:
        """How many there are, of all shapes."""
        return sum(self.shapes.values())

    def add(self, run, kinds, shape) -> bool:
        """Add a launch that was judged; does it show anything new?"""
        run = narrowed(run, kinds)
        found = classified(run)
        known = len(self.seen)
        self.see(found, shape)
        rank = _rank(found)
        if self.run is None or rank > _rank(classified(self.run)):
            self.run, self.shape = run, shape
        return len(self.seen) > known

    def see(self, found, shape):
        """Note findings of a launch, with their kinds."""
        for kind, finding in found:
            key = _key(kind, finding)
            before = self.seen.get(key, Sighting(kind, finding, 0, shape))
            if finding.cost > before.finding.cost:
                before = before._replace(finding=finding, shape=shape)
            self.seen[key] = before._replace(launches=before.launches + 1)

    def stop(self, kind, sentence, site=None):
        """Note an error that ended a launch."""
        key = kind, *(PLACES.findall(sentence) or [sentence])
        before = self.stops.get(key, Stop(kind, sentence, 0, site))
        self.stops[key] = before._replace(launches=before.launches + 1)

    def elsewhere(self) -> list[Sighting]:
        """The sightings that the worst run does not have."""
        run = self.run
        shown = {_key(kind, it) for kind, it in classified(run)} if run else ()
        return [it for key, it in self.seen.items() if key not in shown]


def _key(kind, finding) -> tuple:
    """What is the same finding in two launches; its numbers may differ."""
    if finding.same:
        return kind, *finding.same
    noun = next(it for it in finding.what.split() if not it[0].isdigit())
    return kind, finding.site, finding.also, noun, *NAMES.findall(finding.what)


def _rank(found) -> tuple:
    """How bad the findings of a run are."""
    wrong = [(kind, it.cost) for kind, it in found if it.level == "wrong"]
    faults = sum(kind in FAULTS for kind, _ in wrong)
    costs = sum(it.cost for _, it in found if it.level != "wrong")
    return faults, len(wrong), sum(cost for _, cost in wrong), costs


class Ledger:
    """Emulates the launches that are handed to it, and keeps what they did.

    Of each kernel the first `most` launches are judged, and the others run plainly.
    """

    def __init__(self, kinds=KINDS, most=None, on_launch=None, on_news=None):
        self.kinds, self.most = kinds, most
        self.on_launch, self.on_news = on_launch, on_news
        self.kernels, self.runs = {}, None
        self.of_program = [(it, it.make()) for it in OF_PROGRAMS]
        self._lock = threading.Lock()

    @contextmanager
    def judging(self):
        """Be handed each launch for a while, and hear what the host's calls do."""
        heard = {}
        for judge, made in self.of_program:
            if {kind.name for kind in judge.kinds} & {*self.kinds}:
                heard |= made.listeners()
        host = nullcontext() if device.has_gpu or not heard else host_heard_by(heard)
        with handed_to(self.launch), host:
            yield

    def launch(self, launch, *arguments):
        """Run a launch, with all judges if it is its turn."""
        run = None
        if launch.is_numbas_own:
            launch.plainly(*arguments)
        else:
            run = self._launched(launch, *arguments)
        call = launch.kernel.py_func.__name__, launch.stream, arguments, run
        tell("launched", *call, stream=launch.stream)

    def _launched(self, launch, *arguments):
        """The run of a launch, if it was judged."""
        entry, judged = self._begin(launch)
        if self.on_launch:
            self.on_launch(self, entry)
        if not judged:
            return launch.plainly(*arguments)
        shape = launch.blocks, launch.threads
        try:
            run = launch.emulated(*arguments)
        except Exception as error:
            self._stop(entry, error, shape)
            if device.has_gpu and isinstance(error, UnsupportedError):
                return launch.plainly(*arguments)
            raise
        except KeyboardInterrupt:
            with self._lock:
                entry.judged -= 1
            raise
        self._add(entry, run, shape)
        return run

    def _begin(self, launch):
        """The entry of a launch's kernel, and whether it is judged."""
        function, shape = launch.kernel.py_func, (launch.blocks, launch.threads)
        where = place(function, function.__code__.co_firstlineno)
        new = KernelLaunches(
            kernel=function.__name__, place=where, shape=shape, code=function.__code__
        )
        with self._lock:
            entry = self.kernels.setdefault(function.__code__, new)
            judged = self.most is None or entry.judged < self.most
            entry.shapes[shape] += 1
            entry.judged += judged
        return entry, judged

    def _add(self, entry, run, shape):
        with self._lock:
            first = entry.run is None
            news = entry.add(run, self.kinds, shape)
            if self.runs is not None:
                self.runs.append(run)
        if self.on_news and (news or first):
            self.on_news(entry)

    def _stop(self, entry, error, shape):
        """Note an error, and what was wrong in its launch before that."""
        kind, sentence = kind_of(error), str(error)
        if run := getattr(error, "run", None):
            sentence = sentence.removesuffix(found_before(run))
            found = classified(narrowed(run, self.kinds))
        with self._lock:
            if run:
                entry.see([it for it in found if it[1].level == "wrong"], shape)
            if kind in self.kinds:
                entry.stop(kind, sentence, getattr(error, "site", None))
        if self.on_news and entry.kinds:
            self.on_news(entry)

    @property
    def host_calls(self) -> list[HostCalls]:
        """What the calls of the host did, if something is wrong with them."""
        seen = {
            _key(kind.name, finding): Sighting(kind.name, finding, times, ())
            for judge, made in self.of_program
            for kind in judge.kinds
            for finding, times in made.table()
        }
        if not seen:
            return []
        first = next(iter(seen.values())).finding.site
        return [HostCalls(kernel="calls of the host", place=first.file, seen=seen)]

    def worst_first(self) -> list[Entry]:
        """The kernels, and the host's calls if they are wrong, the worst first; equals
        in the order of their first launches.
        """
        entries = [*self.kernels.values(), *self.host_calls]
        return sorted(entries, key=lambda it: it.severity, reverse=True)

    def counts(self) -> Counter:
        """How many different findings of each kind there are, of all kernels."""
        entries = [*self.kernels.values(), *self.host_calls]
        return sum((it.counts() for it in entries), Counter())

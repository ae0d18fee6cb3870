"""What the launches of a program did, by kernel and shape: the worst run of each, and
in how many launches each finding was seen.
"""

import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from thirty_two_lanes.core.device import device
from thirty_two_lanes.core.errors import UnsupportedError
from thirty_two_lanes.core.source import place
from thirty_two_lanes.emulator.report.text import found_before
from thirty_two_lanes.scripts.kinds import FAULTS, KINDS, classified, kind_of, narrowed

NAMES = re.compile("`[^`]*`")


class Sighting(NamedTuple):
    """A finding at its worst, and in how many launches it was seen."""

    kind: str
    finding: object
    launches: int


@dataclass
class KernelLaunches:
    """The launches of one kernel with one number of blocks and threads."""

    kernel: str
    place: str
    blocks: tuple
    threads: tuple
    launches: int = 0
    judged: int = 0
    code: object = None  # the kernel's
    run: object = None  # the worst
    seen: dict = field(default_factory=dict)  # sightings by kind and lines
    stops: Counter = field(default_factory=Counter)  # (kind, sentence): launches
    stopped_at: dict = field(default_factory=dict)  # sentence: site, where it is known

    @property
    def kinds(self) -> set:
        """The kinds of all that was found."""
        return {it.kind for it in self.seen.values()} | {kind for kind, _ in self.stops}

    @property
    def severity(self) -> tuple:
        """By what shapes are sorted, the worst first."""
        faults = self.kinds.intersection(FAULTS)
        wrong = [it for it in self.seen.values() if it.finding.level == "wrong"]
        return len(faults), len(self.stops), len(wrong), self.cost

    @property
    def cost(self) -> float:
        """The lost passes of a warp, of all costly lines."""
        found = (it.finding for it in self.seen.values())
        return sum(it.cost for it in found if it.level != "wrong")

    def add(self, run, kinds) -> bool:
        """Add a launch that was judged; does it show anything new?"""
        run = narrowed(run, kinds)
        found = classified(run)
        known = len(self.seen)
        self.see(found)
        rank = _rank(found)
        if self.run is None or rank > _rank(classified(self.run)):
            self.run = run
        return len(self.seen) > known

    def see(self, found):
        """Note findings of a launch, with their kinds."""
        for kind, finding in found:
            key = _key(kind, finding)
            before = self.seen.get(key, Sighting(kind, finding, 0))
            worse = max(before.finding, finding, key=lambda it: it.cost)
            self.seen[key] = Sighting(kind, worse, before.launches + 1)

    def elsewhere(self) -> list[Sighting]:
        """The sightings that the worst run does not have."""
        run = self.run
        shown = {_key(kind, it) for kind, it in classified(run)} if run else ()
        return [it for key, it in self.seen.items() if key not in shown]


def _key(kind, finding) -> tuple:
    """What is the same finding in two launches; its numbers may differ."""
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
        self.shapes, self.runs = {}, None
        self._lock = threading.Lock()

    def launch(self, launch, *arguments):
        """Run a launch, with all judges if it is its turn."""
        if launch.is_numbas_own:
            return launch.plainly(*arguments)
        shape, judged = self._begin(launch)
        if self.on_launch:
            self.on_launch(self, shape)
        if not judged:
            return launch.plainly(*arguments)
        try:
            run = launch.emulated(*arguments)
        except Exception as error:
            self._stop(shape, error)
            if device.has_gpu and isinstance(error, UnsupportedError):
                return launch.plainly(*arguments)
            raise
        except KeyboardInterrupt:
            with self._lock:
                shape.judged -= 1
            raise
        self._add(shape, run)

    def _begin(self, launch):
        """The shape of a launch, and whether it is judged."""
        function = launch.kernel.py_func
        key = function.__code__, launch.blocks, launch.threads
        with self._lock:
            earlier = sum(
                shape.judged for at, shape in self.shapes.items() if at[0] == key[0]
            )
            where = place(function, function.__code__.co_firstlineno)
            name, size = function.__name__, (launch.blocks, launch.threads)
            new = KernelLaunches(name, where, *size, code=key[0])
            shape = self.shapes.setdefault(key, new)
            judged = self.most is None or earlier < self.most
            shape.launches += 1
            shape.judged += judged
        return shape, judged

    def _add(self, shape, run):
        with self._lock:
            first = shape.run is None
            news = shape.add(run, self.kinds)
            if self.runs is not None:
                self.runs.append(run)
        if self.on_news and (news or first):
            self.on_news(shape)

    def _stop(self, shape, error):
        """Note an error, and what was wrong in its launch before that."""
        kind, sentence = kind_of(error), str(error)
        if run := getattr(error, "run", None):
            sentence = sentence.removesuffix(found_before(run))
            found = classified(narrowed(run, self.kinds))
        with self._lock:
            if run:
                shape.see([it for it in found if it[1].level == "wrong"])
            if kind in self.kinds:
                shape.stops[kind, sentence] += 1
                shape.stopped_at[sentence] = getattr(error, "site", None)
        if self.on_news and shape.kinds:
            self.on_news(shape)

    def worst_first(self) -> list[KernelLaunches]:
        """The shapes, the worst first; equals in the order of their first launches."""
        shapes = list(self.shapes.values())
        return sorted(shapes, key=lambda it: it.severity, reverse=True)

    def counts(self) -> Counter:
        """How many different findings of each kind there are."""
        found = Counter()
        for shape in list(self.shapes.values()):
            found.update(it.kind for it in shape.seen.values())
            found.update(kind for kind, _ in shape.stops)
        return found

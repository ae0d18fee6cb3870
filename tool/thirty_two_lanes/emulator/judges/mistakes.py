"""Silent mistakes: what a GPU does without an error, and is seldom intended.

A negative index that wraps, where it is computed (`a[-1]` is meant); an integer that
does not fit; an exception that ends threads; float64 among float32; a grid that ends
before its array; and as a note, which is no mistake, NumPy arrays that each launch
copies, and elements at arrays' ends that no thread comes to. An argument that is read
as another type than was passed has a kind of its own. A grid that ends before its array
is reported only where a guard says that there is more to do. Not modelled: integers
that a cast to an unsigned type cuts off on purpose.
"""

from functools import partial
from itertools import permutations
from typing import NamedTuple

import numpy as np

from thirty_two_lanes.core.advice.indices.bounds import Outside, Wrapping
from thirty_two_lanes.core.errors import wrapped
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.core.words import Finding, raised
from thirty_two_lanes.emulator.judges.judge import Kind, Registration
from thirty_two_lanes.emulator.judges.printing import Listed
from thirty_two_lanes.emulator.judges.unread import unread_ends

# what lessons call the topic of each kind of mistake; and of a cost
MISTAKES = {
    "wrap": "guards",
    "overflow": "types",
    "exception": "guards",
    "grid": "guards",
}
SIGNATURES = {"signature": "types"}
COSTS = {"float64": "types"}
PLACES = {  # by what the events of a topic are added up
    "negative_index": lambda event: (event.reference.site, event.reference.array),
    "overflow": lambda event: event.site,
    "raised": lambda event: (event.site, event.exception),
}
MOST_LINES = 12  # to name in a sentence


class LineWarning(NamedTuple):
    """A line and a sentence; a note states a fact, not a mistake; `also` are other
    lines that the sentence is about. Of the index in `about` the source says more.
    """

    site: Site
    kind: str
    text: str
    note: bool = False
    also: tuple[int, ...] = ()
    about: Wrapping | Outside | None = None

    @property
    def line(self) -> int:
        """The number of the line."""
        return self.site.line

    @property
    def finding(self) -> Finding:
        """What a report says of it, if it is a mistake or a cost."""
        level = "costly" if self.kind in COSTS else "wrong"
        topic = (MISTAKES | SIGNATURES | COSTS)[self.kind]
        remedy = self.text.partition(". ")[2] if level == "wrong" else ""
        advice = f"{raised(self.text)}."
        return Finding(level, self.site, topic, self.text, advice, remedy=remedy)

    def advised(self, advice):
        """The same with what the source advises, if it does."""
        if advice is None:
            return self
        fact = advice.fact or self.text.partition(". ")[0]
        return self._replace(text=f"{fact}. {raised(advice.sentence)}")

    def __repr__(self):
        return wrapped(f"line {self.line}: {self.text}\n    {self.site.text}")


class LineWarnings(Listed):
    """All warnings and notes of a run."""

    none = "no warning"


class Mistakes:
    """Listens for silent mistakes; `Reuse` knows which elements were stored to."""

    def __init__(self, reuse):
        self.start, self.allocations = None, []
        self.seen = {topic: {} for topic in PLACES}  # the first of each, and how many
        self.reuse = reuse

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        return {
            "launch": self._start,
            "allocation": self.allocations.append,
            **{topic: partial(self._add, topic) for topic in PLACES},
        }

    def _start(self, start):
        self.start = start

    def _add(self, topic, event):
        meant = self.start.program.from_the_end
        if topic == "negative_index" and (event.reference, event.axis) in meant:
            return
        place = PLACES[topic](event)
        first, count = self.seen[topic].get(place, (event, 0))
        self.seen[topic][place] = first, count + event.count

    def table(self) -> LineWarnings:
        """All warnings by line, the notes last."""
        if self.start is None:
            return LineWarnings()
        found = [
            *self._of_negative_indices(),
            *self._of_overflows(),
            *self._of_exceptions(),
            *_of_float64(self.start.program.float64),
            *self._uncovered(),
            *self._of_signatures(),
            *self._tails(),
            *self._unread(),
            *self._notes(),
        ]
        unique = {}
        for warning in found:
            unique.setdefault((warning.site, warning.kind), warning)
        return LineWarnings(
            sorted(unique.values(), key=lambda w: (w.note, w.site.file, w.line))
        )

    def _of_negative_indices(self):
        for (site, array), (first, count) in self.seen["negative_index"].items():
            indices = f"{count:,} negative indices of `{array}` count from its end"
            which = "the first is"
            if count == 1:
                indices = f"a negative index of `{array}` counts from its end"
                which = "it is"
            yield LineWarning(
                site,
                "wrap",
                f"{indices}; {which} {first.index}, in thread {first.thread} of block "
                f"{first.block}, and means element {first.element} along axis "
                f"{first.axis}. If that is not intended, guard this line by the whole "
                "index: where it says `[i - 1]`, by `if i - 1 >= 0`",
                about=Wrapping(site, array, first.reference.kind, first.axis),
            )

    def _of_overflows(self):
        for site, (first, count) in self.seen["overflow"].items():
            yield LineWarning(
                site,
                "overflow",
                f"{first.before} does not fit into {first.dtype} and becomes "
                f"{first.after}, in thread {first.thread} of block {first.block} "
                f"({count:,} such {'value' if count == 1 else 'values'}): use a wider "
                "type",
            )

    def _of_exceptions(self):
        for (site, exception), (first, count) in self.seen["raised"].items():
            threads, first_one = f"{count:,} threads", "the first is"
            if count == 1:
                threads, first_one = "a thread", "it is"
            yield LineWarning(
                site,
                "exception",
                f"`{exception}` ends {threads} in silence; {first_one} thread "
                f"{first.thread} of block {first.block}. Under `@cuda.jit(debug=True, "
                "opt=False)` the launch raises it",
            )

    def _uncovered(self):
        """Arrays that a guard says are longer than the grid that stores to them."""
        sizes = [
            int(b) * int(t)
            for b, t in zip(self.start.grid_dim, self.start.block_dim, strict=True)
        ]
        for traffic, sites in self.reuse.stores.items():
            shape = traffic.allocation.shape
            ways = permutations(reversed(range(len(shape))))  # x along rows first
            for axes in ways if len(shape) <= 3 else ():
                threads = [sizes[axis] for axis in axes]
                short = [
                    n
                    for n, (t, s) in enumerate(zip(threads, shape, strict=True))
                    if 1 < t < s  # of one thread an axis is not what is meant
                ]
                if short and self._ends_early(traffic, threads, short, sizes):
                    yield self._uncovered_by(min(sites), traffic, axes, short[0])
                    break

    def _uncovered_by(self, site, traffic, axes, axis):
        """The warning of an array that goes on behind the threads along an axis."""
        name, shape, grid = traffic.name, traffic.allocation.shape, axes[axis]
        launched = self.start.block_dim, self.start.grid_dim
        threads = int(launched[0][grid]) * int(launched[1][grid])
        along, elements = "", f"{shape[axis]:,} elements"
        length = f"{name}.size" if len(shape) == 1 else f"{name}.shape[{axis}]"
        if len(shape) > 1:
            along, elements = f" along {'xyz'[grid]}", f"{elements} along axis {axis}"
        facts = site, name, "store", axis, threads, shape, 0
        return LineWarning(
            site,
            "grid",
            f"the grid has {threads:,} threads{along}, and `{name}` has {elements}: "
            f"the last {shape[axis] - threads:,} are never stored to. Launch more "
            f"blocks{along}: `({length} + threads - 1) // threads`",
            about=Outside(*facts, *(tuple(map(int, it)) for it in launched)),
        )

    def _ends_early(self, traffic, threads, short, sizes) -> bool:
        """Does each thread store to one element, and the array go on behind them?"""
        shape = traffic.allocation.shape
        box = [min(t, s) for t, s in zip(threads, shape, strict=True)]
        if np.prod(sizes, dtype=object) != np.prod(threads, dtype=object):
            return False
        if traffic.lanes_stored != np.prod(box, dtype=object):
            return False
        if not all(self._guarded(threads[n], shape[n]) for n in short):
            return False
        return bool((traffic.stores[tuple(map(slice, box))] == 1).all())

    def _guarded(self, threads, size) -> bool:
        """Does a guard compare with a size beyond the threads?"""
        return any(
            threads < b <= size for b in map(self._bound, self.start.program.guards)
        )

    def _bound(self, guard) -> int:
        """The number that a guard compares with, 0 when it is not known."""
        if isinstance(guard, str):
            value = self.start.arguments.get(guard)
            return int(value) if isinstance(value, np.integer) else 0
        array = self.start.arguments.get(guard[0])
        if not isinstance(array, np.ndarray):
            return 0
        name = guard[1]
        return array.shape[int(name[5:])] if name.startswith("shape") else array.size

    def _of_signatures(self):
        """What the kernel reads where arguments are not of the types it declares."""
        if self.start.unlike:
            yield LineWarning(
                self.start.program.site,
                "signature",
                f"{'; '.join(self.start.unlike)}. A GPU does the same, without a word: "
                "pass what the signature declares, or change it",
            )

    def _tails(self):
        """A note on arrays of which less than a block at the end is left alone, and so
        it is of another of their length that is loaded: the grid was rounded down.
        """
        threads = [
            int(b) * int(t)
            for b, t in zip(self.start.grid_dim, self.start.block_dim, strict=True)
        ]
        number, block = threads[0], int(self.start.block_dim[0])
        for traffic, sites in self.reuse.stores.items():
            shape = traffic.allocation.shape
            ends = len(shape) == 1 and number < shape[0] < number + block
            if not ends or max(threads[1:]) > 1 or traffic.lanes_stored != number:
                continue
            if self._guarded(number, shape[0]):
                continue  # a mistake, and told as one
            loaded = [
                it.name
                for names in self.reuse.arguments.values()
                for it in names.values()
                if it is not traffic and it.allocation.shape == shape
                if _is_begun(it.loads, number)
            ]
            if loaded and _is_begun(traffic.stores, number):
                yield LineWarning(
                    min(sites),
                    "tail",
                    f"nobody stores to `{traffic.name}[{number}:{shape[0]}]`, or loads "
                    f"`{loaded[0]}` there. If that is not intended, round the blocks "
                    f"up, `({traffic.name}.size + threads - 1) // threads`, and guard "
                    "this line",
                    note=True,
                )

    def _unread(self):
        """A note on the ends of two factors that no thread loads."""
        for one, other, length in unread_ends(self.reuse):
            yield LineWarning(
                self.start.program.site,
                "tail",
                f"nobody loads `{one}` or `{other}`. If that is not intended, let the "
                f"loop through both go on to `{length}`",
                note=True,
            )

    def _notes(self):
        site = self.start.program.site
        host = [
            r
            for r in self.allocations
            if not r.device and r.name.partition("[")[0] in self.start.arguments
        ]
        names = [f"`{name}`" for name in dict.fromkeys(r.name for r in host)]
        if names:
            size = sum({r.start: r.size for r in host}.values())
            what, whose, them = ("are NumPy arrays", "their", "them")
            if len(names) == 1:
                what, whose, them = ("is a NumPy array", "its", "it")
            yield LineWarning(
                site,
                "host arrays",
                f"{', '.join(names)} {what}: on a GPU every launch copies {whose} "
                f"{size:,} bytes to the device and back. Copy {them} once with "
                "`cuda.to_device`",
                note=True,
            )


def _is_begun(counts, number) -> bool:
    """Are these all of the first elements, and no others?"""
    return bool(counts[:number].all() and not counts[number:].any())


_CAUSES = {
    "number": "the number {0} is not a float32: write `float32({0})`",
    "division": "dividing integers gives a float64: write `{0}`",
    "integer": "the integer `{0}` makes this a float64: convert it with `float32({0})`",
    "an integer": "an integer makes this a float64: convert it with `float32(...)`",
    "variable": "`{0}` starts as a Python number, not a float32: start with "
    "`float32(...)`",
    "argument": "the argument `{0}` is a float64: pass `np.float32(...)`",
}


def _of_float64(found):
    """One warning for all lines, at the first, with what makes that one float64."""
    if not found:
        return
    first, *others = sorted(found, key=lambda it: it.site)
    also, more = "", tuple(it.site.line for it in others)
    if more:
        lines = list(map(str, more))
        rest = ["…"] * (len(lines) > MOST_LINES)
        shown = ", ".join([*lines[:MOST_LINES], *rest])
        also = f", as {len(lines)} more lines do ({shown})"
        if len(lines) == 1:
            also = f", as line {shown} does"
    what = first.what
    if first.cause == "division":
        what = what or "float32(i) / float32(n)"
    unnamed = first.cause == "integer" and not what
    cause = _CAUSES["an integer" if unnamed else first.cause].format(what)
    yield LineWarning(
        first.site,
        "float64",
        f"computes in float64{also}: {cause}. The arrays are float32, and float64 is "
        "slower on every GPU, by up to 64 times",
        also=more,
    )


def findings(run):
    """The mistakes, signatures, and then the cost of float64."""
    for kinds in MISTAKES, SIGNATURES, COSTS:
        yield from (it.finding for it in run.warnings if it.kind in kinds)


JUDGE = Registration(
    "warnings",
    Mistakes,
    needs=("reuse",),
    findings=findings,
    kinds=(
        Kind(
            "mistakes",
            50,
            ("likely mistake", "likely mistakes"),
            has=lambda it: it.kind in MISTAKES,
        ),
        Kind(
            "signatures",
            52,
            ("launch unlike its signature", "launches unlike their signature"),
            has=lambda it: it.kind in SIGNATURES,
        ),
        Kind("float64", 100, has=lambda it: it.kind in COSTS),
    ),
)

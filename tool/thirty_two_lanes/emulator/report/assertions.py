"""What an exercise may require of a run: each assertion returns the run, so that they
chain, or fails with the line, the figure and the remedy.

`line` and `array` narrow an assertion to a line's number and to an array's name in the
kernel; one that the kernel never touches fails, too.
"""

import numpy as np

from thirty_two_lanes.core.errors import with_doors
from thirty_two_lanes.core.words import counted, lowered
from thirty_two_lanes.emulator.judges import JUDGES
from thirty_two_lanes.emulator.judges.banks import conflict
from thirty_two_lanes.emulator.judges.coalescing import scattered
from thirty_two_lanes.emulator.judges.divergence import idling

_ONCE = (
    "Load it once into a register, or into a tile in shared memory that the threads of "
    "a block share"
)


@with_doors
class RunAssertions:
    """The assertions of a Run."""

    def assert_no_races(self, line=None, array=None, minor=False):
        """No two threads race; with `minor`, no two lanes of a warp either."""
        self._require_touched(line, array)
        races = [*self.races, *(self.races.minor if minor else ())]
        found = [r for r in races if _is_on(r.first, line) or _is_on(r.second, line)]
        found = [r for r in found if array in (None, r.array)]
        if found:
            lines = "; ".join(
                f"line {site.line}, `{site.text}`: {access}"
                for site, access in found[0].accesses
            )
            fail(f"{found[0].title} ({lines}). {found[0].remedy}", len(found), "race")
        return self

    def assert_barriers(self, line=None):
        """Every thread of a block reaches each barrier at which others meet."""
        return self._none_of(self.barriers, "such barrier", line)

    def assert_lanes(self, line=None):
        """Shuffles and votes read and name only lanes that execute them."""
        return self._none_of(self.lanes, "such line", line)

    def assert_no_bank_conflicts(self, line=None, array=None):
        """Each request to shared memory takes its ideal number of wavefronts."""
        self._require_touched(line, array)
        rows = _rows(self.bank_conflicts, line, array)
        found = [
            (row.conflicts, conflict(site, row, self.strides)) for site, row in rows
        ]
        return self._worst(found, "such line")

    def assert_coalesced(self, line=None, array=None, at_most=None):
        """Each request to global memory touches its ideal number of sectors, or at most
        `at_most`.
        """
        self._require_touched(line, array)
        found = []
        for site, row in _rows(self.coalescing, line, array):
            limit = max(row.ideal_sectors, (at_most or 0) * row.requests)
            excess = row.sectors - limit
            moved = self.strides.moved.get(site)
            found.append((excess, scattered(site, row, limit, moved)))
        return self._worst(found, "such line")

    def assert_initialised(self, line=None, array=None):
        """Nothing is read before it was written, nor a variable before it is set."""
        variables = self.unset if array is None else ()
        found = [*self.uninitialised, *variables]
        return self._none_of(found, "such line", line, array)

    def assert_no_divergence(self, line=None, at_least=None):
        """No branch splits a warp; or at least this share of the lanes that its warps
        have is active.
        """
        self._require_touched(line, None)
        table = self.divergence
        rows = [(s, r) for s, r in table.by_line.items() if _is_on(s, line)]
        if at_least is None:
            _no_splits(rows)
        elif line is None and table.active_of_present < at_least:
            site, row = max(rows, key=lambda it: _idle(it[1]))
            fail(
                f"{table.active_of_present:.3%} of the lanes are active, and at least "
                f"{at_least:.3%} must be; most lanes are idle on line {site.line}, "
                f"`{site.text}`. {idling(site, row).advice}"
            )
        elif line is not None:
            low = [(s, r) for s, r in rows if r.active_of_present < at_least]
            for site, row in low[:1]:
                _fail_at(idling(site, row), len(low), "such line")
        return self

    def assert_no_warnings(self, line=None, notes=False):
        """No silent mistake was made; with `notes`, nothing was noted either."""
        self._require_touched(line, None)
        found = [w for w in self.warnings if notes or not w.note]
        found = [w for w in found if _is_on(w.site, line) or line in w.also]
        for warning in found[:1]:
            text = f"line {warning.line}, `{warning.site.text}`: {warning.text}"
            fail(text, len(found), "warning")
        return self

    def assert_loads(self, at_most, array=None, average=False):
        """Each element of an argument is loaded at most `at_most` times, by all threads
        together; or on average, over the elements that are loaded.
        """
        self._require_touched(None, array)
        for name, traffic in self.reuse.items():
            if average:
                if array in (None, name) and traffic.reuse > at_most:
                    fail(
                        f"an element of `{name}` is loaded {traffic.reuse:.4g} times "
                        f"on average; the limit is {at_most:.4g}. {_ONCE}"
                    )
                continue
            most = int(traffic.loads.max(initial=0))
            if array in (None, name) and most > at_most:
                first = ", ".join(map(str, np.argwhere(traffic.loads == most)[0]))
                fail(
                    f"`{name}[{first}]` is loaded {counted(most, 'time')}; the limit "
                    f"is {at_most:,}. {_ONCE}"
                )
        return self

    def assert_loads_once(self, array=None):
        """Each element of an argument is loaded by one thread, once."""
        return self.assert_loads(1, array)

    def _none_of(self, records, noun, line, array=None):
        """Fail with the worst of a judge's records on a line, and of an array."""
        self._require_touched(line, array)
        found = [it for it in records if _is_on(it.site, line)]
        found = [it.finding for it in found if array is None or it.array == array]
        return self._worst([(it.cost, it) for it in found], noun)

    def _worst(self, found, noun):
        """Fail with the worst of (excess, finding), if one has any."""
        found = [it for it in found if it[0] > 0]
        if found:
            _fail_at(max(found, key=lambda it: it[0])[1], len(found), noun)
        return self

    def _require_touched(self, line, array):
        """Fail for a line or an array that the kernel does not touch."""
        tables = (getattr(self, judge.name) for judge in JUDGES)
        by_line = [it.by_line for it in tables if hasattr(it, "by_line")]
        rows = [row for table in by_line for row in table.values()]
        arrays = {row.array for row in rows if hasattr(row, "array")}
        if array is not None and array not in arrays:
            known = ", ".join(f"`{name}`" for name in sorted(arrays)) or "none"
            fail(f"the kernel touches no array `{array}`; it touches {known}")
        lines = {line for table in by_line for site in table for line in _lines(site)}
        if line is not None and line not in lines:
            known = ", ".join(map(str, sorted(lines))) or "none"
            fail(f"line {line} did not run; lines that ran: {known}")


def fail(text, number=1, noun=""):
    """Raise an AssertionError that also says how many more there are."""
    more = f" There is 1 more {noun}." if number == 2 else ""
    if number > 2:
        more = f" There are {number - 1:,} more {noun}s."
    raise AssertionError(f"{text}.{more}" if text[-1] not in ".…" else f"{text}{more}")


def _fail_at(finding, number, noun):
    site = finding.site
    fail(f"line {site.line}, `{site.text}`: {lowered(finding.advice)}", number, noun)


def _lines(site):
    """The line numbers of a site: its own, and that of the call."""
    return {site.line, site.called_from or site.line}


def _is_on(site, line) -> bool:
    return line is None or line in _lines(site)


def _rows(table, line, array):
    """The rows of a table on a line and of an array."""
    for site, row in table.by_line.items():
        if _is_on(site, line) and array in (None, row.array):
            yield site, row


def _idle(row):
    return row.present_lanes - row.active_lanes


def _no_splits(rows):
    """Fail with the branch that splits most warps."""
    split = [(site, row) for site, row in rows if row.splits]
    if split:
        site, row = max(split, key=lambda it: it[1].splits)
        fail(
            f"line {site.line}, `{site.text}`: this branch splits {row.splits:,} of "
            f"the {counted(row.branches, 'warp')} that reach it. Make the condition "
            "the same for all 32 threads of a warp",
            len(split),
            "such line",
        )

"""What the pytest plugin does with `--emulate`: judges the launches of each test.

A finding of a kind that fails the test does so in the phase in which it was made:
set-up, call or tear-down. The counts travel with pytest's reports, and so from the
processes of pytest-xdist, too. Not modelled: launches while tests are collected.
"""

from collections import Counter

import pytest

from thirty_two_lanes.core.errors import shown
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.scripts.github import annotations
from thirty_two_lanes.scripts.kinds import FAULTS, UnknownKind, kinds_in
from thirty_two_lanes.scripts.ledger import Ledger
from thirty_two_lanes.scripts.report import found, kernel_as_text, launches
from thirty_two_lanes.scripts.told import Paths, in_a_workflow, told


class LaunchesOfTest:
    """The launches of a test so far."""

    def __init__(self):
        self.runs = []  # a Run of each that was judged

    def __repr__(self):
        return f"{launches(len(self.runs))} of this test, judged: see `.runs`"


class PytestJudge:
    """Hands the launches of each test to a ledger, and fails the test for it."""

    def __init__(self, most, fail_on):
        if most is not None and most < 0:
            raise pytest.UsageError(f"--emulate-launches: {most} is below 0")
        self.most = most
        self.fail_on = _kinds(fail_on) if fail_on else FAULTS
        self.launches, self.ledger, self.reported = LaunchesOfTest(), None, Counter()
        self.totals, self.kernels, self.failed, self.tests = Counter(), set(), [], 0
        self.paths, self.told, self.expected = Paths.here(), {}, set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.ledger, self.reported = Ledger(self.fail_on, self.most), Counter()
        self.refusal = self._heed(item.iter_markers("emulate"))
        self.launches = LaunchesOfTest()
        if "emulated" in getattr(item, "fixturenames", ()):
            self.ledger.runs = self.launches.runs
        with self.ledger.judging():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self):
        result = yield
        if self.refusal:
            pytest.fail(self.refusal, pytrace=False)
        return self._judged(result)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self):
        return self._judged((yield))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        try:
            result = yield
        except BaseException:
            if self._is_news():
                item.add_report_section("call", "emulated launches", self._said())
            raise
        return self._judged(result)

    def _heed(self, markers) -> str:
        """Judge as a test's markers ask; what is wrong with one, or ""."""
        numbers, ledger = [], self.ledger
        for marker in markers:  # the test's own first
            try:
                allowed, number = _of_marker(*marker.args, **marker.kwargs)
            except (TypeError, UnknownKind) as error:
                reason = str(error).removeprefix(f"{_of_marker.__name__}() ")
                return f"the marker `emulate`: {reason}"
            ledger.kinds = tuple(kind for kind in ledger.kinds if kind not in allowed)
            numbers += [number] if number is not None else []
        ledger.most = numbers[0] if numbers else self.most
        return ""

    def _judged(self, result):
        """What a phase gave; or the test fails for what its launches did."""
        if self._is_news():
            pytest.fail(self._said(), pytrace=False)
        return result

    def _is_news(self) -> bool:
        """Was anything found since the last time?"""
        counts = self.ledger.counts()
        news, self.reported = counts != self.reported, counts
        return news

    def _said(self) -> str:
        """The report of the kernels with something wrong, in the report's words."""
        kinds = self.ledger.kinds
        wrong = [entry for entry in self.ledger.worst_first() if entry.kinds]
        texts = [kernel_as_text(entry, kinds) for entry in wrong]
        return "\n\n".join([first_line(wrong[0]), *texts])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        heard = self.ledger.kernels or self.ledger.host_calls
        if call.when == "teardown" and heard:
            entries = self.ledger.kernels.values()
            kinds = self.ledger.kinds
            report.emulated = {
                "launches": sum(entry.launches for entry in entries),
                "judged": sum(entry.judged for entry in entries),
                "kernels": sorted({f"{it.kernel} ({it.place})" for it in entries}),
                "found": found(self.ledger, kinds) if self.ledger.counts() else "",
            }
            if in_a_workflow():
                of_test = told(self.ledger, kinds, self.paths)
                report.emulated["annotations"] = annotations(of_test)
        return report

    def pytest_runtest_logreport(self, report):
        """Add up, where the reports of all processes come together."""
        if hasattr(report, "wasxfail"):
            self.expected.add(report.nodeid)
        seen = getattr(report, "emulated", None)
        if seen:
            self.tests += 1
            self.totals.update({name: seen[name] for name in ("launches", "judged")})
            self.kernels.update(seen["kernels"])
            self.failed += [(report.nodeid, seen["found"])] if seen["found"] else []
            if report.nodeid not in self.expected:
                self.told |= dict.fromkeys(seen.get("annotations", ()))

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("emulated launches")
        tests = counted(self.tests, "test")
        kernels = counted(len(self.kernels), "kernel")
        judged, total = self.totals["judged"], self.totals["launches"]
        some = "" if judged == total else f", {judged:,} of them judged"
        terminalreporter.line(f"{tests}, {kernels}, {launches(total)}{some}")
        for name, what in self.failed:
            terminalreporter.line(f"{name}: {what}")
        for line in self.told:  # where several tests show it, once
            terminalreporter.line(line)


def first_line(entry) -> str:
    """The kernel's line and what is wrong there: all that pytest's summary shows."""
    for sighting in entry.seen.values():
        return f"{sighting.finding.site.place}: {sighting.finding.what}"
    stop, *_ = entry.stops.values()
    return f"{entry.place}: {stop.sentence.splitlines()[0]}"


def _of_marker(allow="", launches=None):
    """The kinds that a marker allows, and how many launches it wants to be judged."""
    if not isinstance(allow, str):
        raise TypeError(f"`allow` is a text, as 'races,bounds', not {shown(allow)}")
    if launches is not None and (not isinstance(launches, int) or launches < 0):
        said = shown(launches)
        raise TypeError(f"`launches` is a whole number, 0 or more, not {said}")
    return kinds_in(allow), launches


def _kinds(text) -> tuple[str, ...]:
    """The kinds that a setting names."""
    try:
        return kinds_in(text)
    except UnknownKind as error:
        raise pytest.UsageError(f"emulate_fail_on: {error}") from None

"""What a program's launches did: sums over launches, and the worst of each kernel."""

import io
import re
from collections import Counter

import numpy as np
import pytest
from numba import cuda, float32

from helpers import emulate
from tests.specimens import zoo
from tests.specimens.kernels import line_of
from thirty_two_lanes.emulator.report.findings import findings_of
from thirty_two_lanes.scripts.kinds import (
    FAULTS,
    KINDS,
    UnknownKind,
    classified,
    kinds_in,
    narrowed,
)
from thirty_two_lanes.scripts.launches import PlainLaunch, handed_to
from thirty_two_lanes.scripts.ledger import Ledger
from thirty_two_lanes.scripts.progress import Progress
from thirty_two_lanes.scripts.report import as_lines, level_of


@cuda.jit
def shared_by(values, threads):
    """As many threads as told add to one cell; below 0, they read what nobody wrote."""
    tile = cuda.shared.array(2, float32)
    if cuda.threadIdx.x < threads:
        values[0] += float32(1)
    if threads < 0:
        values[1] = tile[0]  # unwritten


@cuda.jit
def scaled(values):
    """A column of a square: far apart."""
    values[cuda.threadIdx.x, 0] += values[cuda.threadIdx.x, 1]


def ledger_of(launch, **options):
    """What a ledger has after some launches."""
    ledger = Ledger(**options)
    with handed_to(ledger.launch):
        launch()
    return ledger


def some_launches():
    """Three of one shape: fine, with a race of 40 threads and of 64."""
    for threads in (0, 40, 64, -1):
        shared_by[1, 64](np.zeros(2, np.float32), threads)
    scaled[1, 32](np.zeros((32, 32), np.float32))


@cuda.jit
def two_unwritten(values, many):
    """Read one or two cells of each of two arrays, on one line."""
    a, b = cuda.local.array(2, float32), cuda.local.array(2, float32)
    for k in range(many):
        values[k] = a[k] + b[k]


def test_two_arrays_on_one_line_are_two_findings():
    """Their numbers differ between the launches, and their names do not."""

    def launches():
        for many in (1, 2):
            two_unwritten[1, 1](np.zeros(2, np.float32), many)

    ledger = ledger_of(launches, kinds=FAULTS)
    (shape,) = ledger.worst_first()

    assert {"uninitialised": 2} == ledger.counts()
    assert [2, 2] == [it.launches for it in shape.seen.values()]
    assert "1 kernel, 2 launches: 2 uninitialised reads." in as_lines(ledger, FAULTS)


@cuda.jit
def kept_below(values, most):
    """The first lanes of each warp store."""
    if cuda.threadIdx.x % 32 < most:
        values[cuda.threadIdx.x] = most


def test_a_line_whose_share_differs_between_launches_is_one_finding():
    """A sentence that begins with its number is told by the words behind it."""

    def launches():
        for most in (4, 8):
            kept_below[1, 64](np.zeros(64, np.int32), most)

    (shape,) = ledger_of(launches).worst_first()

    assert [("divergence", 2)] == [(it.kind, it.launches) for it in shape.seen.values()]
    assert [] == shape.elsewhere()


def test_launches_of_a_kernel_are_one_entry():
    """The worst run is kept; each finding has the number of launches that show it."""
    worst, other = ledger_of(some_launches).worst_first()

    assert ("shared_by", 4, 4) == (worst.kernel, worst.launches, worst.judged)
    seen = sorted((it.kind, it.launches) for it in worst.seen.values())
    kinds = ["races", "races", "same-value", "same-value", "uninitialised"]
    assert list(zip(kinds, [2, 2, 1, 1, 1], strict=True)) == seen
    expected = emulate(shared_by)[1, 64](np.zeros(2, np.float32), 64)
    assert expected == worst.run
    assert ["uninitialised", "same-value", "same-value"] == [
        it.kind for it in worst.elsewhere()
    ]
    assert ("scaled", {"sectors"}) == (other.kernel, other.kinds)


def test_the_report_tells_what_other_launches_had():
    """Below the run that is shown."""
    said = as_lines(ledger_of(some_launches), FAULTS)

    line = line_of(shared_by, "# unwritten")
    assert f"  in another launch: line {line}: reads 1 cell of shared `tile`" in said
    assert said.endswith(
        "2 kernels, 5 launches: 2 races, 1 uninitialised read, 2 races of equal stores."
    )


def test_closures_of_one_function_are_one_kernel():
    """A kernel that is made again for each call, as factories do."""

    def made(factor):
        def times(values):
            values[cuda.threadIdx.x] *= factor

        return cuda.jit(times)

    def launch():
        for factor in (2, 3):
            made(factor)[1, 32](np.ones(32))

    (shape,) = ledger_of(launch).worst_first()

    assert ("times", 2) == (shape.kernel, shape.launches)


def test_a_ledger_narrows_what_it_keeps():
    """Only the kinds that were asked for, in findings and in the run."""
    worst = ledger_of(some_launches, kinds=("sectors",)).worst_first()[0]

    assert ("scaled", {"sectors"}) == (worst.kernel, worst.kinds)
    assert 0 == worst.run.divergence.instructions


def test_kinds_are_named_in_any_order():
    """And `none` is a way to name none."""
    assert ("races", "banks") == kinds_in("banks,races")
    assert () == kinds_in("none")
    with pytest.raises(UnknownKind, match="no kind bank: races, warp, bounds"):
        kinds_in("races,bank")


SPECIMENS = [it for it in zoo.ZOO if not it.error and not it.hangs]


@pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda it: it.name)
def test_each_finding_has_one_kind(specimen):
    """All kinds together show what a run shows, none twice."""
    run = emulate(specimen.kernel)[specimen.launch](*specimen.fresh())

    assert run is narrowed(run, KINDS)
    assert sorted(map(repr, findings_of(run))) == sorted(
        repr(finding) for _, finding in classified(run)
    )


@pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda it: it.name)
def test_the_report_counts_in_its_sum_what_it_shows_above(specimen):
    """However many races two lines have, and of one launch or of three."""

    def launches():
        for _ in range(3):
            specimen.kernel[specimen.launch](*specimen.fresh())

    ledger = ledger_of(launches)
    (entry,) = ledger.worst_first()

    lost = [it for it in entry.run.races.minor if it.same_value or it.implied]
    within = len(entry.run.races.minor) - len(lost)
    counts = ledger.counts()
    assert (len(entry.run.races), within) == (counts["races"], counts["warp"])
    assert counts == Counter(
        kind for kind, it in classified(entry.run) for _ in range(it.count)
    )


@cuda.jit
def by_halves(values):
    """Adds the halves of a block's numbers, and lacks a barrier."""
    tile = cuda.shared.array(1024, float32)
    t, half = cuda.threadIdx.x, cuda.blockDim.x // 2
    tile[t] = values[t]
    if t < half:
        values[t] = tile[t] + tile[t + half]


def test_shapes_of_a_kernel_are_one_entry_and_say_how_many_more():
    """Each finding is said and counted once, with the launches that have it."""

    def launches():
        for threads in (64, 128, 256, 128):
            by_halves[1, threads](np.zeros(256, np.float32))

    ledger = ledger_of(launches, kinds=FAULTS)
    (entry,) = ledger.worst_first()
    said = as_lines(ledger, FAULTS)

    assert re.match(
        r"wrong: by_halves \(.*\), \[1, 256\] and 2 more: 4 launches\n", said
    )
    assert 1 == said.count("RAW race on shared `tile`: ")
    assert said.endswith("\n1 kernel, 4 launches: 1 race, 1 uninitialised read.")
    assert [4, 3] == sorted((it.launches for it in entry.seen.values()), reverse=True)


def test_a_line_that_stops_several_launches_is_one_error():
    """By its line and its names; the first of the sentences stands for all."""

    def launches():
        for threads in (128, 256):
            with pytest.raises(IndexError):
                by_halves[1, threads](np.zeros(64, np.float32))

    ledger = ledger_of(launches, kinds=("bounds",))
    said = as_lines(ledger, FAULTS)

    assert 1 == said.count("bounds: ") and "(in 2 launches)" in said
    assert said.endswith("1 kernel, 2 launches: 1 index out of bounds.")


def test_what_only_other_shapes_have_is_said_with_their_blocks_and_threads():
    """And, as it is wrong, with its advice."""

    def launches():
        for threads, summed in ((64, 64), (128, -1)):
            shared_by[1, threads](np.zeros(2, np.float32), summed)

    said = as_lines(ledger_of(launches, kinds=FAULTS), FAULTS)

    assert "[1, 64] and 1 more: 2 launches" in said
    line = line_of(shared_by, "# unwritten")
    assert f"  in another launch, [1, 128]: line {line}: reads 1 cell of " in said
    assert "that nobody wrote: store to each cell first" in " ".join(said.split())


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_progress_waits_before_it_speaks():
    """Nothing in the first seconds, then a line from time to time."""
    clock, stream = Clock(), io.StringIO()
    progress = Progress(stream, clock)
    ledger = ledger_of(some_launches)
    (first, _) = ledger.worst_first()

    for now in (0, 1.9, 2.1, 3, 20, 33):
        clock.now = now
        progress(ledger, first)

    assert (
        "thirty_two_lanes run: launch 3: shared_by\n"
        "thirty_two_lanes run: launch 6: shared_by\n" == stream.getvalue()
    )


def test_an_exception_of_a_debugged_kernel_stops_its_launch():
    """It is the program's to catch, and its launch is not fine."""

    @cuda.jit(debug=True, opt=False)
    def raises(values):
        raise ValueError("five")

    def launch():
        with pytest.raises(ValueError):
            raises[1, 32](np.zeros(2, np.float32))

    [shape] = ledger_of(launch).worst_first()

    [stop] = shape.stops.values()
    assert ("errors", 1) == (stop.kind, stop.launches)
    assert stop.sentence.endswith("five")


def test_what_was_not_judged_is_not_called_fine():
    """Left out, or interrupted before its end."""

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    left_out = ledger_of(lambda: scaled[1, 1](np.zeros((1, 2), np.float32)), most=0)
    ledger = Ledger()
    with handed_to(ledger.launch), pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlainLaunch, "emulated", interrupted)
        with pytest.raises(KeyboardInterrupt):
            scaled[1, 1](np.zeros((1, 2), np.float32))

    for one in (left_out, ledger):
        assert as_lines(one, FAULTS).startswith("not judged: scaled")
        assert "1 launch, 0 of them judged: nothing wrong." in as_lines(one, FAULTS)


def test_a_kernel_of_no_module_is_judged():
    """As `exec` makes it with names of its own."""
    names = {"cuda": cuda}
    exec("@cuda.jit\ndef first(values): values[0] = cuda.threadIdx.x", names)

    ledger = ledger_of(lambda: names["first"][1, 64](np.zeros(2, np.float32)))

    assert names["first"].py_func.__module__ is None
    assert {"races": 1} == ledger.counts()


def test_a_race_of_equal_stores_fails_a_program_only_if_that_is_asked_for():
    """It is a kind of its own, and none of the races."""

    @cuda.jit
    def flag(raised):
        raised[0] = 3

    (shape,) = ledger_of(lambda: flag[1, 64](np.zeros(1, np.int32))).worst_first()

    assert {"same-value"} == shape.kinds
    assert ["fine", "wrong"] == [
        level_of(shape, kinds) for kinds in (FAULTS, ("same-value",))
    ]

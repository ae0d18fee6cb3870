"""Races within a warp: together for each array, unless the lines race between warps."""

import numpy as np
import pytest
from numba import cuda, float32

from tests.emulator.report.made_by_hand import hand_made, race, site
from tests.specimens.kernels import line_of
from thirty_two_lanes import emulate
from thirty_two_lanes.core.warp_races import within_warps
from thirty_two_lanes.emulator.report.findings import findings_of
from thirty_two_lanes.emulator.report.page import as_html
from thirty_two_lanes.emulator.report.text import as_text
from thirty_two_lanes.scripts.kinds import classified

SEVEN, EIGHT, NINE = site(7), site(8), site(9)
SYNC = "`cuda.syncwarp()`"
PUT = f"Put {SYNC} between each two of "
WAR = {"kind": "WAR", "first_kind": "load", "second_kind": "store"}


@cuda.jit
def by_one_warp(values, out):
    """A sum whose last steps trust in lanes that step together."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = values[t]
    cuda.syncthreads()
    if t < 32:
        s[t] += s[t + 32]  # first
        s[t] += s[t + 16]  # second
        s[t] += s[t + 8]  # last
    out[t] = s[t]


@cuda.jit
def as_advised(values, out):
    """The same with what the report asks for, and nothing else."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = values[t]
    cuda.syncthreads()
    if t < 32:
        s[t] += s[t + 32]
        cuda.syncwarp()
        second = s[t] + s[t + 16]
        cuda.syncwarp()
        s[t] = second
        cuda.syncwarp()
        last = s[t] + s[t + 8]
        cuda.syncwarp()
        s[t] = last
    out[t] = s[t]


def run_of(kernel):
    return emulate(kernel)[1, 64](np.ones(64, np.float32), np.zeros(64, np.float32))


def test_many_races_of_an_array_are_one_line_with_one_advice():
    """On a terminal, on a page, and among the findings, as a kind of their own."""
    run = run_of(by_one_warp)
    first, second, last = (
        line_of(by_one_warp, f"# {it}") for it in ("first", "second", "last")
    )

    title = f"{len(run.races.minor)} races within a warp on shared `s`, "
    title += f"lines {first} to {last}"
    lines = as_text(run).splitlines()
    assert [f"  {title}"] == [it for it in lines if "on shared" in it]
    _, accesses = "\n".join(lines).split(title)
    assert all(f"{site.label}  " in accesses for site, _ in run.races.minor[0].accesses)
    assert f", {len(run.races.minor)} races within a warp, " in " ".join(lines[:2])
    assert "minor" not in as_text(run) and "minor race" not in as_html(run)
    [(kind, finding)] = [it for it in classified(run) if it[1].topic == "races"]
    assert ("warp", "wrong", title) == (kind, finding.level, finding.what)
    assert len(run.races.minor) == finding.count > 5
    assert (
        f"between each two of lines {first} to {last}, where all lanes of the warp "
        f"come by; on lines {second} and {last} load into a variable first"
    ) in finding.advice


def test_the_advice_leaves_no_race():
    """Every edit that it asks for, and the same sums."""
    outs = [np.zeros(64, np.float32) for _ in range(2)]
    runs = [
        emulate(kernel)[1, 64](np.arange(64, dtype=np.float32), out)
        for kernel, out in zip((by_one_warp, as_advised), outs, strict=True)
    ]

    assert runs[0].races.minor and not runs[1].races.minor
    np.testing.assert_array_equal(*outs)


@cuda.jit
def in_a_loop(values, out, waits):
    """In a loop, whose `if` some lanes do not take; or with what is advised."""
    s = cuda.shared.array(32, float32)
    t, step = cuda.threadIdx.x, 16
    s[t] = values[t]  # filled
    while step:
        if waits:
            cuda.syncwarp()
        if t < step:
            s[t] += s[t + step]  # added
        step //= 2
    if t == 0:
        out[0] = s[0]


def test_in_a_loop_all_lanes_wait_between_its_iterations():
    """A place that is within no `if`; no line need be taken apart."""
    runs = [
        emulate(in_a_loop)[1, 32](np.ones(32, np.float32), np.zeros(32), waits)
        for waits in (False, True)
    ]

    [group] = within_warps(runs[0].races.minor)
    first, last = (line_of(in_a_loop, f"# {it}") for it in ("filled", "added"))
    assert group.remedy == (
        f"{PUT}lines {first} and {last}, where all lanes of the warp come by, and "
        "between the loop's iterations"
    )
    assert not runs[1].races.minor


@cuda.jit
def by_half_a_warp(values, out, count):
    """Lanes that an `if` keeps out never come to its lines: the first with a number
    that the source says, the second with one that it does not.
    """
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = values[t]
    cuda.syncwarp()
    if t < 16:  # half
        s[t] += s[t + 16]  # one
        s[t] += s[t + 8]  # two
        s[t] += s[t + 4]  # three
    cuda.syncwarp()
    if t < count:  # some
        s[t] += s[t + 2]  # four
        s[t] += s[t + 1]  # five
    out[t] = s[t]


@cuda.jit
def by_half_as_advised(values, out, count):
    """The same with what the report asks for, and nothing else."""
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = values[t]
    cuda.syncwarp()
    if t < 16:
        s[t] += s[t + 16]
        cuda.syncwarp(0xFFFF)
        two = s[t] + s[t + 8]
        cuda.syncwarp(0xFFFF)
        s[t] = two
        cuda.syncwarp(0xFFFF)
        three = s[t] + s[t + 4]
        cuda.syncwarp(0xFFFF)
        s[t] = three
    cuda.syncwarp()
    if t < count:
        four = s[t] + s[t + 2]
    cuda.syncwarp()
    if t < count:
        s[t] = four
    cuda.syncwarp()
    if t < count:
        five = s[t] + s[t + 1]
    cuda.syncwarp()
    if t < count:
        s[t] = five
    out[t] = s[t]


def test_lanes_that_an_if_keeps_out_do_not_wait():
    """The others wait for each other by their mask, or the `if` ends before that."""
    outs = [np.zeros(32, np.float32) for _ in range(2)]
    first, second = (
        emulate(kernel)[1, 32](np.arange(32, dtype=np.float32), out, 4)
        for kernel, out in zip((by_half_a_warp, by_half_as_advised), outs, strict=True)
    )
    at = {
        name: line_of(by_half_a_warp, f"# {name}")
        for name in ("half", "one", "two", "three", "some", "four", "five")
    }

    remedies = {it.remedy for it in within_warps(first.races.minor)}
    assert (
        f"Put `cuda.syncwarp(0xffff)` between each two of lines {at['one']} to "
        f"{at['three']}, where the `if` of line {at['half']} lets the first 16 lanes "
        f"come by alone; on lines {at['two']} and {at['three']} load into a variable "
        "first, then `cuda.syncwarp(0xffff)`, then store"
    ) in remedies
    ended = f"and end the `if` of line {at['some']} before it and begin it again"
    assert any(ended in it for it in remedies)
    assert not second.races.minor
    np.testing.assert_array_equal(*outs)


@cuda.jit
def no_barrier(values):
    """A missing barrier: warps race, and lanes, too."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = values[t]
    values[t] = s[t ^ 33]
    s[t] = 1
    values[t] += s[t ^ 1]


def test_lines_that_race_between_warps_have_that_remedy_alone():
    """Those that only lanes of one warp race for have their own."""
    run = emulate(no_barrier)[1, 64](np.ones(64, np.float32))

    [group] = within_warps(run.races.minor)
    wide = {(it.kind, it.first.line, it.second.line) for it in run.races}
    assert wide and not wide & {
        (it.kind, it.first.line, it.second.line) for it in group.races
    }
    implied = [it for it in run.races.minor if it.implied]
    assert {(it.kind, it.first.line, it.second.line) for it in implied} <= wide
    assert {"warp": 1, "races": len(wide)} == {
        kind: sum(it[0] == kind for it in classified(run)) for kind in ("warp", "races")
    }


def lanes(**changes):
    return race(scope="warp", **changes)


@pytest.mark.parametrize(
    "races, title, told",
    [
        (
            [lanes(first=SEVEN, second=SEVEN), lanes(first=SEVEN, second=SEVEN, **WAR)],
            "2 races within a warp on shared `tile`, line 7",
            f"Load into a variable first, then {SYNC}, then store; in a loop, one more",
        ),
        (
            [lanes(), lanes(second=NINE)],
            "2 races within a warp on shared `tile`, lines 7 to 9",
            f"{PUT}lines 7 to 9, where all lanes of the warp come by",
        ),
        (
            [lanes(), lanes(first=EIGHT, second=SEVEN, next_turn=True)],
            "2 races within a warp on shared `tile`, lines 7 and 8",
            f"{PUT}lines 7 and 8, where all lanes of the warp come by, and between the "
            "loop's iterations",
        ),
        (
            [lanes(), lanes(first=EIGHT, second=EIGHT)],
            "2 races within a warp on shared `tile`, lines 7 and 8",
            f"{PUT}lines 7 and 8, where all lanes of the warp come by, and between the "
            "loop's iterations",
        ),
        (
            [lanes(first=site(2, "", 5), second=site(3, "", 9)), lanes()],
            "2 races within a warp on shared `tile`, lines 5 to 9",
            f"{PUT}lines 5 to 9",
        ),
        (
            [lanes(), lanes(first_thread="thread 3")],
            "2 races within a warp on shared `tile`, lines 7 and 8",
            f"Put {SYNC} between line 7 and line 8",
        ),
    ],
)
def test_the_words_are_about_all_of_their_lines(races, title, told):
    """One line, two, or a stretch; by the kernel's lines, where calls differ."""
    [group] = within_warps(races)

    assert title == group.title
    assert group.remedy.startswith(told)
    assert [2] == [it.count for it in findings_of(hand_made(minor=races))]


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "WAW", "second_kind": "store"},
        {"update": True},
        {"second_kind": "atomic"},
        {"second_cell": "a[3]"},
    ],
)
def test_what_no_barrier_orders_is_told_alone(changes):
    """With its accesses and its own remedy."""
    alone, other = lanes(first=SEVEN, second=SEVEN, **changes), lanes(second=NINE)

    groups = within_warps([alone, other, lanes()])

    assert [1, 2] == [len(it.races) for it in groups]
    assert (alone.title, alone.remedy) == (groups[0].title, groups[0].remedy)

"""What counts as a finding, how bad it is and what it costs: at the thresholds."""

import pytest

from tests.emulator.report.made_by_hand import (
    hand_made,
    race,
    sectors,
    share,
    site,
    unwritten,
    warning,
    wavefronts,
)
from thirty_two_lanes.core.words import (
    Finding,
    counted,
    counted_figure,
    figure,
    level_of,
)
from thirty_two_lanes.emulator import report
from thirty_two_lanes.emulator.judges.banks import conflict
from thirty_two_lanes.emulator.judges.coalescing import scattered
from thirty_two_lanes.emulator.judges.divergence import idling
from thirty_two_lanes.emulator.report.findings import findings_of
from thirty_two_lanes.emulator.report.page import as_html
from thirty_two_lanes.emulator.report.text import as_text


@pytest.mark.parametrize(
    "taken, ideal, level",
    [
        (3, 4, ""),
        (4, 4, ""),
        (5, 4, "slight"),
        (149, 100, "slight"),
        (150, 100, "costly"),
        (151, 100, "costly"),
    ],
)
def test_a_line_is_costly_from_half_as_much_again(taken, ideal, level):
    """What takes exactly 1.5 times the ideal is costly, less is slight."""
    assert level == level_of(taken, ideal)


def test_costs_are_put_side_by_side_in_turns_of_a_warp():
    """Four sectors are one wavefront, and one instruction's 32 idle lanes."""
    lines = (
        scattered(site(1), sectors(10, 80, 40)),
        conflict(site(2), wavefronts(10, 20, 10)),
    )

    assert [10, 10] == [it.cost for it in lines]
    assert ["costly", "costly"] == [it.level for it in lines]


def test_the_costliest_line_comes_first_among_its_level():
    """By the turns that it loses, whatever it loses them to."""
    run = hand_made(
        coalescing={site(1): sectors(10, 80, 40), site(2): sectors(100, 440, 400)},
        bank_conflicts={site(3): wavefronts(10, 21, 10)},
        divergence={site(4): share(100, 32 * 100 - 400 - 1600)},
    )

    assert [
        ("costly", 4, 62.5),
        ("costly", 3, 11),
        ("costly", 1, 10),
        ("slight", 2, 10),
    ] == [(it.level, it.site.line, it.cost) for it in findings_of(run)]


@pytest.mark.parametrize(
    "lines, expected",
    [
        ([(100, 1600)], ["costly"]),  # exactly half of the lanes
        ([(100, 1601)], []),
        ([(1, 0), (19, 19 * 32)], ["costly"]),  # idle: 32 of 640 lanes, 5%
        ([(1, 1), (19, 19 * 32)], []),
        ([(10, 100), (10, 150)], ["costly", "costly"]),
        ([(10, 320)], []),
    ],
)
def test_a_line_diverges_where_half_of_its_lanes_idle_and_enough_of_all(
    lines, expected
):
    """Half of the line's lanes, a twentieth of the run's."""
    rows = {site(n): share(*line) for n, line in enumerate(lines)}
    found = findings_of(hand_made(divergence=rows))

    assert {"divergence"} >= {it.topic for it in found}
    assert expected == [it.level for it in sorted(found, key=lambda it: it.site.line)]


def test_the_worst_of_the_divergent_lines_has_the_advice():
    """The others are as costly as their sign says, and repeat nothing."""
    rows = {site(1): share(10, 150), site(2): share(10, 100), site(3): share(10, 120)}
    found = findings_of(hand_made(divergence=rows))

    assert [(2, True), (3, False), (1, False)] == [
        (it.site.line, bool(it.advice)) for it in found
    ]
    page = as_html(hand_made(divergence=rows))
    assert 1 == page.count("A warp whose 32 threads decide alike")
    assert "△" not in page


@pytest.mark.parametrize(
    "active, present, expected",
    [(16, 16, []), (9, 16, []), (8, 16, ["50%"]), (1, 1, []), (0, 8, ["0"])],
)
def test_lanes_that_a_warp_lacks_do_not_wait(active, present, expected):
    """Of 10 instructions of a warp that is not full; the hardware counts to 32."""
    row = share(10, 10 * active, present_lanes=10 * present)
    run = hand_made(divergence={site(1): row})

    assert [f"{it} of the lanes are active" for it in expected] == [
        it.what for it in findings_of(run)
    ]
    assert active / 32 == row.active_share
    assert (active < present) == ("active lanes" in as_html(run))


@pytest.mark.parametrize("threads, told", [(4, 0), (31, 0), (32, 1), (48, 1)])
def test_threads_too_few_for_a_warp_are_not_told_to_agree(threads, told):
    """A correct kernel of 4 threads with a guard gets no advice about whole warps."""
    run = hand_made(divergence={site(1): share(10, 10, present_lanes=40)})
    run.threads_per_block = threads

    assert told == len(findings_of(run))


def test_what_takes_the_ideal_is_no_finding():
    """Neither sectors nor wavefronts nor lanes."""
    run = hand_made(
        coalescing={site(1): sectors(10, 40, 40)},
        bank_conflicts={site(2): wavefronts(10, 10, 10)},
        divergence={site(3): share(10, 320)},
    )

    assert [] == findings_of(run)


def test_a_line_that_scatters_says_how_far_from_what_would_do():
    """10 requests with 320 sectors where 40 would do, each lane in one of its own."""
    found = scattered(site(1), sectors(10, 320, 40))

    assert ("costly", "coalescing", 70.0) == (found.level, found.topic, found.cost)
    assert "load of a: 32 sectors per request, ideal 4" == found.what
    assert found.advice.startswith(
        "Each load of `a` takes 32 sectors (ideally 4), because neighbouring lanes are "
        "a sector or more apart. "
    )


@pytest.mark.parametrize(
    "taken, apart", [(288, True), (287, False), (80, False), (320, True)]
)
def test_lanes_lie_apart_where_nine_in_ten_have_a_sector_of_their_own(taken, apart):
    """Of 320 lanes in 10 requests."""
    advice = scattered(site(1), sectors(10, taken, 40)).advice

    assert apart == ("a sector or more apart" in advice)
    assert apart != ("only a part of the sectors" in advice)
    assert apart != ("32 numbers that lie side by side" in advice)
    assert advice.endswith(", or use a tile in shared memory.")


def test_one_lane_a_request_does_not_lie_apart():
    """It has no neighbour to lie apart from."""
    row = sectors(10, 20, 10)
    row.active_lanes = 10

    assert "only a part of the sectors" in scattered(site(1), row).advice


def test_a_bound_of_an_exercise_is_named_where_it_is_not_the_ideal():
    """80 sectors in 10 requests are at most 8 for each."""
    row = sectors(10, 320, 40)

    assert "(at most 8 allowed), because" in scattered(site(1), row, 80).advice
    assert "(ideally 4), because" in scattered(site(1), row, 40).advice


def test_a_bank_conflict_says_how_many_ways():
    """10 requests of 32 wavefronts each, where one would do."""
    found = conflict(site(1), wavefronts(10, 320, 10))

    assert ("bank conflicts", 310) == (found.topic, found.cost)
    assert "load of tile: 32-way bank conflict" == found.what
    assert "takes 32 wavefronts (ideally 1)" in found.advice


def test_lanes_of_an_atomic_queue_at_one_cell_as_well():
    """No padding would part them, so the remedy is another one than a load's."""
    found = conflict(site(1), wavefronts(1, 32, 1, kind="atomic"))

    assert "several of its lanes update cells of the same bank" in found.advice
    assert "Let one lane update a cell for many" in found.advice
    assert "Pad each row" not in found.advice


def test_a_conflict_of_wide_accesses_is_counted_from_their_ideal():
    """16 bytes a lane take four wavefronts as they must; eight are a 2-way conflict."""
    found = conflict(site(1), wavefronts(1, 8, 4))

    assert "load of tile: 2-way bank conflict" == found.what
    assert "takes 8 wavefronts (ideally 4)" in found.advice


@pytest.mark.parametrize(
    "lanes, words",
    [(1600, "50%"), (32, "1%"), (31, "0.00969"), (0, "0"), (64, "2%")],
)
def test_a_share_below_a_hundredth_has_its_digits(lanes, words):
    """Of 3,200 lanes."""
    found = idling(site(1), share(100, lanes))

    assert f"{words} of the lanes are active" == found.what
    assert found.advice.startswith(f"Over the whole launch, {words} of the lanes")
    assert ("costly", 0) == (found.level, found.cost)


@pytest.mark.parametrize(
    "number, words", [(0.123456, "0.123"), (4, "4"), (99.96, "100"), (1234.4, "1,234")]
)
def test_a_figure_has_three_digits(number, words):
    """Or as many as it has before its point."""
    assert words == figure(number)


def test_a_number_has_a_noun_of_its_own():
    """One is not many, and none are."""
    assert ["0 races", "1 race", "1,000 races"] == [
        counted(n, "race") for n in (0, 1, 1000)
    ]
    assert ["1 sector", "1.5 sectors on average"] == [
        counted_figure(n, "sector") for n in (1, 1.5)
    ]


def test_a_race_is_wrong_and_names_both_lines():
    """Its first line, the second beside it, and as many hazards as it has."""
    (found,) = findings_of(hand_made(races=[race()]))

    assert ("wrong", 7, 8, "races", 31) == (
        found.level,
        found.site.line,
        found.also.line,
        found.topic,
        found.cost,
    )
    assert (
        "RAW race on shared `tile`: 31 hazards between warps of a block" == found.what
    )
    assert (
        "Races for `tile` with line 8: put `cuda.syncthreads()` between line 7 and "
        "line 8." == found.advice
    )


def test_a_line_that_races_with_itself_says_so():
    """With the same line in another thread; its remedy goes on in the same sentence."""
    (found,) = findings_of(hand_made(races=[race(second=site(7))]))

    assert found.advice == (
        "Races for `tile` with the same line in another thread: load into a variable "
        "first, then `cuda.syncthreads()`, then store; in a loop, one more "
        "`cuda.syncthreads()` behind the store."
    )


@pytest.mark.parametrize(
    "space, remedy",
    [
        ("shared", "store to each cell first, and wait at a barrier before this line"),
        ("local", "give each cell a value before this line"),
        ("global", "what `cuda.device_array` or `cuda.Out` gives holds garbage; begin "
         "with zeros, `cuda.to_device(np.zeros(...))`, or store to each element first"),
    ],
)  # fmt: skip
def test_a_cell_that_nobody_wrote_has_the_remedy_of_its_memory(space, remedy):
    """Three cells, by the line that reads them."""
    found = unwritten()._replace(space=space).finding

    topic = "shared memory" if space == "shared" else "memory hierarchy"
    assert ("wrong", 9, topic, 3) == (
        found.level,
        found.site.line,
        found.topic,
        found.cost,
    )
    assert f"reads 3 cells of {space} `tile` that nobody wrote" == found.what
    assert f"Reads 3 cells of {space} `tile` that nobody wrote: {remedy}." == (
        found.advice
    )


@pytest.mark.parametrize(
    "kind, level, topic",
    [
        ("wrap", "wrong", "guards"),
        ("overflow", "wrong", "types"),
        ("exception", "wrong", "guards"),
        ("grid", "wrong", "guards"),
        ("float64", "costly", "types"),
    ],
)
def test_a_silent_mistake_has_its_lesson(kind, level, topic):
    """What may be wrong, and double precision, which only costs."""
    (found,) = findings_of(hand_made(warnings=[warning(9, kind)]))

    assert (level, topic, f"A {kind} happens.") == (
        found.level,
        found.topic,
        found.advice,
    )


def test_a_note_is_no_finding():
    """It states a fact that may be meant."""
    assert [] == findings_of(hand_made(warnings=[warning(2, "host arrays", True)]))


def test_a_slight_finding_that_no_column_shows_is_in_both(monkeypatch):
    """The sign alone would not say what it is."""
    found = [Finding("slight", site(4), "types", "3 conversions of `a`", "Make none.")]
    for module in report.page, report.text:
        monkeypatch.setattr(module, "findings_of", lambda run: found)

    assert "3 conversions of `a`" in as_text(hand_made())
    shown = as_html(hand_made())
    assert "line 4: 3 conversions of <code>a</code></div>" in shown
    assert "Make none" not in shown

"""The player of films, as a browser runs it: what it shows, its buttons and its keys.

Needs Playwright (`pip install -e .[browser]`) and Chromium, and is skipped without.
"""

from collections import Counter

import pytest

from tests.film.chromium import HOST, go, player, shown
from tests.film.hand_made import record, replayed

LAST = len(record()["steps"]) - 1
# what it does, the name of its button, its key, from which step to which
CONTROLS = (
    ("steps forward", "Step", "ArrowRight", 0, 1),
    ("stays at the end", "Step", "ArrowRight", LAST, LAST),
    ("steps back", "Step back", "ArrowLeft", 5, 4),
    ("stays at the start", "Step back", "ArrowLeft", 0, 0),
    ("finds the line again", "To the next step of the same line", "ArrowDown", 2, 6),
    ("finds the line before", None, "ArrowUp", 6, 2),
    ("finds the barrier", "To the next barrier", "b", 0, 7),
    ("finds the barrier before", None, "Shift+B", 9, 7),
    ("finds a fault", "To the next fault", "f", 2, 5),
    ("finds the fault before", None, "Shift+F", 5, 2),
    ("finds a cost", "To the next cost", "c", 2, 6),
    ("finds the cost before", None, "Shift+C", 6, 2),
    ("stays at the last fault", "To the next fault", "f", 5, 5),
    ("goes to the start", None, "Home", 9, 0),
    ("goes to the end", None, "End", 2, LAST),
)


@pytest.mark.parametrize("control", CONTROLS, ids=lambda it: it[0])
def test_a_control_goes_to_its_step_by_key_and_by_mouse(opened, control):
    _, button, key, start, end = control
    tab = opened(record())

    go(tab, start)
    tab.locator(".film").focus()
    tab.keyboard.press(key)
    assert end == shown(tab)
    if button:
        go(tab, start)
        tab.get_by_role("button", name=button, exact=True).click()
        assert end == shown(tab)


def test_shift_and_a_button_go_back(opened):
    tab = opened(record())
    go(tab, 9)

    tab.get_by_role("button", name="To the next barrier").click(modifiers=["Shift"])

    assert 7 == shown(tab)


@pytest.mark.parametrize(
    "what, key, start, words",
    [
        ("fault", "f", 5, "no further fault"),
        ("cost", "Shift+C", 2, "no earlier cost"),
        ("barrier", "b", 7, "no further barrier"),
        ("line", "ArrowDown", 6, "no further step of this line"),
    ],
)
def test_where_nothing_follows_it_says_so(opened, what, key, start, words):
    """Until the next step."""
    tab = opened(record())
    go(tab, start)
    tab.locator(".film").focus()

    tab.keyboard.press(key)
    assert words == tab.locator(".said").inner_text()
    tab.keyboard.press("ArrowLeft")
    assert "" == tab.locator(".said").inner_text()


def test_a_mark_is_on_cells_that_the_step_touches(opened):
    """A race's cell in both of its steps, and in no other that tells of it."""
    film = record()
    film["steps"][7]["n"] = [0]
    tab = opened(film)

    marks = {n: player(tab, f"player.film.markedAt({n})") for n in range(LAST + 1)}

    assert {2: [[2, 32]], 5: [[2, 32]]} == {n: it for n, it in marks.items() if it}


def test_a_mark_of_what_nobody_wrote_is_on_the_lane_s_cell(opened):
    """Of two lanes that load cells of the finding one finds a value."""
    film = record()
    film["findings"][0] |= {"kind": "uninitialised", "cells": [[2, 32], [2, 40]]}
    film["steps"][2]["a"][0]["u"] = 1 << 5
    tab = opened(film)

    assert [[2, 40]] == player(tab, "player.film.markedAt(2)")


def test_of_a_shuffle_the_lanes_stay_until_its_warp_s_next_one(opened):
    """Each warp has its own."""
    film = record()
    film["steps"][8]["h"] = [[0, 0]]
    tab = opened(film)

    assert [-1, 8] == [player(tab, f"player.film.shuffledAt({n})") for n in (7, 8)]
    warps = [it["w"] for it in film["steps"]]
    after = [n for n in range(9, LAST + 1) if warps[n] == warps[8]]
    assert after and all(
        8 == player(tab, f"player.film.shuffledAt({n})") for n in after
    )


INKS = """(() => {
    const {pen} = player.scene, found = [], curve = pen.curve;
    pen.curve = (...it) => found.push(it[3]);
    %s;
    pen.curve = curve;
    return found;
})()"""


def test_the_lines_of_a_thread_under_the_mouse_stand_out(opened):
    """Each of 32 lanes has two legs by its bank; the others' are faint."""
    tab = opened(record())
    go(tab, 6)

    assert {0.6: 64} == Counter(player(tab, INKS % "player.show()"))
    assert {1: 2, 0.12: 62} == Counter(player(tab, INKS % "player.pointAt(35)"))
    assert {0.6: 64} == Counter(player(tab, INKS % "player.pointAt(null)"))
    followed = player(tab, INKS % "player.follow({thread: 40})")
    assert {1: 2, 0.12: 62} == Counter(followed)


def test_a_cell_s_digits_are_not_crossed_out(opened):
    """The cross of a cell with digits lies on its corner."""
    tab = opened(record(), width=1100)
    go(tab, 5)
    crosses = player(
        tab,
        """(() => {
            const pen = player.scene.topPen, found = [], cross = pen.cross;
            pen.cross = (box) => found.push(box);
            player.show();
            pen.cross = cross;
            return found;
        })()""",
    )
    cell = player(tab, "player.scene.cells.find((it) => it[4].cell === 32)")

    assert 1 == len(crosses)
    x, y, w, h = crosses[0]
    assert cell[1] - 3 <= y and y + h <= cell[1] + 7 and x > cell[0] + cell[2] / 2


def test_the_slider_chooses_a_step(opened):
    tab = opened(record())
    slider = tab.get_by_role("slider")

    slider.fill("6")
    assert 6 == shown(tab)
    slider.press("ArrowLeft")
    assert 5 == shown(tab)
    assert "5" == slider.input_value()


def test_a_line_of_the_source_leads_to_its_next_step(opened):
    tab = opened(record())

    tab.locator(".source li", has_text="value += 1").click()
    assert 9 == shown(tab)
    tab.locator(".source li", has_text="value += 1").click()
    assert 12 == shown(tab)


@pytest.mark.parametrize("by", ["key", "mouse"])
def test_play_runs_to_the_end_and_stops(opened, by):
    """At 60 steps a second; a second press pauses."""
    tab = opened(record())
    tab.get_by_label("Steps a second").select_option("60")

    if by == "mouse":
        tab.get_by_role("button", name="Play").click()
    else:
        tab.locator(".film").focus()
        tab.keyboard.press("Space")
    tab.wait_for_function(f"!document.querySelector('{HOST}').player.playing")

    assert LAST == shown(tab)


def test_pause_holds_the_step(opened):
    tab = opened(record())
    tab.get_by_label("Steps a second").select_option("4")
    tab.locator(".film").focus()

    tab.keyboard.press("Space")
    tab.wait_for_timeout(400)
    tab.keyboard.press("Space")
    held = shown(tab)
    tab.wait_for_timeout(600)

    assert held == shown(tab)
    assert not player(tab, "player.playing")


STATE = """(() => {
    const { cells, values, status } = player.film.seek(%d);
    const every = [...status.keys()];
    const threads = (wanted) => every.filter((it) => status[it] === wanted);
    return {
        cells: cells.map((it) => [...it]),
        values: [...values].map(([name, it]) => [name, it]),
        waiting: threads(1), done: threads(3),
    };
})()"""


def state(tab, step):
    """What the player knows after a step, as `replayed` says it."""
    found = player(tab, STATE % step)
    return {
        "cells": [dict(map(tuple, it)) for it in found["cells"]],
        "values": {
            name: {at: it for at, it in enumerate(given) if it is not None}
            for name, given in found["values"]
        },
        "waiting": set(found["waiting"]),
        "done": set(found["done"]),
    }


def test_each_step_shows_what_a_replay_in_python_gives(opened):
    """Forwards, backwards and by jumps."""
    tab = opened(record())
    film = record()

    for step in (*range(LAST + 1), *reversed(range(LAST)), 9, 3, LAST, 0):
        assert replayed(film, step) == state(tab, step)


def test_jumps_over_keyframes_agree_with_a_replay(opened):
    """A film of 840 steps: a keyframe stands at each 256th."""
    film = record()
    film["steps"] *= 60
    tab = opened(film)

    for step in (700, 255, 256, 257, 511, 10, 839, 512):
        assert replayed(film, step) == state(tab, step)


def test_a_finding_is_told_in_the_frame_in_which_it_happens(opened):
    tab = opened(record())

    go(tab, 1)
    assert 0 == tab.locator(".finding.now").count()
    go(tab, 2)
    assert 2 == tab.locator(".finding.now").count()
    assert "race on tile between lines 13 and 14" in tab.locator(".told").inner_text()
    tab.get_by_role("button", name="step 6: warp 1, line 13").click()
    assert 5 == shown(tab)


def test_a_step_is_said_in_a_sentence(opened):
    """The live region, which a screen reader speaks."""
    tab = opened(record())
    go(tab, 6)

    told = tab.locator(".told")

    assert "status" == told.get_attribute("role")
    sentence = "Warp 1, line 14: 32 lanes load tile (32 cells, 2 wavefronts)."
    assert sentence in told.inner_text()
    assert sentence in tab.locator(".scene").get_attribute("aria-label")


def test_a_cell_is_followed_through_the_film(opened):
    """Typed, its history is listed, and a line of it leads to its step."""
    tab = opened(record())

    tab.get_by_label("follow").fill("tile[4, 0]")
    tab.get_by_label("follow").press("Enter")
    lines = tab.locator(".history button")

    expected = [
        "3: thread 4 loads what nobody wrote, line 14",
        "6: thread 32 stores 32, line 13",
    ]
    assert expected == lines.all_inner_texts()
    assert "before: nothing written" == tab.locator(".history .before").inner_text()
    lines.nth(1).click()
    assert 5 == shown(tab)


def test_what_threads_do_alike_is_one_line(opened):
    """32 lanes load one cell, which the host wrote; at each step its value is told."""
    film = record()
    film["patterns"].append([0] * 32)
    load = {"r": 0, "k": "load", "p": len(film["patterns"]) - 1, "o": 9, "s": 1}
    film["steps"][6]["a"] = [load]
    tab = opened(film)

    tab.get_by_label("follow").fill("x[9]")
    tab.get_by_label("follow").press("Enter")

    expected = ["2: thread 9 loads 9, line 13", "7: threads 32–63 load 9, line 14"]
    assert expected == tab.locator(".history button").all_inner_texts()
    assert "before: 9" == tab.locator(".history .before").inner_text()
    assert "x[9] = 9 · 2 steps" == tab.locator(".who").inner_text()


def test_who_has_left_stays_at_its_line_when_a_barrier_opens(opened):
    """A step without lanes tells that it opens, and is no step of a warp."""
    film = record()
    film["steps"][6] |= {"m": 0, "e": "pass"}
    tab = opened(film)

    go(tab, 5)
    before = player(tab, "[...player.film.state.warps]")
    go(tab, 6)

    assert before == player(tab, "[...player.film.state.warps]")


def test_the_lanes_of_a_shuffle_are_shown(opened):
    """A row with the lane from which each gets its value; the words say how far."""
    film = record()
    film["patterns"].append([*range(16, 32), *range(16, 32)])
    film["steps"][10]["h"] = [[len(film["patterns"]) - 1, 0]]
    tab = opened(film)

    go(tab, 10)

    hits = player(tab, "player.scene.hits.map((it) => it[4])")
    shown = {it["lane"]: it["source"] for it in hits if "source" in it}
    assert {lane: lane % 16 + 16 for lane in range(32)} == shown
    told = tab.locator(".told").inner_text()
    words = "shuffle: 16 take the value of the lane 16 above, 16 keep their own"
    assert f"32 lanes {words}." in told


@pytest.mark.parametrize(
    "films, moved, steps", [(1, False, 1), (2, False, 0), (2, True, 1)]
)
def test_keys_reach_the_only_film_and_the_one_under_the_mouse(
    opened, films, moved, steps
):
    """With no click before."""
    tab = opened(*[record()] * films)
    if moved:
        tab.locator(".film").nth(0).hover()

    tab.keyboard.press("ArrowRight")

    assert steps == shown(tab)


def test_a_number_is_short_in_a_small_cell_and_whole_beside_its_name(opened):
    """One digit behind the point where no more fit; those before it are never cut."""
    film = record()
    film["arrays"][2]["shape"] = [2, 32]
    film["steps"][1]["a"][1]["x"] = [0.97, 0.53, 0.006, *[0.25] * 28, 41]
    tab = opened(film, width=1280)
    go(tab, 2)

    texts = player(tab, "[...player.scene.scales.get(2).texts]")
    tab.get_by_label("follow").fill("tile[0, 2]")
    tab.get_by_label("follow").press("Enter")

    expected = {"1 0.97": "1", "1 0.53": ".5", "1 0.006": ".0", "1 41": "41"}
    assert expected.items() <= dict(texts).items()
    assert "tile[0, 2] = .006" in tab.locator(".who").inner_text()


def test_a_click_follows_the_lane_or_the_cell_under_it(opened):
    tab = opened(record())
    go(tab, 2)
    hits = "[...player.scene.hits, ...player.scene.cells]"
    places = f"{hits}.map((it) => ({{ box: it.slice(0, 4), ...it[4] }}))"
    for wanted, name in (({"thread": 7}, "thread 7"), ({"cell": 9}, "tile[1, 1]")):
        left, top, wide, high = next(
            it["box"]
            for it in player(tab, places)
            if wanted.items() <= it.items() and it.get("array", 2) == 2
        )

        middle = {"x": left + wide / 2, "y": top + high / 2}
        tab.locator(".scene").click(position=middle)

        assert name in tab.locator(".who").inner_text()
    tab.locator(".film").press("Escape")
    assert "" == tab.locator(".who").inner_text()


def test_moments_are_marked_and_lead_to_their_steps(opened):
    tab = opened(record())
    tab.get_by_text("moments").click()

    tab.get_by_role("button", name="2: The first warp fills").click()

    assert 1 == shown(tab)
    assert "The first warp fills half" in tab.locator(".told").inner_text()


def test_keys_are_kept_from_jupyterlab_but_not_those_that_save(opened):
    """It hears each key first, and leaves those alone that an element claims."""
    tab = opened(record())
    claimed = f"document.querySelector('{HOST}').hasAttribute"
    tab.locator(".film").focus()

    for key, ours in (("b", True), ("Control+s", False), ("d", True)):
        tab.keyboard.press(key)
        assert ours == tab.evaluate(f"{claimed}('data-lm-suppress-shortcuts')")


def test_a_wide_access_has_one_queue_and_a_line_for_each_cell(opened):
    """8 bytes a lane in two accesses, of which the first has the wavefronts."""
    film = record()
    quarters = [sum(1 << lane for lane in range(at, at + 8)) for at in (0, 8, 16, 24)]
    film["patterns"].append([2 * lane for lane in range(32)])
    last = len(film["patterns"]) - 1
    film["steps"][2]["a"] = [
        {"r": 2, "k": "load", "p": last, "o": at} | ({} if at else {"b": quarters})
        for at in (0, 1)
    ]
    tab = opened(film)
    go(tab, 2)

    turns = player(tab, "player.scene.joins.map((it) => it.turn)")
    assert {0: 8, 1: 8, 2: 8, 3: 8, 4: 32} == Counter(turns)


def test_what_cannot_be_followed_is_said(opened):
    tab = opened(record())
    for words in ("thread 64", "tile[8, 0]", "tile[3]", "other[0]"):
        tab.get_by_label("follow").fill(words)
        tab.get_by_label("follow").press("Enter")

        assert f"There is no {words}" in tab.locator(".who").inner_text()

"""The player of films, as a browser runs it: what it shows and tells of each step.

Needs Playwright (`pip install -e .[browser]`) and Chromium, and is skipped without.
"""

from collections import Counter

import pytest

from tests.film.chromium import HOST, go, player, shown
from tests.film.hand_made import record, replayed

LAST = len(record()["steps"]) - 1


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


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "tile = cuda.shared.array((8, 8), t)",
            "tile is shared memory of 8 × 8 float32",
        ),
        ("far = cuda.shared.array(8, float32)", "far is shared memory"),
        ("my = cuda.local.array(4, t)", "my is local memory, an array for each thread"),
        ("if i > 3:", "32 lanes decide alike"),
        ("pass", "32 lanes"),
    ],
)
def test_a_line_that_touches_nothing_is_told_by_what_it_does(opened, line, words):
    """Of an array, how many of what, where the film knows it."""
    film = record()
    step, file = film["steps"][0], film["files"][0]
    del step["v"]
    text = [
        line if n == step["l"] - file["first"] else it
        for n, it in enumerate(file["lines"])
    ]
    film["files"] = [file | {"lines": text}]
    tab = opened(film)
    go(tab, 0)

    told = tab.locator(".told").inner_text()
    assert f"Warp 0, line {step['l']}: {words}." in told


def test_a_store_that_is_overwritten_at_once_is_told(opened):
    """The last lane's value stays; a lane that loses its own is told by whom."""
    film = record()
    film["patterns"].append([4] * 31 + [5])
    for access in film["steps"][1]["a"]:
        access |= {"p": len(film["patterns"]) - 1, "o": 0}
    tab = opened(film)
    go(tab, 1)

    assert "30 values overwritten at once" in tab.locator(".told").inner_text()

    for thread, words in (("3", ", overwritten by lane 30"), ("30", ""), ("31", "")):
        tab.get_by_label("follow").fill(thread)
        tab.get_by_label("follow").press("Enter")
        line = tab.locator(".history button").nth(1).inner_text()
        assert words in line and ("overwritten" in line) == bool(words)


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
    load = {"r": 0, "k": "load", "p": len(film["patterns"]) - 1, "o": 9, "s": [1]}
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


def test_on_a_scaled_slide_the_mouse_finds_the_lane_under_it(opened):
    """Slides are as large as the screen: the third lane's box, at twice its size."""
    tab = opened(record())
    style = "transform: scale(2); transform-origin: 0 0"
    tab.evaluate(f"document.querySelector('{HOST}').style = '{style}'")
    x, y, w, h, _ = player(tab, "player.scene.hits.find((it) => it[4].thread === 2)")
    middle = {"x": 2 * (x + w / 2), "y": 2 * (y + h / 2)}

    tab.locator(".scene").click(position=middle)
    assert 2 == player(tab, "player.scene.thread")


@pytest.mark.parametrize(
    "moments, step", [([], 0), ([1], 1), ([1, 5, 6], 5), ([3, 9], 3)]
)
def test_a_film_opens_at_its_first_moment_with_a_finding(opened, moments, step):
    """Steps 2, 5 and 6 have findings. Without one among them, at the first moment."""
    captioned = [{"step": it, "caption": "what happens"} for it in moments]
    tab = opened(record() | {"moments": captioned})

    assert step == shown(tab)


def test_moments_are_marked_and_lead_to_their_steps(opened):
    tab = opened(record())
    go(tab, 5)
    tab.get_by_text("moments").click()

    tab.get_by_role("button", name="2: The first warp fills").click()

    assert 1 == shown(tab)
    assert "The first warp fills half" in tab.locator(".told").inner_text()


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

"""The scene of a film, as a browser draws it: marks, lines and shuffles.

Needs Playwright (`pip install -e .[browser]`) and Chromium, and is skipped without.
"""

from collections import Counter

import numpy as np
import pytest
from numba import cuda, float32

from helpers import watch
from tests.film import kernels
from tests.film.chromium import go, player
from tests.film.hand_made import record

LAST = len(record()["steps"]) - 1


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


FILLS = """(() => {
    const {topPen} = player.scene, found = [], box = topPen.box;
    topPen.box = (...it) => found.push(it[4].fill);
    player.go(%d);
    topPen.box = box;
    return found.filter((it) => it === topPen.theme.finding).length;
})()"""


@pytest.mark.parametrize(
    ("kernel", "queued"), [(kernels.halves, 0), (kernels.one_half_queues, 3)]
)
def test_only_a_half_warp_that_queues_is_painted_as_a_queue(opened, kernel, queued):
    """That half warps of 8 bytes a lane go one after the other is the ideal; three
    numbers of one half warp in one bank are a queue.
    """
    film = watch(kernel)[1, 32](np.zeros(32)).record()
    steps = enumerate(film["steps"])
    (store,) = (n for n, step in steps if any("b" in it for it in step.get("a", ())))
    tab = opened(film)

    assert queued == player(tab, FILLS % store)


@cuda.jit
def fills_two_rows(out):
    tile = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    tile[20 * (t // 32), t % 32] = t
    cuda.syncthreads()
    out[t] = tile[20 * (t % 2), t // 2]


def test_rows_that_no_step_touches_are_left_out_and_counted(opened):
    """19 between the two that are used, and 11 below them; each that is shown has its
    place, and a cell of another has none.
    """
    tab = opened(watch(fills_two_rows)[1, 64](np.zeros(64)).record(), width=1100)
    said = player(
        tab,
        """(() => {
            const pen = player.scene.topPen, found = [], text = pen.text;
            pen.text = (x, y, it) => found.push(it);
            player.show();
            pen.text = text;
            return found;
        })()""",
    )
    rows = player(tab, "[...new Set(player.scene.cells.map(([, y]) => y))].length")

    left_out = [it.partition(":")[0] for it in said if "left out" in it]
    assert ["19 rows left out", "11 rows left out"] == left_out
    assert (2, 64) == (rows, player(tab, "player.scene.cells.length"))
    player(tab, "player.follow({array: 0, cell: 160})")
    assert "untouched" in tab.locator(".who").inner_text()

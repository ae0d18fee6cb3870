"""The contact sheet of a film, and the replay behind it, on a record made by hand."""

import sys

import numpy as np
import pytest

from thirty_two_lanes.core.errors import ExplainedError
from thirty_two_lanes.film.film import Film
from thirty_two_lanes.film.replay import frames
from thirty_two_lanes.film.sheet import panel_of, sheet_of, window

FIRST_FOUR = [0, 1, 2, 3] + [None] * 28
TURNED = [3, 2, 1, 0] + [None] * 28
RECORD = {
    "kernel": "turned",
    "threads": 4,
    "warps": 1,
    "files": [{"place": "here", "first": 5, "lines": ["tile[i] = i + 1", "b = tile"]}],
    "arrays": [
        {"name": "tile", "space": "shared", "dtype": "float32", "itemsize": 4}
        | {"shape": [2, 4], "offset": 0, "initial": None},
        {"name": "out", "space": "global", "dtype": "float32", "itemsize": 4}
        | {"shape": [4], "offset": 0, "initial": {"only": {"1": 9.0}}},
    ],
    "variables": ["b"],
    "patterns": [FIRST_FOUR, TURNED],
    "steps": [
        {"w": 0, "f": 0, "l": 5, "m": 15}
        | {"a": [{"r": 0, "k": "store", "p": 0, "o": 0, "x": [1.0, 2.0, 3.0, "nan"]}]},
        {"w": 0, "f": 0, "l": 5, "m": 15, "e": "pass"},
        {"w": 0, "f": 0, "l": 6, "m": 7, "v": {"b": [3, 2, 1]}, "n": [0], "e": "leave"}
        | {"a": [{"r": 0, "k": "load", "p": 1, "o": 4, "u": 1}]},
    ],
    "findings": [{"kind": "uninitialised", "steps": [2], "cells": [[0, 7], [0, 6]]}],
    "moments": [
        {"step": 0, "caption": "Four lanes store."},
        {"step": 2, "caption": "Three of them read what nothing has written."},
    ],
    "description": "A tile is half written.",
}


def frame_after(step):
    """The frame after one step."""
    return next(frames(RECORD, [step]))


def test_a_frame_has_what_was_stored_and_given():
    """A cell that nothing wrote is not in it."""
    frame = frame_after(2)

    assert {0: 1.0, 1: 2.0, 2: 3.0, 3: "nan"} == frame.cells[0]
    assert {1: 9.0} == frame.cells[1]


def test_lanes_wait_at_a_barrier_until_it_opens():
    """The step behind it lets all of them run; a lane that leaves stays away."""
    assert ["pass"] * 4 == frame_after(1).ends
    assert ["leave", "leave", "leave", ""] == frame_after(2).ends


def test_a_panel_shows_the_line_its_lanes_and_its_cells():
    """Of a finding's cells those are marked that this step reads unwritten."""
    panel = panel_of(RECORD, frame_after(2), "")

    assert "6  b = tile" == panel.line
    assert ["active"] * 3 + ["runs"] == panel.lanes[0]
    assert {(1, 3): "load", (1, 2): "load", (1, 1): "load", (1, 0): "load"} == (
        panel.touched
    )
    assert {(1, 3)} == panel.wrong
    assert np.isnan(panel.tile[1]).all()
    assert [1, 2, 3] == panel.tile[0][:3].tolist()


def test_where_the_source_was_not_found_a_panel_has_the_line_s_number():
    """As of a kernel that `exec` made."""
    record = RECORD | {"files": [{"place": "", "first": 1, "lines": []}]}
    (frame,) = frames(record, [0])

    assert "5" == panel_of(record, frame, "Four lanes store.").line


def test_the_words_of_a_sheet_say_what_it_shows():
    """Each moment by its step, after what the film is about."""
    picture = sheet_of(RECORD)

    assert picture.alt == (
        "A tile is half written. Step 1: Four lanes store. "
        "Step 3: Three of them read what nothing has written."
    )
    assert picture.png().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "shape, cells, shown",
    [
        ([16, 16], [5], (16, 0, 16)),
        ([100], [40], (32, 0, 4)),
        ([5], [], (5, 0, 1)),
        ([64, 64], [64 * 40], (32, 2560, 32)),
    ],
)
def test_of_a_large_array_the_rows_around_the_step_are_shown(shape, cells, shown):
    """Columns, first cell and rows."""
    assert shown == window(shape, cells)


def test_without_matplotlib_a_film_plays_and_a_sheet_names_the_extra(
    monkeypatch, tmp_path
):
    """The tool alone brings none."""
    film = Film(RECORD, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    film.save(tmp_path / "film.html")

    page = (tmp_path / "film.html").read_text("utf-8")
    assert "lanes-film-player" in page and "<img" not in page
    assert "<img" not in film._repr_html_()
    with pytest.raises(ExplainedError, match=r"\[figures\]` of thirty-two-lanes"):
        film.sheet()

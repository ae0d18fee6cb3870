"""Baselines: what is recorded is told, and what is not is said in a sentence."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import table
from helpers.measuring import baselines, store
from lessons import baselines as recording
from lessons.baselines import lesson_kernels
from lessons.journeys import journeys

RECORDED = {
    "gpu": "NVIDIA H200",
    "date": "2026-11-21",
    "baselines": {
        "cuBLAS 4096": {
            "launches": 30,
            "min_us": 2690.0,
            "lower_us": 2700.0,
            "median_us": 2710.0,
            "upper_us": 2720.0,
            "max_us": 2800.0,
            "flops": 2 * 4096**3,
        }
    },
}


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A folder that holds one file of baselines."""
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    file = store.file_of("NVIDIA H200", "baselines")
    store.write(file, RECORDED)
    baselines.load.cache_clear()
    yield file
    baselines.load.cache_clear()


def test_a_recorded_baseline_tells_its_time_and_rate(recorded):
    """2 · 4096³ operations in 2,710 µs are 50.7 TFLOP/s."""
    expected = (
        "cuBLAS 4096: 2,710.0 µs (median of 30, half of them between "
        "2,700.0 and 2,720.0), "
        "50,715 GFLOP/s, NVIDIA H200, recorded 2026-11-21"
    )

    assert expected == repr(baselines.baseline("cuBLAS 4096"))


def test_a_rung_of_a_ladder_is_told_with_the_spread_of_its_runs(recorded):
    """2²⁰ bytes in the 50 µs of the run in the middle are 21 GB/s."""
    rungs = {"step, copy": {"us": [49.5, 50.0, 52.0], "percent": [], "bytes": 2**20}}
    climbed = {"date": "2026-11-22", "runs": 3, "launches": 90}
    climbed["titles"] = {"a step": {"library": "step, copy", "rungs": rungs}}
    file = store.file_of("NVIDIA H200", "ladders")
    store.write(file, {"gpu": "NVIDIA H200", "ladders": {"stencil": climbed}})

    expected = (
        "step, copy: 50.0 µs (median of 3 runs, whose medians lie between 49.5 and "
        "52.0), 21 GB/s, NVIDIA H200, recorded 2026-11-22"
    )
    found = baselines.baseline("step, copy")
    assert (expected, 90) == (repr(found), found.launches)


def test_a_baseline_that_nobody_recorded_says_so(recorded):
    """Its numbers are NaN, which figures and tables show as not measured."""
    found = baselines.baseline("cuBLAS 3")

    assert "cuBLAS 3: no baseline is recorded" == repr(found)
    assert math.isnan(found.gflop_per_s)


def test_a_table_says_what_was_not_measured():
    """Numbers have few digits, and NaN is words."""
    shown = table(["name", "time"], [("a", 1234.5), ("b", math.nan), ("c", 0.25)])

    assert "name  time\na     1,234\nb     not measured\nc     0.25" == repr(shown)
    assert "| --- | ---: |\n| a | 1,234 |" in shown._repr_markdown_()
    assert "| --- |" in table(["name"], [])._repr_markdown_()


def test_a_table_shows_whatever_is_no_number_as_a_word():
    """NumPy's NaN is not measured, either; a bar ends no cell of a page."""
    rows = [(np.float32("nan"), (8, 4)), (np.float32(0.5), True), (1, "a | b")]

    shown = table(["time", 7], rows)

    _, first, second, _ = repr(shown).split("\n")
    assert ("not measured  (8, 4)", "0.5           True") == (first, second)
    assert "| ---: | --- |" in shown._repr_markdown_()
    assert r"| 1 | a \| b |" in shown._repr_markdown_()


def test_a_size_in_a_table_stays_on_one_line_of_a_page():
    """Its spaces are not where a browser breaks a line; the text keeps plain ones."""
    shown = table(["block"], [("16 × 16",)])

    assert "| 16\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}16 |" in shown._repr_markdown_()
    assert "16 × 16" in repr(shown)


@pytest.mark.parametrize(
    ("lesson", "name"),
    [("01", "add_one"), ("23", "multiply")],
)
def test_the_kernels_of_a_lesson_are_found_without_running_it(lesson, name):
    """The baselines measure the lesson's own kernels beside the others."""
    assert hasattr(lesson_kernels(lesson)[name], "py_func")


def test_what_was_recorded_before_keeps_its_day(recorded):
    """Where one group runs anew, the others stay as they were."""
    kept = recording.dated(store.read(recorded))

    store.write(recorded, RECORDED | {"date": "2027-01-01", "baselines": kept})

    assert "2026-11-21" == baselines.baseline("cuBLAS 4096").date


def test_a_journey_has_its_steps_and_the_bytes_that_they_move():
    """A loop reads and writes, a copy moves one array, the other steps none."""
    found = journeys(lesson_kernels("01"), (100,))

    loops = "loop in Python", "loop compiled for the CPU"
    copies = dict.fromkeys(("copy there", "copy back"), 400)
    trip = copies | dict.fromkeys(("reserve", "launch", "wait"))
    pinned = {f"{step}, pinned": size for step, size in trip.items()}
    expected = dict.fromkeys(loops, 800) | trip | pinned | {"arrays, pinned": None}
    named = {f"add one to 100: {step}": size for step, size in expected.items()}
    assert named == {name: values.get("bytes") for name, values in found.items()}
    assert all(0 < values["median_us"] for values in found.values())


def test_a_journey_with_a_wrong_result_is_not_recorded():
    """A kernel that adds nothing raises."""
    ours = lesson_kernels("01")

    with pytest.raises(ValueError, match="wrong"):
        journeys(ours | {"add_one_loop": lambda out, a: None}, (100,))


def test_each_way_to_a_whole_sum_is_right_and_checked(monkeypatch):
    """A sum that is not made anew is not right again."""
    devices = SimpleNamespace(as_cuda_array=lambda it: it, default_stream=lambda: 0)
    monkeypatch.setattr(recording, "cuda", devices)
    random = SimpleNamespace(randint=np.random.default_rng(1).integers)
    bench = SimpleNamespace(cupy=SimpleNamespace(random=random, zeros=np.zeros))

    works = recording.whole_sums(bench, n=5000, blocks=8)

    assert 5 == len(works)
    for launch, right, _ in works.values():
        launch()
        assert (right(), right()) == (True, False)

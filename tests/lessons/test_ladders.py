"""The commands `lessons.ladders` and `lessons.sweep`, with clocks of our own."""

import json
import threading
from types import SimpleNamespace

import pytest

from lessons import baselines, sweep
from lessons.ladders import __main__ as ladders
from lessons.ladders import ladder, names

TIMES_US = {"library": 200.0, "first": 400.0, "last": 100.0, "wrong": 1.0}


def works(bench):
    """A ladder of two rungs, one of which is wrong, and a library."""
    found = {
        name: (lambda name=name: LAUNCHED.append(name), lambda: True, SIZES)
        for name in ("library", "first", "last")
    }
    return found | {"wrong": (lambda: None, lambda: False, SIZES)}


SIZES, LAUNCHED = {"bytes": 10**6}, []
LADDER = SimpleNamespace(
    LADDERS={"of three": ("library", works)},
    SWEEP={"two": 2, "four": 4, "none": 0},
    sweep_work=lambda bench, what: works(bench)["first" if 4 // what < 2 else "last"],
)


def clock(bench, launch):
    """The time that a work of ours takes."""
    launch()
    return TIMES_US[LAUNCHED[-1]]


@pytest.fixture
def gpu(monkeypatch):
    """A GPU whose times we know, and one ladder."""
    synchronised = SimpleNamespace(Device=lambda: SimpleNamespace(synchronize=print))
    monkeypatch.setattr(baselines.Bench, "cupy", SimpleNamespace(cuda=synchronised))
    monkeypatch.setattr(baselines.Bench, "time_us", clock)
    monkeypatch.setattr(baselines.Bench, "versions", lambda bench: {"cuda": 13})
    for module in ladders, sweep:
        monkeypatch.setattr(module, "device", SimpleNamespace(has_gpu=True, name="A B"))
        monkeypatch.setattr(module, "ladder", lambda name: LADDER)
        monkeypatch.setattr(module, "names", lambda: ["three"])
    sweep.work_of_library.cache_clear()


def test_a_ladder_is_a_share_of_its_library(gpu, capsys):
    """Half the rate is 50%; what is wrong is named and not timed."""
    assert 1 == ladders.main(["three"])

    said = capsys.readouterr()
    rows = {line.split()[0]: line for line in said.out.splitlines() if "µs" in line}
    assert set(rows) == {"library", "first", "last"}
    assert "50.0%" in rows["first"] and "200.0%" in rows["last"]
    assert "10 GB/s" in rows["last"] and "400.0–400.0" in rows["first"]
    assert "wrong: ValueError: the result is wrong" in said.err


def test_several_runs_have_a_median_and_a_spread(gpu, capsys, monkeypatch):
    """The last rung takes 100, 110 and 150 µs; the GPU is named first."""
    times = iter((100.0, 110.0, 150.0))
    compute = baselines.Bench.run

    def run(bench, works):
        TIMES_US["last"] = next(times)
        compute(bench, works)

    monkeypatch.setitem(TIMES_US, "last", 0)
    monkeypatch.setattr(baselines.Bench, "run", run)

    ladders.main(["three", "--runs", "3"])

    first, *_, last = capsys.readouterr().out.strip().splitlines()
    assert first.startswith("A B, 20") and "cuda 13" in first
    assert last.split()[:2] == ["last", "110.0"] and "100.0–150.0" in last
    assert "181.8%" in last and "133.3–200.0%" in last


def test_a_variant_is_timed_beside_the_library(gpu):
    sweep.begin(threading.Lock())

    row = sweep.attempt(("three", "two"))

    assert (row["variant"], row["percent"], row["median_us"]) == ("two", 200.0, 100.0)


def test_a_variant_that_fails_says_why(gpu):
    sweep.begin(threading.Lock())

    row = sweep.attempt(("three", "none"))

    assert row == {"variant": "none", "error": row["error"]}
    assert "ZeroDivisionError" in row["error"] and "none: Zero" in sweep.said(row)


def test_a_sweep_is_written_with_what_it_was_measured_on(gpu, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "FOLDER", tmp_path)

    sweep.write("three", [{"variant": "two", "percent": 200.0}])

    written = json.loads((tmp_path / "sweep_three_a_b.json").read_text("utf-8"))
    assert written["command"] == "python -m lessons.sweep three"
    assert (written["gpu"], written["library"]) == ("A B", "library")
    assert written["variants"] == [{"variant": "two", "percent": 200.0}]


@pytest.mark.parametrize("command", [ladders, sweep])
def test_without_a_gpu_nothing_is_climbed(command, gpu, monkeypatch, capsys):
    monkeypatch.setattr(command, "device", SimpleNamespace(has_gpu=False))

    assert 1 == command.main(["three"])
    assert "there is none" in capsys.readouterr().err


@pytest.mark.parametrize("name", names())
def test_a_ladder_has_rungs_and_a_library(name):
    module = ladder(name)

    assert module.LADDERS
    assert hasattr(module, "SWEEP") == hasattr(module, "sweep_work")

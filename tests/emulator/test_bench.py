"""What the benchmark runs is right: the emulator and the loops give the same."""

import pytest

from helpers import check
from tests import bench
from tests.quick import some
from tests.specimens.bench.narrow import NARROW
from tests.specimens.bench_kernels import CASES

ALL = {case.name: case for case in (*CASES, *NARROW)}
SMALL = {case.name: case.small or 1000 for case in CASES}
SMALL |= {case.name: case.size // 20 for case in NARROW}


@pytest.mark.slow
@pytest.mark.parametrize("name", some(ALL, every=2))
def test_a_kernel_and_its_loops_agree(name):
    """Each at its small size."""
    case = ALL[name]
    size = SMALL[case.name]
    launch = case.launch(size)
    ours, theirs = case.arguments(size), case.arguments(size)

    case.kernel[launch](*ours)
    case.loops(*launch, *theirs)

    check(ours[-1], theirs[-1])


def test_what_imports_cost_is_printed_as_ratios(monkeypatch, capsys):
    """Of the tool and of the course to Numba's, in one line."""
    times = {"numba.cuda": 0.5, "thirty_two_lanes": 0.55, "helpers": 0.75}
    monkeypatch.setattr(bench, "import_times", lambda: times)

    bench.main(["--imports"])

    said = "numba.cuda: 0.50 s of a core; thirty_two_lanes 1.10 times, helpers 1.50"
    assert f"import {said} times that\n\n" == capsys.readouterr().out


@pytest.mark.slow
def test_imports_are_timed_in_processes_of_their_own(monkeypatch):
    """One round is enough to see that each is."""
    monkeypatch.setattr(bench, "ROUNDS", 1)

    times = bench.import_times()

    assert [*bench.IMPORTED] == [*times]
    assert all(seconds > 0 for seconds in times.values())


def test_the_page_of_speed_is_made_of_what_was_recorded():
    """`make bench OPTIONS=--write` writes both; numbers are never pasted."""
    page = bench.PAGE.read_text("utf-8")

    assert bench.with_speeds(page) == page


def test_what_is_measured_is_recorded_and_written(tmp_path, monkeypatch):
    """A row for each case of the page, and none for the narrow ones."""
    row = {"plain_s": 0.0123, "reports_s": 0.05, "reports": 4, "njit": 12.3, "all": 2}
    page, file = tmp_path / "page.md", tmp_path / "speed.json"
    page.write_text("<!-- speed: begin -->\n<!-- speed: end -->\n")
    monkeypatch.setattr(bench, "PAGE", page)
    monkeypatch.setattr(bench, "FILE", file)

    bench.write({it.name: {**row, "simulator": 1234.5} for it in (*CASES, *NARROW)})

    lines = page.read_text("utf-8").splitlines()
    assert "| add, 1 M | 0.012 | 0.050 | 4.0 | 1,230 | 12 |" in lines
    assert "| **geometric mean** | | | **4.0** | **1,230** | **12** |" in lines
    rows = [line for line in lines if " M | " in line or " | 0.012 | " in line]
    assert len(CASES) == len(rows)

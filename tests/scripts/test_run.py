"""`lanes run`: a program, and the report of its kernels."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from tests.paths import ROOT
from tests.scripts.programs import run, run_here, written
from thirty_two_lanes.emulator.machine import still_running

RACE = "shift[1, 64](np.ones(64, np.float32))\n"
FINE = "double[2, 32](np.ones(64, np.float32))\n"
BEYOND = "beyond[1, 33](np.ones(32, np.float32))\n"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Where a program lies, and files are written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


def run_it(file, *options):
    """What `python -m thirty_two_lanes run` says of a program, in this process."""
    return run_here("run", *options, file)


def run_apart(file, *options, **settings):
    """The same in a process of its own, with other environment variables."""
    command = ["-m", "thirty_two_lanes", "run", *options, file]
    return run(*command, cwd=file.parent, environment=settings)


def headings(said):
    """The kernels of a report, as it names them."""
    heading = r"^([a-z ]+): (\w+) \(.*?\), (\[[^:]*): (.*)$"
    return re.findall(heading, said, re.MULTILINE)


def test_a_program_without_faults_ends_as_it_does_alone(tmp_path):
    """Its output, its exit status, and then the report."""
    file = written(tmp_path, FINE * 3 + "print('done')\nraise SystemExit(4)")

    said = run_it(file)

    assert (4, "") == (said.returncode, said.stderr)
    assert said.stdout.startswith("done\n\nfine: double")
    assert [("fine", "double", "[2, 32]", "3 launches")] == headings(said.stdout)
    assert said.stdout.endswith("1 kernel, 3 launches: nothing wrong.\n")


def test_what_is_wrong_comes_first_and_fails(tmp_path):
    """Each kernel is one entry; a race and reads of what nobody wrote."""
    file = written(tmp_path, FINE + RACE * 2 + FINE + "double[1, 64](np.ones(64))\n")

    said = run_it(file)

    assert 1 == said.returncode
    assert [
        ("wrong", "shift", "[1, 64]", "2 launches"),
        ("fine", "double", "[2, 32] and 1 more", "3 launches"),
    ] == headings(said.stdout)
    assert "RAW race on shared `tile`: 62 hazards" in said.stdout
    assert "Put `cuda.syncthreads()` between line 15 and line 16" in said.stdout
    last = said.stdout.splitlines()[-1]
    assert "2 kernels, 5 launches: 1 race, 1 uninitialised read." == last


def test_an_index_out_of_bounds_is_reported_though_it_ends_the_program(tmp_path):
    """And where the program catches the error, too."""
    caught = f"try:\n    {BEYOND}except IndexError:\n    print('caught')\n"

    for text, traceback in ((BEYOND, True), (caught, False)):
        said = run_it(written(tmp_path, FINE + text))

        assert 1 == said.returncode
        assert "bounds: line 20 writes values[32]" in said.stdout
        assert said.stdout.endswith("2 launches: 1 index out of bounds.\n")
        assert traceback == ("Traceback" in said.stderr)
        assert "thirty_two_lanes/" not in said.stderr


def test_only_and_fail_on_choose_the_kinds(tmp_path):
    """What is not asked for is neither shown nor a reason to fail."""
    file = written(tmp_path, RACE)

    banks = run_it(file, "--only", "banks")
    races = run_it(file, "--only", "races,banks")
    none = run_it(file, "--fail-on", "none")
    costs = run_it(file, "--fail-on", "banks,sectors")
    unknown = run_it(file, "--only", "race")

    assert (0, 1, 0, 0, 2) == tuple(
        it.returncode for it in (banks, races, none, costs, unknown)
    )
    assert "race" not in banks.stdout and "nobody wrote" not in banks.stdout
    assert "1 race" in races.stdout and "nobody wrote" not in races.stdout
    assert "1 race" in none.stdout
    assert "there is no kind race: races, warp, bounds" in unknown.stderr


def test_only_some_launches_are_judged_and_it_says_so(tmp_path):
    """The others run plainly, with the same results."""
    file = written(
        tmp_path,
        """
        values = np.ones(64, np.float32)
        for _ in range(6):
            double[2, 32](values)
        double[1, 64](values)
        print(values[0], values[63])
        """,
    )

    said = run_it(file, "--launches", "2")

    assert said.stdout.startswith("128.0 128.0\n")
    assert [
        ("fine", "double", "[2, 32] and 1 more", "7 launches, of which 2 judged")
    ] == headings(said.stdout)
    assert said.stdout.endswith("7 launches, 2 of them judged: nothing wrong.\n")


def test_live_reports_a_kernel_when_it_is_launched(tmp_path):
    """Once for each kernel, and the sum at the end."""
    file = written(tmp_path, "print('first')\n" + RACE * 2 + "print('then')\n")

    said = run_it(file, "--live").stdout

    first, report, then = (said.index(it) for it in ("first", "wrong: ", "then"))
    assert first < report < then
    assert 1 == said.count("wrong: ")
    assert said.endswith("1 kernel, 2 launches: 1 race, 1 uninitialised read.\n")


def test_a_quiet_run_lets_no_launch_say_that_it_still_runs(tmp_path, monkeypatch):
    """However long it takes; others do, after some seconds."""
    monkeypatch.setattr(still_running, "monotonic", itertools.count().__next__)
    monkeypatch.setenv("EMULATOR_PATIENCE", "5")
    file = written(
        tmp_path,
        """
        @cuda.jit
        def slow(values):
            while values[0] < 300:
                values[0] += 1

        slow[1, 1](np.zeros(1))
        """,
    )

    said = [run_it(file), run_it(file, "--quiet")]

    assert [True, False] == ["`slow` still runs after" in it.stderr for it in said]
    assert "" == said[1].stderr


def test_files_are_where_they_were_asked_for_wherever_the_program_goes(tmp_path):
    """A folder that is missing, or has the file's name, is told before it runs."""
    away = tmp_path / "away"
    away.mkdir()
    file = written(tmp_path, f"{FINE}import os\nos.chdir({str(away)!r})\n")

    run_it(file, "--json", "out.json", "--html", "out.html")
    lost = "none/out.json", str(away)
    refused = [run_it(file, "--json", it) for it in lost]

    assert (tmp_path / "out.json").exists() and (tmp_path / "out.html").exists()
    assert [(2, "")] * 2 == [(it.returncode, it.stdout) for it in refused]
    assert "there is no folder none" in refused[0].stderr
    assert "away is a folder: give a file's name" in refused[1].stderr


def test_the_json_file_has_what_the_report_has(tmp_path):
    """The counts, and of each kernel its worst run."""
    file = written(tmp_path, RACE * 2 + FINE)

    run_it(file, "--json", "out.json")

    data = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    shift, double = data["kernels"]
    assert (2, "program.py", True) == (data["version"], data["program"], data["failed"])
    assert (1, 1, 0) == tuple(
        data["counts"][kind] for kind in ("races", "uninitialised", "bounds")
    )
    assert [("races", 15, 2), ("uninitialised", 16, 2)] == [
        (it["kind"], it["line"], it["launches"]) for it in shift["findings"]
    ]
    assert ("wrong", [1, 1, 1], [64, 1, 1], 2) == tuple(
        shift[name] for name in ("level", "blocks", "threads", "launches")
    )
    assert 62 == shift["worst"]["races"][0]["hazards"]
    assert [{"blocks": [1, 1, 1], "threads": [64, 1, 1], "launches": 2}] == shift[
        "shapes"
    ]
    assert ("fine", []) == (double["level"], double["findings"])


class Tags(HTMLParser):
    """The tags that a page opens and closes."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_stands_alone(tmp_path):
    """Every tag is closed, nothing comes from elsewhere, and each kernel has a head."""
    file = written(tmp_path, RACE + FINE)

    run_it(file, "--html", "out.html")

    page, tags = (tmp_path / "out.html").read_text(encoding="utf-8"), Tags()
    tags.feed(page)
    assert [] == tags.open
    assert (1, 2) == (tags.seen.count("h1"), tags.seen.count("h2"))
    assert not re.search(r"(?:src|href)=|@import|url\(", page)
    assert "62 hazards between warps" in page


def test_a_module_is_run_as_with_m(tmp_path):
    """And what follows it is its own, even if it looks like an option of ours."""
    written(tmp_path, FINE + "import sys; print(sys.argv[1:])", "somebodys_module.py")
    sys.path.insert(0, str(tmp_path))

    said = run_here("run", "-m", "somebodys_module", "--live", "--", "-m")

    assert said.stdout.startswith("['--live', '--', '-m']\n")
    assert 1 == len(headings(said.stdout))


def test_a_program_without_a_launch_is_told_so(tmp_path):
    """It may not have come to its kernels."""
    said = run_it(written(tmp_path, ""))

    assert (0, "\nNo kernel was launched.\n") == (said.returncode, said.stdout)


def test_what_cannot_be_run_is_a_sentence(tmp_path):
    """Status 2, and no traceback."""
    simulated = run_apart(written(tmp_path, FINE), NUMBA_ENABLE_CUDASIM="1")
    nothing = run_it(tmp_path / "nothing.py")

    for said, sentence in (
        (simulated, "NUMBA_ENABLE_CUDASIM is set"),
        (nothing, "there is no file"),
    ):
        assert 2 == said.returncode
        assert said.stderr.startswith("python -m thirty_two_lanes")
        assert sentence in said.stderr and "Traceback" not in said.stderr


@pytest.mark.slow
def test_a_program_keeps_its_own_module_helpers(tmp_path):
    """Nothing of the tool's is called `helpers`: a beginner's folder often has one."""
    file = written(tmp_path, "from helpers import word\nprint(word)\n" + RACE)
    (tmp_path / "helpers.py").write_text("word = 'theirs'\n")

    said = run_apart(file)

    assert 1 == said.returncode
    assert "theirs" in said.stdout and "1 race" in said.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_ctrl_c_reports_what_was_seen(tmp_path):
    """In the middle of the program; the status is that of an interrupt."""
    file = written(
        tmp_path, RACE + "print('now', flush=True)\nimport time\ntime.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-m", "thirty_two_lanes", "run", str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert "now\n" == process.stdout.readline()
        process.send_signal(signal.SIGINT)
        report, errors = process.communicate(timeout=60)

    assert 130 == process.returncode
    assert report.endswith("1 kernel, 1 launch: 1 race, 1 uninitialised read.\n")
    assert "interrupted\n" == errors


@pytest.mark.slow
def test_a_terminal_without_our_characters_gets_a_report(tmp_path):
    """As on Windows, where a pipe has an old encoding."""
    said = run_apart(written(tmp_path, RACE), PYTHONIOENCODING="ascii")

    assert 1 == said.returncode
    assert "1 block ? 64 threads, 1 race" in said.stdout
    assert "" == said.stderr

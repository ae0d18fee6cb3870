"""Findings where people look: annotations, SARIF and data of a described format.

`schemas/sarif-schema-2.1.0.json` is OASIS's own, unchanged: errata 01 of SARIF 2.1.0,
at the address that its `id` gives.
"""

import json
import re
import sys
from pathlib import Path

import pytest
from jsonschema import Draft4Validator, Draft202012Validator

from tests.paths import ROOT
from tests.scripts.programs import run_here, written
from thirty_two_lanes.scripts.github import annotations
from thirty_two_lanes.scripts.kinds import KINDS
from thirty_two_lanes.scripts.meanings import meanings
from thirty_two_lanes.scripts.sarif import SCHEMA, as_sarif
from thirty_two_lanes.scripts.told import Paths, Place, Told

OFFICIAL = Path(__file__).parent / "schemas/sarif-schema-2.1.0.json"
OURS = ROOT / "tool/thirty_two_lanes/scripts/report.schema.json"
RACE = "shift[1, 64](np.ones(64, np.float32))\n"
FAR = """
@cuda.jit
def far(values):
    values[8 * cuda.threadIdx.x] = 1

far[1, 32](np.ones(256, np.float32))
"""
BEYOND = "try:\n    beyond[1, 33](np.ones(32, np.float32))\nexcept IndexError: pass\n"
COMMAND = re.compile(r"::(error|warning|notice) (.*?)::(.*)")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Where a program lies, and files are written; not in a workflow."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


def read(file):
    """What a JSON file holds."""
    return json.loads(Path(file).read_text(encoding="utf-8"))


def commands(said):
    """The annotations of a text, as GitHub's runner reads them: level, properties,
    message.
    """
    found = []
    for line in said.splitlines():
        if told := COMMAND.fullmatch(line):
            level, properties, message = told.groups()
            pairs = (it.split("=", 1) for it in properties.split(","))
            found.append((level, {k: plain(v) for k, v in pairs}, plain(message)))
    return found


def plain(text):
    """What was escaped, as the runner puts it back."""
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n")):
        text = text.replace(code, character)
    return text.replace("%25", "%")


def test_a_sarif_file_is_valid_and_holds_both_accesses_of_a_race(tmp_path):
    """By OASIS's schema; a launch that stopped and what only costs are results too."""
    run_here("run", "--sarif", "it.sarif", written(tmp_path, RACE + BEYOND + FAR))

    log, official = read("it.sarif"), read(OFFICIAL)
    Draft4Validator(official).validate(log)
    assert official["id"] == log["$schema"] == SCHEMA
    race, *others = log["runs"][0]["results"]
    place = {"uri": "program.py", "uriBaseId": "%SRCROOT%"}
    assert ["races", "error"] == [race["ruleId"], race["level"]]
    where = [it["physicalLocation"] for it in race["relatedLocations"]]
    assert [place, place] == [it["artifactLocation"] for it in where]
    assert [15, 16] == [it["region"]["startLine"] for it in where]
    assert "tile[t] = values[t]" == where[0]["region"]["snippet"]["text"]
    assert {("bounds", 20, "error"), ("uninitialised", 16, "error")} <= {
        (
            it["ruleId"],
            it["locations"][0]["physicalLocation"]["region"]["startLine"],
            it["level"],
        )
        for it in others
    }
    assert ["note"] == [it["level"] for it in others if it["ruleId"] == "sectors"]
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert all(rules[it["ruleIndex"]]["id"] == it["ruleId"] for it in [race, *others])


def test_every_kind_has_its_sentence():
    """A rule of SARIF for each: what it means."""
    rules = as_sarif([])["runs"][0]["tool"]["driver"]["rules"]
    means = {it["id"]: it["shortDescription"]["text"] for it in rules}

    assert means == {kind: meanings()[kind]["means"] for kind in KINDS}


def test_an_annotation_names_the_line_and_says_what_to_do(tmp_path):
    """One that fails the program is an error; a kernel at two shapes is told once."""
    file = written(tmp_path, RACE * 2 + RACE.replace("[1, 64]", "[1, 62]"))

    said = run_here("run", "--github", file)

    ((level, where, message),) = [
        it for it in commands(said.stdout) if it[1]["title"] == "Races in shift"
    ]
    assert ("error", "program.py", "15") == (level, where["file"], where["line"])
    assert "line 15: thread " in message and "line 16: thread " in message
    assert "put `cuda.syncthreads()` between line 15 and line 16" in message
    assert 1 == said.stdout.count("wrong: shift")
    assert not commands(run_here("run", file).stdout)


def test_what_ends_a_command_is_escaped():
    """A percent, an end of a line, and in a file's name a comma and a colon."""
    place = Place("it.py", "a,b:c/100%.py", 3, "x")
    it = Told("warning", "mistakes", "kernel", "50% of it,\nat 1::2", "", (place,))

    (line,) = annotations([it])

    assert "\n" not in line
    ((level, where, message),) = commands(line)
    assert ("warning", "a,b:c/100%.py") == (level, where["file"])
    assert "50% of it,\nat 1::2" == message


def test_in_a_workflow_paths_begin_at_the_checkout(tmp_path, monkeypatch):
    """Annotations come unasked there, wherever the step and the program go."""
    step = tmp_path / "step"
    step.mkdir()
    monkeypatch.chdir(step)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    written(step, RACE + f"import os\nos.chdir({str(tmp_path.parent)!r})\n")

    said = run_here("run", "program.py")

    assert {"step/program.py"} == {it[1]["file"] for it in commands(said.stdout)}


def test_a_file_that_lies_elsewhere_is_known_by_its_name(tmp_path, monkeypatch):
    """No report tells where somebody's home is."""
    away = tmp_path / "away"
    away.mkdir()
    monkeypatch.chdir(away)
    file = written(tmp_path, RACE)

    said = run_here("run", "--github", "--json", "it.json", "--sarif", "it.sarif", file)

    told = commands(said.stdout)
    assert told and all("file" not in it[1] for it in told)
    assert told[0][2].startswith("program.py, line 15: RAW race")
    text = Path("it.json").read_text("utf-8") + Path("it.sarif").read_text("utf-8")
    assert str(tmp_path) not in said.stdout + text
    Draft4Validator(read(OFFICIAL)).validate(read("it.sarif"))


@pytest.mark.parametrize(
    "text",
    [RACE + FAR, BEYOND, "", RACE + BEYOND],
    ids=["races and costs", "a stop", "nothing", "races and a stop"],
)
def test_the_data_is_as_its_schema_says(tmp_path, text):
    """Races, launches that stop, what costs, and nothing at all."""
    run_here("run", "--json", "it.json", "--launches", "1", written(tmp_path, text))

    data, schema = read("it.json"), read(OURS)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(data)
    found = [it for kernel in data["kernels"] for it in kernel["findings"]]
    races = [it for it in found if it["kind"] == "races"]
    assert bool(races) == (RACE in text)
    for race in races:
        one, other = race["places"]
        assert ("program.py", 15, "program.py", 16) == (
            *(one["path"], one["line"]),
            *(other["path"], other["line"]),
        )
        assert one["does"].startswith("thread ") and "tile[" in other["does"]


ELSEWHERE = """
from numba import cuda

@cuda.jit(device=True)
def put(values, i):
    values[i] = 1
"""
STOPS = """
from elsewhere import put

@cuda.jit
def stops(values):
    put(values, cuda.grid(1))

@cuda.jit
def refused(values):
    i = cuda.grid(1)
    values[i] = np.sqrt(values[i])

@cuda.jit
def waits(values):
    while values[0] == 1:
        pass

for kernel in (stops, refused, waits):
    try:
        kernel[1, 33](np.ones(32))
    except Exception:
        pass
"""


def test_a_launch_that_stops_is_told_where(tmp_path):
    """In a device function of another file, in a loop that does not end, and on a line
    that Numba refuses.
    """
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE)
    file = written(tmp_path, STOPS)

    run_here("run", "--json", "it.json", file)

    kernels = {it["kernel"]: it for it in read("it.json")["kernels"]}
    places = {
        name: [(it["path"], it["text"]) for it in found["stops"][0]["places"]]
        for name, found in kernels.items()
    }
    assert {
        "stops": [("elsewhere.py", "values[i] = 1")],
        "refused": [("program.py", "values[i] = np.sqrt(values[i])")],
        "waits": [("program.py", "while values[0] == 1:")],
    } == places


def test_the_schema_refuses_a_race_with_one_place(tmp_path):
    """It is strict enough to notice what is missing."""
    run_here("run", "--json", "it.json", written(tmp_path, RACE))
    data, schema = read("it.json"), Draft202012Validator(read(OURS))
    del data["kernels"][0]["findings"][0]["places"][1]

    assert not schema.is_valid(data)


def test_paths_have_slashes_and_a_text_has_none(tmp_path):
    """`exec` and a notebook's cell are no files."""
    file = tmp_path / "a" / "b.py"
    file.parent.mkdir()
    file.touch()

    assert "a/b.py" == Paths.here().of(file) == Paths.here().of("a/b.py")
    assert None is Paths.here().of("<string>") is Paths.here().of(ROOT / "README.md")

"""What a child does, done in this process: NumPy and the verbs say what is right."""

import json
import re
import sys

import numpy as np
import pytest

from tests.scripts.programs import KERNELS, written
from thirty_two_lanes import assemble, watch
from thirty_two_lanes.agents.arguments import BadRequest
from thirty_two_lanes.agents.child import Keeper
from thirty_two_lanes.agents.tasks import TASKS
from thirty_two_lanes.assembly.compiler import missing

X = {"values": list(range(64)), "dtype": "float32"}
BY = {"blocks": 1, "threads": 64, "kernel": "shift", "shared_bytes": 0}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Where a child works."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


def done(task, **request):
    """A task's answer, as it comes out of its file."""
    keep = Keeper("answer.json")
    keep(TASKS[task](keep, **request))
    return json.loads(keep.file.read_text(encoding="utf-8"))


def launched(task, source=KERNELS, arguments=(X,), **request):
    """A task about a launch."""
    return done(task, source=source, arguments=list(arguments), **{**BY, **request})


def test_a_kernel_without_faults_gives_its_arrays():
    """Two blocks for 40 numbers; the result is NumPy's."""
    values = np.arange(40, dtype=np.float32) / 4
    argument = {"values": values.tolist(), "dtype": "float32"}

    answer = launched(
        "check_kernel", arguments=[argument], kernel="double", blocks=2, threads=32
    )

    (out,) = answer["outputs"]
    assert (2 * values).tolist()[:16] == out["first"]
    assert np.count_nonzero(2 * values != values) == out["changed"]
    assert (False, []) == (answer["failed"], answer["findings"])
    assert "1 kernel, 1 launch: nothing wrong." == answer["summary"]


def test_a_race_has_both_places_the_threads_and_the_advice():
    """The lines are those of the source that was given."""
    answer = launched("check_kernel")

    race = next(it for it in answer["findings"] if it["kind"] == "races")
    store, load = race["places"]
    lines = KERNELS.splitlines()
    for place in (store, load):
        assert lines[place["line"] - 1].strip() == place["text"]
    assert ("tile[t] = values[t]", "stores to") == (
        store["text"],
        re.fullmatch(r"thread \d+ (stores to) tile\[\d+\]", store["does"])[1],
    )
    assert re.fullmatch(r"thread \d+ loads tile\[\d+\]", load["does"])
    between = f"between line {store['line']} and line {load['line']}"
    assert f"put `cuda.syncthreads()` {between}" in race["advice"]
    assert answer["failed"]


def test_the_advice_applied_leaves_nothing_wrong():
    """A barrier where it says."""
    lines = KERNELS.splitlines()
    first = launched("check_kernel")["findings"][0]["places"][0]["line"]
    lines.insert(first, "    cuda.syncthreads()")

    assert not launched("check_kernel", source="\n".join(lines))["failed"]


def test_an_error_that_ends_the_launch_is_a_finding():
    """With its sentence, which names the line."""
    answer = launched("check_kernel", kernel="beyond", threads=65)

    assert answer["failed"]
    (stop,) = answer["findings"]
    assert "bounds" == stop["kind"]
    assert "values[64]" in stop["what"] and "line 20" in stop["what"]
    assert "`if cuda.grid(1) < values.size:`" in stop["advice"]


def test_memory_that_nobody_wrote_is_seen():
    """`empty` is what `cuda.device_array` gives."""
    empty = {"shape": 64, "dtype": "float32", "fill": "empty"}

    answer = launched("check_kernel", arguments=[empty], kernel="double")

    assert ["uninitialised"] == [it["kind"] for it in answer["findings"]]


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"source": "x = ("}, "line 1 of the source is not Python"),
        ({"source": "\nimport nonesuch"}, "line 2 of the source stops with Module"),
        ({"source": "x = 1"}, "no kernel: put `@cuda.jit` above"),
        ({"kernel": None}, "double, shift, beyond: give the name of one"),
        ({"kernel": "halve"}, "no kernel `halve`: it has double, shift, beyond"),
        ({"threads": 2048}, "2,048 threads per block are too many"),
        ({"blocks": 0}, "at least 1"),
        ({"arguments": []}, r"takes 1 argument \(values\); given: 0"),
    ],
)
@pytest.mark.parametrize("task", ["check_kernel", "watch_block", "assemble_kernel"])
def test_a_launch_that_cannot_be_is_refused(task, wrong, said):
    """In a sentence for whoever asked."""
    more = {
        "check_kernel": {},
        "watch_block": {"block": 0, "variables": None, "steps": 9},
        "assemble_kernel": {"target": None, "listing": False},
    }

    with pytest.raises(BadRequest, match=said):
        launched(task, **more[task], **wrong)


def test_watch_is_what_the_verb_prints(tmp_path):
    """The same film, made here."""
    answer = launched("watch_block", block=0, variables=["t"], steps=50)

    names = {}
    file = written(tmp_path, "", name="kernel.py")
    exec(compile(file.read_text(), str(file), "exec"), names)
    film = watch(names["shift"], variables=["t"], steps=50)
    assert repr(film[1, 64](np.arange(64, dtype=np.float32))) == answer["text"]
    assert "RAW race" in answer["text"]


@pytest.mark.slow
def test_assemble_is_what_the_verb_prints_or_says_what_is_missing(tmp_path):
    """With NVIDIA's compiler the instructions by line; else the sentence."""
    answer = launched("assemble_kernel", target="A100", listing=False)

    names = {}
    file = written(tmp_path, "", name="kernel.py")
    exec(compile(file.read_text(), str(file), "exec"), names)
    code = assemble(names["shift"], "A100")[1, 64](np.zeros(64, np.float32))
    assert repr(code) == answer["text"]
    assert (missing() or "capability 8.0") in answer["text"]


def test_a_program_is_run_in_its_folder_with_its_arguments(tmp_path, capfd):
    """It reads what lies beside it; its exit status is in the answer."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there/data.txt").write_text("3")
    text = """
    import sys
    double[2, 32](np.ones(64, np.float32))
    print(sys.argv[1:])
    sys.exit(int(open("data.txt").read()))
    """
    file = written(tmp_path / "there", text)

    answer = done("check_file", path=str(file), arguments=["a"], launches=None)

    assert (3, False) == (answer["status"], answer["failed"])
    assert "['a']\n" == capfd.readouterr().out
    assert "1 kernel, 1 launch: nothing wrong." == answer["summary"]


def test_what_is_known_is_kept_after_each_launch(tmp_path):
    """Before the program ends, and so if it has to be ended."""
    known = []
    text = """
    shift[1, 64](np.ones(64, np.float32))
    raise KeyboardInterrupt
    """
    file = str(written(tmp_path, text))

    answer = TASKS["check_file"](known.append, file, [], None)

    assert known[-1]["findings"] == answer["findings"]
    assert "races" == known[-1]["findings"][0]["kind"]
    assert ("interrupted", None) == (answer["stopped"], answer["status"])

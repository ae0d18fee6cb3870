"""What is recorded on a GPU is found again, and only where it holds."""

import json
import sys
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from helpers.measuring import recordings, store
from lessons import record
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.frontend.launch_form import Form

H200, H100 = "NVIDIA H200", "NVIDIA H100 80GB HBM3"
CIRCUMSTANCES = {"gpu": H200, "date": "2026-11-21", "copy_gb_per_s": 4000.0}
CIRCUMSTANCES |= {"versions": {"numba": "0.68.1"}}
TIMES = {"launches": 100, "median_us": 41.2, "lower_us": 40.9, "upper_us": 43.0}
TIMES |= {"min_us": 40.0, "max_us": 50.0}
# the layout of `ncu --csv --page raw`: a line of names, one of units, one a launch
LOG = '''\
==PROF== Connected to process 4711 (/usr/bin/python3.12)
==PROF== Profiling "copy" - 0: 0%....50%....100% - 3 passes
"ID","Process ID","Kernel Name","CC",{metrics}
"","","","",{units}
"1","4711","cudapy::__main__::read[abi:v2](Array<float, 1, C, mutable>)","9.0",{second}
"0","4711","cudapy::__main__::copy[abi:v1](Array<float, 1, C, mutable>)","9.0",{first}
'''
# a stand-in: takes the log's name, writes a log, and runs the program that follows
PROFILER = """\
#!/bin/sh
while [ "$1" != --log-file ]; do shift; done
cp {log} "$2"
shift 2
exec "$@"
"""


def form(kernel="copy", code="c0de", constants=(), arguments=(), launch="1 block"):
    return Form(kernel, code, constants, arguments, launch)


def journal_of(tmp_path, *forms, **values):
    """A journal in which these forms were noted, read back."""
    journal = tmp_path / "journal"
    journal.unlink(missing_ok=True)
    for each in forms:
        recordings.note(journal, each, {**TIMES, **CIRCUMSTANCES, **values})
    return recordings.read_journal(journal)


def log_of(first, second):
    """Nsight Compute's log of two launches, every counter of each the same."""
    tables = record.METRICS, record.SHARES, record.STALLS
    metrics = [metric for table in tables for metric in table.values()]
    return LOG.format(
        metrics=",".join(f'"{metric}"' for metric in metrics),
        units=",".join('"inst"' for _ in metrics),
        first=",".join(f'"{first}"' for _ in metrics),
        second=",".join(f'"{second}"' for _ in metrics),
    )


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A function that makes a recording of some forms, and nothing else recorded."""
    monkeypatch.setattr(store, "FOLDER", tmp_path)

    def record_forms(*forms, gpu=H200, **values):
        run = record.run_of(journal_of(tmp_path, *forms, **values), None, "580.1")
        found = {"gpu": gpu, "runs": {"a lesson": run}}
        store.write(store.file_of(gpu, "times"), found)
        recordings.load.cache_clear()

    yield record_forms
    recordings.load.cache_clear()


# ---------------------------------------------------------------- look up


def test_a_recorded_form_is_found_with_its_circumstances(recorded):
    """The times of the form, and the GPU, day and versions of its run."""
    recorded(form("read", launch="2 blocks"), form("copy"))

    found = recordings.find(form("copy"))

    assert TIMES == {name: found[name] for name in TIMES}
    assert (H200, "2026-11-21") == (found["gpu"], found["date"])
    assert {"numba": "0.68.1", "driver": "580.1"} == found["versions"]


def test_of_a_form_that_two_lessons_have_the_kernels_own_is_shown(monkeypatch):
    """So that the times of a lesson's table are of one run."""
    known = [(form("copy_one"), 1), (form("copy_two"), 2)]
    monkeypatch.setattr(recordings, "forms", lambda: iter(known))

    asked = form("copy_one"), form("copy_two"), form("copy_three"), form(code="c0")
    assert [1, 2, 1, None] == [recordings.find(it) for it in asked]


@pytest.mark.parametrize("other", [
    {"code": "c0ffee"}, {"constants": ("n = 1",)}, {"arguments": ("int64 1",)},
    {"launch": "2 blocks"},
])
def test_another_form_is_not_found(recorded, other):
    """Whatever differs, what was recorded does not hold."""
    recorded(form())

    assert recordings.find(form(**other)) is None


@pytest.mark.parametrize(
    ("at_hand", "named", "shown"),
    [
        ("emulator", "", H200),
        ("NVIDIA A100", "", H200),
        (H100, "", H100),
        (H200, "", H200),
        ("emulator", H100, H100),
        ("emulator", "H100", H100),
        (H100, "nvidia_h200", H200),
    ],
)
def test_the_gpu_that_is_shown_is_chosen(at_hand, named, shown, recorded, monkeypatch):
    """The one that the environment names, or the one at hand; else an H200, though
    another file comes first by name.
    """
    recorded(form(), gpu=H100)
    recorded(form(), gpu=H200)
    monkeypatch.setattr(store, "device", SimpleNamespace(name=at_hand))
    monkeypatch.setenv(store.SHOWN, named)

    assert shown == recordings.find(form())["gpu"]
    assert shown == recordings.nearest(form(code="other"))[1]["gpu"]


def test_a_gpu_without_recordings_cannot_be_chosen(recorded, monkeypatch):
    """A name with a mistake would show an H200's times, and nobody would know."""
    recorded(form(), gpu=H100)
    monkeypatch.setenv(store.SHOWN, "A10O")

    with pytest.raises(ArgumentError, match="'A10O'.*there is nvidia_h100"):
        recordings.find(form())


def test_what_was_not_recorded_of_a_gpu_is_shown_of_an_h200(recorded, monkeypatch):
    """And nothing of a third one."""
    recorded(form(), gpu=H200)
    recorded(form("read", "b"), gpu=H100)
    recorded(form("sum", "c"), gpu="NVIDIA A100")
    monkeypatch.setattr(store, "device", SimpleNamespace(name=H100))

    asked = form(), form("read", "b"), form("sum", "c")
    found = map(recordings.find, asked)
    assert [H200, H100, None] == [values and values["gpu"] for values in found]


def test_the_nearest_form_has_the_same_source_if_any_has(recorded):
    """Another launch of the same code is nearer than other code under the name."""
    same_code, same_name = form(launch="8 blocks"), form(code="c0ffee")
    recorded(same_name, same_code)

    near, _ = recordings.nearest(form())

    assert same_code == near
    assert "8 blocks" == recordings.differences(near, form())


def test_an_edited_kernel_is_near_what_was_recorded_under_its_name(recorded):
    """Of other code under another name nothing is near."""
    recorded(form("read", "b"), form("copy", "c"))

    near, _ = recordings.nearest(form("copy", "edited"))

    assert form("copy", "c") == near


@pytest.mark.parametrize("nearer, farther", [
    ({"constants": ("a",)}, {"constants": ("b", "c", "d")}),
    ({}, {"constants": ("a", "b"), "launch": "2 blocks"}),
    ({"launch": "2 blocks"}, {"arguments": ("int64 1",)}),
    ({"arguments": ("int64 1",)}, {"code": "edited"}),
])
def test_the_nearest_shares_code_then_arguments_then_launch(nearer, farther, recorded):
    """Then as many of the constants as there are, whatever others it has."""
    asked = form(constants=("a", "b"))
    for forms in (nearer, farther), (farther, nearer):
        recorded(*(form(**it) for it in forms))

        assert form(**nearer) == recordings.nearest(asked)[0]


def test_nothing_is_near_a_kernel_of_another_name_and_source(recorded):
    """A kernel never seen has no nearest recording."""
    recorded(form())

    assert recordings.nearest(form("mine", code="0dd")) is None


@pytest.mark.parametrize("other, words", [
    ({"code": "0dd"}, "another source"),
    ({"constants": ("n = 2",)}, "n = 2"),
    ({"arguments": ("int64 2",)}, "arguments int64 2"),
    ({"constants": ("n = 2",), "launch": "3 blocks"}, "n = 2, 3 blocks"),
])
def test_differences_are_told_in_words(other, words):
    """What the recorded form has and the form asked for has not."""
    known = form(**{"constants": ("n = 1",), **other})

    assert words == recordings.differences(known, form(constants=("n = 1",)))


def test_what_lacks_constants_says_so():
    """It has nothing that the form asked for has not."""
    assert "fewer constants" == recordings.differences(form(), form(constants=("n",)))


def test_every_recording_in_the_repository_can_be_read():
    """Each holds a form and a time, and says how it was made."""
    files = [*store.FOLDER.glob("*/times.json")]
    assert store.file_of(H200, "times") in files
    for file in files:
        assert "lessons.record" in store.read(file)["command"]
        assert all(values["median_us"] > 0 for _, values in recordings.load(file))


# ---------------------------------------------------------------- record


def test_a_form_measured_twice_is_recorded_once(tmp_path):
    """The later measurement counts."""
    journal_of(tmp_path, form(), median_us=1.0)
    run = record.run_of(journal_of(tmp_path, form(), median_us=2.0), None, "")

    assert [2.0] == [entry["median_us"] for entry in run["measurements"]]


def test_recording_again_replaces_all_but_the_counters_that_still_hold(tmp_path):
    """A lesson's old forms go; a form that stays keeps what the profiler counted."""
    kept, gone, new = (form(launch=f"{n} blocks") for n in (2, 3, 4))
    before = record.run_of(journal_of(tmp_path, kept, gone), None, "")
    for entry in before["measurements"]:
        entry["counters"] = {"shared_load_conflicts": 31}
    (tmp_path / "journal").unlink()

    after = record.run_of(journal_of(tmp_path, kept, new), before, "")

    counters = {each: entry.get("counters") for each, entry in record.by_form(
        after["measurements"]
    )}
    assert {kept: {"shared_load_conflicts": 31}, new: None} == counters


def test_a_file_does_not_depend_on_the_order_of_the_measurements(tmp_path):
    """What is measured alike is written alike, byte for byte."""
    forms = [form(launch=f"{n} blocks") for n in (2, 3, 5)]
    for name, order in (("a", forms), ("b", forms[::-1])):
        run = record.run_of(journal_of(tmp_path, *order), None, "")
        store.write(tmp_path / name, run, sort_keys=True)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_counters_join_the_launches_in_their_order(tmp_path):
    """The profiler's rows are numbered as the journal's lines were written."""
    copy, read = form("copy"), form("read", launch="2 blocks")
    launches = journal_of(tmp_path, copy, read)
    run = record.run_of(launches, None, "")

    run = record.with_counters(run, launches, log_of(first="1,984", second="7"))

    counts = {
        each: {entry["counters"][name] for name in record.METRICS}
        for each, entry in record.by_form(run["measurements"])
    }
    assert {copy: {1984}, read: {7}} == counts
    stalls = [entry["counters"]["stalls"] for entry in run["measurements"]]
    assert [dict.fromkeys(record.STALLS, value) for value in (1984, 7)] == stalls


def test_a_counter_that_the_gpu_does_not_have_is_left_out(tmp_path):
    """No counter at all, rather than a zero."""
    launches = journal_of(tmp_path, form("copy"), form("read", code="b"))
    run = record.run_of(launches, None, "")

    run = record.with_counters(run, launches, log_of(first="n/a", second="0"))

    entries = run["measurements"]
    assert [{}, dict.fromkeys((*record.METRICS, *record.SHARES), 0)] == [
        entry["counters"] for entry in entries
    ]


@pytest.mark.parametrize("kernels", [
    ("copy",), ("read", "copy"), ("copy", "read", "copy"),
])
def test_counters_of_other_launches_are_refused(tmp_path, kernels):
    """Too few, too many, or in another order: then no row is trusted."""
    launches = journal_of(tmp_path, *(form(kernel) for kernel in kernels))

    with pytest.raises(record.RecordError, match="the lesson launched"):
        record.joined(launches, record.rows_of(log_of(1, 2)))


def test_counters_need_times(tmp_path):
    """A launch of which no time is recorded has nowhere to put its counters."""
    launches = journal_of(tmp_path, form("copy"), form("read", code="b"))
    run = record.run_of(launches[:1], None, "")

    with pytest.raises(record.RecordError, match="record the times of read first"):
        record.with_counters(run, launches, log_of(1, 2))


# ---------------------------------------------------------------- the command


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of two lessons that note a form each, on a machine that has a GPU."""
    (tmp_path / "lessons").mkdir()
    for number, kernel in ((1, "copy"), (2, "read")):
        entry = {**asdict(form(kernel)), **TIMES, **CIRCUMSTANCES}
        (tmp_path / f"lessons/0{number}_{kernel}.py").write_text(
            "import os\n"
            f"line = {json.dumps(entry)!r} + chr(10)\n"
            "open(os.environ['HELPERS_RECORD'], 'a').write(line)\n"
        )
    monkeypatch.setattr(record, "ROOT", tmp_path)
    monkeypatch.setattr(record, "device", SimpleNamespace(has_gpu=True, name=H200))
    monkeypatch.setattr(store, "FOLDER", tmp_path / "recorded")
    return tmp_path


def kernels_recorded(course):
    """The kernels recorded, by lesson."""
    runs = store.read(course / "recorded/nvidia_h200/times.json")["runs"]
    return {
        name: [entry["kernel"] for entry in run["measurements"]]
        for name, run in runs.items()
    }


def test_every_lesson_is_recorded(course, capsys):
    """Each lesson runs as a script, and what it measured is in the GPU's file."""
    assert 0 == record.main([])
    assert {"01_copy": ["copy"], "02_read": ["read"]} == kernels_recorded(course)


def test_one_lesson_is_recorded_and_the_others_stay(course, capsys):
    """A name or a number chooses; a lesson that is gone takes its recordings along."""
    record.main([])
    (course / "lessons/01_copy.py").unlink()

    assert 0 == record.main(["02"])
    assert {"02_read": ["read"]} == kernels_recorded(course)


def test_a_lesson_that_fails_is_named(course, capsys):
    """Its recordings are not touched, and the status tells."""
    (course / "lessons/02_read.py").write_text("import sys; sys.exit(3)")

    assert 1 == record.main([])
    assert "02_read ended with status 3: not recorded" in capsys.readouterr().err
    assert {"01_copy": ["copy"]} == kernels_recorded(course)


def test_an_unknown_lesson_is_refused(course, capsys):
    """The message lists those that there are."""
    assert 1 == record.main(["99"])
    assert "no lesson 99; there are: 01_copy, 02_read" in capsys.readouterr().err


def test_without_a_gpu_nothing_is_recorded(course, monkeypatch, capsys):
    """The emulator's time is no measurement."""
    monkeypatch.setattr(record, "device", SimpleNamespace(has_gpu=False))

    assert 1 == record.main([])
    assert "there is no NVIDIA GPU here" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_counters_are_recorded_under_the_profiler(course, monkeypatch, capsys):
    """The lesson runs once more under `ncu`, whose log is joined with the journal."""
    record.main([])
    lesson = course / "lessons/01_copy.py"
    lesson.write_text(lesson.read_text().replace("_RECORD", "_PROFILE"))
    one_launch = [line for line in log_of(31, 7).splitlines() if line[:3] != '"1"']
    (course / "log").write_text("\n".join(one_launch))
    (course / "ncu").write_text(PROFILER.format(log=course / "log"))
    (course / "ncu").chmod(0o755)
    monkeypatch.setenv("PATH", str(course), prepend=":")

    assert 0 == record.main(["01", "--counters"])

    runs = store.read(course / "recorded/nvidia_h200/times.json")["runs"]
    (entry,) = runs["01_copy"]["measurements"]
    assert {31} == {entry["counters"][name] for name in record.METRICS}
    assert 41.2 == entry["median_us"]

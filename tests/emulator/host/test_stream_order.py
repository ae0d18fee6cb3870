"""What the judge of streams finds in whole programs, and what it leaves alone."""

import inspect
import json
import pickle
import re
import sys

import numpy as np
import pytest
from numba import cuda

from helpers import device
from tests.on_gpu.streams.cases import AFTER, CASES, Arrays
from tests.paths import ROOT
from tests.scripts.programs import run_here, written
from tests.specimens import stream_pipelines, stream_programs
from tests.specimens.stream_programs import RIGHT, WRONG
from thirty_two_lanes.agents.answers import answer_of
from thirty_two_lanes.emulator.host import told
from thirty_two_lanes.emulator.host.noted import PinnedArray
from thirty_two_lanes.scripts.kinds import FAULTS
from thirty_two_lanes.scripts.ledger import Ledger
from thirty_two_lanes.scripts.report import as_lines, as_page

pytestmark = pytest.mark.skipif(device.has_gpu, reason="the GPU itself answers here")
MARK = re.compile(r"# (first|second)( \w)?$")


def judged(program):
    """What a program gives, and the ledger of its launches and calls."""
    ledger = Ledger()
    with ledger.judging():
        result = program()
    return result, ledger


def hazards(ledger):
    """The findings of a ledger that are of streams."""
    entries = ledger.host_calls
    return [it.finding for entry in entries for it in entry.seen.values()]


def lines_found(program):
    """The pairs of lines that a judge finds in a program."""
    found = hazards(judged(program)[1])
    return {tuple(site.line for site, _ in it.accesses) for it in found}


def lines_marked(program):
    """The pairs of lines that a program's comments say."""
    lines, first = inspect.getsourcelines(program)
    pairs = {}
    for number, line in enumerate(lines, first):
        if mark := MARK.search(line.rstrip()):
            pairs.setdefault(mark[2], {})[mark[1]] = number
    return {(it["first"], it["second"]) for it in pairs.values()}


@pytest.mark.parametrize("program", RIGHT, ids=lambda it: it.__name__)
def test_a_right_program_has_no_finding(program):
    """Whatever its streams wait for each other with."""
    assert set() == lines_found(program)


@pytest.mark.parametrize("program", WRONG, ids=lambda it: it.__name__)
def test_a_wrong_program_is_told_both_lines(program):
    """And no other."""
    assert lines_marked(program) == lines_found(program) != set()


def test_the_report_has_both_lines_and_the_remedy():
    """In the words of the program: its arrays, streams and kernels."""
    _, ledger = judged(stream_programs.two_streams_share_an_array)
    said = " ".join(as_lines(ledger, FAULTS).split())

    assert "the launch of `twice` on `other` reads `d`, which the copy of line " in said
    assert " on `s` writes: nothing orders the two line" in said
    assert "d = cuda.to_device(h, stream=s) # first the copy on `s` writes" in said
    assert "Let one wait for the other: `event.record(s)` behind line " in said
    assert "1 kernel, 1 launch: 1 stream hazard." in said
    page = " ".join(as_page(ledger, FAULTS, "title").split())
    assert "wrong: calls of the host (stream_programs.py)" in page
    assert "the launch of `twice` on `other` reads it" in page
    (found,) = [it for it in answer_of(ledger)["findings"] if it["kind"] == "streams"]
    assert ["wrong", 2] == [found["level"], len(found["places"])]


def test_no_lesson_has_a_stream_or_shared_memory():
    """So none is heard, and none has a new finding."""
    calls = re.compile(r"^[^#]*\bcuda\.(stream|pinned|mapped|managed)", re.MULTILINE)
    texts = [
        it.read_text(encoding="utf-8") for it in (ROOT / "lessons").glob("[0-9]*.py")
    ]

    assert 20 < len(texts)
    assert [] == [found for text in texts for found in calls.findall(text)]


def test_a_loop_is_told_once_with_its_number():
    """And a finding of the host says which stream to wait for."""
    _, ledger = judged(stream_pipelines.a_ring_of_pinned_buffers_that_is_not_waited_for)
    ((sighting,),) = [entry.seen.values() for entry in ledger.host_calls]

    assert 4 == sighting.launches
    assert "the host writes `h`, which the copy of " in sighting.finding.what
    assert " on `s` still reads" in sighting.finding.what
    assert "Wait before" in sighting.finding.advice
    assert "`s.synchronize()`" in sighting.finding.advice


def test_names_are_found_in_lists_and_objects():
    """As the program would write them."""

    class Pipeline:
        def __init__(self):
            self.stream, self.h = cuda.stream(), cuda.pinned_array(8, np.int32)

        def run(self):
            self.h[:] = 1
            cuda.to_device(self.h, stream=self.stream)
            self.h[:] = 2

    def lists():
        made, arrays = [cuda.stream()], {"a": cuda.pinned_array(8, np.int32)}
        arrays["a"][:] = 1
        cuda.to_device(arrays["a"], stream=made[0])
        arrays["a"][:] = 2

    (one,) = hazards(judged(lambda: Pipeline().run())[1])
    (two,) = hazards(judged(lists)[1])

    assert "`self.h`" in one.what and "`self.stream.synchronize()`" in one.advice
    assert "`arrays['a']`" in two.what and "`made[0].synchronize()`" in two.advice


def test_a_program_of_host_calls_alone_fails(tmp_path, monkeypatch):
    """It launches nothing; `--fail-on` and `--only` know the kind."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.chdir(tmp_path)
    text = (
        "h, s = cuda.pinned_array(8, np.int32), cuda.stream()\n"
        "h[:] = 1\ncuda.to_device(h, stream=s)\nh[:] = 2\n"
    )
    file = written(tmp_path, text)

    found = run_here("run", "--json", "it.json", "--sarif", "it.sarif", file)
    ignored = run_here("run", "--fail-on", "races", file)
    others = run_here("run", "--only", "races", file)

    assert [1, 0, 0] == [it.returncode for it in (found, ignored, others)]
    assert "No kernel was launched: 1 stream hazard." in found.stdout
    assert "doubtful: calls of the host (program.py)" in ignored.stdout
    assert "No kernel was launched." in others.stdout
    data = json.loads((tmp_path / "it.json").read_text())
    assert {"streams": 1} == {k: n for k, n in data["counts"].items() if n}
    (finding,) = data["host"]
    assert 2 == len(finding["places"])
    (result,) = json.loads((tmp_path / "it.sarif").read_text())["runs"][0]["results"]
    assert "streams" == result["ruleId"]
    assert 2 == len(result["relatedLocations"])


def test_before_a_stream_or_shared_memory_nothing_is_looked_up(monkeypatch):
    """A program without them costs what it did."""
    monkeypatch.setattr(told, "_call_site", None)

    def program():
        d = cuda.to_device(np.ones(stream_programs.N, np.float32))
        stream_programs.twice[4, 64](d)
        d.copy_to_host()
        cuda.synchronize()

    assert [] == judged(program)[1].host_calls


READS = [
    lambda h: h.sum(),
    lambda h: h[1],
    lambda h: h[[1, 2]],
    lambda h: h[h > 1],
    lambda h: h + 1,
    lambda h: np.add(1, h),
    lambda h: h == h,
    lambda h: -h,
    lambda h: h.copy(),
    lambda h: h.astype(np.int32),
    lambda h: h.tolist(),
    lambda h: h.argmax(),
    lambda h: h[2:5].mean(),
    lambda h: h.reshape(2, -1)[1].std(),
    lambda h: np.sort(h),
    lambda h: np.concatenate([h, np.ones(2, np.float32)]),
    lambda h: np.allclose(h, 1),
    lambda h: np.split(h, 2)[1].max(),
    lambda h: np.median(h),
    lambda h: np.copyto(np.zeros(stream_programs.N, np.float32), h),
    lambda h: list(h),
    lambda h: float(h[0]),
    lambda h: 1 in h,
    lambda h: repr(h),
    lambda h: f"{h}",
    lambda h: pickle.dumps(h),
    lambda h: np.where(h > 1, 2, 3),
    lambda h: np.dot(h, h),
    lambda h: h @ h,
]
WRITES = [
    lambda h: h.fill(1),
    lambda h: h.sort(),
    lambda h: h.__setitem__(3, 1),
    lambda h: h[1:4].fill(3),
    lambda h: h.__iadd__(1),
    lambda h: np.copyto(h, 3),
    lambda h: np.add(h, 1, out=h),
    lambda h: np.add.at(h, [1, 2], 1),
    lambda h: np.clip(h, 1, 2, out=h),
]
NEITHER = [
    lambda h: h[1:],
    lambda h: h.shape,
    lambda h: np.shape(h),
    lambda h: np.zeros_like(h),
    lambda h: h.reshape(2, -1),
    lambda h: np.reshape(h, (2, -1)),
    lambda h: h.T,
    lambda h: len(h),
    lambda h: h.nbytes,
]


def with_a_copy(does, way):
    """What an access gives while a copy reads a pinned array, or writes it, and the
    verbs of what was found.
    """

    def program():
        h, s = stream_programs.pinned(), cuda.stream()
        d = cuda.to_device(np.arange(stream_programs.N, dtype=np.float32))
        cuda.synchronize()
        d.copy_to_device(h, stream=s) if way == "reads" else d.copy_to_host(h, stream=s)
        return does(h)

    made, ledger = judged(program)
    words = [it.what.split()[2] for it in hazards(ledger)]
    return made, words


@pytest.mark.parametrize("does", READS)
def test_a_read_of_a_pinned_array_is_seen_and_gives_plain_arrays(does):
    """While a copy writes it; while one reads it, it is no hazard."""
    made, words = with_a_copy(does, "writes")

    assert {"reads"} == set(words)
    assert not isinstance(made, PinnedArray)
    assert [] == with_a_copy(does, "reads")[1]


@pytest.mark.parametrize("does", WRITES)
def test_a_write_of_a_pinned_array_is_seen(does):
    """While a copy reads it."""
    assert ["writes"] == with_a_copy(does, "reads")[1]


@pytest.mark.parametrize("does", NEITHER)
def test_a_look_that_touches_no_element_is_no_access(does):
    """What is taken of it is seen when it is used."""
    assert [] == with_a_copy(does, "writes")[1]


def test_the_page_has_the_rules():
    """As `python -m tests.on_gpu.agreement` writes it."""
    rules = (ROOT / "tests/on_gpu/streams/rules.md").read_text(encoding="utf-8")

    assert rules in (ROOT / "docs/AGREEMENT.md").read_text(encoding="utf-8")


def test_what_numpy_does_not_say_is_not_seen():
    """`docs/AGREEMENT.md` lists it."""
    for does in (np.array, np.asarray, memoryview):
        assert [] == with_a_copy(does, "writes")[1]


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array])
def test_shared_arrays_are_numbas_own_again_afterwards(make):
    """And those of `pinned_array` plain ones."""
    judged(lambda: make(4))

    assert "__getitem__" not in vars(type(make(4)))
    assert np.ndarray is type(cuda.pinned_array(4))


def test_values_are_those_of_a_program_that_is_not_judged():
    """Judging changes no result."""
    for program in [*RIGHT, *WRONG]:
        plainly, heard = program(), judged(program)[0]
        assert np.array_equal(plainly, heard) or plainly is heard is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases_for_a_gpu_race_here_as_they_are_labelled(case):
    """`tests/on_gpu/streams` asks a GPU for the values."""
    found, ledger = judged(lambda: case.program(Arrays(), 1))

    assert case.races == bool(hazards(ledger))
    assert AFTER == found

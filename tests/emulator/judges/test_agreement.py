"""The emulator is held to what compute-sanitizer and Nsight Compute said on a GPU."""

import pytest

from lessons.publishing.convert import lessons_of
from tests.on_gpu import agreement, data_path
from tests.on_gpu.agreement_page import page
from tests.on_gpu.sanitizer_reports import by_kernel, counted_reports, verdict
from tests.paths import ROOT
from tests.quick import drawn
from tests.specimens.labelled import CLEAN, RACE, Case
from tests.specimens.requests.patterns import digest, patterns
from tests.specimens.zoo_cases import ZOO
from thirty_two_lanes.assembly.compiler import missing

asked = pytest.mark.skipif(
    not agreement.sanitizer(),
    reason="compute-sanitizer has not been asked yet: on a machine with a GPU, "
    "`python -m tests.on_gpu.sanitizer` writes tests/recorded/sanitizer.json",
)
counted = pytest.mark.skipif(
    not agreement.counters(),
    reason="Nsight Compute has not been asked yet: on a machine with a GPU, "
    "`python -m tests.on_gpu.counters` writes tests/recorded/counters.json",
)
# lessons whose latest edition no GPU has counted yet
WAITING = {"29_sort", "32_enough_in_flight"}
LOG = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at zoo::first(int *)+0x90 in z.py:3
=========     and Read access at zoo::first(int *)+0x100 in a/z.py:5 [508 hazards]
=========
========= Warning: Race reported between Write access at zoo::second()+0x9 in zoo.py:8
=========     and Write access at zoo::second()+0x10 in zoo.py:8 [12 hazards]
=========
========= Barrier error detected. Divergent thread(s) in block.
=========     at zoo::third_of_them(int *)+0x11f0 in /there/zoo.py:42
=========     by thread (32,0,0) in block (0,0,0)
=========
========= Barrier error detected. Divergent thread(s) in block.
=========     at zoo::third_of_them(int *)+0x11f0 in /there/zoo.py:42
=========     by thread (33,0,0) in block (0,0,0)
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""
NAMES = "first", "second", "third", "third_of_them", "fourth"


# ---------------------------------------------------------------- reading reports


def test_reports_are_told_apart_by_the_kernels_that_they_name():
    """A name that is part of a longer one is not taken for it."""
    found = by_kernel(LOG, NAMES)

    assert {"first": 1, "second": 1, "third_of_them": 2} == {
        name: len(reports) for name, reports in found.items()
    }


def test_a_report_is_kept_with_its_severity_places_and_hazards():
    """Equal reports of many threads are one with a count."""
    found = by_kernel(LOG, NAMES)

    (race,), (barrier,) = (
        counted_reports(found["first"]),
        counted_reports(found["third_of_them"]),
    )
    assert ("error", 508) == (race["severity"], race["count"])
    assert ["write: line 3", "read: line 5"] == race["places"]
    assert ("error", 2, ["line 42"]) == (
        *(barrier["severity"], barrier["count"]),
        barrier["places"],
    )


@pytest.mark.parametrize(
    "name, word", [("first", "error"), ("second", "warning"), ("fourth", "nothing")]
)
def test_a_verdict_is_the_worst_of_what_was_said(name, word):
    """Nothing said is a verdict, too."""
    kept = {
        "tools": {
            "racecheck": {
                "reports": counted_reports(by_kernel(LOG, NAMES).get(name, []))
            }
        }
    }

    assert word == verdict(kept, "racecheck")
    assert "not run" == verdict(kept, "memcheck")


@pytest.mark.parametrize(
    "code, counts, place",
    [
        ("LDG.E.64", {}, ("global", "load")),
        ("STS.U8", {}, ("shared", "store")),
        ("LD.E", {"wavefronts": 1}, ("shared", "load")),
        ("ST.E", {"sectors": 4}, ("global", "store")),
        ("RED.E.ADD", {}, ("global", "atomic")),
        ("LDL", {}, (None, "load")),
    ],
)
def test_an_instruction_tells_its_memory(code, counts, place):
    """Generic ones count with the space in which they land."""
    assert place == (agreement.space_of(code, counts), agreement.kind_of(code))


def test_a_line_of_which_a_count_differs_is_told_with_its_instructions():
    """A made-up recording of `strided`: one sector too many, and one line gone."""
    case = next(case for case in ZOO if case.name == "strided")
    load, store = lines_of(case)
    recorded = [[load, "LDG.E", {"sectors": 9, "lanes": 32}]]

    differ = agreement.lines_that_differ(
        case.first_line, agreement.run(case), recorded
    )

    differ = {key: found for key, found in differ.items() if key[3] == "sectors"}
    assert {
        (load, "global", "load", "sectors"): (8, 9, ["LDG.E"]),
        (store, "global", "store", "sectors"): (32, 0, []),
    } == differ


def lines_of(case: Case):
    """The lines of the accesses of a kernel, counted from its first."""
    table = agreement.run(case).coalescing.by_line
    return [line - case.first_line for line in sorted(site.line for site in table)]


# ---------------------------------------------------------------- compute-sanitizer


@asked
def test_each_tool_was_asked_about_each_kernel_as_it_is():
    """A kernel that changed is asked about again: run the script once more."""
    assert [] == agreement.not_run()


@asked
def test_no_race_that_racecheck_finds_is_missed():
    """Each is labelled a race, and so the emulator finds it."""
    assert [] == agreement.missed()


@asked
def test_a_race_that_racecheck_does_not_see_has_its_reason():
    """Global memory, atomics, equal values, or what the compiler did."""
    assert [] == [name for name, why in agreement.unseen().items() if not why]
    assert [] == agreement.idle_reasons()


@asked
def test_the_other_tools_find_what_the_zoo_says_and_nothing_else():
    """memcheck, synccheck and initcheck, kernel by kernel."""
    assert {} == agreement.tools_that_differ()


# ---------------------------------------------------------------- Nsight Compute


@counted
def test_every_random_pattern_was_counted():
    """Five hundred and more, of the tables that are drawn now."""
    recorded = agreement.counters()

    assert digest(patterns()) == recorded["digest"]
    assert {case.name for case in patterns()} == set(recorded["patterns"])


@pytest.mark.slow
@counted
def test_random_patterns_count_as_on_the_gpu():
    """Requests, sectors, wavefronts and conflicts are equal, but for what the page
    lists.
    """
    differ = agreement.patterns_that_differ()

    assert set(agreement.UNEXPLAINED) == set(differ)
    assert all("store" in name for counts in differ.values() for name in counts)


@counted
def test_kernels_of_the_zoo_count_as_on_the_gpu_or_the_instruction_says_why():
    """By source line where the profiler gave it; each difference has its reason.

    None was left out: run the script once more for what is new.
    """
    found = agreement.compared()

    differ = found["differ"].items()
    assert [] == [name for name, what in differ if not agreement.reason(name, what)]
    names = {case.name for case in ZOO if not (case.error or case.hangs)}
    assert names == {*found["recorded"]}


@counted
@pytest.mark.skipif(bool(missing()), reason=missing() or "the compiler is here")
@pytest.mark.parametrize("name", [drawn(it, every=8) for it in data_path.AGREEING])
def test_the_data_path_passes_what_it_passed_on_the_gpu(name):
    """As many launches as the page says have the LSU wavefronts of the counter."""
    said, found = data_path.AGREEING[name], data_path.compared(name)

    assert said == data_path.agreeing(found), found


@counted
@pytest.mark.parametrize("lesson", lessons_of(ROOT), ids=lambda it: it.stem)
def test_kernels_count_as_on_the_gpu_or_the_instruction_says_why(lesson):
    """The launches of a lesson, likewise."""
    found = agreement.compared(lesson)

    differ = found["differ"].items()
    assert [] == [name for name, what in differ if not agreement.reason(name, what)]
    assert bool(found["recorded"]) == (lesson.stem not in WAITING)


@counted
@pytest.mark.slow  # it takes all lessons
def test_each_reason_is_that_of_a_kernel_whose_counts_differ():
    """What explains nothing must go."""
    found = map(agreement.compared, [None, *lessons_of(ROOT)])
    differ = [name for each in found for name in each["differ"]]

    assert [] == [k for k in agreement.EXPLAINED if not any(k in n for n in differ)]


# ---------------------------------------------------------------- the page


@pytest.mark.slow
def test_the_page_is_in_step_with_the_recordings():
    """`python -m tests.on_gpu.agreement` writes it."""
    assert page() == agreement.PAGE.read_text(encoding="utf-8")


def test_labels_of_both_kinds_are_there():
    """A table of agreement about clean kernels alone would say nothing."""
    labels = [case.verdict for case in agreement.ALL.values()]

    assert min(labels.count(CLEAN), labels.count(RACE)) >= 50

"""Nothing that a submission tries earns a point, nor harms another submission."""

import json
import os
import tracemalloc
from dataclasses import replace
from threading import Timer

import psutil
import pytest

from helpers.grading import worker
from helpers.grading.sandbox.limits import Limits
from tests.grading.asking import each, marks, points
from tests.grading.attacks import (
    CHECK,
    EXCUSES,
    HEAD,
    KERNELS,
    ONLY_ALONE,
    PATCHES,
    RIGHT,
    RUNS,
    SLOW,
    WRONG,
)

EVERY = 8  # `make test` tries one in so many, which its name decides


def test_a_right_answer_earns_its_points():
    """Without which the other tests would show nothing."""
    assert [2] == points(marks(HEAD, RIGHT, CHECK))


def test_there_are_attacks_of_each_kind():
    """Some of them with many forms in one."""
    assert 80 <= len(PATCHES) + len(KERNELS) + len(RUNS)
    assert {*SLOW, *ONLY_ALONE} <= {*KERNELS, *RUNS, *EXCUSES}


@each(PATCHES, EVERY)
def test_a_patched_judge_earns_nothing(code):
    """What judges is another process, in which no line of it runs."""
    assert [0] == points(marks(HEAD, code, WRONG, CHECK))


@each(KERNELS, EVERY)
def test_what_is_handed_over_as_a_kernel_earns_nothing(code):
    """It is refused, or it is wrong; or a busy machine had no time to say so."""
    assert points(marks(HEAD, code, CHECK)) in ([0], [None])
    assert not os.path.exists("/tmp/broken_into")


@each(RUNS, EVERY)
def test_what_a_cell_does_earns_nothing_and_harms_nobody(code):
    """The next submission is marked as if nothing had been."""
    attacked = marks(HEAD, WRONG, code, CHECK)
    assert points(attacked) in ([0], [None])  # None: a person must look
    assert [2] == points(marks(HEAD, RIGHT, "import csv, cmath, this", CHECK))


@each(RUNS, 9)
def test_what_was_handed_over_before_an_attack_keeps_its_points(code):
    """A submission that breaks one exercise keeps the marks of the others."""
    assert [2] == points(marks(HEAD, RIGHT, CHECK, code))


@pytest.mark.slow
def test_who_loses_its_process_is_not_graded():
    """It may have been the machine: that is for a person, and is not 0."""

    def lose():
        for it in worker._begun:
            if it.kind == "collect" and it.process:
                its = psutil.Process(it.process.pid)
                for one in [its, *its.children(recursive=True)]:  # bubblewrap's own
                    one.kill()

    cells = HEAD, RIGHT, CHECK, "import time; time.sleep(10)"
    marks("pass")  # it is warm, lest it be lost before it begins
    Timer(1, lose).start()
    row = marks(*cells)["exercises"][0]
    assert (None, "not graded") == (row["points"], row["reason"])
    assert [2] == points(marks(HEAD, RIGHT, CHECK))


@pytest.mark.slow
def test_who_meets_a_limit_is_told_which_one():
    """What is missing then is not only missing; what was handed over has its points."""
    threads = "import threading, time\nfor _ in range(60):\n"
    threads += "    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()"
    cells, asked = (HEAD, RIGHT, CHECK), ("mirror", "active_share")
    missing = "There is no `active_share` in the notebook"
    for more, reason, told in (
        ([threads, "time.sleep(9)"], "stopped", ", which started too many processes."),
        ([], "no_answer", "."),
    ):
        right, other = marks(*cells, *more, asked=asked)["exercises"]
        assert 2 == right["points"]
        assert (0, reason) == (other["points"], other["reason"])
        assert missing + told == other["sentence"]


@pytest.mark.parametrize(
    "cell, error, reason",
    [
        (2, "it was stopped after 20 s of computing", "stopped"),
        (1, "it was stopped after 20 s of computing", "no_answer"),
        (2, "NameError: name 'cuda' is not defined", "no_answer"),
        (10**30, "it was stopped after 20 s of computing", "no_answer"),
    ],
)
def test_an_answer_whose_own_cell_was_stopped_is_not_only_missing(cell, error, reason):
    """Another cell that was stopped did not keep it from being there."""
    item = {"exercise": "mirror", "answer": "mirror", "points": 2}
    cells = "while True: pass", "while True:\n    mirror = 3"
    errors = [{"cell": cell, "error": error}]
    row = worker.missing_row(item, cells, errors, "", "", [])
    assert (0, reason) == (row["points"], row["reason"])
    stopped = "There is no `mirror` in the notebook: code cell 2 was stopped after 20 s"
    assert (reason == "stopped") == row["sentence"].startswith(stopped)


def test_messages_without_end_take_no_time_of_the_graders():
    """As many are read as an honest process writes, and one error of each cell."""
    error = json.dumps({"cell": 1, "error": "it was stopped", "answers": {}})
    right = json.dumps({"cell": 2, "error": "", "answers": {"mirror": 3}})
    found = worker.handed_over([error] * 900 + [right], ["mirror"])
    assert ({"mirror": 3}, [{"cell": 1, "error": "it was stopped"}]) == found
    assert ({}, []) == worker.handed_over([""] * 4_000 + [right, error], ["mirror"])


@pytest.mark.parametrize("text", ["\n" * 2**19, "ab " * 2**18, "a" * 2**19])
def test_what_is_read_of_a_cell_does_not_grow_with_it(text):
    """It is neither split nor copied, whatever it is asked for."""
    item = {"exercise": "mirror", "answer": "mirror", "points": 2}
    errors = [{"cell": 1, "error": "it was stopped after 20 s"}]
    tracemalloc.start()
    try:
        assert len(worker.beginning((text,), 1)) <= worker.BEGINNING
        assert 0 == worker.missing_row(item, (text,), errors, "", "", [])["points"]
        assert tracemalloc.get_traced_memory()[1] < 2**16
    finally:
        tracemalloc.stop()


def test_a_cell_is_known_by_its_first_lines():
    """Whatever is above, between and after them."""
    cell = "\n  \nx = 1\n\n    y = 2\nz = 3\n"
    assert "x = 1 y = 2" == worker.beginning(("", cell), 2)
    assert "word word …" == worker.beginning(("word word " + "a" * 60,), 1)
    assert "" == worker.beginning(("x",), 0) == worker.beginning(("x",), 2)


def test_all_answers_of_a_submission_share_their_time():
    """Evenly: one that does not end takes nothing from the others."""
    limits = Limits()
    assert limits == replace(limits.of_each(3), cpu_s=limits.cpu_s)
    for count in (4, 5, 12, 100):
        each = limits.of_each(count)
        assert each.wall_s * count <= limits.judged_s
        assert each.wall_s <= each.cpu_s <= each.wall_s + 1


def test_a_text_that_is_half_a_character_reaches_no_file_as_such(tmp_path):
    """Marks can be written, whatever a submission handed over."""
    from helpers.grading.store import MarksStore

    store = MarksStore(tmp_path)
    store.keep("ann", "one", "", marks(HEAD, KERNELS["half of a character"]))
    store.write_marks()
    assert "\\ud800" in (tmp_path / "ann" / "one.json").read_text("utf-8")
    assert 1 == len(store.results())

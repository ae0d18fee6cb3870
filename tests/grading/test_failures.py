"""What ends in the middle: the grader at one submission, all of it by Ctrl-C, and
workers of a Dask cluster, which are processes of their own.

A cluster needs `distributed`, the extra `cluster`, which `make setup` does not install:

    .venv/bin/python -m pip install "distributed>=2026.8"
    .venv/bin/python -m pytest -m slow tests/grading/test_failures.py
"""

import os
import signal
import sys
import threading
import time

import psutil
import pytest

from helpers.grading import grading, worker
from helpers.grading.grading import SchedulerError, dask_client
from tests.grading.attacks import CHECK, HEAD, RIGHT, WRONG
from tests.grading.handing_in import (
    PEOPLE,
    PREDICTED,
    course,
    grade,
    marks,
    row,
    written,
)


@pytest.mark.slow
def test_a_submission_at_which_the_grader_fails_stops_no_other(
    tmp_path, monkeypatch, capsys
):
    """It is not graded, and the next call tries it again."""
    bad = [HEAD, CHECK, "# bad"]
    people = {"ann": PEOPLE["ann"], "bad": (bad, None), "bob": PEOPLE["bob"]}
    course(tmp_path, people)
    real = worker.grade

    def failing(work):
        if work.cells == tuple(bad):
            raise TypeError("of all that there is")
        return real(work)

    monkeypatch.setattr(grading, "grade", failing)
    assert 1 == grade(tmp_path)  # somebody must look
    assert {"ann": [2, 2], "bad": [None] * 2, "bob": [0, 2]} == marks(tmp_path)
    told = "The grader failed at it (TypeError): a person must look."
    assert ("not graded", told) == tuple(
        row(tmp_path, "bad")[it] for it in ("reason", "sentence")
    )
    said = "bad (one) is not graded: TypeError: of all that there is"
    assert said in capsys.readouterr().err
    monkeypatch.setattr(grading, "grade", real)
    assert 0 == grade(tmp_path)
    assert [0, 0] == marks(tmp_path)["bad"]


@pytest.mark.slow
def test_ctrl_c_ends_what_is_running(tmp_path, monkeypatch):
    """No cell and no kernel runs on, and nothing begins."""
    monkeypatch.setattr(worker, "_idle", {})
    monkeypatch.setattr(worker, "_begun", [])
    monkeypatch.setattr(grading, "end_nurseries", worker.end_nurseries)
    people = {name: ([CHECK, "import time; time.sleep(60)"], None) for name in "abc"}
    course(tmp_path, people, asked=["mirror"])

    def interrupted(running, **_):
        time.sleep(2)
        raise KeyboardInterrupt

    monkeypatch.setattr(grading, "wait", interrupted)
    before, began = set(psutil.Process().children()), time.monotonic()
    assert 130 == grade(tmp_path)
    while set(psutil.Process().children()) - before:
        assert time.monotonic() - began < 40
        time.sleep(0.1)


# ---------------------------------------------------------------- a cluster

MANY = {
    f"s{i:02}": ([HEAD, RIGHT if i % 3 else WRONG, CHECK, PREDICTED], [])
    for i in range(16)
}


@pytest.fixture
def cluster(monkeypatch):
    """Four workers, each a process with one thread, that come back when they end."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "9")
    with distributed.LocalCluster(
        n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None
    ) as new:
        yield new


@pytest.mark.slow
def test_a_worker_that_is_killed_twice_loses_and_doubles_nothing(
    cluster, tmp_path, capsys
):
    """The same bytes as without a cluster."""
    course(tmp_path, MANY)
    killer = threading.Thread(target=kill_workers, args=(cluster, tmp_path / "marks"))
    killer.start()
    assert 0 == grade(tmp_path, "--scheduler", cluster.scheduler_address)
    killer.join()
    assert 0 == grade(tmp_path, "--workers", "2", out="alone")
    assert written(tmp_path, "alone") == written(tmp_path)
    assert "16 of 16 marked" in capsys.readouterr().err


def kill_workers(cluster, folder):
    """End a worker after three submissions, and one after eight."""
    for count in (3, 8):
        while len(list(folder.glob("*/*.json"))) < count:
            time.sleep(0.02)
        nanny = cluster.workers[0]
        os.kill(nanny.pid, signal.SIGKILL)


def test_without_dask_it_says_what_to_install(monkeypatch):
    """A cluster alone needs it."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SchedulerError, match="pip install distributed"):
        dask_client("tcp://127.0.0.1:1")

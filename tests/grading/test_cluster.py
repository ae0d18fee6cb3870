"""A Dask cluster of separate processes: the marks are those of one machine.

It needs `distributed`, the extra `cluster`, which `make setup` does not install:

    .venv/bin/python -m pip install "distributed>=2026.8"
    .venv/bin/python -m pytest -m slow tests/grading/test_cluster.py
"""

import os
import signal
import threading
import time

import pytest

from helpers.grading.grading import SchedulerError, dask_client
from tests.grading.attacks import CHECK, HEAD, RIGHT, WRONG
from tests.grading.handing_in import PREDICTED, course, grade, written

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
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SchedulerError, match="pip install distributed"):
        dask_client("tcp://127.0.0.1:1")

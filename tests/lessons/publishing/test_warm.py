"""Kernels that are copies of one process: each begins as if it were the first."""

import os

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from lessons.publishing import warm
from lessons.publishing.errors import LessonError
from lessons.publishing.execute import complete, execute
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is copied")
LEAVES_TRACES = """\
import helpers, os, subprocess
helpers.left = numba_left = 1
os.environ["LEFT"] = open("left", "w").name
os.getpid(), os.getppid(), subprocess.run(["true"]).returncode"""
LOOKS_FOR_THEM = """\
import helpers, os
found = [hasattr(helpers, "left"), "numba_left" in globals(), "LEFT" in os.environ]
[*found, *os.listdir(), os.environ["CUDA_VISIBLE_DEVICES"]], os.getppid()"""


def what_shows(source):
    """What a notebook of one cell shows."""
    notebook = new_notebook(cells=[new_code_cell(source=source)])
    complete(execute(notebook, ROOT))
    (output,) = notebook.cells[0].outputs
    return output["data"]["text/plain"]


def test_a_kernel_finds_nothing_of_the_one_before_it():
    """Neither names nor files, though both are copies of one process."""
    first, parent, status = eval(what_shows(LEAVES_TRACES))

    assert ([False, False, False, "-1"], parent) == eval(what_shows(LOOKS_FOR_THEM))
    assert (0, False) == (status, psutil.pid_exists(first))


def test_a_process_that_has_ended_is_replaced():
    """The next kernel is a copy of another one."""
    parent = eval(what_shows("import os; os.getppid()"))
    psutil.Process(parent).kill()
    psutil.Process(parent).wait()

    assert eval(what_shows("import os; os.getppid()")) not in (parent, os.getpid())


def test_what_cannot_be_imported_is_an_error(monkeypatch, capfd):
    """Its own traceback stands above."""
    monkeypatch.setattr(warm, "LOADED_WITH", {"MPLBACKEND": "module://nothing"})

    with pytest.raises(LessonError, match="no kernel: what all of them import ended"):
        what_shows("1")

    assert "nothing" in capfd.readouterr().err


def test_where_no_process_is_copied_jupyter_starts_a_new_one(monkeypatch):
    """As on Windows."""
    monkeypatch.delattr(os, "fork")

    assert {} == warm.metadata()
    assert str(os.getpid()) == what_shows("import os; os.getppid()")

"""Programs of somebody else, which know nothing of ours, and a way to run them."""

import contextlib
import io
import os
import subprocess
import sys
from textwrap import dedent

from tests.paths import ROOT
from thirty_two_lanes.__main__ import main

KERNELS = """
import numpy as np
from numba import cuda, float32

@cuda.jit
def double(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] += values[i]

@cuda.jit
def shift(values):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = values[t]
    values[t] = tile[(t + 33) % 64]

@cuda.jit
def beyond(values):
    values[cuda.grid(1)] = 1
"""


def written(folder, text, name="program.py"):
    """A program in a folder: its kernels, and what it does with them."""
    file = folder / name
    file.write_text(KERNELS + dedent(text), encoding="utf-8")
    return file


def run(*arguments, cwd, environment=None, timeout=120):
    """What `python arguments…` says in a process of its own."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tool"), **(environment or {})},
    )


def run_here(*arguments):
    """What `python -m thirty_two_lanes arguments…` says, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main([*map(str, arguments)])
        except SystemExit as error:  # argparse refuses
            status = error.code
    said = out.getvalue(), err.getvalue()
    return subprocess.CompletedProcess(arguments, status, *said)

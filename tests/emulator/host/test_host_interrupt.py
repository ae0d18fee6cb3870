"""Ctrl-C while a kernel runs: the message names what was written; the next launch is
right.
"""

import signal
import subprocess
import sys
import time

import pytest

from tests.paths import ROOT
from tests.quick import beside

PROGRAM = """
import numpy as np
from numba import cuda
import helpers

@cuda.jit
def slow(a, out, turns):
    i = cuda.grid(1)
    row = out[0]
    for turn in range(turns[0]):
        row[i] = row[i] + a[i]

a, out = np.ones(64), np.zeros((2, 64))
slow[1, 64](a, out, np.array([1]))
print("ready", flush=True)
try:
    {launch}(a, out, np.array([10**9]))
except KeyboardInterrupt as stopped:
    print(stopped)
again = np.zeros((2, 64))
slow[2, 32](a, again, np.array([5]))
print(again[0].tolist() == [5] * 64, out[0].max() > 1)
"""


def interrupted(launch):
    """What a program prints that got SIGINT in the middle of a launch."""
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(launch=launch)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert "ready\n" == running.stdout.readline(), running.stderr.read()
        time.sleep(0.3)
        running.send_signal(signal.SIGINT)
        output, error = running.communicate(timeout=60)
    finally:
        running.kill()
    assert not error
    return output.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize(
    "launch", beside(["slow[1, 64]"], ["helpers.emulate(slow)[1, 64]"])
)
def test_an_interrupt_says_what_was_written_and_leaves_the_rest_usable(launch):
    """One sentence with line, kernel, blocks and arrays, views of them included."""
    message, after = interrupted(launch)

    assert message.startswith("interrupted at line ")
    assert "of `slow`, with 0 of 1 blocks done; `out` may be partly written" in message
    assert "`a`" not in message
    assert "True True" == after

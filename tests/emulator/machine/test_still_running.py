"""A launch that takes long says so: when, where, how far it is, and how to stop it."""

import re

import numpy as np
import pytest
from numba import cuda

from tests.specimens.kernels import line_of
from thirty_two_lanes import emulate
from thirty_two_lanes.emulator.machine import batch, machine, still_running
from thirty_two_lanes.emulator.native import ahead

TURNS = 1000
SAID = (
    r"`(\w+)` still runs after (\d+) seconds, in the loop at line (\d+), with (\d+) of "
    r"(\d+) blocks done\. If it does not end, stop it with (.+)\.\n"
)


@cuda.jit
def counts(out, turns):
    """Changes memory in every turn, so that nobody knows whether it ends."""
    i = cuda.grid(1)
    while out[i] < turns:  # the loop
        out[i] += 1  # its end


@cuda.jit
def counts_together(out, turns):
    i = cuda.grid(1)
    while out[i] < turns:  # the loop
        cuda.syncthreads()
        out[i] += 1  # its end


@cuda.jit
def counts_in_a_register(out, turns):
    """No two turns are alike, so machine code looks for cycles without the machine."""
    i, turn = cuda.grid(1), 0
    while turn < turns:
        turn += 1
        out[i] = turn


class Clock:
    """A second passes whenever somebody looks at it."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(still_running, "monotonic", made)
    monkeypatch.setenv("EMULATOR_PATIENCE", "10")
    return made


def plainly(kernel):
    return kernel


@pytest.mark.parametrize("verb", [plainly, emulate])
@pytest.mark.parametrize("kernel", [counts, counts_together])
def test_it_says_so_after_a_while_and_then_rarely(verb, kernel, clock, capsys):
    """On stderr, each time that its time has doubled."""
    verb(kernel)[1, 32](np.zeros(32, np.int64), TURNS)

    out, said = capsys.readouterr()
    told = re.findall(SAID, said)
    loop = range(line_of(kernel, "# the loop"), line_of(kernel, "# its end") + 1)
    assert "" == out and "" == re.sub(SAID, "", said)
    expected = [str(10 << n) for n in range(len(told))]
    assert expected == [seconds for _, seconds, *_ in told] and len(told) > 2
    assert {(kernel.py_func.__name__, True, "0", "1", "Ctrl+C")} == {
        (name, int(line) in loop, *rest) for name, _, line, *rest in told
    }


@pytest.mark.slow
@pytest.mark.parametrize("verb", [plainly, emulate])
def test_machine_code_says_it_too(verb, clock, capsys, monkeypatch):
    """It comes back when its patience ends; a second launch begins with it soon."""
    for module in (batch, ahead):
        monkeypatch.setattr(module, "PATIENCE", 997)  # no turn that is watched anyway
    monkeypatch.setenv("EMULATOR_PATIENCE", "20")  # more than the other looks
    launch = verb(counts_in_a_register)[1, 32]
    launch(np.zeros(32, np.int64), TURNS)
    capsys.readouterr()

    launch(np.zeros(32, np.int64), 20 * 997)

    assert (
        "`counts_in_a_register` still runs after 20 seconds" in capsys.readouterr().err
    )


def test_the_time_is_looked_at_in_few_of_the_turns(clock):
    """Two of sixteen, where the loop is looked at in any case."""
    counts[1, 32](np.zeros(32, np.int64), TURNS)

    assert clock.now <= TURNS // 8 + 2


def test_it_says_how_many_blocks_are_done(clock, capsys, monkeypatch):
    """Those of the batches that have ended."""
    monkeypatch.setattr(machine, "BATCH_BLOCKS", 2)

    counts[6, 32](np.zeros(192, np.int64), 300)

    told = [
        (int(done), blocks)
        for *_, done, blocks, _ in re.findall(SAID, capsys.readouterr().err)
    ]
    assert sorted(told) == told and {"6"} == {blocks for _, blocks in told}
    assert {0, 2} <= {done for done, _ in told}


def test_a_notebook_has_a_button(clock, capsys, monkeypatch):
    """Which the sentence names."""
    monkeypatch.setattr(still_running, "in_notebook", lambda: True)

    counts[1, 32](np.zeros(32, np.int64), 200)

    assert "stop it with ■ (Interrupt).\n" in capsys.readouterr().err


def test_without_patience_nothing_is_said(clock, capsys, monkeypatch):
    """As where a build or a test must not depend on time."""
    monkeypatch.setenv("EMULATOR_PATIENCE", "0")

    counts[1, 32](np.zeros(32, np.int64), TURNS)

    assert ("", "") == capsys.readouterr()

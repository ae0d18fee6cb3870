"""What the judge of streams finds in whole programs, and what it leaves alone."""

import inspect
import re
import sys
from itertools import chain

import numpy as np
import pytest
from numba import cuda

from helpers import device
from tests.scripts.programs import run_here
from tests.specimens import stream_programs
from tests.specimens.stream_programs import RIGHT, WRONG
from thirty_two_lanes.emulator.host.noted import PinnedArray
from thirty_two_lanes.scripts.kinds import FAULTS
from thirty_two_lanes.scripts.ledger import Ledger
from thirty_two_lanes.scripts.report import as_lines

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

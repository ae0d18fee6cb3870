"""What lesson 28 says of its counts, times and instructions, and when it is true."""

from helpers import assemble, baseline
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about
from tests.lessons.counted import requests_on_to_l2

LOADS, TURN = REASONS["long_scoreboard"], REASONS["not_selected"]
CUBE, FILTER, BOTH = "step", "filter", "separable"


def time(ladder, rung):
    """The recorded time of a rung, in µs."""
    return baseline(f"{ladder}, {rung}").median_us


def ratio(ladder, rung, other):
    """How many times as long as another one a rung takes."""
    return time(ladder, rung) / time(ladder, other)


def counts(it, ladder, rung):
    """A rung's requests and instructions for 32 cells, or for 32 pixels."""
    return it.counted[f"{ladder}, {rung}"]


def instructions(it, ladder, rung):
    return counts(it, ladder, rung)["instructions"]


def loads(it, ladder, rung):
    return counts(it, ladder, rung)["loads"]


def busy(it, ladder, rung, what):
    return it.measured[f"{ladder}, {rung}"].counters[f"{what}_percent"]


def first_wait(it, ladder, rung):
    """What the warps of a rung wait for most, but for a turn."""
    waits = it.measured[f"{ladder}, {rung}"].waits
    return next(why for why in waits if why != TURN)


def alone(it):
    """How far the times of rungs that ran alone are from those by turns, at most."""
    return max(
        abs(m.median_us / baseline(name).median_us - 1)
        for name, m in it.measured.items()
    )


def issuing(it):
    """The time in which the instructions of the filter's last rung are issued."""
    return it.least_us(it.measured[f"{FILTER}, ahead"].counters["instructions"])

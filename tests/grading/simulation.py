"""How long many submissions take, and what they cost: a queue with measured times.

    python -m tests.grading.simulation --submissions 10000 --workers 2 8 32 128

It marks some submissions of each kind in `MIX` here, one at a time, and then lets that
many workers take submissions from a queue, with times drawn from those that were
measured. A worker is a core with its two warm processes.

Not modelled: cores that share caches, memory and a clock; a network.
"""

import argparse
import heapq
import random
import time
from dataclasses import asdict, dataclass
from statistics import mean

from helpers.exercises.catalogue import exercise
from helpers.grading.manifest import item_of
from helpers.grading.worker import Submitted, end_nurseries, grade
from tests.grading.attacks import CHECK, HEAD, RIGHT, WRONG

ASKED = "mirror", "active_share", "offset_or_stride"
REST = (
    "active_share = {16: 0.5, 48: 0.75, 96: 1.0}",
    "offset_or_stride = 'A stride makes each request fetch twice as many sectors.'",
)
MIX = {  # of a hundred submissions so many are of this kind
    "right": (60, [HEAD, RIGHT, CHECK, *REST]),
    "wrong": (28, [HEAD, WRONG, CHECK, *REST]),
    "empty": (10, [HEAD]),
    "endless": (2, [HEAD, RIGHT, "while True: pass", *REST]),
}


@dataclass(frozen=True)
class Plan:
    """What a number of workers needs for all submissions."""

    workers: int
    minutes: float
    core_hours: float
    busy: float  # the share of the workers' time


def measured(each, say=print) -> dict:
    """The seconds of `each` submissions of every kind, and those until the first."""
    items = tuple(asdict(item_of(exercise(name))) for name in ASKED)
    begun = time.monotonic()
    mark(["pass"], items)
    found = {"start": [time.monotonic() - begun]}
    for kind, (_, cells) in MIX.items():
        count = 1 if kind == "endless" else each
        found[kind] = [mark(cells, items) for _ in range(count)]
        say(f"{kind:8} {mean(found[kind]):6.2f} s, the mean of {count}")
    end_nurseries()
    return found


def mark(cells, items) -> float:
    """The seconds that a submission takes."""
    begun = time.monotonic()
    grade(Submitted(tuple(cells), items, None, "s", isolated=False))
    return time.monotonic() - begun


def simulated(times, submissions, workers, seed=1) -> Plan:
    """A queue: each worker begins, then takes the next submission when it is free."""
    rng = random.Random(seed)
    kinds, shares = zip(
        *((kind, share) for kind, (share, _) in MIX.items()), strict=True
    )
    chosen = rng.choices(kinds, shares, k=submissions)
    free = [times["start"][0]] * workers
    busy = 0.0
    for kind in chosen:
        seconds = rng.choice(times[kind])
        busy += seconds
        heapq.heapreplace(free, free[0] + seconds)
    end = max(free)
    return Plan(workers, end / 60, end * workers / 3600, busy / (end * workers))


def main(arguments=None):
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--submissions", type=int, default=10_000)
    options.add_argument("--workers", type=int, nargs="+", default=[2, 8, 32, 128])
    options.add_argument("--each", type=int, default=5, help="to measure of each kind")
    options.add_argument("--price", type=float, help="of an hour of one core")
    given = options.parse_args(arguments)
    times = measured(given.each)
    print(f"start    {times['start'][0]:6.2f} s, once for each worker")
    for workers in given.workers:
        print(row(simulated(times, given.submissions, workers), given))


def row(plan, given) -> str:
    """A plan as a line."""
    text = f"{given.submissions:,} submissions, {plan.workers:4} workers: "
    text += f"{plan.minutes:7.1f} minutes, {plan.core_hours:5.2f} hours of one core"
    if given.price is not None:
        text += f", {plan.core_hours * given.price:.2f} in money"
    return text


if __name__ == "__main__":
    main()

"""How long many submissions take, and what they cost: a queue with measured times.

    python -m tests.grading.simulation --submissions 10000 --workers 2 8 32 128

It marks some submissions of each kind in `MIX` here, one at a time, and then lets that
many workers take submissions from a queue, with times drawn from those that were
measured. A worker is a core with its two warm processes. Times are those of computing,
of the warm processes and all their children: on a quiet machine hardly less passes.

Not modelled: cores that share caches, memory and a clock; a network; submissions that
wait.
"""

import argparse
import heapq
import os
import random
from contextlib import suppress
from dataclasses import asdict, dataclass
from statistics import mean

import psutil

from helpers.exercises.catalogue import exercise
from helpers.grading import worker
from helpers.grading.manifest import item_of
from helpers.grading.references import IMPORTS, cell_of

ASKED = "mirror", "several_each", "row_sums"  # three kernels
TASKS = [exercise(name) for name in ASKED]
WRONG = [next(iter(it.wrong_texts().values()))[1] for it in TASKS]
MIX = {  # of a hundred submissions so many are of this kind
    "right": (60, [IMPORTS, *map(cell_of, TASKS)]),
    "wrong": (28, [IMPORTS, *WRONG]),
    "empty": (10, [IMPORTS]),
    "endless": (2, [IMPORTS, "while True: pass", *map(cell_of, TASKS)]),
}


@dataclass(frozen=True)
class Plan:
    """What a number of workers needs for all submissions."""

    workers: int
    minutes: float
    core_hours: float  # of computing
    busy: float  # the share of the workers' time


def measured(each, say=print) -> dict:
    """The seconds of `each` submissions of every kind, and those until the first."""
    found = {"start": [mark(MIX["right"][1])]}
    for kind, (_, cells) in MIX.items():
        count = 1 if kind == "endless" else each
        found[kind] = [mark(cells) for _ in range(count)]
        say(f"{kind:8} {mean(found[kind]):6.2f} s, the mean of {count}")
    worker.end_nurseries()
    return found


def mark(cells) -> float:
    """The seconds that all computes until a submission is marked."""
    items, begun = tuple(asdict(item_of(it)) for it in TASKS), computed()
    submitted = worker.Submitted(tuple(cells), items, None, "s", prepared=True)
    worker.grade(submitted)
    return computed() - begun


def computed() -> float:
    """The seconds that this process computed, its children, and theirs."""
    times = os.times()
    found = times.user + times.system + times.children_user + times.children_system
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # its times are its parent's now
            found += sum(process.cpu_times()[:4])  # and those of its children
    return found


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
    hours = (busy + times["start"][0] * workers) / 3600
    return Plan(workers, end / 60, hours, busy / (end * workers))


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

"""Random kernels that race or are ordered, against vector clocks, in both engines.

    python -m tests.emulator.judges.races.random_races 2000 --first 1000

Each kernel runs with NumPy and, where it has one block, as machine code; what is missed
is a hazard of the clocks that the report lacks, what is false is one of the report's
that the clocks lack.
"""

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

import numpy as np

from helpers import emulate
from tests.emulator.judges.races.race_oracle import (
    CELLS,
    random_kernel,
    reported,
    traced,
)
from tests.emulator.native.comparison import AT_ONCE, NEVER
from thirty_two_lanes.emulator.native import accelerator

LAUNCHES = ((2, 48), (1, 64), (3, 32), (2, 33))
COLUMNS = "kernels", "racing", "ordered", "reports", "missed", "false"


def launched(seed):
    """The kernel of a seed, and what it is given."""
    kernel, source = random_kernel(np.random.default_rng(seed), spaced=seed % 5 / 5)
    g, out = np.zeros(CELLS, np.int32), np.zeros(96, np.int64)
    return kernel, source, LAUNCHES[seed % len(LAUNCHES)], (g, out)


def judged(seed):
    """How many pairs of lines race, are ordered, are missed and are false; and the
    text of what is wrong.
    """
    kernel, source, config, arrays = launched(seed)
    trace = traced(kernel, *config, *(a.copy() for a in arrays))
    expected, ordered = trace.hazards(), trace.hazards(ordered=True)
    counts = Counter(kernels=1, racing=len(expected), ordered=len(ordered))
    wrong = []
    for engine in [NEVER, AT_ONCE] if config[0] == 1 else [NEVER]:
        with mock.patch.multiple(accelerator, **engine):
            found = reported(emulate(kernel)[config](*(a.copy() for a in arrays)))
        missed, false = (
            expected.items() - found.items(),
            found.items() - expected.items(),
        )
        counts += Counter(reports=1, missed=len(missed), false=len(false))
        if missed or false:
            wrong.append(f"seed {seed}: missed {missed}, false {false}\n{source}")
    return counts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=2000)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    given = parser.parse_args()
    total = Counter()
    with ProcessPoolExecutor() as processes:
        seeds = range(given.first, given.first + given.count)
        for counts, wrong in processes.map(judged, seeds, chunksize=8):
            total.update(counts)
            print(*wrong, sep="\n", end="\n" if wrong else "")
    print(", ".join(f"{total[name]:,} {name}" for name in COLUMNS))


if __name__ == "__main__":
    main()

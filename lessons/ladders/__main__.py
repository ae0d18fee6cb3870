"""Climbs the ladders, on a machine with an NVIDIA GPU, CuPy and nvcc.

    python -m lessons.ladders                   every ladder, once
    python -m lessons.ladders scan --runs 3     one of them, three times

Each rung is checked, then all of a ladder are timed by turns with their library, with
cold caches. A row has the median, the middle half of the times, what is moved or
computed in a second, and the share of the library's rate in the same run.
"""

import argparse
import sys

from helpers.core.device import device
from lessons.baselines import Bench
from lessons.ladders import ladder, names

COMMAND = "python -m lessons.ladders"


def main(arguments=None):
    """Climb the ladders that the command line names; return the exit status."""
    options = parser().parse_args(arguments)
    if not device.has_gpu:
        print("ladders are climbed on a GPU, and there is none", file=sys.stderr)
        return 1
    failed = []
    for name in options.names or names():
        for title, (library, works) in ladder(name).LADDERS.items():
            for run in range(options.runs):
                print(f"\n{name}: {title}, run {run + 1} of {options.runs}")
                bench = Bench(quiet=True)
                bench.attempt(title, lambda w=works, b=bench: b.run(w(b)))
                show(bench.baselines, library)
                failed += bench.failed
    return 1 if failed else 0


def parser():
    """The command line."""
    new = argparse.ArgumentParser(COMMAND, description=__doc__)
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("names", nargs="*", choices=[*names(), []], metavar="name")
    new.add_argument("--runs", type=int, default=1, help="of each ladder")
    return new


def show(measured, library):
    """Print the rungs of one run."""
    ours = measured.get(library)
    for name, it in measured.items():
        low, high = it["lower_us"], it["upper_us"]
        row = f"{name:<44} {it['median_us']:>10,.1f} µs  {low:>10,.1f}–{high:<10,.1f}"
        print(f"{row} {rate(it)}  {share(it, ours)}", flush=True)


def rate(it) -> str:
    """What a work moves or computes in a second."""
    if "flops" in it:
        return f"{it['flops'] / it['median_us'] / 1e6:>8,.2f} TFLOP/s"
    if "bytes" in it:
        return f"{it['bytes'] / it['median_us'] / 1e3:>8,.0f} GB/s   "
    return " " * 16


def share(it, library) -> str:
    """A work's share of the library's rate."""
    same = library and it.keys() & library.keys() & {"flops", "bytes"}
    if not same:
        return ""
    (kind,) = same
    ours, theirs = (each[kind] / each["median_us"] for each in (it, library))
    return f"{100 * ours / theirs:6.1f}%"


if __name__ == "__main__":
    sys.exit(main())

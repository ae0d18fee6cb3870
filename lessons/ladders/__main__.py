"""Climbs the ladders, on a machine with an NVIDIA GPU, CuPy and nvcc.

    python -m lessons.ladders                   every ladder, once
    python -m lessons.ladders scan --runs 3     one of them, three times

Each rung is checked, then all of a ladder are timed by turns with their library, with
cold caches. A row has the median, the middle half of the times, what is moved or
computed in a second, and the share of the library's rate in the same run. After several
runs: the median of their medians, the lowest and the highest, and the same of the share.
"""

import argparse
import sys
from datetime import date
from statistics import median

from thirty_two_lanes.core.device import device
from helpers.measuring.timing import versions
from lessons.baselines import Bench
from lessons.ladders import ladder, names

COMMAND = "python -m lessons.ladders"


def main(arguments=None):
    """Climb the ladders that the command line names; return the exit status."""
    options = parser().parse_args(arguments)
    if not device.has_gpu:
        print("ladders are climbed on a GPU, and there is none", file=sys.stderr)
        return 1
    known = versions() | Bench(quiet=True).versions()
    print(device.name, date.today(), *(" ".join(map(str, it)) for it in known.items()),
          sep=", ")
    failed = []
    for name in options.names or names():
        for title, (library, works) in ladder(name).LADDERS.items():
            runs = []
            for run in range(options.runs):
                print(f"\n{name}: {title}, run {run + 1} of {options.runs}")
                bench = Bench(quiet=True)
                bench.attempt(title, lambda w=works, b=bench: b.run(w(b)))
                show(bench.baselines, library)
                runs.append(bench.baselines)
                failed += bench.failed
            if options.runs > 1:
                print(f"\n{name}: {title}, medians of {options.runs} runs")
                show_all(runs, library)
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


def show_all(runs, library):
    """Print the median of each rung's medians and shares, and how far they spread."""
    for name in runs[0]:
        measured = [(run[name], run.get(library)) for run in runs if name in run]
        times = sorted(it["median_us"] for it, _ in measured)
        row = f"{name:<44} {median(times):>10,.1f} µs  {times[0]:>10,.1f}–{times[-1]:<10,.1f}"
        shares = sorted(filter(None, (share_of(*pair) for pair in measured)))
        if shares:
            row += f" {median(shares):6.1f}%  {shares[0]:6.1f}–{shares[-1]:.1f}%"
        print(row, flush=True)


def rate(it) -> str:
    """What a work moves or computes in a second."""
    if "flops" in it:
        return f"{it['flops'] / it['median_us'] / 1e6:>8,.2f} TFLOP/s"
    if "bytes" in it:
        return f"{it['bytes'] / it['median_us'] / 1e3:>8,.0f} GB/s   "
    return " " * 16


def share(it, library) -> str:
    """A work's share of the library's rate, in words."""
    found = share_of(it, library)
    return f"{found:6.1f}%" if found else ""


def share_of(it, library) -> float | None:
    """A work's share of the library's rate, in percent; None where they do not compare."""
    same = library and it.keys() & library.keys() & {"flops", "bytes"}
    if not same:
        return None
    (kind,) = same
    ours, theirs = (each[kind] / each["median_us"] for each in (it, library))
    return 100 * ours / theirs


if __name__ == "__main__":
    sys.exit(main())

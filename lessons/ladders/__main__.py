"""Climbs the ladders, on a machine with an NVIDIA GPU, CuPy and nvcc.

    python -m lessons.ladders                   every ladder, once
    python -m lessons.ladders scan --runs 3     one of them, three times, and recorded

Each rung is checked, then all of a ladder are timed by turns with their library, with
cold caches. A row has the median, the middle half of the times, what is moved or
computed in a second, and the share of the library's rate in the same run. After several
runs: the median of their medians, the lowest and the highest, and the same of the share;
these become `helpers/recorded/<gpu>/ladders.json`, of which docs/LADDERS.md is made and
in which lessons find them by `baseline`.
"""

import argparse
import sys
from statistics import median

from thirty_two_lanes.core.device import device
from helpers.measuring import store
from lessons.baselines import ROUNDS, Bench
from lessons.ladders import ladder, names
from lessons.publishing.rungs import row

COMMAND = "python -m lessons.ladders"


def main(arguments=None):
    """Climb the ladders that the command line names; return the exit status."""
    options = parser().parse_args(arguments)
    if unknown := set(options.names) - set(names()):
        print(f"no ladder: {', '.join(unknown)}; there are {', '.join(names())}")
        return 2
    if not device.has_gpu:
        known = ", ".join(names())
        print(f"{known}: climbed on a GPU, and there is none", file=sys.stderr)
        return 1
    here = Bench(quiet=True).circumstances()
    known = (" ".join(map(str, pair)) for pair in here["versions"].items())
    print(here["gpu"], here["date"], *known, sep=", ")
    failed = []
    for name in options.names or names():
        titles = {
            title: climbed(name, title, options.runs, failed)
            for title in ladder(name).LADDERS
        }
        if options.runs > 1:
            record(here, name, options.runs, titles)
    return 1 if failed else 0


def parser():
    """The command line."""
    new = argparse.ArgumentParser(COMMAND, description=__doc__)
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("names", nargs="*", metavar="name", help=", ".join(names()))
    new.add_argument("--runs", type=int, default=1, help="of each ladder")
    return new


def climbed(name, title, number, failed) -> dict:
    """What some runs of a ladder gave; each is printed when it is there."""
    library, works = ladder(name).LADDERS[title]
    runs = []
    for run in range(number):
        print(f"\n{name}: {title}, run {run + 1} of {number}")
        bench = Bench(quiet=True)
        bench.attempt(title, lambda b=bench: b.run(works(b)))
        show(bench.baselines, library)
        runs.append(bench.baselines)
        failed += bench.failed
    rungs = {rung: together(runs, rung, library) for rung in runs[0]}
    if number > 1:
        print(f"\n{name}: {title}, medians of {number} runs")
        print(*(row(rung, **found) for rung, found in rungs.items()), sep="\n")
    return {"library": library, "rungs": rungs}


def together(runs, rung, library) -> dict:
    """The lowest, the median and the highest of a rung's medians, and of its shares."""
    measured = [(run[rung], run.get(library)) for run in runs if rung in run]
    shares = [share_of(*pair) for pair in measured]
    first, _ = measured[0]
    return {
        "us": spread([found["median_us"] for found, _ in measured]),
        "percent": spread(shares) if all(shares) else [],
        **{key: first[key] for key in ("bytes", "flops") if key in first},
    }


def spread(values) -> list[float]:
    """The lowest, the median and the highest."""
    return [round(of(values), 2) for of in (min, median, max)]


def record(here, name, runs, titles):
    """Write what a ladder gave beside what is known of the others."""
    file = store.file_of(here["gpu"], "ladders")
    known = store.read(file).get("ladders", {})
    facts = {key: here[key] for key in ("date", "versions")}
    launches = runs * ROUNDS
    known[name] = {**facts, "runs": runs, "launches": launches, "titles": titles}
    head = {"gpu": here["gpu"], "command": f"{COMMAND} --runs {runs}"}
    store.write(file, {**head, "ladders": known})


def show(measured, library):
    """Print the rungs of one run."""
    ours = measured.get(library)
    for name, found in measured.items():
        low, high = found["lower_us"], found["upper_us"]
        middle = f"{found['median_us']:>10,.1f} µs  {low:>10,.1f}–{high:<10,.1f}"
        share = share_of(found, ours)
        said = f"{share:6.1f}%" if share else ""
        print(f"{name:<44} {middle} {rate(found)}  {said}", flush=True)


def rate(found) -> str:
    """What a work moves or computes in a second."""
    if "flops" in found:
        return f"{found['flops'] / found['median_us'] / 1e6:>8,.2f} TFLOP/s"
    if "bytes" in found:
        return f"{found['bytes'] / found['median_us'] / 1e3:>8,.0f} GB/s   "
    return " " * 16


def share_of(found, library) -> float | None:
    """A work's share of the library's rate, in percent; None where they do not compare."""
    same = library and found.keys() & library.keys() & {"flops", "bytes"}
    if not same:
        return None
    (kind,) = same
    ours, theirs = (each[kind] / each["median_us"] for each in (found, library))
    return 100 * ours / theirs


if __name__ == "__main__":
    sys.exit(main())

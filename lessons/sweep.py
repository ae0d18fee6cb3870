"""Tries the variants of a ladder's last rung, on a machine with an NVIDIA GPU and CuPy.

    python -m lessons.sweep product                     every variant
    python -m lessons.sweep product --only "2 stages"   those whose name has these words

Processes compile the variants side by side, check each result, and take turns on the
GPU: a variant is timed by turns with the library, with cold caches. The table becomes
`helpers/recorded/<gpu>/sweep_<name>.json`, the fastest first.
"""

import argparse
import multiprocessing
import os
import sys
from functools import cache

from thirty_two_lanes.core.device import device
from helpers.measuring import store
from helpers.measuring.timing import circumstances
from lessons.baselines import Bench
from lessons.ladders import ladder, names
from lessons.native import compiled

COMMAND = "python -m lessons.sweep"


def main(arguments=None):
    """Try the variants of a ladder; return the exit status."""
    options = parser().parse_args(arguments)
    if not device.has_gpu:
        print("variants are tried on a GPU, and there is none", file=sys.stderr)
        return 1
    variants = [it for it in ladder(options.name).SWEEP if options.only in it]
    if not variants:
        print(f"no variant's name has {options.only!r}", file=sys.stderr)
        return 1
    with compiled(getattr(ladder(options.name), "LIBRARIES", ())):
        rows = measured(options.name, variants, options.processes)
    if not options.only:
        write(options.name, rows)
    return 0 if all("error" not in row for row in rows) else 1


def parser():
    """The command line."""
    new = argparse.ArgumentParser(COMMAND, description=__doc__)
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    able = [name for name in names() if hasattr(ladder(name), "SWEEP")]
    new.add_argument("name", choices=able)
    new.add_argument("--only", default="", metavar="WORDS")
    new.add_argument("--processes", type=int, default=min(16, os.cpu_count()))
    return new


def measured(name, variants, processes):
    """A row for each variant, the fastest first; each is printed when it is there."""
    context = multiprocessing.get_context("spawn")    # CUDA does not survive a fork
    rows = []
    with context.Pool(processes, begin, (context.Lock(),)) as pool:
        for row in pool.imap_unordered(attempt, [(name, it) for it in variants]):
            rows.append(row)
            print(f"{len(rows)}/{len(variants)}  {said(row)}", flush=True)
    return sorted(rows, key=lambda row: (-row.get("percent", 0), row["variant"]))


def said(row) -> str:
    """A row in words."""
    if "error" in row:
        return f"{row['variant']}: {row['error']}"
    return f"{row['variant']}: {row['median_us']:,.1f} µs, {row['percent']} % of library"


def begin(lock):
    """A process gets the lock that lets it use the GPU alone."""
    attempt.lock = lock


def attempt(task):
    """Compile a variant, check it, and time it by turns with the library."""
    name, variant = task
    module = ladder(name)
    library, _ = next(iter(module.LADDERS.values()))
    bench = Bench(quiet=True)
    try:
        work = module.sweep_work(bench, module.SWEEP[variant])
        with attempt.lock:
            bench.run({library: work_of_library(name), variant: work})
    except Exception as error:
        bench.failed.append(f"{type(error).__name__}: {error}")
    if bench.failed:
        return {"variant": variant, "error": "; ".join(bench.failed)}
    ours, theirs = bench.baselines[variant], bench.baselines[library]
    percent = round(100 * theirs["median_us"] / ours["median_us"], 1)
    return {"variant": variant, "percent": percent, **ours}


@cache
def work_of_library(name):
    """What the variants are held to, made once in a process."""
    library, works = next(iter(ladder(name).LADDERS.values()))
    return works(Bench(quiet=True))[library]


def write(name, rows):
    """Write what was measured, with what it was measured on."""
    values = circumstances() | {
        "command": f"{COMMAND} {name}",
        "library": next(iter(ladder(name).LADDERS.values()))[0],
        "variants": rows,
    }
    store.write(store.file_of(values["gpu"], f"sweep_{name}"), values)


if __name__ == "__main__":
    sys.exit(main())

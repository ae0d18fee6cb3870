"""How fast is the emulator? One table of ratios, all measured in this run.

    python -m tests.bench            every case
    python -m tests.bench tiled      those whose name begins so
    python -m tests.bench --scaling  cost against work, over a hundredfold range

Each line is a kernel: a plain launch and one with every report on, in seconds; how many
times as long Numba's simulator takes (in a process of its own, at a small size and
scaled by work), and how many times as long the launch takes as the kernel's own loops,
compiled by `njit` for one core. Times are medians of interleaved rounds, the first not
counted; every result is checked.
"""

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from statistics import geometric_mean, median

from tests.paths import ROOT

ROUNDS = 5
SIMULATOR = "NUMBA_ENABLE_CUDASIM"


def main(arguments=None):
    """Print the table, or the simulator's times as JSON."""
    parser = ArgumentParser(
        description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="how those to measure begin; or all")
    parser.add_argument("--scaling", action="store_true", help="cost against work")
    options = parser.parse_args(arguments)
    if SIMULATOR in os.environ:
        return print(json.dumps(simulated()))
    if not (cases := chosen(options.names)):
        parser.error(f"no kernel's name begins with {' or '.join(options.names)}")
    return scaling(cases) if options.scaling else table(cases)


def chosen(names):
    """The cases whose names begin so; all without names."""
    from tests.specimens.bench.narrow import NARROW
    from tests.specimens.bench_kernels import CASES

    cases = [*CASES, *NARROW]
    return [c for c in cases if not names or c.name.startswith(tuple(names))]


def simulated():
    """Seconds that Numba's simulator takes for each case at its small size."""
    from tests.specimens.bench_kernels import CASES

    found = {}
    for case in CASES:
        if case.small is not None:
            arguments = case.arguments(case.small)
            start = time.perf_counter()
            case.kernel[case.launch(case.small)](*arguments)
            found[case.name] = time.perf_counter() - start
    return found


def in_simulator() -> dict:
    """The same, from a process in which Numba was told to simulate."""
    environment = os.environ | {SIMULATOR: "1"}
    command = [sys.executable, "-m", "tests.bench"]
    told = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, cwd=ROOT
    )
    return json.loads(told.stdout.splitlines()[-1])


def table(cases):
    """Print a line for each case, and the geometric means."""
    print("Numba's simulator, small sizes …", flush=True)
    simulator = in_simulator()
    print(
        f"\n{'kernel':26}{'plain':>9}{'reports':>9}{'ratio':>7}"
        f"{'simulator, times as long':>28}{'of njit loops':>15}"
    )
    ratios = {name: [] for name in ("reports", "plain", "all", "njit")}
    for case in cases:
        plain, reports, loops = measured(case)
        ratios["reports"].append(reports / plain)
        ratios["njit"].append(plain / loops)
        told = f"{'not asked':>28}"
        if case.name in simulator:
            slow = simulator[case.name] * case.work(case.size) / case.work(case.small)
            ratios["plain"].append(slow / plain)
            ratios["all"].append(slow / reports)
            told = f"{slow / plain:>16,.0f} /{slow / reports:>10,.0f}"
        print(
            f"{case.name:26}{plain:9.4f}{reports:9.4f}{reports / plain:7.2f}{told}"
            f"{plain / loops:13.1f} x",
            flush=True,
        )
    print("\ngeometric means")
    for name, sentence in (
        ("plain", "simulator, times as long as a plain launch"),
        ("all", "simulator, times as long as with every report on"),
        ("reports", "every report on, times as long as plain"),
        ("njit", "plain, times as long as the kernel's loops under njit"),
    ):
        if ratios[name]:
            print(f"{geometric_mean(ratios[name]):10,.1f}  {sentence}")


def measured(case, size=None):
    """Median seconds: a plain launch, one with every report on, and the loops."""
    import helpers

    size = size or case.size
    launch = case.launch(size)
    times = {"plain": [], "reports": [], "loops": []}
    runs = {
        "plain": case.kernel[launch],
        "reports": helpers.emulate(case.kernel)[launch],
        "loops": lambda *arguments: case.loops(*launch, *arguments),
    }
    for turn in range(ROUNDS + 1):
        results = []
        for name, run in runs.items():
            arguments = case.arguments(size)
            start = time.perf_counter()
            for _ in range(case.times):
                run(*arguments)
            if turn:
                times[name].append(time.perf_counter() - start)
            results.append(arguments[-1])
        for result in results[:2]:
            helpers.check(result, results[2])
    return tuple(median(times[name]) for name in runs)


def scaling(cases):
    """Print the time of each case per unit of work, at 1, 10 and 100 times the work."""
    print(f"{'kernel':26}{'work':>14}{'plain':>10}{'ns per unit':>13}")
    for case in cases:
        for part in (100, 10, 1):
            size = case.size
            while case.work(size) * part > case.work(case.size):
                size -= max(1, size // 50)
            plain, *_ = measured(case, size)
            work = case.work(size)
            print(f"{case.name:26}{work:14,}{plain:10.4f}{plain / work * 1e9:13.2f}")


if __name__ == "__main__":
    main()

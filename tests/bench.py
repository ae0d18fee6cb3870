"""How fast is the emulator? One table of ratios, all measured in this run.

    python -m tests.bench            every case
    python -m tests.bench tiled      those whose name begins so
    python -m tests.bench --write    every case of docs/SPEED.md, and its table
    python -m tests.bench --scaling  cost against work, over a hundredfold range
    python -m tests.bench --imports  what importing the tool and the course costs

Each line is a kernel: a plain launch and one with every report on, in seconds; how many
times as long Numba's simulator takes (in a process of its own, at a small size and
scaled by work), and how many times as long the launch takes as the kernel's own loops,
compiled by `njit` for one core. Times are medians of interleaved rounds, the first not
counted; every result is checked.
"""

import json
import os
import platform
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from datetime import date
from importlib.metadata import version
from statistics import geometric_mean, median

from tests.paths import RECORDED, ROOT

ROUNDS = 5
# the modules whose imports are compared; at most 1.5 times the first one's is promised
IMPORTED = ("numba.cuda", "thirty_two_lanes", "helpers")
TIMED = """
import time
start = time.process_time()
import {}
print(time.process_time() - start)
"""
SIMULATOR = "NUMBA_ENABLE_CUDASIM"
PAGE = ROOT / "docs" / "SPEED.md"
FILE = RECORDED / "speed.json"
COLUMNS = (  # of the page
    "kernel",
    "plain, s",
    "every report on, s",
    "ratio",
    "Numba's simulator, times as long as plain",
    "plain, times the kernel's loops under `njit`",
)
MEANS = {
    "simulator": "simulator, times as long as a plain launch",
    "all": "simulator, times as long as with every report on",
    "reports": "every report on, times as long as plain",
    "njit": "plain, times as long as the kernel's loops under njit",
}


def main(arguments=None):
    """Print the table, or the simulator's times as JSON."""
    parser = ArgumentParser(
        description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="how those to measure begin; or all")
    parser.add_argument("--scaling", action="store_true", help="cost against work")
    parser.add_argument("--imports", action="store_true", help="imports alone")
    parser.add_argument("--write", action="store_true", help="write docs/SPEED.md")
    options = parser.parse_args(arguments)
    if SIMULATOR in os.environ:
        return print(json.dumps(simulated()))
    if not (cases := chosen(options.names)):
        parser.error(f"no kernel's name begins with {' or '.join(options.names)}")
    if options.scaling:
        return scaling(cases)
    if options.imports:
        return print_imports()
    if options.write and options.names:
        parser.error("--write measures every case")
    if not options.names:
        print_imports()
    rows = table(cases)
    if options.write:
        write(rows)


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


def table(cases) -> dict:
    """Print a line for each case, and the geometric means."""
    print("Numba's simulator, small sizes …", flush=True)
    simulator = in_simulator()
    print(
        f"\n{'kernel':34}{'plain':>9}{'reports':>9}{'ratio':>7}"
        f"{'simulator, times as long':>28}{'of njit loops':>15}"
    )
    rows = {}
    for case in cases:
        rows[case.name] = row = row_of(case, simulator)
        slow = f"{'not asked':>28}"
        if row.get("simulator"):
            slow = f"{row['simulator']:>16,.0f} /{row['all']:>10,.0f}"
        print(
            f"{case.name:34}{row['plain_s']:9.4f}{row['reports_s']:9.4f}"
            f"{row['reports']:7.2f}{slow}{row['njit']:13.1f} x",
            flush=True,
        )
    print("\ngeometric means")
    for name, sentence in MEANS.items():
        if found := mean(rows, name):
            print(f"{found:10,.1f}  {sentence}")
    return rows


def row_of(case, simulator) -> dict:
    """A case's seconds, and how many times as long each thing takes as another."""
    plain, reports, loops = measured(case)
    row = {
        "plain_s": plain,
        "reports_s": reports,
        "reports": reports / plain,
        "njit": plain / loops,
        "simulator": None,  # not asked
    }
    if case.name in simulator:
        slow = simulator[case.name] * case.work(case.size) / case.work(case.small)
        row |= {"simulator": slow / plain, "all": slow / reports}
    return row


def mean(rows, name) -> float | None:
    """The geometric mean of a ratio, over the cases that have it."""
    found = [row[name] for row in rows.values() if row.get(name)]
    return geometric_mean(found) if found else None


def print_imports():
    """Print the seconds of a core that each import takes, and their ratios."""
    times = import_times()
    first, *ours = IMPORTED
    said = (f"{name} {times[name] / times[first]:.2f} times" for name in ours)
    print(f"import {first}: {times[first]:.2f} s of a core; {', '.join(said)} that\n")


def import_times() -> dict:
    """Seconds of a core that each import takes in a process of its own: medians of
    rounds by turns, the first not counted.
    """
    times = {name: [] for name in IMPORTED}
    for _ in range(ROUNDS + 1):
        for name, taken in times.items():
            command = [sys.executable, "-c", TIMED.format(name)]
            said = subprocess.run(
                command, check=True, capture_output=True, text=True, cwd=ROOT
            )
            taken.append(float(said.stdout))
    return {name: median(taken[1:]) for name, taken in times.items()}


# ------------------------------------------------------------------ the page


def write(rows):
    """Record what was measured of the page's cases, and write its table."""
    from tests.specimens.bench_kernels import CASES

    ours = {case.name: rows[case.name] for case in CASES}
    facts = (
        f"{os.cpu_count()} cores, {platform.machine()}",
        f"{date.today():%B %Y}",
        *(f"{it} {version(it.lower())}" for it in ("Numba", "NumPy")),
    )
    found = {"command": "python -m tests.bench --write", "on": ", ".join(facts)}
    text = json.dumps(found | {"kernels": ours}, indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", "utf-8")
    PAGE.write_text(with_speeds(PAGE.read_text("utf-8")), "utf-8")


def with_speeds(page) -> str:
    """The page's text, with what was recorded between its marks."""
    from lessons.publishing.marked import filled

    known = json.loads(FILE.read_text("utf-8"))
    rows = known["kernels"]
    means = {it: mean(rows, it) for it in ("reports", "simulator", "njit")}
    lines = [f"On {known['on']}:\n", f"| {' | '.join(COLUMNS)} |"]
    lines.append(f"{'|---' * len(COLUMNS)}|")
    lines += [line(name, row) for name, row in rows.items()]
    lines.append(line("**geometric mean**", means, "**{}**"))
    return filled(page, "speed", "\n".join(lines), PAGE.name)


def line(name, row, form="{}") -> str:
    """A row of the page."""
    slow = row["simulator"]
    cells = (
        f"{row['plain_s']:.3f}" if "plain_s" in row else "",
        f"{row['reports_s']:.3f}" if "reports_s" in row else "",
        form.format(f"{row['reports']:.1f}"),
        form.format(f"{float(f'{slow:.3g}'):,.0f}") if slow else "it has no shuffles",
        form.format(f"{row['njit']:.1f}" if row["njit"] < 10 else f"{row['njit']:.0f}"),
    )
    return f"| {name} |{''.join(f' {it} |' if it else ' |' for it in cells)}"


# ------------------------------------------------------------------ the clock


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
    print(f"{'kernel':34}{'work':>14}{'plain':>10}{'ns per unit':>13}")
    for case in cases:
        for part in (100, 10, 1):
            size = case.size
            while case.work(size) * part > case.work(case.size):
                size -= max(1, size // 50)
            plain, *_ = measured(case, size)
            work = case.work(size)
            print(f"{case.name:34}{work:14,}{plain:10.4f}{plain / work * 1e9:13.2f}")


if __name__ == "__main__":
    main()

"""Random access patterns, the zoo and the lessons' kernels under Nsight Compute, on a
machine with a GPU.

    python -m tests.on_gpu.counters [--file tests/recorded/counters.json]
    python -m tests.on_gpu.counters 26 27      these lessons again

Writes after every run of the profiler what it has, and goes on where it stopped when it
is run again. `--keep` names a folder for the profiler's own reports.
"""

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from numba import cuda

from lessons.record import METRICS
from tests.on_gpu.gpu_runs import (
    child,
    provenance,
    read,
    run,
    with_lines,
    without,
    write,
)
from tests.on_gpu.ncu_reports import BY_INSTRUCTION, OF_ATOMICS, profiled
from tests.paths import RECORDED, ROOT
from tests.specimens.requests.patterns import digest, patterns
from tests.specimens.requests.turns import turns
from tests.specimens.zoo_cases import ZOO

COMMAND = "python -m tests.on_gpu.counters"
TOOL = "ncu"
PROFILER = (
    *(TOOL, "--target-processes", "all", "--clock-control", "none"),
    *("--profile-from-start", "off", "--force-overwrite"),
)
WAYS = (  # to ask, the fullest first
    ("--section", "SourceCounters", "--metrics", ",".join(METRICS.values())),
    ("--metrics", ",".join([*METRICS.values(), *BY_INSTRUCTION.values()])),
    ("--metrics", ",".join(METRICS.values())),
)
TURNS = (
    "--metrics",
    ",".join([*OF_ATOMICS.values(), BY_INSTRUCTION["wavefronts"]]),
)
TABLES = {"patterns": patterns, "turns": turns}
TOGETHER = 104  # patterns in one run of the profiler


def main(arguments=None):
    """Profile everything, or, in a child, launch some."""
    options = parser().parse_args(arguments)
    if options.launch:
        launch_all(*options.launch, options.journal)
        return 0
    recorded = read(options.file)
    recorded |= provenance(COMMAND, TOOL)
    for name in ("patterns", "turns", "kernels", "failures"):
        recorded.setdefault(name, {})
    recorded["kernels"] = without(options.lessons, recorded["kernels"])
    if recorded.get("digest") != digest(patterns()):
        recorded |= {"digest": digest(patterns()), "patterns": {}}
    deadline = time.monotonic() + options.seconds
    for group in groups(recorded):
        if time.monotonic() < deadline:
            put(recorded, group, options)
            write(options.file, recorded)
    print(
        f"{len(recorded['patterns'])} patterns, {len(recorded['kernels'])} kernels, "
        f"{len(recorded['failures'])} failures, {len(groups(recorded))} runs left"
    )
    return 0


def parser():
    """The command line."""
    new = argparse.ArgumentParser(COMMAND, description=__doc__)
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("--file", type=Path, default=RECORDED / "counters.json")
    new.add_argument("--seconds", type=float, default=400, help="start nothing later")
    new.add_argument("--keep", type=Path, help="a folder for the profiler's reports")
    new.add_argument("lessons", nargs="*", metavar="lesson")
    new.set_defaults(broken=set())
    new.add_argument("--launch", nargs=2, help=argparse.SUPPRESS)
    new.add_argument("--journal", type=Path, help=argparse.SUPPRESS)
    return new


def groups(recorded):
    """What is left to profile: a kind, and what of it."""
    left = [("zoo", "all")] if not any_of(recorded, "zoo") else []
    for kind, cases_of in TABLES.items():
        names = [case.name for case in cases_of()]
        first = range(0, len(names), TOGETHER)
        left += [(kind, str(n)) for n in first if names[n] not in recorded[kind]]
    stems = [path.stem for path in sorted(ROOT.glob("lessons/[0-9]*.py"))]
    return left + [("lesson", s) for s in stems if not any_of(recorded, f"lesson_{s}")]


def any_of(recorded, start):
    names = {case.name for case in ZOO} if start == "zoo" else ()
    return any(n in names or n.startswith(start) for n in recorded["kernels"])


def put(recorded, group, options):
    """Profile a group and put what was counted into the record."""
    label = "_".join(group)
    print(f"{label} ...", flush=True)
    started = time.monotonic()
    try:
        found = profile(group, options)
    except Exception:
        recorded["failures"][label] = traceback.format_exc()[-1500:]
        print(recorded["failures"][label], flush=True)
        return
    recorded["failures"].pop(label, None)
    place = recorded[group[0] if group[0] in TABLES else "kernels"]
    place.update(found)
    print(f"{label}: {len(found)} in {time.monotonic() - started:.0f} s", flush=True)


def profile(group, options):
    """The launches of a group by name, with what the profiler counted."""
    said = ""
    for way in ways_for(group, options):
        with tempfile.TemporaryDirectory() as folder:
            folder = options.keep or Path(folder)
            folder.mkdir(exist_ok=True, parents=True)
            report = folder / f"{'_'.join(group)}.ncu-rep"
            journal = folder / f"{'_'.join(group)}.txt"
            journal.unlink(missing_ok=True)
            command = [*PROFILER, *way, "--export", str(report)]
            command += child(__spec__.name, "--journal", journal, "--launch", *group)
            status, said = run(command, 300)
            rows = journal.read_text().splitlines() if journal.exists() else []
            entries = profiled(report) if report.exists() else []
        if rows and len(rows) == len(entries):
            return dict(map(joined, rows, entries))
        options.broken.add((group[0], way))
        said = f"{way[:2]}: {len(rows)} launched, {len(entries)} seen, {status}: {said}"
        print(said[-1500:], flush=True)
    raise RuntimeError(said[-1500:])


def ways_for(group, options):
    """How to ask: not as it failed before, unless nothing else is left."""
    ways = {"patterns": WAYS[1:], "turns": (TURNS,)}.get(group[0], WAYS)
    return [w for w in ways if (group[0], w) not in options.broken] or ways[-1:]


def joined(row, entry):
    """A launch's name, and what is kept of it; lines count from the kernel's first."""
    name, told, first, file = row.split("\t")
    kept = [
        [line - int(first) if Path(path).name == file else path, op, counts]
        for path, line, op, counts in entry["instructions"]
    ]
    return name, {"digest": told, "totals": entry["totals"], "instructions": kept}


def launch_all(kind, which, journal):
    """Launch the cases of a group, one after the other, before the profiler's eyes."""
    compiled = {}
    for case in cases(kind, which):
        code = case.kernel.py_func.__code__
        if case.kernel not in compiled:
            compiled[case.kernel] = with_lines(case.kernel, case.name)
        arguments = case.fresh(cuda.to_device)
        cuda.synchronize()
        with cuda.profiling():
            compiled[case.kernel][case.launch](*arguments)
            cuda.synchronize()
        file = Path(code.co_filename).name
        row = case.name, case.digest, str(code.co_firstlineno), file
        with journal.open("a") as out:
            out.write("\t".join(row) + "\n")


def cases(kind, which):
    """The cases of a group."""
    if kind in TABLES:
        first = int(which)
        return list(TABLES[kind]())[first : first + TOGETHER]
    if kind == "zoo":
        return [case for case in ZOO if not (case.error or case.hangs)]
    from tests.specimens.lesson_launches import LESSONS, launches

    return [case for case, _ in launches(LESSONS / f"{which}.py")]


if __name__ == "__main__":
    sys.exit(main())

"""The labelled kernels and the zoo under compute-sanitizer, on a machine with a GPU.

    python -m tests.on_gpu.sanitizer [--file tests/recorded/sanitizer.json]

Writes after every few kernels what it has, and goes on where it stopped when it is run
again; what a changed kernel once did is asked for anew. Kernels that hang are listed
and not run; those that fault have a process of their own.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.on_gpu.gpu_runs import child, launch, provenance, read, run, write
from tests.on_gpu.sanitizer_reports import TOOLS, by_kernel, counted_reports
from tests.paths import RECORDED
from tests.specimens.race_cases import CASES
from tests.specimens.zoo_cases import ZOO

COMMAND = "python -m tests.on_gpu.sanitizer"
TOOL = "compute-sanitizer"
OPTIONS = ("--show-backtrace", "no", "--print-limit", "2000", "--print-level", "info")
TOGETHER, ALONE_S, EACH_S = 12, 60, 10
ALL = {case.name: case for case in (*CASES, *ZOO)}


def main(arguments=None):
    """Ask every tool about every kernel, or, in a child, run some."""
    options = parser().parse_args(arguments)
    if options.launch:
        return launch_all(options.launch, options.journal)
    recorded = read(options.file)
    kernels = recorded.get("kernels", {})
    recorded = {**provenance(COMMAND, TOOL), "kernels": kernels}
    recorded["not run"] = {c.name: c.hangs for c in ALL.values() if c.hangs}
    for name in [n for n, k in kernels.items() if stale(n, k)]:
        del kernels[name]
    deadline = time.monotonic() + options.seconds
    tasks = chunks(kernels, options.tools)
    print(f"{len(tasks)} runs", flush=True)
    with ThreadPoolExecutor(options.processes) as pool:
        waiting = [pool.submit(ask, *task, deadline) for task in tasks]
        for done in as_completed(waiting):
            for name, tool, entry in done.result():
                place = {"digest": ALL[name].digest, "tools": {}}
                kernels.setdefault(name, place)["tools"][tool] = entry
            write(options.file, recorded)
    missing = sum(map(len, (names for _, names in chunks(kernels, options.tools))))
    print(f"{len(kernels)} kernels recorded; {missing} questions left", flush=True)
    return 0


def parser():
    """The command line."""
    new = argparse.ArgumentParser(COMMAND, description=__doc__)
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("--file", type=Path, default=RECORDED / "sanitizer.json")
    new.add_argument("--seconds", type=float, default=520, help="start nothing later")
    new.add_argument("--processes", type=int, default=8)
    new.add_argument("--tools", nargs="+", default=list(TOOLS))
    new.add_argument("--launch", nargs="+", help=argparse.SUPPRESS)
    new.add_argument("--journal", type=Path, help=argparse.SUPPRESS)
    return new


def stale(name, kernel) -> bool:
    """Is this kernel gone, or another by now?"""
    return name not in ALL or kernel["digest"] != ALL[name].digest


def chunks(kernels, tools):
    """What is not answered yet: a tool, and names that can share a process."""
    tasks = []
    for tool in tools:
        asked = [
            name
            for name, case in ALL.items()
            if not case.hangs and tool not in kernels.get(name, {}).get("tools", {})
        ]
        alone = [name for name in asked if getattr(ALL[name], "alone", False)]
        shared = [name for name in asked if name not in alone]
        tasks += [(tool, shared[n :: _parts(shared)]) for n in range(_parts(shared))]
        tasks += [(tool, [name]) for name in alone]
    return [task for task in tasks if task[1]]


def _parts(names):
    return max(1, -(-len(names) // TOGETHER))


def ask(tool, names, deadline):
    """What a tool says of some kernels: name, tool and entry of each."""
    if time.monotonic() > deadline:
        return []
    with tempfile.TemporaryDirectory() as folder:
        log, journal = Path(folder, "log"), Path(folder, "journal")
        command = [TOOL, "--tool", tool, *OPTIONS, "--log-file", str(log)]
        command += child(__spec__.name, "--journal", journal, "--launch", *names)
        ended, said = run(command, ALONE_S + EACH_S * len(names))
        text = log.read_text(errors="replace") if log.exists() else ""
        lines = journal.read_text().splitlines() if journal.exists() else []
    done = dict(line.split("\t", 1) for line in lines)
    whole = len(done) == len(names) and not any(done.values())
    if len(names) > 1 and not whole:
        print(f"{tool}: {len(done)} of {len(names)}, one by one: {said[-300:]}")
        return [one for name in names for one in ask(tool, [name], deadline)]
    found = by_kernel(text, names)
    return [(n, tool, entry(found, n, done, ended, said, names)) for n in names]


def entry(found, name, done, ended, said, names):
    """What is kept of one kernel under one tool."""
    reports = found.get(name, [])
    if len(names) == 1:
        reports = reports + found.get("", [])
    kept = {
        "reports": counted_reports(reports),
        "raw": ["\n".join(r)[:600] for r in reports[:2]],
    }
    if name not in done or done[name]:
        kept["error"] = done.get(name, said[-300:])
    if ended == "timeout":
        kept["ended"] = ended
    return kept


def launch_all(names, journal):
    """Run kernels one after the other, and note each that came to its end."""
    for name in names:
        error = ""
        try:
            launch(ALL[name])
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}".replace("\n", " ")[:300]
        with journal.open("a") as file:
            file.write(f"{name}\t{error}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

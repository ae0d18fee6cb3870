"""What `assemble` says of the zoo's and the lessons' kernels, held to Numba's own
answers, the driver's and the profiler's, on a machine with a GPU.

    python -m tests.on_gpu.assembly [--file tests/recorded/assembly.json]
    python -m tests.on_gpu.assembly 26 27      some lessons, beside what was recorded

Both sides are written, kernel by kernel, and the number that differ is printed. With
nvcc, the instructions of its own SAXPY are counted too.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from numba import cuda

from tests.on_gpu.gpu_runs import (
    child,
    environment,
    provenance,
    read,
    with_lines,
    without,
    write,
)
from tests.paths import RECORDED, ROOT
from tests.specimens.assembly_kernels import NVCC, TWINS
from tests.specimens.lesson_launches import launches, lessons
from tests.specimens.zoo_cases import ZOO
from thirty_two_lanes.assembly import assemble
from thirty_two_lanes.assembly.instructions import instructions_of

COMMAND = "python -m tests.on_gpu.assembly"
OCCUPANCY = "sm__maximum_warps_per_active_cycle_pct"
ANY_LINE = 1, 10**9


def main(arguments=None):
    """Compare everything, or, in a child, launch it before the profiler's eyes."""
    new = argparse.ArgumentParser(COMMAND, description=__doc__)
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("--file", type=Path, default=RECORDED / "assembly.json")
    new.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)
    new.add_argument("lessons", nargs="*", metavar="lesson")
    options = new.parse_args(arguments)
    found = list(cases(options.lessons))
    if options.launch:
        for case in found:
            run_one(case)
        return 0
    known = read(options.file).get("kernels", {}) if options.lessons else {}
    kept = without(options.lessons, known)
    recorded = provenance(COMMAND, "ncu") | {"kernels": kept, "nvcc": twins()}
    shares = profiled_shares(found, options.lessons)
    for case, share in zip(found, shares, strict=True):
        values = {"digest": case.digest, **compared(case), "profiler": share}
        recorded["kernels"][case.name] = values
        write(options.file, recorded)
    differ = [
        name
        for name, it in recorded["kernels"].items()
        if it["assemble"] != it["numba"] or it["occupancy"] != it["profiler"]
    ]
    print(f"{len(recorded['kernels'])} kernels, {len(differ)} differ: {differ}")
    return 0


def cases(some=()):
    """Every kernel once: those of the zoo that end, and of the lessons; or of some."""
    seen = set()
    known = [] if some else [case for case in ZOO if not (case.error or case.hangs)]
    for lesson in lessons():
        if not some or lesson.stem[:2] in some:
            known += [case for case, _ in launches(lesson)]
    for case in known:
        threads = int(np.prod(case.launch[1]))
        key = case.kernel.py_func, tuple(map(np.shape, case.arguments)), threads
        if key not in seen:
            seen.add(key)
            yield case


def run_one(case):
    """One launch, to its end, inside the part that the profiler looks at."""
    arguments = case.fresh(cuda.to_device)
    case.kernel[case.launch](*arguments)
    cuda.synchronize()
    arguments = case.fresh(cuda.to_device)
    with cuda.profiling():
        case.kernel[case.launch](*arguments)
        cuda.synchronize()


def compared(case):
    """What `assemble` says, and what Numba and the driver say: of a twin, since a name
    that the kernel uses may have another value than when the lesson launched it.
    """
    arguments = case.fresh(cuda.to_device)
    ours = assemble(case.kernel)[case.launch](*arguments)
    kernel, types = with_lines(case.kernel, case.name), ours._types
    theirs = kernel.compile(types)
    entry = theirs._codelibrary._entry_name
    code = instructions_of(kernel.inspect_sass(types), entry, *ANY_LINE)
    return {
        "assemble": numbers(ours.instructions)
        | {
            "registers": ours.registers,
            "shared memory": ours.shared_memory,
            "constant memory": ours.constant_memory,
            "local memory": ours.stack,
        },
        "numba": numbers(code)
        | {
            "registers": theirs.regs_per_thread,
            "shared memory": theirs.shared_mem_per_block,
            "constant memory": theirs.const_mem_size,
            "local memory": theirs.local_mem_per_thread,
        },
        "occupancy": round(100 * ours.occupancy.share, 2),
    }


def numbers(instructions):
    """The instructions by name."""
    return {"opcodes": dict(sorted(Counter(it.name for it in instructions).items()))}


def profiled_shares(found, some):
    """Nsight Compute's theoretical occupancy of each launch, in percent."""
    command = ["ncu", "--csv", "--clock-control", "none", "--profile-from-start", "off"]
    command += ["--metrics", OCCUPANCY, *child(__spec__.name, "--launch", *some)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row["Metric Name"] == OCCUPANCY]
    if len(rows) != len(found):
        print(done.stdout[-2000:], done.stderr[-2000:], len(rows), len(found))
        return [None] * len(found)
    return [round(float(row["Metric Value"]), 2) for row in rows]


def twins():
    """The instructions that nvcc makes of the twins in CUDA C++, and its version."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "twins.cu"), Path(folder, "twins.cubin")
        source.write_text(TWINS)
        command = [NVCC, "-arch=sm_90", "-O3", "-cubin", "-o", cubin, source]
        subprocess.run(command, check=True)
        listing = subprocess.run(
            ["nvdisasm", "-c", cubin], check=True, capture_output=True, text=True
        ).stdout
        told = subprocess.run([NVCC, "--version"], capture_output=True, text=True)
    made = {name: instructions_of(listing, name, *ANY_LINE) for name in ("saxpy",)}
    version = told.stdout.strip().splitlines()[-1]
    return {"version": version} | {name: len(it) for name, it in made.items()}


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())

"""Reads Nsight Compute's report files: a kernel's counters, and each memory instruction
with its line.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
from glob import glob
from pathlib import Path

from lessons.record import METRICS, counters_of

BY_INSTRUCTION = {
    "executed": "inst_executed",
    "lanes": "thread_inst_executed_true",
    "wavefronts": "memory_l1_wavefronts_shared",
    "ideal_wavefronts": "memory_l1_wavefronts_shared_ideal",
    "sectors": "memory_l2_theoretical_sectors_global",
    "ideal_sectors": "memory_l2_theoretical_sectors_global_ideal",
}
OF_ATOMICS = {
    "shared_atomic_requests": "smsp__inst_executed_op_shared_atom.sum",
    "shared_atomic_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom"
    ".sum",
    "shared_atomic_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom"
    ".sum",
}
MEMORY = re.compile(r"(@\S+\s+)?(?P<op>(?!LDC|LDGDEPBAR|REDUX)(LD|ST|ATOM|RED)[\w.]*)")
PLACES = (
    "/opt/nvidia/nsight-compute/*/extras/python",
    "/usr/local/cuda*/nsight-compute*/extras/python",
)


def profiled(report):
    """Each launch of a report, in order: name, totals, and memory instructions.

    Without Nsight Compute's module for Python there are totals only.
    """
    module = ncu_report()
    if module is None:
        return from_table(report)
    context = module.load_report(str(report))
    ranges = [context.range_by_idx(n) for n in range(context.num_ranges())]
    return [
        entry(part.action_by_idx(n))
        for part in ranges
        for n in range(part.num_actions())
    ]


def ncu_report():
    """Nsight Compute's module for Python, or None."""
    tool = shutil.which("ncu")
    above = Path(os.path.realpath(tool)).parents if tool else ()
    near = [str(folder / "extras/python") for folder in above[:4]]
    for folder in [*near, *(place for pattern in PLACES for place in glob(pattern))]:
        if os.path.isdir(folder):
            sys.path.append(folder)
    try:
        import ncu_report
    except ImportError as error:
        print(f"no ncu_report: {error}", flush=True)
        return None
    return ncu_report


def entry(action):
    """What is kept of one launch."""
    known = set(action.metric_names())
    totals = {
        name: round(action.metric_by_name(metric).as_double())
        for name, metric in (METRICS | OF_ATOMICS).items()
        if metric in known
    }
    return {
        "name": action.name(),
        "totals": totals,
        "instructions": list(instructions(action, known)),
    }


def instructions(action, known):
    """The memory instructions of a launch, by address, with what each counted."""
    counts, order = {}, []
    for name, metric in BY_INSTRUCTION.items():
        if metric not in known:
            continue
        found = action.metric_by_name(metric)
        if not found.has_correlation_ids():
            continue
        addresses = found.correlation_ids()
        for n in range(found.num_instances()):
            address = addresses.as_uint64(n)
            counts.setdefault(address, {})[name] = round(found.as_double(n))
    for address in sorted(counts):
        memory = MEMORY.match(action.sass_by_pc(address).strip())
        if memory:
            info = action.source_info(address)
            place = (info.file_name(), info.line()) if info else ("", 0)
            order.append([*place, memory["op"], counts[address]])
    return order


def from_table(report):
    """Totals alone, from Nsight Compute's own table."""
    command = ["ncu", "--import", str(report), "--csv", "--page", "raw"]
    told = subprocess.run(
        [*command, "--print-units", "base"], capture_output=True, text=True
    ).stdout
    lines = [line for line in told.splitlines() if line.startswith('"')]
    rows = sorted(
        (row for row in csv.DictReader(lines) if row["ID"]), key=lambda r: int(r["ID"])
    )
    return [
        {"name": row["Kernel Name"], "totals": _totals(row), "instructions": []}
        for row in rows
    ]


def _totals(row):
    return counters_of({**dict.fromkeys(METRICS.values(), "n/a"), **row})

"""Records what the lessons measure, on a machine with an NVIDIA GPU.

    python -m lessons.record [names]                times
    python -m lessons.record [names] --counters     what Nsight Compute counts

Each lesson runs as a plain script in a process of its own and keeps a journal of what
it measures; the journals become `helpers/recorded/<gpu>/times.json`. A lesson that runs again
replaces all that was recorded of it. Counters join times that are already recorded.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from helpers.measuring import recordings, store
from thirty_two_lanes.core.device import device

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python -m lessons.record && python -m lessons.record --counters"
OF_THE_RUN = "date", "versions", "copy_gb_per_s"  # alike for all of a lesson

CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
METRICS = {
    "shared_load_requests": "smsp__sass_inst_executed_op_shared_ld.sum",
    "shared_store_requests": "smsp__sass_inst_executed_op_shared_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "copy_requests": "smsp__inst_executed_op_ldgsts.sum",
    "copy_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared"
    "_op_ldgsts.sum",
    "shared_load_conflicts": f"{CONFLICTS}_op_ld.sum",
    "shared_store_conflicts": f"{CONFLICTS}_op_st.sum",
    "lsu_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "local_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "local_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum",
    "memory_read_bytes": "dram__bytes_read.sum",
    "memory_write_bytes": "dram__bytes_write.sum",
    "instructions": "smsp__inst_executed.sum",
    "cycles": "sm__cycles_elapsed.max",
}
SHARES = {  # of what there is, in percent
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "issue_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "l1_data_percent": "l1tex__data_pipe_lsu_wavefronts"
    ".avg.pct_of_peak_sustained_elapsed",
    "l2_percent": "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "memory_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
STALLS = {  # why warps did not issue: warps on average, at each instruction issued
    reason: STALL.format(reason)
    for reason in (
        "barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss",
        "lg_throttle", "long_scoreboard", "math_pipe_throttle", "membar",
        "mio_throttle", "misc", "no_instruction", "not_selected", "selected",
        "short_scoreboard", "sleeping", "tex_throttle", "wait",
    )
}
PROFILER = (
    "ncu",
    "--target-processes",
    "all",
    "--clock-control",
    "none",
    "--profile-from-start",
    "off",
    "--csv",
    "--page",
    "raw",
    "--print-units",
    "base",
    "--metrics",
    ",".join((*METRICS.values(), *SHARES.values(), *STALLS.values())),
)


class RecordError(Exception):
    """Why nothing could be recorded, as a message for the command line."""


def main(arguments=None):
    """Record what the command line asks for; return the exit status."""
    options = parser().parse_args(arguments)
    try:
        record(
            options.names,
            record_counters if options.counters else record_times,
        )
    except RecordError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def parser():
    """The command line."""
    new = argparse.ArgumentParser(
        "python -m lessons.record", description=__doc__
    )
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("names", nargs="*", help="as 14_bank_conflicts, or 14")
    new.add_argument(
        "--counters", action="store_true", help="run Nsight Compute"
    )
    return new


def record(names, record_lesson):
    """Record lesson by lesson, and write after each."""
    if not device.has_gpu:
        raise RecordError(
            "there is no NVIDIA GPU here; recordings are made on one"
        )
    lessons = {
        path.stem: path for path in sorted(ROOT.glob("lessons/[0-9]*.py"))
    }
    file = store.file_of(device.name, "times")
    runs = store.read(file).get("runs", {})
    runs = {name: run for name, run in runs.items() if name in lessons}
    for name in chosen(lessons, names):
        print(f"{name} ...", flush=True)
        runs[name] = record_lesson(lessons[name], runs.get(name))
        values = {"command": COMMAND, "gpu": device.name, "runs": runs}
        store.write(file, values, sort_keys=True)
        print(
            f"{name}: {len(runs[name]['measurements'])} measurements",
            flush=True,
        )


def chosen(lessons, names):
    """The lessons named, by stem or number; all when none is."""
    known = {
        word: name for name in lessons for word in (name, name.split("_")[0])
    }
    if unknown := [name for name in names if name not in known]:
        there = ", ".join(lessons)
        raise RecordError(
            f"no lesson {', '.join(unknown)}; there are: {there}"
        )
    return sorted({known[name] for name in names}) or list(lessons)


def run_lesson(lesson, variable, journal, before=()):
    """Run a lesson as a script that keeps a journal; return the journal's entries."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    settings = {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "MPLBACKEND": "Agg",
        variable: str(journal),
    }
    command = [*before, sys.executable, str(lesson)]
    ended = subprocess.run(command, cwd=ROOT, env={**os.environ, **settings})
    if status := ended.returncode:
        raise RecordError(
            f"{lesson.stem} ended with status {status}: not recorded"
        )
    return recordings.read_journal(journal) if journal.exists() else []


# ---------------------------------------------------------------- times


def record_times(lesson, before):
    """What a lesson measures when it runs."""
    with tempfile.TemporaryDirectory() as folder:
        journal = run_lesson(
            lesson, recordings.JOURNAL, Path(folder, "journal")
        )
    return run_of(journal, before, driver_version())


def run_of(journal, before, driver):
    """A journal as a run; counters of what is still measured stay."""
    run = {key: journal[0][key] for key in OF_THE_RUN} if journal else {}
    run["versions"] = {**run.get("versions", {}), "driver": driver}
    measured = dict(
        by_form(journal)
    )  # of a form measured twice the last counts
    entries = {form: times_of(entry) for form, entry in measured.items()}
    for form, entry in by_form(before["measurements"] if before else []):
        if form in entries and "counters" in entry:
            entries[form]["counters"] = entry["counters"]
    return {**run, "measurements": in_order(entries)}


def times_of(entry):
    """The part of a journal's entry that is its own."""
    return {k: v for k, v in entry.items() if k not in (*OF_THE_RUN, "gpu")}


def driver_version():
    query = [
        "nvidia-smi",
        "--query-gpu=driver_version",
        "--format=csv,noheader",
    ]
    if not shutil.which(query[0]):
        return "unknown"
    return subprocess.run(query, capture_output=True, text=True).stdout.split(
        "\n"
    )[0]


def by_form(entries):
    return [(recordings.form_from(entry), entry) for entry in entries]


def in_order(entries):
    """Entries in an order that does not depend on the lesson's."""
    order = sorted(
        entries, key=lambda form: tuple(map(str, asdict(form).values()))
    )
    return [entries[form] for form in order]


# ---------------------------------------------------------------- counters


def record_counters(lesson, before):
    """The run recorded before, with what Nsight Compute counts of its launches."""
    if not before:
        raise RecordError(
            f"record times of {lesson.stem} first, without --counters"
        )
    if not shutil.which(PROFILER[0]):
        raise RecordError(
            "`ncu` is not on the path; it comes with the CUDA toolkit"
        )
    with tempfile.TemporaryDirectory() as folder:
        log, journal = Path(folder, "log"), Path(folder, "journal")
        profiler = (*PROFILER, "--log-file", str(log))
        try:
            launches = run_lesson(
                lesson, recordings.PROFILE, journal, profiler
            )
            return with_counters(before, launches, read_log(log))
        except RecordError as error:
            raise RecordError(
                f"{error}\nthe end of ncu's log: {read_log(log)[-1000:]}"
            ) from None


def read_log(log):
    return log.read_text(encoding="utf-8") if log.exists() else "nothing"


def with_counters(run, launches, log):
    """A run with the counters of its launches, which the log lists in their order."""
    counters = dict(joined(launches, rows_of(log)))
    entries = dict(by_form(run["measurements"]))
    if unknown := [form.kernel for form in counters if form not in entries]:
        raise RecordError(f"record the times of {', '.join(unknown)} first")
    for form, values in counters.items():
        entries[form] = {**entries[form], "counters": values}
    return {**run, "measurements": in_order(entries)}


def joined(launches, rows):
    """Each launch's form with its counters."""
    seen = [row["Kernel Name"] for row in rows]
    made = [entry["kernel"] for entry in launches]
    pairs = zip(made, seen, strict=False)
    if len(seen) != len(made) or not all(name in row for name, row in pairs):
        raise RecordError(
            f"Nsight Compute saw {seen}, and the lesson launched {made}"
        )
    forms = [form for form, _ in by_form(launches)]
    return zip(forms, map(counters_of, rows), strict=True)


def rows_of(log):
    """The rows of Nsight Compute's table, one a launch, in their order."""
    lines = [line for line in log.splitlines() if line.startswith('"')]
    rows = [
        row for row in csv.DictReader(lines) if row["ID"]
    ]  # not that of units
    return sorted(rows, key=lambda row: int(row["ID"]))


def counters_of(row):
    """The counters by our names; one that this GPU does not have is left out."""
    counts = {name: round(value) for name, value in read_row(row, METRICS)}
    shares = {name: round(value, 1) for name, value in read_row(row, SHARES)}
    stalls = {name: round(value, 2) for name, value in read_row(row, STALLS) if value}
    return {**counts, **shares, **({"stalls": stalls} if stalls else {})}


def read_row(row, metrics):
    """The metrics of a row by our names, as far as this GPU has them."""
    for name, metric in metrics.items():
        text = row.get(metric, "n/a").replace(",", "")
        if text != "n/a":
            yield name, float(text)


if __name__ == "__main__":
    sys.exit(main())

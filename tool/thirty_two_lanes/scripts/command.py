"""The command `lanes run script.py`: runs a program with every launch emulated, and
reports on each kernel, worst first.

The exit status is 1 if something is wrong, 130 after Ctrl-C, and else the program's.
"""

import argparse
import json
import os
import sys
from functools import partial
from pathlib import Path

from thirty_two_lanes.scripts import report
from thirty_two_lanes.scripts.github import annotations
from thirty_two_lanes.scripts.kinds import FAULTS, KINDS, UnknownKind, kinds_in
from thirty_two_lanes.scripts.ledger import Ledger
from thirty_two_lanes.scripts.options import file_to_write, whole_number
from thirty_two_lanes.scripts.program import NoProgram, run_program
from thirty_two_lanes.scripts.progress import Progress
from thirty_two_lanes.scripts.sarif import as_sarif
from thirty_two_lanes.scripts.told import Paths, in_a_workflow, told

INTERRUPTED = 130


def add_options(parser):
    """What `run` is given: options first, then the program and its own arguments."""
    kinds = ", ".join(KINDS)
    parser.usage = f"{parser.prog} [options] (script.py | -m module) [arguments]"
    parser.set_defaults(name=parser.prog)
    flag = partial(parser.add_argument, action="store_true")
    file = partial(parser.add_argument, type=file_to_write, metavar="FILE")
    some = partial(parser.add_argument, type=_kinds, metavar="KINDS")
    number = partial(parser.add_argument, type=whole_number, metavar="N")
    flag("-m", dest="module", help="the program is a module")
    flag("--live", help="report each kernel when it is launched")
    file("--html", help="write a page")
    file("--json", help="write plain data")
    file("--sarif", help="write SARIF, for code scanning and editors")
    flag("--github", help="print annotations, as in a workflow of GitHub's")
    some("--only", help=f"report only these: {kinds}")
    without = f"without it {','.join(FAULTS)}"
    some("--fail-on", help=f"exit with 1 for these, or none; {without}")
    first = "judge the first N launches of each kernel"
    number("--launches", help=f"{first}, and run the others plainly")
    flag("--quiet", help="say nothing on stderr")
    parser.add_argument("program", help="a file, or after -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its own")


def _kinds(text):
    try:
        return kinds_in(text)
    except UnknownKind as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main(options) -> int:
    """Run the program and report; the exit status."""
    paths = Paths.here()  # wherever the program goes
    fail_on = options.fail_on  # the kinds for which the exit status is 1
    if fail_on is None:
        fail_on = tuple(kind for kind in FAULTS if kind in (options.only or KINDS))
    progress = None if options.quiet else Progress()
    if options.quiet:
        os.environ["EMULATOR_PATIENCE"] = "0"  # for launches that would say they run
    kinds = {*(options.only or KINDS), *fail_on}
    ledger = Ledger(
        tuple(kind for kind in KINDS if kind in kinds),
        options.launches,
        on_launch=progress,
        on_news=partial(_say_kernel, fail_on) if options.live else None,
    )
    try:
        with ledger.judging():
            status = run_program(options.program, options.arguments, options.module)
    except NoProgram as error:
        print(f"{options.name}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        said = f"interrupted: {error}" if str(error) else "interrupted"
        report.say(said, sys.stderr)
        status = INTERRUPTED
    if progress:
        progress.clear()
    _report(ledger, fail_on, options)
    _tell(ledger, fail_on, options, paths)
    wrong = any(ledger.counts()[kind] for kind in fail_on)
    return 1 if wrong and status != INTERRUPTED else status


def _say_kernel(fail_on, entry):
    report.say(f"{report.kernel_as_text(entry, fail_on)}\n")


def _report(ledger, fail_on, options):
    """Print the report, and write the files that were asked for."""
    sys.stdout.flush()
    title = Path(options.program).name
    if options.live:
        for entry in ledger.host_calls:
            _say_kernel(fail_on, entry)
        report.say(report.total(ledger, fail_on))
    else:
        report.say(f"\n{report.as_lines(ledger, fail_on)}")
    if options.html:
        page = report.as_page(ledger, fail_on, title)
        options.html.write_text(page, encoding="utf-8")


def _tell(ledger, fail_on, options, paths):
    """What other tools read: files, and annotations in a workflow."""
    found = told(ledger, fail_on, paths)
    if options.json:
        title = Path(options.program).name
        _write(options.json, report.as_data(ledger, fail_on, title, paths))
    if options.sarif:
        _write(options.sarif, as_sarif(found))
    if options.github or in_a_workflow():
        for line in annotations(found):
            report.say(line)


def _write(file, data):
    """Write plain data as JSON."""
    file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")

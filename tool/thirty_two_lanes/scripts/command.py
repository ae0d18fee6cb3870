"""The command `python -m thirty_two_lanes run script.py`: runs a program with every
launch emulated, and reports on each kernel, worst first.

The exit status is 1 if something is wrong, 130 after Ctrl-C, and else the program's.
"""

import argparse
import json
import sys
from pathlib import Path

from thirty_two_lanes.scripts.kinds import FAULTS, KINDS, UnknownKind, kinds_in
from thirty_two_lanes.scripts.launches import handed_to
from thirty_two_lanes.scripts.ledger import Ledger
from thirty_two_lanes.scripts.options import file_to_write, whole_number
from thirty_two_lanes.scripts.program import NoProgram, run_program
from thirty_two_lanes.scripts.progress import Progress
from thirty_two_lanes.scripts.report import (
    as_data,
    as_lines,
    as_page,
    say,
    shape_as_text,
    total,
)

INTERRUPTED = 130


def add_options(parser):
    """What `run` is given: options first, then the program and its own arguments."""
    kinds = ", ".join(KINDS)
    program = "(script.py | -m module) [arguments]"
    parser.usage = f"python -m thirty_two_lanes run [options] {program}"
    parser.add_argument(
        "-m", dest="module", action="store_true", help="the program is a module"
    )
    parser.add_argument(
        "--live", action="store_true", help="report each kernel when it is launched"
    )
    for name, what in (("--html", "a page"), ("--json", "plain data")):
        parser.add_argument(
            name, type=file_to_write, metavar="FILE", help=f"write {what}"
        )
    parser.add_argument(
        "--only", type=_kinds, metavar="KINDS", help=f"report only these: {kinds}"
    )
    parser.add_argument(
        "--fail-on",
        type=_kinds,
        metavar="KINDS",
        help=f"exit with 1 for these, or none; without it {','.join(FAULTS)}",
    )
    parser.add_argument(
        "--launches",
        type=whole_number,
        metavar="N",
        help="judge the first N launches of each kernel, and run the others plainly",
    )
    parser.add_argument("--quiet", action="store_true", help="say nothing on stderr")
    parser.add_argument("program", help="a file, or after -m a module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its own")


def _kinds(text):
    try:
        return kinds_in(text)
    except UnknownKind as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main(options) -> int:
    """Run the program and report; the exit status."""
    fail_on = _fail_on(options)
    progress = None if options.quiet else Progress()
    news = (lambda it: say(f"{shape_as_text(it, fail_on)}\n")) if options.live else None
    kinds = options.only or KINDS
    seen = tuple(kind for kind in KINDS if kind in {*kinds, *fail_on})
    ledger = Ledger(seen, options.launches, on_launch=progress, on_news=news)
    try:
        with handed_to(ledger.launch):
            status = run_program(options.program, options.arguments, options.module)
    except NoProgram as error:
        return _refused(str(error))
    except KeyboardInterrupt as error:
        say(f"interrupted: {error}" if str(error) else "interrupted", sys.stderr)
        status = INTERRUPTED
    if progress:
        progress.clear()
    _report(ledger, fail_on, options)
    wrong = any(ledger.counts()[kind] for kind in fail_on)
    return 1 if wrong and status != INTERRUPTED else status


def _fail_on(options) -> tuple[str, ...]:
    """The kinds for which the exit status is 1."""
    if options.fail_on is not None:
        return options.fail_on
    return tuple(kind for kind in FAULTS if kind in (options.only or KINDS))


def _report(ledger, fail_on, options):
    """Print the report, and write the files that were asked for."""
    sys.stdout.flush()
    title = Path(options.program).name
    if options.live:
        say(total(ledger, fail_on))
    else:
        say(f"\n{as_lines(ledger, fail_on)}")
    if options.html:
        options.html.write_text(as_page(ledger, fail_on, title), encoding="utf-8")
    if options.json:
        data = json.dumps(as_data(ledger, fail_on, title), indent=1)
        options.json.write_text(data + "\n", encoding="utf-8")


def _refused(sentence) -> int:
    print(f"python -m thirty_two_lanes run: {sentence}", file=sys.stderr)
    return 2

"""What a child does for an agent: a program or a kernel checked, a block watched, a
kernel assembled. Each task takes its request's own fields and gives plain data.
"""

import os
import runpy
import traceback
from functools import partial

from thirty_two_lanes.agents.answers import answer_of
from thirty_two_lanes.agents.arguments import (
    BadRequest,
    arguments_of,
    copy_of,
    outcomes,
)
from thirty_two_lanes.assembly import assemble
from thirty_two_lanes.core.errors import ExplainedError
from thirty_two_lanes.film.watch import watch
from thirty_two_lanes.frontend.kernels import argument_names, is_kernel
from thirty_two_lanes.scripts.ledger import Ledger
from thirty_two_lanes.scripts.program import run_program

FILE = "kernel.py"  # what the source of a request is called
MOST_CHARACTERS = 20_000  # of a text


def check_file(keep, path, arguments, launches):
    """Run a program with its launches judged; `keep` is given what is known so far."""
    ledger = Ledger(most=launches)
    ledger.on_news = lambda shape: keep(answer_of(ledger))
    os.chdir(os.path.dirname(path))
    status = stopped = None
    try:
        with ledger.judging():
            status = run_program(path, arguments)
    except KeyboardInterrupt as error:
        stopped = str(error) or "interrupted"
    return {**answer_of(ledger), "status": status, "stopped": stopped}


def check_kernel(keep, arguments, **launch):
    """Launch one kernel with all judges: what was found, and what its arrays hold."""
    kernel, config = launched(**launch)
    names = argument_names(kernel)
    values = arguments_of(arguments, names)
    before, ledger, stopped = [*map(copy_of, values)], Ledger(), None
    try:
        with ledger.judging():
            kernel[config](*values)
    except ExplainedError as error:
        if not ledger.kernels:  # no launch at all
            raise BadRequest(str(error)) from None
    except KeyboardInterrupt as error:
        stopped = str(error) or "interrupted"
    outputs = outcomes(names, values, before)
    return {**answer_of(ledger), "stopped": stopped, "outputs": outputs}


def watch_block(keep, arguments, block, variables, steps, **launch):
    """The moments of one block, and what was found in it, as text."""
    kernel, config = launched(**launch)
    values = arguments_of(arguments, argument_names(kernel))
    block = tuple(block) if isinstance(block, list) else block
    wanted = {"block": block, "variables": variables, "steps": steps}
    return text(lambda: repr(watch(kernel, **wanted)[config](*values)))


def assemble_kernel(keep, arguments, target, listing, **launch):
    """The instructions of each line as text, or why there are none."""
    kernel, config = launched(**launch)
    values = arguments_of(arguments, argument_names(kernel))
    keep.open_fence()  # the disassembler is a process of its own
    code = text(lambda: assemble(kernel, target)[config](*values), as_it_is=True)
    whole = listing and not code.missing
    return text(code.listing if whole else partial(repr, code))


def text(made, as_it_is=False):
    """What a function gives, as a text of some length; its refusal as the agent's."""
    try:
        said = made()
    except ExplainedError as error:
        raise BadRequest(str(error)) from None
    if as_it_is:
        return said
    if len(said) > MOST_CHARACTERS:
        said = f"{said[:MOST_CHARACTERS]}\n… and {len(said) - MOST_CHARACTERS:,} more"
    return {"text": said}


def launched(source, kernel, blocks, threads, shared_bytes):
    """The kernel of a source by its name, and what stands between its brackets."""
    names = namespace(source)
    kernels = {
        name: it
        for name, it in names.items()
        if is_kernel(it) and not it.targetoptions.get("device")
    }
    if not kernels:
        raise BadRequest("the source has no kernel: put `@cuda.jit` above a function")
    there = ", ".join(kernels)
    if kernel is None and len(kernels) != 1:
        raise BadRequest(f"the source has {there}: give the name of one as `kernel`")
    if kernel is not None and kernel not in kernels:
        raise BadRequest(f"the source has no kernel `{kernel}`: it has {there}")
    sizes = (tuple(it) if isinstance(it, list) else it for it in (blocks, threads))
    return kernels[kernel or next(iter(kernels))], (*sizes, 0, shared_bytes)


def namespace(source) -> dict:
    """What a source defines; raises BadRequest with the line at which it stops."""
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(source)
    path = os.path.abspath(FILE)
    try:
        return runpy.run_path(path, run_name="kernel")
    except SyntaxError as error:
        line = f"line {error.lineno} of the source"
        raise BadRequest(f"{line} is not Python: {error.msg}") from None
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [it.lineno for it in frames if it.filename == path]
        where = f"line {lines[-1]} of the source" if lines else "the source"
        what = f"{type(error).__name__}: {error}"
        raise BadRequest(f"{where} stops with {what}") from None


TASKS = {
    task.__name__: task
    for task in (check_file, check_kernel, watch_block, assemble_kernel)
}

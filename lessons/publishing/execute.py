"""Runs a notebook from top to bottom in a kernel of its own, with no GPU.

The kernel is the Python that builds, knows no settings of the user, and works
in an empty folder: what it shows depends on the lesson and on `helpers` alone.
"""

import asyncio
import os
import re
import tempfile
import time
from contextlib import asynccontextmanager
from pathlib import Path

from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)

from lessons.publishing import warm
from lessons.publishing.convert import named_cells
from lessons.publishing.errors import LessonError

LIMIT_S = 120  # a notebook that takes longer hangs


def complete(coroutine):
    """Run a coroutine on the event loop that ZeroMQ needs on Windows."""
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        return runner.run(coroutine)


async def execute(
    notebook, root, limit_s=LIMIT_S, progress=lambda done: None, startup=""
):
    """Run each cell of a notebook, and put its outputs in place; `startup` is code
    that its kernel begins with.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with kernel(Path(folder), root, startup) as (manager, client):
            runner = client_of(notebook, manager, client, limit_s)
            for index, (name, _) in enumerate(named_cells(notebook)):
                await run_cell(runner, index, name, limit_s)
                progress(index + 1)


@asynccontextmanager
async def kernel(folder, root, startup=""):
    """A fresh kernel, ended whatever happens."""
    first = folder / "startup.py"
    first.write_text(startup, "utf-8")
    manager = AsyncKernelManager(
        # with no folder to look into, the one kernel left is this very Python
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
        connection_file=str(folder / "kernel.json"),
        transport=transport(folder),
    )
    manager.kernel_spec.metadata.update(warm.metadata())
    empty = folder / "empty"
    empty.mkdir()
    env = environment(folder, root) | {"PYTHONSTARTUP": str(first)}
    await manager.start_kernel(env=env, cwd=str(empty))
    client = manager.client()
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=60)
        yield manager, client
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


def transport(folder):
    """How to talk to a kernel: by files, if their names are not too long."""
    return "ipc" if os.name == "posix" and len(str(folder)) < 80 else "tcp"


def environment(folder, root):
    """What a kernel finds around it: our modules, and no GPU.

    And a BLAS that adds in one order on every x86 processor, so that the last digits
    of NumPy's products do not depend on who builds.
    """
    searched = [str(root), os.environ.get("PYTHONPATH", "")]
    return (
        os.environ
        | {
            "PYTHONPATH": os.pathsep.join(filter(None, searched)),
            "IPYTHONDIR": str(folder),
            "CUDA_VISIBLE_DEVICES": "-1",
            "OPENBLAS_CORETYPE": "Prescott",  # the oldest that it knows
            "OPENBLAS_NUM_THREADS": "1",
            "EMULATOR_PATIENCE": "0",  # a slow machine writes no more than a fast one
            "HELPERS_ASSEMBLIES": "recorded",  # alike with every compiler, and with none
        }
    )


def client_of(notebook, manager, client, limit_s):
    """What runs a notebook's cells, all of them within the limit."""
    deadline = time.monotonic() + limit_s
    runner = NotebookClient(
        notebook,
        km=manager,
        timeout_func=lambda cell: max(1, deadline - time.monotonic()),
        coalesce_streams=True,  # how a text is cut into messages is chance
        force_raise_errors=True,
        record_timing=False,
    )
    runner.kc = client
    return runner


async def run_cell(runner, index, name, limit_s):
    """Run one cell; an error names its place."""
    cell = runner.nb.cells[index]
    try:
        await runner.async_execute_cell(cell, index)
    except CellExecutionError as error:
        raise LessonError(f"{name}{failing_line(cell, error)}") from None
    except CellTimeoutError:
        raise LessonError(f"{name} was still running after {limit_s} s") from None
    except DeadKernelError:
        # nbclient takes Ctrl-C for a death
        if asyncio.current_task().cancelling():
            raise asyncio.CancelledError from None
        raise LessonError(f"{name} ended the kernel") from None


def failing_line(cell, error):
    """Where in its cell an error came from, that line, and its sentence."""
    sentence = f"    {error.ename}: {error.evalue}"
    traceback = re.sub(r"\x1b\[[\d;]*m", "", error.traceback)
    place = rf"Cell In\[{cell.execution_count}\], line (\d+)"
    numbers = re.findall(place, traceback)
    if not numbers:
        return f":\n{sentence}"
    number = int(numbers[-1])
    line = cell.source.splitlines()[number - 1].strip()
    return f", line {number}:\n    {line}\n{sentence}"

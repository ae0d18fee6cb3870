"""The server's side of a child: starts it in a folder of its own, waits no longer than
it may take, and reads what it kept.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

CHILD = "thirty_two_lanes.agents.child"
GRACE_S = 15  # for Numba to be imported, and for a report after an interrupt
ANSWER, OUTPUT = "answer.json", "output.txt"
MOST_OUTPUT = 2_000  # characters, the last ones


async def answer_to(request) -> dict:
    """What a child answers to a request, which has its `seconds` and `megabytes`.

    A child that does not end is ended; the answer is what it had kept until then, with
    the reason as "stopped". A call that the client cancels ends its child, too.
    """
    with TemporaryDirectory(prefix="lanes-", ignore_cleanup_errors=True) as folder:
        status = await _run(request, Path(folder))
        file = Path(folder, ANSWER)
        answer = json.loads(file.read_bytes()) if file.exists() else {}
        if status != 0:
            answer.setdefault("stopped", None)
            answer["stopped"] = answer["stopped"] or _reason(status, request)
        if output := _end_of(Path(folder, OUTPUT)):
            answer["output"] = output
        return answer


async def _run(request, folder):
    """Run the child to its end; its exit status, or None if it had to be ended."""
    with open(folder / OUTPUT, "ab") as output:
        with anyio.move_on_after(request["seconds"] + GRACE_S):
            done = await anyio.run_process(
                [sys.executable, "-m", CHILD, ANSWER],
                input=json.dumps(request).encode(),
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                cwd=folder,
                env=_environment(folder),
            )
            return done.returncode
    return None


def _environment(folder) -> dict:
    """The server's own, with all that is written in the folder, and no GPU: a kernel is
    emulated, and one that hangs must not hang a GPU.
    """
    ours = Path(__file__).parents[2]  # where this package lies, installed or not
    paths = [str(ours), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP", "NUMBA_CACHE_DIR"), str(folder)),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "OPENBLAS_NUM_THREADS": "1",  # each thread takes addresses
    }


def _reason(status, request) -> str:
    """Why a child gave no whole answer."""
    if status is None:
        return (
            f"ended after {request['seconds']:g} seconds: it did not react to an "
            "interrupt"
        )
    memory = f"it may have needed more than {request['megabytes']:,} MB"
    return f"its process ended with the status {status}: {memory}, or have crashed"


def _end_of(file) -> str:
    """The end of what a program printed."""
    size = file.stat().st_size
    with open(file, "rb") as read:
        read.seek(max(0, size - 4 * MOST_OUTPUT))
        said = read.read().decode("utf-8", "replace").strip()
    return said if len(said) <= MOST_OUTPUT else f"…{said[-MOST_OUTPUT:]}"

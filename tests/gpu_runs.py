"""What the scripts share that ask a GPU's tools about labelled kernels."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import FunctionType

from numba import cuda

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "recorded"
sys.path.insert(0, str(ROOT))  # where the package is not installed


def with_lines(function, name):
    """A kernel of that name which knows its lines, of a kernel's function."""
    parts = function.__code__, function.__globals__, name, function.__defaults__
    twin = FunctionType(*parts, function.__closure__)
    twin.__qualname__, twin.__module__ = name, function.__module__
    return cuda.jit(lineinfo=True)(twin)


def launch(case):
    """Run a case on the GPU, to its end."""
    kernel = with_lines(case.kernel.py_func, case.name)
    arguments = case.fresh(cuda.to_device)
    kernel[case.launch](*arguments)
    cuda.synchronize()


def provenance(command, tool):
    """Where, when and with what something is recorded."""
    from helpers.device import device
    from helpers.timing import versions

    told = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    found = [line for line in told.splitlines() if "ersion" in line]
    return {
        "command": command,
        "gpu": device.name,
        "date": date.today().isoformat(),
        "versions": {**versions(), tool: (found or ["unknown"])[-1].strip()},
    }


def environment():
    """The environment of a child that imports the tests and the helpers."""
    paths = [str(ROOT), str(FOLDER.parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run(command, seconds):
    """Run a command; the status, or "timeout", and the end of what it said."""
    try:
        ended = subprocess.run(
            *(command,),
            env=environment(),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return "timeout", ""
    return ended.returncode, (ended.stdout + ended.stderr)[-2000:]


def read(file):
    """What was recorded before; nothing where nothing was."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def write(file, recorded):
    """Write at once all or nothing."""
    file.parent.mkdir(exist_ok=True, parents=True)
    text = json.dumps(recorded, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    partial = file.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


def child(script, *arguments):
    """A command that runs a script's other half."""
    path = str(Path(script).resolve())
    return [sys.executable, path, *map(str, arguments)]

"""What the scripts share that ask a GPU's tools about labelled kernels."""

import json
import os
import shutil
import subprocess
import sys
from datetime import date
from types import FunctionType

from numba import cuda

from tests.paths import ROOT
from thirty_two_lanes.core import dynamic_shared

KEPT = "fastmath", "opt", "max_registers", "launch_bounds"  # of a kernel's options


def with_lines(kernel, name):
    """A kernel's twin of that name which knows its lines."""
    function, options = kernel.py_func, kernel.targetoptions
    parts = function.__code__, function.__globals__, name, function.__defaults__
    twin = FunctionType(*parts, function.__closure__)
    twin.__qualname__, twin.__module__ = name, function.__module__
    kept = {key: options[key] for key in KEPT if options.get(key) is not None}
    compiled = cuda.jit(lineinfo=True, **kept)(twin)
    if kernel in dynamic_shared.allowed:
        dynamic_shared.allow_dynamic_shared(compiled, dynamic_shared.allowed[kernel])
    return compiled


def launch(case):
    """Run a case on the GPU, to its end."""
    kernel = with_lines(case.kernel, case.name)
    arguments = case.fresh(cuda.to_device)
    kernel[case.launch](*arguments)
    cuda.synchronize()


def provenance(command, tool):
    """Where, when and with what something is recorded."""
    from helpers.measuring.timing import versions
    from thirty_two_lanes.core.device import device

    if not device.has_gpu or not shutil.which(tool):
        sys.exit(f"this needs an NVIDIA GPU, and `{tool}` on the path")
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
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
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


def without(lessons, kernels):
    """What was recorded of all but some lessons, which are recorded again."""
    again = tuple(f"lesson_{lesson}" for lesson in lessons)
    return {name: it for name, it in kernels.items() if not name.startswith(again)}


def write(file, recorded):
    """Write at once all or nothing; what is kept by name, a line each."""
    file.parent.mkdir(exist_ok=True, parents=True)
    parts = (f" {dumped(key)}: {part(recorded[key])}" for key in sorted(recorded))
    partial = file.with_suffix(".partial")
    partial.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    partial.replace(file)


def part(value):
    """A value, or a dictionary of dictionaries with a line for each."""
    if not isinstance(value, dict) or not all(
        isinstance(v, dict) for v in value.values()
    ):
        return dumped(value)
    lines = (f"  {dumped(name)}: {dumped(value[name])}" for name in sorted(value))
    return "{\n" + ",\n".join(lines) + "\n }"


def dumped(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def child(module, *arguments):
    """A command that runs a module's other half."""
    return [sys.executable, "-m", module, *map(str, arguments)]

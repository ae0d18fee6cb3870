"""One launch in four steps: compile, bind, run and judge.

A plain launch has no judges. `EMULATOR_SEED` and `EMULATOR_TURNS` choose for all
launches, and are read at each: `EMULATOR_SEED=3 python script.py` runs a script with
another order of warps, and so does `os.environ["EMULATOR_SEED"] = "3"` in a notebook,
for what follows. `EMULATOR_TURNS` is the number of iterations that the loops of a warp
may run in a launch; without it they may run as long as they want. After
`EMULATOR_PATIENCE` seconds (10; 0 for never) a launch says that it still runs, and
where. `EMULATOR_DEBUG=1`
shows what an error of the emulator's own came from, and every traceback whole.
"""

import math
import os

from thirty_two_lanes.core.advice.advise import advised
from thirty_two_lanes.core.device_memory import note_array_written
from thirty_two_lanes.core.errors import LaunchError
from thirty_two_lanes.emulator.codegen.set_checks import with_set_checks
from thirty_two_lanes.emulator.codegen.translate import translate
from thirty_two_lanes.emulator.declared import as_declared
from thirty_two_lanes.emulator.launch_errors import explained
from thirty_two_lanes.emulator.limits import check_launch
from thirty_two_lanes.emulator.machine.machine import Launch
from thirty_two_lanes.emulator.machine.output import raise_noted
from thirty_two_lanes.emulator.native.accelerator import accelerator_of
from thirty_two_lanes.emulator.program import Program
from thirty_two_lanes.emulator.program_cache import prepared
from thirty_two_lanes.frontend.kernels import argument_names
from thirty_two_lanes.frontend.lower.statements import kernel_ir
from thirty_two_lanes.frontend.refusals.refusals import faults_of

PATIENCE = 10  # seconds until a launch says that it still runs


def compile_kernel(kernel, types, merged=False) -> Program:
    """The program of a kernel for Numba's types of its arguments, translated once."""
    return prepared(kernel, types, merged).program


def compile_checked(kernel, types, merged=False) -> Program:
    """The same, but the program emits reads of variables that have no value."""
    return prepared(kernel, types, merged).checked


def compile_with_notes(kernel, types) -> Program:
    """The checked program, which tells its lines and variables, too."""
    compile_kernel(kernel, types)
    with faults_of(kernel.py_func):
        ours = kernel_ir(kernel.py_func, types, kernel.targetoptions, notes=True)
        return translate(with_set_checks(ours))


def bind(
    kernel, program, config, arguments, types, *, seed=None, max_iterations=None, **more
) -> Launch:
    """A program with a grid, its arguments and memory, ready to run; nothing happens.

    NumPy arguments will be changed in place. `more` are options of `machine.Launch`.
    """
    check_launch(kernel, program, config)
    names = argument_names(kernel)
    values, unlike = as_declared(names, arguments, types, program.written)
    if seed is None:
        seed = _from_environment("EMULATOR_SEED", 0)
    if max_iterations is None:
        max_iterations = _from_environment("EMULATOR_TURNS", math.inf)
    patience = _from_environment("EMULATOR_PATIENCE", PATIENCE)
    more |= {"seed": seed, "max_iterations": max_iterations, "unlike": unlike}
    more |= {"patience": patience}
    with faults_of(kernel.py_func):
        return Launch(program, config, dict(zip(names, values, strict=True)), **more)


def run(kernel, launch, listeners=None):
    """Run a launch to its end, or explain why it stopped; `listeners` by topic."""
    listeners = listeners or {}
    accelerator = accelerator_of(launch, listeners)
    with explained(kernel, launch):
        if accelerator is None:
            launch.run(listeners)
        else:
            try:
                launch.run(accelerator.listeners, accelerator)
            finally:
                accelerator.finish()
    raise_noted(launch.memory)


def judge(kernel, judges, stopped=None) -> dict:
    """What the judges found in the launch that they listened to, by name on a Run;
    `stopped` is the error that ended it.
    """
    with faults_of(kernel.py_func):
        tables = {name: judge.table() for name, judge in judges.items()}
        return advised(kernel.py_func, tables, stopped)


def run_plainly(kernel, config, arguments, types):
    """A plain launch: bytes are not followed, so what may be written counts as so."""
    program = compile_kernel(kernel, types)
    launch = bind(kernel, program, config, arguments, types, warns=True)
    run(kernel, launch)
    for name, value in zip(argument_names(kernel), arguments, strict=True):
        if name in program.written:
            note_array_written(value)


def _from_environment(name, default) -> int:
    """The number in an environment variable, or the default."""
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.isdecimal():
        raise LaunchError(f"{name} must be a whole number, 0 or more, not {text!r}")
    return int(text)

"""From a kernel, a launch configuration and arguments to a run: what can be refused, is
refused here.
"""


import numpy as np

from helpers.core.device_memory import note_array_written
from helpers.core.ir import ArrayType
from helpers.emulator import settings
from helpers.emulator.launch_errors import told
from helpers.emulator.limits import check_launch
from helpers.emulator.machine.machine import Launch
from helpers.emulator.machine.output import raise_noted
from helpers.emulator.program_cache import prepared
from helpers.frontend.kernels import argument_names, argument_types
from helpers.frontend.known_values import plain
from helpers.frontend.types import our_type


def prepare(
    kernel, config, arguments, *, types=None, seed=None, turns=None, **options
) -> Launch:
    """A kernel's launch, to be run; NumPy arguments will be changed in place.

    The other options are those of `machine.Launch`.
    """
    types = types or argument_types(kernel, arguments)
    program = prepared(kernel, types).program
    check_launch(kernel, program, config)
    grid_dim, block_dim, shared_bytes = config
    return Launch(
        program,
        grid_dim,
        block_dim,
        [_value(a, our_type(t)) for a, t in zip(arguments, types, strict=True)],
        argument_names(kernel),
        shared_bytes=shared_bytes,
        seed=settings.seed() if seed is None else seed,
        max_iterations=settings.turns() if turns is None else turns,
        **options,
    )


def run(kernel, launch):
    """Run a launch to its end, or say how it ended before."""
    with told(kernel, launch):
        launch.run()
    raise_noted(launch.memory)


def run_plainly(kernel, config, arguments, types):
    """A plain launch: nobody follows each byte, so what may be written counts as so."""
    launch = prepare(kernel, config, arguments, types=types, strict=False)
    run(kernel, launch)
    for name, value in zip(argument_names(kernel), arguments, strict=True):
        if name in launch.program.written:
            note_array_written(value)


def _value(argument, dtype):
    """An argument as the machine takes it: numbers in the type that Numba gave them."""
    number = plain(argument)
    if isinstance(dtype, tuple):
        return tuple(_value(item, d) for item, d in zip(number, dtype, strict=True))
    if isinstance(dtype, ArrayType) and dtype.dtype != argument.dtype:
        return argument.view(dtype.dtype)
    if not isinstance(dtype, np.dtype):
        return argument
    return np.asarray(number).astype(dtype)[()]  # as C does: too large wraps round

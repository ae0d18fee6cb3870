"""The verb `watch`: one block of a launch, step by step, as a Film.

The launch runs twice. The first run is of a kernel that tells its lines and variables,
and ends with the film; memory is then as it was before, and the second is `emulate`'s.
"""

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from helpers.core import ir
from helpers.core.errors import (
    EmulatorFault,
    ExplainedError,
    LaunchError,
    short_traceback,
    shown,
)
from helpers.emulator.arguments import staged_arguments
from helpers.emulator.codegen.translate import translate
from helpers.emulator.emulation import Emulation, whole
from helpers.emulator.launch import bind, compile_kernel, run
from helpers.film.findings import findings_of
from helpers.film.record import record_of
from helpers.film.recorder import Enough, Recorder
from helpers.frontend.kernels import (
    argument_names,
    argument_types,
    bracketed,
    configuration,
    missing_brackets,
    refuse_named,
    require_kernel,
)
from helpers.frontend.lower.statements import kernel_ir
from helpers.frontend.refusals.refusals import faults_of

STEPS = 2000


@short_traceback
def watch(kernel, *, block=0, variables=None, steps=STEPS, seed=None):
    """Run `watch(kernel)[blocks, threads](*args)` in the emulator and return a Film.

    The film shows one block, by its number or its `(x, y, z)`, and at most so many
    steps of it; of the variables, those that are named, or all that are numbers. Arrays
    are changed in place, as by a launch, and `film.run` is what `emulate` returns. A
    launch that stops with an error has a film up to there, and the error in it.
    """
    require_kernel(kernel, "watch")
    return Watching(kernel, block, variables, steps, whole("seed", seed, "watch"))


@dataclass(frozen=True)
class Watching:
    """A kernel that waits for its blocks and threads, and then for its arguments."""

    kernel: object
    block: object = 0
    variables: object = None
    steps: int = STEPS
    seed: int | None = None

    @short_traceback
    def __getitem__(self, config):
        return partial(self._run, configuration(*bracketed(config)))

    @short_traceback
    def __call__(self, *arguments, **named):
        raise missing_brackets(self.kernel, "watch")

    @short_traceback
    def _run(self, config, *arguments, **named):
        refuse_named(self.kernel, named)
        recorder = self._recorded(config, arguments)
        made, error = None, None
        try:
            emulation = Emulation(self.kernel, self.seed)
            made = emulation[config[0], config[1], 0, config[2]](*arguments)
        except Exception as stopped:
            error = stopped
            if not _is_the_kernels(error):
                raise
        found = findings_of(recorder, made, error, config[0])
        record = record_of(recorder, config[:2], recorder.variables, found)
        return Film(record, made, error)

    def _recorded(self, config, arguments) -> Recorder:
        """What the watched block does; no argument is changed."""
        try:
            with staged_arguments(self.kernel, arguments) as values:
                recorder = self._record(config, values)
                raise Enough  # nothing goes back to where arguments came from
        except Enough:
            return recorder

    def _record(self, config, values):
        kernel, types = self.kernel, argument_types(self.kernel, values)
        compile_kernel(kernel, types)  # refuses and warns as a launch does
        with faults_of(kernel.py_func):
            noted = kernel_ir(kernel.py_func, types, kernel.targetoptions, notes=True)
            program = translate(noted)
        recorder = Recorder(
            kernel.py_func,
            int(np.prod(config[1])),
            number_of(self.block, config[0]),
            self.steps,
            chosen_variables(self.variables, noted, kernel.py_func),
        )
        given = bind(kernel, program, config, values, types, seed=self.seed, quiet=True)
        with as_before(written_memory(program, noted, kernel, values)):
            try:
                run(kernel, given, recorder.listeners())
            except Enough:
                pass
            except Exception:
                recorder.look()
        return recorder


class as_before:
    """Within it arrays may be written; behind it they hold what they held."""

    def __init__(self, arrays):
        self.arrays = arrays

    def __enter__(self):
        self.kept = [array.copy("K") for array in self.arrays]

    def __exit__(self, *error):
        for array, before in zip(self.arrays, self.kept, strict=True):
            array[...] = before


def written_memory(program, noted, kernel, values) -> list:
    """The arrays that a launch may write: arguments, and what it captures."""
    given = dict(zip(argument_names(kernel), values, strict=True))
    arrays = [a for name in program.written for a in arrays_in(given[name])]
    arrays += (
        i.array
        for block in noted.blocks.values()
        for i in block
        if isinstance(i, ir.Captured) and i.space == "global"
    )
    return [array for array in arrays if array.flags.writeable]


def arrays_in(value):
    """An array, or those of a tuple."""
    if isinstance(value, tuple):
        for item in value:
            yield from arrays_in(item)
    elif isinstance(value, np.ndarray):
        yield value


def chosen_variables(wanted, noted, function) -> list:
    """The names of the variables to keep, in the order of the source."""
    known = {}
    for note in (i for block in noted.blocks.values() for i in block):
        if isinstance(note, ir.Note) and note.variable is not None:
            inner = note.function is not function
            name = f"{note.function.__name__}." * inner + note.variable
            known.setdefault(name, (inner, note.site.line))
    known = sorted(known, key=known.get)
    if wanted is None:
        return known
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in wanted:
        if name not in known:
            raise LaunchError(
                f"`{function.__name__}` has no variable {shown(name)} that is a "
                f"number; it has {', '.join(f'`{it}`' for it in known) or 'none'}"
            )
    return wanted


def number_of(block, grid) -> int:
    """The number of a block that is given as such, or by its place; LaunchError."""
    parts = block if isinstance(block, tuple) else (block,)
    if not all(isinstance(part, (int, np.integer)) for part in parts) or not parts:
        raise LaunchError(
            f"`block` is a block's number, or its place (x, y, z), not {shown(block)}"
        )
    sizes = grid if isinstance(block, tuple) else (int(np.prod(grid)),)
    places = [*parts, *[0] * (len(sizes) - len(parts))]
    if len(places) > len(sizes) or not all(
        0 <= p < n for p, n in zip(places, sizes, strict=False)
    ):
        count = int(np.prod(grid))
        last = tuple(int(n) - 1 for n in grid)
        raise LaunchError(
            f"there is no block {shown(block)}: the grid has {count:,}, numbered 0 to "
            f"{count - 1:,}, or (0, 0, 0) to {last}"
        )
    return sum(int(p) * int(np.prod(sizes[:axis])) for axis, p in enumerate(places))


def _is_the_kernels(error) -> bool:
    """Is it what the kernel did wrong, and not the emulator?"""
    complete = isinstance(error, ExplainedError) or hasattr(error, "is_complete")
    return complete and not isinstance(error, EmulatorFault)


@dataclass(frozen=True, eq=False)
class Film:
    """One block of a launch, step by step."""

    _record: dict = field(repr=False)
    _run: object = field(repr=False)
    error: Exception | None = None

    def record(self) -> dict:
        """All of it as plain data, which JSON can hold: docs/FILM.md."""
        return self._record

    def save(self, path):
        Path(path).write_text(json.dumps(self._record, separators=(",", ":")), "utf-8")

"""What `watch` does: one launch, and a film of one of its blocks.

The launch runs twice. The first run is of the kernel with notes, and ends with the
film; then memory is as it was before, and the second is `emulate`'s, so that the notes
change no count. Not modelled: what the watched block would do beside others; it runs
with those that the machine runs it with.
"""

from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.errors import (
    ArgumentError,
    is_of_kernel,
    shown,
)
from thirty_two_lanes.emulator.arguments import staged_arguments
from thirty_two_lanes.emulator.emulation import Emulation
from thirty_two_lanes.emulator.launch import bind, compile_with_notes, run
from thirty_two_lanes.film.film import Film
from thirty_two_lanes.film.findings import findings_of
from thirty_two_lanes.film.history import block_number
from thirty_two_lanes.film.record import record_of
from thirty_two_lanes.film.recorder import FilmComplete, FilmRecorder, name_of
from thirty_two_lanes.film.watch import STEPS
from thirty_two_lanes.frontend.argument_types import argument_types
from thirty_two_lanes.frontend.kernels import argument_names


@dataclass(frozen=True)
class Watching(Emulation):
    """An emulation that makes a film of a block first."""

    verb = "watch"

    block: object = 0
    variables: object = None
    steps: int | None = STEPS

    def _run(self, config, *arguments):
        recorder = self._recorded(config, arguments)
        made = error = None
        try:
            made = super()._run(config, *arguments)
        except Exception as stopped:
            error = stopped
            if not is_of_kernel(error):
                raise
        blocks, threads, _ = config
        seen = getattr(error, "run", made)
        found = findings_of(recorder, seen, error, blocks)
        return Film(record_of(recorder, blocks, threads, found), made, error)

    def _recorded(self, config, arguments) -> FilmRecorder:
        """What the watched block does; no argument is changed."""
        try:
            with staged_arguments(self.kernel, arguments) as values:
                recorder = self._record(config, values)
                raise FilmComplete  # no argument is to be copied back
        except FilmComplete:
            return recorder

    def _record(self, config, values):
        kernel, types = self.kernel, argument_types(self.kernel, values)
        program = compile_with_notes(kernel, types)
        given = kernel, program, config, values, types
        launch = bind(*given, seed=self.seed, quiet=True)
        recorder = FilmRecorder(
            kernel.py_func,
            launch.geometry.threads,
            block_number(self.block, config[0]),
            STEPS if self.steps is None else max(1, self.steps),
            chosen_variables(self.variables, program, kernel.py_func),
        )
        with restored(written_arrays(kernel, program, values)):
            try:
                run(kernel, launch, recorder.listeners())
            except FilmComplete:
                pass
            except Exception:  # it comes again, in words, from `emulate`
                recorder.look()
        return recorder


@contextmanager
def restored(arrays):
    """Arrays hold in the end what they held before."""
    kept = [array.copy("K") for array in arrays]
    try:
        yield
    finally:
        for array, before in zip(arrays, kept, strict=True):
            array[...] = before


def written_arrays(kernel, program, values) -> list:
    """The arrays that a launch may write: arguments, and those that it captures."""
    given = dict(zip(argument_names(kernel), values, strict=True))
    arrays = [a for name in program.written for a in arrays_in(given[name])]
    arrays += (
        i.array
        for i in instructions(program)
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


def instructions(program):
    """All instructions of a program."""
    return (i for block in program.ir.blocks for i in block)


def chosen_variables(wanted, program, function) -> list:
    """The variables to keep: those that are wanted, or all in the source's order."""
    known = {}
    for note in instructions(program):
        if isinstance(note, ir.Note) and note.variable is not None:
            place = note.function is not function, note.site.line
            name = name_of(note, function)
            known[name] = min(place, known.get(name, place))
    known = sorted(known, key=known.get)
    if wanted is None:
        return known
    several = isinstance(wanted, Iterable) and not isinstance(wanted, str)
    wanted = list(wanted) if several else [wanted]
    for name in wanted:
        if name not in known:
            raise ArgumentError(
                f"`{function.__name__}` has no variable {shown(name)} that is a "
                f"number; it has {', '.join(f'`{it}`' for it in known) or 'none'}"
            )
    return wanted

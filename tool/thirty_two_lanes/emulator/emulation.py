"""One launch with all judges, and the Run that reports them."""

import json
from dataclasses import dataclass, field, make_dataclass
from functools import cached_property, partial
from pathlib import Path

from thirty_two_lanes.core.advice.strides import Strides
from thirty_two_lanes.core.errors import (
    is_of_kernel,
)
from thirty_two_lanes.core.events import Warps
from thirty_two_lanes.core.source import source_of
from thirty_two_lanes.emulator.arguments import staged_arguments
from thirty_two_lanes.emulator.data_path import DataPath
from thirty_two_lanes.emulator.judges import JUDGES, new_judges
from thirty_two_lanes.emulator.judges.judge import listeners_of
from thirty_two_lanes.emulator.launch import bind, compile_checked, judge, run
from thirty_two_lanes.emulator.report.as_dict import as_dict
from thirty_two_lanes.emulator.report.assertions import RunAssertions
from thirty_two_lanes.emulator.report.page import as_html, lessons_in
from thirty_two_lanes.emulator.report.text import as_text, found_before
from thirty_two_lanes.frontend.argument_types import argument_types
from thirty_two_lanes.frontend.kernels import Verb

OfJudges = make_dataclass(
    "OfJudges",
    [(it.name, object, field(kw_only=True, repr=False)) for it in JUDGES],
    frozen=True,
    eq=False,
)


@dataclass(frozen=True, eq=False)
class Run(OfJudges, RunAssertions):
    """What one emulated launch did.

    `coalescing` counts global memory, `bank_conflicts` shared memory, `local_memory`
    local arrays as if they spill, `divergence` active lanes, `operations` arithmetic:
    sums, and the same by source line in `by_line`. `reuse` has each argument's traffic
    by its name; `balance` the instructions and stores of the busiest block and warp;
    `waits` the barriers that a block, and the grid, waited at, and fences.
    `barriers` are those that threads missed, `lanes` those that a shuffle
    or a vote must not touch, `unset` the variables that are read and have no value;
    these, `uninitialised`, `warnings` and `races` are sequences of what was found.
    `data_path` counts what the data path of L1 and shared memory passes, where the
    launch was given the `assembly`. The `assert_…` methods return the run, or fail with
    a sentence.

    Two runs are equal if they say the same: the kernel's name, the launch, and every
    count and finding, which is all that `to_dict` gives. A run can be pickled, and
    loaded wherever the tool is installed; it then has the kernel's source, and None
    for its `function`.
    """

    kernel: str
    blocks: int
    threads_per_block: int
    function: object = field(default=None, repr=False)
    data_path: object = field(default=None, repr=False)

    @cached_property
    def source(self):
        """The kernel's lines; None where they are not available."""
        return source_of(self.function)

    @cached_property
    def strides(self):
        """What the source says of the lines that ask for memory."""
        sites = *self.coalescing.by_line, *self.bank_conflicts.by_line
        return Strides(self.function, sites)

    def to_dict(self):
        """All of it as plain data, which JSON can hold."""
        return as_dict(self)

    def __eq__(self, other):
        return self._said == other._said if isinstance(other, Run) else NotImplemented

    def __hash__(self):
        return hash(self._said)

    @property
    def _said(self) -> str:
        """What `to_dict` gives as a text, in which NaN is NaN."""
        return json.dumps(self.to_dict(), sort_keys=True)

    def __getstate__(self):
        kept = {"source": self.source, "strides": self.strides}
        return {**vars(self), **kept, "function": None}

    def __repr__(self):
        return as_text(self)

    def _repr_html_(self):
        return as_html(self, lessons_in(Path.cwd()))  # links to notebooks beside ours


@dataclass(frozen=True)
class Emulation(Verb):
    """A kernel that waits for its blocks and threads, and then for its arguments."""

    verb = "emulate"

    kernel: object
    seed: int | None = None
    turns: int | None = None
    begin: object = None  # called with the arguments' types, before anything runs
    strict: bool = False
    merged: bool = False
    assembly: object = None

    def _run(self, config, *arguments):
        judges = new_judges(self.strict)
        with staged_arguments(self.kernel, arguments) as values:
            types = argument_types(self.kernel, values)
            if self.begin:
                self.begin(types)
            program = compile_checked(self.kernel, types, self.merged)
            bound = partial(
                *(bind, self.kernel, program, config, values, types),
                seed=self.seed,
                max_iterations=self.turns,
            )
            launch = bound(restorable=True)
            path = self.assembly and DataPath(self.kernel, program, self.assembly)
            error = self._look(launch, [*judges.values(), *filter(None, [path])])
            again = judges["races"].second_look()
            if again:
                launch.memory.restore()
                self._look(bound(quiet=True), [again])
            launch.memory.release()
            made = self._made(launch, judges, path, error)
            if error is not None:
                raise with_what_was_found(error, made)
        return made

    def _look(self, launch, judges):
        """Run it with judges; the error that stopped the kernel, or None."""
        listeners = listeners_of(judges)
        try:
            run(self.kernel, launch, listeners)
        except Exception as error:
            if not is_of_kernel(error):
                raise
            for listener in listeners.get("end", ()):
                listener(Warps(0, 0, launch.geometry.blocks))
            return error

    def _made(self, launch, judges, path, error) -> Run:
        return Run(
            launch.program.name,
            launch.geometry.blocks,
            launch.geometry.threads,
            **judge(self.kernel, judges, error),
            function=self.kernel.py_func,
            data_path=path and path.table(),
        )


def with_what_was_found(error, run):
    """An error that stopped a launch, with what its judges had found before that."""
    error.run = run
    if error.args and isinstance(error.args[0], str):
        error.args = f"{error.args[0]}{found_before(run)}", *error.args[1:]
    return error

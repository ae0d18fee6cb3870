"""The verb `emulate`: one launch with all judges, and the Run that reports them."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from helpers.core.errors import LaunchError, short_traceback
from helpers.emulator.arguments import staged_arguments
from helpers.emulator.judges import new_judges
from helpers.emulator.judges.judge import listeners_of
from helpers.emulator.judges.races.races import RaceJudge
from helpers.emulator.launch import bind, compile_kernel, judge, run
from helpers.emulator.report.as_dict import as_dict
from helpers.emulator.report.assertions import Assertions
from helpers.emulator.report.page import as_html, lessons_in
from helpers.emulator.report.text import as_text
from helpers.frontend.kernels import (
    argument_types,
    bracketed,
    configuration,
    is_kernel,
)


@dataclass(frozen=True)
class Run(Assertions):
    """What one emulated launch did.

    `coalescing` counts global memory, `bank_conflicts` shared memory, `local_memory`
    local arrays as if they spill, `divergence` active lanes, `operations` arithmetic:
    sums, and the same by source line in `by_line`. `reuse` has each argument's traffic
    by its name. `barriers` are those that threads missed, `lanes` those that a shuffle
    or a vote must not touch; these, `uninitialised`, `warnings` and `races` are
    sequences of what was found. The `assert_…` methods return the run, or fail with a
    sentence.
    """

    kernel: str
    blocks: int
    threads_per_block: int
    coalescing: object = field(repr=False)
    bank_conflicts: object = field(repr=False)
    local_memory: object = field(repr=False)
    divergence: object = field(repr=False)
    operations: object = field(repr=False)
    reuse: object = field(repr=False)
    barriers: tuple = field(repr=False)
    lanes: tuple = field(repr=False)
    uninitialised: tuple = field(repr=False)
    warnings: tuple = field(repr=False)
    races: object = field(repr=False)
    function: object = field(default=None, repr=False, compare=False)

    def to_dict(self):
        """All of it as plain data, which JSON can hold."""
        return as_dict(self)

    def __repr__(self):
        return as_text(self)

    def _repr_html_(self):
        return as_html(self, lessons_in(Path.cwd()))  # links to notebooks beside ours


def emulate(kernel, *, seed=None, turns=None):
    """Run `emulate(kernel)[blocks, threads](*args)` in the emulator and return a Run.

    Arrays are changed in place, as by a launch. The seed chooses the order in which
    warps run. A loop that comes back to where it was is an error, as it never ends; a
    long one runs, but for at most `turns` iterations of a warp. Where they are left
    out, and for a plain launch, the environment variables `EMULATOR_SEED` (0) and
    `EMULATOR_TURNS` (no limit) apply.
    """
    if not is_kernel(kernel):
        raise TypeError(
            f"`emulate` takes a kernel, a function with `@cuda.jit`, not "
            f"{_described(kernel)}"
        )
    return Emulation(kernel, seed, turns)


def _described(value):
    if value is None or hasattr(value, "is_launch"):
        return (
            "a launch: the brackets come after, `emulate(kernel)[blocks, threads](…)`"
        )
    if callable(value):
        name = getattr(value, "__name__", value)
        return f"the plain function `{name}`: put `@cuda.jit` above it"
    return f"a {type(value).__name__}"


@dataclass(frozen=True)
class Emulation:
    """A kernel that waits for its blocks and threads, and then for its arguments."""

    kernel: object
    seed: int | None = None
    turns: int | None = None

    @short_traceback
    def __getitem__(self, config):
        return partial(self._run, configuration(*bracketed(config)))

    @short_traceback
    def __call__(self, *arguments):
        raise LaunchError(
            f"the launch configuration is missing: "
            f"emulate({self.kernel.py_func.__name__})[blocks, threads](…)"
        )

    @short_traceback
    def _run(self, config, *arguments):
        judges = new_judges()
        races = RaceJudge()
        with staged_arguments(self.kernel, arguments) as values:
            types = argument_types(self.kernel, values)
            program = compile_kernel(self.kernel, types)
            bound = partial(
                *(bind, self.kernel, program, config, values, types),
                seed=self.seed,
                max_iterations=self.turns,
            )
            launch = bound(restorable=True)
            run(self.kernel, launch, listeners_of([*judges.values(), races]))
            recorder = races.recorder()
            if recorder is not None:  # a second look, at the cells that could race
                launch.memory.restore()
                run(self.kernel, bound(quiet=True), listeners_of([recorder]))
        launch.memory.release()
        return Run(
            program.name,
            launch.geometry.blocks,
            launch.geometry.threads,
            **judge(judges, races, recorder),
            function=self.kernel.py_func,
        )

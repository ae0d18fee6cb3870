"""The emulator: real `numba.cuda` kernels on a machine with no GPU, and what a profiler
would say.

kernel -> Numba's front end -> our IR -> NumPy functions -> machine -> judges
          frontend, lowering   ir.py    translate.py       machine.py  banks, coalescing
"""

from dataclasses import dataclass, field
from functools import partial

from .arguments import borrowed
from .banks import BankConflicts
from .coalescing import Coalescing
from .errors import (
    BarrierError,
    KernelError,
    LaunchError,
    NoProgressError,
    briefly,
)
from .launch import bracketed, configuration, is_kernel, run
from .report import as_html, as_text

__all__ = [
    "BarrierError",
    "KernelError",
    "LaunchError",
    "NoProgressError",
    "Run",
    "emulate",
]

JUDGES = {"coalescing": Coalescing, "bank_conflicts": BankConflicts}


@dataclass(frozen=True)
class Run:
    """What one emulated launch did.

    `coalescing` has requests, sectors and ideal_sectors of global memory;
    `bank_conflicts` has requests, wavefronts, ideal_wavefronts and conflicts of shared
    memory. Each has the same by source line in `by_line`, where a row also carries its
    kind and array.
    """

    kernel: str
    blocks: int
    threads_per_block: int
    coalescing: object = field(repr=False)
    bank_conflicts: object = field(repr=False)

    def __repr__(self):
        return as_text(self)

    def _repr_html_(self):
        return as_html(self)


def emulate(kernel, *, seed=None, turns=None):
    """Run `emulate(kernel)[blocks, threads](*args)` in the emulator and return a Run.

    Arrays are changed in place, as by a launch. The seed chooses the order in which
    warps run; a loop that goes round more than `turns` times, with nothing written
    meanwhile, is taken for endless. Where they are left out, and for a plain launch,
    the environment variables `EMULATOR_SEED` (0) and `EMULATOR_TURNS` (300000) say
    them.
    """
    if not is_kernel(kernel):
        raise TypeError(
            f"`emulate` takes a kernel, a function under `@cuda.jit`, not "
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

    @briefly
    def __getitem__(self, config):
        return partial(self._run, configuration(*bracketed(config)))

    @briefly
    def __call__(self, *arguments):
        raise LaunchError(
            f"say how many: emulate({self.kernel.py_func.__name__})[blocks, threads](…)"
        )

    @briefly
    def _run(self, config, *arguments):
        judges = {name: judge() for name, judge in JUDGES.items()}
        listeners = {}
        for judge in judges.values():
            for space in judge.spaces:
                listeners[space] = (*listeners.get(space, ()), judge.observe)
        with borrowed(self.kernel, arguments) as values:
            launch = run(self.kernel, config, values, listeners, self.seed, self.turns)
        tables = {name: judge.table() for name, judge in judges.items()}
        return Run(
            self.kernel.py_func.__name__,
            launch.geometry.blocks,
            launch.geometry.threads,
            **tables,
        )

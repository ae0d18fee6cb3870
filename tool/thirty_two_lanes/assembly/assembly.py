"""What one kernel became, and what can be asked of it."""

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from thirty_two_lanes.assembly.accesses import compiler_changes, source_accesses
from thirty_two_lanes.assembly.assertions import AssemblyAssertions
from thirty_two_lanes.assembly.comparison import Comparison
from thirty_two_lanes.assembly.compilation import Compilation, compilation_of, inferred
from thirty_two_lanes.assembly.compiler import dotted
from thirty_two_lanes.assembly.findings import findings_of
from thirty_two_lanes.assembly.page import as_html
from thirty_two_lanes.assembly.report import as_text, listing, source_lines
from thirty_two_lanes.core.device import device
from thirty_two_lanes.core.dynamic_shared import check_dynamic_shared
from thirty_two_lanes.core.errors import (
    LaunchError,
    UnsupportedError,
    shown,
)
from thirty_two_lanes.core.gc_pause import gc_paused
from thirty_two_lanes.core.hardware import GPUS, H200, gpu_named
from thirty_two_lanes.core.occupancy import Occupancy, occupancy_of
from thirty_two_lanes.core.pages.tables import table
from thirty_two_lanes.frontend.argument_types import argument_types
from thirty_two_lanes.frontend.kernels import Verb
from thirty_two_lanes.frontend.lower.statements import kernel_ir


def capability_of(target) -> tuple[int, int]:
    """The compute capability that a GPU's name, a pair of numbers or None means."""
    if target is None:
        return device.compute_capability or H200.compute_capability
    if isinstance(target, str) and (known := gpu_named(target)):
        return known.compute_capability
    if not isinstance(target, (tuple, list)):
        raise LaunchError(
            f"unknown GPU {shown(target)}: use one of {', '.join(GPUS)}, or a compute "
            "capability such as (8, 6)"
        )
    if len(target) != 2 or not all(isinstance(it, int) for it in target):
        raise LaunchError(
            "a compute capability is two whole numbers, such as (9, 0), not "
            f"{shown(target)}"
        )
    return tuple(target)


@dataclass(frozen=True)
class Assembler(Verb):
    """A kernel that waits for its blocks and threads, and then for its arguments."""

    verb = "assemble"

    kernel: object
    capability: tuple[int, int]

    def _run(self, config, *arguments):
        _, block_dim, shared = config
        check_dynamic_shared(self.kernel, shared)
        types = argument_types(self.kernel, arguments)
        threads = math.prod(block_dim)
        return assembled(self.kernel, types, threads, shared, self.capability)


def assembled(kernel, types, threads, shared, capability):
    """The Assembly of a kernel for argument types, a launch and a capability."""
    launch = kernel.py_func.__name__, capability, threads, shared
    made = compilation_of(kernel, types, capability)
    return Assembly(*launch, kernel, types, **vars(made))


@dataclass(frozen=True)
class Assembly(Compilation, AssemblyAssertions):
    """What one kernel became, for the types of its arguments and one capability.

    `instructions` are the machine's, in their order; `opcodes` counts them by name
    (`opcodes["LDS.128"]`), `kinds` by what they are for, and `by_line` by source line.
    `variables` has the type of each variable, by line. `registers` are a thread's,
    `shared_memory` and `dynamic_shared_memory` a block's bytes, `stack`, `spill_stores`
    and `spill_loads` a thread's. `findings` stand out; `accesses` says, by line, which
    loads and stores the compiler merged or left out. Where NVIDIA's compiler is
    missing, a recorded kernel has all of this, and `compilers` names the versions; any
    other kernel has its types alone, and everything else raises UnsupportedError.

    Two are equal if the launch and all that the compiler made are the same.
    """

    kernel: str
    compute_capability: tuple[int, int]
    threads_per_block: int
    dynamic_shared_memory: int
    _dispatcher: object = field(repr=False, compare=False)
    _types: tuple = field(repr=False)

    def __hash__(self):
        launch = self.threads_per_block, self.dynamic_shared_memory
        return hash((self.kernel, self.compute_capability, *launch, self.instructions))

    registers = property(lambda self: self.resources.registers)
    shared_memory = property(lambda self: self.resources.shared_memory)
    constant_memory = property(lambda self: self.resources.constant_memory)
    stack = property(lambda self: self.resources.stack)
    spill_stores = property(lambda self: self.resources.spill_stores)
    spill_loads = property(lambda self: self.resources.spill_loads)

    @property
    def function(self):
        """The Python function."""
        return self._dispatcher.py_func

    @cached_property
    def variables(self) -> dict:
        """The type of each variable, by line."""
        return inferred(self._dispatcher, self._types)

    @cached_property
    def opcodes(self) -> Counter:
        """How many instructions there are of each name."""
        return Counter(it.name for it in self._known())

    @cached_property
    def kinds(self) -> Counter:
        """How many instructions there are of each kind."""
        return Counter(it.kind for it in self._known())

    @cached_property
    def by_line(self) -> dict[int, Counter]:
        """How many instructions of each name each source line became; the routines
        that are called are at None.
        """
        lines = {}
        for made in self._known():
            lines.setdefault(made.line, Counter())[made.name] += 1
        return lines

    def _known(self):
        return self.resources and self.instructions

    @cached_property
    def occupancy(self) -> Occupancy:
        """How many warps a multiprocessor holds at a time."""
        return occupancy_of(
            self.compute_capability,
            self.threads_per_block,
            self.registers,
            self.shared_memory + self.dynamic_shared_memory,
        )

    @cached_property
    def findings(self) -> tuple:
        """What stands out, by line, with the remedy."""
        spilled = self._resources.spill_stores if self._resources else 0
        lines = source_lines(self.function)
        return findings_of(self.instructions, self.variables, spilled, lines)

    @cached_property
    def accesses(self) -> dict[int, list[str]]:
        """By line, which loads and stores the compiler merged or left out."""
        try:
            options = self._dispatcher.targetoptions
            with gc_paused():
                kernel = kernel_ir(self.function, self._types, options)
        except UnsupportedError:  # the emulator has no program of it
            return {}
        accesses = source_accesses(kernel)
        return compiler_changes(accesses, self._known(), self.spill_stores)

    def on(self, target):
        """The same kernel and launch on another GPU, or for another capability."""
        return assembled(
            self._dispatcher,
            self._types,
            self.threads_per_block,
            self.dynamic_shared_memory,
            capability_of(target),
        )

    def on_each(self, *targets):
        """A table of what it takes, and of the warps it keeps, on each of some GPUs."""
        rows = []
        for target in targets or GPUS:
            made = self.on(target)
            because = " and ".join(made.occupancy.limited_by) or "nothing"
            rows.append(
                [
                    target if isinstance(target, str) else dotted(target),
                    made.registers,
                    made.spill_stores,
                    len(made.instructions),
                    f"{made.occupancy.share:.0%}",
                    because,
                ]
            )
        return table(
            [
                "on",
                "registers",
                "spilled bytes",
                "instructions",
                "occupancy",
                "limited by",
            ],
            rows,
        )

    def beside(self, other):
        """This kernel and another, or another capability, side by side."""
        return Comparison(self, other)

    @property
    def listing(self) -> str:
        """Each source line with all its machine instructions."""
        return listing(self)

    def __repr__(self):
        return as_text(self)

    def _repr_html_(self):
        return as_html(self)

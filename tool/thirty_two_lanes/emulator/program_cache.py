"""A kernel's program for some argument types, translated once, and facts about it."""

import threading
import weakref
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.errors import warn
from thirty_two_lanes.core.gc_pause import gc_paused
from thirty_two_lanes.core.source import place
from thirty_two_lanes.emulator.codegen.set_checks import (
    may_be_unset,
    with_set_checks,
    without_unset,
)
from thirty_two_lanes.emulator.codegen.translate import translate
from thirty_two_lanes.emulator.limits import check_local, check_static_shared
from thirty_two_lanes.emulator.program import Program
from thirty_two_lanes.frontend.inference import check_options
from thirty_two_lanes.frontend.lower.statements import kernel_ir
from thirty_two_lanes.frontend.refusals.idle_lines import idle_lines
from thirty_two_lanes.frontend.refusals.refusals import faults_of

_prepared = weakref.WeakKeyDictionary()  # kernel: {(argument types, merged): Prepared}


_one_at_a_time = threading.RLock()  # Numba compiles for one thread at a time


@dataclass(frozen=True)
class Prepared:
    """A program, and what the host side needs of it."""

    kernel: ir.Kernel
    program: Program
    numbers: dict  # the globals that the kernel uses, as they were
    constant_bytes: int
    merged: bool

    @cached_property
    def checked(self) -> Program:
        """The program that emits reads of what has no value; mostly the same one."""
        if not may_be_unset(self.kernel):
            return self.program
        return translate(with_set_checks(self.kernel), self.merged)


def prepared(kernel, types, merged=False) -> Prepared:
    """The program of a kernel for some argument types, translated once."""
    with _one_at_a_time:
        known, key = _prepared.setdefault(kernel, {}), (types, merged)
        if key not in known:
            with gc_paused():
                known[key] = _prepare(kernel, types, merged)
        found = known[key]
    _warn_of_changes(found.program.name, found.numbers, global_numbers(kernel))
    return found


def forget(kernel):
    """Let a kernel be translated again, with the current values of globals."""
    _prepared.pop(kernel, None)


def _prepare(kernel, types, merged):
    check_options(kernel.py_func, kernel.targetoptions)
    with faults_of(kernel.py_func):
        ours = kernel_ir(kernel.py_func, types, kernel.targetoptions)
        program = translate(without_unset(ours), merged)
    check_static_shared(program)
    check_local(program)
    _warn_of_idle_lines(kernel.py_func)
    numbers = global_numbers(kernel)
    return Prepared(ours, program, numbers, constant_bytes(ours), merged)


def _warn_of_idle_lines(function):
    """Warn of lines that do nothing and look as if they did."""
    for where, line, sentence in idle_lines(function):
        warn(f"{sentence} ({place(where, line)})")


def constant_bytes(kernel: ir.Kernel) -> int:
    """The bytes of the global arrays that a kernel uses."""
    arrays = {
        id(i.array): i.array.nbytes
        for block in kernel.blocks.values()
        for i in block
        if isinstance(i, ir.Captured) and i.space == "const"
    }
    return sum(arrays.values())


def global_numbers(kernel) -> dict:
    """The global numbers that a kernel uses, as they are now."""
    function = kernel.py_func
    names = (
        name for name in function.__code__.co_names if name in function.__globals__
    )
    values = {name: function.__globals__[name] for name in names}
    return {n: v for n, v in values.items() if isinstance(v, (int, float, np.generic))}


def _warn_of_changes(kernel, before, now):
    """Warn of a global that changed since a kernel was compiled with it."""
    for name in before.keys() & now.keys():
        if before[name] != now[name] and before[name] == before[name]:  # NaN is not
            warn(
                f"`{kernel}` was compiled with {name} = {before[name]} and keeps it, "
                f"although {name} is {now[name]} now: run the cell that defines "
                f"`{kernel}` again"
            )

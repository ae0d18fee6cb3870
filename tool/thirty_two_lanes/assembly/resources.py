"""What a kernel takes of a multiprocessor: read from its machine code, and spills from
what the linker says.
"""

import re
from dataclasses import dataclass

from thirty_two_lanes.assembly.elf import REGISTERS, STACK, Elf

SPILLS = r"(\d+) bytes spill stores, (\d+) bytes spill loads"
RESERVED = ".nv.shared.reserved.0"  # where it is, a block's bytes count this in:
RESERVED_BYTES = 1024


@dataclass(frozen=True)
class Resources:
    """What one thread, or one block, of a kernel takes."""

    registers: int  # a thread, of 4 bytes
    stack: int  # bytes of local memory a thread
    spill_stores: int | None  # bytes that a thread stores, as it has too few registers
    spill_loads: int | None  # None under a profiler, where the linker is silent
    shared_memory: int  # bytes a block, declared in the kernel
    constant_memory: int  # bytes, without the arguments

    @classmethod
    def of(cls, code):
        """The resources of the kernel in a `MachineCode`."""
        elf = Elf(code.cubin)
        known = elf.attributes(code.entry)
        shared = elf.size(f".nv.shared.{code.entry}")
        spills = re.search(SPILLS, own_part(code.log, code.entry))
        stores, loads = map(int, spills.groups()) if spills else (None, None)
        return cls(
            known[REGISTERS],
            known.get(STACK, 0),
            stores,
            loads,
            shared - RESERVED_BYTES * (shared > 0 and elf.has(RESERVED)),
            elf.size(".nv.constant3"),
        )


def own_part(log, entry) -> str:
    """What a linker's log says of one kernel."""
    part = log.replace("\0", "").partition(f"entry function '{entry}'")[2]
    return part.partition("Compile time")[0]

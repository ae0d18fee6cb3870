"""What a kernel takes of a multiprocessor: read from the linker's own report, and
constant memory from the machine code's table of sections, which is ELF's.
"""

import re
import struct
from dataclasses import dataclass

REPORTED = {
    "registers": r"Used (\d+) registers",
    "barriers": r"used (\d+) barriers",
    "shared_memory": r"(\d+) bytes smem",
    "stack": r"(\d+) bytes stack frame",
    "spill_stores": r"(\d+) bytes spill stores",
    "spill_loads": r"(\d+) bytes spill loads",
}


@dataclass(frozen=True)
class Resources:
    """What one thread, or one block, of a kernel takes."""

    registers: int  # a thread, of 4 bytes
    barriers: int
    shared_memory: int  # bytes a block, declared in the kernel
    stack: int  # bytes of local memory a thread
    spill_stores: int  # bytes that a thread stores for want of registers
    spill_loads: int
    constant_memory: int  # bytes, beside the arguments

    @classmethod
    def reported(cls, log, entry, cubin):
        """The resources of a kernel, from what nvJitLink says when it is verbose."""
        text = log.replace("\0", "")
        own = text[text.index(f"Compiling entry function '{entry}'") :]
        own = own[: own.index("Compile time")]
        found = {name: re.search(rule, own) for name, rule in REPORTED.items()}
        numbers = {name: int(it[1]) if it else 0 for name, it in found.items()}
        whole = re.search(rf"'{re.escape(entry)}':\s*info *: .*?(\d+) stack", text)
        if whole:  # with the code that was linked beside it
            numbers["stack"] = int(whole[1])
        constants = section_sizes(cubin).get(".nv.constant3", 0)
        return cls(**numbers, constant_memory=constants)


def section_sizes(cubin) -> dict[str, int]:
    """The bytes of each section of an ELF file of 64 bits."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, number, names_at = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [
        struct.unpack_from("<IIQQQQ", cubin, table + size * n) for n in range(number)
    ]
    names = cubin[headers[names_at][4] :]
    return {
        names[name : names.index(b"\0", name)].decode(): length
        for name, _, _, _, _, length in headers
    }

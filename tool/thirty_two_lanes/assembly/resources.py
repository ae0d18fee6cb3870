"""What a kernel takes of a multiprocessor: read from its machine code, and spills from
what the linker says.

Machine code is an ELF file, with NVIDIA's attributes in the section `.nv.info`; their
numbers are those that `cuobjdump --dump-elf` prints by name (EIATTR_REGCOUNT,
EIATTR_MIN_STACK_SIZE).
"""

import io
import re
import struct
from dataclasses import dataclass

REGISTERS, STACK = 0x2F, 0x12
LONG = 0x04  # an attribute's format: as many bytes as its header says
SPILLS = r"(\d+) bytes spill stores, (\d+) bytes spill loads"
RESERVED_BYTES = 1024  # of a block's shared memory: machine code counts them in
RESERVED_FROM = 9, 0  # this compute capability on


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
        from elftools.elf.elffile import ELFFile  # comes with the compiler

        file = ELFFile(io.BytesIO(code.cubin))
        sections = {section.name: section for section in file.iter_sections()}
        sizes = {name: section["sh_size"] for name, section in sections.items()}
        symbols = enumerate(sections[".symtab"].iter_symbols())
        entry = next(n for n, symbol in symbols if symbol.name == code.entry)
        known = attributes(sections[".nv.info"].data(), entry)
        shared = sizes.get(f".nv.shared.{code.entry}", 0)
        reserved = RESERVED_BYTES * (shared > 0 and code.capability >= RESERVED_FROM)
        begin, log = f"entry function '{code.entry}'", code.log.replace("\0", "")
        own_part = log.partition(begin)[2].partition("Compile time")[0]
        spills = re.search(SPILLS, own_part)
        stores, loads = map(int, spills.groups()) if spills else (None, None)
        return cls(
            registers=known[REGISTERS],
            stack=known.get(STACK, 0),
            spill_stores=stores,
            spill_loads=loads,
            shared_memory=shared - reserved,
            constant_memory=sizes.get(".nv.constant3", 0),
        )


def attributes(data, entry) -> dict[int, int]:
    """The attributes of a kernel that are one number each."""
    found, at = {}, 0
    while at < len(data):
        kind, attribute, length = struct.unpack_from("<BBH", data, at)
        at += 4
        if kind == LONG:
            if length == 8:
                symbol, value = struct.unpack_from("<II", data, at)
                found |= {attribute: value} if symbol == entry else {}
            at += length
    return found

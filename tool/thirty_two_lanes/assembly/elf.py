"""What a kernel's machine code says of itself: an ELF file, whose sections and symbols
pyelftools reads, with NVIDIA's attributes in the section `.nv.info`.

The attributes' numbers are those that `cuobjdump --dump-elf` prints by name
(EIATTR_REGCOUNT, EIATTR_MIN_STACK_SIZE).
"""

import io
import struct

REGISTERS, STACK = 0x2F, 0x12
LONG = 0x04  # an attribute's format: as many bytes as its header says


class Elf:
    """The sections of a cubin, and the attributes of its kernels."""

    def __init__(self, cubin):
        from elftools.elf.elffile import ELFFile  # comes with the compiler

        self.file = ELFFile(io.BytesIO(cubin))

    def size(self, section) -> int:
        """The bytes of a section, 0 if there is none of this name."""
        found = self.file.get_section_by_name(section)
        return found["sh_size"] if found else 0

    def has(self, section) -> bool:
        """Is there a section of this name?"""
        return self.file.get_section_by_name(section) is not None

    def attributes(self, name) -> dict[int, int]:
        """The attributes of a kernel that are one number each."""
        number = self._number_of(name)
        return {
            attribute: value
            for attribute, symbol, value in self._attributes()
            if symbol == number
        }

    def _number_of(self, name) -> int:
        """A symbol's number in the symbol table."""
        symbols = self.file.get_section_by_name(".symtab").iter_symbols()
        return next(n for n, symbol in enumerate(symbols) if symbol.name == name)

    def _attributes(self):
        """Each attribute of a symbol: its number, the symbol's, and its value."""
        info = self.file.get_section_by_name(".nv.info")
        data, at = info.data() if info else b"", 0
        while at < len(data):
            kind, attribute, length = struct.unpack_from("<BBH", data, at)
            at += 4
            if kind == LONG:
                if length == 8:
                    yield attribute, *struct.unpack_from("<II", data, at)
                at += length

"""What a kernel's machine code says of itself: an ELF file of 64 bits, with NVIDIA's
attributes in the section `.nv.info`.

The attributes' numbers are those that `cuobjdump --dump-elf` prints by name
(EIATTR_REGCOUNT, EIATTR_MIN_STACK_SIZE).
"""

import struct

REGISTERS, STACK = 0x2F, 0x12
LONG = 0x04  # an attribute's format: as many bytes as its header says
SYMBOL = 24  # bytes of an entry of the symbol table


class Elf:
    """The sections of a cubin, and the attributes of its kernels."""

    def __init__(self, cubin):
        self.bytes = cubin
        (table,) = struct.unpack_from("<Q", cubin, 0x28)
        size, number, names_at = struct.unpack_from("<HHH", cubin, 0x3A)
        headers = [
            struct.unpack_from("<IIQQQQ", cubin, table + size * n)
            for n in range(number)
        ]
        names = headers[names_at][4]
        self.places = {  # name: first byte, number of bytes
            self.text(names + header[0]): header[4:6] for header in headers
        }

    def text(self, at) -> str:
        """The text that begins at a byte."""
        return self.bytes[at : self.bytes.index(b"\0", at)].decode()

    def size(self, section) -> int:
        """The bytes of a section, 0 if there is none of this name."""
        return self.places.get(section, (0, 0))[1]

    def number_of(self, name) -> int:
        """A symbol's number in the symbol table."""
        first, size = self.places[".symtab"]
        texts = self.places[".strtab"][0]
        for n in range(size // SYMBOL):
            (at,) = struct.unpack_from("<I", self.bytes, first + SYMBOL * n)
            if self.text(texts + at) == name:
                return n
        raise KeyError(name)

    def attributes(self, name) -> dict[int, int]:
        """The attributes of a kernel that are one number each."""
        number, found = self.number_of(name), {}
        at, size = self.places.get(".nv.info", (0, 0))
        end = at + size
        while at < end:
            kind, attribute, length = struct.unpack_from("<BBH", self.bytes, at)
            at += 4
            if kind == LONG:
                if length == 8:
                    symbol, value = struct.unpack_from("<II", self.bytes, at)
                    if symbol == number:
                        found[attribute] = value
                at += length
        return found

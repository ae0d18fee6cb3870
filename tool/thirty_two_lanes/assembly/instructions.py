"""A GPU's machine instructions: read from nvdisasm's listing, and named for people.

The opcodes are those of NVIDIA's "CUDA Binary Utilities", section "Instruction Set
Reference".
"""

import re
from dataclasses import dataclass

MEMORY = {  # opcode: (kind, space)
    "LDG": ("global loads", "global"),
    "STG": ("global stores", "global"),
    "LDS": ("shared loads", "shared"),
    "STS": ("shared stores", "shared"),
    "LDL": ("local loads", "local"),
    "STL": ("local stores", "local"),
    "LD": ("generic loads", "generic"),
    "ST": ("generic stores", "generic"),
    "LDC": ("constant loads", "const"),
    "LDGSTS": ("global loads", "global"),
    "LDSM": ("shared loads", "shared"),
}
KINDS = {
    "float32": "FADD FADD2 FMUL FMUL2 FFMA FFMA2 FMNMX FMNMX3 FSEL FSET FSETP FCHK "
    "FADD32I FMUL32I FFMA32I",
    "float64": "DADD DMUL DFMA DSETP DMNMX",
    "float16": "HADD2 HMUL2 HFMA2 HSET2 HSETP2 HMNMX2",
    "special functions": "MUFU",
    "matrix units": "HMMA IMMA DMMA BMMA HGMMA QMMA",
    "conversions": "F2F F2I I2F I2FP F2FP F2IP FRND I2I I2IP F2FP",
    "atomics": "ATOM ATOMG ATOMS RED REDG REDS CCTL",
    "barriers": "BAR MEMBAR ERRBAR FENCE DEPBAR LDGDEPBAR WARPSYNC",
    "shuffles": "SHFL",
    "votes": "VOTE MATCH REDUX ELECT",
    "calls": "CALL",
    "control": "BRA RET EXIT BSSY BSYNC BREAK BRX BRXU JMP JMX BMOV BPT KILL NANOSLEEP "
    "YIELD WARPSYNC RPCMOV LEPC ACQBULK PREEXIT",
    "moves": "MOV MOV32I S2R CS2R R2UR S2UR R2P P2R PRMT PLOP3 PSETP VOTEU SEL UP2UR "
    "UR2UP",
    "integers and addresses": "IADD IADD3 IADD32I IMAD IMUL IMNMX IMNMX3 IABS IDP "
    "ISCADD ISETP LEA LOP LOP3 LOP32I SHF SHL SHR POPC FLO BREV BMSK SGXT VIADD "
    "VIADDMNMX VIMNMX VIMNMX3 VABSDIFF VHMNMX",
}
KIND_OF = {
    opcode: kind for kind, opcodes in KINDS.items() for opcode in opcodes.split()
}
KIND_OF |= {opcode: kind for opcode, (kind, _) in MEMORY.items()}
WIDTH = re.compile(r"\.(?:[US](8|16)|(64|128))\b")  # of an access, in bits

INSTRUCTION = re.compile(
    r"^\s*/\*(?P<offset>[0-9a-f]{4,})\*/\s+(?:\{\s*)?"
    r"(?:@(?P<predicate>!?U?P\w+)\s+)?(?P<opcode>[A-Z][\w.]*)\s*(?P<operands>[^;]*?)\s*;"
)
ROUTINE = re.compile(r"^(?P<name>\$[^\s:]+):")
LINE = re.compile(r'//## File "(?P<file>.*)", line (?P<line>\d+)(?P<inlined> inlined)?')


@dataclass(frozen=True)
class Instruction:
    """One machine instruction, and its source line."""

    offset: int  # bytes from the kernel's first
    opcode: str  # whole, such as `LDS.128`
    operands: str
    line: int | None  # None in a routine
    predicate: str = ""  # it acts only in lanes where this holds
    routine: str = ""  # that it is part of, one that lines call

    @property
    def base(self) -> str:
        """The opcode without its variants; `U` for a whole warp's is left out."""
        first = self.opcode.split(".")[0]
        if first in ("ULDC", "LDCU"):
            return "LDC"
        plain = first.removeprefix("U")
        return plain if first not in KIND_OF and plain in KIND_OF else first

    @property
    def kind(self) -> str:
        """What it is for, one of KINDS or of MEMORY; "other" for an unknown one."""
        if self.is_move:
            return "moves"
        return KIND_OF.get(self.base, "other")

    @property
    def is_move(self) -> bool:
        """Is it arithmetic that only copies a value?"""
        if self.opcode.startswith("HFMA2") and "-RZ, RZ" in self.operands:
            return True
        return self.opcode.startswith(("IMAD.MOV", "IMAD.U32"))

    @property
    def name(self) -> str:
        """The opcode, with its width where memory is touched: `LDS.128`, `FFMA`."""
        if self.base not in MEMORY:
            return self.base
        found = WIDTH.search(self.opcode)
        return self.base + (found.group() if found else "")

    @property
    def space(self) -> str | None:
        """The memory that it loads from or stores to."""
        return MEMORY[self.base][1] if self.base in MEMORY else None

    @property
    def width(self) -> int:
        """The bytes that a thread loads or stores with it; 0 for all others."""
        if self.base not in MEMORY:
            return 0
        found = WIDTH.search(self.opcode)
        return int(found[1] or found[2]) // 8 if found else 4

    def __str__(self):
        guard = f"@{self.predicate} " if self.predicate else ""
        return f"{guard}{self.opcode} {self.operands}".strip()


def instructions_of(listing, entry, first, last) -> tuple[Instruction, ...]:
    """The instructions of a kernel, in their order, without the padding behind it.

    `first` and `last` are the kernel's own lines: what was inlined from elsewhere
    belongs to the line that called it.
    """
    found, line, chain, routine = [], None, False, ""
    for text in section(listing, entry):
        if label := ROUTINE.match(text):
            line, routine = None, label["name"]
        note = LINE.search(text)
        if note:
            number = int(note["line"])
            if first <= number <= last or not chain:
                line = number if first <= number <= last else line
            chain = bool(note["inlined"])
            continue
        match = INSTRUCTION.match(text)
        if match and match["opcode"] != "NOP":
            found.append(
                Instruction(
                    int(match["offset"], 16),
                    match["opcode"],
                    " ".join(match["operands"].split()),
                    line,
                    match["predicate"] or "",
                    routine,
                )
            )
    return tuple(found)


def section(listing, entry):
    """The lines of a listing that are a kernel's own."""
    inside = False
    for text in listing.splitlines():
        if text.lstrip().startswith(".section\t"):
            inside = f".text.{entry}," in text
        elif inside:
            yield text

"""What the data path of L1 and shared memory passes, by source line: LSU wavefronts.

Nsight Compute's l1tex__data_pipe_lsu_wavefronts, whose parts on an H200 are these
(docs/AGREEMENT.md). A request to shared or global memory passes as the banks serve it
(`core/wavefronts.py`). One each are a request of an instruction with a predicate, if no
lane of the warp takes part; 4 bytes of a shuffle, if what it brings is needed; and a
register that tells a warp's threads apart (S2R of SR_TID, SR_LANEID). A barrier of a
block is two. So the machine code is needed: it says which accesses have predicates. A
warp issues those wherever it comes to the condition; where only some copies of a line
have one, that share counts.
Not modelled: what the compiler merges; that loads of more than four lines, which miss,
come in more parts, and that many at once share one; local memory; fences.
"""

import math
import re
from collections import Counter

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.errors import LaunchError
from thirty_two_lanes.core.hardware import WARP_SIZE, WORD_BYTES
from thirty_two_lanes.core.sectors import accesses_of
from thirty_two_lanes.core.wavefronts import request_wavefronts
from thirty_two_lanes.emulator.codegen.conditions import deciding
from thirty_two_lanes.emulator.codegen.needed import needed_values
from thirty_two_lanes.emulator.judges.divergence import Divergence
from thirty_two_lanes.emulator.judges.judge import Counts, Judge
from thirty_two_lanes.emulator.program import BARRIER
from thirty_two_lanes.language.warp_intrinsics import SHUFFLES

PARTS = "requests", "without_lane", "shuffles", "barriers", "registers"
OF_BARRIER = 2
OF_THREADS = re.compile(r"SR_(TID|LANEID|(LT|LE|EQ|GE|GT)MASK)")
ALWAYS = "PT", "!PT", "UPT", "!UPT"  # predicates that are no condition


class DataPath(Judge):
    """The LSU wavefronts of a launch, by the kernel's lines; `code` is what `assemble`
    gives of it.
    """

    spaces = ("shared", "global")
    columns = ("wavefronts",)

    def __init__(self, kernel, program, code):
        super().__init__()
        if getattr(code, "function", None) is not kernel.py_func:
            raise LaunchError(
                "`assembly` is what `assemble` gives of the same kernel and launch: "
                f"`assemble({kernel.py_func.__name__})[blocks, threads](...)`"
            )
        _ = code.resources  # or the error that says what is missing
        self.program, self.code, self.steps = program, code.instructions, Divergence()

    def listeners(self) -> dict:
        """Its listeners, by topic."""
        steps = {"launch": self.steps.start, "steps": self.steps.steps}
        return super().listeners() | steps

    def count(self, addresses, active, access):
        """The wavefronts of requests."""
        size, parts = access.dtype.itemsize, 1
        if access.space == "global":
            size, parts = accesses_of(access.dtype)
        given = active, size, access.reference.served_as
        each = (
            request_wavefronts(addresses + part * size, *given)[0]
            for part in range(parts)
        )
        return sum(each)[None]

    def table(self) -> Counts:
        """The sum of `wavefronts`, its parts, and `.by_line`."""
        rows = {}
        for part, lines in zip(PARTS, self._parts(), strict=True):
            for line, wavefronts in lines.items():
                row = rows.setdefault(line, dict.fromkeys(PARTS, 0))
                row[part] = round(wavefronts)
        sums = {part: sum(row[part] for row in rows.values()) for part in PARTS}
        table = _row(sums)
        table.by_line = {line: _row(rows[line]) for line in sorted(rows)}
        return table

    def _parts(self):
        """For each part, its wavefronts by line."""
        warps, threads = self.steps.warps, self.steps.threads
        yield self._requests()
        yield self._without_lane(self._with_predicate(), warps)
        shuffles, barriers, registers = Counter(), Counter(), Counter()
        needed = needed_values(self.program.ir.blocks)
        for block, code, times in zip(
            self.program.ir.blocks, self.program.code, warps, strict=True
        ):
            for call in block:
                shuffle = isinstance(call, ir.Call) and call.function in SHUFFLES
                if shuffle and call.target in needed:
                    words = self.program.ir.types[call.target].itemsize / WORD_BYTES
                    shuffles[_line(call.site)] += math.ceil(words) * times
            if code.kind == BARRIER and code.ending.operator is None:
                each = -(-threads // WARP_SIZE)
                barriers[_line(code.ending.site)] += OF_BARRIER * times / each
        for code in self.code:
            if code.base == "S2R" and OF_THREADS.search(code.operands) and code.line:
                registers[code.line] += warps[0]
        yield from (shuffles, barriers, registers)

    def _requests(self):
        self._add_recurring()
        found = Counter()
        for reference, total in self.totals.items():
            found[_line(reference.site)] += int(total[0])
        return found

    def _with_predicate(self):
        """By line and kind, the share of the machine's accesses that have one."""
        seen = {}
        for access in self.code:
            if access.space != "const":
                key = access.line, access.kind.split()[-1].removesuffix("s")
                seen.setdefault(key, []).append(access.predicate not in ("", *ALWAYS))
        return {key: np.mean(each) for key, each in seen.items()}

    def _without_lane(self, share, warps):
        """The requests that warps issue at a condition which no lane passes."""
        found = Counter()
        for pc, condition in enumerate(deciding(self.program.code)):
            idle = 0 if condition is None else max(0, warps[condition] - warps[pc])
            for access in self.program.ir.blocks[pc] if idle else ():
                if isinstance(access, (ir.Load, ir.Store, ir.Atomic)):
                    reference = access.reference
                    line = _line(reference.site)
                    found[line] += idle * share.get((line, reference.kind), 0)
        return found


def _row(parts) -> Counts:
    return Counts(wavefronts=sum(parts.values()), **parts)


def _line(site) -> int:
    """The kernel's own line: where it calls the function of a site."""
    return site.called_from or site.line

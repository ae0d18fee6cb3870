"""What an exercise may require of an assembly: it returns it, or fails with the
lines, the figure and the remedy.
"""

from collections import Counter

from thirty_two_lanes.assembly.instructions import KINDS, MEMORY
from thirty_two_lanes.assembly.report import source_lines
from thirty_two_lanes.core.errors import ArgumentError, with_doors

FIGURES = {  # a limit's name: what it limits
    "instructions": "instructions",
    "registers": "registers a thread",
    "stack": "bytes of local memory a thread",
    "spill_stores": "bytes spilled a thread",
}
BY_NAME = {
    kind.replace(" ", "_"): kind
    for kind in [*KINDS, *(kind for kind, _ in MEMORY.values())]
}


@with_doors
class AssemblyAssertions:
    """The assertions of an Assembly."""

    def assert_at_most(self, **limits):
        """No figure is above its limit: `instructions`, `registers`, `stack`,
        `spill_stores`, or the instructions of a kind, such as `float64` or
        `global_loads`.
        """
        for name, limit in limits.items():
            kind, places = BY_NAME.get(name), ""
            if name in FIGURES:
                figures = vars(self.resources) | {"instructions": self.opcodes.total()}
                number, noun = figures[name], FIGURES[name]
            elif kind:
                number = self.kinds[kind]
                noun = kind.removesuffix("s") if number == 1 else kind
                noun = noun if kind.endswith("s") else f"instructions in {kind}"
            else:
                known = ", ".join([*FIGURES, *sorted(BY_NAME)])
                raise ArgumentError(f"unknown limit `{name}`: use one of {known}")
            if number > limit:
                if name == "instructions" or kind:
                    places = _places(self, kind)
                raise AssertionError(
                    f"`{self.kernel}` has {number:,} {noun}{places}; the limit is "
                    f"{limit:,}{_advice(self)}"
                )
        return self


def _places(assembly, kind):
    """The line with most instructions, of a kind or of all."""
    found = Counter(
        instruction.line
        for instruction in assembly.instructions
        if kind in (None, instruction.kind) and instruction.line
    )
    if not found:
        return ""
    line, number = found.most_common(1)[0]
    text = source_lines(assembly.function).get(line, "").strip()
    return f", {number:,} of them on line {line}, `{text}`"


def _advice(assembly):
    """What stands out most."""
    found = [it for it in assembly.findings if it.advice != it.what]
    worst = min(found, key=lambda it: it.level, default=None)
    return f". Line {worst.site.line}: {worst.advice}" if worst else ""

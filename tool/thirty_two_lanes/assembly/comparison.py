"""Two assemblies side by side: what each takes, and what each line became."""

from dataclasses import dataclass

from thirty_two_lanes.assembly.compiler import dotted
from thirty_two_lanes.assembly.report import source_lines
from thirty_two_lanes.core.pages.tables import table

LAST = 10**9  # routines come after all lines
TAKEN = (  # a row's name, and its value for an assembly
    ("instructions", lambda it: len(it.instructions)),
    ("registers a thread", lambda it: it.registers),
    ("spilled bytes a thread", lambda it: it.spill_stores),
    ("local memory, bytes a thread", lambda it: it.stack),
    (
        "shared memory, bytes a block",
        lambda it: it.shared_memory + it.dynamic_shared_memory,
    ),
    ("warps a multiprocessor", lambda it: it.occupancy.warps),
)


@dataclass(frozen=True)
class Comparison:
    """Two assemblies; printed, a table of what they take and of their instructions by
    kind. `by_line` is another, for each one's lines.
    """

    first: object
    second: object

    @property
    def summary(self):
        """What each takes, and its instructions by kind."""
        both = self.first, self.second
        rows = [[name, *map(ask, both)] for name, ask in TAKEN]
        rows = [row for row in rows if any(row[1:])]
        kinds = self.first.kinds + self.second.kinds
        rows += [[f"  {kind}", *(it.kinds[kind] for it in both)] for kind in kinds]
        names = [it.kernel for it in both]
        if names[0] == names[1]:
            names = [f"{it.kernel} on {dotted(it.compute_capability)}" for it in both]
        return table(["", *names], rows)

    @property
    def by_line(self):
        """The lines of both, in the order of the source, each with its instructions."""
        rows = []
        for made in (self.first, self.second):
            texts = source_lines(made.function) | {None: "routines that it calls"}
            for line in sorted(made.by_line, key=lambda line: line or LAST):
                text, count = texts.get(line, "").strip(), made.by_line[line].total()
                rows.append([made.kernel, line or "", text, count])
        return table(["kernel", "line", "source", "instructions"], rows)

    def __repr__(self):
        return repr(self.summary)

    def _repr_markdown_(self):
        return self.summary._repr_markdown_()

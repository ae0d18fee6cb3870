"""An assembly as text for a terminal: one sentence, then each source line with its
instructions.
"""

from collections import Counter
from textwrap import wrap

from thirty_two_lanes.assembly.findings import routine
from thirty_two_lanes.core.source import source_of

WIDEST_SOURCE = 48  # characters of a source line that others are aligned with
FOLDED = {  # a note, in lines that fit a terminal
    "width": 78,
    "initial_indent": "       - ",
    "subsequent_indent": "         ",
}
SUMMED = {  # kinds that are counted together, by the word for them
    "integers and addresses": "integer",
    "moves": "move",
    "control": "control",
    "constant loads": "constant",
}


def as_text(assembly) -> str:
    """The sentence, the lines with their counts, and what stands out."""
    rows = [row for row in rows_of(assembly) if any(row[2:])]
    width = max((len(r[1]) for r in rows if len(r[1]) <= WIDEST_SOURCE), default=0)
    report = [sentence(assembly)]
    for line, text, made, types, notes in rows:
        what = summary(made) if made else ""
        kinds = ", ".join(f"{name}: {kind}" for name, kind in types.items())
        columns = [f"{place(line)}{text:<{width}}", what, kinds and f"[{kinds}]"]
        report.append("   ".join(it for it in columns if it.strip()))
        report += [line for note in notes for line in wrap(note, **FOLDED)]
    return "\n".join(report)


def place(line) -> str:
    """Where a row belongs, as its beginning."""
    return f"  line {line:<4}" if line else "  routine  "


def sentence(assembly) -> str:
    """What was compiled, and what it takes."""
    target = "{}.{}".format(*assembly.compute_capability)
    if assembly.missing:
        return f"types of {assembly.kernel}; {assembly.missing}"
    spilled = assembly.spill_stores
    facts = [
        f"{len(assembly.instructions):,} instructions",
        f"{assembly.registers} registers a thread",
    ]
    if spilled is not None:
        facts.append(f"{spilled:,} bytes spilled" if spilled else "nothing spilled")
    if assembly.stack:
        facts.append(f"{assembly.stack:,} bytes of local memory a thread")
    shared = assembly.shared_memory + assembly.dynamic_shared_memory
    if shared:
        facts.append(f"{shared:,} bytes of shared memory a block")
    compilers = ", ".join(f"{name} {it}" for name, it in assembly.compilers.items())
    recorded = compilers and f"; recorded, with {compilers}"
    return (
        f"assembled {assembly.kernel} for compute capability {target}: "
        f"{', '.join(facts)}; occupancy: {assembly.occupancy}{recorded}"
    )


def rows_of(assembly):
    """Each source line: its number, text, instructions, types and notes; then each
    routine that lines call, with no number.
    """
    by_line, routines = {}, {}
    for instruction in assembly.instructions:
        rows = routines if instruction.routine else by_line
        rows.setdefault(instruction.routine or instruction.line, []).append(instruction)
    lines = source_lines(assembly.function)
    for line in sorted(by_line.keys() - {None} | assembly.variables.keys()):
        lines.setdefault(line, "")
    for line, text in sorted(lines.items()):
        made, types = by_line.get(line, []), assembly.variables.get(line, {})
        yield line, text, made, types, notes_of(assembly, line)
    for name, made in routines.items():
        yield None, routine(name), made, {}, []


def notes_of(assembly, line) -> list[str]:
    """What stands out on a line, and what became of its accesses."""
    found = [it.advice for it in assembly.findings if it.site.line == line]
    if not assembly.missing:
        found += assembly.accesses.get(line, [])
    return found


def source_lines(function) -> dict[int, str]:
    """The function's lines by number, where its source is available."""
    source = source_of(function)
    return dict(enumerate(source.lines, source.first)) if source else {}


def summary(instructions) -> str:
    """How many instructions: those that matter by name, the others by kind."""
    named, summed = Counter(), Counter()
    for instruction in instructions:
        if instruction.kind in SUMMED:
            summed[SUMMED[instruction.kind]] += 1
        else:
            named[instruction.name] += 1
    parts = [f"{n:,} {name}" for name, n in sorted(named.items())]
    parts += [f"{n:,} {name}" for name, n in summed.most_common()]
    return f"{len(instructions):,}: {', '.join(parts)}"


def listing(assembly) -> str:
    """Each source line, with every machine instruction below it."""
    lines = [sentence(assembly)]
    for line, text, made, *_ in rows_of(assembly):
        lines.append(f"{place(line)}{text}")
        lines += [f"      {it.offset:04x}  {it}" for it in made]
    return "\n".join(lines)

"""What stands out among a kernel's machine instructions: one sentence a line, with the
remedy.

Sources: NVIDIA's CUDA C++ Best Practices Guide, "Instruction Optimization"; for what
Numba makes of a line, our own measurements.
"""

import re

from thirty_two_lanes.core.source import Site
from thirty_two_lanes.core.words import Finding, counted

INTEGERS = "integers and addresses"
ROUTINES = {  # what a name in the machine code says: what it does
    r"div_[su]64": "a division of 64-bit integers",
    r"rem_[su]64": "a remainder of 64-bit integers",
    r"div\w*f32": "the exact division of float32",
    r"div\w*f64|drcp|dblrcp|rcp\w*f64|ddiv": "a division of float64",
    r"accurate_pow": "a power of float64",
    r"sqrt": "an exact square root",
    r"rcp": "an exact reciprocal",
}
GRID = "cudaCG"  # CUDA's own code for the barrier of a grid, which is asked for


def findings_of(instructions, types, spilled, lines) -> tuple[Finding, ...]:
    """The findings of a kernel, line by line, worst first on each; a remedy once.

    `types` are the variables' by line, `spilled` the bytes that registers had no room
    for, and `lines` the source's.
    """
    found, remedied = [], set()
    for line in sorted({it.line for it in instructions if it.line is not None}):
        here = [it for it in instructions if it.line == line]
        for topic, rule in RULES.items():
            what, remedy = rule(here, types, spilled) or ("", "")
            if what:
                advice = what if topic in remedied else f"{what}. {remedy}"
                level = "slight" if topic == "indices" else "costly"
                site = Site("", line, lines.get(line, "").strip())
                found.append(Finding(level, site, topic, what, advice))
                remedied.add(topic)
    return tuple(found)


def _spills(here, types, spilled):
    local = count(here, "local loads") + count(here, "local stores")
    if not local:
        return None
    what = f"{counted(local, 'access', 'accesses')} of local memory"
    if spilled:
        return (
            f"{what}: there were not enough registers",
            "Keep fewer values at once, or allow more registers (`max_registers`, "
            "`launch_bounds`)",
        )
    return (
        f"{what}: the index of a local array, or of a tuple, is not known at compile "
        "time",
        "Index it in loops of fixed length, which are unrolled: then it fits in "
        "registers",
    )


def _generic(here, types, spilled):
    number = count(here, "generic loads") + count(here, "generic stores")
    if not number:
        return None
    return (
        f"{counted(number, 'generic access', 'generic accesses')}: the compiler cannot "
        "tell which memory it is, so each one finds out at run time",
        "Pass a contiguous array (`np.ascontiguousarray`), and index `tile[row, col]` "
        "instead of a slice of a column",
    )


def _calls(here, types, spilled):
    called = [it for it in here if it.base == "CALL" and GRID not in it.operands]
    if not called:
        return None
    names = dict.fromkeys(routine(it.operands) for it in called)
    integer = [name for name in names if "integer" in name]
    return (
        f"{counted(len(called), 'call')} of a routine: {', '.join(names)}",
        "Division of 32-bit integers needs none, and a `while` loop avoids the "
        "division by the step of a `range`"
        if integer
        else "`fastmath=True` avoids it in float32, if its accuracy is enough",
    )


def routine(operands) -> str:
    """What a routine does that NVIDIA's compiler calls by this name."""
    for rule, what in ROUTINES.items():
        if re.search(rule, operands):
            return what
    return operands.strip("`()")


def _doubles(here, types, spilled):
    made = [it for it in here if it.opcode.startswith(("F2F.F64.F32", "I2F.F64"))]
    if not made:
        return None
    arithmetic = count(here, "float64")
    also = f" and {counted(arithmetic, 'operation')} in float64" if arithmetic else ""
    return (
        f"{counted(len(made), 'conversion')} to float64{also}: a Python number, or an "
        "integer beside a float32, makes the whole expression float64",
        "Cast constants: `float32(...)`",
    )


def _indices(here, types, spilled):
    upper = [it for it in here if _is_of_an_upper_half(it)]
    kinds = [kind for names in types.values() for kind in names.values()]
    long = any(re.search(r"\bint64", kind) for kind in kinds)
    if len(upper) < 3 or not long:
        return None
    return (
        f"{count(here, INTEGERS)} of {counted(len(here), 'instruction')} compute "
        f"integers and addresses, {len(upper)} of them for the upper halves of 64-bit "
        "numbers",
        "Numba's indices are signed and may count from the end, so each access checks "
        "the sign: an unsigned index, `uint32(...)` around each step, avoids the check",
    )


def _is_of_an_upper_half(instruction):
    """Does this make, carry into or compare the upper half of an integer?"""
    parts = instruction.opcode.split(".")[1:]
    shifts = instruction.base == "SHF" and "0x1f" in instruction.operands
    extends = shifts and "S32" in parts or "X" in parts or "EX" in parts
    return instruction.kind == INTEGERS and extends


RULES = {  # by the topic: what stands out, and the remedy
    "spills": _spills,
    "generic": _generic,
    "calls": _calls,
    "float64": _doubles,
    "indices": _indices,
}


def count(instructions, kind) -> int:
    """The instructions of a kind."""
    return sum(it.kind == kind for it in instructions)

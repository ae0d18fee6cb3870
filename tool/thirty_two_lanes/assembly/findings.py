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
STACK = re.compile(r"\[R1(\+-?0x[0-9a-f]+)?\]")  # a known place in local memory
GRID = "cudaCG"  # CUDA's own code for the barrier of a grid, which is asked for


def findings_of(instructions, types, spilled, lines) -> tuple[Finding, ...]:
    """The findings of a kernel, line by line, worst first on each; a remedy once.

    `types` are the variables' by line, `spilled` the bytes that registers had no room
    for, and `lines` the source's.
    """
    found, remedied = [], set()
    computed = {it.line for it in instructions if _computes_its_place(it)} - {None}
    for line in sorted({it.line for it in instructions if it.line is not None}):
        here = [it for it in instructions if it.line == line]
        text = lines.get(line, "").strip()
        for topic, rule in RULES.items():
            asked = here, types, spilled, sorted(computed), text
            what, remedy = rule(*asked) or ("", "")
            if what:
                is_new = remedy and remedy not in remedied
                advice = f"{what}. {remedy}" if is_new else what
                level = "slight" if topic == "indices" else "costly"
                site = Site("", line, text)
                found.append(Finding(level, site, topic, what, advice))
                remedied.add(remedy)
    return tuple(found)


def _local(here, types, spilled, computed, *_):
    local = [it for it in here if it.space == "local"]
    if not local:
        return None
    what = f"{counted(len(local), 'access', 'accesses')} of local memory"
    if any(map(_computes_its_place, local)):
        return (
            f"{what}: the index of a local array, or of a tuple, is not known at "
            "compile time",
            "Index it in loops of fixed length, which are unrolled: then it fits in "
            "registers",
        )
    elsewhere = "" if not computed else f"the index {_in_lines(computed)} is not known"
    if spilled:
        or_else = f", or an array lies there, since {elsewhere}" if elsewhere else ""
        return (
            f"{what}: there were not enough registers{or_else}",
            "Keep fewer values at once, or allow more registers (`max_registers`, "
            "`launch_bounds`)",
        )
    because = f", but an array lies in one place, and {elsewhere}" if elsewhere else ""
    return f"{what}: this index is known{because}", ""


def _in_lines(numbers):
    return f"in line{'s' * (len(numbers) > 1)} {' and '.join(map(str, numbers))}"


def _computes_its_place(instruction):
    """Is it an access of local memory whose address no compiler knew?

    A known one is the stack's pointer and a number: `[R1+0x10]`.
    """
    return instruction.space == "local" and not STACK.search(instruction.operands)


def _generic(here, *_):
    number = count(here, "generic loads") + count(here, "generic stores")
    if not number:
        return None
    return (
        f"{counted(number, 'generic access', 'generic accesses')}: the compiler cannot "
        "tell which memory it is, so each one finds out at run time",
        "Pass a contiguous array (`np.ascontiguousarray`), and index `tile[row, col]` "
        "instead of a slice of a column",
    )


def _calls(here, *_):
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


def _doubles(here, *_):
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


def _indices(here, types, spilled, computed, text):
    upper = [it for it in here if _is_of_an_upper_half(it)]
    kinds = [kind for names in types.values() for kind in names.values()]
    long = any(re.search(r"\bint64", kind) for kind in kinds)
    if len(upper) < 3 or not long:
        return None
    return (
        f"{count(here, INTEGERS)} of {counted(len(here), 'instruction')} compute "
        f"integers and addresses, {len(upper)} of them for the upper halves of 64-bit "
        "numbers",
        "A `range` keeps two numbers of 64 bits, the next one and how many are left, "
        "and asks at each step whether any is: a `while` loop with its own counter "
        "keeps one"
        if re.match(r"for\b.*\brange\(", text)
        else "Numba's indices are signed and may count from the end, so each access "
        "checks the sign: an unsigned index, `uint32(...)` around each step, avoids "
        "the check",
    )


def _is_of_an_upper_half(instruction):
    """Does this make, carry into or compare the upper half of an integer?"""
    parts = instruction.opcode.split(".")[1:]
    shifts = instruction.base == "SHF" and "0x1f" in instruction.operands
    extends = shifts and "S32" in parts or "X" in parts or "EX" in parts
    return instruction.kind == INTEGERS and extends


RULES = {  # by the topic: what stands out, and the remedy
    "spills": _local,
    "generic": _generic,
    "calls": _calls,
    "float64": _doubles,
    "indices": _indices,
}


def count(instructions, kind) -> int:
    """The instructions of a kind."""
    return sum(it.kind == kind for it in instructions)

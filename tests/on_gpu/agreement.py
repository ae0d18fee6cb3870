"""Holds the emulator to what was recorded on a GPU, and writes the page about it.

    python -m tests.on_gpu.agreement        writes docs/AGREEMENT.md

`tests.on_gpu.sanitizer` and `tests.on_gpu.counters` make the recordings. What differs
must have its reason in one of the tables here, and a reason that explains nothing must
go.
"""

from collections import Counter
from functools import cache

from tests.on_gpu.gpu_runs import read
from tests.on_gpu.sanitizer_reports import NOTHING, TOOLS, verdict
from tests.paths import RECORDED, ROOT
from tests.specimens.labelled import CLEAN
from tests.specimens.lesson_runs import run_of
from tests.specimens.race_cases import CASES
from tests.specimens.race_kernels_atomics import ALIKE
from tests.specimens.requests.patterns import patterns
from tests.specimens.zoo_cases import ZOO

PAGE = ROOT / "docs" / "AGREEMENT.md"
ALL = {case.name: case for case in (*CASES, *ZOO)}
MEMORY = {"shared": "bank_conflicts", "global": "coalescing"}
TAKEN = {"shared": "wavefronts", "global": "sectors"}

TAKEN_AWAY = "the compiler keeps the values in registers: nothing is left to race"
SILENT = "racecheck reports nothing; the source races, and vector clocks find it, too"

# races that the compiler took away or hid from racecheck, by kernel
HIDDEN = {
    "all_write_the_same": TAKEN_AWAY,
    "flag_writers1_alike1_barrier0": ALIKE,
    "flag_writers64_alike1_barrier0": ALIKE,
    "scan_in_place_load1_between0_after1": SILENT,
    "two_levels_partials1_sent1_again0": SILENT,
    "warp_tail_before0_after1": SILENT,
}
# what the compiler made of a kernel's accesses, where the counts differ, by kernel
KEPT = "the value that the thread has just stored stays in a register: no LDS"
ONCE = "the element is loaded once for both of its uses: one LDG"
CROWDED = "of many warps, the counter has up to 5% more wavefronts than requests take"
COPIED = "LDGSTS copies: one instruction, with counters of its own, for load and store"
PAIR = "in the first step, one LDS.64 loads both numbers"
WIDE = "one LDS.128 loads four neighbours, one LDS.64 two"
ALONE = "only thread 0 uses the sum of its block: the compiler loads it for that one"
EXPLAINED = {
    "all_write_the_same": "the array and its accesses are left out: the value is known",
    "war_in_a_warp": KEPT,
    "war_in_a_block": KEPT,
    "coalescing_copy_b70006be": "profiled with a copy of the view, which begins at its "
    "own address",
    "_double": ONCE,
    "_power": ONCE,
    "_peaks": KEPT,
    "_fall": "the speed that the thread has just stored stays in a register: one LDG",
    "_live_wrong": "a race: which cells it looks at depends on what others have stored",
    "_look": "compiled with a store for each case of the choice: two STG",
    "_rotate_in_place": KEPT,
    "_scan_once": "how often a block looks back depends on who has published by then",
    "_sum_hasty_wrong": KEPT,
    "_sum_by_last": ALONE,
    "_shares": f"{ALONE}; the grid's barrier loads, too",
    "_sum_after_all": f"{ALONE}; the grid's barrier loads, too",
    "_sum_strided": PAIR,
    "_count_unshared_wrong": "the word is loaded once for its four bytes: one LDG",
    "_step_known_ca3c9edc": "in rows of four cells two are needed: two LDG for an "
    "LDG.128",
    "_largest_wins": "the maximum of two floats is a load and a compare-and-swap",
    "_multiply_async": COPIED,
    "_reverse_hasty_wrong": COPIED,
    "_copy_end": COPIED,
    "_multiply": WIDE,
    "_totals": WIDE,
    "barrier_in_a_branch": "lanes meet again after the barrier: one STG for the warp",
}
FILLING = (
    "filling shared memory with elements of 16 bytes, in a loop of a block of 10, 12, "
    "20 or 22 threads, most stores take one wavefront more than the rule says"
)
UNEXPLAINED = {f"shared_load_16_{n}": FILLING for n in (6, 13, 14, 23)}


@cache
def sanitizer():
    """What compute-sanitizer reported; empty where it was not run."""
    return read(RECORDED / "sanitizer.json")


@cache
def counters():
    """What Nsight Compute counted; empty where it was not asked."""
    return read(RECORDED / "counters.json")


def run(case):
    """The emulator's Run of a case."""
    from helpers import emulate

    return emulate(case.kernel)[case.launch](*case.fresh())


# ---------------------------------------------------------------- sanitizer


def verdicts(tool):
    """A tool's verdict on each kernel that is still what it was."""
    kernels = sanitizer().get("kernels", {})
    return {
        name: verdict(entry, tool)
        for name, entry in kernels.items()
        if name in ALL and entry["digest"] == ALL[name].digest
    }


def not_run():
    """Kernels that a tool did not run, as they are now."""
    answers = {tool: verdicts(tool) for tool in TOOLS}
    return [
        f"{name} ({tool})"
        for name, case in ALL.items()
        for tool in TOOLS
        if not case.hangs and answers[tool].get(name, "not run") == "not run"
    ]


def found_races():
    """Kernels in which racecheck found something, with how severe it is."""
    return {n: v for n, v in verdicts("racecheck").items() if v in ("info", *BAD)}


BAD = "warning", "error"


def missed():
    """Races that racecheck finds in kernels that are labelled clean."""
    return [name for name, bad in found_races().items() if ALL[name].verdict == CLEAN]


def unseen():
    """Races that racecheck does not find, with the reason; "" where none is given."""
    return {
        name: HIDDEN.get(name) or ALL[name].unseen or by_space(ALL[name])
        for name, bad in verdicts("racecheck").items()
        if bad == NOTHING and ALL[name].verdict != CLEAN
    }


def by_space(case):
    """The reason that a race in global memory has by itself."""
    outside = case.space == "global"
    return "racecheck looks at shared memory only" if outside else ""


def idle_reasons():
    """Entries of `HIDDEN` whose race racecheck does find."""
    return [name for name in HIDDEN if name not in unseen()] if sanitizer() else []


def tools_that_differ():
    """Verdicts of memcheck, synccheck and initcheck that contradict the labels."""
    differ = {}
    for tool in TOOLS[1:]:
        for name, word in verdicts(tool).items():
            expected = getattr(ALL[name], "tool", "") == tool
            if word != "not run" and expected != (word in BAD):
                differ[f"{name} ({tool})"] = word
    return differ


# ---------------------------------------------------------------- counters


def counted(run):
    """The emulator's counts by the names of the hardware's counters."""
    found = {}
    for space, table in MEMORY.items():
        for kind in ("load", "store"):
            row = getattr(run, table).by_kind.get(kind)
            parts = ["requests", TAKEN[space]]
            parts += ["conflicts"] if space == "shared" else []
            for part in parts:
                found[f"{space}_{kind}_{part}"] = getattr(row, part, 0)
    return found


def totals_that_differ(run, totals):
    """Counters that both have and that are not equal: here, there."""
    here = counted(run)
    return {
        name: (here[name], there)
        for name, there in totals.items()
        if name in here and here[name] != there
    }


@cache
def patterns_that_differ():
    """Patterns of which a counter is not equal."""
    recorded = counters().get("patterns", {})
    differ = {}
    for case in patterns():
        if case.name in recorded:
            found = totals_that_differ(run(case), recorded[case.name]["totals"])
            if found:
                differ[case.name] = found
    return differ


def lines_that_differ(first, run, instructions):
    """Lines of a kernel of which a count is not equal, with their instructions; all
    count from its `first`.
    """
    here, there, codes = Counter(), Counter(), {}
    for space, table in MEMORY.items():
        for site, row in getattr(run, table).by_line.items():
            if site.kind != "atomic":  # what is inlined has the line of its call
                key = (site.called_from or site.line) - first, space, site.kind
                here[*key, TAKEN[space]] += getattr(row, TAKEN[space])
                here[*key, "lanes"] += row.active_lanes
    for line, code, counts in instructions:
        space, kind = space_of(code, counts), kind_of(code)
        if space and kind != "atomic":
            codes.setdefault((line, space, kind), []).append(code)
            there[line, space, kind, TAKEN[space]] += counts.get(TAKEN[space], 0)
            there[line, space, kind, "lanes"] += counts.get("lanes", 0)
    return {
        key: (here[key], there[key], codes.get(key[:3], []))
        for key in sorted({*here, *there}, key=str)
        if here[key] != there[key]
    }


def space_of(code, counts):
    """The memory that an instruction goes to; generic ones, where they land."""
    name = code.split(".")[0]
    if name in ("LDS", "STS", "ATOMS"):
        return "shared"
    if name in ("LDG", "STG", "ATOMG", "RED", "REDG"):
        return "global"
    if name in ("LDL", "STL"):
        return None
    return "shared" if counts.get("wavefronts") else "global"


def kind_of(code):
    if code.startswith(("ATOM", "RED")):
        return "atomic"
    return "load" if code.startswith("LD") else "store"


@cache
def compared(lesson=None):
    """How many launches a lesson has, or the zoo; which of them were recorded as they
    are; and of which a count is not equal, with what differs.
    """
    kernels = counters().get("kernels", {})
    emulated = run_of(lesson).answer("emulated") if lesson else zoo()
    recorded, differ = [], {}
    for name, digest, first, run in emulated:
        entry = kernels.get(name, {})
        if entry.get("digest") == digest:
            recorded.append(name)
            if found := counts_that_differ(first, run, entry):
                differ[name] = found
    return {"launches": len(emulated), "recorded": recorded, "differ": differ}


def zoo():
    """The kernels of the zoo, as what a lesson emulates."""
    return [
        (case.name, case.digest, case.first_line, run(case))
        for case in ZOO
        if case.name in counters().get("kernels", {})
    ]


def counts_that_differ(first, emulated, entry):
    """The totals, and the counts by line, that are not as they were recorded."""
    totals = totals_that_differ(emulated, entry["totals"])
    found = lines_that_differ(first, emulated, entry["instructions"])
    kept = [key for key in found if not settled(key, entry["totals"], totals)]
    lines = {key: found[key] for key in kept}
    if entry["instructions"] and lines or totals:
        return {"totals": totals, "lines": lines}
    return {}


def settled(key, totals, differing):
    """Does the hardware's counter agree, where a line's wavefronts are a model's?"""
    name = f"shared_{key[2]}_wavefronts"
    return key[3] == "wavefronts" and name in totals and name not in differing


def reason(name, found):
    """Why a kernel's counts differ: its own reason, or that of a lesson's kernel."""
    known = [text for key, text in EXPLAINED.items() if key == name or key in name]
    return known[0] if known else CROWDED if crowded(name, found) else ""


def crowded(name, found):
    """Does nothing differ but the wavefronts of shared memory, by up to 5%?"""
    counted = counters()["kernels"][name]["totals"]
    return not found["lines"] and all(
        counter.endswith(("_wavefronts", "_conflicts"))
        and 0 < there - here <= 0.05 * counted[wavefronts(counter)]
        for counter, (here, there) in found["totals"].items()
    )


def wavefronts(counter):
    """The counter of the wavefronts beside one of conflicts, or itself."""
    return counter.replace("_conflicts", "_wavefronts")


def main():
    """Write the page."""
    from tests.on_gpu.agreement_page import page

    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

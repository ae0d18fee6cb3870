"""Writes the page that says how far the emulator and the hardware agree."""

from collections import Counter
from pathlib import Path

from lessons.publishing.convert import lessons_of
from tests.on_gpu import agreement, data_path, special_numbers
from tests.paths import ROOT
from tests.specimens.labelled import CLEAN, MINOR, RACE

HEAD = """\
# How far the emulator and a GPU agree

Written by `python -m tests.on_gpu.agreement` from what was recorded on a GPU; the tests
hold the emulator to the same recordings, where there is no GPU.
"""
STREAMS = Path(__file__).with_name("streams") / "rules.md"  # its rules of streams
NOTHING = {
    "sanitizer": "compute-sanitizer has not been asked yet. On a machine with a GPU:",
    "counters": "Nsight Compute has not been asked yet. On a machine with a GPU:",
}
COMMANDS = {
    "sanitizer": "python -m tests.on_gpu.sanitizer",
    "counters": "python -m tests.on_gpu.counters",
}
NUMBERS = """\
What these expressions leave out can differ:

- **Products and sums.** The compiler joins `a * b + c` to one operation with one
  rounding (FMA), also in a product or a quotient of complex numbers.
- **Functions.** The last bits of CUDA's own library: `sin`, `exp`, `pow` and their kin,
  and where `hypot` overflows. `fast_…` functions of large or subnormal numbers.
- **Rounding down, up, toward zero** of subnormal results; the sign of an exact zero.
- **A zero beside a literal 0.** The compiler chooses which of two zeros `max(x, 0)` and
  `min(x, 0)` give.
- **What has no meaning.** A shift by a literal of 64 or more stores nothing, and
  `7 << x` counts as never 0, whatever `x` is. A float that no uint8 holds, widened at
  once, keeps 16 bits. Where a sum, a product or a power of whole numbers does not fit
  into int64, the compiler compares and shifts it as if it did.
- **The bits of a NaN.**
"""
DATA_PATH = """\
Emulated with the machine code at hand, `emulate(kernel, assembly=...)`, and held by
`make exhaustive`, and in part by `make test-all`, against
`l1tex__data_pipe_lsu_wavefronts`, recorded on an H200 on 2026-11-27.
`python -m tests.on_gpu.data_path` counts again, and names each launch that is further
off.

"""
FURTHER_OFF = """
What is further off:

- **Merged accesses.** A tile's four loads become one `LDS.128`: of a product, the
  emulator counts 29% too many. A value that stays in a register does not pass at all.
- **Loads whose lines are not in L1.** One of lanes far apart comes in parts, up to one
  for each line, and not as the banks would serve it: a copy of every twelfth element
  passes twice the emulator's count.
- **Few warps that load and store.** Their traffic meets, and about a tenth passes
  again. Two runs of the profiler differ by as much.
- **Fences.** `threadfence` passes five more in each warp, which are not counted.
- **Atomics in global memory.** Lanes that add to one known cell are added up first; one
  that gives its old value back passes twice; floats and 8 bytes can take a loop of
  compare-and-swaps.
- **Shuffles.** The half of 8 bytes that nobody reads is not shuffled.
"""
TAIL = """\
## What the emulator does not model

- **Caches.** A sector counts whether it hits or misses, and each request alone. What
  L1 and L2 save of the traffic is not known here; `run.reuse` says what could be saved.
- **Time.** No cycles, no latencies, no occupancy: `measure` has times, of a GPU.
- **What the compiler merges and moves.** Four loads of neighbours may become one of 16
  bytes, a value may stay in a register, a loop-invariant load may leave its loop, and
  two lines may share an instruction. The emulator counts what the source says; where a
  recording differs, the table above names the instruction.
- **Registers and spills.** Local arrays are counted as if they spill; most do not.
- **Predicates.** A short branch may become instructions that some lanes skip. Requests
  and lanes count the same; the number of instructions issued does not. Given the
  assembly, `run.data_path` counts the requests in which no lane takes part, too.
- **Shuffles and votes at two places.** If some lanes of a mask wait at one shuffle or
  vote and the rest at another of the same kind, an H200 lets them meet; here it is a
  BarrierError. `syncwarp` meets in both.
- **Lost arbitration.** The hardware's conflict counter also holds requests that waited
  for other traffic, a few in tens of thousands; the emulator's holds addresses only.
- **How an atomic is carried out.** One request of a warp counts as one; a GPU may add
  up the lanes first, or run a loop where it has no such instruction.
- **Weak memory.** Values are those of one order of the warps, and what a GPU may show
  beyond any order is not shown. Races are found without looking at values: for the
  accesses that the run made, whatever their order. Accesses that other inputs would
  make are not seen.
- **Fences and atomics that synchronise.** An atomic acquires what earlier atomics on
  its cell released, without a fence of its own, as the hardware's do. One that takes a
  lock, a compare-and-swap or an exchange, needs the fence behind it that CUDA's memory
  model asks for; with `strict=True`, each does.
- **The same value.** Whether all writers stored the same is known of this run only.
"""


def page():
    """The whole page."""
    parts = counters_part(), data_path_part(), races_part(), others_part()
    parts += numbers_part(), STREAMS.read_text(encoding="utf-8")
    return "\n".join([HEAD, *parts, TAIL])


def provenance(recorded):
    """Where, when and with what something was recorded."""
    versions = ", ".join(f"{k} {v}" for k, v in sorted(recorded["versions"].items()))
    return f"Recorded on an {recorded['gpu']}, {recorded['date']}, with {versions}."


def table(head, rows):
    """A table; the first column is text, the others numbers or text."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


def absent(kind):
    return f"{NOTHING[kind]}\n\n    {COMMANDS[kind]}\n"


# ---------------------------------------------------------------- counters


def counters_part():
    """Wavefronts, conflicts, requests, sectors and lanes."""
    recorded = agreement.counters()
    if not recorded:
        return "## Counters\n\n" + absent("counters")
    zoo, launched, launches = agreement.compared(), [], 0
    differ = dict(zoo["differ"])
    for lesson in lessons_of(ROOT):
        found = agreement.compared(lesson)
        launched += found["recorded"]
        launches += found["launches"]
        differ |= found["differ"]
    odd = agreement.patterns_that_differ()
    rows = [
        ("random access patterns", len(recorded["patterns"]), len(odd)),
        ("kernels of the zoo", *counts(zoo["recorded"], differ)),
        ("launches of the lessons", *counts(launched, differ)),
    ]
    parts = [
        "## Counters\n",
        provenance(recorded) + "\n",
        "Requests, sectors, wavefronts and conflicts by the hardware's counters; of "
        "kernels also sectors and active lanes by source line. The profiler's "
        "wavefronts by line are a model of its own: where it differs, the counter "
        "decides.\n",
        table(("what", "compared", "differ"), rows),
    ]
    if left := launches - len(launched):
        parts.append(f"{left} launches of the lessons have not been counted yet.\n")
    if odd:
        parts.append(
            table(("pattern", "emulator and GPU"), map(pattern_row, odd.items()))
        )
        unexplained = sorted({agreement.UNEXPLAINED.get(name, "") for name in odd})
        parts += [f"Not explained: {text}.\n" for text in unexplained]
    if differ:
        rows = [row for name, what in differ.items() for row in kernel_rows(name, what)]
        head = ("kernel", "line, memory", "emulator", "GPU", "instructions", "why")
        parts.append(table(head, rows))
    return "\n".join(parts)


def data_path_part():
    """LSU wavefronts, lesson by lesson."""
    found = data_path.AGREEING
    head = "lesson", "launches", "equal", "within 1%", "within 5%"
    rows = [
        ("the zoo" if name == "zoo" else f"lesson {name}", *of)
        for name, of in found.items()
    ]
    rows.append(("all", *map(sum, zip(*found.values(), strict=True))))
    return "## LSU wavefronts\n\n" + DATA_PATH + table(head, rows) + FURTHER_OFF


def counts(names, differ):
    return len(names), sum(name in differ for name in names)


def pattern_row(pair):
    name, found = pair
    pairs = (f"{k}: {here} and {there}" for k, (here, there) in found.items())
    return f"`{name}`", "; ".join(pairs)


def kernel_rows(name, what):
    """A row for each line that differs, or for each total where no line does."""
    why = agreement.reason(name, what)
    for (line, space, kind, count), (here, there, codes) in what["lines"].items():
        code = ", ".join(f"{n} {c}" for c, n in Counter(codes).items()) or "none"
        place = f"{line}, {count} of {space} {kind}s"
        yield f"`{name}`", place, here, there, code, why
    if not what["lines"]:
        for count, (here, there) in what["totals"].items():
            yield f"`{name}`", count.replace("_", " "), here, there, "", why


# ---------------------------------------------------------------- compute-sanitizer


def races_part():
    """The labels, the emulator and racecheck."""
    if not agreement.sanitizer():
        return "## Races, barriers, bounds\n\n" + absent("sanitizer")
    asked = agreement.verdicts("racecheck")
    found, unseen = agreement.found_races(), agreement.unseen()
    rows = []
    for label in (CLEAN, MINOR, RACE):
        names = [name for name in asked if agreement.ALL[name].verdict == label]
        seen = sum(name in found for name in names)
        rows.append((label, len(names), seen, sum(name in unseen for name in names)))
    reasons = Counter(why or "no reason is known" for why in unseen.values())
    return "\n".join(
        [
            "## Races\n",
            provenance(agreement.sanitizer()) + "\n",
            "The emulator's verdict is the label of each of these kernels; a test says "
            "so.\n",
            table(("label", "kernels", "racecheck finds", "racecheck is silent"), rows),
            "Why racecheck is silent where there is a race:\n",
            table(("reason", "kernels"), sorted(reasons.items())),
        ]
    )


def others_part():
    """memcheck, synccheck and initcheck, and what was not run."""
    if not agreement.sanitizer():
        return ""
    rows = []
    for case in agreement.ZOO:
        if case.error or case.found or case.tool or case.hangs:
            ours = (*case.error, *case.found, "uninitialised")[0]
            rows.append(
                (f"`{case.name}`", ours, *map(by_tool(case), agreement.TOOLS[1:]))
            )
    head = ("kernel", "emulator", "memcheck", "synccheck", "initcheck")
    return "## Barriers, bounds, initialisation\n\n" + table(head, rows)


def by_tool(case):
    """What a tool says of a kernel, or why it was not asked."""
    if case.hangs:
        return lambda tool: "not run: it may hang"
    return lambda tool: agreement.verdicts(tool).get(case.name, "not asked")


# ---------------------------------------------------------------- numbers


def numbers_part():
    """How many answers of a GPU the emulator gives, and what it was not asked."""
    found, about = special_numbers.recorded()
    asked = sum(len(columns) for columns in found.values())
    answers = sum(len(c) for columns in found.values() for c in columns.values())
    return "\n".join(
        [
            "## Numbers\n",
            provenance(about) + "\n",
            f"{asked:,} expressions of operators, conversions, `min`, `max`, powers "
            "and roundings, on NaN, infinities, zeros of both signs, subnormal "
            "numbers, limits and halves of all pairs of types: "
            f"{answers:,} answers, of which none differs in a bit; a test says so.\n",
            NUMBERS,
        ]
    )

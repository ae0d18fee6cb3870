"""How many small changes of the source would the tests notice?

    python -m tests.mutation                       100 mutants of each room
    python -m tests.mutation core --sample 40      40 of one
    python -m tests.mutation judges --seed 2       others
    python -m tests.mutation --only findings.py    those of files whose path ends so

Each mutant is a file with one change: a comparison, an operator, a number, a condition,
a statement left out, two rows of a table swapped, a function that returns at once. It
is killed when one of the tests that call it fails, crashes or hangs. `equivalent.toml`
has those that nobody can tell from the original, with the reason; they count apart.

mutmut (copies the tree, knows no tables) and cosmic-ray (writes each mutant into the
tree, a new process for each) do not run a few tests of a sample in forked children.
"""

import argparse
import os
import random
import signal
import tomllib
from collections import Counter
from itertools import chain, zip_longest
from pathlib import Path

from tests.mutation.mutants import mutants_of
from tests.mutation.runs import attempt, forked, recorded, tests_of, warm
from tests.paths import ROOT

ROOMS = {
    "core": (
        "tool/thirty_two_lanes/core/occupancy.py",
        "tool/thirty_two_lanes/core/hardware.py",
        "tool/thirty_two_lanes/core/race.py",
        "tool/thirty_two_lanes/core/sectors.py",
        "tool/thirty_two_lanes/core/wavefronts.py",
    ),
    "language": ("tool/thirty_two_lanes/language/**/*.py",),
    "judges": (
        "tool/thirty_two_lanes/emulator/judges/**/*.py",
        "tool/thirty_two_lanes/emulator/report/findings.py",
    ),
    "machine": (
        "tool/thirty_two_lanes/emulator/machine/**/*.py",
        "tool/thirty_two_lanes/emulator/*.py",
    ),
    "native": ("tool/thirty_two_lanes/emulator/native/*.py",),
    "frontend": ("tool/thirty_two_lanes/frontend/lower/*.py",),
    "exercises": ("helpers/exercises/*.py", "helpers/exercises/[bd]*/*.py"),
    "grading": ("helpers/grading/*.py",),
    "film": ("tool/thirty_two_lanes/film/*.py",),
    "assembly": ("tool/thirty_two_lanes/assembly/*.py",),
    "intrinsics": ("tool/thirty_two_lanes/intrinsics/*.py",),
    "scripts": ("tool/thirty_two_lanes/scripts/*.py",),
    "checking": ("helpers/checking/*.py",),
    "measuring": ("helpers/measuring/*.py",),
    "plotting": ("helpers/plotting/**/*.py",),
}
EQUIVALENT = Path(__file__).with_name("equivalent.toml")


def main():
    """Sample mutants, try each and print the table."""
    options = _options()
    chosen = {room: mutants_in(room, options) for room in options.rooms or ROOMS}
    equivalent = equivalents(chosen)
    os.nice(10)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background, too
    warm()
    records = recorded(chosen, lambda text: print(text, flush=True))
    counts = {room: Counter() for room in chosen}
    try:
        for room, mutant, what in tried(chosen, equivalent, records):
            counts[room][what.partition(" ")[0]] += 1
            if what != "killed":
                line = f"{what}: {mutant.file}:{mutant.line}  {mutant.change}"
                print(line, flush=True)
            if sum(it.total() for it in counts.values()) % 40 == 0:
                print(table(counts), flush=True)
    except KeyboardInterrupt:
        print("stopped")
    print(table(counts))


def _options():
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("rooms", nargs="*", metavar="room", help=", ".join(ROOMS))
    parser.add_argument("--sample", type=int, default=100, help="mutants of a room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="how paths of files end")
    options = parser.parse_args()
    if set(options.rooms) - set(ROOMS):
        parser.error(f"the rooms are {', '.join(ROOMS)}")
    return options


def mutants_in(room, options):
    """The sample of a room, in no order: a smaller one is its beginning."""
    files = [file for file in files_of(room) if file.endswith(options.only)]
    found = [mutant for file in files for mutant in mutants_of(file)]
    random.Random(options.seed).shuffle(found)
    return found[: options.sample]


def files_of(room):
    """The files of a room, from the project's root."""
    paths = [path for pattern in ROOMS[room] for path in ROOT.glob(pattern)]
    return sorted({path.relative_to(ROOT).as_posix() for path in paths})


def equivalents(rooms):
    """The keys of mutants of some rooms that nobody can tell from the original."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    files = {file for room in rooms for file in files_of(room)}
    keys = {(row["file"], row["text"], row["change"]) for row in rows}
    keys = {key for key in keys if key[0] in files}
    known = {it.key for file in {key[0] for key in keys} for it in mutants_of(file)}
    if keys - known:
        raise SystemExit(f"{EQUIVALENT.name} has what is no mutant: {keys - known}")
    return keys


def tried(chosen, equivalent, records):
    """Each mutant with its room and its end, all rooms in turn."""
    jobs = []
    turns = zip_longest(*([(room, it) for it in its] for room, its in chosen.items()))
    for room, mutant in filter(None, chain(*turns)):
        code = mutant.code()
        if mutant.key in equivalent:
            yield room, mutant, "equivalent"
        elif code is not None:
            tests = tests_of(mutant, records)
            jobs.append(((room, mutant, tests), _attempt(mutant, code, tests)))
    for (room, mutant, tests), survived in forked(jobs):
        yield room, mutant, f"survived {len(tests)} tests" if survived else "killed"


def _attempt(mutant, code, tests):
    return lambda: attempt(mutant, code, tests) if tests else 0


def table(counts):
    """A row for each room: mutants, killed, and the share of those that can be."""
    lines = [f"{'room':10}{'mutants':>9}{'equivalent':>12}{'killed':>8}{'share':>8}"]
    for room, count in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        tellable = count["killed"] + count["survived"]
        share = f"{count['killed'] / tellable:.0%}" if tellable else ""
        lines.append(
            f"{room:10}{count.total():9}{count['equivalent']:12}{count['killed']:8}"
            f"{share:>8}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()

"""How far the count of LSU wavefronts agrees with an H200's, launch by launch.

    python -m tests.on_gpu.data_path zoo 25 26     the zoo and two lessons; all, without

Asks NVIDIA's compiler for the machine code, and needs no GPU: `tests.on_gpu.counters`
made the recording.
"""

import sys

from helpers import assemble, emulate
from tests.on_gpu.agreement import counters
from tests.specimens.lesson_launches import launches, lessons
from tests.specimens.zoo_cases import ZOO

SHARES = 0, 0.01, 0.05  # of the recorded count: how far the emulator's may be from it
H200 = 9, 0
# launches that are recorded as they are, and how many of them are within each share
AGREEING = {
    "zoo": (57, 50, 50, 50),
    "01": (2, 0, 0, 0),
    "02": (10, 5, 6, 6),
    "11": (2, 2, 2, 2),
    "12": (7, 1, 1, 5),
    "13": (7, 3, 3, 6),
    "14": (21, 21, 21, 21),
    "15": (20, 17, 17, 18),
    "16": (4, 2, 3, 3),
    "17": (3, 1, 3, 3),
    "18": (3, 1, 2, 2),
    "19": (4, 4, 4, 4),
    "20": (10, 1, 1, 1),
    "21": (25, 15, 16, 19),
    "22": (17, 4, 8, 8),
    "23": (10, 1, 2, 3),
    "24": (11, 3, 3, 3),
    "25": (46, 33, 38, 38),
    "26": (23, 8, 9, 13),
    "27": (66, 52, 61, 62),
    "28": (79, 42, 43, 59),
    "31": (19, 15, 15, 19),
    "34": (49, 14, 16, 26),
    "35": (2, 1, 1, 1),
    "36": (20, 1, 8, 13),
    "37": (38, 14, 14, 20),
}


def cases_of(name):
    """The launches of the zoo, or of a lesson by its number."""
    if name == "zoo":
        return [case for case in ZOO if not (case.error or case.hangs)]
    lesson = next(it for it in lessons() if it.stem.startswith(name))
    return [case for case, _ in launches(lesson)]


def compared(name) -> dict[str, tuple[int, int]]:
    """The LSU wavefronts of its launches that are recorded: emulated, and an H200's."""
    recorded, found = counters()["kernels"], {}
    for case in cases_of(name):
        entry = recorded.get(case.name, {})
        there = entry.get("totals", {}).get("lsu_wavefronts")
        if there is not None and entry["digest"] == case.digest:
            assembly = assemble(case.kernel, H200)[case.launch](*case.fresh())
            run = emulate(case.kernel, assembly=assembly)[case.launch](*case.fresh())
            found[case.name] = run.data_path.wavefronts, there
    return found


def agreeing(found) -> tuple[int, ...]:
    """How many launches there are, and how many are within each share."""
    away = [abs(here - there) / there for here, there in found.values()]
    return len(found), *(sum(it <= share for it in away) for share in SHARES)


def main(names):
    """Print a row for each, and below it what is not within the last share."""
    for name in names or ["zoo", *(it.stem[:2] for it in lessons())]:
        found = compared(name)
        print(f"    {name!r}: {agreeing(found)},", flush=True)
        for launch, (here, there) in found.items():
            if abs(here - there) > SHARES[-1] * there:
                print(f"        # {launch}: {here:,} and {there:,}")


if __name__ == "__main__":
    main(sys.argv[1:])

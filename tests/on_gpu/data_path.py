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
    "11": (1, 1, 1, 1),
    "12": (1, 0, 0, 0),
    "13": (7, 3, 3, 6),
    "14": (22, 22, 22, 22),
    "15": (16, 15, 15, 15),
    "16": (6, 3, 4, 4),
    "17": (2, 1, 2, 2),
    "18": (4, 2, 3, 3),
    "19": (3, 3, 3, 3),
    "20": (2, 0, 0, 0),
    "21": (18, 12, 13, 15),
    "22": (11, 2, 5, 5),
    "23": (15, 0, 2, 4),
    "24": (10, 5, 5, 6),
    "25": (120, 85, 97, 111),
    "26": (16, 2, 5, 6),
    "27": (60, 47, 52, 56),
    "28": (62, 33, 35, 43),
    "31": (12, 10, 10, 12),
    "34": (48, 15, 21, 32),
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

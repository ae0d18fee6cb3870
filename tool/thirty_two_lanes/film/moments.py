"""The moments of a film that a contact sheet shows, and the film in a sentence or two.

They are chosen by what happens: the first time that a shared array is filled, read or
full, a barrier opens, a warp splits or a bank has a queue, each fault, the last store.
All is read from the record, so that a film that was saved has the same.
"""

import re
from functools import partial
from itertools import takewhile
from math import prod
from typing import NamedTuple

from thirty_two_lanes.core.words import counted, raised
from thirty_two_lanes.film.replay import text_at, touched

MOST, LEAST = 9, 4


class KeyStep(NamedTuple):
    """A step worth a picture; the lowest rank is kept first."""

    rank: int
    step: int
    caption: str


def moments_of(record) -> list[dict]:
    """Four to nine moments in order, each with its caption; fewer in a shorter film."""
    chosen, steps = [], set()
    for moment in sorted(_candidates(record)):
        if moment.step not in steps and len(chosen) < MOST:
            chosen.append(moment)
            steps.add(moment.step)
    if len(chosen) < LEAST:
        chosen += _spread(record, steps, LEAST - len(chosen))
    chosen.sort(key=lambda moment: moment.step)
    return [{"step": it.step, "caption": it.caption} for it in chosen]


def _candidates(record):
    """All moments that could be shown."""
    yield from _of_findings(record)
    yield from _of_loops(record)
    yield from _of_arrays(record)
    yield from _of_threads(record)
    yield from _of_lanes(record)
    yield from _of_queues(record)


def _of_findings(record):
    """Each fault where it is complete, and the first cost."""
    found = [it for it in record["findings"] if it["steps"]]
    for finding in (it for it in found if it["level"] == "wrong"):
        first, last = finding["steps"][0], finding["steps"][-1]
        race = finding["kind"] == "race"
        yield KeyStep(0, last if race else first, raised(finding["title"]))
        if race:
            caption = f"The earlier side of the race, {_who(record, first)}"
            yield KeyStep(1, first, caption)
    costs = [it for it in found if it["level"] != "wrong"]
    if costs:
        finding = min(costs, key=lambda it: it["steps"][0])
        yield KeyStep(2, finding["steps"][0], raised(finding["title"]))


def _of_loops(record):
    """The first time that a warp leaves a loop that is in no other loop."""
    end = 0
    for first, last in sorted(_loops(record["files"][0])):
        if first > end:
            end = last
            yield from _of_loop(record, first, last)


def _of_loop(record, first, last):
    inside = set()
    for number, step in enumerate(record["steps"]):
        if step["f"] == 0 and first <= step["l"] <= last:
            inside.add(step["w"])
        elif step["f"] == 0 and step["l"] > last and step["w"] in inside:
            caption = f"Warp {step['w']} has left the loop of line {first}"
            yield KeyStep(3, number, caption)
            return


def _loops(file):
    """The first and the last line of each loop of a function."""
    lines = file["lines"]
    for number, line in enumerate(lines):
        if re.match(r"\s*(for|while)\b", line):
            first = file["first"] + number
            yield first, first + len(list(_body(line, lines[number + 1 :])))


def _body(head, lines):
    """The lines that are indented more than the one before them."""
    indent = len(head) - len(head.lstrip())
    inside = rf"\s{{{indent + 1}}}|\s*$"
    return takewhile(partial(re.match, inside), lines)


def _of_arrays(record):
    """First fill, all filled and first read of shared arrays; the last store."""
    filled, read, last = {}, set(), None
    for number, step in enumerate(record["steps"]):
        for access in step.get("a", ()):
            array = record["arrays"][access["r"]]
            if access["k"] != "load":
                last = KeyStep(3, number, f"The last store, to `{array['name']}`")
            if array["space"] == "shared":
                yield from _of_shared(record, number, step, access, filled, read)
    if last is not None:
        yield last._replace(caption=f"{last.caption}, {_who(record, last.step)}")


def _of_shared(record, number, step, access, filled, read):
    array, where = record["arrays"][access["r"]], access["r"]
    who = _who(record, number)
    if access["k"] == "load":
        if where not in read:
            read.add(where)
            yield KeyStep(3, number, f"`{array['name']}` is read, {who}")
        return
    cells = filled.setdefault(where, set())
    if not cells:
        yield KeyStep(2, number, f"`{array['name']}` gets its first values, {who}")
    size, before = prod(array["shape"]), len(cells)
    cells |= {cell for _, cell in touched(record, access)}
    if before < size == len(cells):
        yield KeyStep(4, number, f"`{array['name']}` is full")


def _of_threads(record):
    """The first barrier that opens, and the first lanes that wait or are done."""
    captions = {
        "pass": (2, "All warps have come to the barrier, and it opens"),
        "wait": (4, "Lanes wait for others of their warp, {who}"),
        "leave": (6, "The first threads are done, {who}"),
    }
    for number, step in enumerate(record["steps"]):
        if step.get("e") in captions:
            rank, caption = captions.pop(step["e"])
            yield KeyStep(rank, number, caption.format(who=_who(record, number)))


def _of_lanes(record):
    """Lanes part for the first time, meet again, are fewest; and exchange values."""
    steps = record["steps"]
    splits = (n for n, step in enumerate(steps) if step.get("e") == "split")
    split = next(splits, None)
    if split is not None:
        yield from _of_split(record, split)
        active = [step["m"].bit_count() for step in steps]
        part = [n for n, lanes in enumerate(active) if 0 < 2 * lanes <= 32]
        fewest = min(part, key=active.__getitem__, default=split)
        lanes = _lanes(steps[fewest]["m"])
        caption = f"The fewest lanes at a time: {lanes}, {_who(record, fewest)}"
        yield KeyStep(5, fewest, caption)
    for number, step in enumerate(steps):
        if "shfl_" in text_at(record, step):
            caption = f"Lanes take each other's values, {_who(record, number)}"
            yield KeyStep(3, number, caption)
            return


def _of_split(record, number):
    """Lanes part, and later are together again."""
    step, later = record["steps"][number], range(number + 1, len(record["steps"]))
    own = [n for n in later if record["steps"][n]["w"] == step["w"]]
    if not own:
        return
    first = _lanes(record["steps"][own[0]]["m"])
    goes = "goes" if first == "1 lane" else "go"
    caption = f"Warp {step['w']} splits at line {step['l']}: {first} {goes} first"
    yield KeyStep(2, number, caption)
    for n in own:
        if record["steps"][n]["m"] == step["m"]:
            caption = f"Its lanes are together again, {_who(record, n)}"
            yield KeyStep(3, n, caption)
            return


def _of_queues(record):
    """The first bank conflict, and the request of most sectors; the first atomic."""
    found = [f for f in record["findings"] if f["steps"]]
    conflicts = [f for f in found if f["kind"] == "conflict"]
    for finding in conflicts[:1]:
        number = finding["steps"][0]
        waves = max(len(a.get("b", ())) for a in record["steps"][number]["a"])
        caption = f"Lanes queue at a bank: {waves} wavefronts, {_who(record, number)}"
        yield KeyStep(1, number, caption)
    for number, step in enumerate(record["steps"]):
        for access in step.get("a", ()):
            if access["k"] == "atomic":
                name = record["arrays"][access["r"]]["name"]
                caption = f"The first atomic update of `{name}`, {_who(record, number)}"
                yield KeyStep(3, number, caption)
                return


def _spread(record, taken, count):
    """Moments at equal distances, where too little happens."""
    steps = record["steps"]
    busy = [n for n, step in enumerate(steps) if "a" in step or "v" in step]
    left = [n for n in busy if n not in taken]
    for part in range(min(count, len(left))):
        number = left[part * len(left) // min(count, len(left))]
        yield KeyStep(9, number, raised(_who(record, number)))


def _who(record, number):
    step = record["steps"][number]
    return f"warp {step['w']} at line {step['l']}"


def _lanes(mask) -> str:
    return counted(mask.bit_count(), "lane")


def description_of(record) -> str:
    """The film in a sentence or two."""
    block = tuple(record["watched"])
    name, threads, warps = record["kernel"], record["threads"], record["warps"]
    barriers = sum(step.get("e") == "pass" for step in record["steps"])
    shared = [f"`{a['name']}`" for a in record["arrays"] if a["space"] == "shared"]
    parts = [
        f"Block {block} of `{name}`: {threads:,} threads in {counted(warps, 'warp')}, "
        f"{counted(len(record['steps']), 'step')}"
    ]
    if shared:
        parts.append(f"shared memory holds {_listed(shared)}")
    if barriers:
        parts.append(f"{counted(barriers, 'barrier')} opened")
    wrong = [f["title"] for f in record["findings"] if f["level"] == "wrong"]
    costs = [f["title"] for f in record["findings"] if f["level"] != "wrong"]
    found = f"Found: {'; '.join(wrong)}." if wrong else "Nothing wrong was found."
    cost = f" It costs: {'; '.join(costs)}." if costs else ""
    return f"{', '.join(parts)}. {found}{cost}"


def _listed(names):
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

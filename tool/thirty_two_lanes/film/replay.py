"""What a film shows after each of its steps: the record, replayed.

A record has what changes; a frame has all that is there. The player in the page does
the same in JavaScript (`replay.js`).
"""

from typing import NamedTuple

WARP = 32
AT_BARRIER = "barrier", "pass"  # how steps end there, the last one before it opens


class Frame(NamedTuple):
    """What is there after a step.

    `cells` has, for each array, the values by cell that were written or given; `ends`
    how each thread's last step ended, "" where it goes on.
    """

    step: int
    cells: list[dict]
    ends: list[str]


def frames(record, steps):
    """The frames after these steps, in their order; each is valid until the next."""
    wanted, opens = set(steps), False
    cells = [given(array["initial"]) for array in record["arrays"]]
    ends = [""] * record["threads"]
    for n, step in enumerate(record["steps"]):
        if opens:
            ends = ["" if it in AT_BARRIER else it for it in ends]
        opens = step.get("e") == "pass"
        for lane in lanes_of(step["m"]):
            ends[step["w"] * WARP + lane] = step.get("e", "")
        for access in (it for it in step.get("a", ()) if "x" in it):
            for lane, cell in touched(record, access):
                cells[access["r"]][cell] = in_lane(access["x"], lane)
        if n in wanted:
            yield Frame(n, cells, ends)


def text_at(record, step) -> str:
    """The source of a step's line; nothing, where Python did not find the source."""
    file = record["files"][step["f"]]
    place = step["l"] - file["first"]
    return file["lines"][place] if 0 <= place < len(file["lines"]) else ""


def given(initial) -> dict:
    """The values of an array before the first step, by cell."""
    if isinstance(initial, dict):
        return {int(cell): value for cell, value in initial["only"].items()}
    return dict(enumerate(initial or ()))


def lanes_of(mask) -> list[int]:
    """The lanes of a mask of 32 bits."""
    return [lane for lane in range(WARP) if mask >> lane & 1]


def in_lane(value, lane):
    """What a value by lane, or one for all, is in a lane."""
    return value[lane] if isinstance(value, list) else value


def touched(record, access) -> list[tuple[int, int]]:
    """The lanes that take part in an access, each with its cell."""
    pattern = record["patterns"][access["p"]]
    shift = access.get("o", 0)
    return [(lane, it + shift) for lane, it in enumerate(pattern) if it is not None]

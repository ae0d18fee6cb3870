"""What a film shows after each of its steps: the record, replayed.

A record has what changes; a frame has all that is there. The player in the page does
the same in JavaScript (`replay.js`).
"""

from typing import NamedTuple

WARP = 32
RUNS, AT_BARRIER, WAITS, LEFT = range(4)
ENDS = {"barrier": AT_BARRIER, "pass": AT_BARRIER, "wait": WAITS, "leave": LEFT}


class Frame(NamedTuple):
    """What is there after a step.

    `cells` has, for each array, the values by cell that were written or given;
    `status` one of RUNS, AT_BARRIER, WAITS, LEFT for each thread, `stood` the last
    step of each thread (-1: none), and `values` each variable by thread (None: none).
    """

    step: int
    cells: list[dict]
    status: list[int]
    stood: list[int]
    values: dict[str, list]


def frames(record, steps):
    """The frames after these steps, in their order; each is valid until the next."""
    wanted, frame = sorted(set(steps)), opening(record)
    for n in wanted:
        while frame.step < n:
            frame = advanced(record, frame)
        yield frame


def text_at(record, step) -> str:
    """The source of a step's line; nothing, where Python did not find the source."""
    file = record["files"][step["f"]]
    place = step["l"] - file["first"]
    return file["lines"][place] if 0 <= place < len(file["lines"]) else ""


def opening(record) -> Frame:
    """What is there before the first step."""
    threads = record["threads"]
    return Frame(
        -1,
        [given(array["initial"]) for array in record["arrays"]],
        [RUNS] * threads,
        [-1] * threads,
        {name: [None] * threads for name in record["variables"]},
    )


def given(initial) -> dict:
    """The values of an array before the first step, by cell."""
    if isinstance(initial, dict):
        return {int(cell): value for cell, value in initial["only"].items()}
    return dict(enumerate(initial or ()))


def advanced(record, frame) -> Frame:
    """The frame after the next step, of the same lists."""
    n = frame.step + 1
    step, status = record["steps"][n], frame.status
    if n and record["steps"][n - 1].get("e") == "pass":
        status[:] = [RUNS if it == AT_BARRIER else it for it in status]
    for lane in lanes_of(step["m"]):
        thread = step["w"] * WARP + lane
        status[thread] = ENDS.get(step.get("e"), RUNS)
        frame.stood[thread] = n
        for name, value in step.get("v", {}).items():
            if (new := in_lane(value, lane)) is not None:
                frame.values[name][thread] = new
    for access in step.get("a", ()):
        if "x" in access:
            cells = frame.cells[access["r"]]
            for lane, cell in touched(record, access):
                cells[cell] = in_lane(access["x"], lane)
    return frame._replace(step=n)


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

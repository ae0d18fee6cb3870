"""A film as plain data, which JSON holds and the player reads: docs/FILM.md says what
is in it.
"""

import numpy as np

from thirty_two_lanes.core.hardware import WARP_SIZE
from thirty_two_lanes.core.sectors import accesses_of, sectors_of
from thirty_two_lanes.core.source import source_of
from thirty_two_lanes.core.wavefronts import wavefronts_of_groups
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.film.arrays import plain
from thirty_two_lanes.film.moments import description_of, moments_of

VERSION = 2
EXACT = 2**53  # the integers up to here are numbers in JavaScript, too


class Patterns:
    """Cells by lane, each list of them once."""

    def __init__(self):
        self.known = {}

    def number(self, cells, lanes) -> tuple[int, int]:
        """The number of a pattern, and what is to be added to its cells."""
        lowest = int(cells[lanes].min())
        pattern = np.where(lanes, cells - lowest, -1)
        return self.known.setdefault(tuple(pattern.tolist()), len(self.known)), lowest

    def listed(self) -> list:
        """All of them, None where a lane takes no part."""
        return [[None if c < 0 else c for c in pattern] for pattern in self.known]


def record_of(recorder, grid, block, findings) -> dict:
    """The film of a recorder, with what was found in it."""
    record = _plain(recorder, *([int(n) for n in it] for it in (grid, block)))
    for number, finding in enumerate(findings):
        for step in finding["steps"]:
            record["steps"][step].setdefault("n", []).append(number)
    record["findings"] = findings
    record["moments"] = moments_of(record)
    record["description"] = description_of(record)
    record["left_out"] = _left_out(recorder, record)
    return record


def _left_out(recorder, record):
    """What happened and is not in the film, in a sentence; None where that is all."""
    blocks = int(np.prod(record["grid"]))
    left = []
    if recorder.truncated:
        left.append(f"the film ends after {counted(len(record['steps']), 'step')}")
    if any(f["kind"] == "error" and not f["steps"] for f in record["findings"]):
        left.append("the error is in another block, or later")
    if blocks > 1:
        left.append(f"{counted(blocks - 1, 'other block')} ran, unseen")
    sentence = "; ".join(left)
    return f"{sentence[:1].upper()}{sentence[1:]}." if left else None


def _plain(recorder, grid, block):
    """What happens in each step."""
    patterns, functions = Patterns(), {recorder.function: 0}
    steps = [_step(step, recorder, patterns, functions) for step in recorder.steps]
    return {
        "version": VERSION,
        "kernel": recorder.function.__name__,
        "grid": grid,
        "block": block,
        "watched": [int(n) for n in np.unravel_index(recorder.block, grid, "F")],
        "threads": recorder.threads,
        "warps": -(-recorder.threads // WARP_SIZE),
        "files": [_file(function) for function in functions],
        "arrays": [_array(array) for array in recorder.arrays.touched],
        "variables": recorder.variables,
        "patterns": patterns.listed(),
        "steps": steps,
    }


def _file(function):
    """A function's file, its first line and its lines."""
    source = source_of(function)
    if source is None:
        return {"place": "", "first": 1, "lines": []}
    return {"place": source.file, "first": source.first, "lines": [*source.lines]}


def _array(array):
    made = {
        "name": array.name,
        "space": array.space,
        "dtype": array.dtype.name,
        "itemsize": array.dtype.itemsize,
        "shape": [*array.shape],
        "offset": int(array.offset),
        "initial": _initial(array),
    }
    if not array.is_contiguous:
        made["strides"] = [*array.strides]
    return made


def _initial(array):
    """What was in the cells: nothing, all of it, or what the film touches."""
    if array.space == "shared":
        return None
    if len(array.initial) == array.size:
        return [as_json(array.initial[cell]) for cell in range(array.size)]
    cells = sorted(array.initial)
    return {"only": {str(cell): as_json(array.initial[cell]) for cell in cells}}


def _step(step, recorder, patterns, functions):
    made = {
        "w": step.warp,
        "f": functions.setdefault(step.function, len(functions)),
        "l": step.line,
        "m": bits(step.lanes),
    }
    if step.accesses:
        made["a"] = [_access(a, recorder, patterns) for a in step.accesses]
    if step.values:
        made["v"] = {
            name: _by_lane(plain(value), step.lanes)
            for name, value in step.values.items()
        }
    if step.shuffles:
        made["h"] = [[*patterns.number(it, step.lanes)] for it in step.shuffles]
    event = "pass" if step.opens else step.ends
    if event:
        made["e"] = event
    return made


def _access(access, recorder, patterns):
    pattern, lowest = patterns.number(access.cells, access.lanes)
    number = recorder.arrays.number(access.array)
    made = {"r": number, "k": access.kind, "p": pattern, "o": lowest}
    if access.values is not None:
        made["x"] = _spread(access.values, access.lanes)
    if access.missing:
        made["u"] = bits(access.lanes & np.isin(access.cells, access.missing))
    if not access.counts:
        return made
    if access.array.space == "shared":
        groups = groups_of(access)
        made["b"] = [bits(lanes) for group in groups for lanes in group]
        if len(groups) > 1:
            made["g"] = [len(group) for group in groups]
    else:
        made["s"] = _sectors(access)
    return made


def groups_of(access) -> list:
    """The wavefronts of a request to shared memory, by lanes served together."""
    size, kind = access.event.dtype.itemsize, access.event.reference.served_as
    return wavefronts_of_groups(access.addresses, access.lanes, size, kind)


def _sectors(access):
    """The sectors of a request, counted from where the array's `offset` counts."""
    size, parts = accesses_of(access.event.dtype)
    first = access.array.first - access.array.offset
    addresses = access.addresses[access.lanes] - first
    each = (sectors_of(addresses + part * size, size) for part in range(parts))
    return np.concatenate([*each]).tolist()


def bits(lanes) -> int:
    """Lanes, a bit each."""
    return sum(1 << lane for lane in np.flatnonzero(lanes).tolist())


def _by_lane(values, lanes):
    """One value if the active lanes have the same, else each lane's."""
    chosen = [v for v, there in zip(values, lanes, strict=True) if there]
    return _spread(chosen, lanes)


def _spread(values, lanes):
    """Values of the active lanes: one if they are the same, else one for each lane."""
    found = [as_json(value) for value in values]
    if all(value == found[0] for value in found):
        return found[0]
    each = iter(found)
    return [next(each) if there else None for there in lanes.tolist()]


def as_json(value):
    """A number as every reader of JSON understands it."""
    if isinstance(value, float) and not np.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and abs(value) > EXACT:
        return str(value)
    return value

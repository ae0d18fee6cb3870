"""A record of a film, made by hand: two warps reverse 64 numbers through a tile.

One thread writes a cell that another reads before the barrier; the loads of the tile
queue at its banks; half of the lanes take a branch. It is simulated here in a few lines
of Python, with no emulator, so that the player can be held against it.
"""

from copy import deepcopy

WARP = 32
SOURCE = """\
@cuda.jit
def reversed_tile(x, y):
    tile = cuda.shared.array((8, 8), float32)
    i = cuda.threadIdx.y * 8 + cuda.threadIdx.x
    tile[i // 8, i % 8] = x[i]
    value = tile[i % 8, i // 8]
    cuda.syncthreads()
    if i % 8 < 4:
        value += 1
    y[i] = value""".splitlines()
FIRST = 9  # the line of `@cuda.jit`
INDEX, FILL, READ, BARRIER, BRANCH, ADD, WRITE = range(FIRST + 3, FIRST + 10)
X, Y, TILE = range(3)
ALL = 2**WARP - 1


def record():
    """The record, by warps: the first up to the barrier, then the second, ..."""
    film = Recorder()
    for warp in (0, 1):
        film.before_the_barrier(warp)
    for warp in (0, 1):
        film.after_the_barrier(warp)
    return {
        "version": 2,
        "kernel": "reversed_tile",
        "grid": [1, 1, 1],
        "block": [8, 8, 1],
        "watched": [0, 0, 0],
        "threads": 2 * WARP,
        "warps": 2,
        "files": [{"place": "cell [7]", "first": FIRST, "lines": SOURCE}],
        "arrays": [
            array("x", "global", [64], [float(i) for i in range(64)]),
            array("y", "global", [64], {"only": {str(i): 0.0 for i in range(64)}}),
            array("tile", "shared", [8, 8], None),
        ],
        "variables": ["i", "value"],
        "patterns": film.patterns,
        "steps": film.steps,
        "findings": deepcopy(FINDINGS),
        "moments": [{"step": 1, "caption": "The first warp fills half of the tile."}],
        "description": "Two warps fill a tile and read it with no barrier between.",
        "left_out": None,
    }


FINDINGS = [
    {
        "kind": "race",
        "level": "wrong",
        "title": "race on `tile` between lines 13 and 14",
        "text": "thread 32 stores `tile[4, 0]` and thread 4 loads it, in any order",
        "steps": [2, 5],
        "cells": [[TILE, 32]],
    },
    {
        "kind": "conflict",
        "level": "costly",
        "title": "bank conflict in line 14",
        "text": "a request needs 2 wavefronts where 1 would do",
        "steps": [2, 6],
        "cells": [],
    },
]


def array(name, space, shape, initial):
    """An array of 4-byte numbers at the start of its memory."""
    return {
        "name": name,
        "space": space,
        "dtype": "float32",
        "itemsize": 4,
        "shape": shape,
        "offset": 0,
        "initial": initial,
    }


class Recorder:
    """Writes steps while it simulates them."""

    def __init__(self):
        self.steps, self.patterns = [], []
        self.tile, self.value = {}, {}

    def before_the_barrier(self, warp):
        threads = range(warp * WARP, (warp + 1) * WARP)
        for i in threads:
            self.tile[i] = float(i)
        across = [i % 8 * 8 + i // 8 for i in threads]
        self.value |= {
            i: self.tile.get(cell, "nan")
            for i, cell in zip(threads, across, strict=True)
        }
        values = [float(i) for i in threads]
        fill = self.access(TILE, "store", threads, x=values, b=[ALL])
        self.step(warp, INDEX, v={"i": list(threads)})
        load = self.access(X, "load", threads, s=sectors(threads))
        self.step(warp, FILL, a=[load, fill])
        queue = self.access(TILE, "load", across, b=waves(across))
        seen = [self.value[i] for i in threads]
        found = [1] if warp else [0, 1]
        self.step(warp, READ, a=[queue], v={"value": seen}, n=found)
        self.step(warp, BARRIER, e="pass" if warp else "barrier")
        if warp:
            self.steps[-3]["n"] = [0]

    def after_the_barrier(self, warp):
        threads = range(warp * WARP, (warp + 1) * WARP)
        half = sum(1 << lane for lane in range(WARP) if lane % 8 < 4)
        for i in threads:
            if i % 8 < 4 and self.value[i] != "nan":
                self.value[i] += 1
        values = [self.value[i] for i in threads]
        told = [it if lane % 8 < 4 else None for lane, it in enumerate(values)]
        self.step(warp, BRANCH, e="split")
        self.step(warp, ADD, m=half, v={"value": told})
        write = self.access(Y, "store", threads, x=values, s=sectors(threads))
        self.step(warp, WRITE, a=[write], e="leave")

    def step(self, warp, line, m=ALL, **more):
        self.steps.append({"w": warp, "f": 0, "l": line, "m": m, **more})

    def access(self, place, kind, cells, **more):
        """An access, whose pattern is relative to its first cell."""
        first = min(cells)
        pattern = [cell - first for cell in cells]
        if pattern not in self.patterns:
            self.patterns.append(pattern)
        at = self.patterns.index(pattern)
        return {"r": place, "k": kind, "p": at, "o": first, **more}


def sectors(cells):
    """The sectors of 32 bytes in which numbers of 4 bytes lie."""
    return sorted({4 * cell // 32 for cell in cells})


def waves(cells):
    """The lanes of each wavefront: the n-th word that each bank is asked for."""
    masks, asked = {}, {}
    for lane, cell in enumerate(cells):
        words = asked.setdefault(cell % 32, [])
        words += [cell] if cell not in words else []
        wave = words.index(cell)
        masks[wave] = masks.get(wave, 0) | 1 << lane
    return [masks[wave] for wave in sorted(masks)]


def replayed(record, last):
    """The cells, variables and states of threads after step `last`, in plain Python."""
    cells = [dict(pairs(it["initial"])) for it in record["arrays"]]
    values = {name: {} for name in record["variables"]}
    waiting, done = set(), set()
    for number, step in enumerate(record["steps"][: last + 1]):
        if number and record["steps"][number - 1].get("e") == "pass":
            waiting = set()
        lanes = [lane for lane in range(WARP) if step["m"] >> lane & 1]
        threads = {step["w"] * WARP + lane for lane in lanes}
        waiting, done = waiting - threads, done - threads
        waiting |= threads if step.get("e") in ("barrier", "pass") else set()
        done |= threads if step.get("e") == "leave" else set()
        for access in step.get("a", []):
            pattern = record["patterns"][access["p"]]
            for lane, cell in enumerate(pattern) if "x" in access else ():
                if cell is not None:
                    cells[access["r"]][cell + access["o"]] = of_lane(access["x"], lane)
        for name, given in step.get("v", {}).items():
            for lane in lanes:
                values[name][step["w"] * WARP + lane] = of_lane(given, lane)
    return {"cells": cells, "values": values, "waiting": waiting, "done": done}


def pairs(initial):
    """(cell, value) of each cell that has one before the first step."""
    if initial is None:
        return []
    if isinstance(initial, list):
        return enumerate(initial)
    return ((int(cell), value) for cell, value in initial["only"].items())


def of_lane(given, lane):
    """What a value by lane, or one for all, is in a lane."""
    return given[lane] if isinstance(given, list) else given

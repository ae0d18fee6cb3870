"""The panels of a contact sheet, of a film's record."""

import numpy as np

from thirty_two_lanes.film.drawing import MOST_CELLS, Panel, plot_film
from thirty_two_lanes.film.replay import WARP, frames, lanes_of, text_at, touched

STATES = {"barrier": "waits", "pass": "waits", "wait": "waits", "leave": "left"}


def sheet_of(record):
    """The contact sheet of a film: a Picture of its moments."""
    captions = {it["step"]: it["caption"] for it in record["moments"]}
    panels = [
        panel_of(record, frame, captions[frame.step])
        for frame in frames(record, captions)
    ]
    words = [f"Step {n + 1}: {captions[n]}" for n in sorted(captions)]
    return plot_film(panels, " ".join([record["description"], *words]))


def panel_of(record, frame, caption) -> Panel:
    """The moment after a step."""
    step = record["steps"][frame.step]
    array = array_of(record, frame.step)
    lanes = lane_states(record, frame, step)
    line = line_of(record, step)
    if array is None:
        return Panel(caption, line, lanes)
    about = record["arrays"][array]
    known, wrong = cells_of(record, step, array)
    columns, first, rows = window(about["shape"], [*known, *wrong])
    tile = tile_of(frame.cells[array], columns, first, rows)
    shown = range(first, first + rows * columns)
    spot = {cell: divmod(cell - first, columns) for cell in {*known, *wrong}}
    touched = {spot[cell]: kind for cell, kind in known.items() if cell in shown}
    marks = frozenset(spot[cell] for cell in wrong if cell in shown)
    return Panel(caption, line, lanes, name_of(about), tile, touched, marks)


def lane_states(record, frame, step) -> list:
    """What each lane does, a row for each warp."""
    states = [STATES.get(end, "runs") for end in frame.ends]
    for lane in lanes_of(step["m"]):
        states[step["w"] * WARP + lane] = "active"
    return [states[at : at + WARP] for at in range(0, record["threads"], WARP)]


def line_of(record, step) -> str:
    """The step's line as its reader counts, and its text."""
    return f"{step['l']}  {text_at(record, step).strip()}".strip()


def array_of(record, n) -> int | None:
    """The array to show: shared ones first, of this step or of the last before it."""
    has_shared = any(it["space"] == "shared" for it in record["arrays"])
    for at in range(n, -1, -1):
        used = [it["r"] for it in record["steps"][at].get("a", ())]
        shared = [it for it in used if record["arrays"][it]["space"] == "shared"]
        if shared or at == n and used and not has_shared:
            return (shared or used)[-1]
    return None


def cells_of(record, step, array) -> tuple[dict, set]:
    """The cells that a step touches, by how, and those of its findings."""
    known = {
        cell: access["k"] if access["k"] in ("load", "atomic") else "store"
        for access in step.get("a", ())
        if access["r"] == array
        for _, cell in touched(record, access)
    }
    found = [record["findings"][n] for n in step.get("n", ())]
    return known, {cell for it in found for cell in marked(record, step, array, it)}


def marked(record, step, array, finding):
    """The cells of a finding that a step touches; reads, where nobody wrote them."""
    about = {cell for at, cell in finding.get("cells", ()) if at == array}
    nothing = finding["kind"] == "uninitialised"
    for access in step.get("a", ()):
        lanes = access.get("u", 0) if nothing else -1
        for lane, cell in touched(record, access) if access["r"] == array else ():
            if lanes >> lane & 1 and cell in about:
                yield cell


def window(shape, cells) -> tuple[int, int, int]:
    """The columns, the first cell and the rows that are shown of an array."""
    columns = shape[-1] if len(shape) > 1 and shape[-1] <= MOST_CELLS else MOST_CELLS
    columns = min(columns, int(np.prod(shape)) or 1)
    rows = -(-int(np.prod(shape)) // columns)
    top = min(cells, default=0) // columns if rows > MOST_CELLS else 0
    return columns, top * columns, min(rows - top, MOST_CELLS)


def tile_of(cells, columns, first, rows) -> np.ndarray:
    """The values of a window of cells, NaN where nothing was written."""
    values = [number(cells.get(first + at)) for at in range(rows * columns)]
    return np.array(values, dtype=float).reshape(rows, columns)


def number(value) -> float:
    """A cell's value as a shade shows it; NaN for none."""
    return float("nan") if value is None else float(np.real(complex(value)))


def name_of(array) -> str:
    """An array with its shape."""
    sizes = " × ".join(map(str, array["shape"]))
    return f"{array['name']}  {sizes} {array['dtype']}, {array['space']}"

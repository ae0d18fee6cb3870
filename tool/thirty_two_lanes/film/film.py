"""A Film: one block of a launch, step by step; to look at, to ask, and to keep."""

import json
from base64 import b64encode
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path

from thirty_two_lanes.core.errors import (
    ArgumentError,
    ExplainedError,
    short_traceback,
    shown,
)
from thirty_two_lanes.film.history import History, cells_of, values_of
from thirty_two_lanes.film.page import document, page
from thirty_two_lanes.film.sheet import sheet_of


@dataclass(frozen=True, eq=False)
class Film:
    """One block of a launch, step by step; in a notebook, a player.

    `error` is what ended the launch, if anything did, and is the film's last step.
    """

    _record: dict = field(repr=False)
    _run: object = field(repr=False)
    error: Exception | None = None

    @property
    @short_traceback
    def run(self):
        """What `emulate` returns for this launch; or its error is raised."""
        if self._run is None:
            raise self.error
        return self._run

    def record(self) -> dict:
        """All of it as plain data, which JSON can hold: docs/FILM.md."""
        return self._record

    @short_traceback
    def value(self, variable, thread=0) -> History:
        """Every value that a variable of a thread took, with its step and line."""
        return values_of(self._record, variable, thread)

    @short_traceback
    def cells(self, array, *index) -> History:
        """Who stored to a cell and loaded it, when, and after how many barriers."""
        return cells_of(self._record, array, index)

    @short_traceback
    def sheet(self):
        """The moments that matter as a figure: a Picture, drawn by Matplotlib."""
        if not _can_draw():
            raise ExplainedError(
                "a contact sheet is drawn by Matplotlib: install the extra `[figures]` "
                "of thirty-two-lanes; the film plays without it"
            )
        return sheet_of(self._record)

    @short_traceback
    def save(self, path):
        """Write it to a file: a page with its player (.html), or its record (.json)."""
        path = Path(path)
        if path.suffix not in (".html", ".json"):
            raise ArgumentError(
                f"a film is saved as a page or as its record: give a name that ends in "
                f".html or .json, not {shown(str(path))}"
            )
        text = json.dumps(self._record, separators=(",", ":"))
        if path.suffix == ".html":
            text = document(self._record, self._image())
        path.write_text(text, "utf-8")

    def __repr__(self):
        return as_text(self._record)

    def _repr_html_(self):
        return page(self._record, self._image())

    def _image(self) -> str:
        """The contact sheet, for where no script runs; "" where nothing draws it."""
        if not _can_draw():
            return ""
        sheet = self.sheet()
        width, height = sheet.pixels
        data = b64encode(sheet.png()).decode()
        return (
            f"<img src='data:image/png;base64,{data}' width='{width}' "
            f"height='{height}' alt='{escape(sheet.alt, quote=True)}'>"
        )


def _can_draw() -> bool:
    """Is Matplotlib here? The tool alone does not bring it."""
    return find_spec("matplotlib") is not None


def as_text(record) -> str:
    """The moments of a film, and what was found."""
    lines = [f["text"] for f in record["findings"] if f["kind"] == "error"]
    lines.append(record["description"])
    width = len(f"{len(record['steps']):,}")
    for moment in record["moments"]:
        lines.append(f"  step {moment['step'] + 1:>{width},}  {moment['caption']}")
    for finding in record["findings"]:
        if finding["level"] == "wrong" and finding["kind"] != "error":
            lines.append(f"  line {finding['line']}: {finding['text']}")
    if record["left_out"]:
        lines.append(record["left_out"])
    return "\n".join(lines)

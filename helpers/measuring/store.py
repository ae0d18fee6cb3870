"""All that was recorded, by GPU: `recorded/<gpu>/<what>.json`, never written by hand.

`times` are the lessons' launches, `ladders` all rungs and their libraries, of several
runs, `baselines` what else others reach, `sweep_<name>` the variants of a last rung,
`tried` what a page tells besides. Numbers are shown of the GPU that is named in the
environment, or else of the one at hand; and what was not recorded there, of an H200, as
lessons tell it.
"""

import json
import os
from pathlib import Path

from thirty_two_lanes.core.device import device
from thirty_two_lanes.core.errors import ArgumentError
from thirty_two_lanes.core.hardware import H200, gpu_named

FOLDER = Path(__file__).parents[1] / "recorded"
SHOWN = "HELPERS_GPU"  # names the GPU whose recordings are shown first
USUAL = H200.name


def file_of(gpu, what) -> Path:
    """Where something is recorded of a GPU."""
    return FOLDER / gpu.lower().replace(" ", "_") / f"{what}.json"


def files(what) -> list[Path]:
    """Those in which something is looked up, the first one first."""
    asked = os.environ.get(SHOWN)
    known = gpu_named(asked or device.name)
    name = known.name if known else asked or device.name
    if asked and not file_of(name, what).parent.exists():
        there = ", ".join(sorted(folder.name for folder in FOLDER.glob("nvidia_*")))
        raise ArgumentError(
            f"{SHOWN} is {asked!r}, of which nothing was recorded; there is {there}"
        )
    found = (file_of(gpu, what) for gpu in dict.fromkeys((name, USUAL)))
    return [file for file in found if file.exists()]


def read(file) -> dict:
    """What a file holds; {} where there is none."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def write(file, values, sort_keys=False):
    """Write what was recorded, in a form whose changes are read line by line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(values, indent=1, sort_keys=sort_keys, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")

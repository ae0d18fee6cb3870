"""What NVIDIA's compiler made of kernels that show one thing each to `assemble`, so
that what is said of it is tested where the compiler is missing, and in other versions.

    python -m tests.assembly.recordings    records it anew, with the compiler
"""

import json
import os
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np

from helpers import assemble
from lessons.assemblies import text_of
from tests.paths import RECORDED
from tests.specimens import assembly_kernels as kernels
from thirty_two_lanes.assembly import recorded

FOLDER = RECORDED / "assemblies"
X = np.ones(4096, np.float32)
SQUARE, PLACES = X.reshape(64, 64), np.arange(100)
LAUNCHES = {
    kernels.saxpy: ((4, 256), (np.float32(2), X, X)),
    kernels.doubled: ((1, 64), (X,)),
    kernels.strided: ((1, 64), (SQUARE[:, ::2],)),
    kernels.divided: ((1, 64), (PLACES, np.int64(3))),
    kernels.rooted: ((1, 64), (X,)),
    kernels.looked_up: ((1, 64), (X, PLACES)),
    kernels.in_registers: ((1, 64), (X,)),
    kernels.spilled: ((1, 64), (X,)),
    kernels.weighed: ((1, 64), (X, PLACES)),
    kernels.neighbours: ((1, 256, 0, 2048), (X,)),
    kernels.twice: ((1, 64), (X,)),
    kernels.viewed: ((1, 256), (X,)),
    kernels.routines: ((1, 64), (PLACES, X, X.astype(np.float64), np.int64(3))),
    kernels.whole_grid: ((1, 64), (X,)),
    kernels.tiled: (((4, 4), (16, 16)), (SQUARE, SQUARE, SQUARE)),
}
NAMES = {kernel.py_func.__name__: kernel for kernel in LAUNCHES}


def said_of(name) -> list[str]:
    """The report, the page and the listing of a kernel, as recorded."""
    preferred = mock.patch.dict(os.environ, {recorded.SETTING: recorded.PREFER})
    with preferred, mock.patch.object(recorded, "_folders", [FOLDER]):
        made = assembled(name)
        return [repr(made), made._repr_html_(), made.listing]


def assembled(name):
    """A kernel's assembly for an H200."""
    config, arguments = LAUNCHES[NAMES[name]]
    return assemble(NAMES[name], "H200")[config](*arguments)


def main():
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder, "journal")
        with mock.patch.dict(os.environ, {recorded.SETTING: str(journal)}):
            for name in NAMES:
                assert not assembled(name).missing, assembled(name).missing
        entries = map(json.loads, journal.read_text("utf-8").splitlines())
        found = {key: it for entry in entries for key, it in entry.items()}
    file = recorded.file_of(FOLDER, (9, 0))
    file.parent.mkdir(exist_ok=True)
    file.write_text(text_of(found), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

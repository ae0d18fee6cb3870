"""What a GPU computes of NaN, infinities, zeros of both signs, limits and halves.

    python -m tests.on_gpu.special_numbers

Writes the answers to `tests/recorded/`; the tests compare the emulator with them, bit
for bit.
"""

import json
import sys

import numpy as np

from tests.on_gpu.number_cases import answers, cases
from tests.paths import RECORDED

COMMAND = "python -m tests.on_gpu.special_numbers"
FILE = RECORDED / "special_numbers.npz"


def main():
    """Ask the GPU, and write what it says."""
    from datetime import date

    from helpers import device
    from helpers.measuring.timing import versions

    if not device.has_gpu:
        sys.exit("this needs an NVIDIA GPU")
    write(
        {case.name: answers(case, lambda kernel: kernel) for case in cases()},
        {
            "command": COMMAND,
            "gpu": device.name,
            "date": date.today().isoformat(),
            "versions": versions(),
        },
    )


def write(found, provenance):
    """All answers as one row of words, with the order they have."""
    order = [[name, label] for name, columns in found.items() for label in columns]
    words = [found[name][label] for name, label in order]
    lengths = [len(column) for column in words]
    about = json.dumps({**provenance, "order": order, "lengths": lengths})
    np.savez_compressed(FILE, words=np.concatenate(words), about=about)


def recorded():
    """The answers by case and label, and where they come from."""
    with np.load(FILE) as file:
        about, words = json.loads(str(file["about"])), file["words"]
    columns = np.split(words, np.cumsum(about["lengths"])[:-1])
    found = {}
    for (name, label), column in zip(about["order"], columns, strict=True):
        found.setdefault(name, {})[label] = column
    return found, about


if __name__ == "__main__":
    main()

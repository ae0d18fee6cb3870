"""What NVIDIA's compiler made of kernels, recorded for machines without it.

Whoever has recordings adds the folder that holds them, a file for each capability; the
course does, and its notebooks are built from them, so that they are identical wherever
they are built.
"""

import hashlib
import json
import os
from dataclasses import asdict
from functools import cache

from thirty_two_lanes.assembly.instructions import Instruction
from thirty_two_lanes.assembly.resources import Resources
from thirty_two_lanes.core.device import installed
from thirty_two_lanes.core.source import source_of
from thirty_two_lanes.frontend.launch_form import form_of

SETTING = "HELPERS_ASSEMBLIES"  # "recorded": prefer these; or the name of a journal
PREFER = "recorded"
PACKAGES = "numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink"

_folders = []  # of recordings, in the order in which they are looked up


def add(folder):
    """Look up recordings in a folder, too."""
    if folder not in _folders:
        _folders.append(folder)


def is_preferred() -> bool:
    """Is what was recorded preferred, even where the compiler is installed?"""
    return os.environ.get(SETTING) == PREFER


def find(kernel, key, capability):
    """The instructions and resources recorded of a kernel, and with what; else None."""
    for found in (load(file_of(folder, capability)) for folder in _folders):
        if entry := found["kernels"].get(key):
            first = source_of(kernel.py_func).first
            code = tuple(instruction(text, first) for text in entry["instructions"])
            return code, Resources(**entry["resources"]), found["versions"]
    return None


def file_of(folder, capability):
    """Where a folder has what was compiled for a capability."""
    return folder / "{}.{}.json".format(*capability)


def note(kernel, key, capability, made):
    """Add what a kernel became to the journal, where one is kept."""
    journal = os.environ.get(SETTING, PREFER)
    source = source_of(kernel.py_func)
    if journal == PREFER or source is None:
        return
    entry = {
        "kernel": kernel.py_func.__name__,
        "capability": list(capability),
        "resources": asdict(made.resources),
        "instructions": [line_of(it, source.first) for it in made.instructions],
    }
    with open(journal, "a", encoding="utf-8") as file:
        file.write(json.dumps({key: entry}) + "\n")


def key_of(kernel, types, capability) -> str:
    """A digest of all that the machine code, and the lines it names, depend on."""
    source = source_of(kernel.py_func)
    form = form_of(kernel, "", ())
    lines = [line.strip() for line in source.lines] if source else []
    parts = (
        *lines,
        form.code,
        *form.constants,
        *map(str, types),
        *map(str, capability),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def line_of(made, first) -> str:
    """An instruction as a line of text; its source line counts from the kernel's."""
    line = "" if made.line is None else made.line - first
    where = f"{made.offset:04x}|{line}|{made.predicate}|{made.routine}"
    return f"{where}|{made.opcode}|{made.operands}"


def instruction(text, first) -> Instruction:
    """The instruction that `line_of` wrote."""
    offset, line, predicate, routine, opcode, operands = text.split("|", 5)
    number = int(line) + first if line else None
    return Instruction(int(offset, 16), opcode, operands, number, predicate, routine)


@cache
def load(file):
    """All that was recorded."""
    if not file.exists():
        return {"versions": {}, "kernels": {}}
    return json.loads(file.read_text(encoding="utf-8"))


def versions() -> dict[str, str]:
    """The packages that compile, as they are here."""
    return installed(PACKAGES)

"""Records what the compiler makes of the kernels that the lessons assemble.

    python -m lessons.assemblies            writes helpers/recorded/assemblies/
    python -m lessons.assemblies --check    says where it is not what it would write

It needs NVIDIA's compiler, which `make setup` brings on Linux and Windows, and no GPU.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

from helpers.measuring import store
from thirty_two_lanes.assembly import recorded
from thirty_two_lanes.assembly.compiler import missing
from lessons.record import RecordError, run_lesson
from lessons.publishing.solutions import with_solutions

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "python -m lessons.assemblies"
FOLDER = store.FOLDER / "assemblies"


def main(arguments=None):
    """Write or check the recordings; return the exit status."""
    new = argparse.ArgumentParser(COMMAND, description=__doc__)
    new.formatter_class = argparse.RawDescriptionHelpFormatter
    new.add_argument("--check", action="store_true", help="write nothing")
    options = new.parse_args(arguments)
    if lacking := missing():
        print(lacking, file=sys.stderr)
        return 1
    try:
        fresh = files_of(kernels())
    except RecordError as error:
        print(error, file=sys.stderr)
        return 1
    known = {file: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.json")}
    if not options.check:
        for file, text in fresh.items():
            file.write_text(text, encoding="utf-8", newline="\n")
    elif fresh != known:
        print(f"{FOLDER.name}/ is not what `{COMMAND}` writes", file=sys.stderr)
        return 1
    return 0


def kernels():
    """Every assembly that a lesson asks for, by its key."""
    found = {}
    for lesson in sorted(ROOT.glob("lessons/[0-9]*.py")):
        if "assemble(" in lesson.read_text(encoding="utf-8"):
            found |= of_lesson(lesson)
            print(f"{lesson.stem}: {len(found)} kernels so far", file=sys.stderr)
    return found


def of_lesson(lesson):
    """What a lesson and its folded solutions assemble, run as a script."""
    with tempfile.TemporaryDirectory() as folder:
        journal, script = Path(folder, "journal"), Path(folder, lesson.name)
        script.write_text("\n\n".join(with_solutions(lesson)), encoding="utf-8")
        # for an H200, whatever is here
        with mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES="-1"):
            entries = run_lesson(script, recorded.SETTING, journal)
    return {key: it for entry in entries for key, it in entry.items()}


def files_of(found, folder=FOLDER):
    """The text of each file, one for each capability."""
    capabilities = {tuple(entry["capability"]) for entry in found.values()}
    return {
        recorded.file_of(folder, capability): text_of(
            {key: it for key, it in found.items() if it["capability"] == [*capability]}
        )
        for capability in capabilities
    }


def text_of(found):
    """A file: with what it was compiled, then kernel by kernel."""
    by_name = sorted(found.items(), key=lambda row: (row[1]["kernel"], row[0]))
    contents = {"command": COMMAND, "versions": recorded.versions(),
                "kernels": dict(by_name)}
    return json.dumps(contents, indent=0, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())

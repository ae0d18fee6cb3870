"""Measurements made on a GPU, for machines without one.

`timing.measure` looks here. Where there is a GPU it notes what it measures in a journal
whose name is in the environment; `python -m lessons.record` turns journals into the
files in `recorded/`, one for each GPU, which are never written by hand.
"""

import json
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path

from thirty_two_lanes.frontend.launch_form import Form

FOLDER = Path(__file__).parents[1] / "recorded"
JOURNAL = "HELPERS_RECORD"  # names the file in which measurements are noted
PROFILE = "HELPERS_PROFILE"  # the same, under a profiler: one launch each, not timed
FORM_FIELDS = [field.name for field in fields(Form)]


def find(form):
    """What was recorded of this form; None where nothing was."""
    return next((values for known, values in load(FOLDER) if known == form), None)


def nearest(form):
    """The recorded form most like this one and what was recorded of it, or None."""
    akin = [
        (known, values)
        for known, values in load(FOLDER)
        if known.kernel == form.kernel or known.code == form.code
    ]
    return max(akin, key=lambda pair: likeness(pair[0], form), default=None)


def differences(known, form):
    """In words, what a recorded form has and this one has not."""
    words = ["another source"] if known.code != form.code else []
    words += [text for text in known.constants if text not in form.constants]
    if known.arguments != form.arguments:
        words.append(f"arguments {', '.join(known.arguments)}")
    if known.launch != form.launch:
        words.append(known.launch)
    return ", ".join(words) or "fewer constants"


def likeness(known, form):
    """How much two forms share: the code counts most, then what surrounds it."""
    return (
        known.code == form.code,
        known.arguments == form.arguments,
        known.launch == form.launch,
        len(set(known.constants) & set(form.constants)),
    )


# ---------------------------------------------------------------- files


@cache
def load(folder):
    """All recordings: pairs of a form and what was measured of it."""
    files = sorted(set(folder.glob("*.json")) - set(folder.glob("baselines_*.json")))
    return [pair for file in files for pair in pairs(read(file))]


def read(file):
    return json.loads(file.read_text(encoding="utf-8"))


def pairs(recorded):
    """The forms of one GPU's file, each with its measurement."""
    gpu = recorded["gpu"]
    for run in recorded["runs"].values():
        shared = {"gpu": gpu, "counters_gpu": gpu, **run}
        for entry in shared.pop("measurements"):
            yield form_from(entry), {**shared, **without_form(entry)}


def form_from(entry):
    texts = {name: entry[name] for name in FORM_FIELDS}
    return Form(**{k: tuple(v) if isinstance(v, list) else v for k, v in texts.items()})


def without_form(entry):
    return {name: value for name, value in entry.items() if name not in FORM_FIELDS}


# ---------------------------------------------------------------- journals


def note(journal, form, values):
    """Add a measurement to a journal."""
    with open(journal, "a", encoding="utf-8") as file:
        file.write(json.dumps({**asdict(form), **values}) + "\n")


def read_journal(journal):
    """The entries of a journal, in the order in which they were made."""
    lines = Path(journal).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]

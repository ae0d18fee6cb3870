"""Measurements made on a GPU, for machines without one.

`timing.measure` looks here. Where there is a GPU it notes what it measures in a journal
whose name is in the environment; `python -m lessons.record` turns journals into the
`times` of that GPU in the store.
"""

import json
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path

from helpers.measuring import store
from thirty_two_lanes.frontend.launch_form import Form

JOURNAL = "HELPERS_RECORD"  # names the file in which measurements are noted
PROFILE = "HELPERS_PROFILE"  # the same, under a profiler: one launch each, not timed
FORM_FIELDS = [field.name for field in fields(Form)]


def find(form):
    """What was recorded of this form, if it can be under the kernel's own name: a form
    that two lessons have was recorded in each. None where nothing was.
    """
    found = [(known.kernel, values) for known, values in forms() if known == form]
    own = (values for kernel, values in found if kernel == form.kernel)
    return next(own, found[0][1] if found else None)


def nearest(form):
    """The recorded form most like this one and what was recorded of it, or None."""
    akin = [
        (known, values)
        for known, values in forms()
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


def forms():
    """Each form that was recorded, with what was measured of it, in their order."""
    for file in store.files("times"):
        yield from load(file)


@cache
def load(file):
    """The forms of one GPU's file, each with its measurement."""
    recorded, found = store.read(file), []
    for run in recorded["runs"].values():
        shared = {"gpu": recorded["gpu"], "counters_gpu": recorded["gpu"], **run}
        for entry in shared.pop("measurements"):
            own = {name: it for name, it in entry.items() if name not in FORM_FIELDS}
            found.append((form_from(entry), shared | own))
    return found


def form_from(entry):
    texts = {name: entry[name] for name in FORM_FIELDS}
    return Form(**{k: tuple(v) if isinstance(v, list) else v for k, v in texts.items()})


# ---------------------------------------------------------------- journals


def note(journal, form, values):
    """Add a measurement to a journal."""
    with open(journal, "a", encoding="utf-8") as file:
        file.write(json.dumps({**asdict(form), **values}) + "\n")


def read_journal(journal):
    """The entries of a journal, in the order in which they were made."""
    lines = Path(journal).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]

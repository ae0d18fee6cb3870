"""What a lesson's kernel answers to the tests, when all of the lesson's cells have run.

It imports little, since each kernel pays for it.
"""

import os
import pickle
import traceback
from pathlib import Path
from types import SimpleNamespace

import helpers
from helpers import assemble
from tests.lessons.claims import fallen
from tests.specimens.lesson_launches import named, noting
from thirty_two_lanes import pictures
from thirty_two_lanes.assembly import compilation, recorded
from thirty_two_lanes.assembly.assembly import Assembly
from thirty_two_lanes.assembly.compiler import missing
from thirty_two_lanes.frontend.argument_types import argument_types

CAPABILITIES = (7, 5), (8, 0), (8, 9), (9, 0), (10, 0)
EVERY = 12  # kernels one is compiled, each for another capability
BESIDE_SVG = 1, pictures.FEW_COLOURS

WHOLE = "LESSON_RUNS_WHOLE"  # set in `make test-all`

noted = []


def begin():
    """Note launches; make figures and do not draw them, since nothing compares what is
    drawn: `make test-all` draws them, and tests/plotting each kind of them.
    """
    helpers.emulate = noting(noted)
    draw = pictures.Picture.png
    pictures.Picture.png = lambda picture, *size: (
        b"" if size == BESIDE_SVG else draw(picture, *size)
    )
    if not os.environ.get(WHOLE):
        pictures.Picture.svg = lambda picture: f"<svg><desc>{picture.alt}</desc></svg>"


def answer(lesson, file, names):
    """Answer each question, or say why it failed."""
    launches = named(Path(lesson).stem, noted)
    answers, failures = {}, {}
    for question, function in QUESTIONS.items():
        try:
            answers[question] = function(Path(lesson), launches, names)
        except Exception:
            failures[question] = traceback.format_exc()
    Path(file).write_bytes(pickle.dumps((answers, failures)))


def fallen_claims(lesson, launches, names):
    """The claims that are not true of what the lesson left: in `make test-all` all of
    them, and else those that compile nothing, a fifth of the time.
    """
    return fallen(lesson, SimpleNamespace(**names), bool(os.environ.get(WHOLE)))


def emulated(lesson, launches, names):
    """Each launch: its name, its kernel's digest and first line, and its Run."""
    return [(case.name, case.digest, case.first_line, run) for case, run in launches]


def compiled(lesson, launches, names):
    """What is wrong with the machine code of some kernels."""
    if missing():
        return []
    some = kernels_of(launches)[::EVERY]
    made = [
        assemble(case.kernel, capability_of(case, turn))[case.launch](*case.arguments)
        for turn, (case, _) in enumerate(some)
    ]
    return [it.listing for it in made if not whole(it)]


def capability_of(case, turn):
    """Each in turn of those that a kernel may be compiled for."""
    known = CAPABILITIES[is_asynchronous(case.kernel.py_func) :]
    return known[turn % len(known)]


def is_asynchronous(function):
    """Does a kernel copy to shared memory and go on, as none can before 8.0? Such
    functions end in `_async`.
    """
    code = function.__code__
    names = function.__name__, *code.co_names, *code.co_freevars
    return any(name.endswith("_async") for name in names)


def whole(made):
    """Are there instructions, each of a known kind, and of a line or a routine?"""
    known = all(it.line or it.routine for it in made.instructions)
    return made.instructions and known and "other" not in made.kinds


def kernels_of(launches):
    """A case for each kernel and its arguments' types, with the types."""
    found = {}
    for case, _ in launches:
        types = argument_types(case.kernel, case.arguments)
        found.setdefault((case.kernel.py_func.__code__, types), (case, types))
    return [*found.values()]


def assembled(lesson, launches, names):
    """Of each assembly that is shown: was it recorded, and what differs afresh?"""
    return {
        name: (bool(it.instructions and it.compilers), differing(it))
        for name, it in names.items()
        if isinstance(it, Assembly) and not name.startswith("_")
    }


def differing(shown):
    """What the compiler makes otherwise than was recorded of the same versions."""
    if missing() or shown.compilers != recorded.versions():
        return []
    del os.environ[recorded.SETTING]
    try:
        target = shown._dispatcher, shown._types, shown.compute_capability
        fresh = compilation.compilation_of(*target)
    finally:
        os.environ[recorded.SETTING] = recorded.PREFER
    same = {
        "not compiled": not fresh.compilers,
        "instructions": codes(fresh.instructions) == codes(shown.instructions),
        "resources": fresh.resources == shown.resources,
    }
    return [what for what, alike in same.items() if not alike]


def codes(instructions):
    """All but the operands: a called routine's has a number of the compilation's."""
    return [(it.offset, it.opcode, it.line, it.predicate) for it in instructions]


QUESTIONS = {
    "fallen": fallen_claims,
    "emulated": emulated,
    "compiled": compiled,
    "assembled": assembled,
}

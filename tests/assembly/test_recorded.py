"""Assemblies that were recorded: what a machine without NVIDIA's compiler shows."""

import json
import re
from weakref import WeakKeyDictionary

import numpy as np
import pytest

from helpers import assemble
from lessons import assemblies
from tests.paths import ROOT
from tests.specimens import assembly_kernels as kernels
from tests.specimens.lesson_launches import executed, lessons
from tests.specimens.lesson_runs import run_of
from thirty_two_lanes.assembly import compilation, recorded
from thirty_two_lanes.assembly.compiler import missing
from thirty_two_lanes.core.errors import UnsupportedError
from thirty_two_lanes.frontend.inference import typed_ir

X = np.ones(4096, np.float32)
HERE = pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")
KEPT = re.compile(r"^\w+ = assemble\(", re.MULTILINE)  # at the top of a lesson
ASSEMBLING = [it for it in lessons() if KEPT.search(it.read_text("utf-8"))]
same_versions = pytest.mark.skipif(
    recorded.versions()
    != recorded.load(recorded.file_of(assemblies.FOLDER, (9, 0)))["versions"],
    reason="compiled with other versions than these",
)


def made():
    """A kernel that calls a routine, so that its code has all that can be recorded."""
    return assemble(kernels.divided)[1, 64](np.arange(100), np.int64(3))


@pytest.fixture
def journal(tmp_path, monkeypatch):
    """A journal of what is compiled, and what it becomes as the recordings."""
    place = tmp_path / "journal"
    monkeypatch.setenv(recorded.SETTING, str(place))
    monkeypatch.setattr(compilation, "_compiled", WeakKeyDictionary())

    def read():
        entries = map(json.loads, place.read_text("utf-8").splitlines())
        found = {key: it for entry in entries for key, it in entry.items()}
        for file, text in assemblies.files_of(found, tmp_path).items():
            file.write_text(text, "utf-8")
        monkeypatch.setattr(recorded, "_folders", [tmp_path])
        monkeypatch.setenv(recorded.SETTING, recorded.PREFER)

    return read


@HERE
def test_what_was_recorded_is_what_was_compiled(journal, monkeypatch):
    """Instructions, resources, types, findings: all but where it comes from."""
    compiled = made()
    journal()
    monkeypatch.setattr(compilation, "missing", lambda: "no compiler: get it so")

    found = made()

    assert compiled.instructions == found.instructions
    assert compiled.resources == found.resources
    assert compiled.variables == found.variables
    assert compiled.findings == found.findings
    assert "; recorded, with numba-cuda" in repr(found)
    assert repr(found).startswith(repr(compiled).splitlines()[0])
    assert "routine: a division of 64-bit integers" in found._repr_html_()


@pytest.mark.slow
def test_counts_of_what_was_recorded_need_no_inference(monkeypatch):
    """Numba types a kernel only for a page: of a long one that takes a second."""
    names = executed(ROOT / "lessons" / "31_types_and_instructions.py").names
    arguments, asked = (names["a"], names["x"], names["y"]), []
    monkeypatch.setenv(recorded.SETTING, recorded.PREFER)
    monkeypatch.setattr(
        compilation, "typed_ir", lambda *given: asked.append(given) or typed_ir(*given)
    )

    found = assemble(names["saxpy"])[4, 256](*arguments)

    made = names["made"]
    assert (made.opcodes, made.registers, []) == (found.opcodes, found.registers, asked)
    assert {"i": "int64"} in found.variables.values()
    assert 1 == len(asked)


@pytest.mark.slow
@HERE
def test_a_recording_is_of_one_source_of_its_types_and_of_a_capability(journal):
    """Whatever else was changed, nothing recorded is shown for it."""
    made()
    assemble(kernels.saxpy)[4, 256](np.float32(2), X, X)
    journal()

    def known(kernel, types, capability=(9, 0)):
        key = recorded.key_of(kernel, types, capability)
        return recorded.find(kernel, key, capability) is not None

    types = made()._types
    assert known(kernels.divided, types)
    assert not known(kernels.divided, types, (8, 0))
    assert not known(kernels.divided, types[::-1])
    assert not known(kernels.doubled, types)


@HERE
def test_recordings_are_those_of_the_folders_that_were_added(journal, monkeypatch):
    """The tool has none of its own; a folder that is added twice is one."""
    kernel, types = made()._dispatcher, made()._types
    journal()
    (folder,) = recorded._folders
    monkeypatch.setattr(recorded, "_folders", [])

    def known():
        key = recorded.key_of(kernel, types, (9, 0))
        return recorded.find(kernel, key, (9, 0)) is not None

    assert not known()
    for added in (folder / "empty", folder, folder):
        recorded.add(added)
    assert known() and [folder / "empty", folder] == recorded._folders


def test_a_kernel_that_nobody_recorded_has_its_types_alone(monkeypatch):
    """And what an exercise asks of it is refused with the remedy."""
    monkeypatch.setattr(compilation, "missing", lambda: "no compiler: get it so")

    found = assemble(kernels.doubled)[1, 64](X)

    assert "no compiler: get it so" in repr(found)
    with pytest.raises(UnsupportedError, match="no compiler: get it so"):
        found.assert_at_most(instructions=1)


@pytest.mark.parametrize("lesson", ASSEMBLING, ids=lambda it: it.stem)
def test_the_assemblies_of_a_lesson_are_what_the_compiler_makes(lesson):
    """Those that it shows are recorded, and what the compiler makes, where it is here;
    `python -m lessons.assemblies` records all.
    """
    shown = run_of(lesson).answer("assembled")

    assert shown
    assert [] == [name for name, it in shown.items() if it != (True, [])]


@pytest.mark.slow
@pytest.mark.exhaustive  # it compiles all of them
@HERE
@same_versions
def test_the_recordings_are_what_the_compiler_makes(capsys):
    """Those of folded solutions, too."""
    assert 0 == assemblies.main(["--check"]), capsys.readouterr().err


@pytest.mark.slow
def test_the_numbers_that_lesson_31_quotes():
    """From its own kernels, as recorded."""
    lesson = assembling("31")
    text, names = lesson.read_text("utf-8"), executed(lesson).names

    plain, kind = names["made"], "integers and addresses"
    assert 2 * plain.kinds[kind] == len(plain.instructions)
    most, least = (names["typed"][it].kinds[kind] for it in ("int64", "uint32"))
    assert f"what is left for addresses falls from {most} to {least}" in text
    fused = names["wide_made"].opcodes["DFMA"]
    assert f"{fused} fused multiply-adds in float64" in text
    assert 2 == names["wide_made"].kinds["conversions"]
    assert 0 == names["narrow_made"].kinds["float64"]
    assert 0 == names["careful"].kinds["float64"]
    assert {"FFMA": 1} == {k: v for k, v in names["found"].items() if k[0] == "F"}


def assembling(number):
    """The lesson with a number, which assembles kernels."""
    return next(it for it in ASSEMBLING if it.stem.startswith(number))


@HERE
@pytest.mark.parametrize(
    "limits, said",
    [
        (
            {"instructions": 3},
            r"instructions, \d+ of them on line \d+, `.*`; the limit is 3",
        ),
        ({"calls": 0}, r"has 1 call, 1 of them on line \d+, `x.*`; the limit is 0"),
        ({"registers": 1}, "registers a thread; the limit is 1"),
    ],
)
def test_an_exercise_may_limit_what_a_kernel_takes(limits, said):
    """The line with most of it is named, and what stands out is advised."""
    with pytest.raises(AssertionError, match=said):
        made().assert_at_most(**limits)

    found = made()
    assert found is found.assert_at_most(instructions=900, float64=0, spill_stores=0)


def test_a_limit_of_what_no_kernel_has_is_refused():
    """With the names that there are."""
    with pytest.raises(ValueError, match="unknown limit `speed`: use one of inst"):
        made().assert_at_most(speed=3)

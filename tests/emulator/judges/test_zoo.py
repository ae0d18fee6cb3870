"""The judges count in the zoo what stands beside its lines."""

import inspect
import re

import pytest

from helpers import emulate
from tests.specimens.zoo_cases import ZOO
from thirty_two_lanes.emulator import emulation
from thirty_two_lanes.emulator.judges.judge import listeners_of

COUNTED = {
    "requests": r"(\d+) requests?",
    "active_lanes": r"(\d+) lanes",
    "sectors": r"(\d+) sectors?",
    "wavefronts": r"(\d+) wavefronts?",
}


def noted(specimen):
    """The notes beside the lines of a kernel, by line."""
    lines, first = inspect.getsourcelines(specimen.kernel.py_func)
    parts = (line.partition("  # ") for line in lines)
    return {first + n: note for n, (_, _, note) in enumerate(parts) if note.strip()}


def launched(specimen):
    return emulate(specimen.kernel)[specimen.launch](*specimen.fresh())


RUNS = {}


def run_of(specimen):
    """What a launch says of a specimen, which all tests here ask."""
    if specimen.name not in RUNS:
        RUNS[specimen.name] = launched(specimen)
    return RUNS[specimen.name]


def table(run, note):
    """The table that a note speaks of."""
    if "wavefront" in note:
        return run.bank_conflicts.by_line
    return run.coalescing.by_line


def those(pattern, cases=None):
    """Specimens of which a note, or a field, matches."""
    found = [s for s in cases or ZOO if re.search(pattern, str(noted(s)))]
    return pytest.mark.parametrize("specimen", found, ids=lambda s: s.name)


@those("request")
def test_every_access_counts_what_stands_beside_it(specimen):
    """Requests, lanes, sectors and wavefronts, their ideal, and no line forgotten."""
    notes = {n: t for n, t in noted(specimen).items() if "request" in t}

    run = run_of(specimen)

    for line, note in notes.items():
        row = table(run, note)[line]
        wanted = {k: re.search(p, note) for k, p in COUNTED.items()}
        wanted = {k: int(m[1]) for k, m in wanted.items() if m}
        ideal = "ideal_wavefronts" if "wavefront" in note else "ideal_sectors"
        wanted[ideal] = int(re.search(r"ideal (\d+)", note)[1])
        assert wanted == {name: getattr(row, name) for name in wanted}, note
    tables = run.coalescing.by_line, run.bank_conflicts.by_line
    assert set(notes) == {site.line for by_line in tables for site in by_line}


@pytest.mark.parametrize(
    "specimen", [s for s in ZOO if not s.error], ids=lambda s: s.name
)
def test_a_specimen_has_the_races_above_it_and_no_other(specimen):
    """Kind, space, scope and hazards; those in a warp and those alike are minor."""
    run = run_of(specimen)

    minor = [race for race in specimen.races if "warp" in race or "alike" in race]
    assert sorted(minor) == sorted(map(summary_of, run.races.minor))
    major = [race for race in specimen.races if race not in minor]
    assert sorted(major) == sorted(map(summary_of, run.races))


def summary_of(race):
    alike = ("alike",) if race.same_value else ()
    return (race.kind, race.space, race.scope, race.hazards, *alike)


@pytest.mark.parametrize("specimen", [s for s in ZOO if s.error], ids=lambda s: s.name)
def test_what_the_language_forbids_is_refused(specimen):
    """The error's kind, and the part of its sentence that says what is wrong."""
    kind, sentence = specimen.error

    with pytest.raises(Exception, match=re.escape(sentence)) as raised:
        run_of(specimen)

    assert kind == type(raised.value).__name__


@pytest.mark.parametrize("specimen", ZOO, ids=lambda s: s.name)
def test_barriers_missed_and_stray_lanes_are_found_and_no_others(specimen):
    """The part of what is said of them; a GPU goes on, and so does the emulator."""
    if specimen.error:
        pytest.skip("it is refused")

    run = run_of(specimen)

    told = {it: getattr(run, it) for it in ("barriers", "lanes")}
    if specimen.found:
        name, words = specimen.found
        assert words in repr(told.pop(name))
    assert not any(told.values())


@those("active|splits")
def test_lanes_and_branches_are_what_stands_beside_them(specimen):
    """Active lanes of those of the warps that came, and warps that a branch split."""
    run = run_of(specimen)

    for line, note in noted(specimen).items():
        row = run.divergence.by_line[line] if "active" in note or "spl" in note else 0
        if active := re.search(r"active (\d+) of (\d+)", note):
            assert int(active[1]) / int(active[2]) == row.active_share, note
        if splits := re.search(r"splits (\d+)", note):
            assert int(splits[1]) == row.splits, note


@pytest.mark.parametrize("specimen", ZOO, ids=lambda s: s.name)
def test_cells_read_before_written_are_told_and_no_others(specimen):
    """The line and the number of cells; one that races reads too early, or not."""
    if specimen.error or specimen.races:
        pytest.skip("it is refused, or races")

    run = run_of(specimen)

    notes = noted(specimen).items()
    wanted = {n: int(t.split()[-1]) for n, t in notes if "uninitialised" in t}
    assert wanted == {found.line: found.count for found in run.uninitialised}


@pytest.mark.parametrize("specimen", ZOO, ids=lambda s: s.name)
def test_silent_mistakes_are_told_and_no_others(specimen):
    """The line and the kind of mistake; notes accuse nobody."""
    if specimen.error:
        pytest.skip("it is refused")

    run = run_of(specimen)

    notes = noted(specimen).items()
    wanted = {(n, t.split()[-1]) for n, t in notes if "warning" in t}
    assert wanted == {(w.line, w.kind) for w in run.warnings if not w.note}


@pytest.mark.parametrize(
    "specimen", [s for s in ZOO if not s.error], ids=lambda s: s.name
)
def test_the_order_of_the_judges_has_no_importance(specimen, monkeypatch):
    """Reversed, they give the same tables."""
    usual = run_of(specimen).to_dict()
    monkeypatch.setattr(
        emulation, "listeners_of", lambda judges: listeners_of(list(judges)[::-1])
    )

    assert usual == launched(specimen).to_dict()


def test_every_specimen_has_a_name_and_few_lines():
    """A syllabus is read: kernels of a few lines."""
    lengths = [len(inspect.getsourcelines(s.kernel.py_func)[0]) for s in ZOO]

    assert len(ZOO) == len({s.name for s in ZOO}) >= 60
    assert max(lengths) <= 22

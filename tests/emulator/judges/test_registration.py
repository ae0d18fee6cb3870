"""A judge is one registration in its own file: whoever forgets a part is told where."""

import inspect
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from tests.emulator.report.made_by_hand import hand_made
from tests.paths import ROOT
from thirty_two_lanes.emulator import judges
from thirty_two_lanes.emulator.emulation import Run
from thirty_two_lanes.emulator.judges import JUDGES, OF_PROGRAMS
from thirty_two_lanes.emulator.judges.judge import Judge, Registration
from thirty_two_lanes.emulator.report.as_dict import as_dict
from thirty_two_lanes.scripts import kinds

FOLDER = Path(judges.__file__).parent
SHARED = {Judge}  # a base of judges
NOTHING = Registration.__dataclass_fields__["findings"].default


def modules():
    """Each module beside the judges, and among those of races."""
    for file in sorted([*FOLDER.glob("*.py"), *FOLDER.glob("races/*.py")]):
        parts = file.relative_to(FOLDER).with_suffix("").parts
        name = ".".join([judges.__name__, *parts])
        yield import_module(name.removesuffix(".__init__"))


def judges_in(module) -> list:
    """The classes of a module that listen and give a table."""
    own = [it for it in vars(module).values() if inspect.isclass(it)]
    return [
        it
        for it in own
        if it.__module__ == module.__name__ and it not in SHARED
        if hasattr(it, "listeners") and hasattr(it, "table")
    ]


def test_each_judge_is_registered_in_its_own_file():
    """And the list of all knows each registration."""
    listed = {judge.make for judge in (*JUDGES, *OF_PROGRAMS)}
    missing = []
    for module in modules():
        made = [it for it in vars(module).values() if isinstance(it, Registration)]
        for judge in judges_in(module):
            where = module.__name__.rpartition(".")[2]
            if judge not in {it.make for it in made}:
                missing.append(
                    f"{where}.py has the judge {judge.__name__} and no Registration "
                    "of it: add one at the end of the file"
                )
            elif judge not in listed:
                missing.append(
                    f"{where}.py registers {judge.__name__}, and JUDGES in "
                    "judges/__init__.py does not list it: add it there"
                )
    assert [] == missing


def test_a_run_says_what_each_of_its_fields_is():
    """Its docstring is what `help` shows of them."""
    names = {judge.name for judge in JUDGES}

    assert names <= {field.name for field in fields(Run)}
    assert [] == [
        f"the docstring of Run in emulation.py does not say what `{name}` is: add it"
        for name in sorted(names)
        if f"`{name}`" not in Run.__doc__
    ]


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_a_registration_is_complete(judge):
    """A judge that finds has a kind to ask for, and columns that its table has."""
    empty = getattr(hand_made(), judge.name)
    known = vars(empty) if hasattr(empty, "by_line") else {}
    missing = []
    if judge.cost and not {judge.cost.taken, judge.cost.ideal} <= set(known):
        missing.append("its cost names a column that its table has not")
    if judge.findings(hand_made()) != () and not judge.kinds:
        missing.append("it has findings, and no Kind for `--only` and `--fail-on`")
    finders = [it for it in JUDGES if it.findings is not NOTHING]
    found = {kind.name for it in finders for kind in it.kinds}
    for name in {kind.name for kind in judge.kinds} - found:
        missing.append(f"it has the Kind {name}, and no `findings` that report any")
    if judge.name not in as_dict(hand_made()):
        missing.append("`to_dict` does not hold it")

    assert [] == [f"the judge of run.{judge.name}: {what}" for what in missing]


def test_no_two_judges_have_one_name():
    """Nor two kinds of findings one place among all."""
    ranks = [kind.rank for kind in kinds.ALL]

    assert len(JUDGES) == len({judge.name for judge in JUDGES})
    assert sorted(set(ranks)) == sorted(ranks), "two kinds have one rank"


def test_kinds_are_asked_for_in_their_order():
    """As the command line lists them, worst first; the first eight fail a program, and
    docs/SCRIPTS.md says what each is.
    """
    page = (ROOT / "docs" / "SCRIPTS.md").read_text(encoding="utf-8")
    assert (
        "races warp bounds streams uninitialised unset barriers lanes mistakes "
        "signatures same-value errors banks sectors divergence float64"
    ).split() == list(kinds.KINDS)
    assert kinds.KINDS[:8] == kinds.FAULTS
    assert [] == [
        f"docs/SCRIPTS.md does not name the kind `{name}`: add it"
        for name in kinds.KINDS
        if f"`{name}`" not in page
    ]

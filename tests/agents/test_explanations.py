"""Each kind of finding is explained, and the programs that show it do."""

import runpy

import pytest

from thirty_two_lanes.agents.arguments import BadRequest
from thirty_two_lanes.agents.explanations import explained
from thirty_two_lanes.core.errors import ExplainedError
from thirty_two_lanes.scripts.kinds import FAULTS, KINDS
from thirty_two_lanes.scripts.ledger import Ledger
from thirty_two_lanes.scripts.meanings import PREAMBLE, meanings


def found(program, folder):
    """The kinds of what a report says of a program."""
    file, ledger = folder / "program.py", Ledger()
    file.write_text(PREAMBLE + program, encoding="utf-8")
    with ledger.judging():
        try:
            runpy.run_path(str(file))
        except ExplainedError:
            assert any(it.stops for it in ledger.kernels.values())
    assert ledger.kernels
    return {kind for kind, count in ledger.counts().items() if count}


def test_each_kind_is_explained_and_no_other():
    """Whoever adds a kind says what it means."""
    assert set(KINDS) == set(meanings())
    assert {("means", "why", "mend", "wrong", "mended")} == set(
        map(tuple, meanings().values())
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_wrong_program_has_it_and_the_mended_one_has_no_fault(kind, tmp_path):
    """Both are run with all judges."""
    programs = meanings()[kind]

    assert kind in found(programs["wrong"], tmp_path)
    assert not {kind, *FAULTS} & found(programs["mended"], tmp_path)


def test_an_explanation_is_a_text_with_both_programs():
    """Fit to be read by whoever got the finding."""
    said = explained("races")

    for part in meanings()["races"].values():
        assert " ".join(part.split()) in " ".join(said.split())


def test_a_kind_that_there_is_not_is_refused_with_those_that_there_are():
    """As typed, and the list."""
    with pytest.raises(BadRequest, match="no kind race: races, "):
        explained("race")

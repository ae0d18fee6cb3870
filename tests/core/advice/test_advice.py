"""Advice is proved by applying it: of each finding whose advice is an edit, the edited
kernel no longer has it, and nothing else has come.

`python -m tests.core.advice` prints the same as a table.
"""

import pytest

from tests.core.advice import sources
from tests.core.advice.applying import Applied
from tests.core.advice.trying import look, tried
from tests.exercises.kinds import KERNELS
from tests.quick import some
from thirty_two_lanes.core.advice.edit import Edit, Spot

SPECIMENS = {name: case for name, *case in sources.specimens()}


def require_right(found):
    """Each edit removes its finding, and brings no other one."""
    wrong = [it for it in found if it.edit and not it.right]
    assert [] == [(it.found, it.sentence, it.others) for it in wrong]


@pytest.mark.parametrize("name", some(SPECIMENS, every=60))
def test_advice_mends_a_labelled_kernel(name):
    """The kernels that race or not by construction, and the zoo."""
    require_right(tried(name, *SPECIMENS[name]))


@pytest.mark.parametrize("name", some(KERNELS, every=None))
def test_advice_mends_what_learners_do_wrong(name):
    """The wrong answers of an exercise that race, or miss a barrier or a guard."""
    require_right(sources.results(sources.wrong_answers([name])))


@pytest.mark.slow
def test_advice_mends_the_bugs_of_the_lesson_on_bugs():
    """Whatever it emulates."""
    require_right(sources.results(sources.lesson()))


@pytest.mark.parametrize("seed", some(range(500), every=250))
def test_advice_mends_a_random_kernel_with_a_fault(seed):
    """A barrier that is missing or in a branch, a guard, an atomic, a fence."""
    require_right(sources.results(sources.random_kernels([seed])))


@pytest.mark.parametrize("seed", some(range(100), every=100))
def test_a_random_kernel_has_no_finding_without_its_fault(seed):
    """The pieces are right, and so is what is made of them."""
    case = sources.compiled(sources.planted(seed)[0])

    assert {} == look(case.kernel, case.launch, case.fresh(), lambda site: site.line)


def test_a_wrong_edit_is_noticed():
    """A barrier behind both lines removes nothing; in a branch it is missed."""
    kernel, config, fresh = SPECIMENS["raw_in_a_block"]
    (found, *_) = tried("", kernel, config, fresh)
    (store, load) = found.found.lines
    assert found.right and ("before", load) == (found.edit.where, found.edit.at.line)

    def after(**changes):
        edit = Edit(**vars(found.edit) | changes)
        applied = Applied(kernel, edit)
        return {it.what for it in look(applied.kernel, config, fresh(), applied.origin)}

    assert set() == after()
    assert "race" in after(at=Spot(store, found.edit.at.column))
    assert "race" in after(where="behind")
    branch = "if cuda.threadIdx.x < 32:\n    cuda.syncthreads()"
    assert "missed barrier" in after(code=branch)

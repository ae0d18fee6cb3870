"""Each reason is given for what it is about, and before those that come after it."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from nbformat import write
from nbformat.v4 import new_code_cell, new_notebook
from numba import cuda

from helpers.exercises import budgets, judging, sources
from helpers.exercises.catalogue import exercise
from helpers.exercises.reasons import HINTS, REASONS, Reason
from helpers.exercises.verdict import Verdict
from tests.exercises.judged_cases import CASES, SUM
from tests.exercises.specimen import (
    FewInstructions,
    FixPairSums,
    PairSums,
    SlowPairSums,
    SumsOfItsOwn,
)

TASK = PairSums()


@pytest.mark.parametrize("reason, changes", CASES.values(), ids=CASES)
def test_an_answer_gets_the_reason_that_comes_first(reason, changes):
    """Races before bounds, bounds before values, values before the budget."""
    text = TASK.answer_text
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)

    verdict = TASK.judge(TASK.kernel(text), 5)

    assert reason == verdict.reason, verdict.text
    points = {None: 4}.get(reason, 2 if "budget" in str(reason) else 0)
    assert points == verdict.points
    assert (0 if reason is None else 3) == len(verdict.hints)


def test_every_reason_is_given_here():
    """Those of other kinds of exercises and of the stub have tests of their own."""
    given = {str(reason).partition(":")[0] for reason, _ in CASES.values()}

    assert REASONS.keys() == given - {"None"} | {"no_answer"}
    assert HINTS.keys() > REASONS.keys() - {"no_answer"}
    assert {3} == {len(hints) for hints in HINTS.values()}


def test_what_is_given_first_is_no_error(capsys):
    """An empty body, and a fault that nobody touched, are told what to do."""
    todo = "Write the kernel's lines", "Find the line at fault"
    for task, what in zip((PairSums(), FixPairSums()), todo, strict=True):
        task.check(task.kernel(task.given_text))
        task.check(None)

        said = f"0 of 4 points. {what}, and check again."
        assert 2 == capsys.readouterr().out.count(said)


def test_a_wrong_answer_raises_its_report_and_gives_hints_one_by_one(capsys):
    """The error names the reason and both lines; no hint stands in it."""
    task = PairSums()
    reason, text = task.wrong_texts()["no barrier"]

    with pytest.raises(AssertionError, match=r"0 of 4 points \(race\)") as caught:
        task.check(task.kernel(text))

    lines = [int(it) for it in re.findall(r"line (\d+)", str(caught.value))]
    stored = 1 + text.splitlines().index("    tile[t] = a[i] if i < a.size else 0")
    assert stored in lines
    assert "syncthreads" not in str(caught.value).replace("cuda.syncthreads", "")
    for _ in range(4):
        task.hint()
    told = capsys.readouterr().out.splitlines()
    assert ["Hint 1 of 3: who?", "Hint 2 of 3: why?", "Hint 3 of 3: where?"] == told[:3]
    assert told[3].startswith("That was the last hint")


@pytest.mark.parametrize("folder, link", [("assignments", "../"), (".", "")])
def test_the_last_hint_leads_to_an_answer(tmp_path, monkeypatch, capsys, folder, link):
    """From an assignment and from a lesson; a course without solutions has no link."""
    for name in ("assignments", "solutions"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / folder)
    task = PairSums()
    task.to_be_given = ("who?", "why?", "where?"), 2
    task.hint()
    assert "Hint 3 of 3: where?\n" == capsys.readouterr().out

    cell = new_code_cell(metadata={"nbgrader": {"grade_id": "pair_sums-answer"}})
    write(new_notebook(cells=[cell]), tmp_path / "solutions/13.ipynb")
    task.to_be_given = ("who?", "why?", "where?"), 2
    task.hint()
    assert f"is in `{link}solutions/13.ipynb`" in capsys.readouterr().out
    verdict = Verdict("pair_sums", 0, 4, "", Reason("wrong"), hints=("a", "b", "c"))
    *others, last = verdict.folded_hints(f"{link}solutions/13.ipynb").split("<details>")
    assert f"<a href='{link}solutions/13.ipynb'>" in last
    assert "<a" not in "".join(others)


def test_a_kernel_may_name_its_arguments_as_it_likes():
    """They are passed by position; budgets and inputs are known all the same."""
    text = re.sub(r"\ba\b(?! tile)", "numbers", TASK.answer_text)

    assert TASK.judge(TASK.kernel(text), 1).reason is None
    loads_twice = text.replace(SUM, f"{SUM} + 0 * numbers[i]")
    assert "over_budget:loads" == TASK.judge(TASK.kernel(loads_twice), 1).reason


def test_an_expected_array_brought_along_is_refused():
    """Whether its values are right or not."""
    n = np.arange(64, dtype=np.float32)

    @cuda.jit
    def pair_sums(out, a):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] + n[i % 64]

    verdict = TASK.judge(pair_sums, 1)

    assert "constant" == verdict.reason
    assert "64 numbers of its own" in verdict.sentence


def test_what_follows_one_changed_element_is_no_constant():
    """The same for other numbers, by chance, and another where one element is another:
    of three runs all must be alike.
    """
    outcomes = [
        SimpleNamespace(
            outputs={"out": np.array([found])},
            trial=SimpleNamespace(expected={"out": np.array([right])}),
        )
        for found, right in ((7, 1), (7, 2), (8, 3), (7, 4))
    ]

    alike = outcomes[:2] + outcomes[3:]
    for some, read, expected in (
        (outcomes, set(), False),
        (alike, set(), True),
        (alike, {"a"}, False),  # what it makes of the input may be the same
    ):
        case = SimpleNamespace(outcomes=some, program=SimpleNamespace(read=read))
        assert expected == judging.is_constant(case)


def test_what_is_no_kernel_is_refused_with_a_sentence():
    """A function without a decorator, a number, other arguments."""

    @cuda.jit
    def two(out, a, n):
        out[0] = a[0]

    @cuda.jit
    def any_number(*arguments):
        arguments[0][0] = 1

    class Alike:
        py_func, configure, targetoptions = len, None, None

    for answer in (len, 3, two, any_number, Alike(), TASK.kernel):
        verdict = TASK.judge(answer, 1)
        assert ("refused", 0) == (verdict.reason, verdict.points)
        assert verdict.sentence.endswith(".")


def test_a_fix_that_changes_too_much_earns_half():
    """The judge says how many lines changed."""
    task = FixPairSums()
    lines = "t = cuda.threadIdx.x\n    i = cuda.grid(1)"
    more = task.answer_text.replace("t, i = cuda.threadIdx.x, cuda.grid(1)", lines)

    assert None is task.judge(task.kernel(task.answer_text), 1).reason
    verdict = task.judge(task.kernel(more), 1)

    assert ("over_budget:lines", 2) == (verdict.reason, verdict.points)
    assert "3 lines changed, and 1 line is enough" in verdict.sentence


def test_a_fix_that_gains_nothing_earns_nothing():
    """Where what was given is right, and over the budget that it is about."""
    task = SlowPairSums()
    lines = "\n".join(f"    more{it} = {it}" for it in range(3))

    for text in (f"{task.given_text}\n    pass", f"{task.given_text}\n{lines}"):
        verdict = task.judge(task.kernel(text), 1)
        assert ("over_budget:loads", 0) == (verdict.reason, verdict.points)


def test_an_atomic_operation_loads_too():
    """It gives what stood in the cell, so an output may not be read by one."""
    task = SumsOfItsOwn()
    add = f"out[i] = 0\n        cuda.atomic.add(out, i, {SUM})"
    text = task.answer_text.replace(f"out[i] = {SUM}", add)

    verdict = task.judge(task.kernel(text), 1)

    assert "over_budget:loads" == verdict.reason
    assert "`out` is loaded 1 times on average (line 16)" in verdict.sentence


def test_work_for_idle_lanes_is_work_of_their_warps():
    """The instructions of all warps are counted, whoever takes part in them."""
    task = FewInstructions()
    busy = task.answer_text.replace(SUM, f"{SUM} + 0 * i + 0 * t + 0 * i * t")

    assert None is task.judge(task.kernel(task.answer_text), 1).reason
    verdict = task.judge(task.kernel(busy), 1)

    assert "over_budget:warp_instructions" == verdict.reason
    assert "instructions of the emulator, and 160 are allowed" in verdict.sentence


def test_a_barrier_of_the_grid_is_a_barrier():
    """Each block waits at it, as at one of its own."""
    task = exercise("relay")
    text = task.given_text.replace("cuda.syncthreads()", "grid.sync()")
    text = text.replace("total = ", "grid = cuda.cg.this_grid()\n    total = ", 1)

    verdict = task.judge(task.kernel(text), 1)

    assert "over_budget:barriers" == verdict.reason, verdict.text


CHEAP = {  # a request in parts, each of which keeps the budget of a mean
    "over_budget:all_sectors": (
        "several_each",
        *("* cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x", "* cuda.grid(1)"),
        *("first + k * cuda.blockDim.x", "first + k"),
        "        if i < a.size:\n            out[i] = factor * a[i]",
        "".join(
            f"        if i < a.size and cuda.threadIdx.x % 32 // 8 == {part}:\n"
            "            out[i] = factor * a[i]\n"
            for part in range(4)
        ),
    ),
    "over_budget:wavefronts": (
        *("transpose", "TILE + 1", "TILE + 2"),
        "        dst[left + y, top + x] = tile[x, y]",
        "        value = float32(0)\n"
        "        if x < 16:\n            value = tile[x, y]\n"
        "        else:\n            value = tile[x, y]\n"
        "        dst[left + y, top + x] = value",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("reason", CHEAP)
def test_cheap_requests_do_not_make_up_for_dear_ones(reason):
    """A request that is split by lanes keeps the mean, and not the total."""
    name, *edits = CHEAP[reason]
    task = exercise(name)
    text = sources.edited(task.answer_text, *edits)

    verdict = task.judge(task.kernel(text), 1)

    assert reason == verdict.reason, verdict.text
    told = r"Its requests \w+ ([\d,]+) \w+ .*, and ([\d,]+) are allowed; ([\d,]+) are"
    found = re.match(told, verdict.sentence).groups()
    mine, most, best = (int(it.replace(",", "")) for it in found)
    assert mine > most == -(-3 * best // 2) - 1


def test_an_answer_over_its_budget_names_the_line():
    """Feedback marks it in the learner's own lines."""
    task = exercise("transpose")
    _, text = task.wrong_texts()["directly"]

    verdict = task.judge(task.kernel(text))

    line = text.splitlines()[verdict.line - 1].strip()
    assert line.startswith("dst[")
    assert verdict.sentence.startswith(f"Line {verdict.line}, `{line}`")


def test_a_budget_that_cannot_be_held_is_named(monkeypatch):
    """Without NVIDIA's compiler nobody counts machine instructions."""
    monkeypatch.setattr(budgets, "missing", lambda: "the compiler")
    task = exercise("calendar")

    verdict = task.judge(task.kernel(task.answer_text))

    assert "budget" not in verdict.sentence
    assert verdict.sentence.endswith("without NVIDIA's compiler: instructions.")

"""The source of a kernel: how many lines of it changed, and what nobody can read."""

import pytest
from numba import cuda, float32

from helpers.exercises import sources
from tests.exercises.specimen import FixPairSums
from thirty_two_lanes.core.source import remember, source_of

SUM = "tile[t] + tile[t + 1]"


@pytest.mark.slow
def test_lines_of_new_functions_are_lines_changed():
    """A call of a function that does the work is more than one line."""
    task = FixPairSums()
    new = "@cuda.jit\ndef last(tile, t):\n    return tile[t + 1]"
    call = task.given_text.replace("tile[t] + tile[t]", "tile[t] + last(tile, t)")
    inner = "@cuda.jit\ndef first(tile, t):\n    return last(tile, t)"
    cases = {
        f"{new}\n\n{call}": 3,
        f"{new}\n\n{inner}\n\n{call.replace('last(', 'first(')}": 5,
        f"{new}\n\n{task.answer_text}": 1,  # which nothing calls
    }
    for text, count in cases.items():
        kernel = task.kernel(text)
        assert count == sources.lines_changed(kernel, task.given_text)
        verdict = task.judge(kernel, 1)
        assert (verdict.reason is None) == (count == 1), verdict.text


def test_lines_are_those_that_python_counts():
    """Others end lines at a form feed, and would quote, and count, a decoy."""
    ends = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    task = FixPairSums()
    decoy = "\n".join(f"# {ends}" for _ in range(3)) + f"\n{task.given_text}"

    text = f'"""{ends}\n"""\n' + task.answer_text.replace("i = cuda", "i = \\\ncuda")
    for before in (decoy, text):
        kernel = task.kernel(before)
        found = source_of(kernel.py_func)
        assert found.lines[:2] == ("@cuda.jit", "def pair_sums(out, a):")
    assert 1 == sources.lines_changed(task.kernel(text), task.given_text)


def test_a_source_that_cannot_be_read_is_none():
    """Whatever `inspect` makes of it."""
    remember("\n@cuda.jit\ndef pair_sums(out, a):\n    (", "<half>")
    space = {"cuda": cuda, "float32": float32}
    exec(compile(f"\n{FixPairSums().answer_text}", "<half>", "exec"), space)

    assert source_of(space["pair_sums"].py_func) is None


def test_a_source_that_nobody_can_read_is_refused():
    """One that `exec` made has none; `inspect` ends where a line is a backslash, and
    the compiler goes on; and it may find another function than was compiled.
    """
    task = FixPairSums()
    store = f"        out[i] = {SUM}"
    parts = task.answer_text.partition(store)
    hidden = f"{parts[0]}        pass\n\\\n{store}"
    other = task.answer_text.replace("+", "-")
    spaces = []
    for text, shown in ((task.answer_text, None), (hidden, hidden), (other, parts)):
        space = {"cuda": cuda, "float32": float32}
        file = f"<source {len(spaces)}>"
        if shown:
            remember(text if shown is hidden else task.answer_text, file)
        exec(compile(text, file, "exec"), space)
        spaces.append(space)

    for space in spaces:
        verdict = task.judge(space["pair_sums"], 1)

        assert ("refused", 0) == (verdict.reason, verdict.points)
        assert "The source of `pair_sums` cannot be read" in verdict.sentence


def test_an_if_in_one_line_is_one_line():
    """And what stands behind a semicolon is another."""
    task = FixPairSums()
    counts = {
        f"if i < a.size: out[i] = {SUM}": 1,
        f"for k in range(1): out[i] = {SUM}": 1,
        f"k = i; out[k] = {SUM}": 2,
        f"if i < a.size: k = i; out[k] = {SUM}": 3,
    }
    for line, count in counts.items():
        text = task.answer_text.replace(f"out[i] = {SUM}", line)
        kernel = task.kernel(text)
        assert count == sources.lines_changed(kernel, task.given_text), line


def test_a_statement_that_moves_beside_its_colon_is_no_change():
    """Nor is one that moves below it: what it says counts, where it is another."""
    task = FixPairSums()
    apart = next(it for it in task.given_text.splitlines() if "out[i] = " in it)
    beside = task.given_text.replace(f"\n{apart}", f" {apart.strip()}")

    for given, mine in ((task.given_text, beside), (beside, task.given_text)):
        other = mine.replace("tile[t] + tile[t]", SUM)
        assert 0 == sources.lines_changed(task.kernel(mine), given)
        assert 1 == sources.lines_changed(task.kernel(other), given)

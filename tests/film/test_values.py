"""The lines and values of films, against each thread alone, compiled by `njit`."""

import numpy as np
import pytest

from helpers import watch
from tests.film.oracle import traces
from tests.quick import beside
from tests.specimens.random_kernels.launches import as_kernel, compiled
from tests.specimens.random_kernels.program import PLAIN_LAUNCH, plain_program

JUMPS = ("break", "continue")


def lines_in(record, thread):
    """The kernel's lines that a thread ran, each with what it assigned."""
    first, lines = record["files"][0]["first"], []
    warp, lane = divmod(thread, 32)
    for step in record["steps"]:
        if step["w"] != warp or not step["m"] >> lane & 1 or step["f"]:
            continue
        line = step["l"] - first + 1
        if not lines or lines[-1][0] != line:
            lines.append((line, {}))
        for name, value in step.get("v", {}).items():
            value = value[lane] if isinstance(value, list) else value
            lines[-1][1][name] = float(value)
    return lines


def unseen_jumps(text, record):
    """The lines of `break` and `continue` at which no step is: Python shares some."""
    seen = {step["l"] - record["files"][0]["first"] + 1 for step in record["steps"]}
    jumps = {n for n, it in enumerate(text.splitlines(), 1) if it.strip() in JUMPS}
    return jumps - seen


def without(lines, trace):
    """A trace without some lines; what is in a row then is one."""
    left = []
    for line, values in trace:
        if line not in lines and (not left or left[-1][0] != line):
            left.append((line, {}))
        if line not in lines:
            left[-1][1].update(values)
    return left


@pytest.mark.parametrize("seed", beside([2], range(50), slow_every=4))
def test_a_film_shows_the_lines_and_values_of_each_thread(seed):
    """Step by step, those that njit computes where each thread runs by itself."""
    made, block = plain_program(seed), seed % PLAIN_LAUNCH[0]
    kernel = compiled(made.text, "kernel", as_kernel, seed)
    expected = traces(made, block)

    film = watch(kernel, block=block, steps=100_000)[PLAIN_LAUNCH](
        made.n, *made.arrays()
    )

    record = film.record()
    assert PLAIN_LAUNCH[1] == len(expected)
    for thread, wanted in enumerate(expected):
        got = lines_in(record, thread)
        wanted = without(unseen_jumps(made.text, record), wanted)
        assert [line for line, _ in wanted] == [line for line, _ in got], thread
        for (line, values), (_, found) in zip(wanted, got, strict=True):
            assert values.keys() == found.keys(), (thread, line)
            for name, value in values.items():
                np.testing.assert_allclose(found[name], value, rtol=1e-12)

"""How an exercise prints, on small ones: in a terminal, and in a notebook."""

from math import ceil

import numpy as np
import pytest

from helpers.exercises.exercise import Explain, InOut, Out, Predict, Write


class Halves(Write):
    """Divide by two.

    Like this, for each element:

        out[i] = a[i] / 2

        # and so on

    - first, an item that is so long that a line of a terminal does not hold all of it
    - second
    """

    points, stars = 1, 2
    even, ragged = ((32, 64),), ((1, 1),)
    budget = {"sectors": 4, "barriers": 0}

    def inputs(self, rng, rows, cols):
        a = np.ones((rows, cols), np.float32)
        return {
            "out": Out((rows, cols)),
            "a": np.asfortranarray(a),
            "total": InOut(np.zeros(1, np.int32)),
            "by": np.float32(2),
            "n": rows,
        }

    def launch(self, rows, cols):
        threads = 32, 8
        return (ceil(cols / 32), ceil(rows / 8)), threads

    def spec(self, a):
        return a / 2, 0

    answer = "@cuda.jit\ndef halves(out, a, total, by, n):\n    pass"


TEXT = """\
halves ★★ (write, 1 point)

Divide by two.

Like this, for each element:

    out[i] = a[i] / 2

    # and so on

- first, an item that is so long that a line of a terminal does not hold all of it
- second

Arguments:
    `out`: float32, 32 × 64, to be filled
    `a`: float32, 32 × 64, not row by row in memory
    `total`: int32, 1 element, to be changed
    `by`: a number, float32
    `n`: a number, int

Launch:
    `[(2, 4), (32, 8)]` with `rows, cols = 32, 64`
    `[(ceil(cols / 32), ceil(rows / 8)), threads]` with other sizes, where \
`threads = (32, 8)`

Budget:
    sectors per request to global memory: at most 4
    barriers that a block waits at: at most 0
    and the usual limits, which `task.usual_limits()` prints

Specification:
    def spec(a):
        return a / 2, 0"""
LIMITS = """\
The usual limits:
    instructions, float64 operations, sectors and atomic operations with fences: less \
than 1.5 times
        those of the course's answer, and 16 instructions a warp
    requests to global memory: less than 2 times those of the course's answer
    atomic operations on global memory and barriers of the grid: no more than the \
course's answer
        needs
    at the first size, about: 1,024 instructions, no requests to global memory, 8,192 \
float64
        operations, no sectors and no atomic operations with fences
    at sizes that do not fill their blocks, up to the largest that is listed: less \
than 2 times
        these, and 2 times the other counts
    share of the busiest block and warp in the instructions: less than 1.5 and 3 times \
that in the
        course's answer; in the stores: 1.5 and 2 times
    numbers of the kernel's own: none in arrays, 16 in tuples
"""
MARKDOWN = """\
#### halves ★★

*Write, 1 point*

Divide by two.

Like this, for each element:

```python
out[i] = a[i] / 2

# and so on
```

- first, an item that is so long that a line of a terminal does not hold all of it
- second

- **Arguments:** `out`: float32, 32 × 64, to be filled; \
`a`: float32, 32 × 64, not row by row in memory; \
`total`: int32, 1 element, to be changed; `by`: a number, float32; `n`: a number, int
- **Launch:** `[(2, 4), (32, 8)]` with `rows, cols = 32, 64`; \
`[(ceil(cols / 32), ceil(rows / 8)), threads]` with other sizes, where \
`threads = (32, 8)`
- **Budget:** sectors per request to global memory: at most 4; \
barriers that a block waits at: at most 0; \
and the usual limits, which `task.usual_limits()` prints

```python
def spec(a):
    return a / 2, 0
```"""


def test_a_terminal_shows_all_that_a_kernel_is_held_to():
    """Words, code, arguments, launch, budget, specification."""
    assert TEXT == repr(Halves())


def test_a_notebook_shows_the_same_as_markdown():
    """Code is marked as Python, so that it is coloured."""
    assert MARKDOWN == Halves()._repr_markdown_()


def test_the_usual_limits_are_numbers_where_they_are_asked_for(capsys):
    """They are the emulator's, and no page that is built has them."""
    Halves().usual_limits()

    assert LIMITS == capsys.readouterr().out


class Short(Predict):
    """Which of $many words is it? Say it before you run anything, beginning with place
    1. There is no other.
    """

    choices = {"many": ("two very, very, very, very, very, very long",)}
    options = "yes", "no"


def test_lines_follow_the_words_that_a_choice_puts_in():
    """In a terminal 88 wide; in a notebook one, so that no number begins a list."""
    words = (
        "Which of two very, very, very, very, very, very long words is it? Say it "
        "before you run anything, beginning with place 1. There is no other."
    )
    text, markdown = repr(Short()), Short()._repr_markdown_()

    assert max(map(len, text.splitlines())) <= 88
    assert words in " ".join(text.split())
    assert words in markdown.splitlines()
    assert '- **One of:** `"yes"`, `"no"`' in markdown.splitlines()


class Alone(Halves):
    """One block does it."""

    def launch(self, rows, cols):
        return 1, 32


def test_a_launch_that_is_always_the_same_is_told_once():
    """There is no rule to tell."""
    assert "\nLaunch:\n    `[1, 32]` with each size\n" in repr(Alone())


class Why(Explain):
    """Why is that?"""

    points, rubric = 2, {"because of the cache": 2}
    model = "Because a cache holds what the neighbour has just loaded."


def test_a_rubric_is_not_shown():
    """It would give the answer away."""
    assert "why ★ (explain, 2 points)\n\nWhy is that?" == repr(Why())


def test_nbgrader_gets_the_points_and_nobody_else(monkeypatch, capsys):
    """It takes a number below a cell as points, and a cell without one as all right."""
    model, why = Why.model, Why()
    assert why.check(model) is None

    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")

    assert why.check("") == 0
    assert why.check(model) is None
    assert "marked by a person" in capsys.readouterr().out


class Two(Predict):
    """How many, and how few?"""

    def truth(self):
        return {"many": 2, "few": 1}


def test_nbgrader_gets_part_of_the_points_where_a_learner_gets_an_error(monkeypatch):
    """Nothing right is an error in both."""
    half, none = {"many": 2, "few": 2}, {"many": 3, "few": 3}
    with pytest.raises(AssertionError, match="0.5 of 2 points"):
        Two().check(half)

    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")

    assert [0.5, 2] == [Two().check(half), Two().check(Two().truth())]
    with pytest.raises(AssertionError, match="0 of 2 points"):
        Two().check(none)

"""An error ends at the reader's own line: in a script, in a notebook, under pytest."""

import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from numba import cuda

from helpers import check, emulate, expect, measure, table
from tests.paths import ROOT
from tests.plain_words import internals_of
from thirty_two_lanes.core.errors import ArgumentError, shown, wrapped
from thirty_two_lanes.language import math_functions

SCRIPT = """\
import sys
import numpy as np
from numba import cuda
from helpers import check, emulate
from thirty_two_lanes.language.operators import FUNCTIONS

@cuda.jit
def wrong(a):
    a[i > 3] = 0

@cuda.jit
def stray(a):
    a[0] = 1
    a[1] = cuda.popc(3)

def fails(*arguments):
    raise LookupError("$phi3")

FUNCTIONS["cuda.popc"] = fails
calls = {
    "emulated": lambda: emulate(wrong)[1, 4](np.zeros(8)),
    "plain": lambda: wrong[1, 4](np.zeros(8)),
    "stray": lambda: stray[1, 4](np.zeros(8)),
    "checked": lambda: check(1, 2),
    "no kernel": lambda: emulate(3),
    "eager": lambda: cuda.jit("void(float64[:])")(wrong.py_func),
    "outside": lambda: cuda.grid(1),
    "no option": lambda: emulate(wrong, sed=1),
}
"""


def ran(tmp_path, code, **environment):
    """What a script writes to its output for errors."""
    file = tmp_path / "script.py"
    file.write_text(SCRIPT + code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(file)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def files_in(text):
    """The files of a traceback's lines."""
    return set(re.findall(r'File "(?:[^"]*/)?([^"/]+)", line', text))


@pytest.mark.slow
def test_a_script_ends_with_its_own_lines_and_the_sentence(tmp_path):
    """Python's own traceback, as its hook for errors shows it, call by call."""
    show = (
        "for name, call in calls.items():\n"
        "    print('#', name, file=sys.stderr)\n"
        "    try:\n"
        "        call()\n"
        "    except Exception as error:\n"
        "        sys.excepthook(type(error), error, error.__traceback__)\n"
    )
    parts = ran(tmp_path, show).split("# ")[1:]

    assert 8 == len(parts)
    for part in parts:
        assert {"script.py"} == files_in(part), part
        assert "During handling" not in part and "direct cause" not in part
        assert "$phi3" not in part and "LookupError" not in part
    assert "script.py, line 14)" in parts[2] and "fault of its own" in parts[2]


@pytest.mark.slow
def test_a_switch_shows_what_happened_inside(tmp_path):
    """For those who look for the fault: our lines, and the error behind it."""
    told = ran(tmp_path, "calls['stray']()", EMULATOR_DEBUG="1")

    assert "LookupError: $phi3" in told and "direct cause" in told
    assert {"script.py", "batch.py", "errors.py"} <= files_in(told)


@pytest.mark.slow
def test_a_notebook_shows_the_cell_and_the_sentence(tmp_path):
    """IPython prints chains of errors and all frames that nothing hides."""
    show = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='nocolor')\n"
        "shell.push({'calls': calls})\n"
        "for name in calls:\n"
        "    print('#', name)\n"
        "    shell.run_cell(f'calls[{name!r}]()')\n"
    )
    parts = ran(tmp_path, show).split("# ")[1:]

    assert 8 == len(parts)
    for part in parts:
        frames = re.findall(r"^File (\S+?):\d+|^(Cell In\[\d+\])", part, re.MULTILINE)
        shown_files = {(file or cell).rpartition("/")[2] for file, cell in frames}
        assert {"script.py"} == {f for f in shown_files if f.endswith(".py")}, part
        assert "During handling" not in part and "direct cause" not in part


def test_a_sentence_is_broken_between_words():
    """At 100 columns, where it goes on further in; what is shorter stays as it is."""
    short, long = "  " + "word " * 19 + "end", "  " + "words " * 20 + "end"

    assert short == wrapped(short)
    first, second = wrapped(f"{short}\n{long}").splitlines()[1:]
    assert ("  " + "words " * 16).rstrip() == first
    assert "      words words words words end" == second


def test_a_warning_names_the_readers_line_and_is_broken_between_words():
    """Python puts the file, the line and the kind before it."""
    host = np.arange(8.0)
    with pytest.warns(UserWarning, match="share host memory") as told:
        two_of[1, 1](host, host[1:])  # what it writes is lost

    assert {__file__} == {it.filename for it in told}
    lines = str(told[0].message).splitlines()
    assert len(lines[0]) <= 60 and max(map(len, lines)) <= 100


@cuda.jit
def two_of(a, b):
    a[0] = b[0]


@cuda.jit
def first_of(a):
    a[0] = 1


CALLS = {
    "emulate": lambda: emulate(first_of)[1, 1](),
    "brackets": lambda: first_of[1],
    "launch": lambda: first_of[1, 1]("text"),
    "no brackets": lambda: emulate(first_of)(1),
    "measure": lambda: measure(first_of)["x", 1],
    "check": lambda: check(1, 2),
    "shapes": lambda: check(np.zeros(2), np.zeros(3)),
    "assertion": lambda: emulate(first_of)[1, 2](np.zeros(1)).assert_no_races(
        line=1, array="b"
    ),
    "limit": lambda: check(1, 1, rtol="x"),
    "table": lambda: table(["a"], [[1, 2]]),
    "option": lambda: emulate(first_of, sed=1),
    "row": lambda: emulate(first_of)[1, 2](np.zeros(1)).coalescing.by_line[1],
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_door_hides_what_is_behind_it(call):
    """pytest, too, heeds the mark of the one frame that is left."""
    with pytest.raises(Exception) as told:
        call()

    assert [] == internals_of(told.value)
    frames = told.traceback.filter(told)
    assert {"test_errors.py"} == {frame.path.name for frame in frames}


def test_an_expected_error_that_does_not_come_is_told_at_the_readers_line():
    """`with expect(…)` is a door as well."""
    with pytest.raises(AssertionError, match="an IndexError, but nothing") as told:
        with expect(IndexError):
            pass

    assert [] == internals_of(told.value)


@pytest.mark.parametrize("wrong", [(), (3,), ("IndexError",), (int,)])
def test_expect_takes_kinds_of_errors(wrong):
    """As in `with expect(IndexError):`."""
    with pytest.raises(ArgumentError, match="the kind of error that is to come"):
        expect(*wrong)


def test_an_error_can_be_sent_to_another_process():
    """As a pool of processes does with what goes wrong in one of them."""
    for call in (CALLS["limit"], CALLS["check"], CALLS["row"]):
        with pytest.raises(Exception) as told:
            call()

        again = pickle.loads(pickle.dumps(told.value))
        assert (type(told.value), str(told.value)) == (type(again), str(again))


def test_a_value_is_shown_short_and_without_its_address():
    """In a message that says what was given."""
    assert "'text'" == shown("text")
    assert "an object" == shown(object())
    assert "a list" == shown([object()])
    assert len(shown(10**400)) < 60 and len(shown(np.zeros(100))) < 60


def test_a_stray_error_names_the_line_of_the_instruction(monkeypatch):
    """And not the first line of its basic block, as all lines here are one."""

    def fails(value):
        raise OverflowError("cannot convert float infinity to integer")

    monkeypatch.setitem(math_functions.FUNCTIONS, "math.gamma", fails)
    operators = sys.modules["thirty_two_lanes.language.operators"]
    monkeypatch.setitem(operators.FUNCTIONS, "math.gamma", fails)

    @cuda.jit
    def kernel(a):
        x = a[0] + 1
        x *= 2
        y = math_functions.math.gamma(x)  # here
        a[1] = x
        a[0] = y

    with pytest.raises(NotImplementedError) as told:
        emulate(kernel)[1, 4](np.zeros(4))

    first = kernel.py_func.__code__.co_firstlineno
    assert f"test_errors.py, line {first + 4})" in str(told.value)
    assert [] == internals_of(told.value)

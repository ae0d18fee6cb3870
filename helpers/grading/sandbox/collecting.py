"""Runs a submission's cells, and hands its answers over as data: the untrusted child.

The judge checks what it says; nothing here is trusted once a cell has run.
"""

import ast
import asyncio
import inspect
import json
import re
import signal

from IPython.core.inputtransformer2 import TransformerManager

import helpers
from helpers.exercises.packing import (
    is_dispatcher,
    missing,
    packed,
)
from helpers.grading.sandbox.warming import warm_up
from thirty_two_lanes.core.source import remember

TRUSTED = False  # it runs what anybody wrote
LARGEST = 2**18  # bytes of an answer
AGAIN_S = 1  # until a cell is interrupted again that has not ended
SENTENCE = 300  # characters of an error
AROUND = re.compile(r"\s*(%%(time|capture)\b.*\n)+")  # magics that run their cell

warm_up()


class TooLong(KeyboardInterrupt):
    """A cell that does not end; `except Exception` must not catch it, nor asyncio."""


class Task:
    """Stands for an exercise while a submission runs: nobody is judged here."""

    def __init__(self, checked):
        self.checked = checked

    def check(self, answer):
        """Take it."""
        self.checked.append(answer)

    def hint(self):
        """Give none."""


class Shell:
    """Stands for IPython in cells with magics, which do nothing here."""

    def __getattr__(self, name):
        return lambda *_, **__: None


def prepare():
    """Nothing: what a submission could find here is what it may find."""


def work(request, send, limits):
    """Run the cells; after each, hand over the answers that are new or settled now."""
    answers, transform = Answers(), TransformerManager().transform_cell
    helpers.exercise = lambda *_, **__: Task(answers.checked)
    wanted, namespace = request["answers"], {"__name__": "__main__"}
    namespace["get_ipython"] = Shell
    for limit in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(limit, interrupt)
    for number, text in enumerate(request["cells"], start=1):
        error = run(text, f"cell {number}", namespace, transform, limits)
        there = {name: namespace[name] for name in wanted if name in namespace}
        send({"cell": number, "error": error, "answers": as_data(answers.news(there))})
    values = {k: v for k, v in answers.known.items() if not is_dispatcher(v)}
    send({"cell": 0, "error": "", "answers": as_data(values)})  # changed in place?
    send("done")


class Answers:
    """Which answers were handed over, each kernel with what its names meant in time.

    Numba freezes a name's value when a kernel is first compiled, and a later cell may
    give the name to another kernel. So a kernel is judged with the values that it has
    when it is first checked; until then, with those when all of them are there.
    """

    def __init__(self):
        self.known, self.settled, self.checked = {}, {}, []

    def news(self, there):
        """Of the answers that are there, those to be handed over, again perhaps."""
        found = {}
        for name, value in there.items():
            new = self.known.get(name) is not value
            checked = any(it is value for it in self.checked)
            now = is_whole(value) * (1 + checked)
            if new or now > self.settled.get(name, 0):
                found[name], self.settled[name] = value, now
        self.known = there
        return found


def is_whole(answer) -> bool:
    """Is every name there that a kernel uses?"""
    try:
        return not is_dispatcher(answer) or not missing(answer.py_func)
    except Exception:  # it is whatever a submission made of it
        return True


def as_data(answers) -> dict:
    """Answers by name, as data."""
    return {name: data_of(it) for name, it in answers.items()}


def data_of(answer):
    """An answer as data; what breaks its packing breaks no other answer."""
    try:
        data = packed(answer)
        size = len(json.dumps(data))
    except Exception as error:
        return {"value": {"refused": f"what raises {type(error).__name__}"}}
    if size > LARGEST:
        return {"value": {"refused": f"an answer of {size:,} bytes"}}
    return data


def interrupt(limit, _):
    set_clocks(0, AGAIN_S)  # what handles the first one, as asyncio, may not end
    raise TooLong(limit)


def set_clocks(computing, waiting):
    """Seconds until a cell is interrupted: of computing, since others may keep the
    machine busy, and in all; 0 for never.
    """
    signal.setitimer(signal.ITIMER_PROF, computing)
    signal.setitimer(signal.ITIMER_REAL, waiting)


def run(text, name, namespace, transform, limits):
    """Run a cell; how it ended in a sentence, "" if well."""
    try:
        set_clocks(limits.cell_s, limits.cell_wall_s)
        try:
            execute(text, f"<{name}>", namespace, transform)
        except TooLong:
            raise
        except BaseException as error:  # SystemExit too: the next cell runs
            return sentence_of(error)
        finally:
            set_clocks(0, 0)
    except TooLong as late:
        set_clocks(0, 0)
        while isinstance(late.__context__, TooLong):  # it was interrupted again
            late = late.__context__
        if late.args == (signal.SIGPROF,):
            return f"it was stopped after {limits.cell_s} s of computing"
        return f"it was stopped after {limits.cell_wall_s} s"
    return ""


def sentence_of(error) -> str:
    """What an error says; its name alone where its words raise another one."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"[:SENTENCE]
    except TooLong:
        raise
    except BaseException:
        return name


def execute(text, file, namespace, transform):
    """Execute a cell as Jupyter does."""
    text = transform(unwrapped(text))
    remember(text, file)
    code = compile(text, file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(eval(code, namespace))
    else:
        exec(code, namespace)


def unwrapped(text) -> str:
    """A cell without the magics around it, whose lines keep their numbers."""
    found = AROUND.match(text)
    return "\n" * found[0].count("\n") + text[found.end() :] if found else text

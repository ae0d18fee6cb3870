"""Runs a submission's cells, and hands its answers over as data: the untrusted child.

What it says is checked by whoever judges; nothing here is trusted once a cell has run.
"""

import json
import signal

from IPython.core.inputtransformer2 import TransformerManager

import helpers
from helpers.grading.sandbox.packing import packed, remember

LARGEST = 2**18  # bytes of an answer
SENTENCE = 300  # characters of an error


class TooLong(BaseException):
    """A cell that does not end; `except Exception` must not catch it."""


class Task:
    """Stands for an exercise while a submission runs: nobody is judged here."""

    def check(self, answer):
        """Take it."""

    def hint(self):
        """Give none."""


class Shell:
    """Stands for IPython in cells with magics, which do nothing here."""

    def __getattr__(self, name):
        return lambda *_, **__: None


def work(request, send, limits):
    """Run the cells; after each, hand over the answers that are there now."""
    helpers.exercise = lambda *_, **__: Task()
    wanted, transform = request["answers"], TransformerManager().transform_cell
    namespace = {"__name__": "__main__", "get_ipython": Shell}
    signal.signal(signal.SIGALRM, interrupt)
    known = {}
    for number, text in enumerate(request["cells"], start=1):
        error = run(text, f"cell {number}", namespace, transform, limits.cell_s)
        there = {name: namespace[name] for name in wanted if name in namespace}
        new = {k: v for k, v in there.items() if known.get(k) is not v}
        send({"cell": number, "error": error, "answers": as_data(new)})
        known = there
    send({"cell": 0, "error": "", "answers": as_data(known)})  # with later constants
    send("done")


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


def interrupt(*_):
    raise TooLong


def run(text, name, namespace, transform, seconds):
    """Run a cell; how it ended in a sentence, "" if well."""
    file = f"<{name}>"
    try:
        signal.alarm(seconds)
        text = transform(text)
        remember(text, file)
        exec(compile(text, file, "exec"), namespace)
    except TooLong:
        return f"it was stopped after {seconds} s"
    except BaseException as error:  # SystemExit too: the next cell runs
        return f"{type(error).__name__}: {error}"[:SENTENCE]
    finally:
        signal.alarm(0)
    return ""

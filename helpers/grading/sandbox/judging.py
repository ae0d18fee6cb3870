"""Judges answers that were handed over as data: the trusted child, in which no line of
a submission runs.
"""

from contextlib import suppress
from dataclasses import asdict
from tokenize import TokenError

from helpers.exercises import judging
from helpers.exercises.catalogue import exercise, exercises
from helpers.exercises.exercise import Write
from helpers.exercises.reasons import REFUSED
from helpers.exercises.rebuilding import Malformed, answer_of
from helpers.exercises.verdict import Verdict
from helpers.grading.sandbox.warming import warm_up
from thirty_two_lanes.core.errors import ExplainedError

TRUSTED = True  # what its children start, as a compiler, tells nobody anything


exercises()
warm_up()


def prepare(seed=None, inputs=None):
    """Do once for all children what is the same for every answer to some exercises, by
    what the inputs of each follow from.
    """
    for name, its in (inputs or {}).items():
        task = exercise(name, seed)
        if isinstance(task, Write):
            with suppress(Exception):  # else each child would find it, and says so
                judging.prepare(task, its)


def work(request, send, limits):
    """Judge an answer to an exercise: `seed` chose the variant, and its inputs follow
    from `inputs`.
    """
    try:
        task = exercise(request["exercise"], request["seed"])
        send(asdict(verdict_on(task, request["answer"], request["inputs"])))
    except Exception as error:  # of an exercise, or of the judge: nobody's answer
        send({"failed": type(error).__name__})
    send("done")


def verdict_on(task, data, inputs) -> Verdict:
    """The verdict; what is no answer is refused as such."""
    try:
        answer = answer_of(data)
        return task.judge(answer, inputs)
    except Malformed as error:
        sentence = f"{str(error)[:1].upper()}{str(error)[1:]}."
        return not_an_answer(task, sentence)
    except ExplainedError as error:
        return not_an_answer(task, str(error).splitlines()[0])
    except (RecursionError, MemoryError, SyntaxError, TokenError):
        return not_an_answer(task, "It is nested too deeply, or cannot be read.")


def not_an_answer(task, sentence) -> Verdict:
    return Verdict(task.name, 0, task.points, sentence, REFUSED)

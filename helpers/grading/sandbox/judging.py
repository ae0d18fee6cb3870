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

MOST_SHOWN = 4_000  # characters of a value
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
        verdict = asdict(verdict_on(task, request["answer"], request["inputs"]))
        send(verdict | {"answer": shown(request["answer"])})
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


def shown(answer) -> str:
    """The learner's own lines, or the value, as feedback shows it; made here, where
    memory and time have limits.
    """
    if isinstance(answer, dict) and isinstance(answer.get("kernel"), list):
        sources = [it.get("source") for it in answer["kernel"] if isinstance(it, dict)]
        return "\n\n".join(it for it in sources[::-1] if isinstance(it, str))[:60_000]
    try:
        value = answer_of(answer)
        return (value if isinstance(value, str) else python(value))[:MOST_SHOWN]
    except Exception:  # whatever it is, the verdict says so
        return ""


def python(value) -> str:
    """A value as its writer knows it: `...` is what an assignment gives."""
    if isinstance(value, dict):
        rows = (f"{python(name)}: {python(it)}" for name, it in value.items())
        return "{" + ", ".join(rows) + "}"
    return "..." if value is ... else repr(value)

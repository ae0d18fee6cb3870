"""A judge that is told at its start what all its children would do again."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from helpers.exercises.catalogue import exercise
from helpers.exercises.packing import packed
from helpers.grading import worker
from helpers.grading.manifest import item_of
from helpers.grading.sandbox import isolation
from helpers.grading.sandbox.children import Nursery
from helpers.grading.worker import Submitted
from tests.grading.asking import IMAGE, SHORT
from tests.grading.attacks import HEAD, RIGHT, WRONG

SECRET = "a secret that nobody else has"
ITEMS = tuple(asdict(item_of(exercise(it))) for it in ("mirror", "active_share"))
PLAIN = Submitted((), ITEMS, None, SECRET, IMAGE, asdict(SHORT), isolated=False)
PREPARED = replace(PLAIN, prepared=True)
FAKE = """
import json, sys
told = sys.stdin.readline()
print('{"ready": 1}', flush=True)
for line in sys.stdin:
    sys.stdin.readline()
    answer = {"id": json.loads(line)["id"], "ended": "done", "messages": [told]}
    answer |= {"seconds": 1.0, "cpu_seconds": 1.0, "waited_seconds": 1.0}
    answer["last"] = False
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def judge(monkeypatch):
    """The only warm judge."""
    new = Nursery("judge")
    monkeypatch.setitem(worker._idle, ("judge", IMAGE), [new])
    yield new
    new.end()


@pytest.fixture
def told(monkeypatch, judge):
    """A function that gives what the judge of a submission was told at its start."""
    program = [sys.executable, "-c", FAKE]
    monkeypatch.setattr(isolation, "command", lambda *_: program)

    def ask(work):
        with worker.nursery("judge", IMAGE, work.preparation) as asked:
            assert asked is judge
            return json.loads(asked.ask({}, SHORT)["messages"][0])

    return ask


def test_a_judge_begins_anew_for_what_it_was_not_prepared_for(told, judge):
    """And for nothing else: who wants no preparation takes any."""
    inputs = {it: PLAIN.inputs(it) for it in ("mirror", "active_share")}
    ready = {"seed": None, "inputs": inputs}
    other = replace(PREPARED, items=ITEMS[:1])
    found = []
    for work in (PLAIN, PREPARED, PREPARED, PLAIN, other):
        told_now = told(work)
        found.append((told_now, judge.process.pid))
    (plain, a), (first, b), (second, c), (third, d), (last, e) = found
    assert ({}, ready, ready, ready) == (plain, first, second, third)
    assert ready | {"inputs": {"mirror": inputs["mirror"]}} == last
    assert b == c == d and 3 == len({a, b, e})


def test_what_a_judge_is_told_is_in_no_command_line(told, judge):
    """Nor in an environment: other users of the machine may read those."""
    inputs = told(PREPARED)["inputs"]["mirror"]
    for name in ("cmdline", "environ"):
        assert inputs not in Path(f"/proc/{judge.process.pid}/{name}").read_text()


def test_a_judge_is_not_told_the_secret(monkeypatch):
    """But what the inputs of its exercises follow from: it knows those of no other."""
    asked = []
    monkeypatch.setattr(Nursery, "ask", lambda _, what, limits: asked.append(what))
    prepared = json.dumps(PREPARED.preparation)
    with pytest.raises(TypeError):
        worker.marked(ITEMS[0], {"value": 3}, PREPARED, Nursery("judge"), SHORT)
    assert PREPARED.inputs("mirror") == asked[0]["inputs"]
    assert SECRET not in prepared + json.dumps(asked)
    assert 2 == len({*PREPARED.preparation["inputs"].values()})


@pytest.mark.slow
def test_a_prepared_judge_gives_the_same_marks(judge):
    """To a right kernel and a wrong one."""
    for kernel in (RIGHT, WRONG):
        found = [
            worker.grade(replace(work, cells=(HEAD, kernel)))
            for work in (replace(PLAIN, secret="other"), PREPARED, PLAIN)
        ]
        for result in found:
            del result["cpu_seconds"]
        assert found[1] == found[2]


@pytest.mark.slow
def test_a_judge_that_calls_the_compiler_goes_on(judge):
    """Its children begin processes of their own, and none is left."""
    request = {"exercise": "calendar", "seed": None, "inputs": SECRET}
    request["answer"] = {"value": 3}
    judge.ask(request, SHORT)
    first = judge.process.pid
    task = exercise("calendar")
    request["answer"] = packed(task.kernel(task.answer_text))
    for _ in range(2):
        verdict = json.loads(judge.ask(request, SHORT)["messages"][0])
        assert verdict["of"] == verdict["points"]
    assert first == judge.process.pid

"""Data that nobody packed: refused in words, and nothing of it runs."""

import itertools
import random

import pytest

from helpers.exercises.catalogue import exercise
from helpers.exercises.rebuilding import Malformed, answer_of
from helpers.grading import worker
from helpers.grading.sandbox import judging
from helpers.grading.sandbox.judging import verdict_on
from tests.grading.attacks import RIGHT
from thirty_two_lanes.core.errors import ExplainedError
from thirty_two_lanes.core.source import source_line, source_of

CUDA = {"cuda": {"module": "numba.cuda"}}
RAN = []  # what code of a submission would add to


def function(source=RIGHT, name="mirror", names=CUDA, options=(), signatures=()):
    """A function as it is handed over."""
    return {
        "name": name,
        "source": source,
        "options": dict(options),
        "signatures": list(signatures),
        "names": names,
    }


def kernel(*functions, **given):
    return {"kernel": [*(functions or [function(**given)])]}


def text(lines, name="mirror"):
    return f"@cuda.jit\ndef {name}(out, a):\n{lines}"


VALUES = (
    *({"int": "1.0"}, {"int": "9" * 500}, {"int": 3}, {"int": "²"}, {"int": "--1"}),
    *({"float": "one"}, {"float": 1.0}, {"float": "0x1p99999"}, {"float": None}),
    *({"array": "O", "shape": [1], "bytes": ""}, {"array": "<f4"}, {"array": None}),
    {"array": "<f4", "shape": [2], "bytes": "AAAA"},
    {"array": "<f4", "shape": [-1, -1], "bytes": "AAAAAA=="},
    {"array": "<f4", "shape": [2**70, 0], "bytes": ""},
    {"array": "<f4", "shape": [0] * 40, "bytes": ""},
    {"array": "<f4", "shape": 1, "bytes": "AAAAAA=="},
    {"array": "<f4", "shape": [1], "bytes": "not base 64"},
    {"array": "i4,O", "shape": [1], "bytes": ""},
    {"array": {"names": ["x"]}, "shape": [1], "bytes": ""},
    *({"tuple": 3}, {"tuple": [{"tuple": "a"}]}, {"tuple": [1.5]}, {"dict": [[1]]}),
    *({"dict": {}}, {"dict": [[{"tuple": []}, None]]}, {"dtype": "O"}, {"dtype": 1}),
    *({"type": "Array"}, {"type": "__class__"}, {"type": 3}, {"module": "os"}),
    {"module": "helpers"},
    *({"module": ["numpy"]}, {"member": ["os", "system"]}, {"member": ["math"]}),
    {"member": ["builtins", "__import__"]},
    *({"array type": ["float32", 99, "C"]}, {"array type": [1, 1, "C"]}, {"who": 1}),
    *({"complex": ["0x1p0"]}, {"complex": "0x1p0"}, {"complex": [1, 2]}),
    {"enum": "A", "members": []},
    {"enum": "A", "members": [["mro", {"int": "1"}]]},
    {"enum": "A", "members": [["_missing_", {"int": "1"}]]},
    {"enum": "A", "members": [["a", {"module": "numpy"}]]},
    {"enum": "A", "members": [["a", {"int": "1"}]], "member": "b"},
    {"enum": 3, "members": [["a", {"int": "1"}]]},
    {"named tuple": "A", "fields": ["_a"]},
    {"named tuple": "A", "fields": ["a", "a"]},
    {"named tuple": "A", "fields": ["a", "ａ"]},
    {"named tuple": "A", "fields": "ab"},
    {"named tuple": 1, "fields": ["a"]},
    {"tuple": [], "class": "A", "fields": ["a"]},
    *({"slice": [None, None]}, {"slice": [1.5, None, None]}, {"slice": "1:2"}),
    *(3, [], 2.5, {}, {"refused": "an object"}, {"refused": [1, 2]}),
)


@pytest.mark.parametrize("data", VALUES, ids=lambda data: str(data)[:40])
def test_data_that_are_no_value_are_refused(data):
    """In one sentence, whatever is wrong with them."""
    with pytest.raises(Malformed):
        answer_of({"value": data})


def test_what_is_refused_is_named_by_a_plain_name_alone():
    """A submission chooses the words, which feedback shows as Markdown."""
    for told in ("the module os", "what raises KeyError", "an array of 9,000 bytes"):
        with pytest.raises(Malformed, match=f"^{told} cannot"):
            answer_of({"value": {"refused": told}})
    for told in (
        "![](x)",
        "a\n# b",
        "the module [a](b)",
        "x " * 9,
        "e\u0301",
        3,
        "a\n",
    ):
        with pytest.raises(Malformed, match="^something cannot"):
            answer_of({"value": {"refused": told}})


def test_what_is_nested_without_end_is_refused():
    """At twenty levels."""
    data = None
    for _ in range(200):
        data = {"tuple": [data]}
    with pytest.raises(Malformed, match="nested"):
        answer_of({"value": data})


TEXTS = {
    "no definition": "x = 1",
    "two definitions": RIGHT + RIGHT,
    "a class": "class mirror: pass",
    "a coroutine": "async def mirror(out, a): pass",
    "half of one": "@cuda.jit\ndef mirror(out, a",
    "a null character": text("    out[0] = 1\0"),
    "nothing": "",
    "no text": 3,
    "many lines": text("    out[0, 0] = 1\n" * 2_000),
    "long lines": text("    out[0, 0] = " + "1 + " * 30_000 + "1"),
    "deep parentheses": text("    out[0, 0] = " + "(" * 900 + "1" + ")" * 900),
    "deep blocks": text("".join(" " * (i + 4) + "if a:\n" for i in range(150))),
    "a long number": text("    out[0, 0] = 1\n    x = 0x" + "f" * 5_000),
    "break outside": text("    break"),
    "a context, whose words Numba would run": text(
        "    with numba.objmode(y='RAN.append(1)'):\n        y = 1"
    ),
}


@pytest.mark.parametrize("source", TEXTS.values(), ids=TEXTS)
def test_a_source_that_is_no_plain_function_is_refused(source):
    """Before anything of it runs."""
    with pytest.raises(Malformed):
        answer_of(kernel(source=source))
    assert [] == RAN


def test_nothing_of_a_definition_runs_but_the_definition():
    """Decorators, annotations and what Python runs once are left out."""
    source = (
        "@RAN.append(1)\n@cuda.jit(RAN.append(2))\n"
        "def mirror(out: RAN.append(3), b=RAN.append(4), *a: RAN.append(5),"
        " c=RAN.append(6)) -> RAN.append(7):\n"
        "    out[0] = 1"
    )
    made = answer_of(kernel(source=source, names={}))
    assert "mirror" == made.py_func.__name__
    assert {} == made.py_func.__annotations__
    assert ((), {}) == (made.py_func.__defaults__, made.py_func.__kwdefaults__)
    assert [] == RAN


DECOY = '''\
@cuda.jit("""
def mirror(out, a):
    pass
""")
def\\
    mirror(out, a):
    out[0, 0] = 1
'''


def test_the_source_of_a_function_is_what_was_compiled():
    """`inspect` looks above a line for a definition, and would find one in a text."""
    made = answer_of(kernel(source=DECOY)).py_func
    assert "    out[0, 0] = 1" == source_of(made).lines[-1]
    assert "out[0, 0] = 1" == source_line(made.__code__.co_filename, 7)


FUNCTIONS = {
    "a signature of text": {"signatures": [["int32"]]},
    "a signature that is code": {"signatures": ["RAN.append(1)"]},
    "many signatures": {"signatures": [[]] * 99},
    "an unknown option": {"options": {"link": "evil.cu"}},
    "an option that is code": {"options": {"inline": "RAN.append(1)"}},
    "a name that is none": {"name": "a b"},
    "no name": {"name": None},
    "builtins": {"names": {"__builtins__": {"dict": []}}},
    "names as a list": {"names": ["cuda"]},
    "an outside name that is none": {"names": {"a; b": None}},
    "a function that is not there": {"names": CUDA | {"cuda": {"function": 7}}},
    "a function without a number": {"names": CUDA | {"cuda": {"function": "x"}}},
}


@pytest.mark.parametrize("given", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_that_is_described_wrongly_is_refused(given):
    """Options, names and signatures."""
    with pytest.raises(Malformed):
        answer_of(kernel(**given))
    assert [] == RAN


DEFAULTS = (
    *({"defaults": 3}, {"defaults": [None] * 3}, {"defaults": [{"refused": "x"}]}),
    *({"named defaults": [1]}, {"named defaults": {"z": None}}),
)


@pytest.mark.parametrize("given", DEFAULTS, ids=str)
def test_defaults_of_nothing_are_refused(given):
    """More than there are arguments, and of none by that name."""
    with pytest.raises(Malformed):
        answer_of(kernel(function() | given))


KERNELS = ([], None, {}, [None], [[]], ["mirror"], [function()] * 99, [{}])


@pytest.mark.parametrize("data", KERNELS, ids=lambda data: str(data)[:20])
def test_a_kernel_that_is_described_wrongly_is_refused(data):
    """Its list of functions."""
    with pytest.raises(Malformed):
        answer_of({"kernel": data})


def test_functions_that_call_each_other_are_refused():
    """Which would be built without end."""
    calls = [
        function(source=text("    other(out, a)"), names={"other": {"function": 1}}),
        function(source=text("    other(out, a)"), names={"other": {"function": 0}}),
    ]
    with pytest.raises(Malformed, match="calls itself"):
        answer_of(kernel(*calls))


def test_a_function_that_is_not_called_is_refused():
    """It would be part of the text by which kernels are compared."""
    with pytest.raises(Malformed, match="that it does not call"):
        answer_of(kernel(function(), {"name": "f", "source": "x = 1"}))


def test_what_is_malformed_is_a_verdict_and_no_error():
    """The judge says so, and gives no point."""
    for data in (kernel(), None, 3, {"value": {"int": "x"}}, {"kernel": [3]}):
        verdict = verdict_on(exercise("mirror"), data, "a secret")
        assert verdict.points == (2 if data == kernel() else 0)


DEEP = {
    "many terms": RIGHT.replace("= a[row, col]", "= a[row, col]" + " + 1" * 400),
    "many attributes": RIGHT.replace("= a[row", f"= a{'.T' * 900}[row"),
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
def test_a_kernel_that_is_nested_too_deeply_is_a_wrong_answer(source):
    """It earns nothing; the judge goes on."""
    verdict = verdict_on(exercise("mirror"), kernel(source=source), "a secret")
    assert (verdict.points, verdict.reason) == (0, "refused")
    assert "nested too deeply" in verdict.sentence


def test_a_right_kernel_with_any_part_replaced_is_judged_or_refused():
    """Each part of what is handed over, by things that do not belong there."""
    things = (None, 3, "x", [], {}, [[]], {"int": "3"}, "é" * 50, {"kernel": 1})
    rng = random.Random(1)
    right = function(signatures=[[{"array type": ["float32", 2, "C"]}] * 2])
    for part, thing in itertools.product(right, rng.sample(things, len(things))):
        changed = kernel(right | {part: thing})
        try:
            answer_of(changed)
        except (Malformed, ExplainedError):
            continue


def test_an_error_of_an_exercise_is_named_and_is_nobodys_answer(monkeypatch):
    """As of a `spec` whose NumPy was not imported; its words may hold anything."""
    asked = {"exercise": "mirror", "seed": None, "answer": kernel(), "inputs": "s"}
    kind = type(exercise("mirror"))
    monkeypatch.setattr(kind, "spec", lambda self, a: no_such_name)  # noqa: F821
    sent = []
    judging.work(asked, sent.append, None)
    assert [{"failed": "NameError"}, "done"] == sent
    found = {"ended": "done", "messages": ['{"failed": "NameError"}'], "seconds": 0.5}

    class Judge:
        def ask(self, *_):
            return found

    work = worker.Submitted((), (), None, "s")
    row, _ = worker.marked({"exercise": "mirror", "points": 2}, {}, work, Judge(), None)
    told = "The judge failed at it (NameError): a person must look."
    assert (None, told) == (row["points"], row["sentence"])

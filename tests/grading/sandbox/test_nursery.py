"""A warm process and its children: limits, leftovers and how they end."""

import json
import os
import time
from dataclasses import asdict, replace

import psutil
import pytest

from helpers.grading import worker
from helpers.grading.sandbox import isolation
from helpers.grading.sandbox.children import LOST, Nursery, NurseryError
from helpers.grading.sandbox.limits import MOST_MESSAGES
from tests.grading.asking import SHORT, ended, needs_isolation, nursery_at, seen
from tests.paths import ROOT


def test_a_submission_that_ends_well_says_so(nursery):
    """A message for each cell, and one for the answers as they are at the end."""
    how, messages = ended(nursery, "seen = 3")
    assert "done" == how
    assert [1, 0] == [it["cell"] for it in messages]
    assert [{"seen": {"value": {"int": "3"}}}] * 2 == [it["answers"] for it in messages]


def test_the_process_is_the_same_for_each_and_the_children_are_not(nursery):
    """What a submission imports or changes is gone for the next one."""
    code = "import os, math; math.pi = 3; seen = f'{os.getppid()} {os.getpid()}'"
    one, two = (
        ended(nursery, code)[1][0]["answers"]["seen"]["value"] for _ in range(2)
    )
    assert one.split()[0] == two.split()[0]
    assert one.split()[1] != two.split()[1]
    assert "3.14159" == seen(nursery, "math.pi", "import math")[:7]


@pytest.mark.parametrize(
    "code, limits, how",
    [
        ("while True: pass", {"cpu_s": 1, "cell_s": 60}, "computed for too long"),
        ("import time; time.sleep(60)", {"cell_s": 60, "wall_s": 1}, "ran out of time"),
        ("import os; os._exit(3)", {}, "ended early"),
        ("import os, time; os.close(902); time.sleep(.1)", {}, "ended early"),
        ("import os; os.kill(os.getpid(), 9)", {}, "ended early"),
        ("import sys; sys.exit(3)", {}, "done"),
        ("while True: pass", {"cell_s": 1}, "done"),
        ("x = bytearray(2**31)", {"memory_bytes": 2**31}, "done"),
        ("open('x', 'wb').write(bytes(2**21))", {"file_bytes": 2**20}, "done"),
    ],
)
def test_each_limit_ends_what_is_beyond_it(nursery, code, limits, how):
    """A cell, where Python can be told; else the process."""
    found, messages = ended(nursery, code, **limits)
    assert how == found
    if how == "done" and "exit" not in code:
        assert messages[0]["error"]


def test_an_error_whose_words_raise_another_one_is_named(nursery):
    """And the next cell runs."""
    code = "class Odd(Exception):\n    def __str__(self): raise SystemExit\nraise Odd"
    request = {"cells": [code, "seen = 3"], "answers": ["seen"]}
    answer = nursery.ask(request, SHORT)
    told = [json.loads(it)["error"] for it in answer["messages"]]
    assert ("done", ["Odd", "", ""]) == (answer["ended"], told)


@pytest.mark.slow
def test_a_cell_that_others_keep_waiting_is_not_stopped(nursery):
    """What it computes is counted; in all it has twice as long."""
    code = "import time; time.sleep({}); seen = 3"
    how, messages = ended(nursery, code.format(1.5), cell_s=1)
    assert ("done", "") == (how, messages[0]["error"])
    how, messages = ended(nursery, code.format(60), cell_s=1)
    assert ("done", "it was stopped after 2 s") == (how, messages[0]["error"])
    awaiting = "import asyncio\nwhile True:\n    await asyncio.sleep(0)"
    spinning = "import asyncio\nasync def f():\n    while True: await asyncio.sleep(0)"
    thread = "import asyncio, time\nawait asyncio.to_thread(time.sleep, 60)"
    for code in ("while True: pass", awaiting, f"{spinning}\nawait f()", thread):
        how, messages = ended(nursery, code, cell_s=1)
        assert "done" == how
        assert messages[0]["error"] in (  # the second where the machine is busy
            "it was stopped after 1 s of computing",
            "it was stopped after 2 s",
        )


def test_too_much_that_is_handed_over_is_cut(nursery):
    """What came whole before that is kept."""
    code = "seen = 3\nimport os\nos.write(902, b'{}\\n' + b'x' * 2**21)"
    how, messages = ended(nursery, code, handed_over_bytes=2**20)
    assert "handed over too much" == how
    assert [{}] == messages


def test_of_messages_without_end_the_first_are_handed_over(nursery):
    """As many as an honest submission has: the grader reads each of them."""
    code = "import os; os.write(902, b'1\\n' * 2**18)"
    request = {"cells": [code], "answers": []}
    assert ["1"] * MOST_MESSAGES == nursery.ask(request, SHORT)["messages"]


@pytest.mark.slow
def test_what_was_written_before_a_limit_was_met_is_read(nursery):
    """Also by who is over it the first time that anybody counts."""
    code = "import threading, time\nseen = 3\nfor _ in range(9):\n"
    code += "    threading.Thread(target=time.sleep, args=(3,), daemon=True).start()"
    request = {"cells": [code, "time.sleep(3)"], "answers": ["seen"]}
    answer = nursery.ask(request, replace(SHORT, processes=4))
    assert "started too many processes" == answer["ended"]
    messages = [json.loads(it) for it in answer["messages"]]
    assert [{"seen": {"value": {"int": "3"}}}] == [it["answers"] for it in messages]


@needs_isolation
def test_terminals_are_no_channel_to_the_next_child(nursery):
    """Nothing is written where the next one reads."""
    code = """\
import os
try:
    os.chmod("/dev/pts", 0); found = "changed"
except OSError as error:
    found = type(error).__name__"""
    assert "OSError" == seen(nursery, "found", code)


def test_a_nursery_is_ended_first_where_memory_is_short(nursery):
    """And no other process of this machine."""
    assert "1000" == seen(nursery, "open('/proc/self/oom_score_adj').read().strip()")


LIGHT = f"""
import sys, types
def of(name, **what):
    sys.modules[name] = module = types.ModuleType(name)
    vars(module).update(what)
of("helpers", __path__=[{str(ROOT / "helpers")!r}])
of("work", prepare=lambda: 0, work=lambda asked, *_: exec(asked["cells"][0]))
import helpers.grading.sandbox.nursery as it
it.WORK["collect"] = "work"
it.main("collect")
"""


@pytest.fixture
def light(monkeypatch):
    """A nursery that is not isolated, and imports neither Numba nor the course."""
    real = isolation.command
    monkeypatch.setattr(
        isolation, "command", lambda *given: [*real(*given)[:-3], "-c", LIGHT]
    )
    new = nursery_at("process")
    yield new
    new.end()


@pytest.mark.parametrize("way", ["is ended", "is killed", "loses who asks"])
def test_who_interrupts_it_leaves_nothing_behind(light, tmp_path, way):
    """A child that waits, also without a sandbox; its folder where it can be told."""
    new = light
    process, note = new.begin(), tmp_path / "note"
    code = (
        "import os, time, pathlib\n"
        f"pathlib.Path({str(note)!r}).write_text(f'{{os.getpid()}} {{os.getcwd()}}.')\n"
        "time.sleep(60)"
    )
    lines = {"id": "", **asdict(SHORT)}, {"cells": [code], "answers": []}
    for line in lines:
        process.stdin.write(json.dumps(line).encode() + b"\n")
    wait_until(lambda: note.exists() and note.read_text().endswith("."))
    child, folder = note.read_text()[:-1].split()
    if way == "is killed":
        process.kill()
    elif way == "loses who asks":
        process.stdin.close()
    else:
        new.end()
    wait_until(lambda: not psutil.pid_exists(int(child)))
    wait_until(lambda: way == "is killed" or not os.path.exists(folder))


def wait_until(there):
    """Wait, for some seconds at most."""
    end = time.monotonic() + 20
    while not there():
        assert time.monotonic() < end
        time.sleep(0.01)


FAKE = """
import json, sys, time
sys.stdin.readline()
print('{"ready": 1}', flush=True)
for line in sys.stdin:
    name = json.loads(line)["id"]
    sys.stdin.readline()
    right = {"id": name, "ended": "done", "messages": [], "seconds": 1.0,
             "cpu_seconds": 1.0, "waited_seconds": 1.0, "last": False}
"""


@pytest.fixture
def fake(monkeypatch):
    """A function that makes a nursery of what it says to a request."""

    def make(says):
        program = [isolation.sys.executable, "-c", f"{FAKE}    {says}"]
        monkeypatch.setattr(isolation, "command", lambda *_: program)
        new.level = "process"
        return new

    new = Nursery("collect")
    yield make
    new.end()


@pytest.mark.parametrize(
    "said",
    [
        *("3", "[]", "None", "{}", "{'id': name}", "right | {'id': 'another'}"),
        *("right | {'messages': [3]}", "right | {'messages': 'x'}"),
        *("right | {'seconds': '1'}", "right | {'ended': None}", "right | {'more': 1}"),
    ],
)
def test_what_is_no_answer_is_lost(fake, said):
    """Its process is begun anew, and the next submission has an answer of its own."""
    new = fake(f"print(json.dumps({said}), flush=True)")
    assert LOST == new.ask({}, SHORT)
    assert new.process is None
    assert (
        "done" == fake("print(json.dumps(right), flush=True)").ask({}, SHORT)["ended"]
    )


def test_no_answer_is_taken_for_that_of_the_next_one(fake):
    """A line too many at once, or later: both would shift all that follow."""
    answer = "json.dumps(right)"
    new = fake(f"print({answer} + chr(10) + {answer}, flush=True)")
    assert LOST == new.ask({}, SHORT)
    late = f"print({answer}, flush=True); time.sleep(.2); print({answer}, flush=True)"
    new = fake(late)
    assert "done" == new.ask({}, SHORT)["ended"]
    first = new.process.pid
    time.sleep(1)
    assert "done" == new.ask({}, SHORT)["ended"]
    assert first != new.process.pid


@pytest.mark.slow
def test_what_a_submission_started_ends_with_it(nursery):
    """Also what left its group and lost its parent."""
    code = (
        "import os, time\n"
        "if not os.fork():\n    os.setpgrp()\n"
        "    if not os.fork():\n        time.sleep(3600)\n    os._exit(0)\n"
        "time.sleep(.2)"
    )
    for how in (code, "pass"):  # the second by another process, perhaps
        assert "done" == ended(nursery, how)[0]
    its = psutil.Process(nursery.process.pid)
    wait_until(lambda: len(its.children(recursive=True)) <= 1)  # of bubblewrap itself


@pytest.mark.slow
@needs_isolation
def test_who_starts_processes_is_the_last_one_of_its_sandbox(nursery):
    """The next one cannot count them; who starts none leaves the process warm."""
    for code, is_kept in ("import asyncio", True), ("os.fork() or os._exit(0)", False):
        seen(nursery, "0", f"import os\n{code}")
        assert is_kept == bool(nursery.process)


@pytest.mark.slow
def test_who_dies_before_it_begins_is_not_graded(monkeypatch):
    """It was no line of a submission: the machine's fault is no answer."""
    program = (
        "import os, helpers.grading.sandbox.nursery as it\n"
        "it.asked = lambda: os.kill(os.getpid(), {})\nit.main('collect')"
    )
    for signal in (9, 15):
        command = [isolation.sys.executable, "-P", "-c", program.format(signal)]
        monkeypatch.setattr(isolation, "command", lambda *_, it=command: it)
        new = Nursery("collect")
        new.level = "process"
        request = {"cells": ["#" * 2**20], "answers": []}  # more than a pipe holds
        assert LOST == new.ask(request, SHORT)
        assert new.process is None


def test_a_nursery_that_is_ended_begins_anew(nursery):
    """Between two submissions, as by the system where memory is short."""
    nursery.begin() if nursery.process is None else None
    nursery.process.kill()
    nursery.process.wait()
    assert "done" == ended(nursery, "seen = 3")[0]


def test_a_nursery_that_cannot_begin_says_why(monkeypatch):
    """A missing package is not the fault of a submission."""
    program = [isolation.sys.executable, "-c", "import no_such_package"]
    monkeypatch.setattr(isolation, "command", lambda *_: program)
    with pytest.raises(NurseryError, match="no_such_package"):
        Nursery("collect").begin()


@pytest.mark.slow
def test_the_environment_of_a_submission_is_nearly_empty(nursery, monkeypatch):
    """No secret of whoever grades is in it."""
    monkeypatch.setenv("GITHUB_TOKEN", "a secret")
    nursery.end()
    assert "['HOME', 'PATH', 'TMPDIR']" == seen(nursery, "sorted(os.environ)")


def test_a_submission_begins_in_an_empty_folder(nursery):
    """Whatever the one before it wrote there."""
    found = seen(nursery, "os.listdir('.')", "import os; open('x', 'w').close()")
    assert "['x']" == found
    assert "[]" == seen(nursery, "os.listdir('.')")
    assert "True" == seen(nursery, "os.listdir('.') == []")


def test_nothing_is_left_of_its_folder(nursery):
    """Even one that it took all rights from."""
    code = (
        "import os; os.mkdir('x'); os.mkdir('x/y'); os.symlink('/', 'root')\n"
        "os.chmod('x', 0); os.chmod('.', 0)"
    )
    where = seen(nursery, "os.getcwd()", code)
    assert not os.path.exists(where)
    assert "False" == seen(nursery, f"os.path.exists({where!r})")


def test_folders_within_folders_without_end_are_removed(nursery):
    """Deeper than any path is long; the next one is served by the same process."""
    code = "for _ in range(3000): os.mkdir('d'); os.chdir('d')"
    before = f"import os\nwhere = os.getcwd()\n{code}\nos.chmod('.', 0)"
    parent, folder = seen(nursery, "f'{os.getppid()} {where}'", before).split()
    assert "False" == seen(nursery, f"os.path.exists({folder!r})")
    assert parent == seen(nursery, "os.getppid()")


def test_a_judge_answers_as_a_nursery_does():
    """The same protocol, other work."""
    request = {"exercise": "mirror", "seed": None, "inputs": "", "answer": {"value": 3}}
    with worker.nursery("judge", "") as judge:
        answer = judge.ask(request, SHORT)
    assert "done" == answer["ended"]
    assert "refused" == json.loads(answer["messages"][0])["reason"]


def test_without_isolation_root_runs_no_submission(monkeypatch):
    """`kill -1` would end the machine; whoever knows better says so."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.delenv("GRADING_AS_ROOT", raising=False)
    with pytest.raises(NurseryError, match="root"):
        nursery_at("process").begin()


@pytest.mark.slow
def test_a_nursery_without_isolation_works_as_well(nursery):
    """Where nothing better is to be had; the grader says so."""
    plain = nursery if nursery.level == "process" else nursery_at("process")
    try:
        assert "3" == seen(plain, "1 + 2")
    finally:
        if plain is not nursery:
            plain.end()

"""A submission finds nothing of another one, nor of who grades, in all its memory."""

import hashlib
import secrets

import pytest

from helpers.exercises.catalogue import exercise
from helpers.grading import references, worker
from helpers.grading.manifest import Manifest, item_of
from tests.grading.asking import IMAGE, marks, seen
from tests.grading.attacks import HEAD

# a text is looked for by its beginning and a digest of its rest, which the search
# itself does not hold; where it is found, in memory or in what a frame holds
SEARCH = """\
import ctypes, gc, hashlib, os, re, sys
BEGINNING, LENGTH, DIGEST = {}
def places(data):
    at = -1
    while (at := data.find(BEGINNING, at + 1)) >= 0:
        rest = data[at + len(BEGINNING):][:LENGTH]
        if hashlib.sha256(rest).hexdigest() == DIGEST:
            yield True
def in_memory(step=2**22):
    for line in open("/proc/self/maps"):
        start, end = (int(it, 16) for it in line.split()[0].split("-"))
        if not line.split()[1].startswith("rw") or "[v" in line:
            continue
        for at in range(start, end, step):
            data = ctypes.string_at(at, min(end - at, step + 2**12))
            if any(places(data)):
                return True
def in_frames():
    frame = sys._getframe()
    while frame:
        if any(places(repr(frame.f_locals).encode())): return True
        frame = frame.f_back
def in_objects():
    texts = (it for all in gc.get_objects() for it in gc.get_referents(all))
    return any(any(places(it.encode("utf-8", "replace"))) for it in texts
               if type(it) is str)
def in_files():
    for pid in ("self", "1", str(os.getppid())):
        for name in ("mem", "environ", "cmdline", *(f"fd/{{n}}" for n in range(910))):
            try: file = os.open(f"/proc/{{pid}}/{{name}}", os.O_RDONLY | os.O_NONBLOCK)
            except OSError: continue
            try: data = os.read(file, 2**20)
            except OSError: data = b""
            if any(places(data)): return True
looks = in_frames, in_objects, in_memory, in_files
found = [it.__name__ for it in looks if it()]"""


def search_for(text):
    """Cells that look for a text."""
    beginning, rest = text.encode()[:12], text.encode()[12:]
    asked = beginning, len(rest), hashlib.sha256(rest).hexdigest()
    return SEARCH.format(repr(asked))


def test_a_search_finds_what_is_there(nursery):
    """What the submission itself holds, in each way but by files."""
    text = f"a mark that is here {secrets.token_hex(16)}"
    half = f"mine = {text[:20]!r}\nheld = [mine + {text[20:]!r}]\n"
    found = seen(nursery, "found", half + search_for(text))
    assert "['in_frames', 'in_objects', 'in_memory']" == found


def test_no_submission_finds_what_one_before_it_handed_in_or_over(nursery):
    """Nothing of it passes through the process that both are copies of."""
    handed_in = f"a mark in a cell {secrets.token_hex(16)}"
    over = secrets.token_hex(8), secrets.token_hex(8)
    seen(nursery, "''.join(parts)", f"# {handed_in}\nparts = 'handed over ', *{over}")
    served = nursery.process.pid
    for text in (handed_in, "handed over " + "".join(over)):
        assert "[]" == seen(nursery, "found", search_for(text))
    assert served == nursery.process.pid


def test_no_submission_finds_what_the_grader_holds(nursery):
    """Neither a secret nor anything else of the process that asks."""
    mark = f"a mark of the grader {secrets.token_hex(16)}"
    marks(HEAD, "mirror = 3", secret=mark)
    assert "[]" == seen(nursery, "found", search_for(mark))


def test_no_submission_finds_the_course_s_own_answers(monkeypatch):
    """They were run in a process of their own, which is gone before."""
    monkeypatch.setattr(references, "end_idle", worker.end_idle)
    task = exercise("mirror")
    with worker.nursery("collect", IMAGE) as nursery:
        seen(nursery, "0")
        before = nursery.process.pid
    manifest = Manifest(None, {"one": [item_of(task)]})
    references.require_right(manifest, "a secret", IMAGE, isolated=False)
    with worker.nursery("collect", IMAGE) as nursery:
        assert "[]" == seen(nursery, "found", search_for(task.answer_text))
        assert before != nursery.process.pid


@pytest.mark.slow
def test_no_submission_finds_an_answer_of_any_before_it(nursery):
    """Of many, large and small, one after the other."""
    marks_of_many = [f"an answer {secrets.token_hex(500 * n)}" for n in range(1, 9)]
    for text in marks_of_many:
        seen(nursery, repr(text))
    for text in marks_of_many:
        assert "[]" == seen(nursery, "found", search_for(text))

"""Tests run in forked children, with a mutant in the place of one module of ours.

The parent imports what others wrote, once, and nothing of ours; a mutant is never
written to a file. Which functions a test calls is recorded, so that a mutant meets only
the tests that call its function: those of the room that mirrors its own first, then
the others, quick ones first and each file's in turn. A table, outside of functions, is
met by all tests of that room, and then by the others that call its file.
"""

import cProfile
import hashlib
import importlib
import json
import os
import resource
import signal
import sys
import time
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest

from tests.paths import ROOT

CHILDREN = os.cpu_count() or 2  # at a time
SLOW = 4  # seconds of this process: such a test is left out
ENOUGH = 15  # seconds of tests, as they were recorded, for a mutant
CPU, WALL = 100, 300  # seconds, after which a mutant counts as killed: it hangs
MEMORY = 12 << 30  # bytes, of addresses
TOOL = "tool/thirty_two_lanes"
OURS = str(ROOT / TOOL), str(ROOT / "helpers")
RECORDS = ROOT / ".pytest_cache" / "mutation"
EMULATOR = (
    "tests/core/**/test_*.py",
    "tests/language/**/test_*.py",
    "tests/emulator/**/test_*.py",
    "tests/frontend/**/test_*.py",
    "tests/intrinsics/test_*.py",
)
TESTS = {  # those that a room's mutants meet; where it is not here, the emulator's
    "exercises": ("tests/exercises/test_*.py", "tests/exercises/[bd]*/test_*.py"),
    "grading": ("tests/grading/test_*.py", "tests/grading/by_hand/test_*.py"),
    "film": ("tests/film/**/test_*.py",),
    "assembly": ("tests/assembly/test_*.py",),
    "intrinsics": ("tests/intrinsics/test_*.py",),
    "scripts": ("tests/scripts/test_*.py",),
    "checking": ("tests/checking/test_*.py",),
    "measuring": ("tests/measuring/test_*.py",),
    "plotting": ("tests/plotting/**/test_*.py",),
}


def warm():
    """Import what tests import and others wrote."""
    for name in ("numba.cuda", "matplotlib.pyplot", "IPython"):
        importlib.import_module(name)


def forked(jobs):
    """Run each job's function in a child; yield the job and whether it ended well."""
    waiting, running = iter(jobs), {}
    try:
        while True:
            while len(running) < CHILDREN and (job := next(waiting, None)):
                running[_fork(job[1])] = job[0]
            if not running:
                return
            child, status = os.wait()
            yield running.pop(child), status == 0
    finally:
        for child in running:
            os.kill(child, signal.SIGKILL)


def _fork(function):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        status = function()
    finally:
        os._exit(status)


def attempt(mutant, code, tests):
    """Run tests against a mutant: 0 if it survives them."""
    signal.alarm(WALL)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.meta_path.insert(0, Finder(mutant.file, code))
    return run(sorted({test.partition("::")[0] for test in tests}), Chosen(tests))


def run(files, plugin):
    """Run test files with a plugin; pytest's status."""
    options = ["-x", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
    return int(pytest.main([*options, *files], plugins=[plugin]))


class Finder:
    """Finds one module, and gives it the code of a mutant."""

    def __init__(self, file, code):
        name = file.removeprefix("tool/").removesuffix(".py").replace("/", ".")
        self.name, self.file, self.code = name.removesuffix(".__init__"), file, code

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            loader = SourceFileLoader(name, str(ROOT / self.file))
            loader.get_code = lambda name: self.code
            return spec_from_file_location(name, loader.path, loader=loader)


class Chosen:
    """Runs the tests that were chosen, in their order."""

    def __init__(self, tests):
        self.tests = tests

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        found = {item.nodeid: item for item in items}
        items[:] = [found[test] for test in self.tests]


class Recorder:
    """Writes down which functions of ours each passing test calls, and for how long."""

    def __init__(self):
        self.calls, self.seconds, self.tests = {}, {}, {}

    def _watch(self, item):
        calls = self.calls.setdefault(item.nodeid, set())
        profile = cProfile.Profile(subcalls=False, builtins=False)
        signal.setitimer(signal.ITIMER_PROF, SLOW)
        start = time.process_time()
        profile.enable()
        try:
            return (yield)
        finally:
            profile.disable()
            signal.setitimer(signal.ITIMER_PROF, 0)
            seconds = time.process_time() - start
            self.seconds[item.nodeid] = self.seconds.get(item.nodeid, 0) + seconds
            codes = (it.code for it in profile.getstats())
            calls |= {
                (code.co_filename, code.co_firstlineno)
                for code in codes
                if getattr(code, "co_filename", "").startswith(OURS)
            }

    pytest_runtest_setup = pytest.hookimpl(wrapper=True)(_watch)
    pytest_runtest_call = pytest.hookimpl(wrapper=True)(_watch)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            test = report.nodeid
            calls = [f"{os.path.relpath(f, ROOT)}:{n}" for f, n in self.calls[test]]
            self.tests[test] = round(self.seconds[test], 3), sorted(calls)


def record(file, result):
    """Run a test file as it is, and write what its tests call."""

    def too_slow(signum, frame):
        pytest.fail(f"takes more than {SLOW} seconds")

    signal.signal(signal.SIGPROF, too_slow)
    recorder = Recorder()
    pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", file], [recorder])
    text = json.dumps(recorder.tests)
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(text, encoding="utf-8")
    return 0


def recorded(rooms, progress) -> dict:
    """The seconds and calls of each test that mutants of some rooms meet, by file;
    files that changed are run anew.
    """
    ours = [it for folder in OURS for it in Path(folder).rglob("*.py")]
    ours += (ROOT / "tests/specimens").glob("*.*")
    base = hashlib.sha256(b"".join(it.read_bytes() for it in sorted(ours)))
    results = {}
    for pattern in sorted({it for room in rooms for it in TESTS.get(room, EMULATOR)}):
        for path in sorted(ROOT.glob(pattern)):
            file, name = path.relative_to(ROOT).as_posix(), base.copy()
            name.update(file.encode() + path.read_bytes())
            results[file] = RECORDS / f"{path.stem}-{name.hexdigest()[:16]}.json"
    jobs = [(f, _recording(f, it)) for f, it in results.items() if not it.exists()]
    for n, (file, _) in enumerate(forked(jobs), 1):
        progress(f"recorded {n} of {len(jobs)}: {file}")
    return {f: json.loads(it.read_text("utf-8")) for f, it in results.items()}


def _recording(file, result):
    return lambda: record(file, result)


def tests_of(mutant, records) -> list[str]:
    """The tests that a mutant meets, in their order; those it has no time for not."""
    mirror, found = mirror_of(mutant.file), []
    for file, tests in records.items():
        near, spent = file.startswith(f"{mirror}/"), 0
        for test, (seconds, calls) in sorted(tests.items(), key=lambda it: it[1][0]):
            calls_it = _calls(mutant, calls)
            if calls_it or near and mutant.function is None:
                spent += seconds  # of its file: each has its share of the time
                found.append(((not near, not calls_it, spent), seconds, test))
    return _in_time(sorted(found))


def mirror_of(file):
    """The folder of tests that mirrors a file's, or the nearest above it."""
    room = file.removeprefix(f"{TOOL}/").removeprefix("helpers/")
    folder = (ROOT / "tests" / room).parent
    while not folder.exists():
        folder = folder.parent
    return folder.relative_to(ROOT).as_posix()


def _calls(mutant, calls):
    """Does a test call the mutant's function, or of a table's file any?"""
    lines = (line for file, _, line in map(_split, calls) if file == mutant.file)
    return any(
        mutant.function is None or int(line) in mutant.function for line in lines
    )


def _split(call):
    return call.rpartition(":")


def _in_time(tests):
    left, chosen = ENOUGH, []
    for _, seconds, test in tests:
        left -= seconds
        if left < 0:
            break
        chosen.append(test)
    return chosen

"""What several tests share."""

import gc
import os
import re
import shutil
import signal
import sys
import tempfile

import pytest

import lessons.publishing  # noqa: F401  before any test imports nbformat

# a loop that never ends, and never repeats itself, must not stop the tests for ever
os.environ.setdefault("EMULATOR_TURNS", "3000000")
# and what is told of a long launch must not depend on how busy the machine is
os.environ.setdefault("EMULATOR_PATIENCE", "0")

# what a workflow of GitHub's is told, a test asks for where it means it
os.environ.pop("GITHUB_ACTIONS", None)

# containers often forbid bytecode, and each of the many processes that tests start
# would compile all of `helpers` for itself
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# a shell lets what it runs in the background ignore Ctrl-C, and so would every child
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# what these files make once for all of their tests, a second worker would make again
SHARED = {
    "tests/lessons/publishing/test_density.py": "the pages",
    "tests/lessons/publishing/test_doors.py": "the pages",
    "tests/lessons/site/test_site.py": "the pages",
    "tests/lessons/site/test_site_in_a_browser.py": "the pages",
    "tests/lessons/test_assignments.py": "the pages",
    "tests/lessons/test_glossary.py": "the pages",
    "tests/lessons/test_lessons.py": "the pages",
    "tests/lessons/test_notebooks.py": "the pages",
    "tests/pictures/test_svg.py": "the figures",
    "tests/plotting/test_contrast.py": "the figures",
    "tests/plotting/test_looked_at.py": "the figures",
    "tests/plotting/test_paper.py": "the figures",
    "tests/setup/test_architecture.py": "the syntax",
    "tests/setup/test_rooms.py": "the syntax",
}
# of which each test takes long, so that any worker takes the next one
ONE_BY_ONE = (
    "tests/grading/sandbox/test_nursery.py",
    "tests/grading/test_attacks.py",
    "tests/grading/test_grade.py",
    "tests/lessons/test_exercises.py",
)
# which ask what a lesson left; the one worker that runs it answers all of them
OF_LESSONS = (
    "tests/assembly/test_lessons_kernels.py",
    "tests/assembly/test_recorded.py",
    "tests/emulator/judges/test_agreement.py",
    "tests/lessons/test_claims.py",
    "tests/lessons/test_notebooks.py",
)
LESSON = re.compile(r"\[(\d\d_\w+)\]$")


def pytest_configure(config):
    """Begin with the lessons, which take longest, and make the folder in which all
    workers find what a lesson left.
    """
    config.option.loadscopereorder = False
    if not hasattr(config, "workerinput"):
        os.environ["LESSON_RUNS"] = config.lesson_runs = tempfile.mkdtemp()
        if config.option.markexpr != "not slow":
            os.environ["LESSON_RUNS_WHOLE"] = "1"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among the thousands of tests, now and later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure(config):
    """Remove it."""
    shutil.rmtree(getattr(config, "lesson_runs", ""), ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run the tests of a file in one worker: it need not ask which one comes next."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        """File by file, or lesson by lesson."""

        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            if file in OF_LESSONS and (lesson := LESSON.search(nodeid)):
                return lesson[1]
            return nodeid if file in ONE_BY_ONE else SHARED.get(file, file)

    return Scheduler(config, log)


@pytest.fixture
def prepared(monkeypatch):
    """A function that does once, for all kernels of a test, what is the same for them:
    the trials of an exercise, and what its own answers do there.
    """
    from helpers.exercises import judging

    monkeypatch.setattr(judging, "_prepared", {})

    def prepare(task, seed):
        judging.prepare(task, seed)
        return task

    return prepare


@pytest.fixture(scope="session")
def fonts():
    """Matplotlib's list of fonts: made once on a new machine, with a line on stderr."""
    import matplotlib.font_manager

    return matplotlib.font_manager.fontManager


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser():
    """Chromium by Playwright, `pip install -e .[browser]`: what came with it, or
    this machine's. Skipped without them; in CI, whoever brings Playwright brings both.
    """
    sync_api = pytest.importorskip("playwright.sync_api")
    without = pytest.fail if os.environ.get("CI") else pytest.skip
    with sync_api.sync_playwright() as playwright:
        came = os.path.exists(playwright.chromium.executable_path)
        try:
            chromium = playwright.chromium.launch(
                executable_path=None if came else CHROMIUM, args=["--no-sandbox"]
            )
        except sync_api.Error as error:
            without(f"no Chromium: {error.message.splitlines()[0]}")
        yield chromium
        chromium.close()

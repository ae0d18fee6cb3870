"""What several tests share."""

import os
import shutil
import signal
import sys

import pytest

# a loop that never ends, and never repeats itself, must not stop the tests for ever
os.environ.setdefault("EMULATOR_TURNS", "3000000")

# containers often forbid bytecode, and each of the many processes that tests start
# would compile all of `helpers` for itself
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# a shell lets what it runs in the background ignore Ctrl-C, and so would every child
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# what these files make once for all of their tests, a second worker would make again
SHARED = {
    "tests/assembly/test_lessons_kernels.py": "executed lessons",
    "tests/assembly/test_recorded.py": "executed lessons",
    "tests/emulator/judges/test_agreement.py": "executed lessons",
    "tests/lessons/test_claims.py": "executed lessons",
    "tests/lessons/site/test_site.py": "the site",
    "tests/lessons/site/test_site_in_a_browser.py": "the site",
}
# of which each test takes long, so that any worker takes the next one
ONE_BY_ONE = (
    "tests/grading/sandbox/test_nursery.py",
    "tests/grading/test_attacks.py",
    "tests/grading/test_grade.py",
    "tests/lessons/test_exercises.py",
    "tests/lessons/test_notebooks.py",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Run the tests of a file in one worker: it need not ask which one comes next."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        """File by file, but for those above; what has most tests begins."""

        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return nodeid if file in ONE_BY_ONE else SHARED.get(file, file)

    return Scheduler(config, log)


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

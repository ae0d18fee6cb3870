"""The pytest plugin: with `--emulate`, a test fails in which a launch is wrong.

It lies outside `thirty_two_lanes`, whose import brings Numba: without the option,
nothing else of ours is imported, and nothing changes.
"""

import os

import pytest

JUDGE = "thirty-two-lanes-judge"
MARKER = (
    "emulate(allow='', launches=None): under --emulate, kinds of findings that do not "
    "fail this test, as 'races,bounds', and how many launches of a kernel are judged"
)
SIMULATOR = "NUMBA_ENABLE_CUDASIM is set, so Numba's simulator answers: unset it"


def pytest_addoption(parser):
    group = parser.getgroup("emulate", "launches of numba.cuda kernels")
    group.addoption(
        "--emulate",
        action="store_true",
        help="emulate every launch, and fail tests with races, indices out of bounds, "
        "uninitialised reads or missed barriers",
    )
    group.addoption(
        "--emulate-launches",
        type=int,
        metavar="N",
        help="judge the first N launches of each kernel in a test; without it, all",
    )
    parser.addini("emulate_fail_on", "kinds of findings that fail a test", default="")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Let the emulator answer before a conftest asks whether there is a GPU."""
    if early_config.known_args_namespace.emulate:
        _judge_of_ours()


def pytest_configure(config):
    config.addinivalue_line("markers", MARKER)
    if config.getoption("emulate"):
        judge = _judge_of_ours()
        most, kinds = config.getoption("emulate_launches"), "emulate_fail_on"
        config.pluginmanager.register(judge(most, config.getini(kinds)), JUDGE)


def _judge_of_ours():
    """What judges the tests; importing it starts the emulator."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0").strip() not in ("", "0"):
        raise pytest.UsageError(f"--emulate: {SIMULATOR}")
    try:
        from thirty_two_lanes_script import ours

        ours()  # launches are emulated from here on
        from thirty_two_lanes.scripts.pytest_judge import PytestJudge
    except ImportError as error:
        reason = str(error).rstrip(".")
        raise pytest.UsageError(
            f"--emulate: {reason}. `pip install thirty-two-lanes` brings what it needs"
        ) from error
    return PytestJudge


@pytest.fixture
def emulated(request):
    """The launches of the test so far: `emulated.runs`, as `emulate` gives them.

    Without `--emulate` the test is skipped.
    """
    judge = request.config.pluginmanager.getplugin(JUDGE)
    if judge is None:
        pytest.skip("asks for the launches that --emulate judges")
    return judge.launches

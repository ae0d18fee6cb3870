"""`lanes mcp`, where it cannot serve."""

from tests.scripts.programs import run_here
from thirty_two_lanes.agents import command


def test_without_the_sdk_it_says_what_to_install(monkeypatch):
    """One sentence, the status 2, and no traceback."""
    monkeypatch.setattr(command, "find_spec", lambda name: None)

    said = run_here("mcp")

    assert 2 == said.returncode
    assert "python -m pip install" in said.stderr and "[mcp]" in said.stderr


def test_a_limit_is_a_whole_number():
    """Said by the command, before anything is served."""
    for option in ("--seconds", "--memory"):
        said = run_here("mcp", option, "0")

        assert 2 == said.returncode
        assert "0 is not a whole number, 1 or more" in said.stderr

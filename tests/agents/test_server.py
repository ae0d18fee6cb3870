"""The server, asked by the SDK's own client: over stdin and stdout as agents do, and in
this process where no child is needed.
"""

import asyncio
import json
import os
import re
import sys

import pytest

from tests.paths import ROOT
from tests.scripts.programs import written
from thirty_two_lanes.agents.allowance import Allowance
from thirty_two_lanes.scripts.meanings import PREAMBLE, meanings

mcp = pytest.importorskip("mcp", reason="needs the tool's extra [mcp]")

from thirty_two_lanes.agents.server import server  # noqa: E402

SOURCE, _, LAUNCH = (PREAMBLE + meanings()["races"]["wrong"]).partition("\n\n\nreverse")
ARRAYS = [{"shape": 64, "fill": "arange"}, {"shape": 64}]
BY = {"blocks": 1, "threads": 64, "arguments": ARRAYS}
TEXTS = "assemble", "explain", "watch"
CHECKS = "check_file", "check_kernel"


def asked(questions, where=None):
    """The answers of a server to some calls, one after the other."""

    async def ask():
        async with mcp.Client(where or server(Allowance())) as client:
            return [await client.call_tool(*question) for question in questions]

    return asyncio.run(ask())


def over_stdio(*options, **settings):
    """A server in a process of its own, with other environment variables."""
    return mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "thirty_two_lanes", "mcp", *options],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tool"), **settings},
    )


def test_each_tool_says_what_it_takes_and_gives():
    """Each parameter has a sentence, or a type that says all; checks have a schema."""

    async def listed():
        async with mcp.Client(server(Allowance())) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}
    assert {*TEXTS, *CHECKS} == set(tools)
    for name, tool in tools.items():
        properties = tool.input_schema["properties"].values()
        assert all(it.get("description") for it in properties)
        assert "\n    " not in tool.description
        assert (name in CHECKS) == (tool.output_schema is not None)


def test_what_cannot_be_is_an_error_with_its_remedy():
    """Said by the server, before there is any child."""
    answers = asked(
        [
            ("check_kernel", {"source": SOURCE, **BY, "seconds": 1000}),
            ("check_file", {"path": "/nowhere/it.py"}),
            ("explain", {"kind": "race"}),
            ("check_kernel", {"source": SOURCE, **BY, "threads": "many"}),
        ]
    )

    errors = [it.content[0].text for it in answers if it.is_error]
    for said, part in zip(
        errors,
        ("may take 120 seconds", "whole path", "races, bounds", "valid integer"),
        strict=True,
    ):
        assert part in said


@pytest.mark.slow
def test_an_agent_finds_a_race_applies_the_advice_and_checks_again():
    """Over stdin and stdout; the line of the barrier is out of the advice alone."""

    async def mend():
        async with mcp.Client(over_stdio()) as client:
            first = await client.call_tool("check_kernel", {"source": SOURCE, **BY})
            found = first.structured_content["findings"][0]
            why = await client.call_tool("explain", {"kind": found["kind"]})
            line = int(re.search(r"between line (\d+) and", found["advice"])[1])
            lines = SOURCE.splitlines()
            lines.insert(line, "    cuda.syncthreads()")
            again = {"source": "\n".join(lines), **BY}
            return first, why, await client.call_tool("check_kernel", again)

    first, why, second = asyncio.run(mend())

    assert first.structured_content == json.loads(first.content[0].text)
    assert first.structured_content["failed"]
    assert "cuda.syncthreads()" in why.content[0].text
    assert not second.structured_content["failed"]
    out = second.structured_content["outputs"][1]
    assert [63.0 - n for n in range(len(out["first"]))] == out["first"]


@pytest.mark.slow
def test_the_other_tools_answer_over_stdio(tmp_path):
    """A program, the moments of a block, instructions or why there are none."""
    program = written(tmp_path, "shift[1, 64](np.ones(64, np.float32))\n")
    launch = {"source": SOURCE, **BY}

    checked, moments, code, wrong = asked(
        [
            ("check_file", {"path": str(program)}),
            ("watch", launch),
            ("assemble", launch),
            ("watch", {**launch, "kernel": "halve"}),
        ],
        over_stdio("--seconds", "90"),
    )

    assert "RAW race" in checked.structured_content["findings"][0]["what"]
    assert "step" in moments.content[0].text and "RAW" in moments.content[0].text
    assert re.match("assembled reverse|types of reverse; ", code.content[0].text)
    assert wrong.is_error and "it has reverse" in wrong.content[0].text


@pytest.mark.slow
def test_a_call_that_takes_too_long_leaves_the_server_as_it_was():
    """It is ended; the next call is answered."""
    source = SOURCE + "\nwhile True:\n    pass\n"

    late, next_one = asked(
        [
            ("check_kernel", {"source": source, **BY, "seconds": 2}),
            ("explain", {"kind": "races"}),
        ],
        over_stdio(),
    )

    assert late.is_error and "not done after 2 seconds" in late.content[0].text
    assert not next_one.is_error


@pytest.mark.slow
@pytest.mark.skipif("os.name == 'nt'", reason="asks a process by a signal")
def test_a_call_that_is_cancelled_ends_its_process(tmp_path):
    """And its folder is gone; the program had said which process it is."""
    own = "os.path.join(tempfile.gettempdir(), 'pid')"
    text = f"""
    import os, tempfile
    open({own}, "w").write(f"{{os.getpid()}}.")
    while True:
        pass
    """
    (tmp_path / "server").mkdir()
    program = {"path": str(written(tmp_path, text)), "seconds": 100}

    async def cancel():
        there = over_stdio(TMPDIR=str(tmp_path / "server"))
        async with mcp.Client(there) as client:
            call = asyncio.create_task(client.call_tool("check_file", program))
            pid = await said(lambda: next(tmp_path.glob("server/*/pid")).read_text())
            call.cancel()
            await said(lambda: not list(tmp_path.glob("server/lanes-*")) and ".")
        return int(pid.rstrip("."))

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(cancel()), 0)


async def said(what, seconds=60):
    """What a function gives once it gives a text that ends with a full stop."""
    for _ in range(10 * seconds):
        try:
            if (text := what()) and text.endswith("."):
                return text
        except (StopIteration, OSError):
            pass
        await asyncio.sleep(0.1)
    pytest.fail(f"nothing was said in {seconds} seconds")

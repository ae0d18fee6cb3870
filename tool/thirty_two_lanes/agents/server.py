"""The server: what coding agents can ask for, as tools of the Model Context Protocol.

Each call of a tool that runs code does so in a child of its own, as processes.py says.
"""

import json
from importlib.metadata import PackageNotFoundError, version
from inspect import getdoc
from pathlib import Path
from typing import Annotated

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from thirty_two_lanes.agents import explanations
from thirty_two_lanes.agents.arguments import BadRequest
from thirty_two_lanes.agents.processes import answer_to
from thirty_two_lanes.agents.schemas import (
    USUAL_S,
    Checked,
    Given,
    Name,
    Seconds,
    SharedBytes,
    Sizes,
    Source,
)

INSTRUCTIONS = """\
Runs kernels of numba.cuda with no GPU and judges every access: races, indices out of
bounds, reads of what nobody wrote, missed barriers, bank conflicts, sectors,
divergence. After you write or change a kernel, call check_kernel with its source and
small arrays (a few blocks, and a size that does not fill the last one), or check_file
with the program that launches it. Mend what is "wrong", worst first, then check again:
what an input does not lead to is not seen. What costs only time has the level "costly";
how long a kernel takes is not told.
"""
AT_ONCE = 2  # children; others wait for their turn
HINTS = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, open_world_hint=False
)


class AgentTools:
    """The tools, each a method; its docstring is what an agent reads."""

    def __init__(self, allowance):
        self.allowance = allowance
        self.turns = anyio.CapacityLimiter(AT_ONCE)

    async def check_file(
        self,
        path: Annotated[str, Field(description="a Python program, by its whole path")],
        arguments: Annotated[list[str], Field(description="its own")] = [],  # noqa: B006
        launches: Annotated[
            int | None, Field(description="judge the first N of each kernel", gt=0)
        ] = None,
        seconds: Seconds = None,
    ) -> Annotated[CallToolResult, Checked]:
        """Run a program with every launch of its numba.cuda kernels judged, emulated.

        It can read files, but writes only below its temporary folder, and has no
        network and no processes. Findings are worst first, with places and advice.
        """
        file = Path(path).expanduser().absolute()
        if not file.is_file():
            raise ToolError(f"there is no file {path}: give a program's whole path")
        own = {"path": str(file), "arguments": arguments, "launches": launches}
        return _checked(await self._ask("check_file", seconds, own))

    async def check_kernel(
        self,
        source: Source,
        blocks: Sizes,
        threads: Sizes,
        arguments: Given,
        kernel: Name = None,
        shared_bytes: SharedBytes = 0,
        seconds: Seconds = None,
    ) -> Annotated[CallToolResult, Checked]:
        """Launch one kernel of a source with given arrays, and judge it.

        Findings are worst first, with places and advice; `outputs` says what each array
        holds afterwards.
        """
        own = _launch(source, kernel, blocks, threads, arguments, shared_bytes)
        return _checked(await self._ask("check_kernel", seconds, own))

    async def watch(
        self,
        source: Source,
        blocks: Sizes,
        threads: Sizes,
        arguments: Given,
        kernel: Name = None,
        shared_bytes: SharedBytes = 0,
        block: Annotated[
            int | list[int], Field(description="its number, or its place")
        ] = 0,
        variables: Annotated[
            list[str] | None, Field(description="those to follow; else all")
        ] = None,
        steps: Annotated[int, Field(description="at most", gt=0)] = 2000,
        seconds: Seconds = None,
    ) -> str:
        """Follow one block of a launch step by step: the moments that matter, as text.

        For "why": which warp ran first, where a barrier or a branch parts threads, and
        the step at which two accesses race.
        """
        own = _launch(source, kernel, blocks, threads, arguments, shared_bytes)
        own |= {"block": block, "variables": variables, "steps": steps}
        return _text(await self._ask("watch_block", seconds, own))

    async def assemble(
        self,
        source: Source,
        blocks: Sizes,
        threads: Sizes,
        arguments: Given,
        kernel: Name = None,
        shared_bytes: SharedBytes = 0,
        target: Annotated[
            str | list[int] | None, Field(description="such as H100, or [8, 6]")
        ] = None,
        listing: Annotated[
            bool, Field(description="every instruction, not counts")
        ] = False,
        seconds: Seconds = None,
    ) -> str:
        """What NVIDIA's compiler makes of each line: registers, spills, occupancy,
        instructions; nothing runs. Without the compiler: types, and what to install.
        """
        own = _launch(source, kernel, blocks, threads, arguments, shared_bytes)
        own |= {"target": target, "listing": listing}
        return _text(await self._ask("assemble_kernel", seconds, own))

    async def explain(
        self, kind: Annotated[str, Field(description="the kind of a finding")]
    ) -> str:
        """What a kind of finding means, why it is wrong or slow on a GPU, how it is
        mended, and a short kernel with it and without it.
        """
        try:
            return explanations.explained(kind)
        except BadRequest as error:
            raise ToolError(str(error)) from None

    async def _ask(self, task, seconds, own) -> dict:
        """What a child answers; what it refuses is the tool's error."""
        most = self.allowance.seconds
        seconds = seconds or min(USUAL_S, most)
        if seconds > most:
            raise ToolError(
                f"a call may take {most} seconds, not {seconds:g}: use less data, or "
                "start the server with `--seconds`"
            )
        use = {"seconds": seconds, "megabytes": self.allowance.megabytes}
        async with self.turns:
            answer = await answer_to({"task": task, **use, **own})
        if "refused" in answer:
            raise ToolError(answer["refused"])
        return answer


def _launch(source, kernel, blocks, threads, arguments, shared_bytes) -> dict:
    """What the tasks of a child take of a launch."""
    return {
        "source": source,
        "kernel": kernel,
        "blocks": blocks,
        "threads": threads,
        "arguments": arguments,
        "shared_bytes": shared_bytes,
    }


def _checked(answer) -> CallToolResult:
    """What a check found, as data and, in few characters, as their text."""
    failed = answer.get("failed") or answer.get("stopped") or answer.get("status")
    answer = {**answer, "failed": bool(failed)}
    said = json.dumps(answer, ensure_ascii=False)
    content = [TextContent(type="text", text=said)]
    return CallToolResult(content=content, structured_content=answer)


def _text(answer) -> str:
    """The text of an answer, or why there is none."""
    if "text" not in answer:
        raise ToolError(answer["stopped"])
    return answer["text"]


def server(allowance) -> MCPServer:
    """A server with all tools."""
    try:
        ours = version("thirty-two-lanes")
    except PackageNotFoundError:  # a checkout that is not installed
        ours = "0"
    new = MCPServer(
        "thirty-two-lanes",
        version=ours,
        instructions=INSTRUCTIONS,
        log_level="WARNING",
    )
    it = AgentTools(allowance)
    checks, texts = (
        (it.check_file, it.check_kernel),
        (it.watch, it.assemble, it.explain),
    )
    for tool in (*checks, *texts):
        new.add_tool(
            tool,
            description=getdoc(tool),
            annotations=HINTS,
            structured_output=tool in checks,  # a text is not said twice
        )
    return new


def serve(allowance):
    """Serve on stdin and stdout, until the client is gone."""
    server(allowance).run("stdio")

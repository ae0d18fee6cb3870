"""What tools take and give, as the schemas that a client shows its agent."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from thirty_two_lanes.agents.arguments import FILLS, FORMS

USUAL_S = 60  # of a call that does not say its seconds
Source = Annotated[
    str, Field(description="Python with its imports and a function with @cuda.jit")
]
Name = Annotated[
    str | None, Field(description="the kernel's name, if the source has several")
]
Sizes = Annotated[int | list[int], Field(description="a number, or [x, y, z]")]
Given = Annotated[
    list[Any],
    Field(
        description=f"the kernel's arguments in their order, each {FORMS}; "
        f"a fill is a number or one of {', '.join(FILLS)}; empty: nobody has written it"
    ),
]
SharedBytes = Annotated[int, Field(description="bytes of dynamic shared memory")]
Seconds = Annotated[
    float | None, Field(description=f"when to stop; else {USUAL_S}", gt=0)
]


class FoundPlace(BaseModel):
    """A line, and of a race what a thread does there."""

    file: str
    line: int
    text: str
    does: str = ""


class Found(BaseModel):
    """A finding; its kind is what `explain` takes."""

    launch: str
    kind: str
    level: str
    what: str
    advice: str
    places: list[FoundPlace]
    launches: int


class Checked(BaseModel):
    """What a check found. It failed if anything is wrong, or if it did not end well:
    then `stopped` says why, and the findings are those until then.
    """

    failed: bool
    summary: str = ""
    findings: list[Found] = []
    left_out: int = 0
    stopped: str | None = None
    status: int | None = Field(None, description="of the program")
    output: str = Field("", description="the end of what it printed")
    outputs: list[dict[str, Any]] = []

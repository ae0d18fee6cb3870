"""What each kind of finding means: explanations.toml, as text."""

import tomllib
from functools import cache
from pathlib import Path
from textwrap import fill

from thirty_two_lanes.agents.arguments import BadRequest

FILE = Path(__file__).with_suffix(".toml")
PREAMBLE = "import numpy as np\nfrom numba import cuda, float32, int32\n\n\n"


@cache
def table() -> dict:
    """Of each kind: what it `means`, `why` it is wrong or slow, how to `mend` it, and
    programs that have it (`wrong`) and do not (`mended`), without their imports.
    """
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def explained(kind) -> str:
    """A kind's explanation; raises BadRequest for one that there is not."""
    known = table().get(kind)
    if known is None:
        raise BadRequest(f"there is no kind {kind}: {', '.join(table())}")
    words = (f"Why: {known['why']}", f"Mend it: {known['mend']}")
    parts = [fill(it, 88) for it in (f"{kind}: {known['means']}", *words)]
    for name in ("wrong", "mended"):
        parts.append(f"{name.capitalize()}:\n\n{known[name].strip()}")
    return "\n\n".join(parts)

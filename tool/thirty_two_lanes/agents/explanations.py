"""What each kind of finding means, as text."""

from textwrap import fill

from thirty_two_lanes.agents.arguments import BadRequest
from thirty_two_lanes.scripts.meanings import meanings


def explained(kind) -> str:
    """A kind's explanation; raises BadRequest for one that there is not."""
    known = meanings().get(kind)
    if known is None:
        raise BadRequest(f"there is no kind {kind}: {', '.join(meanings())}")
    words = (f"Why: {known['why']}", f"Mend it: {known['mend']}")
    parts = [fill(it, 88) for it in (f"{kind}: {known['means']}", *words)]
    for name in ("wrong", "mended"):
        parts.append(f"{name.capitalize()}:\n\n{known[name].strip()}")
    return "\n\n".join(parts)

"""Findings as GitHub's annotations, beside the lines of a pull request: workflow
commands, which a runner reads from what a step prints.

It shows the first ten errors and the first ten warnings of a step.
"""

from thirty_two_lanes.core.words import raised

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
# what would end a message, or a property, and how it is written instead
OF_MESSAGES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
OF_PROPERTIES = OF_MESSAGES | str.maketrans({":": "%3A", ",": "%2C"})


def annotations(found) -> list[str]:
    """A line for each `Told`, which GitHub shows beside the first of its places."""
    return [_annotation(it) for it in found]


def _annotation(it) -> str:
    place, message = it.places[0], it.message
    told = {"file": place.path, "line": place.line} if place.path else {}
    if not told:
        message = f"{place.file}, line {place.line}: {message}"
    told["title"] = f"{raised(it.kind)} in {it.kernel}"
    parts = [f"{key}={str(it).translate(OF_PROPERTIES)}" for key, it in told.items()]
    command = f"::{COMMANDS[it.severity]} {','.join(parts)}::"
    return command + message.translate(OF_MESSAGES)

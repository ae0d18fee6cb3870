"""Numba's refusals and ours: one sentence with the kernel's line and the remedy."""

import builtins
import difflib
import re
import sys
import traceback

from helpers.core.errors import KernelError, UnsupportedError
from helpers.core.source import place, source_line
from helpers.frontend.refusals.numba_messages import NAMES, SENTENCES
from helpers.frontend.refusals.source_constructs import (
    explanation_from_source,
    is_certain,
)


def at(function, line, sentence, error=KernelError) -> KernelError:
    """An error about one line of a kernel, quoting it."""
    text = source_line(function.__code__.co_filename, line)
    quoted = f"\n    {text}" if text else ""
    return error(f"{sentence} ({place(function, line)}){quoted}")


def refusal(function, error) -> KernelError:
    """Numba's error about a kernel, as a KernelError."""
    message = str(error)
    line = _line_of(function, error, message)
    sentence = _sentence(NAMES, message)
    if not sentence:
        needs_memory = _NEEDS_MEMORY.search(message)
        explained = explanation_from_source(function, line, needs_memory)
        if explained:
            return at(function, explained[1], explained[0])
        sentence = _sentence(SENTENCES, message)
    if sentence:
        return at(function, line, sentence + _suggestion(function, sentence))
    return at(
        function, line, f"Numba refuses this line: {_plain(_first_sentence(message))}"
    )


_NEEDS_MEMORY = re.compile(r"NRT required|build_list|list\(|\A<ufunc '\w+'>\Z")


def _sentence(table, message):
    """The sentence of a table that replaces Numba's message, or None."""
    for pattern, sentence in table:
        found = re.search(pattern, message, re.DOTALL)
        if found:
            return _plain(found.expand(sentence))
    return None


def unknown(function, error, line=None) -> UnsupportedError:
    """An error of the emulator's own about a line of a kernel, in a sentence."""
    line = line or function.__code__.co_firstlineno
    explained = explanation_from_source(function, line)
    if explained and is_certain(explained[0]):
        return at(function, explained[1], explained[0])
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return at(
        function,
        line,
        "the emulator cannot handle this line, although a GPU may "
        f"({what}): write it in a simpler way",
        UnsupportedError,
    )


def _suggestion(function, sentence):
    """For a name that does not exist, one that does and looks like it."""
    missing = re.match(r"(?:there is no|`numba\.(cuda)` has no) `(\w+)`", sentence)
    if not missing:
        return ""
    names = {*function.__code__.co_varnames, *function.__globals__, *dir(builtins)}
    if missing[1]:
        names = {n for n in dir(sys.modules["numba.cuda"]) if not n.startswith("_")}
    close = difflib.get_close_matches(missing[2], names, 1)
    return f" Did you mean `{close[0]}`?" if close else ""


def _plain(sentence):
    """A sentence without Numba's own marks: literal types, versions of variables,
    paths.
    """
    sentence = re.sub(r"Literal\[(\w+)\]\([^)]*\)", r"\1", sentence)
    sentence = re.sub(r"`(\w+)\.\d+`", r"`\1`", sentence)
    return re.sub(r"(?:[A-Za-z]:)?[\\/][\w.\\/-]+[\\/]", "", sentence)


def _line_of(function, error, message):
    """The kernel's line that an error is about, or else its first."""
    file = function.__code__.co_filename
    lines = [
        location.line for location in _locations(error) if location.filename == file
    ]
    if lines:
        return lines[-1]
    for name, line in reversed(re.findall(r'File "([^"]*)", line (\d+)', message)):
        if file.endswith(name.lstrip("./")) or name.startswith("<"):
            return int(line)
    return function.__code__.co_firstlineno


def _locations(error):
    """The source locations that Numba was working on, the outermost first."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for name in ("self", "constraint", "inst", "stmt"):
            location = getattr(frame.f_locals.get(name), "loc", None)
            if hasattr(location, "filename"):
                yield location
    if hasattr(getattr(error, "loc", None), "filename"):
        yield error.loc


def _first_sentence(message):
    """The first line of an error's message that says something."""
    lines = [line.strip() for line in message.splitlines()]
    reasons = [
        line for line in lines if line and not line.startswith(("Failed in", ">>>"))
    ]
    return reasons[0].rstrip(".") if reasons else "no reason given"

"""Numba's refusals and ours: one sentence with the kernel's line and the remedy."""

import re
import traceback
from contextlib import contextmanager

from thirty_two_lanes.core.errors import (
    EmulatorFault,
    ExplainedError,
    KernelError,
    UnsupportedError,
)
from thirty_two_lanes.core.source import Site, file_name, source_line
from thirty_two_lanes.frontend.refusals.arrays import several_as_one
from thirty_two_lanes.frontend.refusals.numba_messages import NAMES, SENTENCES
from thirty_two_lanes.frontend.refusals.source_constructs import (
    argument_without_value,
    divided_whole_number,
    explanation_from_source,
    is_certain,
    named_expression,
    returning_line,
)
from thirty_two_lanes.frontend.refusals.syntax import suggestion


def at(function, line, sentence, error=KernelError) -> KernelError:
    """An error about one line of a kernel, quoting it; None is its first."""
    line = line or function.__code__.co_firstlineno
    path = function.__code__.co_filename
    site = Site(file_name(path), line, source_line(path, line), path=path)
    quoted = f"\n    {site.text}" if site.text else ""
    return error(f"{sentence} ({site.place}){quoted}").placed(site)


def refusal(function, error, types=()) -> KernelError:
    """A KernelError for Numba's error about a kernel with arguments of these types."""
    message = str(error)
    line = _line_of(function, error, message)
    explained = (
        named_expression(function, line, message)
        or argument_without_value(function, line, types)
        or divided_whole_number(function, line, message)
    )
    if explained:
        return at(function, *explained)
    sentence = _sentence(NAMES, message)
    if not sentence:
        needs_memory = _NEEDS_MEMORY.search(message)
        explained = several_as_one(
            function, line, types, message
        ) or explanation_from_source(function, line, needs_memory)
        if explained:
            return at(function, *explained)
        sentence = _sentence(SENTENCES, message) or _as_numba_says(message)
    return at(function, line, sentence + suggestion(function, sentence))


def returns_nothing(function) -> KernelError:
    """The error of a kernel that returns a value, or is a generator."""
    line = returning_line(function)
    first = function.__code__.co_firstlineno
    explained = line is None and explanation_from_source(function, first)
    return at(function, *(explained or (line, _RETURNS)))


def _as_numba_says(message) -> str:
    """Numba's reason: the first line that says something, if it is for people."""
    lines = [line.strip() for line in message.splitlines()]
    said = [it for it in lines if it and not it.startswith(("Failed in", ">>>"))]
    reason = _plain(said[0].rstrip(".") if said else "no reason given")
    return (
        _TOO_HARD if _INTERNAL.search(reason) else f"Numba refuses this line: {reason}"
    )


# what no sentence for people holds: names of IR and LLVM, addresses, Python's errors
_INTERNAL = re.compile(
    r"\$|%\"|%\.|0x[0-9a-f]|\w(?:Error|Exception)\b|object at|<class|<function|"
    r"Function\(|No definition for|\w\.\w+\.\w|\.py\b|index out of range|unpack|"
    r"^[^\w`]|object has no|__"
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
    """An error that nobody expected while a kernel was compiled or ran, in a sentence;
    what happened inside is its cause, for those who ask for causes.
    """
    line = line or function.__code__.co_firstlineno
    explained = explanation_from_source(function, line)
    if explained and is_certain(explained[1]):
        return at(function, *explained)
    if isinstance(error, MemoryError):
        return at(function, line, _NO_MEMORY, UnsupportedError)
    return at(function, line, _FAULT, EmulatorFault)


@contextmanager
def faults_of(function):
    """Whatever goes wrong in here, and is not explained, is a fault of ours."""
    try:
        yield
    except (ExplainedError, Warning):
        raise
    except Exception as error:
        raise unknown(function, error) from error


_RETURNS = (
    "a kernel returns nothing: store its results in an array; a bare `return` ends a "
    "thread early"
)
_TOO_HARD = (
    "Numba cannot compile this line for a GPU: check the types and the number of its "
    "values, and write it in a simpler way"
)
_FAULT = (
    "the emulator cannot handle this line, by a fault of its own and not of the "
    "kernel: please report the kernel and its launch to those who make Thirty-Two "
    "Lanes, and write the line in a simpler way until then (with EMULATOR_DEBUG=1 the "
    "error shows what happened inside)"
)
_NO_MEMORY = (
    "this computer has too little memory for what the launch needs from this line on: "
    "use smaller arrays, or fewer blocks"
)


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
    lines = [where.line for where in _locations(error) if where.filename == file]
    if lines:
        return lines[-1]
    places = re.findall(r'File "([^"]*)", line (\d{1,6})\b', message)
    for name, line in reversed(places):
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

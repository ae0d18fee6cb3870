"""How a launch ends that does not complete: by Ctrl-C, or by an error of ours.

The machine says at which site it stopped; here it becomes a sentence.
"""

from contextlib import contextmanager

from thirty_two_lanes.core.advice.advise import (
    advice_on_barriers,
    advice_on_bounds,
)
from thirty_two_lanes.core.errors import (
    BarrierError,
    ExplainedError,
    KernelError,
    KernelIndexError,
    NoValueError,
    UnsupportedError,
)
from thirty_two_lanes.core.words import lowered
from thirty_two_lanes.frontend.refusals.refusals import at, unknown

_NO_VALUE = (
    "{name} has no value on the path that the threads took: give it one before the "
    "`if` or the loop"
)


@contextmanager
def explained(kernel, launch):
    """Explain what an interrupted launch wrote, and where an error came from."""
    function = kernel.py_func
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_interrupted(kernel, launch)) from None
    except UnsupportedError as error:
        if launch.stopped_at is None:
            raise
        raise at(function, line_of(launch), str(error), type(error)) from error
    except ExplainedError as error:
        error.placed(launch.stopped_at or error.site)
        if isinstance(error, (BarrierError, KernelIndexError)):
            advise(function, error)
        raise
    except Warning:
        raise
    except NoValueError as error:
        if launch.stopped_at is None:
            raise unknown(function, error.__cause__) from error
        raise _no_value(error.args[0], launch.stopped_at) from error
    except Exception as error:
        raise unknown(function, error, line_of(launch)) from error


def advise(function, error):
    """Say which guard is missing, or where a barrier belongs, in the kernel's own
    words, where its source is at hand.
    """
    if isinstance(error, BarrierError):
        advice = error.sites and advice_on_barriers(function, error.sites)
    else:
        advice = error.outside and advice_on_bounds(function, error.outside)
    if advice:
        facts = str(error).partition("  Remedy: ")[0]
        error.args = (f"{facts}  Remedy: {lowered(advice.sentence)}",)
        error.edit = advice.edit


def _no_value(name, site):
    """The error about a variable that is read before it has a value."""
    sentence = _NO_VALUE.format(name=f"`{name}`" if name else "a variable on this line")
    quoted = f"\n    {site.text}" if site.text else ""
    return KernelError(f"{sentence} ({site.place}){quoted}").placed(site)


def _interrupted(kernel, launch):
    """What was done and written when someone pressed Ctrl-C, in one sentence."""
    names = " and ".join(f"`{name}`" for name in sorted(launch.program.written))
    written = f"{names} may be partly written" if names else "it writes to no array"
    if not launch.memory.changes:
        written = "nothing was written"
    where = f" at line {line_of(launch)}" if launch.stopped_at is not None else ""
    return (
        f"interrupted{where} of `{kernel.py_func.__name__}`, with "
        f"{launch.blocks_done:,} of {launch.geometry.blocks:,} blocks done; {written}"
    )


def line_of(launch) -> int | None:
    """The kernel's line at which a launch stopped, where it is known."""
    return launch.stopped_at.line if launch.stopped_at is not None else None

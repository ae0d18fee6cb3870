"""How a launch ends that did not come to its end: by Ctrl-C, or by an error of ours."""

import traceback
from contextlib import contextmanager

from helpers.core.errors import Told, UnsupportedError
from helpers.frontend.refusals.refusals import at, unknown
from helpers.frontend.refusals.source_constructs import explanation_from_source

_NO_VALUE = (
    "a variable of this line got no value on the way that the threads took: give it "
    "one before the `if` or the loop"
)


@contextmanager
def explained(kernel, launch):
    """Tell of an interrupt what was written, of a stray error where it came from."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(
            _interrupted(kernel, launch, line_of(interrupt))
        ) from None
    except UnsupportedError as error:
        if ", line " in str(error) or not line_of(error):
            raise
        raise at(kernel.py_func, line_of(error), str(error), UnsupportedError) from None
    except (Told, Warning):
        raise
    except Exception as error:
        if "NoneType" in str(error) and line_of(error):
            source = explanation_from_source(kernel.py_func, line_of(error))
            sentence = source[0] if source else _NO_VALUE
            raise at(kernel.py_func, line_of(error), sentence) from None
        raise unknown(kernel.py_func, error, line_of(error)) from error


def _interrupted(kernel, launch, line):
    """What was done and written when someone pressed Ctrl-C, in one sentence."""
    blocks = launch.geometry.blocks
    done = min(blocks, launch.finished * launch.batch_blocks)
    names = " and ".join(f"`{name}`" for name in sorted(launch.program.written))
    written = f"{names} may be written in part" if names else "it writes to no array"
    if not launch.memory.changes:
        written = "nothing was written"
    where = f" at line {line}" if line else ""
    return (
        f"interrupted{where} of `{kernel.py_func.__name__}`, with {done:,} of "
        f"{blocks:,} blocks done; {written}"
    )


def line_of(error) -> int | None:
    """The kernel's line that was running when an error came."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        site = getattr(frame.f_locals.get("basic_block"), "site", None)
        if site is not None:
            return site.line
    return None

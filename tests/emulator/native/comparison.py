"""Launches a kernel as machine code alone, and with NumPy alone."""

import io
import warnings
from contextlib import redirect_stdout
from unittest import mock

import numpy as np

from helpers.emulator.native import run

AT_ONCE = {
    **{"COMPILING": (-(10**12), 0), "ENTERING": -1, "WIDEST": 10**9},
    "TRIED": 10**9,
}
NEVER = {"WIDEST": -1}


def launched(how, kernel, config, arguments):
    """What a plain launch leaves: its arrays' bytes, its error, what it prints, and
    how many warps ran as machine code.
    """
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    printed, error = io.StringIO(), None
    entered = mock.Mock(side_effect=run.NativeWarp)
    with (
        mock.patch.multiple(run, **how),
        mock.patch.object(run, "NativeWarp", entered),
        redirect_stdout(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            kernel[config](*given)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    left = [bits(a) for a in given if isinstance(a, np.ndarray)]
    return (left, error, printed.getvalue()), entered.call_count


def bits(array):
    """An array's bytes; all NaNs are one."""
    if array.dtype.kind == "c":
        return bits(array.real), bits(array.imag)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)
    return array.tobytes()


def same_in_both(kernel, config, arguments):
    """Hold machine code to NumPy's result; gives the arrays' bytes and the error."""
    expected, none = launched(NEVER, kernel, config, arguments)
    found, entered = launched(AT_ONCE, kernel, config, arguments)
    assert (0, True) == (none, entered > 0), expected[1]
    assert "failed" not in programs_of(kernel)
    assert expected == found
    return found


def programs_of(kernel) -> dict:
    """What `native` keeps of a kernel's programs."""
    from helpers.emulator.program_cache import _prepared

    kept = {}
    for prepared in _prepared.get(kernel, {}).values():
        kept |= prepared.program.compiled
    return kept

"""Launches a kernel as machine code alone, and with NumPy alone."""

import io
import warnings
from contextlib import redirect_stdout
from unittest import mock

import numpy as np

from helpers import emulate
from thirty_two_lanes.emulator.native import accelerator

AT_ONCE = {"MAKING": (-(10**12), 0), "ENTERING": -1, "WIDEST": 10**9}
NEVER = {"WIDEST": -1}


def launched(how, kernel, config, arguments):
    """What a plain launch leaves: its arrays' bytes, its error, what it prints, and
    how many warps ran as machine code.
    """
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    printed, error = io.StringIO(), None
    entered = mock.Mock(side_effect=accelerator.Ahead)
    with (
        mock.patch.multiple(accelerator, **how),
        mock.patch.object(accelerator, "Ahead", entered),
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
    assert expected == found
    return found


def programs_of(kernel) -> dict:
    """What `native` keeps of a kernel's programs."""
    from thirty_two_lanes.emulator.program_cache import _prepared

    kept = {}
    for prepared in _prepared.get(kernel, {}).values():
        kept |= prepared.program.compiled
    return kept


def reported(how, kernel, config, arguments):
    """What an emulated launch leaves, and what it reports."""
    reports = []

    class Reporting:
        def __getitem__(self, launch):
            return lambda *given: reports.append(emulate(kernel)[launch](*given))

    left, entered = launched(how, Reporting(), config, arguments)
    return (left, [report.to_dict() for report in reports]), entered


def same_reports(kernel, config, arguments):
    """Hold the report of machine code to that of NumPy's functions; gives it, or None
    where there is an error, and how many warps ran as machine code.
    """
    expected, none = reported(NEVER, kernel, config, arguments)
    found, entered = reported(AT_ONCE, kernel, config, arguments)
    assert 0 == none
    assert repr(expected) == repr(found)  # in which NaN is NaN
    return (found[1] or [None])[0], entered

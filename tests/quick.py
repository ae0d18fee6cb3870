"""Which cases of a long table `make test` takes; `make test-all` takes them all."""

from zlib import crc32

import pytest


def some(cases, every):
    """The cases, all but about one in `every` of them slow; tuples are several values.
    A case is chosen by itself: what is added to a table moves no other one.
    """
    chosen = [crc32(repr(case).encode()) % every == 0 for case in cases]
    return [
        case if now else slow(case) for case, now in zip(cases, chosen, strict=True)
    ]


def slow(case):
    """A case of `make test-all` alone."""
    if hasattr(case, "marks"):  # it has others, too
        return case._replace(marks=[*case.marks, pytest.mark.slow])
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)

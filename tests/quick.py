"""Which cases of a long table `make test` takes; `make test-all` takes them all."""

import pytest


def some(cases, every):
    """The cases, all but one in `every` of them slow; tuples are several values."""
    return [
        case if number % every == 0 else slow(case) for number, case in enumerate(cases)
    ]


def slow(case):
    """A case of `make test-all` alone."""
    if hasattr(case, "marks"):  # it has others, too
        return case._replace(marks=[*case.marks, pytest.mark.slow])
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)

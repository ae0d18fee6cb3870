"""Which cases of a long table run when: a few in `make test`, more in `make test-all`,
the rest in `make exhaustive`. A seed draws them, SAMPLE: another one draws others.
"""

import hashlib
import os

import pytest

SAMPLE = os.environ.get("SAMPLE", "")


def turn_of(case, every) -> int:
    """A number below `every` that depends on a case and on SAMPLE alone: what is added
    to a table moves no other case. A file is the same wherever it is.
    """
    words = f"{SAMPLE}{getattr(case, 'stem', case)}".encode()
    return int.from_bytes(hashlib.sha256(words).digest()[:4]) % every


def some(cases, every, slow_every=1):
    """The cases: about one in `every` is quick, or none without it, and one in
    `slow_every` is in `make test-all`. Tuples are several values.
    """
    return [
        case if every and turn_of(case, every) == 0 else drawn(case, slow_every)
        for case in cases
    ]


def beside(quick, cases, slow_every=1):
    """Some cases that are quick, and the others, as `drawn` has them."""
    return [*quick, *(drawn(case, slow_every) for case in cases if case not in quick)]


def drawn(case, every):
    """A case of `make test-all`, if it is one of about one in so many."""
    return slow(case) if turn_of(case, every) == 0 else exhaustive(case)


def slow(case):
    """A case of `make test-all`."""
    return _marked(case, pytest.mark.slow)


def exhaustive(case):
    """A case of `make exhaustive` alone."""
    return _marked(case, pytest.mark.slow, pytest.mark.exhaustive)


def _marked(case, *marks):
    if hasattr(case, "marks"):  # it has others, too
        return case._replace(marks=[*case.marks, *marks])
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=marks)

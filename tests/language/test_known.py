"""What Numba's registries for CUDA know: each is right, or refused in a sentence."""

import pytest

from tests.language import features, known
from tests.quick import some
from tests.specimens.kernels import BUILT_IN

pytestmark = pytest.mark.skipif(BUILT_IN, reason="the package's registries")
ALL = [
    (section, word, expression)
    for section, words in known.sections().items()
    for word, expressions in words.items()
    for expression in expressions
]


@pytest.mark.parametrize(
    "section, word, expression", some(ALL, every=120, slow_every=6)
)
def test_an_expression_is_what_the_table_says(section, word, expression):
    """Right, refused by Numba, or not yet here: never a fault, nor a wrong value."""
    assert word == known.became(expression)


def test_the_table_has_three_words():
    """What is wrong, or ends in a fault, is corrected and not listed."""
    assert set(known.WORDS) >= {word for _, word, _ in ALL}


def test_everything_that_is_registered_has_an_expression():
    """In known.toml, or in a kernel of features.toml; else add one."""
    rows = [row.kernel for rows in features.sections().values() for row in rows]

    assert set() == known.unnamed([*rows, *(expression for *_, expression in ALL)])


def test_the_table_is_as_it_is_written():
    """`python -m tests.language.known` would change nothing but the words."""
    text = known.TABLE.read_text(encoding="utf-8")

    assert text == known.written(known.sections())

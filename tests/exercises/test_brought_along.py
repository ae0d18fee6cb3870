"""Numbers that a kernel brings along, in which its answer could be."""

import numpy as np
from numba import cuda

from tests.exercises.specimen import PairSums

TASK = PairSums()
SUM = "tile[t] + tile[t + 1]"


def test_tuples_are_brought_along_as_arrays_are():
    """Those that are looked up by what a thread computes; a few may be."""
    texts = {
        "look = tuple(range(64))": 64 - 16,
        "look = tuple((k, k + 1) for k in range(20))": 40 + 2 - 16,
        "look = 0, 1, 2, 3": None,
    }
    for table, count in texts.items():
        found = "look[t % 20][t % 2]" if "k + 1" in table else "look[t % 4]"
        text = TASK.answer_text.replace(SUM, f"{SUM} + 0 * {found}")
        verdict = TASK.judge(TASK.kernel(f"{table}\n{text}"), 1)

        assert ("constant" if count else None) == verdict.reason, verdict.text
        told = f"brings {count} numbers of its own along, in tuples"
        assert not count or told in verdict.sentence


def test_what_is_loaded_is_not_brought_along():
    """A tuple of it is looked up as one of constants is; a constant makes it one."""
    for items, refused in {"a[k % 2]": False, "a[k % 2] * 0 + k": True}.items():
        loaded = ", ".join(items.replace("k", str(k)) for k in range(40))
        text = TASK.answer_text.replace(
            "    tile[t]", f"    look = {loaded}\n    tile[t]", 1
        ).replace(SUM, f"{SUM} + 0 * look[t % 40]")
        verdict = TASK.judge(TASK.kernel(text), 1)

        assert refused == (verdict.reason == "constant"), verdict.text


def test_a_long_chain_of_squares_is_followed_once():
    """Each of its numbers takes part twice in the next."""
    chain = "    x = a[0]\n" + "    x = x * x\n" * 60
    text = TASK.answer_text.replace(
        "    tile[t]", f"{chain}    look = x, x\n    tile[t]", 1
    )
    verdict = TASK.judge(TASK.kernel(text.replace(SUM, f"{SUM} + 0 * look[t % 2]")), 1)

    assert verdict.reason != "constant", verdict.text


def test_each_array_that_is_brought_along_counts():
    """Two may have one name, and one may be used twice."""

    def looking_up(table):
        @cuda.jit(device=True)
        def look(n):
            return table[n] + 0 * table.size

        return look

    many, few = looking_up(np.arange(64)), looking_up(np.arange(3))

    @cuda.jit
    def pair_sums(out, a):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] + many(i % 64) + many(i % 32) + few(i % 3)

    verdict = TASK.judge(pair_sums, 1)

    assert "brings 67 numbers of its own along, in `table`;" in verdict.sentence


def test_records_are_not_brought_along():
    """Few of them may hold many numbers."""
    table = np.zeros(2, [("a", np.float64, 20), ("b", np.float64)])

    @cuda.jit
    def pair_sums(out, a):
        numbers = cuda.const.array_like(table)
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] + numbers[i % 2].b

    verdict = TASK.judge(pair_sums, 1)

    assert "refused" == verdict.reason
    assert "`table` from outside" in verdict.sentence

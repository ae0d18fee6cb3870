"""One more exercise of lesson 23: threads beyond the edge."""

from helpers.exercises.exercise import Explain


class WhyZeros(Explain):
    """In a tiled product, a thread whose element lies beyond the edge of `a` puts a zero
    into the tile. Why does it not simply return, and why is a zero right? Say also
    which guard the zeros do not replace.
    """

    stars, points = 1, 3
    rubric = {
        "all threads of a block must come to both barriers, so none may return": 1,
        "others read that cell, and a product with zero adds nothing to their sums": 1,
        "the store to `c` still needs its guard": 1,
    }
    model = (
        "A thread that returned would miss the barriers that the rest of its block "
        "waits at, and its cell of the tile, which others read, would be unwritten. A "
        "zero times anything adds nothing, so the sums need no condition; only the "
        "store to `c` must still ask whether row and column lie inside."
    )

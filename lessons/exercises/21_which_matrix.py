"""One more exercise of lesson 21: which matrix a test needs."""

from helpers.exercises.exercise import Explain


class BlindTest(Explain):
    """A kernel that should transpose a matrix only copies it, and its test does not
    notice. What kind of matrix does the test use? What should a test's matrix be like,
    so that neither this nor a forgotten guard stays hidden?
    """

    points = 3
    rubric = {
        "a matrix that equals its own transpose, such as one of equal numbers": 1,
        "numbers that all differ, and sides of different length": 1,
        "sides that are no multiples of the tile's, for the guard": 1,
    }
    model = (
        "It is symmetric, so its copy is its transpose. Random numbers and sides of "
        "different length show swapped places; sides that are no multiples of the tile "
        "let blocks hang over each edge, which needs the guard."
    )

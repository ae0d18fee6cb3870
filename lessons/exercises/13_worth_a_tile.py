"""One more exercise of lesson 13: what a tile would save."""

from helpers.exercises.exercise import Explain


class WorthATile(Explain):
    """A kernel computes `out[i] = a[i] * a[i] + b[i // 32]`, a thread for each `i`.
    Somebody wants to bring both arrays into a tile first. Which of them has elements
    that several threads use, and what would a tile save for each of them?
    """

    points = 3
    rubric = {
        "one thread alone uses `a[i]`, and can keep it in a variable": 1,
        "32 threads use the same element of `b`: there is reuse": 1,
        "they are one warp, and one request for one sector serves them all: a tile turns "
        "it into a request to shared memory, and adds a store and a barrier": 1,
    }
    model = (
        "No other thread uses a[i]; a variable serves both uses. 32 threads use the same "
        "b[i // 32], but they are one warp, and one request for one sector serves them "
        "all. A tile only turns it into a request to shared memory, and adds a store and "
        "a barrier."
    )

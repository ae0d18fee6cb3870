"""One more exercise of lesson 2: what a warp loses to one lane."""

from helpers.exercises.exercise import Explain


class OneLane(Explain):
    """In each warp, exactly one lane enters an `if` with a body of 100 instructions; the
    other 31 skip it. Somebody moves the elements around, so that one warp of 32 enters
    it with all lanes, and 31 warps with none. How many instructions do the 32 warps
    execute for the body, before and after, and why?
    """

    stars, points = 1, 3
    rubric = {
        "before: 32 warps execute 100 instructions each, 3,200": 1,
        "after: one warp executes them, 100": 1,
        "an instruction is for a whole warp, however many of its lanes are active": 1,
    }
    model = (
        "Before, each of the 32 warps executes the body's 100 instructions, 3,200 in "
        "all, with one lane active and 31 waiting. After, one warp executes them for "
        "its 32 lanes, 100 in all, since an instruction is issued for a warp and costs "
        "the same however many of its lanes take part."
    )

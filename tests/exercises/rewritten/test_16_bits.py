"""A thread's number has more than 16 bits where there may be more threads: an answer
that keeps no more of it is refused.
"""

import pytest

from helpers.exercises.catalogue import exercise
from tests.changed import of_exercises
from tests.exercises.kinds import KERNELS

FEW = {  # whose grid does not grow, or has fewer threads than elements
    *"dot every_second grid_stride letters sixteen_at_once wide_distance".split(),
}
LONG = {  # of which as many threads take too long to emulate
    *"bitonic column_window distance_matrix give_up life n_body product".split(),
    *"symmetric take_apart times_transposed walk_down wide_tile".split(),
}
GRID = {
    "cuda.grid(1)": "int16(cuda.grid(1))",
    "cuda.grid(2)": "(int16(cuda.grid(2)[0]), int16(cuda.grid(2)[1]))",
}
TRIED = [name for name in KERNELS if name not in FEW | LONG]


@pytest.mark.parametrize("name", of_exercises(TRIED, every=40))
def test_sixteen_bits_of_a_thread_s_number_are_refused(name):
    """The judge draws a size beyond what they count."""
    task = exercise(name)
    for grid, narrow in GRID.items():
        if grid in task.answer_text:
            text = task.answer_text.replace(grid, narrow)
            assert task.judge(task.kernel(text), 2).reason

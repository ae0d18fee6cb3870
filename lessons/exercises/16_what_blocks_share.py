"""More exercises of lesson 16: what a thread keeps, and what its block shares."""

import numpy as np

from helpers.exercises.exercise import Out, Write


class KMeans(Write):
    """Find the nearest of $many centres for each point; of centres that are equally
    near, the first one. The rows of `points` and `centres` are x and y. Load each
    point once, and each centre once in a block.
    """

    stars, points, work = 3, 5, 2
    choices = {"many": (8, 5, 12), "power": (2, 1), "threads": (128, 64)}
    even, ragged = (256, 128), (1, 33, 150)
    ordered = "points", "centres"

    @property
    def budget(self):
        blocks, _ = self.launch(self.even[0])
        loads = {"points": 1, "centres": blocks}
        return {"loads": loads, "conflicts": 0, "shared_bytes": 8 * self.many}

    def inputs(self, rng, n):
        points = rng.integers(-8, 8, (2, n)) / 4  # some are as near to two
        centres = rng.integers(-8, 8, (2, self.many)) / 4
        return {
            "nearest": Out(n, np.int32),
            "points": points.astype(np.float32),
            "centres": centres.astype(np.float32),
        }

    def launch(self, n):
        return -(-n // self.threads), self.threads

    def spec(self, points, centres):
        apart = np.abs(points[:, :, None] - centres[:, None, :]) ** self.power
        return apart.sum(axis=0).argmin(axis=1)

    @property
    def far(self):
        return {2: "dx * dx + dy * dy", 1: "abs(dx) + abs(dy)"}[self.power]

    setup = "CENTRES = $many"
    answer = """
        @cuda.jit
        def k_means(nearest, points, centres):
            \"\"\"Each thread finds the nearest centre of one point.\"\"\"
            near = cuda.shared.array((2, CENTRES), float32)
            thread, i = cuda.threadIdx.x, cuda.grid(1)
            if thread < CENTRES:
                near[0, thread] = centres[0, thread]
                near[1, thread] = centres[1, thread]
            cuda.syncthreads()
            if i < nearest.size:
                x, y = points[0, i], points[1, i]
                best, least = 0, float32(math.inf)
                for k in range(CENTRES):
                    dx, dy = near[0, k] - x, near[1, k] - y
                    far = $far
                    if far < least:
                        best, least = k, far
                nearest[i] = best
    """
    wrong = {
        "no guard": ("bounds", "if i < nearest.size:", "if True:"),
        "no guard of the centres": (
            "bounds",
            "if thread < CENTRES:",
            "if True:",
        ),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "threads leave early": (
            "barrier",
            "if thread < CENTRES:",
            "if i >= nearest.size:\n        return\n    if thread < CENTRES:",
        ),
        "a barrier for some": (
            "barrier",
            "cuda.syncthreads()\n    if i < nearest.size:",
            "if i < nearest.size:\n        cuda.syncthreads()",
        ),
        "the first block alone": (
            "uninitialised",
            "if thread < CENTRES:",
            "if i < CENTRES:",
        ),
        "y is missing": (
            "uninitialised",
            "near[1, thread] = centres[1, thread]",
            "",
        ),
        "an array for each thread": (
            "uninitialised",
            "cuda.shared",
            "cuda.local",
        ),
        "all threads bring all": (
            "race",
            "if thread < CENTRES:",
            "for thread in range(CENTRES):",
        ),
        "the last of the nearest": ("wrong", "far < least", "far <= least"),
        "the farthest": (
            "wrong",
            "math.inf",
            "-1",
            "far < least",
            "far > least",
        ),
        "forgets a centre": (
            "wrong",
            "k in range(CENTRES)",
            "k in range(CENTRES - 1)",
        ),
        "along x alone": ("wrong", "near[1, k] - y", "0"),
        "centres from memory": (
            "over_budget:loads",
            "near[0, k] - x, near[1, k] - y",
            "centres[0, k] - x, centres[1, k] - y",
        ),
        "the point again after each store": (
            "over_budget:loads",
            "near[0, k] - x, near[1, k] - y",
            "near[0, k] - points[0, i], near[1, k] - points[1, i]",
            "best, least = k, far",
            "best, least = k, far\n                nearest[i] = best",
        ),
    }
    hints = {
        "over_budget:loads": (
            "How many threads of a block load the same centre?",
            "What all threads of a block need belongs in shared memory, brought there "
            "once.",
            "Let the first threads of the block copy a centre each into a shared "
            "array; after `cuda.syncthreads()` all threads read it there.",
        ),
        "barrier": (
            "Which threads have no point, and do they come to the barrier?",
            "A thread with no point may still have to bring a centre, and must come to "
            "the barrier in any case.",
            "Put the condition `i < nearest.size` after the barrier.",
        ),
    }

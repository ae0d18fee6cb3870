"""More exercises of lesson 11: what all threads want again and again."""

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Explain, InOut, Out, Write


class NBody(Write):
    """Bodies pull at one another: move each velocity on by one step of `dt`. `bodies`
    holds x, y, z and mass of each body, one body after the other; the rows of
    `velocities` are the velocities along x, y and z, and column i belongs to body i.
    `softening` keeps close bodies from pulling without limit. The budget leaves one
    request for each body that a thread looks at.
    """

    stars, points = 3, 5
    choices = {"power": (1.5, 2.0), "threads": (32, 64)}
    even, ragged = (64, 32), (1, 33, 50)
    rtol, work = 1e-4, 2.5

    @property
    def budget(self):
        n = self.even[0]
        return {"requests": n // 32 * (n + 7)}

    def inputs(self, rng, n):
        bodies = rng.uniform(-5, 5, (n, 4))
        bodies[:, 3] = rng.uniform(1, 9, n)
        velocities = numbers(rng, np.float32, -9, 10, (3, n))
        return {
            "velocities": InOut(velocities),
            "bodies": bodies.astype(np.float32).ravel(),
            "softening": np.float32(rng.integers(1, 9) / 4),
            "dt": np.float32(rng.choice((-1, 1)) * rng.integers(1, 5) / 8),
        }

    def launch(self, n):
        return -(-n // self.threads), self.threads

    def spec(self, velocities, bodies, softening, dt):
        x, mass = bodies.reshape(-1, 4).T[:3], bodies[3::4]
        # from body i to body j, as [:, i, j]
        apart = x[:, None, :] - x[:, :, None]
        square = (apart**2).sum(axis=0) + softening
        pulls = mass * apart / square**self.power
        return velocities + dt * pulls.sum(axis=2)

    @property
    def divisor(self):
        return {1.5: "square * math.sqrt(square)", 2.0: "square * square"}[
            self.power
        ]

    setup = "from helpers import load4"
    answer = """
        @cuda.jit
        def n_body(velocities, bodies, softening, dt):
            \"\"\"Each thread moves the velocity of one body on.\"\"\"
            i, n = cuda.grid(1), velocities.shape[1]
            if i < n:
                x, y, z, _ = load4(bodies, 4 * i)
                along_x, along_y, along_z = float32(0), float32(0), float32(0)
                for j in range(n):
                    other_x, other_y, other_z, mass = load4(bodies, 4 * j)
                    dx, dy, dz = other_x - x, other_y - y, other_z - z
                    square = dx * dx + dy * dy + dz * dz + softening
                    pull = mass / ($divisor)
                    along_x += pull * dx
                    along_y += pull * dy
                    along_z += pull * dz
                velocities[0, i] += dt * along_x
                velocities[1, i] += dt * along_y
                velocities[2, i] += dt * along_z
    """
    wrong = {
        "no guard": ("bounds", "if i < n:", "if True:"),
        "guard of all numbers": ("bounds", "if i < n:", "if i < bodies.size:"),
        "hard-coded number": ("bounds", "velocities.shape[1]", "64"),
        "pushes": ("wrong", "other_x - x", "x - other_x"),
        "no softening": ("wrong", " + softening", ""),
        "forgets the last body": ("wrong", "range(n)", "range(n - 1)"),
        "no time": ("wrong", "+= dt * along_y", "+= along_y"),
        "forgets what was": (
            "wrong",
            "velocities[2, i] +=",
            "velocities[2, i] =",
        ),
        "its own mass": (
            "wrong",
            "x, y, z, _ =",
            "x, y, z, mass =",
            "other_z, mass =",
            "other_z, _ =",
        ),
        "two threads, one sum": (
            "race",
            "velocities[0, i] +=",
            "velocities[0, i // 2] +=",
        ),
        "four requests a body": (
            "over_budget:requests",
            "other_x, other_y, other_z, mass = load4(bodies, 4 * j)",
            "other_x, other_y = bodies[4 * j], bodies[4 * j + 1]\n"
            "            other_z, mass = bodies[4 * j + 2], bodies[4 * j + 3]",
        ),
        "adds up in memory": (
            "over_budget:requests",
            "along_z += pull * dz",
            "velocities[2, i] += dt * pull * dz",
            "velocities[2, i] += dt * along_z",
            "",
        ),
    }
    hints = {
        "over_budget:requests": (
            "How often does your loop ask memory for each of the other bodies, and how "
            "often for what does not change in it?",
            "Sums and the numbers of the thread's own body belong in variables; the "
            "four numbers of another body lie side by side.",
            "`load4` fetches a body in one request, from index `4 * j`; add to "
            "`velocities` once, after the loop.",
        ),
    }


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


class LatencyHidden(Explain):
    """One thread that follows a chain of cells in global memory waits hundreds of
    nanoseconds at each step. The kernel `read` loads from the same memory, and moves
    thousands of gigabytes a second. How can it be so fast, when none of its loads
    takes less time?
    """

    stars, points = 2, 3
    rubric = {
        "a load of the chain needs the number that the one before brings; a load of "
        "`read` does not": 1,
        "many loads are on their way at once, of one thread and of many": 1,
        "while one warp waits another asks: the latency is hidden, not shorter": 1,
    }
    model = (
        "A step along the chain cannot begin before the previous load has ended, so "
        "the waits add up. The loads of `read` do not depend on one another: while "
        "one warp waits, others ask, and with enough requests on their way memory "
        "works all the time, though each single load takes as long as before."
    )

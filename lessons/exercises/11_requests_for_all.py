"""More exercises of lesson 11: what all threads want again and again."""

import numpy as np

from helpers.exercises.exercise import InOut, Write


class NBody(Write):
    """Bodies pull at one another: move each velocity on by one step of `dt`. `bodies`
    holds x, y, z and mass of each body, one body after the other; the rows of
    `velocities` are the velocities along x, y and z, and column i belongs to body i.
    `softening` keeps close bodies from pulling without limit. The budget leaves one
    request for each body that a thread looks at.
    """

    stars, points, any_block = 3, 5, True
    choices = {"power": (1.5, 2.0), "threads": (32, 64)}
    even, ragged = (64, 32), (1, 33, 50)
    rtol, work = 1e-4, 2.5

    @property
    def budget(self):
        n = self.even[0]
        return {"requests": n // 32 * (n + 7)}

    def inputs(self, rng, n):
        bodies = rng.uniform(-5, 5, (n, 4))
        bodies[:, 3] = rng.uniform(1, 9, n) * 2.0 ** rng.integers(-8, 8)
        velocities = rng.uniform(-9, 10, (3, n)).astype(np.float32)
        return {
            "velocities": InOut(velocities),
            "bodies": bodies.astype(np.float32).ravel(),
            "softening": np.float32(2.0 ** rng.uniform(-6, 4)),
            "dt": np.float32(rng.choice((-1, 1)) * rng.uniform(1, 4) / 8),
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

"""Exercises of lesson 2, continued: lanes that vote, and lanes that stay together."""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import InOut, Out, Write


class CountAbove(Write):
    """Count the elements of `a` that are $words `limit`, and add that number to
    `count[0]`: with one atomic operation a warp, or fewer. `cuda.atomic.add(count, 0, k)`
    is one: it adds k to `count[0]`, and no other thread comes between.
    """

    stars, points, any_block = 2, 3, True
    choices = {
        "ufunc": ("greater", "less", "greater_equal"),
        "type": ("float32", "int32"),
        "threads": (64, 128),
    }
    even, ragged = (512, 256), (1, 31, 65, 333)
    budget, work = {"atomics": 16}, 4
    setup = "ALL = 0xFFFFFFFF"

    def inputs(self, rng, n):
        kind = np.dtype(self.type).type
        middle, step = numbers(rng, self.type, -50, 50, 1), kind(1)
        if np.dtype(kind).kind == "f":
            step = np.spacing(np.abs(middle))  # to the next number of its type
        a = middle + rng.integers(-10, 10, n).astype(kind) * step
        count = rng.integers(1, 10**6, 1).astype(np.int32)
        limit = (middle + kind(rng.integers(-2, 3)) * step)[0]
        return {"count": InOut(count), "a": a, "limit": limit}

    def launch(self, n):
        return ceil(n / self.threads), self.threads

    def spec(self, count, a, limit):
        return count + np.count_nonzero(getattr(np, self.ufunc)(a, limit))

    @property
    def words(self):
        return {
            "greater": "above",
            "less": "below",
            "greater_equal": "not below",
        }[self.ufunc]

    @property
    def sign(self):
        return {"greater": ">", "less": "<", "greater_equal": ">="}[self.ufunc]

    @property
    def other_sign(self):
        return {"greater": ">=", "less": "<=", "greater_equal": ">"}[
            self.ufunc
        ]

    answer = """
        @cuda.jit
        def count_above(count, a, limit):
            \"\"\"Each thread that has an element asks whether it counts.\"\"\"
            i = cuda.grid(1)
            votes = cuda.ballot_sync(ALL, i < a.size and a[i] $sign limit)
            if cuda.laneid == 0:
                cuda.atomic.add(count, 0, cuda.popc(votes))
    """
    wrong = {
        "no guard": ("bounds", "i < a.size and ", ""),
        "the limit itself": ("wrong", "a[i] $sign", "a[i] $other_sign"),
        "adds the mask": ("wrong", "cuda.popc(votes)", "votes"),
        "all lanes add the votes": (
            "wrong",
            "if cuda.laneid == 0:\n        ",
            "if i < a.size:\n        ",
        ),
        "adds with no atomic": (
            "race",
            "cuda.atomic.add(count, 0, cuda.popc(votes))",
            "count[0] += cuda.popc(votes)",
        ),
        "the first block alone": ("wrong", "laneid == 0", "grid(1) == 0"),
        "half of the votes": ("wrong", "popc(votes)", "popc(votes & 0xFFFF)"),
        "an atomic for each": (
            "over_budget:atomics",
            """
            @cuda.jit
            def count_above(count, a, limit):
                \"\"\"Each thread adds its own.\"\"\"
                i = cuda.grid(1)
                if i < a.size and a[i] $sign limit:
                    cuda.atomic.add(count, 0, 1)
            """,
        ),
        "one thread does all": (
            "over_budget:work",
            """
            @cuda.jit
            def count_above(count, a, limit):
                \"\"\"One thread counts all.\"\"\"
                if cuda.grid(1) == 0:
                    found = 0
                    for i in range(a.size):
                        if a[i] $sign limit:
                            found += 1
                    count[0] += found
            """,
        ),
    }
    hints = {
        "over_budget:atomics": (
            "How many lanes of a warp come to the atomic operation?",
            "A vote tells all lanes of a warp how each of them decided, with no memory "
            "between them.",
            "`ballot_sync` gives 32 bits and `popc` counts those that are set; one lane "
            "is enough to add that number.",
        ),
    }


class RaySphere(Write):
    """Look at some spheres from $from_where: ray i goes along z, at `x[i]` and `y[i]`. A
    row of `spheres` is the centre, x, y and z, and the radius. Write the depth z at
    which each ray meets the $nearest surface, or $miss where it meets none. A ray that
    only touches a sphere meets it.
    """

    stars, points, any_block = 3, 4, True
    choices = {"front": (True, False), "far": (1000, 500)}
    even, ragged = ((256, 6), (128, 3)), ((1, 1), (65, 2), (100, 7), (33, 5))
    budget, work = {"active": 0.95}, 2

    def inputs(self, rng, rays, count):
        # of 12 bits, so that their squares are exact, and no float16 holds them
        x, y = rng.integers(-5120, 5120, (2, rays)).astype(np.float32) / 256
        centres = rng.integers(-3072, 3073, (count, 3)) / 256 * (1, 1, 3) + (0, 0, 60)
        radii = rng.integers(2048, 4096, (count, 1)) / 256
        spheres = np.hstack([centres, radii]).astype(np.float32)
        # the first ray only touches a sphere, at an x that no other one reaches
        edge = spheres[(spheres[:, 0] + spheres[:, 3]).argmax()]
        x[0], y[0] = edge[0] + edge[3], edge[1]
        scale = np.float32(2.0 ** rng.integers(-12, 3))  # all surfaces before the miss
        x, y, spheres = x * scale, y * scale, spheres * scale
        return {"depth": Out(rays), "x": x, "y": y, "spheres": spheres}

    def launch(self, rays, count):
        return ceil(rays / 64), 64

    def spec(self, x, y, spheres):
        cx, cy, cz, radius = spheres.T
        inside = radius**2 - (x[:, None] - cx) ** 2 - (y[:, None] - cy) ** 2
        surface = self.towards * np.sqrt(np.maximum(inside, 0)) + cz
        depth = np.where(inside >= 0, surface, np.float32(self.miss))
        return getattr(depth, self.function)(axis=1)

    @property
    def towards(self):
        return -1 if self.front else 1

    @property
    def sign(self):
        return "-" if self.front else "+"

    @property
    def function(self):
        return "min" if self.front else "max"

    @property
    def miss(self):
        return self.far if self.front else -self.far

    @property
    def nearest(self):
        return "first" if self.front else "last"

    @property
    def from_where(self):
        return "the front" if self.front else "behind"

    answer = """
        @cuda.jit
        def ray_sphere(depth, x, y, spheres):
            \"\"\"Each thread follows one ray through all spheres.\"\"\"
            i = cuda.grid(1)
            if i < depth.size:
                best = float32($miss)
                for s in range(spheres.shape[0]):
                    dx, dy = x[i] - spheres[s, 0], y[i] - spheres[s, 1]
                    radius = spheres[s, 3]
                    inside = radius * radius - dx * dx - dy * dy
                    z = spheres[s, 2] $sign math.sqrt(max(inside, float32(0)))
                    best = $function(best, z if inside >= 0 else best)
                depth[i] = best
    """
    wrong = {
        "no guard": ("bounds", "if i < depth.size:", "if True:"),
        "spheres counted wrongly": (
            "bounds",
            "range(spheres.shape[0])",
            "range(spheres.shape[1])",
        ),
        "the first sphere alone": (
            "wrong",
            "range(spheres.shape[0])",
            "range(1)",
        ),
        "the last sphere, not the nearest": (
            "wrong",
            "best = $function(best, z if inside >= 0 else best)",
            "best = z if inside >= 0 else best",
        ),
        "the radius is not squared": ("wrong", "radius * radius", "radius"),
        "a ray that touches misses": ("wrong", "if inside >= 0", "if inside > 0"),
        "the other surface": ("wrong", "2] $sign ", "2] - $towards * "),
        "keeps the best in the output": (
            "uninitialised",
            "best = $function(best, z if inside >= 0 else best)",
            "depth[i] = $function(depth[i], z if inside >= 0 else depth[i])",
            "depth[i] = best",
            "pass",
        ),
        "the root in a branch": (
            "over_budget:active",
            "z = spheres[s, 2] $sign math.sqrt(max(inside, float32(0)))\n"
            "            best = $function(best, z if inside >= 0 else best)",
            "if inside >= 0:\n"
            "                z = spheres[s, 2] $sign math.sqrt(inside)\n"
            "                best = $function(best, z)",
        ),
    }
    hints = {
        "over_budget:active": (
            "Which lanes are idle on the line of the report, and how long is what they "
            "wait for?",
            "Where a branch is short, every lane may compute it and keep the result or "
            "not, as in `a if c else b`.",
            "Make the root safe for rays that miss, with `max`, and choose between its "
            "result and the depth of a miss.",
        ),
    }


class GiveUp(Write):
    """Each thread walks from its number to 1 and counts its steps; `onward`, a function
    for kernels to call, is one step. A warp gives up if none of its numbers has come to 1 after $limit steps: then
    it writes $limit for all of them. In any other warp each thread walks to its end.
    """

    stars, points, any_block = 3, 5, True
    choices = {"limit": (8, 7, 10)}
    even, ragged, work = (192, 64), (1, 33, 70, 150), 2
    setup = """
        ALL, LIMIT = 0xFFFFFFFF, $limit


        @cuda.jit(device=True)
        def onward(number):
            \"\"\"The number that follows on a walk.\"\"\"
            return number // 2 if number % 2 == 0 else 3 * number + 1
    """

    def inputs(self, rng, n):
        # too many for a table, small ones, which arrive early, and some that grow much
        numbers = np.append(np.arange(1, 400), rng.integers(400, 10**5, 400))
        numbers = np.append(numbers, np.repeat(BEYOND_INT32, 10))
        steps = np.array([walk_length(number) for number in numbers.tolist()])
        long, short = numbers[(60 < steps) & (steps < 120)], numbers[steps <= 30]
        chosen = rng.choice(long, n)
        for warp in range(ceil(n / 32)):
            group = chosen[32 * warp : 32 * warp + 32]
            if warp % 5 in (1, 2):  # one lane arrives just in time, or just too late
                lane, arrival = rng.integers(group.size), self.limit + warp % 5 - 1
                group[lane] = rng.choice(numbers[steps == arrival])
            if warp % 5 == 3:
                group[:] = rng.choice(short, group.size)
                group[rng.integers(group.size)] = rng.integers(2**39, 2**40)
        return {"out": Out(n, np.int32), "numbers": chosen}

    def launch(self, n):
        return ceil(n / 64), 64

    def spec(self, numbers):
        left, steps = numbers.copy(), np.zeros(numbers.size, np.int32)
        while (left > 1).any():
            steps += left > 1
            following = np.where(left % 2 == 0, left // 2, 3 * left + 1)
            left = np.where(left > 1, following, left)
        for warp in np.split(steps, range(32, steps.size, 32)):
            if (warp > self.limit).all():
                warp[:] = self.limit
        return steps

    answer = """
        @cuda.jit
        def give_up(out, numbers):
            \"\"\"Each thread walks to 1, unless its warp gives up.\"\"\"
            i, steps = cuda.grid(1), 0
            number = numbers[i] if i < numbers.size else 0
            for _ in range(LIMIT):
                if number > 1:
                    number = onward(number)
                    steps += 1
            if not cuda.all_sync(ALL, number > 1 or i >= numbers.size):
                while number > 1:
                    number = onward(number)
                    steps += 1
            if i < numbers.size:
                out[i] = steps
    """
    wrong = {
        "no guard": (
            "bounds",
            "numbers[i] if i < numbers.size else 0",
            "numbers[i]",
        ),
        "no guard at the end": ("bounds", "if i < numbers.size:", "if True:"),
        "one lane is enough to give up": ("wrong", "all_sync", "any_sync"),
        "lanes without a number are against it": (
            "tail",
            " or i >= numbers.size",
            "",
        ),
        "votes one step too early": (
            "wrong",
            "range(LIMIT)",
            "range(LIMIT - 1)",
        ),
        "votes one step too late": (
            "wrong",
            "range(LIMIT)",
            "range(LIMIT + 1)",
        ),
        "lanes that are there vote": (
            "barrier",
            "cuda.all_sync(ALL, number > 1 or i >= numbers.size)",
            "(number > 1 and cuda.all_sync(cuda.activemask(), number > 1))",
        ),
        "votes in a loop that lanes leave": (
            "wrong",
            """
            @cuda.jit
            def give_up(out, numbers):
                \"\"\"Walk, and ask the warp at the limit.\"\"\"
                i, steps = cuda.grid(1), 0
                number = numbers[i] if i < numbers.size else 0
                while number > 1:
                    if steps == LIMIT and cuda.all_sync(ALL, number > 1):
                        break
                    number = onward(number)
                    steps += 1
                if i < numbers.size:
                    out[i] = steps
            """,
        ),
        "walks to the end, and then votes": (
            "over_budget:work",
            """
            @cuda.jit
            def give_up(out, numbers):
                \"\"\"All lanes walk to the end before they vote.\"\"\"
                i, steps = cuda.grid(1), 0
                number = numbers[i] if i < numbers.size else 0
                while number > 1:
                    number = onward(number)
                    steps += 1
                if cuda.all_sync(ALL, steps > LIMIT or i >= numbers.size):
                    steps = LIMIT
                if i < numbers.size:
                    out[i] = steps
            """,
        ),
    }
    hints = {
        "wrong": (
            "Which lanes have left the loop by the time that the others vote?",
            "A vote takes place when all lanes that its mask names have come to it.",
            "Split the walk: $limit turns that all lanes go through, even those that "
            "have arrived, then the vote, then the rest.",
        ),
        "tail": (
            "What do lanes without a number say in the vote of the last warp?",
            "`all_sync` is true if all 32 lanes say yes, and a lane without a number "
            "takes part like any other.",
            "Let a lane without a number vote so that it does not change the outcome.",
        ),
    }


BEYOND_INT32 = 1783023, 2256639, 2674535  # whose walks reach 2,501,302,516


def walk_length(number):
    """The steps to 1 from a number."""
    steps = 0
    while number > 1:
        number = 3 * number + 1 if number % 2 else number // 2
        steps += 1
    return steps

"""A random kernel from a seed: its text, its launch, its arrays and its features.

Each is written twice: as a kernel, and as one thread of it for `njit`, which also notes
the turn of every loop around each store. Lines that only that one has end in `# njit`.
"""

from collections import Counter
from random import Random
from typing import NamedTuple

from tests.specimens.random_kernels import data, warps  # noqa: F401  fills its tables
from tests.specimens.random_kernels.blocks import declare, segment
from tests.specimens.random_kernels.statements import statement, store_to
from tests.specimens.random_kernels.writer import Writer

LAUNCHES = ((1, 32), (3, 40), (2, 64), (4, 33), (3, 96), (2, 100), (5, 32), (2, 1))
PLAIN_LAUNCH, PLAIN_SIZE = (3, 40), 101


class Program(NamedTuple):
    """What is launched, and what it was made of."""

    seed: int
    text: str
    thread: str  # the same for one thread, for njit; only of a plain one
    blocks: int
    threads: int
    n: int  # cells of what is read
    names: tuple  # of the arrays, in order
    features: Counter

    def arrays(self):
        """New arrays for a launch, equal each time."""
        make = data.plain_array if self.thread else data.array
        total = self.blocks * self.threads
        return [make(name, self.n, total, self.seed) for name in self.names]


def program(seed, without=()):
    """The kernel of a seed, without the features that are named."""
    choice = Random(f"launch {seed}")
    blocks, threads = choice.choice(LAUNCHES)
    total = blocks * threads
    guarded = choice.random() < 0.2
    n = max(8, total - choice.randint(1, threads)) if guarded else total + 8
    w = Writer(seed, threads, without=without)
    w.write("t = cuda.grid(1)", "tid = cuda.threadIdx.x", "bid = cuda.blockIdx.x")
    w.write("lane = cuda.laneid", f"members = min(32, {threads} - (tid - lane))")
    w.write("wm = (1 << members) - 1")
    declare(w)
    if guarded:
        w.features["early return of what is too many"] += 1
        w.write("if t >= n:", "    return")
        w.whole = w.whole and n >= total
    start(w)
    for _ in range(choice.randint(2, 5)):
        segment(w)
    for kind in "iuf":
        for cell, name in enumerate(w.variables[kind][-4:]):
            store_to(w, kind, f"t * 4 + {cell}", name)
    return made(seed, w, blocks, threads, n)


def plain_program(seed):
    """One whose threads do nothing together, and its twin for njit."""
    (blocks, threads), n = PLAIN_LAUNCH, PLAIN_SIZE
    w = Writer(seed, threads, plain=True)
    start(w)
    for _ in range(w.random.randint(2, 4)):
        statement(w)
    store_to(w, "f", "t * 4 + 1", "f_start + i_start")
    head = ["    t = cuda.grid(1)", "    lane = cuda.laneid", *GUARD]
    lines, w.lines = w.lines, [*head, *w.lines]
    names = ", ".join(w.arrays)
    thread = [f"def thread(t, lane, n, {names}, trace):", "    noted = 0", *lines]
    return made(seed, w, blocks, threads, n)._replace(thread="\n".join(thread))


GUARD = ("    if t >= n:", "        return")


def start(w):
    """Two variables to begin with."""
    for name, kind, first in (("f_start", "f", "0.25"), ("i_start", "i", "1")):
        w.line(f"{name} = {first}")
        w.variables[kind].append(name)


def made(seed, w, blocks, threads, n):
    lines = [line for line in w.lines if not line.endswith("# njit")]
    head = f"def kernel(n, {', '.join(w.arrays)}):"
    text = "\n".join([head, *lines])
    return Program(seed, text, "", blocks, threads, n, tuple(w.arrays), w.features)

"""Random kernels in which threads of a block, and lanes of a warp, meet: each block and
each warp by itself, whatever the others do. The oracle is a coroutine for each thread.
"""

import linecache
import random
from itertools import count

import numpy as np
import pytest
from numba import cuda, int64

from helpers import emulate
from thirty_two_lanes.emulator.machine import machine

FULL = 0xFFFFFFFF
THREAD, WARP, BLOCK = range(3)  # who agrees about a condition
CONDITIONS = {
    BLOCK: ("b % 2 == 0", "b > 1", "b == 0", "n % 3 == b % 3"),
    WARP: ("w == 0", "w % 2 == b % 2", "w > b"),
    THREAD: ("t % 3 == 1", "x % 2 == 0", "lane < 9", "t == 0"),
}
COUNTS = {
    BLOCK: ("b", "b % 3 + 1", "2"),
    WARP: ("w + 1", "(w + b) % 3"),
    THREAD: ("t % 4",),
}
LANES = ("lane ^ 5", "lane + 1", "7", "x", "31 - lane")


class Writer:
    """Writes a kernel and, with other words for where threads meet, its coroutine."""

    def __init__(self, seed):
        self.rng, self.kernel, self.coroutine = random.Random(seed), [], []
        self.loops = count()

    def line(self, depth, kernel, coroutine=None):
        self.kernel.append("    " * depth + kernel)
        self.coroutine.append("    " * depth + (coroutine or kernel))

    def block(self, depth, agree, budget):
        """Some statements, where threads agree about having come here."""
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth, agree, budget)

    def statement(self, depth, agree, budget):
        kinds = [self.compute, self.leave]
        kinds += [self.branch, self.loop] * 2 * (budget > 0)
        kinds += [self.shuffle, self.vote, self.syncwarp] * (agree >= WARP)
        kinds += [self.barrier, self.count, self.pass_on] * (agree == BLOCK)
        self.rng.choice(kinds)(depth, agree, budget)

    def compute(self, depth, agree, budget):
        self.line(depth, f"x = (x * 5 + t + {self.rng.randint(0, 9)}) % 9973")

    def _condition(self, table):
        kind = self.rng.choice(list(table))
        return kind, self.rng.choice(table[kind])

    def branch(self, depth, agree, budget):
        kind, condition = self._condition(CONDITIONS)
        self.line(depth, f"if {condition}:")
        self.block(depth + 1, min(agree, kind), budget - 1)
        if self.rng.random() < 0.5:
            self.line(depth, "else:")
            self.block(depth + 1, min(agree, kind), budget - 1)

    def loop(self, depth, agree, budget):
        kind, times = self._condition(COUNTS)
        self.line(depth, f"for k{next(self.loops)} in range({times}):")
        self.block(depth + 1, min(agree, kind), budget - 1)

    def leave(self, depth, agree, budget):
        _, condition = self._condition(CONDITIONS)
        self.line(depth, f"if {condition} and x % 5 < 2:")
        self.line(depth + 1, "out[i] = x")
        self.line(depth + 1, "return")

    def shuffle(self, depth, agree, budget):
        lane = self.rng.choice(LANES)
        self.line(
            depth,
            f"x += cuda.shfl_sync({FULL}, x, {lane})",
            f"x += yield 'shuffle', x, {lane}",
        )

    def vote(self, depth, agree, budget):
        self.line(
            depth,
            f"x += cuda.ballot_sync({FULL}, x % 3 == 0) & 255",
            "x += (yield 'ballot', x % 3 == 0) & 255",
        )

    def syncwarp(self, depth, agree, budget):
        self.line(depth, "cuda.syncwarp()", "yield ('syncwarp',)")

    def barrier(self, depth, agree, budget):
        self.line(depth, "cuda.syncthreads()", "yield ('barrier',)")

    def count(self, depth, agree, budget):
        self.line(
            depth, "x += cuda.syncthreads_count(x % 2)", "x += yield 'count', x % 2"
        )

    def pass_on(self, depth, agree, budget):
        self.line(depth, "s[t] = x")
        self.barrier(depth, agree, budget)
        self.line(depth, f"x += s[(t + {self.rng.randint(1, 40)}) % n]")
        self.barrier(depth, agree, budget)

    def source(self, name):
        """The kernel's source, and the coroutine's."""
        start = ["t, b, n = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockDim.x"]
        start += ["s = cuda.shared.array(96, int64)", "s[t] = 0", "i, x = b * n + t, t"]
        self.block(1, BLOCK, 3)
        self.line(1, "out[i] = x")
        place = ["w, lane = t // 32, t % 32"]
        start += [*place, "cuda.syncthreads()"]
        yield [f"def {name}(out):", *indented(start), *self.kernel]
        start = ["i, x = b * n + t, t", *place, "yield ('barrier',)"]
        head = f"def {name}(out, s, t, b, n):"
        yield [head, *indented(start), *self.coroutine]


def indented(lines):
    return ["    " + line for line in lines]


def made(lines, name):
    """A function of this source, which tracebacks and reports can show."""
    text, file = "\n".join(lines) + "\n", f"<meeting {name} {len(lines)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = {"cuda": cuda, "int64": int64}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def kernel_and_coroutine(seed):
    name = f"kernel_{seed}"
    kernel, coroutine = Writer(seed).source(name)
    return cuda.jit(made(kernel, name)), made(coroutine, name)


# ---------------------------------------------------------------- the oracle


def run_alone(coroutine, blocks, threads):
    """What the kernel stores, one block after the other, thread by thread."""
    out = np.full(blocks * threads, -1, np.int64)
    for block in range(blocks):
        s = np.zeros(threads, np.int64)
        lives = {t: coroutine(out, s, t, block, threads) for t in range(threads)}
        asks = {}
        answers = dict.fromkeys(lives)
        while lives:
            for thread, answer in answers.items():
                advance(thread, answer, lives, asks)
            answers = meetings(lives, asks)
            for thread in answers:
                del asks[thread]
    return out


def advance(thread, answer, lives, asks):
    """Run one thread until it waits again, or ends."""
    try:
        asks[thread] = lives[thread].send(answer)
    except StopIteration:
        del lives[thread]


def meetings(lives, asks):
    """The answers to those who meet: a warp or, if none does, the block."""
    for warp in {thread // 32 for thread in lives}:
        lanes = {t: asks[t] for t in lives if t // 32 == warp}
        if {ask[0] for ask in lanes.values()} <= {"shuffle", "ballot", "syncwarp"}:
            assert 1 == len({ask[0] for ask in lanes.values()})
            return {t: answered(t, lanes) for t in lanes}
    kinds = {ask[0] for ask in asks.values()}
    assert len(kinds) < 2
    total = sum(ask[1] for ask in asks.values() if ask[0] == "count")
    return {t: total if ask[0] == "count" else None for t, ask in asks.items()}


def answered(thread, lanes):
    """What a warp function gives one of the threads that are there."""
    what, *operands = lanes[thread]
    if what == "ballot":
        return sum(1 << t % 32 for t, ask in lanes.items() if ask[1])
    if what == "shuffle":
        source = thread // 32 * 32 + operands[1] % 32
        return lanes[source][1] if source in lanes else 0
    return None


def holds(seeds):
    for seed in seeds:
        kernel, coroutine = kernel_and_coroutine(seed)
        for blocks, threads in ((4, 64), (3, 80)):
            wanted = run_alone(coroutine, blocks, threads)
            for launch in (kernel, emulate(kernel, seed=seed)):
                out = np.full(blocks * threads, -1, np.int64)
                launch[blocks, threads](out)
                assert wanted.tolist() == out.tolist(), seed


@pytest.mark.filterwarnings("ignore:the barrier of line")
def test_blocks_and_warps_meet_by_themselves():
    """Loops and branches by block, warp and thread, early returns, and all together."""
    holds(range(6))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the barrier of line")
@pytest.mark.parametrize("first", range(6, 306, 25))
def test_more_blocks_and_warps_meet_by_themselves(first):
    """The same of 300 others."""
    holds(range(first, first + 25))


@pytest.mark.filterwarnings("ignore:the barrier of line")
@pytest.mark.parametrize("size", [1, 3])
def test_who_meets_does_not_depend_on_the_batch(size, monkeypatch):
    """Results and reports, of blocks that run together or one after the other."""
    kernel, _ = kernel_and_coroutine(4)
    out, alike = np.zeros((2, 5 * 64), np.int64)
    whole = emulate(kernel)[5, 64](out).to_dict()

    monkeypatch.setattr(machine, "BATCH_BLOCKS", size)

    assert whole == emulate(kernel)[5, 64](alike).to_dict()
    assert out.tolist() == alike.tolist()

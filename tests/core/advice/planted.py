"""Random kernels with one fault each: pieces that are right, of tiles, halos,
reductions, scans, updates, locks and guards, one after the other and in loops, in which
one line that has a mark is left out or replaced.

    #-          leaving the line out is a fault
    #= text     so is this text in its place; `|` begins another line of it
"""

import linecache
import random
from dataclasses import dataclass
from textwrap import indent

import numpy as np
from numba import cuda, float32, int32

WAIT = "cuda.syncthreads()  #- #= if t < $half:|    cuda.syncthreads()"
HEAD = """\
def planted(a, out, bins, best, total, lock, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    #- #= if i >= n:|    return
    x = a[i] if i < n else float32(0)
    y = float32(0)"""
TAIL = """\
    if i < n:  #= if i <= n: #= if True:
        out[i] = y"""
PIECES = {
    "tile": """\
tile[t] = x + $k
$wait
y += tile[(t + $k) % $threads]
$wait""",
    "halo": """\
halo[t + 1] = x
if t == 0:
    halo[0] = 0
    halo[$threads + 1] = 0
$wait
y += halo[t] + halo[t + 2]
$wait""",
    "guarded tile": """\
if i < n:
    part[t] = x
$wait
if i < n:
    y += part[(t + $k) % min($threads, n - cuda.blockIdx.x * $threads)]
$wait""",
    "reduction": """\
s[t] = x
$wait
step = $half
while step > 0:
    if t < step:
        s[t] += s[t + step]
    $wait
    step //= 2
y += s[0]
$wait""",
    "reduction upwards": """\
u[t] = x
$wait
step = 1
while step < $threads:
    if t % (2 * step) == 0:
        u[t] += u[t + step]
    $wait
    step *= 2
y += u[0]
$wait""",
    "scan": """\
scan[t] = x
$wait
far = 1
while far < $threads:
    z = float32(0)
    if t >= far:
        z = scan[t - far]
    $wait
    scan[t] += z
    $wait
    far *= 2
y += scan[t]""",
    "warp": """\
w[t] = x
$wait
if t < 32:
    z = w[(t + 16) % 32]
    cuda.syncwarp()  #-
    w[t] += z
    cuda.syncwarp()  #-
    z = w[(t + 8) % 32]
    cuda.syncwarp()  #-
    w[t] += z
$wait
y += w[t % 32]
$wait""",
    "first thread adds": """\
few[t] = x
$wait
if t == 0:
    for j in range(1, $threads):
        few[0] += few[j]
$wait
y += few[0]
$wait""",
    "two buffers": """\
both[0, t] = x
$wait
old, far = 0, 1
while far < $threads:
    z = both[old, t]
    if t >= far:
        z += both[old, t - far]
    old = 1 - old
    both[old, t] = z
    $wait
    far *= 2
y += both[old, t]
$wait""",
    "sum": """\
if t == 0:
    acc[0] = 0
$wait
cuda.atomic.add(acc, 0, x)  #= acc[0] += x
$wait
y += acc[0]
$wait""",
    "histogram": """\
k = i % 7
cuda.atomic.add(bins, k, 1)  #= bins[k] += 1 #= bins[k] = bins[k] + 1""",
    "smallest": """\
cuda.atomic.min(best, 0, i)  #= if i < best[0]:|    best[0] = i
cuda.atomic.max(best, 1, i)  #= best[1] = max(best[1], i)""",
    "place": """\
if i % 3 == 0:
    p = cuda.atomic.add(best, 2, 1)  #= p = best[2]|best[2] = p + 1
    y += p""",
    "lock": """\
if t == 0:
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()  #-
    total[0] += 1
    cuda.threadfence()  #-
    cuda.atomic.exch(lock, 0, 0)  #= lock[0] = 0""",
    "one stores": """\
if t == 0:  #= if True:
    one[0] = $k
$wait
y += one[0]
$wait""",
    "neighbour": """\
if i + 1 < n:  #= if i < n: #= if i + 1 <= n:
    y += a[i + 1]""",
    "before": """\
if i < n and i >= 3:  #= if i < n:
    y += a[i - 3]""",
}
ARRAYS = {
    "tile": "$threads", "halo": "$threads + 2", "part": "$threads", "s": "$threads",
    "u": "$threads", "scan": "$threads", "w": "$threads", "few": "$threads",
    "both": "(2, $threads)", "acc": "1", "one": "1",
}  # fmt: skip


@dataclass
class Planted:
    """A kernel with a fault, and its launch."""

    name: str
    text: str
    kernel: object
    launch: tuple
    count: int  # elements

    def fresh(self):
        """The arguments of one launch."""
        a = np.arange(1, self.count + 1, dtype=np.float32)
        whole = (np.zeros(size, np.int32) for size in (7, 3, 1, 1))
        return [a, np.zeros_like(a), *whole, self.count]


def planted(seed) -> list[Planted]:
    """The kernel of a seed as it is right, and with each fault, in a random order."""
    rng = random.Random(seed)
    threads, blocks = rng.choice([32, 64, 64, 128]), rng.choice([1, 2])
    count = threads * blocks - rng.choice([0, 3, threads // 2 - 1])
    lines = body(rng, threads)
    faults = [(n, text) for n, line in enumerate(lines) for text in marks(line)]
    rng.shuffle(faults)
    made = []
    for number, fault in enumerate([None, *faults]):
        text = "\n".join(written(lines, fault)) + "\n"
        name = f"planted {seed}.{number}"
        made.append(Planted(name, text, None, (blocks, threads), count))
    return made


def compiled(case) -> Planted:
    """The same, with its kernel."""
    file = f"{case.name.replace(' ', '_')}.py"
    linecache.cache[file] = len(case.text), None, case.text.splitlines(True), file
    scope = {"cuda": cuda, "float32": float32, "int32": int32}
    exec(compile(case.text, file, "exec"), scope)
    case.kernel = cuda.jit(scope["planted"])
    return case


def body(rng, threads):
    """The lines of a kernel, with their marks."""
    pieces = rng.sample(sorted(PIECES), rng.choice([1, 2, 2, 3]))
    text = "\n".join(PIECES[it] for it in pieces)
    declared = [
        f"{name} = cuda.shared.array({shape}, float32)"
        for name, shape in ARRAYS.items()
        if f"{name}[" in text
    ]
    if rng.random() < 0.5:
        text = f"for r in range({rng.choice([2, 3])}):\n{indent(text, '    ')}"
    if rng.random() < 0.2:
        text = f"if n > 0:\n{indent(text, '    ')}"
    whole = "\n".join([HEAD, indent("\n".join([*declared, text]), "    "), TAIL])
    values = {
        "$wait": WAIT,
        "$half": threads // 2,
        "$threads": threads,
        "$k": rng.randrange(1, threads),
    }
    for name, value in values.items():
        whole = whole.replace(name, str(value))
    return whole.split("\n")


def marks(line) -> list:
    """The texts that are a fault in place of a line."""
    _, *found = line.replace("#-", "#= ").split("#=")
    return [it.strip() if it.strip() else "" for it in found]


def written(lines, fault):
    """The lines without their marks, and with one fault."""
    for number, line in enumerate(lines):
        space = line[: len(line) - len(line.lstrip())]
        plain = line.split("#=")[0].split("#-")[0].rstrip()
        if fault and fault[0] == number:
            new = [space + it for it in fault[1].split("|") if it]
            plain = "\n".join(new) or f"{space}pass"
        if plain.strip():
            yield plain

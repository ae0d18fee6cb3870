"""One more exercise of lesson 34: three kernels whose faults no page tells."""

from dataclasses import dataclass
from textwrap import dedent, indent

import numpy as np

from helpers import emulate
from helpers.exercises import sources
from helpers.exercises.exercise import Predict

FLIP = '''
    @cuda.jit
    def flip(out, a):
        """Each block turns its 64 numbers around, or those that there are."""
        tile = cuda.shared.array(64, float32)
        i, thread = cuda.grid(1), cuda.threadIdx.x
        last = min(64 * (cuda.blockIdx.x + 1), a.size) - 1
        if i <= last:
            tile[thread] = a[i]
            cuda.syncthreads()
            out[i] = tile[last - i]
'''
BLUR = '''
    @cuda.jit
    def blur(out, a):
        """Each thread averages its number with its right neighbour's, three times."""
        tile = cuda.shared.array(256, float32)
        thread, right = cuda.threadIdx.x, (cuda.threadIdx.x + 1) % a.size
        tile[thread] = a[thread]
        for _ in range(3):
            cuda.syncthreads()
            tile[thread] = (tile[thread] + tile[right]) / float32(2)
        out[thread] = tile[thread]
'''
TOTALS = '''
    @cuda.jit
    def totals(out, a):
        """Each block adds up its numbers: the lanes of each warp, then the warps."""
        sums = cuda.shared.array(32, float32)
        i, thread = cuda.grid(1), cuda.threadIdx.x
        total = a[i] if i < a.size else float32(0)
        for step in (16, 8, 4, 2, 1):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        if thread % 32 == 0:
            sums[thread // 32] = total
        cuda.syncthreads()
        if thread == 0:
            for warp in range(1, 32):
                total += sums[warp]
            out[cuda.blockIdx.x] = total
'''
EDGES = '''
    @cuda.jit
    def edges(out, image):
        """Mark each pixel that is not as the one above it and the one on its left."""
        col, row = cuda.grid(2)
        if row < image.shape[0] and col < image.shape[1]:
            here = image[row, col]
            left = image[row, col - 1] if col > 0 else here
            above = image[row - 1, col]
            out[row, col] = here != left or here != above
'''
BRIGHTER = '''
    @cuda.jit
    def brighter(out, before, after):
        """By how much each pixel has become brighter, or darker, if it is negative."""
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            was, is_now = before[row, col], after[row, col]
            difference = is_now - was
            out[row, col] = difference
'''
WARNINGS = "wrap", "overflow"
FLOATS = np.arange(100, dtype=np.float32)
IMAGE = np.full((8, 40), 200, np.uint8)


@dataclass(frozen=True)
class Wrong:
    """A kernel with a fault, how it is launched, and a launch that shows the fault."""

    text: str
    told: str
    launch: tuple
    arrays: tuple


KERNELS = {
    "flip": Wrong(
        FLIP,
        "`[blocks, 64]`, with a thread for each number of `a`; `out` is as long",
        (2, 64),
        (np.zeros(100, np.float32), FLOATS),
    ),
    "blur": Wrong(
        BLUR,
        "`[1, n]`, for `n` numbers in `a` and `out`, at most 256; the last one's right "
        "neighbour is the first",
        (1, 64),
        (np.zeros(64, np.float32), FLOATS[:64]),
    ),
    "totals": Wrong(
        TOTALS,
        "`[blocks, threads]`, with a thread for each number of `a`; `threads` is a "
        "multiple of 32, and `out` has a number for each block",
        (1, 64),
        (np.zeros(1, np.float32), FLOATS[:64]),
    ),
    "edges": Wrong(
        EDGES,
        "`[(2, 1), (32, 8)]`, for an image of at most 8 rows and 64 columns; where a "
        "pixel has no neighbour, it does not differ",
        ((2, 1), (32, 8)),
        (np.zeros((8, 40), np.uint8), IMAGE),
    ),
    "brighter": Wrong(
        BRIGHTER,
        "`[(2, 1), (32, 8)]`, for images of uint8, at most 8 rows and 64 columns; "
        "`out` is int8",
        ((2, 1), (32, 8)),
        (np.zeros((8, 40), np.int8), IMAGE // 100, IMAGE),
    ),
}


class ThreeKernels(Predict):
    """Each of these kernels has one fault by CUDA's rules: the answers may be right
    all the same. Copy it into a cell of its own, launch it, doubt it, and find the
    fault. For each, answer with the number of the *line* at which it goes wrong, where
    `@cuda.jit` is line 1: that of the access, of the barrier or, in a race, of the
    store. And with the *kind* of the fault.

    $listing
    """

    stars, points = 2, 4
    options = "race", "barrier", "uninitialised", "index", "type", "sectors", "conflict"
    choices = {
        "picked": (
            ("totals", "edges", "flip"),
            ("blur", "brighter", "totals"),
            ("flip", "blur", "edges"),
            ("brighter", "flip", "blur"),
        )
    }
    why = (
        "Is your number that of a report in whose cell `@cuda.jit` stands first? A fault "
        "that no launch shows is still there: try others."
    )
    hints = {
        "wrong": (
            "Which launches have you tried: one block and several, full ones and one "
            "that is not, 32 threads and 64, large values?",
            "Compare each result with NumPy's, then read the report from the top.",
            "What can give a wrong answer stands first in a report; what only costs "
            "time is not the fault here.",
        )
    }

    @property
    def listing(self):
        return "\n\n".join(map(self.told, "ABC", self.picked))

    def told(self, key, name):
        """A kernel's text, and how it is launched."""
        it = KERNELS[name]
        return f"{key}, launched with {it.told}:\n\n{indent(plain(it), '    ')}"

    def truth(self):
        return {
            word: value
            for key, name in zip("ABC", self.picked, strict=True)
            for word, value in zip(
                (f"line of {key}", f"kind of {key}"), fault_of(name), strict=True
            )
        }

    wrong = {
        "counted from `def`": lambda self: {
            key: told if isinstance(told, str) else told - 1
            for key, told in self.truth().items()
        },
        "each fault is a race": lambda self: {
            key: "race" if isinstance(told, str) else told
            for key, told in self.truth().items()
        },
        "what costs time is the fault": lambda self: {
            key: "sectors" if isinstance(told, str) else told
            for key, told in self.truth().items()
        },
    }


def plain(wrong):
    """A kernel's text as a cell would have it."""
    return dedent(wrong.text).strip()


def fault_of(name):
    """The line of a kernel's fault, and its kind, by a report that shows it."""
    it = KERNELS[name]
    kernel = sources.kernel_of(plain(it) + "\n", name)
    run = emulate(kernel)[it.launch](*map(np.copy, it.arrays))
    warned = {kind: [w for w in run.warnings if w.kind == kind] for kind in WARNINGS}
    found = {
        "race": [race.second for race in run.races],
        "barrier": run.barriers,
        "uninitialised": run.uninitialised,
        "index": warned["wrap"],
        "type": warned["overflow"],
    }
    return next((at[0].line, kind) for kind, at in found.items() if at)

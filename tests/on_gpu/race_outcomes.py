"""What the racy kernels of the lessons on barriers and blocks give on a GPU, launch by
launch.

    python -m tests.on_gpu.race_outcomes

Each launch has new numbers, and finds in shared memory what another kernel left there:
a right answer is then never that of the launch before. Writes to `tests/recorded/` in
how many launches the answer was wrong; the lessons say so, and their claims read it.
"""

import json
import runpy
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np
from numba import cuda, int32

from tests.paths import RECORDED, ROOT
from tests.specimens.race_variants import (
    add_up,
    letter_unseen,
    line_up,
    make_relay_by_the_block,
    make_rotate_by_a_constant,
    make_total,
    relay_late,
    rotate_by_a_constant_late,
    rotate_late,
    total_of_sectors,
    total_of_stores,
)

COMMAND = "python -m tests.on_gpu.race_outcomes"
FILE = RECORDED / "race_outcomes.json"
LESSONS = "15_barriers_and_races", "19_from_block_to_block"
LAUNCHES = 1000
CELLS = 12288  # all the shared memory that a block has without asking
TWICE = False, True


def main():
    """Ask the GPU, and write what it says."""
    from datetime import date

    from helpers import device
    from helpers.measuring.timing import versions

    if not device.has_gpu:
        sys.exit("this needs an NVIDIA GPU")
    about = {"command": COMMAND, "gpu": device.name, "versions": versions()}
    about |= {"date": date.today().isoformat(), "launches": LAUNCHES}
    ran = (runpy.run_path(str(ROOT / "lessons" / f"{name}.py")) for name in LESSONS)
    text = json.dumps(about | outcomes(*ran), indent=1, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")


def recorded():
    """What a GPU gave."""
    return json.loads(FILE.read_text("utf-8"))


def outcomes(*left):
    """In how many launches what was wrong, or came out, of what the lessons left."""
    it, blocks = (SimpleNamespace(**names) for names in left)
    families = (
        *(rotations(it), within_warps(it), relays(it), late(it)),
        *(totals(), letters(blocks)),
    )
    return {
        "wrong": {name: n for family in families for name, n in family.items()},
        "relays by the block": relays_by_the_block(),
        "counted": counted(blocks),
        "winners": winners(it),
        "orders": orders(),
        "different sums": different_sums(),
    }


# ---------------------------------------------------------------- within a block


@cuda.jit
def leave_behind(sink):
    """Fill shared memory with what no launch stores."""
    left = cuda.shared.array(CELLS, int32)
    for i in range(cuda.threadIdx.x, CELLS, cuda.blockDim.x):
        left[i] = -7 - i
    cuda.syncthreads()
    if left[7919 * cuda.threadIdx.x % CELLS] > 0:
        sink[0] = 1


def wrong(kernel, threads, spec, length=None):
    """In how many launches of a block on so many numbers the answer was wrong."""
    rng = np.random.default_rng(1)
    inputs = [rng.permutation(length or threads).astype(np.float32) for _ in range(8)]
    specified = [spec(each) for each in inputs]
    inputs = [cuda.to_device(each) for each in inputs]
    out = cuda.device_array(len(specified[0]), np.float32)
    sink = cuda.to_device(np.zeros(1, np.int32))
    everywhere = 4 * cuda.get_current_device().MULTIPROCESSOR_COUNT
    found = 0
    for turn in range(LAUNCHES):
        leave_behind[everywhere, 256](sink)
        kernel[1, threads](out, inputs[turn % 8])
        found += not np.array_equal(out.copy_to_host(), specified[turn % 8])
    return found


def rotations(it):
    """A tile without its barrier; the same with a number in place of `a.size`; a line
    that loads and stores; a barrier that some threads miss.
    """
    found = {}
    for threads in (64, 1024):
        by_a_constant = make_rotate_by_a_constant(threads)
        in_place = it.rotate_in_place_wrong
        for kernel in it.rotate_wrong, by_a_constant, in_place, it.rotate:
            name = f"{kernel.py_func.__name__} {threads}"
            found[name] = wrong(kernel, threads, it.rotate_spec)
    missed = wrong(it.rotate_some_wrong, 64, it.rotate_spec, length=40)
    return found | {"rotate_some_wrong": missed}


def within_warps(it):
    """Lanes that part, and do not wait for one another, or do."""
    return {
        kernel.py_func.__name__: wrong(kernel, 256, it.hand_over_spec)
        for kernel in (it.hand_over_wrong, it.hand_over)
    }


def relay_spec(a):
    """The sums of a relay of 1,024 threads."""
    return np.roll(a.reshape(-1, 1024), -1, axis=1).sum(axis=0)


def relays(it):
    """A loop with both of its barriers, with one, and with none."""
    return {
        f"relay {tiles} {before} {after}": wrong(
            it.make_relay(before, after), 1024, relay_spec, 1024 * tiles
        )
        for tiles in (4, 32)
        for before in TWICE
        for after in TWICE
    }


def late(it):
    """Where nothing but time differs: all threads wait before their loads, or one warp
    before its store, or before its loads.
    """
    found = {
        kernel.py_func.__name__: wrong(kernel, 64, it.rotate_spec)
        for kernel in (rotate_by_a_constant_late, rotate_late)
    }
    return found | {"relay_late": wrong(relay_late, 1024, relay_spec, 32 * 1024)}


def relays_by_the_block():
    """The same with one of its barriers, and with the block's size for a number."""
    found = {
        f"{tiles} {before} {not before}": wrong(
            make_relay_by_the_block(before, not before),
            1024,
            relay_spec,
            1024 * tiles,
        )
        for tiles in (4, 32)
        for before in TWICE
    }
    return {"launches": LAUNCHES, "wrong": found}


def winners(it):
    """Which of eight warps stored last to cell 0, and how often."""
    a = cuda.to_device(np.arange(256, dtype=np.float32))
    out, found = cuda.device_array(256, np.float32), Counter()
    for _ in range(LAUNCHES):
        it.last_wins[1, 256](out, a)
        found[int(out.copy_to_host()[0]) // 32] += 1
    return found


# ---------------------------------------------------------------- between blocks


def zeros(size, dtype=np.int32):
    """Zeros on the GPU."""
    return cuda.to_device(np.zeros(size, dtype))


def counted(it):
    """How many of 4,096 threads were counted without an atomic, and how often."""
    found = Counter()
    for _ in range(LAUNCHES):
        count = zeros(1)
        it.count_wrong[16, 256](count)
        found[int(count.copy_to_host()[0])] += 1
    return found


def totals():
    """The last block's total, with both fences, with one, and with none; and with none
    where the blocks only store, and where each part has a sector of its own.
    """
    found = {
        f"total {before} {after}": wrong_totals(make_total(before, after))
        for before in TWICE
        for after in TWICE
    }
    found["total of stores"] = wrong_totals(total_of_stores)
    return found | {"total of sectors": wrong_totals(total_of_sectors, apart=8)}


def wrong_totals(kernel, blocks=8, apart=1):
    """In how many launches the total was wrong."""
    rng, found = np.random.default_rng(1), 0
    for _ in range(LAUNCHES):
        a = rng.integers(1, 100, blocks).astype(np.float32)
        out, parts = zeros(1, np.float32), zeros(apart * blocks, np.float32)
        kernel[blocks, 1](out, parts, zeros(1), cuda.to_device(a))
        found += bool(out.copy_to_host()[0] != a.sum())
    return found


def letters(it):
    """How often the old number was read, without the reader's fence and with it; and
    without, where the reader has not looked before.
    """
    kernels = [it.make_letter(after) for after in TWICE]
    read = {f"letter {after}": old_letters(kernels[after]) for after in TWICE}
    return read | {"letter unseen": old_letters(letter_unseen)}


def old_letters(kernel):
    """In how many launches the old number was read."""
    found = 0
    for _ in range(LAUNCHES):
        out = zeros(1)
        kernel[2, 1](out, zeros(2), zeros(1))
        found += int(out.copy_to_host()[0] != 42)
    return found


def orders(blocks=16):
    """How often blocks drew their tickets in ascending order, and which block was first
    or last how often.
    """
    ascending, first, last = 0, Counter(), Counter()
    for _ in range(LAUNCHES):
        places = zeros(blocks)
        line_up[blocks, 256](places, zeros(1))
        drawn = places.copy_to_host().tolist()
        ascending += drawn == sorted(drawn)
        first[drawn[0]] += 1
        last[drawn[-1]] += 1
    ends = {"first": first, "last": last}
    return {"blocks": blocks, "ascending": ascending} | ends


def different_sums(numbers=2**16):
    """How many different sums of the same floats come out, added up by atomics."""
    a = np.random.default_rng(1).random(numbers, dtype=np.float32)
    a, found = cuda.to_device(a), set()
    for _ in range(LAUNCHES):
        out = zeros(1, np.float32)
        add_up[numbers // 256, 256](out, a)
        found.add(float(out.copy_to_host()[0]))
    return len(found)


if __name__ == "__main__":
    main()

"""What the lesson says of its counts and measurements, and when it is true."""

from helpers import assemble, emulate, exercise
from tests.lessons.claims import about


def saved(it, name, of):
    """The part of another rung's time that a rung saves."""
    return 1 - it.times[name].median_us / it.times[of].median_us


def counted(it, name, counter):
    return it.times[name].counters[counter]


def waits(it, name, reason):
    """The share of a reason in what a rung's warps waited for."""
    return it.times[name].waits.get(reason, 0)


def longest_wait(it, name):
    return next(iter(it.times[name].waits))


def per_32(it, name):
    """The instructions of a warp for 32 elements."""
    return counted(it, name, "instructions") / (it.N / 32)


def additions(it, name):
    """Those of a tile of 1,024 elements."""
    return it.tile_runs[name].operations.float32 / 4


def conflicts(it, width):
    """The bank conflicts of a tile that is scanned by two sweeps."""
    return it.count(it.make_sweeping(width), 512).bank_conflicts.conflicts / 4


def banks(width, step):
    """The banks that a warp loads from on the left, in an upward step."""
    lefts = (2 * step * (lane + 1) - 1 - step for lane in range(32))
    return {(width * (left // 32) + left % 32) % 32 for left in lefts}


def scanned(it, name):
    """What the compiler makes of a rung."""
    arrays = () if name in it.tile_runs else it.state
    return assemble(it.kernels[name])[4, 256](it.small, it.small, *arrays)


def sums(it):
    """The time of the three launches together."""
    return sum(launch.median_us for launch in it.launches)


def held_kb(fours, threads, blocks):
    return fours * 16 * threads * blocks / 1024


def by_turns(it):
    """How far the times that were recorded by turns are from the others, at most."""
    return max(abs(it.ladder[name] / m.median_us - 1) for name, m in it.times.items())


CLAIMS = {
    "thread 32 must load cell 16 before thread 16 adds to it": lambda it: (
        emulate(it.scan_in_place_wrong)[4, 1024](it.dst[:4096] * 0, it.small)
        .races[0].kind == "WAR"
    ),
    "10 · 1,024 − 1,023 = 9,217 times": lambda it: (
        9217 == 10 * 1024 - 1023 == additions(it, "doubling")
    ),
    "The sweeps need 2,036 additions instead of 9,217": lambda it: (
        [2036, 9217] == [additions(it, "sweeps"), additions(it, "doubling")]
    ),
    "and fewer than half of the requests, but these take twice as many wavefronts": (
        lambda it: (
            it.swept.bank_conflicts.requests < it.doubled.bank_conflicts.requests / 2
            and round(
                it.swept.bank_conflicts.wavefronts
                / it.doubled.bank_conflicts.wavefronts
            )
            == 2
        )
    ),
    "every eighth element, no two in one bank": lambda it: 32 == len(banks(33, 4)),
    "Of the 915 bank conflicts of a tile, 52 are left": lambda it: (
        [915, 52] == [conflicts(it, 32), conflicts(it, 33)]
    ),
    "16: two words in each, so a request takes 2 wavefronts": lambda it: (
        16 == len(banks(34, 4))
    ),
    "A tile has 257 bank conflicts then, instead of 52": lambda it: (
        257 == conflicts(it, 34)
    ),
    "One barrier instead of 21, and 64 requests instead of 277": lambda it: (
        [1, 21] == [it.tile_runs[name].waits.block for name in ("shuffles", "sweeps")]
        and [256, 1108]
        == [
            it.tile_runs[name].bank_conflicts.requests
            for name in ("shuffles", "sweeps")
        ]
    ),
    "there are 9,280 additions": lambda it: 9280 == additions(it, "shuffles"),
    "take a quarter of the requests": lambda it: (
        it.tile_runs["fours"].bank_conflicts.requests
        == it.tile_runs["shuffles"].bank_conflicts.requests / 4
    ),
    "*sweeps* make a fifth of the additions but take 14% longer": lambda it: (
        about("0.2", additions(it, "sweeps") / additions(it, "doubling"))
        and about("14%", -saved(it, "sweeps", "doubling"))
    ),
    "bank conflicts keep the data path 92.5% busy": lambda it: (
        about("92.5", counted(it, "sweeps", "l1_data_percent"))
        and counted(it, "sweeps", "shared_load_conflicts")
        > 10 * counted(it, "padded", "shared_load_conflicts")
    ),
    "*padded* takes 41% less time than that": lambda it: about(
        "41%", saved(it, "padded", "sweeps")
    ),
    "Now 86% of the issue slots are used": lambda it: about(
        "86", counted(it, "padded", "issue_percent")
    ),
    "two sweeps need 138 instructions for 32 elements, a doubling 104": lambda it: (
        about("138", per_32(it, "padded")) and about("104", per_32(it, "doubling"))
    ),
    "*shuffles* need 64 instructions and one barrier": lambda it: about(
        "64", per_32(it, "shuffles")
    ),
    "and still wait for memory most": lambda it: (
        longest_wait(it, "shuffles") == "global or local memory"
    ),
    "need 25 instructions": lambda it: about("25", per_32(it, "fours")),
    "They reach 98% of the copy's rate": lambda it: about(
        "98%", it.times["fours"].share_of_copy
    ),
    "the launches take as long as their bytes predict, within 1%": lambda it: (
        abs(sums(it) / (sum(it.moved) * it.copy_us / 2) - 1) < 0.01
        and abs(sum(it.moved) - 3) < 0.02
    ),
    "so this local array lies in registers": lambda it: all(
        scanned(it, name).stack == 0 for name in ("fours", "larger tiles")
    ),
    "within 3% of those above": lambda it: by_turns(it) < 0.03,
    "8 × 16 × 512 × 2 bytes, 128 KB": lambda it: 128 == held_kb(8, 512, 2),
    "Take 12 fours in 256 threads, 48 KB a block": lambda it: 48 == held_kb(12, 256, 1),
    "Both errors are far below their bounds, and the scan's is the smaller one": (
        lambda it: (
            100 * it.errors["one launch"] < 17 + 7 * it.parts
            and 100 * it.errors["a loop"] < it.a.size
            and it.errors["one launch"] < it.errors["a loop"]
        )
    ),
    "it is f + 13 until a tile has its sum, 7 for each tile": lambda it: (
        it.errors["one launch"] < 17 + 7 * it.parts
    ),
    "Which two lines must acquire and release?": lambda it: (
        2 == exercise("running_totals").lines
    ),
    "The [assignment](assignments/26_scan.ipynb) has 4 exercises": lambda it: True,
    "Ask for the words of 32 tiles": lambda it: all(
        not run.races and not run.barriers for run in it.runs
    ),
    "Three launches always give the same bits": lambda it: (
        all(not run.races for run in it.three)
    ),
    "one launch moves a third less than three and takes as long, within 2%": (
        lambda it: (
            0.65 < it.times["one by one"].traffic["memory"] / 12 / it.N < 0.67
            and abs(it.times["one by one"].median_us / sums(it) - 1) < 0.02
            and abs(it.ladder["one by one"] / it.ladder["three launches"] - 1) < 0.02
        )
    ),
    "32 tiles at a time take 8% less": lambda it: about(
        "8%", saved(it, "32 at a time", "one by one")
    ),
    "Its other warps wait at the barrier for the one that looks back": lambda it: (
        longest_wait(it, "32 at a time") == "a barrier"
    ),
    "and memory is 64% busy": lambda it: about(
        "64", counted(it, "32 at a time", "memory_percent")
    ),
    "192 KB instead of 48 save 33%": lambda it: about(
        "33%", 1 - it.held[4].median_us / it.held[1].median_us
    ),
    "save another 1%": lambda it: about(
        "1%", saved(it, "larger tiles", "more in flight")
    ),
    "Memory is 73% busy then, and moves as many bytes as for a copy": lambda it: (
        about("73", counted(it, "larger tiles", "memory_percent"))
        and abs(it.times["larger tiles"].traffic["memory"] / 8 / it.N - 1) < 0.02
    ),
    "six sweeps over the tile, with a barrier before each": lambda it: (
        6 == sum(step.get("e") == "pass" for step in it.film.record()["steps"])
    ),
    "warp 0 adds to cell 31 in the first sweep, and thread 32 then loads": lambda it: (
        [(1, 31, "stores"), (1, 32, "loads")]
        == [(row[1], *row[3:5]) for row in it.film.cells("tile", 31)][2:4]
    ),
}

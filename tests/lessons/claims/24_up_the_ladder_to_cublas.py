"""What the lesson says of its counts and times, and when it is true."""

from helpers import assemble, baseline
from tests.lessons.claims import about


def time(it, name):
    return it.timed[name].median_us


def saved(it, name, of):
    """The part of another rung's time that a rung saves."""
    return 1 - time(it, name) / time(it, of)


def share(it, name):
    """A rung's share of cuBLAS's speed."""
    return time(it, "cuBLAS") / time(it, name)


def reached(it, name):
    """The share of the peak that a rung reached."""
    return it.timed[name].gflop_per_s / it.PEAK / 100


def instructions(it, name):
    return it.each(name, "instructions")


def wavefronts(it, name):
    return it.each(name, *it.SHARED)


def waits(it, name, why):
    """The cycles that a warp waits for something at each instruction."""
    return it.profiled[name].counters["stalls"][why]


def kept(it, name):
    """The share of FFMA that keep a number for the next."""
    return it.inside(name)[1] / 100


def fused(it, name):
    """The FFMA in a rung's machine code."""
    return assemble(it.RUNGS[name][0])[it.launch(name)](*it.big).opcodes["FFMA"]


def allowed(it):
    """What the counts of the rungs with both tiles by rows allow, in % of the peak."""
    names = list(it.RUNGS)
    return [it.most[name] for name in names[names.index("A turned") :]]


def twin(name):
    """The time of a rung in CUDA C++."""
    return baseline(f"CUDA C++ {name} 4096").median_us


def of_library(it, size):
    """The share of cuBLAS's rate that any size reaches."""
    return it.theirs[size].median_us / it.ours[size].median_us


def sides(size):
    """The m, k and n of a size's words."""
    found = [int(side) for side in size.split(" × ")]
    return found if len(found) == 3 else found * 3


CLAIMS = {
    "a tiled product with a sixth of cuBLAS's speed": lambda it: (
        1 / 7 < share(it, "64-bit indices") < 1 / 5.5
    ),
    "to one that is as fast as cuBLAS": lambda it: share(it, "16 steps") > 1,
    "1.57 and not 2.06": lambda it: (
        about("1.57", wavefronts(it, "32-bit indices"))
        and about("2.06", it.counted["32-bit indices"])
    ),
    "15% fewer instructions with *32-bit indices* save only 5% of the time": (
        lambda it: about(
            "15%",
            1
            - instructions(it, "32-bit indices") / instructions(it, "64-bit indices"),
        )
        and about("5%", saved(it, "32-bit indices", "64-bit indices"))
    ),
    "4.8 instructions, which take as long as their wavefronts": lambda it: (
        about("4.8", instructions(it, "8 × 1 sums"))
        and 0.95 < instructions(it, "8 × 1 sums") / 4 / wavefronts(it, "8 × 1 sums")
        and instructions(it, "8 × 1 sums") / 4 / wavefronts(it, "8 × 1 sums") < 1.05
    ),
    "*8 × 8 sums* need 1.7, and hardly any wavefronts": lambda it: (
        about("1.7", instructions(it, "8 × 8 sums"))
        and wavefronts(it, "8 × 8 sums") < 0.3
    ),
    "The squares' conflicts cost wavefronts, but instructions fall": (
        lambda it: wavefronts(it, "16 bytes") > wavefronts(it, "8 × 8 sums")
        and instructions(it, "16 bytes") < instructions(it, "8 × 8 sums")
        and it.profiled["16 bytes"].counters["shared_load_conflicts"] > 0
    ),
    "the machine code has 64 `FFMA`, those of one step": lambda it: (
        fused(it, "16 bytes") == 64 and fused(it, "written out") == 8 * 64
    ),
    "instructions fall, *written out* to 1.1": lambda it: about(
        "1.1", instructions(it, "written out")
    ),
    "Now conflicts are the limit; *warp tiles* end them": lambda it: (
        wavefronts(it, "written out") > instructions(it, "written out") / 4
        and it.profiled["warp tiles"].counters["shared_load_conflicts"]
        < 0.01 * it.profiled["written out"].counters["shared_load_conflicts"]
    ),
    "a multiprocessor holds one block instead of two": lambda it: (
        it.profiled["8 × 16 sums"].counters["occupancy_percent"] < 13
        and it.profiled["two halves"].counters["occupancy_percent"] > 20
    ),
    "The GPU counts as many wavefronts as the emulator, within 2%": lambda it: all(
        abs(wavefronts(it, name) / it.wavefronts(name, 16) - 1) < 0.02
        for name in ("A turned", "two halves", "8 × 16 sums")
    ),
    "*A turned* saves some wavefronts, and no time": lambda it: (
        wavefronts(it, "A turned") < wavefronts(it, "warp tiles")
        and saved(it, "A turned", "warp tiles") < 0.01
    ),
    "*two halves* saves 11% of the time": lambda it: about(
        "11%", saved(it, "two halves", "A turned")
    ),
    "*8 × 16 sums* saves 5%, *snake* another 4%, and *16 steps* 6%": lambda it: (
        about("5%", saved(it, "8 × 16 sums", "two halves"))
        and about("4%", saved(it, "snake", "8 × 16 sums"))
        and about("6%", saved(it, "16 steps", "snake"))
    ),
    "The counts allowed 86 to 91% of the peak all the way": lambda it: (
        about("86", min(allowed(it))) and about("91", max(allowed(it)))
    ),
    "promises blocks of at most 256 threads, two of which should fit": (
        lambda it: (256, 2) == it.multiply_squares.targetoptions["launch_bounds"]
    ),
    "on a multiprocessor: at most 128 registers a thread": lambda it: (
        65_536 == 128 * 256 * 2
        and all(
            it.inside(name)[0] <= 128
            for name, (kernel, *_) in it.RUNGS.items()
            if kernel.targetoptions.get("launch_bounds") == (256, 2)
        )
    ),
    "waiting for memory ends: 0.72 cycles at each instruction become 0.02": (
        lambda it: about("0.72", waits(it, "A turned", "long_scoreboard"))
        and about("0.02", waits(it, "two halves", "long_scoreboard"))
    ),
    "With the *snake* more `FFMA` keep a number": lambda it: (
        kept(it, "snake") > kept(it, "8 × 16 sums") + 0.05
    ),
    "fall from 0.28 cycles to 0.19, and with *16 steps* to 0.14": lambda it: all(
        about(said, waits(it, name, "dispatch_stall"))
        for said, name in (
            ("0.28", "8 × 16 sums"),
            ("0.19", "snake"),
            ("0.14", "16 steps"),
        )
    ),
    "All sizes reach at least 92% of cuBLAS, and most take less time": lambda it: (
        all(of_library(it, size) > 0.92 for size in it.SIZES)
        and sum(of_library(it, size) > 1 for size in it.SIZES) > len(it.SIZES) / 2
    ),
    "unrolls the loop over k: 64 `FFMA` instead of 16": lambda it: (
        fused(it, "8 × 1 sums") == 16
        and twin("columns") < 0.7 * time(it, "8 × 1 sums")
    ),
    "Our 512 blocks take 132 multiprocessors four rounds, where 3.88 would do": (
        lambda it: it.launch("16 steps")[0][0] * it.launch("16 steps")[0][1] == 512
        and about("3.88", 512 / 132)
    ),
    "These two and 4097 × 4099 get small ones": lambda it: (
        {(3001, 3001), (1000, 1000), (4097, 4099)}
        == {
            (m, n)
            for m, _, n in map(sides, it.SIZES)
            if it.tile_height(m, n) == 64
        }
    ),
    "At 3001, 12 × 24 large tiles would take 132 multiprocessors": lambda it: (
        it.launch("16 steps", 3001, 3001)[0] == (24, 12)
        and about("2.2", 12 * 24 / 132)
    ),
    "at 1000 there would be 32 tiles": lambda it: (
        it.launch("16 steps", 1000, 1000)[0] == (8, 4)
    ),
    "Two halves then take 49,152 bytes": lambda it: (
        49152 == 2 * 16 * (256 + 128) * 4
    ),
}

"""What lesson 28 says of its counts, times and instructions, and when it is true."""

from helpers import assemble, baseline
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about

LOADS, BARRIERS = REASONS["long_scoreboard"], REASONS["barrier"]
TURN = REASONS["not_selected"]
CUBE, FILTER, BOTH = "step", "filter", "separable"


def time(ladder, rung):
    """The recorded time of a rung, in µs."""
    return baseline(f"{ladder}, {rung}").median_us


def ratio(ladder, rung, other):
    """How many times as long as another one a rung takes."""
    return time(ladder, rung) / time(ladder, other)


def measurement(it, ladder, rung):
    return (it.measured if ladder == CUBE else it.f_measured)[rung][1]


def instructions(it, ladder, rung):
    """The instructions of a warp for 32 cells, or for 32 pixels."""
    count = measurement(it, ladder, rung).counters["instructions"]
    return 32 * count / (it.CELLS if ladder == CUBE else 8192**2)


def busy(it, ladder, rung, what):
    return measurement(it, ladder, rung).counters[f"{what}_percent"]


def first_wait(it, ladder, rung):
    """What the warps of a rung wait for most, but for a turn."""
    waits = measurement(it, ladder, rung).waits
    return next(why for why in waits if why != TURN)


def loads(it, run, cells):
    """The requests for loads of 32 cells."""
    return it.per_32(run, "load", cells)[0]


def alone(it):
    """How far the times of rungs that ran alone are from those by turns, at most."""
    both = (CUBE, it.measured), (FILTER, it.f_measured)
    return max(
        abs(m.median_us / time(ladder, rung) - 1)
        for ladder, found in both
        for rung, (_, m) in found.items()
    )


def issuing(it):
    """The time in which the instructions of the filter's last rung are issued."""
    return it.least_us(measurement(it, FILTER, "ahead").counters["instructions"])


CLAIMS = {
    "takes 2.9 times as long as the copy, and in C++ still 2.4 times": lambda it: (
        about("2.9", ratio(CUBE, "plain", "copy"))
        and about("2.4", ratio(CUBE, "plain in C++", "copy"))
    ),
    "needs a third of the global loads, and makes the step 1.5 times slower": (
        lambda it: 0.31 < loads(it, it.in_tiled, 1) / loads(it, it.in_plain, 1) < 0.35
        and about("1.5", ratio(CUBE, "tiled", "plain"))
    ),
    "190 instructions of a warp for 32 cells instead of 118": lambda it: (
        about("190", instructions(it, CUBE, "tiled"))
        and about("118", instructions(it, CUBE, "plain"))
    ),
    "117 instructions for 32 cells instead of 190, and takes 56% of the time": (
        lambda it: about("117", instructions(it, CUBE, "layers"))
        and about("56%", ratio(CUBE, "layers", "tiled"))
    ),
    "Its warps wait most for the barriers": lambda it: (
        first_wait(it, CUBE, "layers") == BARRIERS
    ),
    "59 instructions are left, half of the 117": lambda it: (
        about("59", instructions(it, CUBE, "walk"))
    ),
    "takes 77% of the time, less than the walk with a tile in C++": lambda it: (
        about("77%", ratio(CUBE, "walk", "layers"))
        and time(CUBE, "walk") < time(CUBE, "layers in C++")
    ),
    "Now the warps wait for loads, and each 32 cells take 5.2 requests": lambda it: (
        first_wait(it, CUBE, "walk") == LOADS
        and about("5.2", loads(it, it.in_walk, it.INNER))
    ),
    "A quarter of the requests, a third of the instructions, 57% of the time": (
        lambda it: 0.24 < loads(it, it.in_fours, 1) / loads(it, it.in_walk, 1) < 0.26
        and 0.29
        < instructions(it, CUBE, "fours") / instructions(it, CUBE, "walk")
        < 0.34
        and about("57%", ratio(CUBE, "fours", "walk"))
    ),
    "memory is 81% busy now, instead of 47%": lambda it: (
        about("81", busy(it, CUBE, "fours", "memory"))
        and about("47", busy(it, CUBE, "walk", "memory"))
    ),
    "the step reaches 94% of the copy's rate": lambda it: (
        about("94%", ratio(CUBE, "copy", "fours"))
    ),
    "the order of the times is that of the instructions": lambda it: (
        sorted(it.measured, key=lambda rung: time(CUBE, rung))
        == sorted(it.measured, key=lambda rung: instructions(it, CUBE, rung))
    ),
    "its times differ by less than 2% from these": lambda it: alone(it) < 0.02,
    "Arithmetic takes nearly twice as long as a copy": lambda it: (
        1.8 < it.least_us(121 * 8192**2 / 32) / time(BOTH, "copy") < 2
    ),
    "Each product takes two loads": lambda it: (
        loads(it, it.in_f_plain, it.image.size) == 2 * 121
    ),
    "are gone, and 44% of the time": lambda it: (
        loads(it, it.in_f_constant, it.image.size) == 121
        and about("44%", 1 - ratio(FILTER, "constant", "plain"))
    ),
    "Eleven requests instead of 121, and about a third of the time": lambda it: (
        loads(it, it.in_f_fours, it.image.size) == 11
        and 0.32 < ratio(FILTER, "fours", "constant") < 0.36
    ),
    "it is 94% busy": lambda it: about("94", busy(it, FILTER, "fours", "l1_data")),
    "the data path is 13% busy. But the time falls by only 13%": lambda it: (
        about("13", busy(it, FILTER, "walking", "l1_data"))
        and about("13%", 1 - ratio(FILTER, "walking", "fours"))
    ),
    "26/16 = 1.625 requests": lambda it: (
        loads(it, it.in_f_walking, it.image.size) == 1.625
    ),
    "all four of a scheduler's warps often wait for loads": lambda it: (
        first_wait(it, FILTER, "walking") == LOADS
        and busy(it, FILTER, "walking", "issue") < 75
    ),
    "holds its weights as numbers within the `FFMA`": lambda it: (
        all(
            "UR" not in str(one) and "c[" not in str(one)
            for one in assemble(it.f_rungs["ahead"][0])[(8, 33), (256, 1)](
                it.filtered_photo, it.photo
            ).instructions
            if one.base == "FFMA"
        )
    ),
    "It issues 132 instructions for 32 pixels": lambda it: (
        about("132", instructions(it, FILTER, "ahead"))
    ),
    "cost another 4%, all else 5%": lambda it: (
        about("4%", 260 / 250 - 1)
        and about("5%", instructions(it, FILTER, "ahead") / (121 * 260 / 250) - 1)
    ),
    "To issue them takes 265 µs": lambda it: about("265", issuing(it)),
    "It takes 293 µs: 90% of the limit": lambda it: (
        about("293", time(FILTER, "ahead"))
        and about("90%", issuing(it) / time(FILTER, "ahead"))
    ),
    "One pass takes 68% of the time of two launches": lambda it: (
        about("68%", ratio(BOTH, "walking", "two launches"))
    ),
    "It reaches 67% of the copy's rate": lambda it: (
        about("67%", ratio(BOTH, "copy", "walking"))
    ),
    "takes two thirds of the time of 121 weights": lambda it: (
        0.64 < time(BOTH, "walking") / time(FILTER, "ahead") < 0.69
    ),
    "8 × 33 blocks are two for each of 132 multiprocessors": lambda it: (
        it.over((8192, 8192), 4 * it.ACROSS, it.STRIP) == (8, 33) and 8 * 33 == 2 * 132
    ),
    "issues as many, and takes a third more time": lambda it: (
        0.99
        < instructions(it, FILTER, "walking") / instructions(it, FILTER, "ahead")
        < 1.01
        and 1.30 < ratio(FILTER, "walking", "ahead") < 1.36
    ),
}

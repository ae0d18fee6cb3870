"""What lesson 28 says of its counts, times and instructions, and when it is true."""

import numpy as np

from helpers import assemble, baseline
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about
from tests.lessons.counted import recorded, requests_on_to_l2

LOADS, TURN = REASONS["long_scoreboard"], REASONS["not_selected"]
CUBE, FILTER, BOTH = "step", "filter", "separable"
SMALL = "plain, 256 threads"
STEPS = "plain", "tiled", "walk", "fours", "known"


def time(ladder, rung):
    """The recorded time of a rung, in µs."""
    return baseline(f"{ladder}, {rung}").median_us


def ratio(ladder, rung, other):
    """How many times as long as another one a rung takes."""
    return time(ladder, rung) / time(ladder, other)


def counts(it, ladder, rung):
    """A rung's requests and instructions for 32 cells, or for 32 pixels."""
    return it.counted[f"{ladder}, {rung}"]


def instructions(it, ladder, rung):
    return counts(it, ladder, rung)["instructions"]


def loads(it, ladder, rung):
    return counts(it, ladder, rung)["loads"]


def all_requests(it, rung):
    """The requests of a rung of the cube, of any kind, for 32 cells."""
    return counts(it, CUBE, rung)["requests"]


def busy(it, ladder, rung, what):
    return it.measured[f"{ladder}, {rung}"].counters[f"{what}_percent"]


def first_wait(it, ladder, rung):
    """What the warps of a rung wait for most, but for a turn."""
    waits = it.measured[f"{ladder}, {rung}"].waits
    return next(why for why in waits if why != TURN)


def waiting(it, rung):
    """The share of their time for which a filter's warps wait for loads."""
    return it.measured[f"{FILTER}, {rung}"].waits[LOADS]


def registers(rung, arrays):
    """The registers of a thread of a rung of the cube."""
    return assemble(rung[0])[1, 256](*arrays).registers


def alone(it):
    """How far the times of rungs that ran alone are from those by turns, at most."""
    return max(
        abs(m.median_us / baseline(name).median_us - 1)
        for name, m in it.measured.items()
    )


def issuing(it):
    """The time in which the instructions of the filter's last rung are issued."""
    return it.least_us(it.measured[f"{FILTER}, ahead"].counters["instructions"])


def sweep():
    """The times of the step's variants, in µs."""
    rows = recorded("sweep_stencil")["variants"]
    return {row["variant"]: row["median_us"] for row in rows}


def chosen(times):
    """The fastest variant."""
    return min(times, key=times.get)


def us_an_instruction(it):
    """What each rung of the cube takes for each of its instructions for 32 cells."""
    return [time(CUBE, rung) / instructions(it, CUBE, rung) for rung in STEPS]


def gpu_loads(it, rung):
    """The requests for loads of a rung of the cube, as a GPU counted them."""
    return it.measured[f"{CUBE}, {rung}"].counters["global_load_requests"]


def known_loads(it):
    """The loads of the cube's last rung, as the machine code has them."""
    made = assemble(it.known(it.big[0])[0])[1, 256](*it.big.reshape(2, -1))
    return [str(one) for one in made.instructions if one.base == "LDG"]


CLAIMS = {
    "in less than 5% more time than a copy takes": lambda it: (
        1 < ratio(CUBE, "known", "copy") < 1.05
    ),
    "121 weights at 83% of what the arithmetic units allow": lambda it: about(
        "83%", it.limit_us[FILTER] / time(FILTER, "ahead")
    ),
    "Its nine operations take far less time": lambda it: (
        it.least_us(9 * 512**3 / 32) < 0.2 * time(CUBE, "copy")
    ),
    "takes 2.9 times as long as the copy, and in C++ still 2.4 times": lambda it: (
        about("2.9", ratio(CUBE, "plain", "copy"))
        and about("2.4", ratio(CUBE, "plain in C++", "copy"))
    ),
    "2/7 of the plain step's time. A copy takes longer": lambda it: (
        2 / 7 < ratio(CUBE, "copy", "plain")
    ),
    "needs a third of the loads (29% in the large cube), and the step takes 1.5 times "
    "as long": lambda it: (
        0.32 < loads(it, CUBE, "tiled") / loads(it, CUBE, "plain") < 0.34
        and about("29%", gpu_loads(it, "tiled") / gpu_loads(it, "plain"))
        and about("1.5", ratio(CUBE, "tiled", "plain"))
    ),
    "L1 had served 70% of their bytes": lambda it: about(
        "70%", 1 - requests_on_to_l2(it.measured["step, plain"])
    ),
    "Now there are as many shared loads, and a tile to fill": lambda it: (
        counts(it, CUBE, "tiled")["shared loads"] == loads(it, CUBE, "plain")
    ),
    "190 instructions for 32 cells instead of 118": lambda it: (
        about("190", instructions(it, CUBE, "tiled"))
        and about("118", instructions(it, CUBE, "plain"))
    ),
    "takes 61% of the plain one's time, and two things changed": lambda it: about(
        "61%", ratio(CUBE, "walk", "plain")
    ),
    "that alone takes the plain step to 81%": lambda it: about(
        "81%", ratio(CUBE, SMALL, "plain")
    ),
    "the walk takes 75% of the plain step's time. The loads promised 5.5/7, which is "
    "79%": lambda it: (
        about("75%", ratio(CUBE, "walk", SMALL)) and about("79%", 5.5 / 7)
    ),
    "the instructions fell further, from 118 to 76": lambda it: (
        about("76", instructions(it, CUBE, "walk"))
        and instructions(it, CUBE, "walk") / instructions(it, CUBE, "plain") < 5.5 / 7
    ),
    "Blocks shrank, too, from 1,024 threads to 256": lambda it: (
        [np.prod(rung[1]) for rung in (it.WALK, it.PLAIN)] == [256, 1024]
    ),
    "Its warps wait for loads most, and each 32 cells still take 5.6 loads": (
        lambda it: (
            first_wait(it, CUBE, "walk") == LOADS
            and about("5.6", loads(it, CUBE, "walk"))
        )
    ),
    "A quarter of the requests, but 61% of the time": lambda it: (
        0.24 < all_requests(it, "fours") / all_requests(it, "walk") < 0.27
        and about("61%", ratio(CUBE, "fours", "walk"))
    ),
    "below 56% the step would be faster than a copy": lambda it: about(
        "56%", ratio(CUBE, "copy", "walk")
    ),
    "Memory is 80% busy, instead of 49%": lambda it: (
        about("80", busy(it, CUBE, "fours", "memory"))
        and about("49", busy(it, CUBE, "walk", "memory"))
    ),
    "Instructions fall from 25.6 for 32 cells to 16.6": lambda it: (
        about("25.6", instructions(it, CUBE, "fours"))
        and about("16.6", instructions(it, CUBE, "known"))
    ),
    "Registers fall from 40 to 32": lambda it: (
        (40, 32)
        == (
            registers(it.FOURS, it.big),
            registers(it.known(it.big[0]), it.big.reshape(2, -1)),
        )
    ),
    "holds more warps: 86% of its room instead of 66%": lambda it: (
        about("86", busy(it, CUBE, "known", "occupancy"))
        and about("66", busy(it, CUBE, "fours", "occupancy"))
    ),
    "takes 4% longer than a copy, and in C++ 6% longer": lambda it: (
        about("4%", ratio(CUBE, "known", "copy") - 1)
        and about("6%", ratio(CUBE, "known in C++", "copy") - 1)
    ),
    "The order of the times is that of the instructions": lambda it: (
        sorted(STEPS, key=lambda rung: time(CUBE, rung))
        == sorted(STEPS, key=lambda rung: instructions(it, CUBE, rung))
    ),
    "take about 6 µs for each instruction in the table": lambda it: (
        all(5.8 < us < 6.5 for us in us_an_instruction(it)[:3])
    ),
    "the plain one in smaller blocks, 5.1": lambda it: about(
        "5.1", time(CUBE, SMALL) / instructions(it, CUBE, "plain")
    ),
    "a load holds that distance as a number": lambda it: all(
        "+0x" in load for load in known_loads(it)[1:]
    ),
    "not that of the loads": lambda it: (
        sorted(STEPS, key=lambda rung: time(CUBE, rung))
        != sorted(STEPS, key=lambda rung: loads(it, CUBE, rung))
    ),
    "this changes times by less than 2%": lambda it: alone(it) < 0.02,
    "Arithmetic takes nearly twice as long as a copy": lambda it: (
        1.8 < it.limit_us[FILTER] / time(BOTH, "copy") < 2
    ),
    "each product takes two loads": lambda it: loads(it, FILTER, "plain") == 2 * 121,
    "Half of the loads are gone, and 44% of the time": lambda it: (
        loads(it, FILTER, "constant") == 121
        and about("44%", 1 - ratio(FILTER, "constant", "plain"))
    ),
    "Eleven requests instead of 121, and about a third of the time": lambda it: (
        loads(it, FILTER, "fours") == 11
        and 0.32 < ratio(FILTER, "fours", "constant") < 0.36
    ),
    "L1's data path is 94% busy, and the schedulers 88%": lambda it: (
        about("94", busy(it, FILTER, "fours", "l1_data"))
        and about("88", busy(it, FILTER, "fours", "issue"))
    ),
    "26/16 = 1.625 requests": lambda it: loads(it, FILTER, "walking") == 1.625,
    "two blocks of 8 warps on each multiprocessor: four warps for each of its": (
        lambda it: it.over((8192, 8192), 4 * it.ACROSS, it.STRIP) == (8, 33)
        and 2 * it.ACROSS // 32 == 4 * 4
    ),
    "But the time falls by only 14%": lambda it: about(
        "14%", 1 - ratio(FILTER, "walking", "fours")
    ),
    "all four of a scheduler's warps often wait for loads": lambda it: (
        first_wait(it, FILTER, "walking") == LOADS
        and busy(it, FILTER, "walking", "issue") < 75
    ),
    "The 121 `FFMA` allow walking 55% of the time of fours. It takes 86%": lambda it: (
        about("55%", it.limit_us[FILTER] / time(FILTER, "fours"))
        and loads(it, FILTER, "walking") < 0.5 * loads(it, FILTER, "fours")
        and about("86%", ratio(FILTER, "walking", "fours"))
    ),
    "for loads for 44% of their time. With a row loaded ahead, they wait for 11%": (
        lambda it: (
            about("44%", waiting(it, "walking")) and about("11%", waiting(it, "ahead"))
        )
    ),
    "weights are numbers within its `FFMA`": lambda it: all(
        "UR" not in str(one) and "c[" not in str(one)
        for one in assemble(it.AHEAD[0])[(8, 33), (256, 1)](
            it.filtered_photo, it.photo
        ).instructions
        if one.base == "FFMA"
    ),
    "It issues 132 instructions for 32 pixels": lambda it: about(
        "132", instructions(it, FILTER, "ahead")
    ),
    "cost 4%, all else 5%": lambda it: (
        about("4%", 260 / 250 - 1)
        and about("5%", instructions(it, FILTER, "ahead") / (121 * 260 / 250) - 1)
    ),
    "Issuing them takes 265 of its 292 µs: 91%": lambda it: (
        about("265", issuing(it))
        and about("292", time(FILTER, "ahead"))
        and about("91%", issuing(it) / time(FILTER, "ahead"))
    ),
    "One pass takes 68% of the time of two launches": lambda it: about(
        "68%", ratio(BOTH, "walking", "two launches")
    ),
    "It reaches 67% of the copy's rate": lambda it: about(
        "67%", ratio(BOTH, "copy", "walking")
    ),
    "takes two thirds of the time of 121 weights": lambda it: (
        0.64 < time(BOTH, "walking") / time(FILTER, "ahead") < 0.69
    ),
    "For 32 cells that is 1.3 instead of 1.4": lambda it: (
        about("1.4", loads(it, CUBE, "fours"))
        and about("1.3", loads(it, CUBE, "fours") - (6 / 4 - 18 / 16) * 32 / 126)
    ),
    "A sweep of 48 variants": lambda it: len(sweep()) == 48,
    "chose walks of 4 layers and blocks of 32 × 8 threads": lambda it: (
        chosen(sweep()) == "4 layers, 32 × 8 threads"
        and (it.LAYERS, it.FOURS[1]) == (4, (32, 8))
    ),
    "16 layers take 7% longer": lambda it: about(
        "7%", sweep()["16 layers, 32 × 8 threads"] / min(sweep().values()) - 1
    ),
    "8 × 33 blocks, two for each of 132 multiprocessors": lambda it: (
        it.over((8192, 8192), 4 * it.ACROSS, it.STRIP) == (8, 33) and 8 * 33 == 2 * 132
    ),
    "Weights and sizes that the compiler knows made each kernel faster here": (
        lambda it: (
            time(FILTER, "constant") < time(FILTER, "plain")
            and time(CUBE, "known") < time(CUBE, "fours")
        )
    ),
}

"""What the lesson says of its counts and times, and when it is true.

That runs save time: the same kernel, which stores as its lanes have their keys. That
more keys do: the same kernel with 8 and 22. That known digits do: the same with a shift
that the compiler knows. The ladder's times are of its own recording.
"""

import numpy as np

from helpers import baseline
from tests.lessons.claims import about


def time(name):
    """The µs of a sort, by turns with CUB's."""
    return baseline(f"sort, {name}").median_us


def share(name, of=""):
    """A sort's rate in that of CUB."""
    return time(f"CUB{of}") / time(f"{name}{of}")


def counted(m, name):
    return m.counters[name]


def sectors(m):
    """The sectors that a request of a store asks for."""
    return counted(m, "global_store_sectors") / counted(m, "global_store_requests")


def saved(one, other):
    """The part of the other's time that one does not take."""
    return 1 - one.median_us / other.median_us


def ratio(counted, name):
    """One copy's number in that of 32 copies."""
    return counted[1].counters[name] / counted[32].counters[name]


def blocks_at_a_time(m):
    """How many blocks of 512 threads a multiprocessor has at a time."""
    return round(4 * counted(m, "occupancy_percent") / 100)


def nine_moves(m):
    """The ms in which 2^28 keys are loaded or stored nine times as a copy does it."""
    return 9 * 4 * 2**28 / m.copy_gb_per_s / 1e6


def waits(m):
    return max(m.waits, key=m.waits.get)


def rounds(run):
    """The barriers of a tile, but for the one behind its loads."""
    return run.waits.block - 1


def halves(it):
    """Eight keys after the first comparisons of the last merge."""
    keys = it.bitonic([6, 2, 8, 3, 1, 7, 5, 4])[4]
    return keys[:4], keys[4:]


def turns(keys):
    """How often do keys change from rising to falling, or back?"""
    rising = np.diff(keys) > 0
    return np.count_nonzero(rising[1:] != rising[:-1])


def distances(n):
    """How far apart the keys of each round of a bitonic sort of n keys are."""
    size = 2
    while size <= n:
        yield from (size >> k for k in range(1, size.bit_length()))
        size *= 2


def sorted_by_digits(numbers, *digits):
    """Numbers after stable sorts by these digits, in this order."""
    for digit in digits:
        numbers = sorted(numbers, key=digit)
    return numbers


def last_first(it):
    """The keys sorted by the first digit, then by the last."""
    return sorted_by_digits(it.numbers, lambda n: n // 10, lambda n: n % 10)


CLAIMS = {
    "As many as keys. A key that has to go from one end to the other": lambda it: (
        rounds(it.networks["odd–even"]) == it.SIZE
    ),
    "Runs of two are ready after the first step, runs of four after the third": (
        lambda it: all(
            order[at : at + run] == sorted(order[at : at + run])
            for run, order in (
                (2, it.bitonic([6, 2, 8, 3, 1, 7, 5, 4])[1]),
                (4, it.bitonic([6, 2, 8, 3, 1, 7, 5, 4])[3]),
            )
            for at in range(0, 8, run)
        )
    ),
    "A seventh of the rounds, and a seventh of the time": lambda it: (
        about("7", rounds(it.networks["odd–even"]) / rounds(it.networks["bitonic"]))
        and about(
            "7", it.in_tiles["odd–even"].median_us / it.in_tiles["bitonic"].median_us
        )
    ),
    "n rounds against log n · (log n + 1) / 2": lambda it: (
        rounds(it.networks["bitonic"]) == 8 * 9 // 2 and it.SIZE == 2**8
    ),
    "a quarter of a billion keys would take 406 rounds, and half of them reach beyond "
    "a tile": lambda it: (
        28 * 29 // 2 == 406
        and about("0.5", sum(step >= it.SIZE for step in distances(2**28)) / 406)
    ),
    "no key of the left half is larger than one of the right half. Within a half the "
    "keys rise and then fall, or fall and then rise": lambda it: (
        max(halves(it)[0]) <= min(halves(it)[1])
        and [turns(half) for half in halves(it)] == [1, 1]
    ),
    "the last pass decides, so the keys would be in order of their last digits": (
        lambda it: [n % 10 for n in last_first(it)]
        == sorted(n % 10 for n in it.numbers)
        and last_first(it) != sorted(it.numbers)
    ),
    "warp 1's keys of digit 2 begin at place 9. So it is place 10": lambda it: (
        it.begins[1, 2] == 9 and it.counts[1, 2] == 2
    ),
    # the control: the same kernel, which stores as its lanes have their keys
    "nearly each key asks for a sector of its own": lambda it: (
        30 < sectors(it.launches["scatter"]) <= 32
    ),
    "a store asks for as few sectors as its bytes need, and the launch takes a third "
    "of the time": lambda it: (
        about("4.0", sectors(it.launches["in runs"]))
        and about(
            "0.33",
            it.launches["in runs"].median_us / it.launches["scatter"].median_us,
        )
    ),
    "One pass moves each key twice, three launches three times; it takes no less time, "
    "and its warps wait most at barriers": lambda it: (
        it.passed["one pass"].median_us
        > sum(it.launches[name].median_us for name in ("count", "scan", "in runs"))
        and waits(it.passed["one pass"]) == "a barrier"
    ),
    # the control: the same kernel with other numbers of keys
    "With 22 keys a thread it takes two fifths less": lambda it: (
        about("0.4", saved(it.passed["more keys"], it.passed["one pass"]))
    ),
    # the control: the same kernel, whose shift the compiler does not know
    "With known digits a tenth of the instructions is gone, and a tenth of the time": (
        lambda it: about(
            "0.1", saved(it.passed["known digits"], it.passed["more keys"])
        )
        and about(
            "0.1",
            1
            - counted(it.passed["known digits"], "instructions")
            / counted(it.passed["more keys"], "instructions"),
        )
    ),
    "Here one copy of the bins is faster, though its data path has half as much again "
    "to do. But its launch has nearly twice as many warps at a time, and over a "
    "quarter fewer instructions": lambda it: (
        it.counted[1].median_us < it.counted[32].median_us
        and about("1.5", ratio(it.counted, "lsu_wavefronts"))
        and 1.8 < ratio(it.counted, "occupancy_percent") < 2
        and 0.7 < ratio(it.counted, "instructions") < 0.75
    ),
    "On random keys, copies shorten the sort by 2%": lambda it: about(
        "2%", 1 - time("own bins") / time("known digits")
    ),
    "To store in runs more than halves the time": lambda it: (
        time("in runs") < time("three launches") / 2
    ),
    "One pass takes 8% longer; with more keys for each thread, two fifths less than "
    "that": lambda it: (
        about("8%", time("one pass") / time("in runs") - 1)
        and about("0.4", 1 - time("more keys") / time("one pass"))
    ),
    # a place for 64 warps is four blocks of 512 threads
    "two of its blocks fit on a multiprocessor, not three": lambda it: (
        blocks_at_a_time(it.passed["one pass"]) == 2
        and blocks_at_a_time(it.launches["in runs"]) == 3
    ),
    "Nine moves of 2²⁸ keys take 2.3 ms at a copy's rate. CUB's sort and ours take 2.7 "
    "times as long": lambda it: (
        about("2.3", nine_moves(it.passed["known digits"]))
        and all(
            about("2.7", time(name) / 1e3 / nine_moves(it.passed["known digits"]))
            for name in ("CUB", "own bins")
        )
    ),
    "memory's rate limits neither. Our last pass uses 55% of its issue slots, and "
    "waits most at barriers": lambda it: (
        counted(it.passed["known digits"], "memory_percent") < 30
        and about("55", counted(it.passed["known digits"], "issue_percent"))
        and waits(it.passed["known digits"]) == "a barrier"
    ),
    "Known digits bring us to CUB's rate, and bins for each lane 3% beyond it": (
        lambda it: about("1.00", share("known digits"))
        and about("1.03", share("own bins"))
    ),
    "Sorted keys take us as long as random ones, and the others less": lambda it: (
        abs(time("own bins sorted") / time("own bins") - 1) < 0.005
        and time("own bins few bits") < 0.95 * time("own bins")
        and time("own bins all equal") < 0.95 * time("own bins")
    ),
    "With sorted keys and with few bits we are as fast as CUB": lambda it: all(
        abs(share("own bins", of) - 1) < 0.01 for of in (" sorted", " few bits")
    ),
    "ours take 8% less time than random ones, but CUB's take 30% less": lambda it: (
        about("8%", 1 - time("own bins all equal") / time("own bins"))
        and about("30%", 1 - time("CUB all equal") / time("CUB"))
    ),
    "With values we reach 74% of CUB's rate, and for floats 80%": lambda it: (
        about("74%", share("pairs", " with values"))
        and about("80%", share("floats", " float32"))
    ),
    "Neither has known digits, which for plain keys were worth a tenth": lambda it: (
        about("0.1", time("more keys") / time("known digits") - 1)
    ),
    "With 2²⁴ keys we reach 93% of CUB's rate, with 2²⁰ only 37%. These are "
    "94 tiles, for 132 multiprocessors": lambda it: (
        about("93%", share("own bins", " 2^24"))
        and about("37%", share("own bins", " 2^20"))
        and it.tiles_of(np.empty(2**20), 512 * 22) == 94
    ),
    "Right at each of these sizes, and without a race": lambda it: all(
        not run.races for runs in it.stores.values() for run in runs
    ),
    "No race is reported, and the keys are not sorted": lambda it: (
        not it.unstable.races
        and np.count_nonzero(it.keys != np.sort(it.some[:512])) > 100
    ),
    "A ballot makes lanes meet, but it does not order what they load and store": (
        lambda it: len(it.hasty.races.minor) > 0
        and not any(run.races.minor for run in it.stores["in runs"])
    ),
}

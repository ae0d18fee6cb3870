"""What the lesson says of its filters, and when it is true.

Each cause has its control. That the weights' place is a matter of the loop's length:
the same sums in parts, and what the first compiler hands to the second. That sums must
be in registers: the walk in one part. That a row ahead saves the waiting: two rows a
turn without it.
"""

import inspect
import re
import tempfile
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from helpers import assemble, baseline
from helpers.measuring.counters import REASONS
from tests.lessons.claims import about
from thirty_two_lanes.assembly import compiler
from thirty_two_lanes.core.hardware import H200
from thirty_two_lanes.frontend.argument_types import argument_types

LOADS, TURN = REASONS["long_scoreboard"], REASONS["not_selected"]


def us(it, name):
    """The time of a rung by turns with the others, in µs."""
    return it.rungs[name][0].median_us


def ratio(it, name, other):
    """How many times as long as another one a rung takes."""
    return us(it, name) / us(it, other)


def counters(it, name):
    return it.rungs[name][1].counters


def loads(it, name):
    """The requests for loads of 32 pixels of the large image."""
    return 32 * counters(it, name)["global_load_requests"] / it.PIXELS


def executed(it, name):
    """The instructions of warps for 32 pixels of the large image."""
    return 32 * counters(it, name)["instructions"] / it.PIXELS


def busy(it, name, what):
    return counters(it, name)[f"{what}_percent"]


def waiting(it, name, reason=LOADS):
    """The share of a rung's waiting that is for a reason."""
    return it.rungs[name][1].waits[reason]


def separable(name):
    return baseline(f"separable, {name}").median_us


def issuing(it, name):
    """The time in which a rung's instructions are issued, one after the other."""
    return it.least_us(counters(it, name)["instructions"])


def code(it, rung):
    """The instructions of a rung for the large image."""
    kernel, threads, covers = rung
    launch = it.over(it.filtered_photo.shape, covers), threads
    return assemble(kernel)[launch](it.filtered_photo, it.photo)


def count(made, *bases):
    """How many instructions are of some kinds."""
    return [sum(one.base == base for one in made.instructions) for base in bases]


@cache
def between(kernel):
    """How often a kernel has a product, and a load of a constant, where the first
    compiler hands it to the second, as PTX.
    """
    from cuda.core import Linker, LinkerOptions, ObjectCode

    types = argument_types(kernel, [np.zeros((2, 2), np.float32)] * 2)
    library = compiler._lowered(kernel.py_func, types, {}, (9, 0)).library
    first = ObjectCode.from_ltoir(compiler._lto_ir(library, {}, "90a"))
    choices = LinkerOptions(arch="sm_90a", link_time_optimization=True, ptx=True)
    text = Linker(first, options=choices).link("ptx").code.decode()
    return len(re.findall(r"fma\.rn\.f32", text)), text.count("ld.const")


def in_parts(it, rung):
    """Where a filter's products have their weights: in UR registers, or as numbers."""
    made = code(it, rung)
    return it.products(made, "UR"), it.products(made, "number")


def addresses_gone(it, name):
    """Of the instructions that a filter is shorter by in parts: is a third of them
    loads of weights, and nearly all else arithmetic of whole numbers?
    """
    whole, parts = it.codes[name], it.codes[f"{name}, in parts"]
    kinds = "IADD3", "IMAD", "LEA", "LOP3", "SHF"
    gone = len(whole.instructions) - len(parts.instructions)
    weights = it.of_weights(whole) - it.of_weights(parts)
    other = it.number_of(whole, *kinds) - it.number_of(parts, *kinds)
    return 0.3 < weights / gone < 0.36 and other > 0.95 * (gone - weights)


def made_in_parts(it, size, fours):
    """The first compiler's products, if a filter's rows are added so many at a time."""
    ends = [*range(0, 11, size), 11]
    add = "add_rows(sums, weights, near, src, row, col, {}, {})"
    if not fours:
        add = "total = add_products(total, weights, src, row, col, {}, {})"
    calls = [add.format(*pair) for pair in pairwise(ends)]
    file = tempfile.NamedTemporaryFile("w", suffix=".py", delete=False)  # noqa: SIM115
    with file:
        file.write((FOURS if fours else ONE).format("\n        ".join(calls)))
    names = dict(vars(it))
    exec(compile(Path(file.name).read_text(), file.name, "exec"), names)  # noqa: S102
    return between(names["kernel"])[0]


FOURS = """
@cuda.jit
def kernel(out, src):
    weights = cuda.const.array_like(WEIGHTS)
    near = cuda.local.array(16, float32)
    sums = cuda.local.array((1, 4), float32)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(4 * col)
    clear(sums)
    if row < out.shape[0] and col < out.shape[1]:
        {}
        store_row(out, row, col, sums)
"""
ONE = """
@cuda.jit
def kernel(out, src):
    weights = cuda.const.array_like(WEIGHTS)
    col, row = cuda.grid(2)
    row, col = uint32(row), uint32(col)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        {}
        out[row, col] = total
"""


def walking_source(it):
    """The text of the kernel that walks."""
    return inspect.getsource(it.WALKING[0].py_func)


def threads_of(it, rung):
    """How many threads of a rung the large image takes."""
    kernel, threads, covers = rung
    return np.prod(it.over(it.filtered_photo.shape, covers)) * np.prod(threads)


def loads_among_products(it, rung):
    """How many products of a rung come before each of its loads of pixels, from the
    first product of the loop on.
    """
    bases = [one.base for one in code(it, rung).instructions]
    return [bases[:at].count("FFMA") for at, base in enumerate(bases) if base == "LDG"]


CLAIMS = {
    "each becomes itself times the sum of the weights: for a blur that is 1": (
        lambda it: (
            np.isclose(it.BELL.sum(), 1)
            and np.allclose(
                it.filtered(np.ones((14, 15)), (4, 4), it.WEIGHTS), it.WEIGHTS.sum()
            )
        )
    ),
    "(a matrix of rank 1): not ours, but those of a bell-shaped blur": lambda it: (
        np.linalg.matrix_rank(np.outer(it.BELL, it.BELL)) == 1
        and np.linalg.matrix_rank(it.WEIGHTS) > 1
    ),
    "A twelfth row of `sums`, which stays zero": lambda it: (
        it.SIDE + 1 == 12 and "sums = cuda.local.array((12, 4)" in walking_source(it)
    ),
    "a row that completes nothing costs 22 products a pixel, not 121: that makes 1.7 "
    "times as many threads": lambda it: (
        88 / 4 == 22
        and about("1.7", threads_of(it, it.BOTH) / threads_of(it, it.AHEAD))
    ),
    "at more than four fifths of what the arithmetic units allow": lambda it: (
        0.8 < it.limit_us / us(it, "ahead") < 0.87
    ),
    "The products, nearly twice as long": lambda it: (
        1.8 < it.limit_us / separable("copy") < 2
    ),
    "For each product, a warp loads a weight and a pixel. These loads keep L1's data "
    "path busy, and so the schedulers can issue only in 57% of their cycles": (
        lambda it: (
            about("242", loads(it, "plain"))
            and busy(it, "plain", "l1_data") > 90
            and about("57", busy(it, "plain", "issue"))
        )
    ),
    "Half of the loads are gone, and 44% of the time. The data path is still the "
    "busiest": lambda it: (
        about("121", loads(it, "constant"))
        and about("44%", 1 - ratio(it, "constant", "plain"))
        and busy(it, "constant", "l1_data") > busy(it, "constant", "issue") + 5
    ),
    "three loads of 16 bytes and one of 8, instead of 44": lambda it: (
        about("11", loads(it, "fours")) and count(code(it, it.F_FOURS), "LDG") == [44]
    ),
    "An eleventh of the requests, and about a third of the time": lambda it: (
        0.09 < loads(it, "fours") / loads(it, "constant") < 0.092
        and 0.32 < ratio(it, "fours", "constant") < 0.36
    ),
    "the path is even busier; the schedulers, too, are busy now": lambda it: (
        busy(it, "fours", "l1_data") > busy(it, "constant", "l1_data")
        and busy(it, "fours", "issue") > 80
    ),
    # ------------------------------------------------ the weights
    "The `FFMA` takes its weight from there: `UR14`": lambda it: (
        in_parts(it, it.F_FOURS) == (484, 0)
        and any("UR14" in str(one) for one in code(it, it.F_FOURS).instructions)
    ),
    # the control: the same sums in parts, where the first compiler hands them on
    "It leaves the loop; the second writes it out, and then knows where each weight "
    "is": lambda it: (
        between(it.F_FOURS[0]) == (44, 11)
        and between(it.F_FOURS_IN_PARTS[0]) == (484, 0)
        and count(code(it, it.F_FOURS), "FFMA") == [484]
    ),
    "All products have their numbers, and a quarter of the instructions of fours is "
    "gone, and more than a third of those of constant": lambda it: (
        in_parts(it, it.F_FOURS_IN_PARTS) == (0, 484)
        and in_parts(it, it.F_CONSTANT_IN_PARTS) == (0, 121)
        and 0.2 < 1 - executed(it, "fours, in parts") / executed(it, "fours") < 0.28
        and 0.34
        < 1 - executed(it, "constant, in parts") / executed(it, "constant")
        < 0.42
    ),
    "A third of what is gone loaded weights; nearly all the rest, among others, was "
    "arithmetic of whole numbers": lambda it: all(
        addresses_gone(it, name) for name in ("constant", "fours")
    ),
    "Here parts of two rows do, and three are too long; with one pixel a thread, three "
    "do, and four are too long": lambda it: (
        [made_in_parts(it, size, fours=True) for size in (2, 3)][0] == 484
        and made_in_parts(it, 3, fours=True) < 484
        and made_in_parts(it, 3, fours=False) == 121
        and made_in_parts(it, 4, fours=False) < 121
    ),
    "Constant is even a little slower in parts, though it executes over a third "
    "fewer instructions; fours gains 2%": lambda it: (
        1.02 < ratio(it, "constant, in parts", "constant") < 1.06
        and about("2%", 1 - ratio(it, "fours, in parts", "fours"))
    ),
    "With constant in parts, the path even works 3% longer for the same "
    "loads": lambda it: about(
        "3%",
        counters(it, "constant, in parts")["lsu_wavefronts"]
        / counters(it, "constant")["lsu_wavefronts"]
        - 1,
    ),
    "What both are short of is L1's data path, and loads of pixels are what they "
    "were": lambda it: all(
        loads(it, name) == loads(it, f"{name}, in parts")
        and busy(it, f"{name}, in parts", "l1_data")
        > busy(it, f"{name}, in parts", "issue")
        for name in ("constant", "fours")
    ),
    # ------------------------------------------------ the walk
    "eleven rows of 14 pixels would take 154 registers": lambda it: 154 == 11 * 14,
    "that costs no instruction: the first `FFMA` of a sum takes it": lambda it: (
        count(code(it, it.WALKING), "MOV")[0] < 5
        and count(code(it, it.WALKING), "FFMA") == [484]
    ),
    "26/16 = 1.625 requests. 250 rows need 260: 1.04": lambda it: (
        32 * it.in_short.coalescing.by_kind["load"].requests / it.image.size == 1.625
        and about("1.04", loads(it, "walking"))
    ),
    "the products stay a loop, `sums` lie in local memory, and it takes nearly three "
    "times as long": lambda it: (
        count(code(it, it.WALKING_WHOLE), "FFMA") == [44]
        and min(count(code(it, it.WALKING_WHOLE), "STL", "LDL")) > 0
        and count(code(it, it.WALKING), "STL", "LDL") == [0, 0]
        and 2.7 < ratio(it, "walking, whole", "walking") < 3
    ),
    "the time falls by only a tenth or so. Now the path has little to do, and still "
    "the schedulers issue in only 70% of their cycles": lambda it: (
        0.09 < 1 - ratio(it, "walking", "fours, in parts") < 0.13
        and busy(it, "walking", "l1_data") < 20
        and about("70", busy(it, "walking", "issue"))
    ),
    "nearly half of that is for loads, and nearly all else for a turn to issue, which "
    "leaves no slot empty. A thread loads a row and needs it soon, and a scheduler has "
    "only four warps, as 264 blocks are two for each multiprocessor": lambda it: (
        0.42 < waiting(it, "walking") < 0.5
        and 0.45 < waiting(it, "walking", TURN) < 0.5
        and it.over(it.filtered_photo.shape, it.WALKING[2]) == (8, 33)
        and 8 * 33 * 8 == 4 * 4 * 132
        and 8 * 33 == 264
    ),
    "More than half of the gain comes with two rows a turn alone": lambda it: (
        0.5
        < (us(it, "walking") - us(it, "two rows a turn"))
        / (us(it, "walking") - us(it, "ahead"))
        < 0.65
    ),
    "A row has 484 products. So the compiler has moved the loads of the second row up, "
    "among the products of the first": lambda it: (
        loads_among_products(it, it.PAIRS)[:4] == [0] * 4
        and 100 < loads_among_products(it, it.PAIRS)[4] < 242
        and loads_among_products(it, it.PAIRS)[-1] < 484
    ),
    "Those of the first row have moved as well, all to the front": lambda it: (
        loads_among_products(it, it.WALKING)[:2] == [0, 0]
        and 0 < min(loads_among_products(it, it.WALKING)[2:])
        and loads_among_products(it, it.PAIRS)[:4] == [0] * 4
    ),
    "But it does not move the first row's loads into the turn before. The kernel with "
    "a row ahead does that": lambda it: (
        len(loads_among_products(it, it.PAIRS)) == 8
        and len(loads_among_products(it, it.AHEAD)) == 12
        and waiting(it, "ahead")
        < waiting(it, "two rows a turn")
        < waiting(it, "walking")
    ),
    "132 instructions for 32 pixels instead of 121. The first ten rows of the strips "
    "cost 4%, all else 5%": lambda it: (
        about("132", executed(it, "ahead"))
        and about("4%", 260 / 250 - 1)
        and about("5%", executed(it, "ahead") / (121 * 260 / 250) - 1)
    ),
    "And to issue them takes nine tenths of the time": lambda it: about(
        "0.9", issuing(it, "ahead") / us(it, "ahead")
    ),
    "four times as many warps, of which a multiprocessor holds twice as many as "
    "before": lambda it: (
        it.over(it.filtered_photo.shape, it.WALKING_62[2]) == (8, 133)
        and code(it, it.WALKING_62).registers == 64
        and 65_536 // (64 * 256) == 4
        and busy(it, "walking, 62 rows", "occupancy")
        > 1.7 * busy(it, "walking", "occupancy")
    ),
    "walking takes 11% less time, though ten of the 72 rows of a strip complete "
    "nothing": lambda it: (
        about("11%", 1 - ratio(it, "walking, 62 rows", "walking")) and 62 + 10 == 72
    ),
    "To load ahead is better: with strips of 62 rows, the products alone would take "
    "282 µs, hardly less than ahead takes in all": lambda it: (
        about("282", it.limit_us * 72 / 62)
        and us(it, "ahead") < us(it, "walking, 62 rows")
        and 282 < us(it, "ahead") < 1.05 * 282
    ),
    # ------------------------------------------------ both at once
    "88 products are short enough for the first compiler": lambda it: (
        it.number_of(code(it, it.BOTH), "FFMA")
        + it.number_of(code(it, it.BOTH), "FMUL")
        == 88
        and it.of_weights(code(it, it.BOTH)) == 0
        and count(code(it, it.BOTH), "STL", "LDL") == [0, 0]
    ),
    "Why one pass takes half as long again as a copy": lambda it: (
        1.45 < separable("walking") / separable("copy") < 1.55
    ),
    "With so few products, the limit is memory's again": lambda it: (
        it.least_us(22 * it.PIXELS / 32) < 0.5 * separable("copy")
    ),
    "One pass takes about two thirds of the time of two launches": lambda it: (
        0.64 < separable("walking") / separable("two launches") < 0.71
    ),
    "26 rows of products are computed, 16 are needed: 38% is wasted. With 260 rows for "
    "250, 4%": lambda it: about("38%", 10 / 26) and about("4%", 10 / 260),
    "two for each of 132 multiprocessors": lambda it: (
        8 * 33 == 2 * H200.multiprocessors
        and len({*it.over(it.filtered_photo.shape, it.AHEAD[2])} - {8, 33}) == 0
    ),
}

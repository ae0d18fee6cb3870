"""The sizes of an exercise that nobody lists: between those that are, beyond them, and
beyond what a kernel counts with numbers of its own.

A number may count elements along an axis, blocks, or turns of a loop. Sizes go beyond
it as far as the limits below, as larger launches take long to emulate; beyond one that
is compared, or a narrow type's, they go farther, since few right kernels have it.
"""

from math import gcd, prod

import numpy as np

from helpers.exercises.arguments import whole_size
from helpers.exercises.variants import generator
from thirty_two_lanes.core.hardware import WARP_SIZE

FARTHEST, MOST = 70_000, 140_000  # elements along an axis, and in all, beyond a number
BUSIEST, THREADS = 30_000, 300_000  # instructions of a block there, and all threads
BUSIEST_AT_BOUND, THREADS_AT_BOUND = 300_000, 1_200_000  # beyond one that is compared
IN_A_ROW = 8  # sizes, as the number of blocks may differ from launch to launch
GROWS = 1.5  # times the instructions of a block at listed sizes


def larger_sizes(task, seed):
    """For each axis, a size that is beyond all that are listed along it: two to three
    times as large, lest a bound just above them pass, or as large as there may be.

    It is one less than whole blocks, as far as there is room. Along the others it is
    not larger, so that it stays quick to emulate, and one more than these.
    """
    largest = largest_listed(task)
    others = largest // 4 if largest.size > 2 else largest
    for axis, most in enumerate(largest):
        rng = generator(task.name, seed, "larger", axis)
        size = rng.integers(1, np.maximum(others, 1), endpoint=True)
        size[axis] = beyond(rng, most, limit_along(task, axis))
        least = put(np.ones_like(size), axis, most)
        size = beside_whole_blocks(task, size, least, put(np.ones_like(size), axis, -1))
        if size[axis] > most:
            yield tuple(int(it) * task.multiple for it in size)


def beside_whole_blocks(task, size, least, beside) -> np.ndarray:
    """A size with each extent so much beside the last whole block, or turn of a loop,
    that is no farther; as it is where no more than the least would be left.
    """
    units = np.array([shared_along(task, axis) for axis in range(size.size)])
    moved = (size - beside) // units * units + beside
    return np.where((units > 1) & (moved > least), moved, size)


def shared_along(task, axis) -> int:
    """How many multiples along an axis a block has, or all in one turn of a loop, or
    those along the block's first axis: the first of these that the listed sizes fill.
    """
    _, threads, *_ = task.launch(*whole_size(task.even[0]))
    units = block_along(task, axis), turn_of(task), np.ravel(threads)[0]
    most = largest_listed(task)[axis]
    whole = (int(it) // task.multiple for it in units if it % task.multiple == 0)
    return next((it for it in whole if 1 < it <= most), 1)


def smaller_sizes(task, seed):
    """A size that one warp could have an element of each for; one of any extent up to
    the largest that are listed: a bound between two that are listed, lest it pass; and
    one that is as large along each axis.
    """
    largest = largest_listed(task)
    few = max(int(WARP_SIZE ** (1 / largest.size)), 2)
    rng = generator(task.name, seed, "smaller")
    small = rng.integers(2, few, largest.size, endpoint=True)
    any_extent = largest ** rng.random(largest.size)
    alike = np.full(largest.size, rng.integers(1, largest.min(), endpoint=True))
    for size in (small, any_extent, alike):
        size = np.minimum(size.astype(int), largest)
        yield tuple(int(it) * task.multiple for it in size)


def empty_sizes(task):
    """For each axis, a size of no extent along it."""
    size = np.array(whole_size(task.even[-1]))
    for axis in range(size.size):
        yield tuple(int(it) for it in put(size, axis, 0))


def far_size(task, seed, numbers, outcome, listed):
    """A size beyond all that a kernel's numbers may count along the axis on which that
    of an outcome is larger; None where it is beyond them, or where none is affordable.
    A block executes at most `listed` instructions at the sizes that are listed.
    """
    size, largest = np.array(outcome.trial.size), largest_listed(task)
    axis = int((size // task.multiple > largest).argmax())
    each = elements_each(outcome)
    reach, farther = reaches(size[axis], each, busiest_block(outcome), listed)
    counted = {it * unit for it in numbers.all for unit in units_along(task, axis)}
    counted = {it for it in counted if it <= reach}
    bounds = numbers.bounds | blocks_along(task, axis, numbers.blocks)
    counted |= {it for it in bounds if it <= farther}
    within = sorted(it for it in counted if it >= size[axis])
    while within:
        threads = threads_at(task, narrowed(size, axis, within[-1], each))
        if threads <= (THREADS_AT_BOUND if within[-1] in bounds else THREADS):
            break
        within.pop()
    else:
        return None
    rng, limit = generator(task.name, seed, "far", axis), limit_along(task, axis)
    far = beyond(rng, largest[axis], limit, within[-1] // task.multiple)
    size = narrowed(size, axis, far * task.multiple, each) // task.multiple
    return with_few_blocks(task, np.maximum(size, 1) * task.multiple, axis)


def with_few_blocks(task, size, axis=0) -> tuple:
    """A size, or one of a few in a row from it on, whose launch has the fewest threads:
    how many blocks there are may differ from launch to launch.
    """
    return min(in_a_row(task, size, axis), key=lambda it: threads_at(task, it))


def in_a_row(task, size, axis) -> list[tuple]:
    """A size, and some that are larger by one unit after the other along an axis."""
    last = size[axis] + (IN_A_ROW - 1) * task.multiple
    last = min(last, (task.limits and task.limits[axis]) or last)
    extents = range(size[axis], max(last, size[axis]) + 1, task.multiple)
    return [tuple(map(int, put(size, axis, extent))) for extent in extents]


def blocks_differ(task) -> bool:
    """Does a launch have now more blocks and now fewer than one that is smaller?"""
    row = in_a_row(task, np.array(whole_size(task.even[0])), 0)
    threads = [threads_at(task, size) for size in row]
    return threads != sorted(threads)


def few_blocks(task):
    """The fewest blocks of a launch beyond the listed sizes, if they do not grow."""
    size = largest_listed(task) * task.multiple
    blocks, more = (
        task.launch(*with_few_blocks(task, it))[0] for it in (size, 8 * size)
    )
    return blocks if blocks == more else None


def reaches(extent, each, busiest, listed):
    """How far sizes go along an axis: beyond any number, and beyond one that a kernel
    compares, where they may be as large as they like if a block's work does not grow.
    """
    farthest = min(FARTHEST, MOST // each)
    if busiest > GROWS * listed:
        farthest = min(farthest, extent * BUSIEST_AT_BOUND // busiest)
    return min(FARTHEST // each, extent * BUSIEST // busiest), farthest


def busiest_block(outcome) -> int:
    """The instructions of the block that executes most."""
    return max(outcome.run.balance.busiest_block, 1)


def narrowed(size, axis, extent, each) -> np.ndarray:
    """A size with another extent along an axis, and so little along the others that
    there are not too many elements in all.
    """
    few = int((MOST // (each * extent)) ** (1 / max(size.size - 1, 1)))
    return put(np.minimum(size, max(few, 1)), axis, extent)


def largest_listed(task) -> np.ndarray:
    """The largest size along each axis that is listed, in multiples."""
    listed = np.array([whole_size(it) for it in (*task.even, *task.ragged)])
    return listed.max(axis=0) // task.multiple


def limit_along(task, axis):
    """The most that there may be along an axis, in multiples; None without a limit."""
    limit = task.limits[axis] if task.limits else None
    return limit and limit // task.multiple


def elements_each(outcome) -> int:
    """How many elements the largest array has for each unit of the size's product."""
    most = max(np.size(it) for it in outcome.held.values())
    return max(most // prod(outcome.trial.size), 1)


def put(size, axis, extent) -> np.ndarray:
    """A size with another extent along an axis."""
    return np.where(np.arange(size.size) == axis, extent, size)


def threads_at(task, size) -> int:
    """The threads of a launch."""
    blocks, threads, *_ = task.launch(*map(int, size))
    return int(np.prod(blocks) * np.prod(threads))


def units_along(task, axis) -> set:
    """How many elements along an axis are one of what a kernel may count: an element; a
    block, where the grid grows with the axis; a turn in which each thread has one.
    """
    return {1, block_along(task, axis), turn_of(task)}


def turn_of(task) -> int:
    """How many elements are one turn in which each thread has one, in few blocks."""
    size = np.array(whole_size(task.even[0]))
    blocks, threads, *_ = task.launch(*with_few_blocks(task, size))
    return int(np.prod(threads) * (np.prod(blocks) if size.size == 1 else 1))


def block_along(task, axis) -> int:
    """How many elements along an axis are one block, where the grid grows with it."""
    size = np.array(whole_size(task.even[0]))
    longer = put(size, axis, 8 * size[axis])
    (blocks, *_), (more, *_) = task.launch(*size), task.launch(*longer)
    grown = int((np.array(more) - np.array(blocks)).max())
    return max(int((longer - size).max()) // grown, 1) if grown > 0 else 1


def blocks_along(task, axis, numbers) -> set:
    """Numbers of blocks as elements along an axis."""
    return {number * block_along(task, axis) for number in numbers}


def beyond(rng, most, limit, bound=0) -> int:
    """A number that is two to three times as large, or nearer where there is a limit;
    the same if that is reached. It is above a bound, as far as the limit lets it.
    """
    least, top = 2 * most, 3 * most
    if bound > least:
        least, top = bound, bound + most
    top = min(top, limit or top)
    least = least if least < top else max(most, bound)
    return int(rng.integers(least, top)) + 1 if least < top else most


def in_other_blocks(blocks, threads, *others):
    """A launch that reaches as far along each axis, and a block farther: of blocks that
    have a quarter as many threads along the first, and then three times as many along
    the last. So they are another number, and no power of two; but whole warps.
    """
    shape = np.ravel(threads)
    other = np.array([max(shape[0] // 4, 1), *shape[1:]])
    other[-1] *= 3
    other[0] *= WARP_SIZE // gcd(WARP_SIZE, int(np.prod(other)))
    blocks = -(-np.ravel(blocks) * shape // other) + 1
    return *(as_size(it) for it in (blocks, other)), *others


def in_one_block(blocks, threads, *others):
    """A launch of a single block."""
    return as_size(np.ones_like(np.ravel(blocks))), threads, *others


def as_size(numbers):
    """Numbers as a launch has them."""
    one, *others = map(int, numbers)
    return (one, *others) if others else one

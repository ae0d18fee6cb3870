"""What happens at the same time: a message between two blocks, copies beside
arithmetic, and tiles of a scan that look back. The times are a model's.
"""

from dataclasses import dataclass
from math import inf

from helpers.plotting.boxes import DASHES, ROW_INCHES, SHARES, board, refuse_too_many
from thirty_two_lanes.core import style
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, cell, label, note

# ---------------------------------------------------------------- two fences

SLOW = 11  # how long the store is on its way to L2; a count takes 1
ARROW = {"arrowstyle": "-|>", "linewidth": 1.3}
ACT, BEFORE, AFTER = (style.PLAIN, 0.25), (style.PLAIN, 0.08), (style.STORE, 0.35)
STORE, FENCE = (style.STORE, 0.45), (style.IDLE, 0.15)
LOAD = {"new": (style.LOAD, 0.35), "old": (style.CONFLICT, 0.3)}


@dataclass(frozen=True)
class Words:
    """What a message is called: the cells and their values, the acts, the sentence."""

    part: str
    count: str
    counts: tuple  # its value before, after block 0's act, and after block 1's
    acts: tuple
    stores: str
    signals: tuple


PARTS = Words(
    *("the part", "the count", ("0", "1", "2"), ("count", "count")),
    *("its part", ("counts", "counts")),
)
LETTER = Words(
    *("box[0]", "flag", ("1", "2", "2"), ("add 1", "ask")),
    *("42 in box[0]", ("adds 1 to the flag", "asks for the flag until it is 2")),
)


def plot_fences(first=True, second=True, ax=None):
    """Two blocks over time: one stores a part and counts, the other counts and loads
    the part; with the `first` fence between store and count, and the `second` between
    count and load, or without.

    Not modelled: the load may find the new part without a fence, too.
    """
    return drawn_message(PARTS, first, second, ax)


def plot_letter(fence=True, ax=None):
    """The same of a letter: one block stores it, fences and sets a flag, the other asks
    for the flag and loads, with a `fence` between or without.
    """
    return drawn_message(LETTER, True, fence, ax)


def drawn_message(words, first, second, ax):
    """A message from block to block, with the first fence and the second or without."""
    spans, arrows, found = message(words, first, second)
    end = max(until for _, _, until, *_ in spans if until < inf) + 1
    tops = tops_of(words)
    down = tops["block 1"] + 1
    rows = {top: name for name, top in tops.items()}
    with board(ax, 0.5 + ROW_INCHES * down, end, down, rows, style.WIDTH_INCHES) as ax:
        for row, start, until, text, (colour, share) in spans:
            top, width = tops[row], min(until, end) - start
            if start or row.startswith("block"):
                cell(ax, start, top, text, colour, width, share=share)
            else:  # no arrow comes by at the left
                cell(ax, start, top, "", colour, width, share=share)
                note(ax, start, top + 0.5, text, (5, 0), ha="left")
        for begin, target, colour in arrows:
            ax.annotate("", target, begin, arrowprops=ARROW | {"color": colour})
        note(ax, end, down, "time →", (0, -10), ha="right")
    return Picture(ax.figure, message_of(words, first, second, found))


def tops_of(words):
    """Where each row begins, by its name."""
    rows = "L1 of block 0", f"L2: {words.part}", f"L2: {words.count}", "L1 of block 1"
    return dict(
        zip(("block 0", *rows, "block 1"), (0, 2, 4, 5.2, 7.2, 9.2), strict=True)
    )


def message(words, first, second):
    """Spans of time by row, arrows between rows, and which part the load finds."""
    there = 2 + SLOW  # when the part is in L2
    count = there if first else 2
    counts = count + 2  # when the other block begins to
    both = counts + 2
    load = both + (4 if second else 2)
    found = "new" if second and there < load + 2 else "old"
    tells, asks = words.acts
    first_block, passing, part, tally, below, last = tops_of(words)
    spans = [
        (first_block, 0, 2, "store", STORE),
        (first_block, count, count + 2, tells, ACT),
        (passing, 0, inf, "passes stores on", BEFORE),
        (part, 0, there, "old", BEFORE),
        (part, there, inf, "new", AFTER),
        *((tally, *span, ACT if span[0] else BEFORE) for span in values(words, counts)),
        (below, 0, both + 3 if second else inf, "old copy", BEFORE),
        (last, counts, both + 2, asks, ACT),
        (last, load, load + 4, f"load: {found}", LOAD[found]),
    ]
    if first:
        text = f"fence: waits until {words.part} is in L2"
        spans.append((first_block, 2, count, text, FENCE))
    if second:
        spans.append((last, both + 2, load, "fence", FENCE))
    return spans, arrows_of(tops_of(words), count, there, load, second), found


def values(words, counts):
    """When the count has which value; block 0's act is there 1 after block 1 begins."""
    before, between, after = words.counts
    if between == after:
        return (0, counts + 1, before), (counts + 1, inf, after)
    return (
        *((0, counts + 1, before), (counts + 1, counts + 2, between)),
        (counts + 2, inf, after),
    )


def arrows_of(tops, count, there, load, second):
    """What is sent where: the store, block 0's act, and what block 1 asks and gets."""
    _, _, part, tally, below, last = tops.values()
    asked = (part if second else below) + 1
    counts, both = count + 2, count + 4
    return [
        ((2, 1), (there, part), style.STORE),
        ((counts, 1), (counts + 1, tally), style.INK),
        *there_and_back((counts, last), (both, tally + 1), style.INK),
        *there_and_back((load, last), (load + 2, asked), style.LOAD),
    ]


def there_and_back(begin, target, colour):
    """The arrows of a request and of its answer, which takes as long."""
    back = 2 * target[0] - begin[0], begin[1]
    return (begin, target, colour), (target, back, colour)


def message_of(words, first, second, found):
    """What happens in order, and what the load finds, in words."""
    waits = ", waits at a fence until it is in L2," if first else ""
    empties = ", fences, which empties its L1," if second else ""
    where = "L2" if second else "its L1"
    tells, asks = words.signals
    return (
        f"Block 0 stores {words.stores}{waits} and {tells}. Block 1 {asks}{empties} "
        f"and loads {words.part} from {where}: it finds the {found} one."
    )


# ---------------------------------------------------------------- several buffers

BAND = 4.6  # rows, from one number of buffers to the next


def plot_pipeline(steps=4, copy=3, compute=2, buffers=(1, 2), ax=None):
    """Copies of tiles and the arithmetic on them over time, with the barriers between.

    `copy` and `compute` are how long either takes for a tile; for each number of
    `buffers` there is a band of its own. A box has its tile's number, and the shade
    of its buffer.
    """
    plans = {count: pipeline(steps, copy, compute, count) for count in buffers}
    ends = {count: sums[-1][1] for count, (_, sums, _) in plans.items()}
    down, end = BAND * len(plans) - 1, max(ends.values())
    rows = {}
    for turn in range(len(plans)):
        rows |= {BAND * turn: "copy", BAND * turn + 1.2: "arithmetic"}
    size = 0.5 + ROW_INCHES * down, 1.12 * end, down, rows, style.WIDTH_INCHES
    with board(ax, *size) as ax:
        for turn, (count, (copies, sums, barriers)) in enumerate(plans.items()):
            top = BAND * turn
            name = counted(count, "buffer")
            label(ax, 0, top, name, (0, 11), ha="left", va="bottom", fontweight="bold")
            draw_work(ax, top, copies, count, style.LOAD)
            draw_work(ax, top + 1.2, sums, count, style.PLAIN)
            for at in barriers:
                ax.plot([at, at], [top - 0.4, top + 2.6], zorder=0, **DASHES)
            note(ax, ends[count], top + 1.7, f"{ends[count]:g}", (6, 0), ha="left")
        text = "number: the tile; shade: its buffer; dashed: a barrier"
        note(ax, 0, down, text, (0, -10), ha="left")
        note(ax, end, down, "time →", (0, -10), ha="right")
    return Picture(ax.figure, pipeline_of(steps, plans, ends))


def pipeline(steps, copy, compute, buffers):
    """When each tile is copied and used, as (start, end), and the barriers' times.

    A copy begins when the one before it has ended and its buffer's last tile is used; a
    tile is used when it is there and the one before it has been used.
    """
    copies, sums, barriers = [], [], set()
    for tile in range(steps):
        used = sums[tile - buffers][1] if tile >= buffers else 0
        begin = max(copies[-1][1] if copies else 0, used)
        copies.append((begin, begin + copy))
        ready = max(copies[-1][1], sums[-1][1] if sums else 0)
        sums.append((ready, ready + compute))
        barriers |= {ready, begin} if buffers == 1 and tile else {ready}
    return copies, sums, sorted(barriers)


def draw_work(ax, top, spans, buffers, colour):
    """Draw a row of boxes with the tiles' numbers."""
    for tile, (start, end) in enumerate(spans):
        share = 0.45 - 0.3 * (tile % buffers) / max(1, buffers - 1)
        cell(ax, start, top, str(tile), colour, end - start, share=share)


def pipeline_of(steps, plans, ends):
    """How long the steps take with each number of buffers, in words."""
    parts = (
        f"with {counted(count, 'buffer')} after {ends[count]:g}, with "
        f"{counted(len(barriers), 'barrier')}"
        for count, (_, _, barriers) in plans.items()
    )
    return f"{counted(steps, 'tile')} are copied and used: {'; '.join(parts)}."


# ---------------------------------------------------------------- looking back


def plot_look_backs(tiles, look=1, ax=None):
    """When each tile of a scan has its sum and its prefix, and whom it waits for.

    `tiles` has for each, in order, when a block takes it and how long its sum takes;
    a `look` at one tile takes so long.
    """
    refuse_too_many(len(tiles))
    plans = look_backs(tiles, look)
    end = 1.03 * max(plan[-1][1] for plan in plans)
    rows = {1.25 * tile: f"tile {tile}" for tile in range(len(tiles))}
    down = 1.25 * len(tiles)
    size = 0.6 + ROW_INCHES * down, end, down, rows, style.WIDTH_INCHES
    with board(ax, *size) as ax:
        for top, plan in zip(rows, plans, strict=True):
            for start, until, text, colour, share in plan:
                cell(ax, start, top, text, colour, until - start, share=share)
            draw_published(ax, plan[0][1], top, style.PAPER)
            draw_published(ax, plan[-1][1], top, style.INK)
        text = (
            "◇ publishes its sum; ◆ its prefix; dotted: waits; number: the tile that it"
        )
        text += " looks at, dark where that has its prefix"
        note(ax, 0, down, text, (0, -10), ha="left")
        note(ax, end, down, "time →", (0, -10), ha="right")
    return Picture(ax.figure, look_backs_of(plans))


def look_backs(tiles, look):
    """The boxes of each tile, (start, end, text, colour, share): its sum, then waits
    and looks until it has found a prefix.
    """
    plans, sums, prefixes = [], [], []
    for tile, (start, length) in enumerate(tiles):
        now = start + length
        plan = [(start, now, "sum", style.PLAIN, 0.25)]
        sums.append(now)
        for other in range(tile - 1, -1, -1):
            if sums[other] > now:
                plan.append((now, sums[other], "", style.IDLE, 0.15))
                now = sums[other]
            ready = prefixes[other] <= now
            plan.append((now, now + look, str(other), style.LOAD, SHARES[not ready]))
            now += look
            if ready:
                break
        prefixes.append(now)
        plans.append(plan)
    return plans


def draw_published(ax, at, top, face):
    """Draw when a tile publishes something."""
    ax.plot(at, top + 0.5, "D", color=style.INK, markersize=6, markerfacecolor=face)


def look_backs_of(plans):
    """When each tile publishes, and whom it looks at, in words."""
    parts = []
    for tile, plan in enumerate(plans):
        looked = [text for *_, text, colour, _ in plan if colour == style.LOAD]
        waits = sum(b - a for a, b, _, colour, _ in plan if colour == style.IDLE)
        steps = [f"its sum at {plan[0][1]:g}"]
        steps += [f"waits {waits:g}"] * (waits > 0)
        steps += [f"looks at {', '.join(looked)}"] * bool(looked)
        steps += [f"its prefix at {plan[-1][1]:g}"]
        parts.append(f"tile {tile}: {', '.join(steps)}")
    return f"What tiles publish, and when: {'; '.join(parts)}."

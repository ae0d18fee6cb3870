"""How chains of instructions fill one another's waits on one arithmetic unit. The times
are a model's.
"""

from helpers.plotting.boxes import ROW_INCHES, board, refuse_too_many
from thirty_two_lanes.core import style
from thirty_two_lanes.core.words import counted
from thirty_two_lanes.pictures import Picture, cell, label, note

BETWEEN = 1.5  # rows, from one band to the next
BELOW = 0.3  # rows, from the last chain to the unit


def plot_chains(steps=3, work=1, wait=3, chains=(1, 4), ax=None):
    """Chains on one arithmetic unit over time, a band for each number of `chains`.

    A chain works so long, `steps` times, and waits so long in between; the unit takes
    the chain that is ready first.
    """
    plans = {count: turns(steps, work, wait, count) for count in chains}
    end = max(plan[-1][1] + work for plan in plans.values())
    refuse_too_many(end)
    rows, tops = rows_of(plans)
    down = max(rows) + 1
    size = 0.6 + ROW_INCHES * down, 1.02 * end, down, rows, style.WIDTH_INCHES
    with board(ax, *size) as ax:
        for count, plan in plans.items():
            text = counted(count, "chain")
            bold = {"va": "bottom", "fontweight": "bold"}
            label(ax, 0, tops[count], text, (0, 4), ha="left", **bold)
            draw_chains(ax, tops[count], plan, work)
            draw_unit(ax, tops[count] + count + BELOW, plan, work)
        text = "filled: works; dotted: waits, or has nothing to do"
        note(ax, 0, down, text, (0, -10), ha="left")
        note(ax, end, down, "time →", (0, -10), ha="right")
    return Picture(ax.figure, chains_of(plans, work))


def turns(steps, work, wait, chains):
    """When the unit works for which chain, as (chain, start), in order."""
    ready, done, now, plan = [0] * chains, [0] * chains, 0, []
    while min(done) < steps:
        left = [chain for chain in range(chains) if done[chain] < steps]
        chain = min(left, key=ready.__getitem__)
        now = max(now, ready[chain])
        plan.append((chain, now))
        now += work
        ready[chain] = now + wait
        done[chain] += 1
    return plan


def rows_of(plans):
    """The rows' names by where they begin, and where each band does."""
    rows, tops, top = {}, {}, 0
    for count in plans:
        tops[count] = top
        rows |= {top + chain: f"chain {chain}" for chain in range(count)}
        rows[top + count + BELOW] = "unit"
        top += count + BELOW + 1 + BETWEEN
    return rows, tops


def draw_chains(ax, top, plan, work):
    """Draw the work of each chain, and its waits in between."""
    last = {}
    for chain, start in plan:
        if (ended := last.get(chain, start)) < start:
            cell(ax, ended, top + chain, "", style.IDLE, start - ended, share=0.15)
        cell(ax, start, top + chain, str(chain), style.PLAIN, work, share=0.45)
        last[chain] = start + work


def draw_unit(ax, top, plan, work):
    """Draw the unit's row: the chain that it works for, or that it has none."""
    now = 0
    for chain, start in plan:
        if now < start:
            cell(ax, now, top, "", style.IDLE, start - now, share=0.15)
        cell(ax, start, top, str(chain), style.STORE, work, share=0.35)
        now = start + work


def chains_of(plans, work):
    """How long the unit works, and out of how long, with each number of chains."""
    parts = (
        f"with {counted(count, 'chain')} for {len(plan) * work:g} of "
        f"{plan[-1][1] + work:g} steps of time"
        for count, plan in plans.items()
    )
    return f"One arithmetic unit works {', '.join(parts)}."

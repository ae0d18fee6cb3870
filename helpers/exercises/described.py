"""The totals of an exercise in words, and as the numbers of its first size."""

from helpers.exercises.totals import (
    SPARE,
    SPREADS,
    SPREADS_OF_STORES,
    TIMES_RAGGED,
    TOTALS,
    UNNAMED,
    limit_of,
    times_of,
    totals_of,
)
from helpers.exercises.trials import RAGGED, listed_trials


def described_totals(task, counted=False):
    """Each limit in words; where `counted`, the most that is allowed, too."""
    held = [TOTALS[name] for names in totals_of(task) for name in names]
    groups = {}  # by how many times the answer's
    for total in held:
        groups.setdefault(most_of(task, total), []).append(total.words)
    for most, words in groups.items():
        spare = f", and {SPARE} instructions a warp" * ("instructions" in words)
        yield f"{joined(words)}: {most}{spare}"
    if counted:
        yield f"at the first size, about: {joined([*numbers_of(task, held)])}"
    if task.ragged:
        times = f"less than {times_of(task, RAGGED):g} times these"
        yield (
            f"at sizes that do not fill their blocks: {times}, and {TIMES_RAGGED} "
            "times the other counts"
        )
    (block, warp), (storing, stores) = (
        it.values() for it in (SPREADS, SPREADS_OF_STORES)
    )
    yield (
        f"share of the busiest block and warp in the instructions: less than {block} "
        f"and {warp} times that in the course's answer; in the stores: {storing} and "
        f"{stores} times"
    )


def most_of(task, total) -> str:
    """How many times what the answer needs."""
    if total.times is not None:
        return "no more than the course's answer needs"
    unnamed = total.named and total.named not in task.budget
    times = max(task.work, UNNAMED if unnamed else 1)
    return f"less than {times:g} times those of the course's answer"


def numbers_of(task, totals):
    """The most of each total that is some times the answer's, in one trial."""
    trial, *_ = listed_trials(task, "page")
    runs = [trial.run(task.kernel(text)) for text in task.answer_texts]
    for total in totals:
        if total.times is None:
            limit = limit_of(total, task, runs[0], max(map(total.count, runs)))
            yield f"{limit:,} {total.words}" if limit else f"no {total.words}"


def joined(words) -> str:
    """Words with commas, and "and" before the last."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last

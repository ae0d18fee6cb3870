"""The variants of an exercise that tests judge: as few as hold all that is chosen."""

from functools import cache
from itertools import count

from helpers.exercises.catalogue import exercises
from helpers.exercises.variants import chosen


@cache
def variants_of(name) -> list:
    """The seeds of an exercise's variants in which each value of each choice occurs:
    None, and then the first seeds of which each brings a new value of every choice that
    has one left. So they are as many as the longest choice has values.
    """
    kind = exercises()[name]
    seeds, left = [None], {key: values[1:] for key, values in kind.choices.items()}
    for seed in count(1):
        left = {key: values for key, values in left.items() if values}
        if not left:
            return seeds
        values = chosen(kind.choices, name, seed)
        if all(values[key] in left[key] for key in left):
            seeds.append(seed)
            left = {k: [it for it in left[k] if it != values[k]] for k in left}

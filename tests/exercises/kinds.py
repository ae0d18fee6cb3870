"""The names of the course's exercises, by kind."""

from helpers.exercises.catalogue import exercises
from helpers.exercises.exercise import Write


def names_of(kind) -> list[str]:
    return [name for name, found in exercises().items() if issubclass(found, kind)]


KERNELS = names_of(Write)  # those that are answered by a kernel

"""The whole zoo, in the order in which it is read."""

from tests.specimens import zoo, zoo_errors, zoo_races

MODULES = zoo, zoo_races, zoo_errors
ZOO = sorted(zoo.ZOO, key=lambda s: [m.__name__ for m in MODULES].index(s.module))

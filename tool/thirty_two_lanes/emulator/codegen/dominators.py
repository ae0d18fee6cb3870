"""The graph of a kernel's basic blocks: what leads to each, and which of them all ways
to another lead through.
"""

from collections import defaultdict
from typing import NamedTuple

from thirty_two_lanes.core.liveness import successors


class Graph(NamedTuple):
    """What leads to each block; and its dominators, which are those through which all
    ways from the entry to it lead, itself among them.
    """

    before: dict[int, list[int]]
    dominators: dict[int, set[int]]

    def nearest(self, number) -> int | None:
        """The last block through which all ways to another lead."""
        above = self.dominators[number] - {number}
        return max(above, key=lambda it: len(self.dominators[it]), default=None)

    def between(self, first, lasts) -> set[int]:
        """The blocks on ways to the last ones that do not lead through the first."""
        found, waiting = set(), list(lasts)
        while waiting:
            number = waiting.pop()
            if number != first and number not in found:
                found.add(number)
                waiting += self.before[number]
        return found


def graph_of(blocks, entry) -> Graph:
    """The graph of blocks by their numbers."""
    return graph_from({n: successors(block[-1]) for n, block in blocks.items()}, entry)


def graph_from(leads, entry) -> Graph:
    """The same, from where each block leads."""
    before = defaultdict(list)
    for number, following in leads.items():
        for after in following:
            before[after].append(number)
    found = dict.fromkeys(leads, {*leads}) | {entry: {entry}}
    changed = True
    while changed:
        changed = False
        for number in leads:
            if number != entry:
                above = (found[it] for it in before[number])
                now = {number}.union(set.intersection(*above))
                changed |= now != found[number]
                found[number] = now
    return Graph(before, found)

"""Puts the first computation of what is the same in all iterations in front of a loop.

So does NVIDIA's compiler, with what each iteration comes to; of loads, those of memory
that nothing in the loop may change. The loop is rotated first: what its test computes
stands in front of it once more, and behind it the invariants. Those of the loop stay,
and `value_numbering` finds that they are repeated. A loop over an array tests twice if
there is one more, to load it and to go on; it is made one test. Not modelled: loads
that the compiler moves in front of a loop with a shuffle or a vote, which order them
for races.
"""

from collections import Counter

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import (
    live_at_start,
    reads,
    redirected,
    successors,
    writes,
)
from thirty_two_lanes.emulator.codegen.dominators import graph_of
from thirty_two_lanes.emulator.codegen.value_numbering import Changes, is_merged


def with_invariants_in_front(kernel, blocks):
    """The blocks, with the invariants of each loop in front of it, too."""
    blocks = _tested_once(kernel, blocks)
    sizes = {it: len(nodes) for it, nodes in loops_of(graph_of(blocks, kernel.entry))}
    for header in sorted(sizes, key=sizes.get):  # inner loops first
        blocks = _with_those_of(kernel, blocks, header)
    return blocks


def _tested_once(kernel, blocks):
    """The blocks without a second test of a condition right behind the first one's
    branch: each way from that goes on where the second would lead.
    """
    blocks, new = dict(blocks), max(blocks) + 1
    for number in [*blocks]:
        *straight, first = blocks.get(number, [None])
        if not isinstance(first, ir.Branch):
            continue
        inner, second = first.then, first.otherwise
        if _copied(blocks[second]) != first.condition:
            continue
        if not _leads_to_it_alone(blocks[inner], first.condition, second):
            continue
        before = graph_of(blocks, kernel.entry).before
        if before[inner] == [number] and {*before[second]} == {number, inner}:
            *copies, test = blocks.pop(second)
            blocks[inner] = [*blocks[inner][:-1], *copies, ir.Jump(test.then)]
            blocks[new] = [*copies, ir.Jump(test.otherwise)]
            blocks[number] = [*straight, redirected(first, second, new)]
            new += 1
    return blocks


def _leads_to_it_alone(block, condition, second):
    """Does a block jump to the second test, and leave the condition as it is?"""
    jumps = isinstance(block[-1], ir.Jump) and block[-1].block == second
    return jumps and all(condition not in writes(it) for it in block)


def _copied(block):
    """The variable that a block of copies alone branches on; None for others."""
    *copies, end = block
    alone = all(isinstance(it, ir.Copy) and len(it.targets) == 1 for it in copies)
    if not isinstance(end, ir.Branch) or not alone:
        return None
    condition = end.condition
    for copy in reversed(copies):
        condition = copy.sources[0] if copy.targets[0] == condition else condition
    return condition


def loops_of(graph) -> list[tuple[int, set[int]]]:
    """The blocks where iterations begin, and those of each loop."""
    found = []
    for header, before in graph.before.items():
        back = [it for it in before if header in graph.dominators[it]]
        if back:
            found.append((header, {header} | graph.between(header, back)))
    return found


def _with_those_of(kernel, blocks, header):
    """The blocks, with the invariants of one loop in front of it."""
    graph = graph_of(blocks, kernel.entry)
    nodes = dict(loops_of(graph))[header]
    inside = [it for it in successors(blocks[header][-1]) if it in nodes]
    leaves = isinstance(blocks[header][-1], ir.Branch) and len(inside) == 1
    first = inside[0] if leaves and graph.before[inside[0]] == [header] else header
    tests = {header} - {first}
    certain = _certain(blocks, graph, nodes - tests, header)
    found = _invariants(kernel, blocks, nodes, [*tests, *certain], first)
    entries = set(graph.before[header]) - nodes
    if not entries or not any(i.nature.counts for i in found):
        return blocks
    return _in_front(blocks, found, header, first, entries)


def _certain(blocks, graph, nodes, header) -> list[int]:
    """The blocks of a loop that each iteration comes to before it ends, in order."""
    goes_on = nodes - {header}
    ends = [it for it in nodes if not goes_on.issuperset(successors(blocks[it][-1]))]
    certain = nodes.intersection(*(graph.dominators[it] for it in ends))
    return sorted(certain, key=lambda it: len(graph.dominators[it]))


def _invariants(kernel, blocks, nodes, certain, first) -> list:
    """What is the same in all iterations, of blocks that each comes to, in order."""
    changes = Changes(kernel, blocks)
    changing = changes.of(nodes)
    if any(isinstance(blocks[it][-1], ir.WaitForLanes) for it in nodes):
        changing |= changes.common
    once = Counter(it for n in nodes for i in blocks[n] for it in writes(i))
    live, found = live_at_start(blocks)[first], []
    for i in (i for number in certain for i in blocks[number]):
        copies = isinstance(i, ir.Copy) and len(i.targets) == 1
        if not copies and not is_merged(i):
            continue
        (target,) = writes(i)
        needs = reads(i) | changes.memory_of(i, i.nature.loads)
        if once[target] == 1 and target not in live and not needs & changing:
            found.append(i)
            changing -= {target}
    return found


def _in_front(blocks, invariants, header, first, entries):
    """The blocks, with a loop's test and then its invariants in front of it: where its
    first block is behind its header, that is the test.
    """
    blocks, new = dict(blocks), max(blocks) + 1
    blocks[new] = [*invariants, ir.Jump(first)]
    into = new
    if first != header:
        *straight, test = blocks[header]
        into = new + 1
        blocks[into] = [*straight, redirected(test, first, new)]
    for number in entries:
        *straight, end = blocks[number]
        blocks[number] = [*straight, redirected(end, header, into)]
    return blocks

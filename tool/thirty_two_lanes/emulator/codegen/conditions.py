"""Which condition decides whether a basic block runs.

Where the compiler makes predicates of a condition and no branch, all warps that come to
it issue what it decides about, whether or not a lane passes.
"""

from thirty_two_lanes.emulator.codegen.dominators import graph_from
from thirty_two_lanes.emulator.codegen.loop_invariants import loops_of
from thirty_two_lanes.emulator.program import BRANCH, JUMP, RETURN


def deciding(code) -> list[int | None]:
    """By pc, the pc of the condition that decides whether a block of a program runs, or
    None; of conditions in a row with the same way past it, such as `and` makes, the
    first. The test of a loop decides about none.
    """
    graph = graph_from({pc: _leads(block) for pc, block in enumerate(code)}, 0)
    loops = [nodes for _, nodes in loops_of(graph)]
    return [_deciding(pc, code, graph, loops) for pc in range(len(code))]


def _leads(block) -> tuple[int, ...]:
    if block.kind == RETURN:
        return ()
    return (block.then, block.otherwise) if block.kind == BRANCH else (block.then,)


def _deciding(pc, code, graph, loops):
    around = [nodes for nodes in loops if pc in nodes]
    found = past = None
    at = graph.nearest(pc)
    while at is not None and [it for it in loops if at in it] == around:
        ways = set(_leads(code[at])) - graph.dominators[pc]
        if len(ways) == 1 and code[at].kind == BRANCH:
            (way,) = ways
            leaves = any(way not in nodes for nodes in around)
            if leaves or past not in (None, way):
                break
            found, past = at, way
        elif found is not None and code[at].kind != JUMP:
            break
        at = graph.nearest(at)
    return found

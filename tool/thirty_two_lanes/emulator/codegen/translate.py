"""Translates a kernel of our IR into a program: one NumPy function per basic block.

A basic block is a straight line of instructions between two places where threads may
diverge or wait. Its number is its program counter (pc). Blocks are numbered so that
every block of a loop comes before the blocks behind the loop, and a block comes before
those it leads to: threads that run the lowest pc first reconverge at the end of each
`if`, of each iteration of a loop, and of the loop.
"""

from dataclasses import replace

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.liveness import (
    live_at_start,
    reads,
    redirected,
    successors,
    without_dead_code,
)
from thirty_two_lanes.emulator.codegen.aliasing import (
    read_arrays,
    reinterpreted,
    written_arrays,
)
from thirty_two_lanes.emulator.codegen.first_uses import inputs_of
from thirty_two_lanes.emulator.codegen.increments import with_increments
from thirty_two_lanes.emulator.codegen.instruction_counts import work_of
from thirty_two_lanes.emulator.codegen.loop_invariants import with_invariants_in_front
from thirty_two_lanes.emulator.codegen.reconvergence import pc_order
from thirty_two_lanes.emulator.codegen.static_facts import (
    Definitions,
    float64_of,
    guards_of,
    negative_numbers_of,
)
from thirty_two_lanes.emulator.codegen.value_numbering import repeated_in
from thirty_two_lanes.emulator.codegen.writer import Writer
from thirty_two_lanes.emulator.program import (
    BARRIER,
    BRANCH,
    JUMP,
    RETURN,
    WARP_SYNC,
    BasicBlock,
    Instructions,
    Program,
)


def translate(kernel: ir.Kernel, merged=False) -> Program:
    """The program of a kernel; where `merged`, what it repeats does not count."""
    order, blocks, repeated = _in_order(kernel, merged)
    pc = {number: place for place, number in enumerate(order)}
    live = live_at_start(blocks)
    slots = {name: n for n, name in enumerate(sorted(_shared(kernel, live)))}
    writer, source = _compiled(kernel, order, blocks, slots)
    waits = [b[-1] for b in blocks.values() if isinstance(b[-1], ir.WaitAtBarrier)]
    instructions = [i for number in order for i in blocks[number]]
    definitions = Definitions(kernel, blocks.values())
    return Program(
        name=kernel.name,
        arguments=tuple(slots[a] for a in kernel.arguments),
        code=tuple(
            _basic_block(
                writer.namespace[f"block_{pc[n]}"],
                blocks[n],
                pc,
                sum(1 << slots[name] for name in live[n]),
                inputs_of(blocks[n], slots),
                work_of(blocks[n], kernel.types, repeated.get(n, ())),
                writer.sites[pc[n]],
            )
            for n in order
        ),
        slots=len(slots),
        results=_results(waits, pc, slots),
        allocations=_allocations(blocks),
        reinterpreted=reinterpreted(kernel, blocks.values()),
        grid_barriers=_grid_barriers(waits, pc),
        references=tuple(r for i in instructions for r in ir.references_of(i)),
        read=read_arrays(kernel, blocks.values()).intersection(kernel.arguments),
        written=written_arrays(kernel, blocks.values()).intersection(kernel.arguments),
        source=source,
        site=kernel.site,
        float64=float64_of(definitions),
        guards=guards_of(definitions),
        from_the_end=negative_numbers_of(definitions),
        ir=Instructions([blocks[n] for n in order], kernel.types, slots, tuple(order)),
    )


def _marked(block, repeated):
    """A block, with references that know it where a load is repeated."""
    marked = list(block)
    for index in repeated:
        i = block[index]
        if isinstance(i, ir.Load):
            marked[index] = replace(i, reference=replace(i.reference, merged=True))
        elif isinstance(i, ir.Twin):
            loaded = (it and replace(it.loaded, merged=True) for it in i.references)
            both = zip(i.references, loaded, strict=True)
            references = tuple(it and it._replace(loaded=new) for it, new in both)
            marked[index] = replace(i, references=references)
    return marked


def _in_order(kernel, merged):
    """The blocks' numbers by pc, the blocks by number, and what is repeated in them."""
    blocks = without_dead_code(_straighten(kernel.blocks, kernel.entry))
    if merged:
        blocks = with_invariants_in_front(kernel, blocks)
    graph = {n: successors(b[-1]) for n, b in blocks.items()}
    order, latches = pc_order(graph, kernel.entry)
    blocks = with_increments(kernel, _with_latches(blocks, latches))
    if not merged:
        return order, blocks, {}
    repeated = repeated_in(kernel, blocks)
    return order, {n: _marked(b, repeated[n]) for n, b in blocks.items()}, repeated


def _shared(kernel, live) -> set[str]:
    """The variables that some block leaves for another: those that get a slot."""
    return set(kernel.arguments).union(*live.values())


def _compiled(kernel, order, blocks, slots):
    """What wrote the blocks, with their functions by name, and their source."""
    read = {name for block in blocks.values() for i in block for name in reads(i)}
    writer = Writer(slots, read, kernel.types)
    source = "\n\n".join(
        writer.basic_block(pc, blocks[number]) for pc, number in enumerate(order)
    )
    exec(compile(source, f"<emulated {kernel.name}>", "exec"), writer.namespace)
    return writer, source


def _results(waits, pc, slots) -> dict[int, int]:
    """The slots of what barriers give their threads, by the pc behind each."""
    return {
        pc[wait.block]: slots[wait.barrier.target]
        for wait in waits
        if wait.barrier.target in slots
    }


def _grid_barriers(waits, pc) -> frozenset[int]:
    """The pcs behind barriers of the grid."""
    return frozenset(pc[w.block] for w in waits if w.barrier.operator == "grid")


def _allocations(blocks) -> tuple[ir.Allocate, ...]:
    """Each shared and local array once, in the order of the blocks' numbers."""
    instructions = (i for block in blocks.values() for i in block)
    return tuple(dict.fromkeys(i for i in instructions if isinstance(i, ir.Allocate)))


def _straighten(blocks, entry):
    """The reachable blocks, with barriers as terminators and straight chains joined."""
    blocks = {number: _with_wait(block) for number, block in blocks.items()}
    reached, waiting, arrivals = set(), [entry], {entry: 1}
    while waiting:
        number = waiting.pop()
        if number in reached:
            continue
        reached.add(number)
        for following in successors(blocks[number][-1]):
            arrivals[following] = arrivals.get(following, 0) + 1
            waiting.append(following)
    joined = set()
    for number in sorted(reached):
        while number not in joined and isinstance(blocks[number][-1], ir.Jump):
            following = blocks[number][-1].block
            again = isinstance(blocks[following][-1], ir.WaitForLanes)
            if arrivals[following] != 1 or following == number or again:
                break
            blocks[number] = blocks[number][:-1] + blocks[following]
            joined.add(following)
    return {number: blocks[number] for number in reached - joined}


def _with_latches(blocks, latches):
    """The blocks with one back edge in each loop, where early threads wait."""
    blocks = dict(blocks)
    for latch, (first, back) in latches.items():
        for number in back:
            *straight, end = blocks[number]
            blocks[number] = [*straight, redirected(end, first, latch)]
        blocks[latch] = [ir.Jump(first)]
    return blocks


def _with_wait(block):
    if len(block) > 1 and isinstance(block[-2], ir.Barrier):
        return [*block[:-2], ir.WaitAtBarrier(block[-2], block[-1].block)]
    syncs = [i for i in block if isinstance(i, ir.WarpSync)]
    if syncs and len(block) != 2:
        raise ValueError("a WarpSync shares its block: it would run again with it")
    return [ir.WaitForLanes(syncs[0], block[-1].block)] if syncs else list(block)


_KINDS = {
    ir.Jump: JUMP,
    ir.Branch: BRANCH,
    ir.Return: RETURN,
    ir.WaitAtBarrier: BARRIER,
    ir.WaitForLanes: WARP_SYNC,
}


def _basic_block(function, block, pc, needs, inputs, work, sites):
    end = block[-1]
    kind = _KINDS[type(end)]
    after = [pc[n] for n in successors(end)]
    return BasicBlock(
        function,
        kind,
        after[0] if after else -1,
        after[-1] if after else -1,
        needs,
        inputs,
        min(filter(None, sites), key=lambda site: site.line, default=None),
        getattr(end, "barrier", None) or getattr(end, "sync", end),
        work,
        sites,
    )

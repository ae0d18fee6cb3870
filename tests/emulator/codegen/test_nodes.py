"""What a new instruction of our IR must say, and where."""

from dataclasses import fields

import numpy as np

from thirty_two_lanes.core import ir
from thirty_two_lanes.core.source import Site
from thirty_two_lanes.emulator.codegen.aliasing import reinterpreted
from thirty_two_lanes.emulator.codegen.translate import _KINDS
from thirty_two_lanes.emulator.codegen.writer import WRITERS

WAITS = {ir.Barrier, ir.WarpSync}  # the code generator makes terminators of them
SITE, F32 = Site("nodes.py", 1, ""), np.dtype(np.float32)


def test_each_instruction_has_a_statement_and_each_terminator_a_kind():
    """What a new one lacks is said with the table that lacks it."""
    missing = [
        f"codegen/writer.py: WRITERS has no row for ir.{node.__name__}"
        for node in ir.NODES
        if node.nature.leads is None and node not in WRITERS.keys() | WAITS
    ]
    missing += [
        f"codegen/translate.py: _KINDS has no row for ir.{node.__name__}"
        for node in ir.NODES
        if node.nature.leads is not None and node not in _KINDS
    ]
    assert [] == missing


def test_an_instruction_names_all_operands_that_it_reads():
    """Where a field is an operand by its type, its `@node` says so."""
    missing = [
        f"core/ir.py: @node of {node.__name__} does not name `{field.name}`"
        for node in ir.NODES
        for field in fields(node)
        if "ir.Const" in str(field.type) and field.name not in node.nature.reads
    ]
    assert [] == missing


def test_an_instruction_names_only_fields_that_it_has():
    """A name that is none would be an error at the first kernel that uses it."""
    wrong = [
        f"core/ir.py: {node.__name__} has no `{name}`"
        for node in ir.NODES
        for name in (*node.nature.reads, *node.nature.loads, *node.nature.stores)
        if name.partition(".")[0] not in {field.name for field in fields(node)}
    ]
    assert [] == wrong


def test_an_allocation_that_is_chosen_and_then_viewed_is_found():
    """Through a tuple's choice, and a copy beside that of another one."""
    made = [ir.Allocate(n, "shared", (8,), F32, n, SITE, (n,)) for n in "abc"]
    block = [
        *made,
        ir.Copy(("x", "y"), ("a", "c")),
        ir.ChooseArray("z", "i", ("x", "b"), SITE),
        ir.Reinterpret("seen", "z", np.dtype(np.float64), SITE),
        ir.Return(),
    ]
    types = dict.fromkeys("abcxyz", ir.ArrayType(F32, 1)) | {"i": np.dtype(np.int64)}
    kernel = ir.Kernel("k", (), types, {0: block}, 0)

    found = reinterpreted(kernel, [block])

    assert {"a", "b"} == {allocation.target for allocation in found}

"""What counts once, as NVIDIA's compiler does it once: tables of small kernels, which
are compiled where the compiler is installed.
"""

import numpy as np
import pytest
from numba import cuda, float32, int32

from helpers import emulate
from tests.quick import some
from tests.specimens.kernels import NAMESPACE
from thirty_two_lanes.assembly import assemble
from thirty_two_lanes.assembly.compiler import missing
from thirty_two_lanes.core.source import remember
from thirty_two_lanes.intrinsics.wide_access import load4

SHARED = """
    s = cuda.shared.array(64, float32)
    r = cuda.shared.array(64, float32)
    r[t] = 0
    s[t] = 1
    cuda.syncthreads()
"""
LOADS = {  # the loads of a warp that count, by what a thread does
    "out[i] = a[i] * a[i + 1]": 2,
    "out[i] = a[i] * a[i]": 1,
    "if a[i] > 0: out[i] = a[i] * 2": 1,
    "out[i] = a[i] if a[i] > 0 else float32(0)": 1,
    "if i >= 0 and a[i] > 0: out[i] = a[i]": 1,
    # what may change a[i] in between
    "out[i] = a[i]; b[i] = a[i]": 2,
    "out[i] = a[i]; b[i] = out[i]": 1,  # it is what was stored
    "out[i] = out[i] + 1; out[i] = out[i] * a[i]": 2,
    "x = out[i]; out[i + 1] = 3; b[i] = x + out[i]": 2,
    "x = a[i]; cuda.syncthreads(); out[i] = x * a[i]": 2,
    "x = a[i]; cuda.syncwarp(); out[i] = x * a[i]": 2,
    "x = a[i]; cuda.threadfence(); out[i] = x * a[i]": 2,
    "x = a[i]; cuda.atomic.add(b, 0, x); out[i] = x * a[i]": 2,
    # what changes no memory
    "x = cuda.shfl_down_sync(0xFFFFFFFF, a[i], 1); out[i] = x * a[i]": 1,
    "x = cuda.ballot_sync(0xFFFFFFFF, a[i] > 1); out[i] = x * a[i]": 1,
    "x = cuda.match_any_sync(0xFFFFFFFF, int32(a[i])); out[i] = x * a[i]": 1,
    # shared memory is none of global memory, nor of another shared array
    "s[t] = a[i]; out[i] = a[i] + s[t]": 1,
    "out[i] = s[63 - t] * s[63 - t]": 1,
    "out[i] = s[63 - t]; b[i] = s[63 - t]": 1,
    "x = s[63 - t]; r[t] = x; out[i] = x + s[63 - t]": 1,
    "x = s[t + 2]; s[t + 1] = 3; out[i] = x * s[t + 2]": 2,
    "x = s[63 - t]; cuda.syncthreads(); out[i] = x * s[63 - t]": 2,
    "x = s[63 - t]; cuda.threadfence_block(); out[i] = x * s[63 - t]": 2,
    "x = s[63 - t]; cuda.atomic.add(b, 0, x); out[i] = x * s[63 - t]": 1,
    "x = a[i]; cuda.atomic.max(k, 0, 1); out[i] = x * a[i]": 1,
    # branches: half of the lanes take each
    "x = a[i]\n    if t % 2: x = math.tanh(b[i])\n    out[i] = x + a[i]": 2,
    "x = a[i]\n    if t % 2: b[i] = 3\n    out[i] = x + a[i]": 2,
    "x = a[i + 1]\n    if t % 2: x = math.sin(a[i])\n    out[i] = x + a[i]": 3,
    # whole loops, which the compiler unrolls
    "x = a[i]\n    for j in range(3): x += a[i] * b[j]\n    out[i] = x": 4,
    "for j in range(3): out[j] = a[i] * b[j]": 6,
    # four elements at once
    "p = load4(a, 4 * t); q = load4(a, 4 * t); out[i] = p[0] * q[1]": 1,
    "x = b[i]; p = load4(a, 4 * t); out[i] = x * p[0] * b[i]": 2,
    # an index that is computed twice
    "out[i] = a[i % 32] * a[i % 32]": 1,
    "out[i] = a[i % b.size] * a[i % b.size]": 2,
}
LOOPS = {  # is the load in front of the loop, by what an iteration does with {}?
    "x += b[j] * {}": True,
    "x += y * {}": True,  # in a loop over `b`
    "out[j] = b[j] * {}": False,
    "s[j] = b[j] * {}": True,  # and is read behind the loop
    "x += b[j] * {}; cuda.syncthreads()": False,
    "y = b[j]\n        if y > 0: y = math.tanh(y)\n        x += y * {}": True,
    "if b[j] > 0: x += math.tanh({})": False,
}
VALUES = {  # is it computed once, where it is written twice?
    "x * y": True,
    "x / y": True,
    "x**3": True,
    "math.sqrt(x)": True,
    "math.exp(x)": True,
    "math.atan2(x, y)": True,
    "min(x, y)": True,
    "i // 7": True,
    "i % 32": True,
    "i // n": False,  # these branch, and are not merged again
    "i % n": False,
    "math.sin(x)": False,
    "math.cos(x)": False,
    "math.tan(x)": False,
}


def kernel_of(*lines):
    """A kernel of three arrays, whose threads do this."""
    uses_shared = any(" s[" in f" {line}" or "(s" in line for line in lines)
    text = f"""def kernel(out, a, b):
    i, t, n = cuda.grid(1), cuda.threadIdx.x, b.size
    k = cuda.shared.array(1, int32)
{SHARED * uses_shared}"""
    text += "".join(f"    {line}\n" for line in lines)
    file = f"<{lines}>"
    remember(text, file)
    space = {**NAMESPACE, "float32": float32, "int32": int32, "load4": load4}
    exec(compile(text, file, "exec"), space)
    return cuda.jit(space["kernel"])


def counted(kernel):
    """The requests that load, and the instructions, of a warp."""
    out, a, b = np.ones(4096), np.ones(128), np.ones(64)
    arrays = (it.astype(np.float32) for it in (out, a, b))
    run = emulate(kernel, merged=True)[1, 32](*arrays)
    tables = run.coalescing.by_kind, run.bank_conflicts.by_kind
    loads = sum(it["load"].requests for it in tables if "load" in it)
    return loads, run.divergence.instructions


def compiled(kernel):
    """The machine instructions that load, and all of them."""
    made = assemble(kernel, "H200")[1, 32](*np.ones((3, 64), np.float32))
    loads = sum(made.kinds[f"{space} loads"] for space in ("global", "shared"))
    return loads, len(made.instructions)


def in_a_loop(does):
    """Two kernels with a loop that does this with `a[i]`, which one loads before."""
    end = f"out[i] = x + {'s[0]' if 's[' in does else 'x'}"
    each = "j in range(n)" if "[j]" in does else "y in b"
    for load, what in (("0", "a[i]"), ("a[i]", "z")):
        begin = f"x, z = float32(0), {load}"
        yield kernel_of(begin, f"for {each}:\n        {does.format(what)}", end)


def written_twice(value):
    """Two kernels that use a value twice, which one writes once."""
    for begin, what in (("z = 0", value), (f"z = {value}", "z")):
        yield kernel_of("x, y = a[i], b[i]", begin, f"out[i] = {what} * ({what} + 2)")


@pytest.mark.parametrize("does, loads", some(LOADS.items(), every=2))
def test_a_load_counts_where_the_machine_code_has_one(does, loads):
    """And no other: what the source loads again is the value of before."""
    assert loads == counted(kernel_of(does))[0]


@pytest.mark.parametrize("does, in_front", LOOPS.items())
def test_a_load_that_the_compiler_moves_counts_in_front_of_its_loop(does, in_front):
    """Then a kernel costs as much as one that loads it there by itself."""
    mine, by_hand = map(counted, in_a_loop(does))

    assert in_front == (mine[0] == by_hand[0])
    assert in_front == (mine[1] == by_hand[1])


@pytest.mark.parametrize("value, once", some(VALUES.items(), every=2))
def test_a_value_counts_as_often_as_the_compiler_computes_it(value, once):
    """Where it is written twice, once, unless it branches."""
    mine, by_hand = map(counted, written_twice(value))

    assert once == (mine[1] == by_hand[1])


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason="NVIDIA's compiler is not here")
def test_the_compiler_does_what_the_tables_say():
    """Each kernel of them, compiled: its loads, or all its instructions."""
    loads = {does: compiled(kernel_of(does))[0] for does in LOADS}
    assert LOADS == loads

    pairs = {it: [*map(compiled, in_a_loop(it))] for it in LOOPS}
    assert LOOPS == {it: mine[0] == other[0] for it, (mine, other) in pairs.items()}

    pairs = {it: [*map(compiled, written_twice(it))] for it in VALUES}
    assert VALUES == {it: mine[1] == other[1] for it, (mine, other) in pairs.items()}


def test_what_does_not_count_is_judged_all_the_same():
    """A race of a load that the compiler keeps from before."""

    @cuda.jit
    def reads_twice(out):
        t = cuda.threadIdx.x
        if t == 0:
            out[1] = out[32] + out[32]
        out[t] = 2

    runs = [emulate(reads_twice, merged=it)[1, 64](np.ones(64)) for it in (True, False)]

    assert [1, 2] == [it.coalescing.by_kind["load"].requests for it in runs]
    assert runs[0].races == runs[1].races
    assert runs[0].races

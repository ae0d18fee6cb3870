"""Random kernels that never end: a loop comes back to where it was, whatever it stores.

No GPU runs them: it would not end either.
"""

from tests.specimens.random_kernels.blocks import declare
from tests.specimens.random_kernels.program import made, start
from tests.specimens.random_kernels.statements import assign, store
from tests.specimens.random_kernels.tables import Table
from tests.specimens.random_kernels.writer import Writer

ENDLESS = Table()


def endless_program(seed):
    """A kernel of a seed that has to be stopped."""
    blocks, threads = ((1, 1), (2, 40), (1, 64), (3, 32))[seed % 4]
    w = Writer(seed, threads)
    w.write("t = cuda.grid(1)", "tid = cuda.threadIdx.x", "bid = cuda.blockIdx.x")
    w.write("lane = cuda.laneid", f"members = min(32, {threads} - (tid - lane))")
    w.write("wm = (1 << members) - 1", "i = 0")
    declare(w)
    start(w)
    with w.staying():
        for _ in range(2):
            w.pick(assign, store)(w)
        w.array("w_i8")
        ENDLESS.draw(w).write(w)
        store(w)
    return made(seed, w, blocks, threads, blocks * threads + 8)


@ENDLESS.row(1)
def the_same_store_each_turn(w):
    w.write(f"{w.pick('while True', 'while i < 10')}:")
    w.write(f"    w_i8[{w.pick('t * 4', '-1', '0')}] = 1")


@ENDLESS.row(1)
def two_values_in_turn(w):
    w.write("while True:", "    w_i8[t * 4] = i", "    i = 1 - i")


@ENDLESS.row(1)
def a_condition_that_nothing_changes(w):
    name = w.pick(*w.shared)
    place = "0" if w.shared[name] == w.threads else "0, 0"
    w.write(f"{name}[{place}] = 3", "cuda.syncthreads()", "i = 1")
    w.write(f"while {name}[{place}] != 7:", f"    w_i8[t * 4 + 1] = {name}[{place}]")


@ENDLESS.row(1)
def a_lock_that_nobody_opens(w):
    lock = w.array("p_i4")
    w.line(f"cuda.atomic.exch({lock}, t, 1)")
    w.write(f"while cuda.atomic.cas({lock}, t, 0, 1) != 0:", "    w_i8[t * 4] = i")


@ENDLESS.row(1)
def a_loop_in_a_loop(w):
    w.write("while w_i8[t * 4] < 5:", "    w_i8[t * 4] = 0", "    for k in range(3):")
    w.write("        w_i8[t * 4] += k", "    w_i8[t * 4] -= 3")


@ENDLESS.row(1)
def a_barrier_each_turn(w):
    w.write("while i == 0:", "    cuda.syncthreads()", "    w_i8[t * 4] = tid")


@ENDLESS.row(1)
def a_vote_each_turn(w):
    w.write("while cuda.any_sync(wm, i == 0):", "    w_i8[t * 4] = lane")


@ENDLESS.row(1)
def a_local_array(w):
    w.write("own = cuda.local.array(2, np.int32)", "own[0] = 0")
    w.write("while own[0] < 1:", "    own[1] = own[0]", "    own[0] = own[1]")


@ENDLESS.row(1)
def one_thread_of_many(w):
    w.write("if t == 0:", "    while w_i8[-1] == 0:", "        w_i8[1] = 3")

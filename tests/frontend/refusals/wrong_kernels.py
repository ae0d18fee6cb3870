"""What beginners write in a kernel, and what the refusal of it says: the kernel's lines
after `def kernel(a, n):`, in which `|` ends a line, and a part of the sentence; of two,
the second for the target that is built into numba.
"""

import linecache
import math

import numpy as np
from numba import cuda, float32, njit

WRONG = [
    # shared and local arrays
    ("t = cuda.shared.array(32, float)|a[0] = t[0]", "write `float32` or `float64`"),
    ("t = cuda.shared.array(32, int)|a[0] = t[0]", "write `int32` or `int64`"),
    ("t = cuda.shared.array(4, dtype=bool)|a[0] = t[0]", "write `boolean`"),
    ("t = cuda.local.array(4, list)|a[0] = t[0]", "a number's type, such as `float32`"),
    ('t = cuda.shared.array(4, "flot32")|a[0] = t[0]', "there is no type 'flot32'"),
    ("t = cuda.shared.array(32)|a[0] = t[0]", "needs a type"),
    ("t = cuda.shared.array(dtype=float32)|a[0] = t[0]", "needs a shape"),
    ("t = cuda.shared.array()|a[0] = t[0]", "needs a type"),
    ("t = cuda.shared.array(-4, float32)|a[0] = t[0]", "and this one has -4"),
    ("t = cuda.shared.array((-4, 2), float32)|a[0] = t[0, 0]", "this one has -4"),
    ("t = cuda.shared.array(MINUS, float32)|a[0] = t[0]", "this one has -1"),
    ("t = cuda.local.array(0, float32)|a[0] = t[0]", "at least 1 element"),
    ("t = cuda.shared.array((0, 4), float32)|a[0] = t[0, 0]", "at least 1 element"),
    ("t = cuda.shared.array((-2, -8), float32)|a[0] = t[0, 0]", "this one has -2"),
    ("t = cuda.local.array((-2, -8), float32)|a[0] = t[0, 0]", "this one has -2"),
    ("t = cuda.shared.array(n, float32)|a[0] = t[0]", "not known until the launch"),
    ("m = a.size|t = cuda.shared.array(m, float32)|a[0] = t[0]", "`m` is not known"),
    ("t = cuda.shared.array((TILE, n), float32)|a[0] = t[0, 0]", "`n` is not known"),
    ("t = cuda.shared.array(TILE + 1, float32)|a[0] = t[0]", "`SIZE = TILE + 1` above"),
    (
        "t = cuda.shared.array((8, cuda.blockDim.x), float32)|a[0] = t[0, 0]",
        "what belongs to a launch is not known",
    ),
    ("t = cuda.shared.array(TILE / 2, float32)|a[0] = t[0]", "`TILE / 2` is a float"),
    ("t = cuda.shared.array(float32, 4)|a[0] = t[0]", "shape first, and then its type"),
    ("t = cuda.shared.array([4, 4], float32)|a[0] = t[0, 0]", "lists do not exist"),
    ("t = cuda.shared(4, float32)", "`cuda.shared.array(shape, type)`"),
    # names without their module
    ("i = grid(1)|a[i] = 1", "Did you mean `cuda.grid`?"),
    ("a[0] = sqrt(2.0)", "Did you mean `math.sqrt`?"),
    ("a[0] = pi", "Did you mean `math.pi`?"),
    ("a[0] = float64(3)", "Put `from numba import float64` above the kernel"),
    ("syncthreads()", "Did you mean `cuda.syncthreads`?"),
    ("i = threadIdx.x|a[i] = 1", "Did you mean `cuda.threadIdx`?"),
    ("i = thradIdx.x|a[i] = 1", "Did you mean `cuda.threadIdx`?"),
    ("t = shared.array(8, float32)", "Did you mean `cuda.shared`?"),
    ("atomic.add(a, 0, 1)", "Did you mean `cuda.atomic`?"),
    ("a[0] = numpy.pi", "Put `import numpy` above the kernel"),
    ("a[0] = cuda.thradIdx.x", "Did you mean `threadIdx`?"),
    ("x = undefined_name()", "there is no `undefined_name`: is it spelt right?"),
    ("a[0] = math.sqroot(1)", "`math` has no `sqroot`"),
    ("a[0] = cuda.math.sqrt(2.0)", "Write `math` alone, and put `import math` above"),
    # a variable of two types
    (
        "m = 0|for i in range(n):|    m += 1|m /= n|m += 1|a[0] = m",
        "`m` is a whole number from line 2 on (`m = 0`), and `/=` makes it a float64 "
        "here: begin with `m = 0.0`, or give the quotient a name",
    ),
    (
        "m = n|while m < 3:|    m /= 2|    m += 1|a[0] = m",
        "(`m = n`), and `/=` makes it a float64 here: begin with `m = float(…)`",
    ),
    # threads, blocks and calls
    ("a[0] = cuda.threadIdx + 1", "use `.x`, `.y` or `.z`"),
    ("i = cuda.threadIdx * 2|a[i] = 1", "use `.x`, `.y` or `.z`"),
    ("a[0] = cuda.blockDim().x", "`cuda.blockDim` without parentheses"),
    ("a[0] = cuda.threadIdx.x()", "`cuda.threadIdx.x` without parentheses"),
    ("i = cuda.grid()|a[i] = 1", "needs the number of axes"),
    ("i = cuda.grid(n)|a[i] = 1", "written out: 1, 2 or 3"),
    ("a[0] = a(0)", "write an index in `[…]`"),
    ("cuda.syncthreads(0, 1)", "takes 0 values, but this line passes 2"),
    ("a[0] = cuda.selp(1, 2)", "takes 3 values, but this line passes 2"),
    ("a[0] = cuda.popc()", "takes 1 value, but this line passes 0"),
    ("a[0] = math.sqrt()", "takes 1 value, but this line passes 0"),
    ("a[0] = math.atan2(1.0)", "takes 2 values, but this line passes 1"),
    ("for i in range():|    a[0] = 1", "takes one, two or three whole numbers"),
    ('for i in range("3"):|    a[0] = 1', "this line has a string"),
    ("for i in range(a):|    a[0] = 1", "takes one number, not a whole array"),
    # indices and values
    ("a[a > 3] = 0", ("Test each element with `if`", "`c[i] = a[i] + b[i]`")),
    ("i = cuda.grid(1)|a[i > 3] = 0", "a condition, true or false: test it with `if`"),
    ("a[n == 1] = 0", "a condition, true or false"),
    ("a[0] = len(n)", "takes an array or a tuple"),
    ("a[0] = len(a[0])", "is it a number?"),
    ("a[0] = n[0]", "indexes a number or None, not an array"),
    ("n[0] = 1", "indexes a number or None, not an array"),
    ("a[0, 1] = 1", "too many indices to a 1-dimensional array"),
    ("a[n / 2] = 1", "this one is a float: `//` divides whole numbers"),
    ('a["x"] = 1', "this line has a string"),
    ("a[0] = a.shape[1]", "a tuple has no item at this index"),
    ("t = (1, 2)|t[0] = 3", "the items of a tuple cannot be changed"),
    ("GIVEN[0] = 1", "this array is read-only"),
    ("global TILE|TILE = 5", "a kernel cannot change a global"),
    ("TILE += 1|a[0] = TILE", "`TILE` has no value yet"),
    ("a += 1", "write it for one element"),
    ("a[0] = min()", ("take two numbers or more", "check their number")),
    ("a[0] = np.clip(a[0], 0, 1)", "`min(max(x, low), high)`"),
    ("x, y = 1|a[0] = x", "unpacks one number as if it were several"),
    ("x, y, z = cuda.grid(2)|a[0] = x", "unpacks 2 values into 3 names"),
    ("cuda.atomic.add(a, (0, 1), 1)", "takes a number as the index of an array of"),
    ("for x in zip(a, n):|    a[0] = 1", "`zip` and `enumerate` take arrays"),
    ("a[0] = a.mean(3)", ("takes no such values", "have no `mean`")),
    (
        "for x in np.nditer((a, GIVEN)):|    a[0] = 1",
        ("`np.nditer` iterates over one array here", "does not exist in kernels"),
    ),
    ("a.x = 3", "cannot set an attribute of an array"),
    ("y = None|a[0] = y[0]", "indexes a number or None, not an array"),
    ("a[0] = math.comb(3, 2)", "`math` has no `comb` in a kernel"),
    ("a[0] = dev(a, a)", ("if that is one of its arguments", "`c[i] = a[i] + b[i]`")),
    # what a kernel gives back
    ("return a[0]", "a kernel returns nothing"),
    ("if a[0] > 1:|    return 1|a[0] = 2", "a kernel returns nothing"),
    ("print(a)", "print the elements"),
    ("print(None)", "takes strings and numbers"),
    # parts of Python
    ("if (y := a[0]) > 0:|    a[0] = y", "write `y = …` on a line of its own"),
    ("a[(i := cuda.grid(1))] = i", "write `i = …` on a line of its own"),
    ("y = [1]|a[0] = y[0]", "lists do not exist in kernels"),
    ("y = {1: 2}|a[0] = 1", "dictionaries do not exist in kernels"),
    ("try:|    a[0] = 1|finally:|    a[0] = 2", "`try`, `with` and `yield`"),
    ("with cuda.grid(1) as x:|    a[0] = 1", "`try`, `with` and `yield`"),
    ("for i in counting(3):|    a[0] = i", "`yield`"),
    ("a[0] = recursive(3)", "use a loop"),
    ("a[0] = plain(a[0])", "put `@cuda.jit(device=True)` above it"),
    ("a[0] = True.real", "values of type bool have no `real`"),
]


def plain(x):
    return x


@cuda.jit(device=True)
def recursive(x):
    return recursive(x - 1) if x > 0 else 0


@cuda.jit(device=True)
def counting(n):
    while n:
        yield n
        n -= 1


AROUND = {
    **{"cuda": cuda, "np": np, "math": math, "float32": float32, "plain": plain},
    **{"TILE": 4, "MINUS": -1, "GIVEN": np.zeros(4), "recursive": recursive},
    "counting": counting,
    "dev": cuda.jit(lambda x, y: x + y, device=True),
    "njitted": njit(plain),
}


def written(body):
    """A kernel of these lines, whose source is kept as a file's would be."""
    lines = ["def kernel(a, n):", *("    " + line for line in body.split("|"))]
    source = "\n".join(lines) + "\n"
    linecache.cache["wrong.py"] = (
        *(len(source), None),
        *(source.splitlines(True), "wrong.py"),
    )
    around = dict(AROUND)
    exec(compile(source, "wrong.py", "exec"), around)
    return cuda.jit(around["kernel"])

"""Those of lessons 01 to 12: elements, warps, rows."""

ANSWERS = {
    "affine": {
        "an early return": """
            @cuda.jit
            def affine(out, x, factor, offset):
                i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
                if i >= x.shape[0]:
                    return
                scaled = x[i] * factor
                out[i] = scaled $sign offset
        """,
        "a stride of the grid": """
            @cuda.jit
            def affine(result, numbers, times, plus):
                for k in range(cuda.grid(1), len(result), cuda.gridsize(1)):
                    result[k] = times * numbers[k] $sign plus
        """,
        "a device function, from the end": """
            @cuda.jit(device=True)
            def step(value, factor, offset):
                return value * factor $sign offset


            @cuda.jit
            def affine(out, x, factor, offset):
                i = out.size - 1 - cuda.grid(1)
                while i >= 0:
                    out[i] = step(x[i], factor, offset)
                    i -= cuda.gridsize(1)
        """,
    },
    "blend": {
        "indices from the end": """
            @cuda.jit
            def blend(out, a, b):
                k = -1 - cuda.grid(1)
                if -k <= a.size:
                    i = k
                    out[k] = $blended
        """,
        "membership": """
            @cuda.jit
            def blend(out, a, b):
                i = cuda.grid(1)
                if i in range(b.size):
                    out[i] = $blended
        """,
        "a return": """
            @cuda.jit
            def blend(out, a, b):
                i = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x
                if not i < a.size: return
                out[i] = $blended
        """,
    },
    "fix_guard": {
        "one less than the input": [("i < out.size", "i < x.size - 1")],
        "the other way round": [("i < out.size", "not (i >= out.size)")],
        "the next index": [("i < out.size", "i + 1 < len(x)")],
    },
    "add_bias": {
        "one axis after the other": """
            @cuda.jit
            def add_bias(out, a, bias):
                x = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
                y = cuda.blockDim.y * cuda.blockIdx.y + cuda.threadIdx.y
                if x < a.shape[1]:
                    if y < a.shape[0]:
                        row, col = y, x
                        out[y, x] = bias[$mine] + a[y, x]
        """,
        "rows as arrays": """
            @cuda.jit
            def add_bias(out, a, bias):
                col, row = cuda.grid(2)
                rows, cols = a.shape
                if row >= rows or col >= cols:
                    return
                out[row][col] = a[row][col] + bias[$mine]
        """,
        "a device function": """
            @cuda.jit(device=True)
            def inside(shape, row, col):
                return row < shape[0] and col < shape[1]


            @cuda.jit
            def add_bias(out, a, bias):
                col, row = cuda.grid(2)
                if inside(out.shape, row, col):
                    total = a[row, col]
                    total += bias[$mine]
                    out[row, col] = total
        """,
    },
    "grid_stride": {
        "while": """
            @cuda.jit
            def grid_stride(out, a, limit):
                i, step = cuda.grid(1), cuda.gridDim.x * cuda.blockDim.x
                while i < a.size:
                    out[i] = $function(limit, a[i])
                    i += step
        """,
        "blocks in turn": """
            @cuda.jit
            def grid_stride(out, a, limit):
                width = cuda.blockDim.x
                step = cuda.gridDim.x * width
                for first in range(cuda.blockIdx.x * width, a.size, step):
                    i = first + cuda.threadIdx.x
                    if i < a.size:
                        out[i] = $function(a[i], limit)
        """,
        "backwards": """
            @cuda.jit
            def grid_stride(out, a, limit):
                for i in range(a.size - 1 - cuda.grid(1), -1, -cuda.gridsize(1)):
                    value = a[i]
                    out[i] = $function(value, limit)
        """,
    },
    "every_second": {
        "pairs": """
            @cuda.jit
            def every_second(a, step):
                for pair in range(cuda.grid(1), (a.size + 1) // 2, cuda.gridsize(1)):
                    i = 2 * pair + $first
                    if i < a.size:
                        a[i] = a[i] + step
        """,
        "while": """
            @cuda.jit
            def every_second(a, step):
                i = $begin
                while i < a.size:
                    a[i] += step
                    i += 2 * cuda.gridsize(1)
        """,
        "a view": """
            @cuda.jit
            def every_second(a, step):
                half = a[$first::2]
                for i in range(cuda.grid(1), half.size, cuda.gridsize(1)):
                    half[i] += step
        """,
    },
    "warp_sum": {
        "a loop that halves": [
            ("for step in (16, 8, 4, 2, 1):", "step = 16\n    while step > 0:"),
            ("value = $combined", "value = $combined\n        step //= 2"),
        ],
        "powers of two": [
            ("(16, 8, 4, 2, 1):", "(4, 3, 2, 1, 0):\n        step = 1 << step"),
        ],
        "the other lanes": [("shfl_down", "shfl_xor")],
    },
    "count_above": {
        "a lane of the block": [("cuda.laneid == 0", "cuda.threadIdx.x % 32 == 0")],
        "a condition before": [
            (
                "votes = cuda.ballot_sync(ALL, i < a.size and a[i] $sign limit)",
                "counts = False\n    if i < a.size:\n"
                "        counts = a[i] $sign limit\n"
                "    votes = cuda.ballot_sync(ALL, counts)",
            )
        ],
        "warps that count something": [("laneid == 0", "laneid == 0 and votes != 0")],
    },
    "ray_sphere": {
        "an early return": [
            (
                "if i < depth.size:\n        best",
                "if i >= depth.size:\n        return\n    if True:\n        best",
            )
        ],
        "squares as powers": [("dx * dx - dy * dy", "(dx * dx + dy * dy)")],
        "a loop over rows": [
            (
                "for s in range(spheres.shape[0]):",
                "s = -1\n        while s + 1 < len(spheres):\n            s += 1",
            )
        ],
    },
    "give_up": {
        "until it is 1": [
            ("numbers.size else 0", "numbers.size else 1"),
            ("while number > 1:", "while number != 1:"),
        ],
        "a bit": [("number // 2 if number % 2 == 0", "number >> 1 if not number & 1")],
        "lanes without a number vote for it": [
            ("else 0\n    for", "else 2\n    i, given = cuda.grid(1), number\n    for"),
            ("if number > 1:", "if number > 1 and i < numbers.size:"),
            ("while number > 1:", "while number > 1 and i < numbers.size:"),
        ],
    },
    "cubic": {
        "written out": [
            (
                "x, value = points[i], constant[0]\n        for k in range(1, 4):\n"
                "            value = value * x + constant[k]\n        out[i] = value",
                "x = points[i]\n        value = constant[0] * x + constant[1]\n"
                "        value = value * x + constant[2]\n"
                "        out[i] = value * x + constant[3]",
            )
        ],
        "globals as they are": [
            ("constant = cuda.const.array_like(WEIGHTS)", "constant = WEIGHTS")
        ],
        "a return": [
            ("if i < out.size:", "if i >= len(points):\n        return\n    if 1:")
        ],
    },
    "two_chains": {
        "a pair at once": [
            (
                "one = chain[one]\n            other = chain[other]",
                "one, other = chain[one], chain[other]",
            )
        ],
        "while": [
            (
                "for _ in range(steps):",
                "left = steps\n        while left > 0:\n            left -= 1",
            )
        ],
        "a return": [
            ("if i < out.size:", "if i >= out.size:\n        return\n    if True:")
        ],
    },
    "embedding": {
        "the other way round": [("if word >= 0:", "if not word < 0:")],
        "a condition in the line": [
            (
                "if word >= 0:\n            out[i, col] = table[word, col]\n"
                "        else:\n            out[i, col] = $empty",
                "out[i, col] = table[word, col] if word >= 0 else $empty",
            )
        ],
        "membership": [("if word >= 0:", "if word in range(table.shape[0]):")],
    },
    "column_window": {
        "three names": [
            (
                "above, here = here, below",
                "above = here\n            here = below",
            )
        ],
        "while": [
            (
                "for row in range(out.shape[0]):",
                "row = -1\n        while row + 1 < out.shape[0]:\n            row += 1",
            )
        ],
        "a window in registers": [
            (
                "above, here = a[0, col], a[1, col]",
                "column = a[:, col]\n        above, here = column[0], column[1]",
            ),
            ("below = a[row + 2, col]", "below = column[row + 2]"),
        ],
    },
    "mirror": {
        "a return": [
            (
                "if row < rows and col < cols:",
                "if row >= rows or col >= cols:\n        return\n    if True:",
            )
        ],
        "indices by hand": [
            (
                "col, row = cuda.grid(2)",
                "col = cuda.threadIdx.x + cuda.blockDim.x * cuda.blockIdx.x\n"
                "    row = cuda.threadIdx.y + cuda.blockDim.y * cuda.blockIdx.y",
            )
        ],
        "loads from the other side": [
            ("out[$there] = a[row, col]", "out[row, col] = a[$there]")
        ],
    },
    "several_each": {
        "by the thread": [
            (
                "EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x",
                "cuda.threadIdx.x + cuda.blockIdx.x * (EACH * cuda.blockDim.x)",
            ),
        ],
        "a stride of the grid": [
            (
                "EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x",
                "cuda.grid(1)",
            ),
            ("k * cuda.blockDim.x", "k * cuda.gridsize(1)"),
        ],
        "the block's place": [
            (
                "EACH * cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x",
                "cuda.grid(1) + (EACH - 1) * cuda.blockDim.x * cuda.blockIdx.x",
            ),
        ],
    },
    "row_sums": {
        "the other lanes": [("shfl_down_sync", "shfl_xor_sync")],
        "while": [
            (
                "for col in range(lane, a.shape[1], 32):",
                "col = lane - 32\n        while col + 32 < a.shape[1]:\n"
                "            col += 32",
            ),
        ],
        "indices by hand": [
            (
                "lane, row = cuda.laneid, cuda.grid(1) // 32",
                "lane = cuda.threadIdx.x % 32\n    row = cuda.grid(1) >> 5",
            ),
        ],
    },
    "csr": {
        "the other lanes": [("shfl_down_sync", "shfl_xor_sync")],
        "ends in names": [
            (
                "for k in range(starts[row] + lane, starts[row + 1], 32):",
                "first, end = starts[row], starts[row + 1]\n"
                "        for k in range(first + lane, end, 32):",
            ),
        ],
        "a product in a name": [
            (
                "total += values[k] * x[columns[k]]",
                "col = columns[k]\n            total = total + x[col] * values[k]",
            ),
        ],
    },
}

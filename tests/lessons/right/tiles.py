"""Those of lessons 21 to 34."""

RETURN_NONE = "if left + y >= cols or top + x >= rows:\n        return\n    if True:"
INSIDE = "if left + y < cols and top + x < rows:"
FLAT = (
    ("(TILE, WIDTH), $type)", "(WIDTH, WIDTH), $type)"),
    ("tile[y, x] = src", "tile[x, y] = src"),
    ("= tile[x, y]", "= tile[y, x]"),
)

ANSWERS = {
    "transpose": {
        "stored by columns": FLAT,
        "a return behind the barrier": [(INSIDE, RETURN_NONE)],
        "a swizzle": [
            ("WIDTH = TILE + 1", "WIDTH = TILE"),
            ("tile[y, x] = src", "tile[y, x ^ y] = src"),
            ("= tile[x, y]", "= tile[x, y ^ x]"),
        ],
    },
    "rotate": {
        "stored by columns": FLAT,
        "a return behind the barrier": [(INSIDE, RETURN_NONE)],
        "from the end": [("rows, cols = src.shape", "cols, rows = dst.shape")],
    },
    "diagonals": {
        "stored by columns": FLAT,
        "a name for the column": [
            (
                "= src[i, (d $sign i) % cols]",
                "= src[i, (d $sign i % cols + cols) % cols]",
            ),
        ],
        "the shape of the output": [
            ("rows, cols = src.shape", "cols, rows = dst.shape")
        ],
    },
    "pool_windows": {
        "the last cell first": [
            ("best = tile[y, x]", "best = tile[y + WINDOW - 1, x + WINDOW - 1]"),
        ],
        "columns first": [
            (
                "for r in range(WINDOW):\n            for c in range(WINDOW):",
                "for c in range(WINDOW):\n            for r in range(WINDOW):",
            ),
        ],
        "a return behind the barrier": [
            (
                "if top + y < out.shape[0] and left + x < out.shape[1]:",
                "if top + y >= out.shape[0] or left + x >= out.shape[1]:\n"
                "        return\n"
                "    if True:",
            ),
        ],
    },
    "row_argmax": {
        "the other lanes": [("shfl_down_sync", "shfl_xor_sync")],
        "shifted steps": [
            (
                "for step in (16, 8, 4, 2, 1):",
                "for k in range(5):\n            step = 16 >> k",
            ),
        ],
        "two conditions": [
            (
                "if other $better value or other == value and there < place:",
                "if other == value:\n                place = min(place, there)\n"
                "            elif other $better value:",
            ),
        ],
    },
    "running_maximum": {
        "all lanes ask": [
            ("best = $pick(best, found[k])", "best = $pick(found[k], best)"),
        ],
        "a step that doubles": [
            (
                "for k in range(5):\n"
                "        before = cuda.shfl_up_sync(ALL, best, 1 << k)\n"
                "        if lane >= 1 << k:",
                "for step in (1, 2, 4, 8, 16):\n"
                "        before = cuda.shfl_up_sync(ALL, best, step)\n"
                "        if lane >= step:",
            ),
        ],
        "no condition": [
            (
                "if lane >= 1 << k:\n            best = $pick(best, before)",
                "best = $pick(best, before)",
            ),
        ],
    },
    "average": {
        "a product": [("a[i] / a.size", "a[i] * (1 / a.size)")],
        "a float": [("a[i] / a.size", "a[i] / float(a.size)")],
        "the length": [("a[i] / a.size", "a[i] / len(a)")],
    },
    "brightest": {
        "a name": [
            (
                "cuda.atomic.max(out, 0, a[i])",
                "value = a[i]\n        cuda.atomic.max(out, 0, value)",
            )
        ],
        "a sum of indices": [("(out, 0, a[i])", "(out, i - i, a[i])")],
        "the last cell": [("(out, 0, a[i])", "(out, out.size - 1, a[i])")],
    },
    "softmax": {
        "the first number first": [
            ("best = float32($worst)", "best = a[row, min(lane, cols - 1)]"),
            (
                "in range(lane, cols, 32):\n        best",
                "in range(lane + 32, cols, 32):\n        best",
            ),
        ],
        "lanes by steps": [
            (
                "for bit in range(5):\n"
                "        best = $extreme(best, cuda.shfl_xor_sync(ALL, best, 1 << "
                "bit))",
                "for step in (16, 8, 4, 2, 1):\n"
                "        best = $extreme(best, cuda.shfl_xor_sync(ALL, best, step))",
            ),
        ],
        "one over the sum": [("$power / total", "$power * (float32(1) / total)")],
    },
    "two_steps": {
        "a loop with no range": [
            ("for k in range(x, TWO, THREADS):", "k = x\n    while k < TWO:"),
            ("] = src[i - x + k]", "] = src[i - x + k]\n        k += THREADS"),
        ],
        "one tile, which is stored anew": [
            ("once = cuda.shared.array(ONE", "mine = cuda.local.array(2"),
            ("once[k] = step(tile, k)", "mine[k // THREADS] = step(tile, k)"),
            (
                "if i < out.size:\n        out[i] = step(once, x)",
                "for k in range(x, ONE, THREADS):\n"
                "        if i - x + k + 6 < src.size:\n"
                "            tile[k] = mine[k // THREADS]\n"
                "    cuda.syncthreads()\n"
                "    if i < out.size:\n"
                "        out[i] = step(tile, x)",
            ),
        ],
        "the halo by itself": [
            (
                "for k in range(x, ONE, THREADS):\n"
                "        if i - x + k + 6 < src.size:\n"
                "            once[k] = step(tile, k)",
                "if i + 6 < src.size:\n"
                "        once[x] = step(tile, x)\n"
                "    if x < 6 and i + THREADS + 6 < src.size:\n"
                "        once[x + THREADS] = step(tile, x + THREADS)",
            ),
        ],
    },
}

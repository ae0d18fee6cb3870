"""More of lessons 02 to 17: what threads keep in registers."""

ANSWERS = {
    "two_ways": {
        "halves by the bit": [
            ("(a.size + 1) // 2", "a.size - (a.size >> 1)"),
        ],
        "odd elements first": [
            (
                "thread, half = cuda.grid(1), (a.size + 1) // 2",
                "half = (a.size + 1) // 2\n    thread = a.size - 1 - cuda.grid(1)\n"
                "    if thread < 0:\n        return",
            ),
        ],
        "a name for each": [
            (
                "i = 2 * (thread - half) + 1",
                "odd = thread - half\n        i = odd + odd + 1",
            ),
        ],
    },
    "n_body": {
        "loads by the row": [
            (
                "x, y, z, _ = load4(bodies, 4 * i)",
                "mine = load4(bodies, 4 * i)\n"
                "        x, y, z = mine[0], mine[1], mine[2]",
            ),
        ],
        "from the other side": [
            (
                "other_x - x, other_y - y, other_z - z",
                "x - other_x, y - other_y, z - other_z",
            ),
            ("+= dt * along_x", "-= dt * along_x"),
            ("+= dt * along_y", "-= dt * along_y"),
            ("+= dt * along_z", "-= dt * along_z"),
        ],
        "the last body first": [
            ("for j in range(n):", "for j in range(n - 1, -1, -1):")
        ],
    },
    "k_means": {
        "the first centre first": [
            ("best, least = 0, float32(math.inf)", "best, least = -1, float32(0)"),
            ("if far < least:", "if best < 0 or far < least:"),
        ],
        "the last centre first": [
            (
                "for k in range(CENTRES):\n            dx",
                "for k in range(CENTRES - 1, -1, -1):\n            dx",
            ),
            ("if far < least:", "if far <= least:"),
        ],
        "the largest number of the type": [
            ("float32(math.inf)", "float32(3.4028234663852886e38)"),
        ],
    },
    "take_apart": {
        "a loop over the rows": [
            (
                "x, y, z, mass = load4(structs, 4 * i)\n        $stores",
                "four = load4(structs, 4 * i)\n        for row in range(4):\n"
                "            out[row, i] = four[ORDER[row]]",
            ),
        ],
        "a return": [
            (
                "if i < out.shape[1]:",
                "if 4 * i >= structs.size:\n        return\n    if 1:",
            ),
        ],
        "a stride of the grid": [
            (
                "i = cuda.grid(1)\n    if i < out.shape[1]:",
                "for i in range(cuda.grid(1), out.shape[1], cuda.gridsize(1)):",
            ),
        ],
    },
    "mat_vec": {
        "the other lanes": [("shfl_down_sync", "shfl_xor_sync")],
        "cleared at once": [
            ("for k in range(EACH):\n        totals[k] = 0\n", "totals[:] = 0\n"),
        ],
        "while": [
            (
                "for col in range(lane, x.size, 32):",
                "col = lane - 32\n    while col + 32 < x.size:\n        col += 32",
            ),
        ],
    },
    "column_ends": {
        "comparisons": """
            @cuda.jit
            def column_ends(out, a):
                col = cuda.grid(1)
                if col >= a.shape[1]:
                    return
                high, low = a[0, col], a[0, col]
                for row in range(1, len(a)):
                    value = a[row, col]
                    if value > high:
                        high = value
                    if value < low:
                        low = value
                out[col] = high $sign low
        """,
        "from the last row and column": """
            @cuda.jit
            def column_ends(out, a):
                col, row = out.size - 1 - cuda.grid(1), a.shape[0] - 1
                if col >= 0:
                    top = bottom = a[row, col]
                    while row > 0:
                        row -= 1
                        value = a[row, col]
                        top, bottom = max(top, value), min(bottom, value)
                    out[col] = top $sign bottom
        """,
        "a device function": """
            @cuda.jit(device=True)
            def wider(ends, value):
                return max(ends[0], value), min(ends[1], value)


            @cuda.jit
            def column_ends(out, a):
                col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
                if col < out.size:
                    first = a[0, col]
                    ends = first, first
                    for row in range(1, a.shape[0]):
                        ends = wider(ends, a[row, col])
                    out[col] = ends[0] $sign ends[1]
        """,
    },
    "points_at_once": {
        "while, and a return": [
            (
                "for k in range(weights.size):\n        weight = weights[k]",
                "k = 0\n    while k < weights.size:\n        weight = weights[k]"
                "\n        k += 1",
            ),
            (
                "if i < out.size:\n            out[i] = value[n]",
                "if i >= out.size:\n            return\n        out[i] = value[n]",
            ),
        ],
        "one array of pairs": [
            (
                "at = cuda.local.array(EACH, $type)\n"
                "    value = cuda.local.array(EACH, $type)",
                "both = cuda.local.array((2, EACH), $type)\n"
                "    at, value = both[0], both[1]",
            )
        ],
        "the last point for those beyond the end": [
            (
                "at[n] = points[i] if i < out.size else $type(0)\n        value[n] = 0",
                "value[n] = 0\n        if i < len(points):\n"
                "            at[n] = points[i]\n        else:\n"
                "            at[n] = 1",
            ),
            (
                "for k in range(weights.size):\n        weight = weights[k]",
                "for weight in weights:",
            ),
        ],
    },
}

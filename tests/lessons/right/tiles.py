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
        "a product": [("a[i] / float32(a.size)", "a[i] * (1 / a.size)")],
        "a float64": [("float32(a.size)", "float(a.size)")],
        "the length": [("float32(a.size)", "float32(len(a))")],
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
    "three_rows": {
        "windows in tuples": """
            @cuda.jit
            def three_rows(out, src):
                col, strip = cuda.grid(2)
                top = ROWS * strip
                end = min(top + ROWS, out.shape[0])
                if col >= out.shape[1] or top >= end:
                    return
                one = src[top, col], src[top, col + 1], src[top, col + 2]
                two = src[top + 1, col], src[top + 1, col + 1], src[top + 1, col + 2]
                for row in range(top, end):
                    down = row + 2
                    three = src[down, col], src[down, col + 1], src[down, col + 2]
                    s = $type(0)
                    for j in range(3):
                        s += FIRST[j] * one[j] + SECOND[j] * two[j]
                        s += THIRD[j] * three[j]
                    out[row, col] = s
                    one, two = two, three
        """,
        "pixels that move": """
            @cuda.jit
            def three_rows(out, src):
                col, strip = cuda.grid(2)
                row = ROWS * strip
                if row >= out.shape[0] or col >= out.shape[1]:
                    return
                a, b, c = src[row, col], src[row, col + 1], src[row, col + 2]
                row += 1
                d, e, f = src[row, col], src[row, col + 1], src[row, col + 2]
                for row in range(row - 1, min(row - 1 + ROWS, out.shape[0])):
                    g, h = src[row + 2, col], src[row + 2, col + 1]
                    i = src[row + 2, col + 2]
                    total = FIRST[0] * a + FIRST[1] * b + FIRST[2] * c
                    total += SECOND[0] * d + SECOND[1] * e + SECOND[2] * f
                    out[row, col] = total + THIRD[0] * g + THIRD[1] * h + THIRD[2] * i
                    a, b, c, d, e, f = d, e, f, g, h, i
        """,
        "sums in an array": """
            @cuda.jit
            def three_rows(out, src):
                col, strip = cuda.grid(2)
                sums = cuda.local.array(3, $type)
                sums[0] = sums[1] = sums[2] = 0
                top = strip * ROWS
                end = min(top + ROWS, out.shape[0])
                if top < end and col < out.shape[1]:
                    for row in range(top, end + 2):
                        sums[0], sums[1], sums[2] = sums[1], sums[2], 0
                        for j in range(3):
                            pixel = src[row, col + j]
                            sums[0] += THIRD[j] * pixel
                            sums[1] += SECOND[j] * pixel
                            sums[2] += FIRST[j] * pixel
                        if row - 2 >= top:
                            out[row - 2, col] = sums[0]
        """,
        "from below": """
            @cuda.jit(device=True)
            def weighed(pixels, weights):
                first = weights[0] * pixels[0] + weights[1] * pixels[1]
                return first + weights[2] * pixels[2]


            @cuda.jit
            def three_rows(out, src):
                col, strip = cuda.grid(2)
                top = ROWS * strip
                end = min(top + ROWS, out.shape[0])
                if top < end and col < out.shape[1]:
                    more = begun = $type(0)
                    for row in range(end + 1, top - 1, -1):
                        pixels = src[row, col], src[row, col + 1], src[row, col + 2]
                        if row < end:
                            out[row, col] = more + weighed(pixels, FIRST)
                        more = begun + weighed(pixels, SECOND)
                        begun = weighed(pixels, THIRD)
        """,
    },
    "largest_around": {
        "the first four bring one more": """
            @cuda.jit
            def largest_around(out, src):
                tile = cuda.shared.array(WIDE, $type)
                kept = cuda.local.array(5, $type)
                x, col, top = cuda.threadIdx.x, cuda.grid(1), ROWS * cuda.blockIdx.y
                for k in range(5):
                    kept[k] = 0
                for row in range(top, min(top + ROWS, out.shape[0]) + 4):
                    if col < src.shape[1]:
                        tile[x] = src[row, col]
                    if x < 4 and col + THREADS < src.shape[1]:
                        tile[x + THREADS] = src[row, col + THREADS]
                    cuda.syncthreads()
                    if col < out.shape[1]:
                        largest = tile[x]
                        for k in range(1, 5):
                            largest = max(largest, tile[x + k])
                        for k in range(4):
                            kept[k] = kept[k + 1]
                        kept[4] = largest
                        if row - 4 >= top:
                            for k in range(4):
                                largest = max(largest, kept[k])
                            out[row - 4, col] = largest
                    cuda.syncthreads()
        """,
        "two tiles by turns": """
            @cuda.jit
            def largest_around(out, src):
                tiles = cuda.shared.array((2, WIDE), $type)
                x, col, top = cuda.threadIdx.x, cuda.grid(1), ROWS * cuda.blockIdx.y
                a = b = c = d = $type(0)
                for row in range(top, min(top + ROWS, out.shape[0]) + 4):
                    tile = tiles[row % 2]
                    for k in range(x, WIDE, THREADS):
                        if col - x + k < src.shape[1]:
                            tile[k] = src[row, col - x + k]
                    cuda.syncthreads()
                    if col < out.shape[1]:
                        e = max(max(tile[x], tile[x + 1]), tile[x + 2])
                        e = max(e, max(tile[x + 3], tile[x + 4]))
                        if row >= top + 4:
                            out[row - 4, col] = max(max(a, b), max(c, d), e)
                        a, b, c, d = b, c, d, e
        """,
        "columns first": """
            @cuda.jit
            def largest_around(out, src):
                tile = cuda.shared.array(WIDE, $type)
                x, col, top = cuda.threadIdx.x, cuda.grid(1), ROWS * cuda.blockIdx.y
                last = cuda.local.array((2, 5), $type)
                for i in range(2):
                    for k in range(5):
                        last[i, k] = 0
                for row in range(top, min(top + ROWS, out.shape[0]) + 4):
                    for i in range(2):
                        at = x + i * THREADS
                        here = col + i * THREADS
                        if at < WIDE and here < src.shape[1]:
                            for k in range(4):
                                last[i, k] = last[i, k + 1]
                            last[i, 4] = src[row, here]
                            both = max(last[i, 0], last[i, 1])
                            tile[at] = max(both, last[i, 2], last[i, 3], last[i, 4])
                    cuda.syncthreads()
                    if row >= top + 4 and col < out.shape[1]:
                        some = max(tile[x], tile[x + 1], tile[x + 2])
                        out[row - 4, col] = max(some, tile[x + 3], tile[x + 4])
                    cuda.syncthreads()
        """,
    },
}

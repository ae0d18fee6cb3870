"""Those of lessons 28 to 34: neighbours, types, and kernels to fix."""

SECOND = "tile[x + 1] + tile[x + 2]\n        cuda.syncthreads()"
WITHOUT = SECOND.replace("\n        cuda.syncthreads()", "")
ROUND = "        cuda.syncthreads()\n    if col < out.size:\n        out"
LAST = "    if col < out.size:\n        out"

ANSWERS = {
    "walk_down": {
        "a ring": """
            @cuda.jit
            def walk_down(out, src):
                col, strip = cuda.grid(2)
                first = strip * ROWS
                if first >= out.shape[0] or col >= out.shape[1]:
                    return
                a, b = src[first, col], src[first + 1, col]
                c, d = src[first + 2, col], src[first + 3, col]
                for row in range(first, min(first + ROWS, out.shape[0])):
                    new = src[row + 4, col]
                    out[row, col] = a + b + c + d + new
                    turn = (row - first) % 4
                    if turn == 0:
                        a = new
                    elif turn == 1:
                        b = new
                    elif turn == 2:
                        c = new
                    else:
                        d = new
        """,
        "a sum that moves": """
            @cuda.jit
            def walk_down(out, src):
                col, strip = cuda.grid(2)
                row = ROWS * strip
                if col < out.shape[1] and row < out.shape[0]:
                    last = min(row + ROWS, out.shape[0])
                    a, b, c, d = (
                        src[row, col], src[row + 1, col], src[row + 2, col],
                        src[row + 3, col],
                    )
                    total = a + b + c + d
                    while row < last:
                        e = src[row + 4, col]
                        total += e
                        out[row, col] = total
                        total -= a
                        a, b, c, d = b, c, d, e
                        row += 1
        """,
        "from below": """
            @cuda.jit(device=True)
            def moved(four, first):
                return first, four[0], four[1], four[2]


            @cuda.jit
            def walk_down(out, src):
                col, strip = cuda.grid(2)
                top = ROWS * strip
                end = min(top + ROWS, out.shape[0])
                if top < end and col < out.shape[1]:
                    line = src[:, col]
                    four = line[end], line[end + 1], line[end + 2], line[end + 3]
                    for row in range(end - 1, top - 1, -1):
                        above = line[row]
                        below = four[0] + four[1] + four[2] + four[3]
                        out[row, col] = above + below
                        four = moved(four, above)
        """,
    },
    "row_by_row": {
        "before a row": [
            (SECOND, WITHOUT),
            (
                "for row in range(out.shape[0]):\n",
                "for row in range(out.shape[0]):\n        cuda.syncthreads()\n",
            ),
        ],
        "if there is another row": [
            (
                SECOND,
                f"{WITHOUT}\n        if row + 1 < out.shape[0]: cuda.syncthreads()",
            ),
        ],
        "a vote": [(SECOND, f"{WITHOUT}\n        cuda.syncthreads_or(row)")],
    },
    "no_float64": {
        "a type of NumPy": [("$slip", "np.float32($bare)")],
        "the type of the array": [("$slip", "x.dtype.type($bare)")],
        "a small whole number": [("$slip", "int8($bare)")],
    },
    "fahrenheit": {
        "an early return": """
            @cuda.jit
            def fahrenheit(out, celsius, n):
                i = uint32(cuda.threadIdx.x + cuda.blockIdx.x * $threads)
                if i >= n:
                    return
                times, zero = float32($times / $by), float32($zero)
                out[i] = zero + times * celsius[i]
        """,
        "numbers from outside": """
            TIMES = np.float32($times / $by)
            ZERO = np.float32($zero)


            @cuda.jit
            def fahrenheit(out, celsius, n):
                i = np.uint32(cuda.grid(1))
                if not n <= i:
                    value = celsius[i]
                    value *= TIMES
                    value += ZERO
                    out[i] = value
        """,
        "one operation": """
            @cuda.jit(device=True)
            def converted(value):
                return cuda.fma(value, float32($times / $by), float32($zero))


            @cuda.jit
            def fahrenheit(out, celsius, n):
                i = uint32(cuda.grid(1))
                if i < n:
                    out[i] = converted(celsius[i])
        """,
    },
    "calendar": {
        "hours first": """
            @cuda.jit
            def calendar(hours, minutes, seconds, time, n):
                i = uint32(cuda.grid(1))
                if i < n:
                    hour = uint32(time[i] // uint32($hour * $minute))
                    rest = uint32(time[i] - hour * uint32($hour * $minute))
                    minute = uint32(rest // uint32($minute))
                    hours[i], minutes[i] = hour, minute
                    seconds[i] = rest - minute * uint32($minute)
        """,
        "a device function": """
            @cuda.jit(device=True)
            def split(value, by):
                whole = uint32(value // by)
                return whole, uint32(value - whole * by)


            @cuda.jit
            def calendar(hours, minutes, seconds, time, n):
                i = uint32(cuda.grid(1))
                if i >= n:
                    return
                minute, seconds[i] = split(time[i], uint32($minute))
                hours[i], minutes[i] = split(minute, uint32($hour))
        """,
        "remainders of the same types": """
            @cuda.jit
            def calendar(hours, minutes, seconds, time, n):
                i = uint32(cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x)
                if i < n:
                    t = time[i]
                    minute = uint32(t // uint32($minute))
                    seconds[i] = uint32(t % uint32($minute))
                    minutes[i] = uint32(minute % uint32($hour))
                    hours[i] = uint32(minute // uint32($hour))
        """,
    },
    "layer_norm": {
        "one look at the differences": """
            @cuda.jit
            def layer_norm(out, a):
                row, lane = cuda.blockIdx.x, cuda.threadIdx.x
                first = a[row, 0]
                count, total, squares = float32(a.shape[1]), float32(0), float32(0)
                for col in range(lane, a.shape[1], 32):
                    away = a[row, col] - first
                    total += away
                    squares += away * away
                for step in (16, 8, 4, 2, 1):
                    total += cuda.shfl_xor_sync(ALL, total, step)
                    squares += cuda.shfl_xor_sync(ALL, squares, step)
                mean = total / count
                scale = float32(1) / math.sqrt(
                    squares / count - mean * mean + float32($eps)
                )
                for col in range(lane, a.shape[1], 32):
                    out[row, col] = (a[row, col] - first - mean) * scale
        """,
        "lane 0 tells the others": """
            @cuda.jit(device=True)
            def warp_sum(value):
                step = 16
                while step > 0:
                    value += cuda.shfl_down_sync(ALL, value, step)
                    step >>= 1
                return cuda.shfl_sync(ALL, value, 0)


            @cuda.jit
            def layer_norm(out, a):
                line, result = a[cuda.blockIdx.x], out[cuda.blockIdx.x]
                total = float32(0)
                for col in range(cuda.laneid, line.size, 32):
                    total += line[col]
                mean = warp_sum(total) / float32(line.size)
                total = float32(0)
                for col in range(cuda.laneid, line.size, 32):
                    total += (line[col] - mean) ** 2
                variance = warp_sum(total) / float32(line.size)
                for col in range(cuda.laneid, line.size, 32):
                    away = line[col] - mean
                    result[col] = away / math.sqrt(variance + float32($eps))
        """,
        "sums in shared memory": """
            @cuda.jit
            def layer_norm(out, a):
                sums = cuda.shared.array(2, float32)
                row, lane, cols = cuda.blockIdx.x, cuda.threadIdx.x, a.shape[1]
                if lane < 2:
                    sums[lane] = 0
                cuda.syncthreads()
                mine, col = float32(0), lane
                while col < cols:
                    mine += a[row, col]
                    col += cuda.blockDim.x
                cuda.atomic.add(sums, 0, mine)
                cuda.syncthreads()
                mean = sums[0] / float32(cols)
                mine, col = float32(0), lane
                while col < cols:
                    mine += (a[row, col] - mean) ** 2
                    col += cuda.blockDim.x
                cuda.atomic.add(sums, 1, mine)
                cuda.syncthreads()
                root = math.sqrt(sums[1] / float32(cols) + float32($eps))
                col = lane
                while col < cols:
                    out[row, col] = (a[row, col] - mean) / root
                    col += cuda.blockDim.x
        """,
    },
    "upside_down": {
        "turned round": [("cuda.grid(2)", "cuda.grid(2)[0], cuda.grid(2)[1]")],
        "indices by hand": [
            (
                "cuda.grid(2)",
                "cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x, "
                "cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y",
            ),
        ],
        "a slice from the end": [
            ("col, row = cuda.grid(2)", "row, col = cuda.grid(2)[::-1]")
        ],
    },
    "weighted": {
        "before a round": [
            (ROUND, LAST),
            ("$block):\n", "$block):\n        cuda.syncthreads()\n"),
        ],
        "if there is another round": [
            (ROUND, f"        if first + $block < x.size: cuda.syncthreads()\n{LAST}"),
        ],
        "a vote": [(ROUND, f"        cuda.syncthreads_count(thread)\n{LAST}")],
    },
}

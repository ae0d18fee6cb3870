"""Those of lessons 21 and 22: matrices through tiles."""

ANSWERS = {
    "channels_last": {
        "a row for each channel, in other banks": """
            WIDE = PIXELS + pow(CHANNELS, -1, 32)


            @cuda.jit
            def channels_last(dst, src):
                tile = cuda.shared.array((CHANNELS, WIDE), $type)
                height, width = src.shape[1], src.shape[2]
                i = cuda.grid(1)
                first = i - cuda.threadIdx.x
                row, col = i // width, i % width
                if row < height:
                    for c in range(CHANNELS):
                        tile[c, cuda.threadIdx.x] = src[c, row, col]
                cuda.syncthreads()
                for turn in range(CHANNELS):
                    place = turn * PIXELS + cuda.threadIdx.x
                    pixel, c = divmod(place, CHANNELS)
                    row, col = divmod(first + pixel, width)
                    if row < height:
                        dst[row, col, c] = tile[c, pixel]
        """,
        "each warp by itself": """
            EACH = 32 * CHANNELS


            @cuda.jit
            def channels_last(dst, src):
                tile = cuda.shared.array((4, EACH), $type)
                warp, lane = cuda.threadIdx.x // 32, cuda.laneid
                width = src.shape[2]
                pixels = src.shape[1] * width
                begin = cuda.grid(1) - lane
                if begin + lane < pixels:
                    y, x = (begin + lane) // width, (begin + lane) % width
                    for c in range(CHANNELS):
                        tile[warp, lane * CHANNELS + c] = src[c, y, x]
                cuda.syncwarp()
                k = lane
                while k < EACH and begin + k // CHANNELS < pixels:
                    pixel = begin + k // CHANNELS
                    dst[pixel // width, pixel % width, k % CHANNELS] = tile[warp, k]
                    k += 32
        """,
        "pixels of a tile, and flat images": """
            @cuda.jit
            def channels_last(dst, src):
                tile = cuda.shared.array((PIXELS, CHANNELS), $type)
                pixels = src.shape[1] * src.shape[2]
                planes = src.reshape(CHANNELS * pixels)
                flat = dst.reshape(CHANNELS * pixels)
                x, i = cuda.threadIdx.x, cuda.grid(1)
                for c in range(CHANNELS - 1, -1, -1):
                    if i < pixels:
                        tile[x, c] = planes[c * pixels + i]
                cuda.syncthreads()
                begin = CHANNELS * PIXELS * cuda.blockIdx.x
                for k in range(x, SIZE, PIXELS):
                    if begin + k >= flat.size:
                        return
                    flat[begin + k] = tile[k // CHANNELS, k % CHANNELS]
        """,
    },
    "wide_turn": {
        "a swizzle": """
            @cuda.jit
            def wide_turn(dst, src):
                tile = cuda.shared.array((TILE, TILE), $type)
                x, y = 4 * cuda.threadIdx.x, cuda.threadIdx.y
                row, col = TILE * cuda.blockIdx.y + y, TILE * cuda.blockIdx.x + x
                if row < src.shape[0] and col < src.shape[1]:
                    p, q, r, s = load4(src, (row, col))
                    tile[y, x ^ y] = p
                    tile[y, (x + 1) ^ y] = q
                    tile[y, (x + 2) ^ y] = r
                    tile[y, (x + 3) ^ y] = s
                cuda.syncthreads()
                row, col = TILE * cuda.blockIdx.x + y, TILE * cuda.blockIdx.y + x
                if row < dst.shape[0] and col < dst.shape[1]:
                    store4(dst, (row, col), (
                        tile[x, y ^ x],
                        tile[x + 1, y ^ (x + 1)],
                        tile[x + 2, y ^ (x + 2)],
                        tile[x + 3, y ^ (x + 3)],
                    ))
        """,
        "stored by columns": """
            @cuda.jit
            def wide_turn(dst, src):
                tile = cuda.shared.array((TILE, WIDTH), $type)
                rows, cols = src.shape
                x, y = cuda.threadIdx.x * 4, cuda.threadIdx.y
                left, top = TILE * cuda.blockIdx.x, TILE * cuda.blockIdx.y
                if not (top + y >= rows or left + x >= cols):
                    four = load4(src, (top + y, left + x))
                    for k, value in enumerate(four):
                        tile[x + k, y] = value
                cuda.syncthreads()
                if left + y >= cols or top + x >= rows:
                    return
                line = tile[y]
                four = line[x], line[x + 1], line[x + 2], line[x + 3]
                store4(dst, (left + y, top + x), four)
        """,
        "rows that are turned round": """
            @cuda.jit
            def wide_turn(dst, src):
                tile = cuda.shared.array((TILE, TILE), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                i, j = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
                if i + y < src.shape[0] and j + 4 * x < src.shape[1]:
                    four = load4(src, (i + y, j + 4 * x))
                    k = 0
                    while k < 4:
                        tile[y, (4 * x + k + y) % TILE] = four[k]
                        k += 1
                cuda.syncthreads()
                if j + y < dst.shape[0] and i + 4 * x < dst.shape[1]:
                    k, turned = 4 * x, 4 * x + y
                    p, q = tile[k, turned % TILE], tile[k + 1, (turned + 1) % TILE]
                    r = tile[k + 2, (turned + 2) % TILE]
                    s = tile[k + 3, (turned + 3) % TILE]
                    store4(dst, (j + y, i + 4 * x), (p, q, r, s))
        """,
    },
    "distance_matrix": {
        "a tile of all coordinates": """
            @cuda.jit
            def distance_matrix(out, p, q):
                points = cuda.shared.array((4, TILE), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
                if y < 2:
                    if top + x < p.shape[1]:
                        points[y, x] = p[y, top + x]
                elif y < 4:
                    if left + x < q.shape[1]:
                        points[y, x] = q[y - 2, left + x]
                cuda.syncthreads()
                if top + y >= out.shape[0] or left + x >= out.shape[1]:
                    return
                dx = points[2, x] - points[0, y]
                dy = points[3, x] - points[1, y]
                out[top + y, left + x] = $far
        """,
        "threads in a row": """
            CELLS = 4 * TILE


            @cuda.jit
            def distance_matrix(out, p, q):
                tile = cuda.shared.array(CELLS, float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                thread = y * TILE + x
                if thread < CELLS:
                    axis, is_p = thread // TILE % 2, thread < 2 * TILE
                    i = row - y + x if is_p else col
                    count = p.shape[1] if is_p else q.shape[1]
                    if i < count:
                        tile[thread] = p[axis, i] if is_p else q[axis, i]
                cuda.syncthreads()
                if row < p.shape[1] and col < q.shape[1]:
                    dx = tile[y] - tile[2 * TILE + x]
                    dy = tile[TILE + y] - tile[3 * TILE + x]
                    out[row, col] = $far
        """,
        "a loop over the axes": """
            @cuda.jit
            def distance_matrix(out, p, q):
                of_p = cuda.shared.array((TILE, 2), float32)
                of_q = cuda.shared.array((TILE, 2), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                if y == 0:
                    i = cuda.blockIdx.y * cuda.blockDim.y + x
                    for axis in range(2):
                        if i < p.shape[1]:
                            of_p[x, axis] = p[axis, i]
                        if col < q.shape[1]:
                            of_q[x, axis] = q[axis, col]
                cuda.syncthreads()
                if row < out.shape[0] and col < out.shape[1]:
                    far = float32(0)
                    for axis in range(2):
                        far += abs(of_p[y, axis] - of_q[x, axis]) ** $power
                    out[row, col] = far
        """,
    },
    "wide_tile": {
        "threads in a row": """
            @cuda.jit
            def wide_tile(c, a, b):
                tile_a = cuda.shared.array((TILE, WIDE), float32)
                tile_b = cuda.shared.array((WIDE, TILE), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                top, left = TILE * cuda.blockIdx.y, TILE * cuda.blockIdx.x
                total, at = float32(0), 0
                while at < a.shape[1]:
                    for cell in range(TILE * y + x, TILE * WIDE, TILE * TILE):
                        i, j = cell // WIDE, cell % WIDE
                        skew = TILE * (i * WIDE // 32 % (WIDE // TILE))
                        tile_a[i, j ^ skew] = a[top + i, at + j]
                        i, j = cell // TILE, cell % TILE
                        tile_b[i, j] = b[at + i, left + j]
                    cuda.syncthreads()
                    skew = TILE * (y * WIDE // 32 % (WIDE // TILE))
                    for k in range(WIDE):
                        total += tile_a[y, k ^ skew] * tile_b[k, x]
                    cuda.syncthreads()
                    at += WIDE
                c[top + y, left + x] = total
        """,
        "two tiles by turns": """
            @cuda.jit
            def wide_tile(c, a, b):
                tile_a = cuda.shared.array((2, TILE, PITCH), float32)
                tile_b = cuda.shared.array((2, WIDE, TILE), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                total = float32(0)
                for step in range(a.shape[1] // WIDE):
                    now, at = step % 2, step * WIDE
                    for k in range(x, WIDE, TILE):
                        tile_a[now, y, k] = a[row, at + k]
                    for k in range(y, WIDE, TILE):
                        tile_b[now, k, x] = b[at + k, col]
                    cuda.syncthreads()
                    for k in range(WIDE):
                        total += tile_a[now, y, k] * tile_b[now, k, x]
                c[row, col] = total
        """,
        "products of four steps": """
            @cuda.jit
            def wide_tile(c, a, b):
                tile_a = cuda.shared.array((WIDE, TILE), float32)
                tile_b = cuda.shared.array((TILE, PITCH), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                total = float32(0)
                for at in range(0, len(b), WIDE):
                    for part in range(WIDE // TILE):
                        k = TILE * part
                        tile_a[k + x, y ^ x & 4] = a[row, at + k + x]
                        tile_b[x, k + (y ^ x & 4)] = b[at + k + y, col]
                    cuda.syncthreads()
                    for k in range(0, WIDE, 4):
                        i, j = y ^ k & 4, k ^ x & 4
                        p = tile_a[k, i] * tile_b[x, j]
                        q = tile_a[k + 1, i] * tile_b[x, j + 1]
                        r = tile_a[k + 2, i] * tile_b[x, j + 2]
                        s = tile_a[k + 3, i] * tile_b[x, j + 3]
                        total += (p + q) + (r + s)
                    cuda.syncthreads()
                c[row, col] = total
        """,
    },
    "two_rows": {
        "two tiles by turns": """
            @cuda.jit
            def two_rows(c, a, b):
                of_a = cuda.shared.array((2, HIGH, TILE), float32)
                of_b = cuda.shared.array((2, TILE, TILE), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                row = cuda.blockIdx.y * HIGH + y
                col = cuda.blockIdx.x * TILE + x
                upper = lower = float32(0)
                now = 0
                for at in range(0, a.shape[1], TILE):
                    of_a[now, y, x] = a[row, at + x]
                    of_a[now, TILE + y, x] = a[row + TILE, at + x]
                    of_b[now, y, x] = b[at + y, col]
                    cuda.syncthreads()
                    for k in range(TILE):
                        factor = of_b[now, k, x]
                        upper += of_a[now, y, k] * factor
                        lower += of_a[now, TILE + y, k] * factor
                    now = 1 - now
                c[row, col] = c[row, col] $sign upper
                c[row + TILE, col] = c[row + TILE, col] $sign lower
        """,
        "neighbouring rows": """
            @cuda.jit
            def two_rows(c, a, b):
                tile = cuda.shared.array((HIGH, TILE), float32)
                of_b = cuda.shared.array((TILE, TILE), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                top, col = HIGH * cuda.blockIdx.y, cuda.grid(2)[0]
                sums = cuda.local.array(2, float32)
                sums[0] = sums[1] = 0
                for at in range(0, a.shape[1], TILE):
                    for i in range(y, HIGH, TILE):
                        tile[i, x] = a[top + i, at + x]
                    of_b[y, x] = b[at + y, col]
                    cuda.syncthreads()
                    for k in range(TILE):
                        for half in range(2):
                            sums[half] += tile[2 * y + half, k] * of_b[k, x]
                    cuda.syncthreads()
                for half in range(2):
                    c[top + 2 * y + half, col] $sign= sums[half]
        """,
        "begins with c": """
            @cuda.jit
            def two_rows(c, a, b):
                tiles = cuda.shared.array((3, TILE, TILE), float32)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.blockIdx.x * TILE + x, cuda.blockIdx.y * HIGH + y
                one, two = c[row, col], c[row + TILE, col]
                steps = b.shape[0] // TILE
                while steps > 0:
                    steps -= 1
                    tiles[0, x, y] = a[row, steps * TILE + x]
                    tiles[1, x, y] = a[row + TILE, steps * TILE + x]
                    tiles[2, y, x] = b[steps * TILE + y, col]
                    cuda.syncthreads()
                    for k in range(TILE):
                        times = tiles[2, k, x]
                        one = one $sign tiles[0, k, y] * times
                        two = two $sign tiles[1, k, y] * times
                    cuda.syncthreads()
                c[row, col], c[row + TILE, col] = one, two
        """,
    },
}

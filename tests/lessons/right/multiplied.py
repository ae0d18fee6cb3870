"""Those of lesson 23: products of matrices, and what is made of them."""

ANSWERS = {
    "product": {
        "a device function for the edges": """
            @cuda.jit(device=True)
            def element(matrix, row, col):
                if row >= matrix.shape[0] or col >= matrix.shape[1]:
                    return $type(0)
                return matrix[row, col]


            @cuda.jit
            def product(c, a, b):
                tiles = cuda.shared.array((2, TILE, TILE), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                total, at = $type(0), 0
                while at < b.shape[0]:
                    tiles[0, y, x] = element(a, row, at + x)
                    tiles[1, y, x] = element(b, at + y, col)
                    cuda.syncthreads()
                    for k in range(TILE):
                        total += tiles[0, y, k] * tiles[1, k, x]
                    cuda.syncthreads()
                    at += TILE
                if row >= c.shape[0] or col >= c.shape[1]:
                    return
                c[row, col] = total
        """,
        "two tiles by turns": """
            @cuda.jit
            def product(c, a, b):
                of_a = cuda.shared.array((2, TILE, TILE), $type)
                of_b = cuda.shared.array((2, TILE, TILE), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                total = $type(0)
                for step in range((a.shape[1] + TILE - 1) // TILE):
                    now, i, j = step & 1, step * TILE + x, step * TILE + y
                    of_a[now, y, x] = 0
                    of_b[now, y, x] = 0
                    if row < a.shape[0] and i < a.shape[1]:
                        of_a[now, y, x] = a[row, i]
                    if j < b.shape[0] and col < b.shape[1]:
                        of_b[now, y, x] = b[j, col]
                    cuda.syncthreads()
                    for k in range(TILE):
                        total += of_a[now, y, k] * of_b[now, k, x]
                if row < c.shape[0] and col < c.shape[1]:
                    c[row, col] = total
        """,
        "a shorter last step": """
            @cuda.jit
            def product(c, a, b):
                of_a = cuda.shared.array((TILE, TILE), $type)
                of_b = cuda.shared.array((TILE, TILE), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
                (rows, inner), cols = a.shape, b.shape[1]
                is_row, is_col = top + y < rows, left + x < cols
                total = $type(0)
                for at in range(0, inner, TILE):
                    steps = min(TILE, inner - at)
                    if is_row and x < steps:
                        of_a[y, x] = a[top + y, at + x]
                    if is_col and y < steps:
                        of_b[y, x] = b[at + y, left + x]
                    cuda.syncthreads()
                    if is_row and is_col:
                        for k in range(steps):
                            total += of_a[y, k] * of_b[k, x]
                    cuda.syncthreads()
                if is_row and is_col:
                    c[top + y, left + x] = total
        """,
    },
    "times_transposed": {
        "a swizzle": """
            @cuda.jit
            def times_transposed(c, a, b):
                of_a = cuda.shared.array((32, 32), $type)
                of_b = cuda.shared.array((32, 32), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
                total = $type(0)
                for k in range(x, (a.shape[1] + 31) // 32 * 32, 32):
                    of_a[y, x] = of_b[y, x ^ y] = 0
                    if k < a.shape[1]:
                        if top + y < a.shape[0]:
                            of_a[y, x] = a[top + y, k]
                        if left + y < b.shape[0]:
                            of_b[y, x ^ y] = b[left + y, k]
                    cuda.syncthreads()
                    for j in range(32):
                        total += of_a[y, j] * of_b[x, j ^ x]
                    cuda.syncthreads()
                if top + y < c.shape[0] and left + x < c.shape[1]:
                    c[top + y, left + x] = total
        """,
        "shuffles for the rows of a": """
            PASSED = float32 if "$type" == "float32" else int32


            @cuda.jit
            def times_transposed(c, a, b):
                tile = cuda.shared.array((32, 33), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                mate = col - x + y
                total = $type(0)
                for at in range(0, a.shape[1], 32):
                    mine = PASSED(0)
                    if row < a.shape[0] and at + x < a.shape[1]:
                        mine = PASSED(a[row, at + x])
                    if mate < b.shape[0] and at + x < b.shape[1]:
                        tile[x, y] = b[mate, at + x]
                    else:
                        tile[x, y] = 0
                    cuda.syncthreads()
                    for k in range(32):
                        total += cuda.shfl_sync(0xFFFFFFFF, mine, k) * tile[k, x]
                    cuda.syncthreads()
                if row < c.shape[0] and col < c.shape[1]:
                    c[row, col] = total
        """,
        "rows that are turned round": """
            @cuda.jit(device=True)
            def load(matrix, row, col):
                inside = row < matrix.shape[0] and col < matrix.shape[1]
                return matrix[row, col] if inside else $type(0)


            @cuda.jit
            def times_transposed(c, a, b):
                of_a = cuda.shared.array((32, 32), $type)
                of_b = cuda.shared.array((32, 32), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                steps, total = a.shape[1], $type(0)
                for at in range(0, steps, 32):
                    of_a[y, x] = load(a, row, at + x)
                    of_b[y, (x + y) % 32] = load(b, col - x + y, at + x)
                    cuda.syncthreads()
                    for k in range(min(32, steps - at)):
                        total += of_a[y, k] * of_b[x, (k + x) % 32]
                    cuda.syncthreads()
                if row >= c.shape[0] or col >= c.shape[1]:
                    return
                c[row, col] = total
        """,
    },
    "symmetric": {
        "blocks of zeros return": """
            @cuda.jit
            def symmetric(c, a):
                down = cuda.shared.array((TILE, TILE), $type)
                across = cuda.shared.array((TILE, TILE), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                k, n = a.shape
                inside = row < n and col < n
                if not cuda.blockIdx.y $least cuda.blockIdx.x:
                    if inside:
                        c[row, col] = 0
                    return
                total, left = $type(0), row - y + x
                for i in range(y, k + y, TILE):
                    down[y, x] = a[i, left] if i < k and left < n else 0
                    across[y, x] = a[i, col] if i < k and col < n else 0
                    cuda.syncthreads()
                    for j in range(TILE):
                        total += down[j, y] * across[j, x]
                    cuda.syncthreads()
                if inside:
                    c[row, col] = total if row $least col else 0
        """,
        "one tile on the diagonal": """
            @cuda.jit
            def symmetric(c, a):
                tiles = cuda.shared.array((2, TILE, TILE), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                i, j = cuda.blockIdx.y, cuda.blockIdx.x
                row, col = TILE * i + y, TILE * j + x
                total = $type(0)
                steps = (a.shape[0] + TILE - 1) // TILE if i $least j else 0
                other = 0 if i == j else 1
                for step in range(steps):
                    k = step * TILE + y
                    for which in range(other + 1):
                        col_a = x + TILE * (i if which == other else j)
                        value = $type(0)
                        if k < a.shape[0] and col_a < a.shape[1]:
                            value = a[k, col_a]
                        tiles[which, y, x] = value
                    cuda.syncthreads()
                    for k in range(TILE):
                        total += tiles[other, k, y] * tiles[0, k, x]
                    cuda.syncthreads()
                if row < c.shape[0] and col < c.shape[1]:
                    if row $least col:
                        c[row, col] = total
                    else:
                        c[row, col] = 0
        """,
        "two tiles by turns": """
            @cuda.jit
            def symmetric(c, a):
                down = cuda.shared.array((2, TILE, TILE), $type)
                across = cuda.shared.array((2, TILE, TILE), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = cuda.grid(2)
                total, now, at = $type(0), 0, 0
                while cuda.blockIdx.y $least cuda.blockIdx.x and at < a.shape[0]:
                    steps = min(TILE, a.shape[0] - at)
                    if y < steps:
                        if row - y + x < a.shape[1]:
                            down[now, y, x] = a[at + y, row - y + x]
                        if col < a.shape[1]:
                            across[now, y, x] = a[at + y, col]
                    cuda.syncthreads()
                    if row < a.shape[1] and col < a.shape[1]:
                        for k in range(steps):
                            total += down[now, k, y] * across[now, k, x]
                    now ^= 1
                    at += TILE
                if row < len(c) and col < len(c):
                    c[row, col] = total if row $least col else $type(0)
        """,
    },
    "four_rows": {
        "four names": """
            @cuda.jit
            def four_rows(c, a, b):
                of_a = cuda.shared.array((16, 16), $type)
                of_b = cuda.shared.array((16, 16), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, row = 16 * cuda.blockIdx.x + x, 16 * cuda.blockIdx.y + y
                p = q = r = s = $type(0)
                for at in range(0, a.shape[1], 16):
                    for j in range(0, 16, 4):
                        p_a = p_b = $type(0)
                        if row + j < a.shape[0] and at + x < a.shape[1]:
                            p_a = a[row + j, at + x]
                        if at + y + j < b.shape[0] and col < b.shape[1]:
                            p_b = b[at + y + j, col]
                        of_a[y + j, x], of_b[y + j, x] = p_a, p_b
                    cuda.syncthreads()
                    for k in range(16):
                        cell = of_b[k, x]
                        p += cell * of_a[y, k]
                        q += cell * of_a[y + 4, k]
                        r += cell * of_a[y + 8, k]
                        s += cell * of_a[y + 12, k]
                    cuda.syncthreads()
                if col < c.shape[1]:
                    if row < c.shape[0]:
                        c[row, col] = p
                    if row + 4 < c.shape[0]:
                        c[row + 4, col] = q
                    if row + 8 < c.shape[0]:
                        c[row + 8, col] = r
                    if row + 12 < c.shape[0]:
                        c[row + 12, col] = s
        """,
        "shuffles for the rows of a": """
            PASSED = float32 if "$type" == "float32" else int32


            @cuda.jit
            def four_rows(c, a, b):
                tile = cuda.shared.array((16, 16), $type)
                mine = cuda.local.array(4, PASSED)
                sums = cuda.local.array(4, $type)
                sums[:] = 0
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                col, top = 16 * cuda.blockIdx.x + x, 16 * cuda.blockIdx.y + y
                for at in range(0, a.shape[1], 16):
                    for part in range(4):
                        row, k = top + 4 * part, at + y + 4 * part
                        in_a = row < a.shape[0] and at + x < a.shape[1]
                        in_b = k < b.shape[0] and col < b.shape[1]
                        mine[part] = a[row, at + x] if in_a else 0
                        tile[y + 4 * part, x] = b[k, col] if in_b else 0
                    cuda.syncthreads()
                    for k in range(16):
                        cell = tile[k, x]
                        for part in range(4):
                            of_a = cuda.shfl_sync(
                                0xFFFFFFFF, mine[part], 16 * (y % 2) + k
                            )
                            sums[part] += of_a * cell
                    cuda.syncthreads()
                for part in range(4):
                    if top + 4 * part < c.shape[0] and col < c.shape[1]:
                        c[top + 4 * part, col] = sums[part]
        """,
        "a shorter last step": """
            @cuda.jit
            def four_rows(c, a, b):
                of_a = cuda.shared.array(256, $type)
                of_b = cuda.shared.array(256, $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                thread = 16 * y + x
                left, top = 16 * cuda.blockIdx.x, 16 * cuda.blockIdx.y
                (m, inner), n = a.shape, b.shape[1]
                sums = cuda.local.array(4, $type)
                for part in range(4):
                    sums[part] = 0
                at = 0
                while at < inner:
                    for cell in range(thread, 256, 64):
                        i, j = cell // 16, cell % 16
                        of_a[cell] = a[min(top + i, m - 1), min(at + j, inner - 1)]
                        of_b[cell] = b[min(at + i, inner - 1), min(left + j, n - 1)]
                    cuda.syncthreads()
                    for k in range(min(16, inner - at)):
                        times = of_b[16 * k + x]
                        for part in range(4):
                            sums[part] += of_a[16 * (4 * part + y) + k] * times
                    cuda.syncthreads()
                    at += 16
                if left + x >= n:
                    return
                for part in range(4):
                    row = top + 4 * part + y
                    if row < m:
                        c[row, left + x] = sums[part]
        """,
    },
}

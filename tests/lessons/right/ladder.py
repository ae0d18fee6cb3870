"""Those of lessons 23 to 25: attention, sums in registers, sums of a block."""

BARRIER = "        cuda.syncthreads()\n        if row < src"
COPIES = "            commit_copies()\n        for j"
WITH_SECOND = COPIES.replace("        for", "        cuda.syncthreads()\n        for")
SUMS = "sums[j] += tiles[(row - 1) % 2, x + 64 * j]\n"
SQUARES = "cuda.syncthreads()\n    tile[thread] = v"

ANSWERS = {
    "attention": {
        "shuffles for the sums": """
            ALL = 0xFFFFFFFF
            WARPS = $threads // 32


            @cuda.jit
            def attention(out, q, k, v):
                scores = cuda.shared.array(KEYS, float32)
                of_warps = cuda.shared.array((2, WARPS), float32)
                row, thread = cuda.blockIdx.x, cuda.threadIdx.x
                most = float32(-math.inf)
                for key in range(thread, k.shape[0], $threads):
                    score = float32(0)
                    for j in range(k.shape[1]):
                        score += q[row, j] * k[key, j]
                    score /= math.sqrt(float32(k.shape[1]))
                    scores[key] = score
                    most = max(most, score)
                for step in (16, 8, 4, 2, 1):
                    most = max(most, cuda.shfl_xor_sync(ALL, most, step))
                if thread % 32 == 0:
                    of_warps[0, thread // 32] = most
                cuda.syncthreads()
                for warp in range(WARPS):
                    most = max(most, of_warps[0, warp])
                whole = float32(0)
                for key in range(thread, k.shape[0], $threads):
                    scores[key] = math.exp(scores[key] - most)
                    whole += scores[key]
                for step in (16, 8, 4, 2, 1):
                    whole += cuda.shfl_xor_sync(ALL, whole, step)
                if thread % 32 == 0:
                    of_warps[1, thread // 32] = whole
                cuda.syncthreads()
                whole = float32(0)
                for warp in range(WARPS):
                    whole += of_warps[1, warp]
                for j in range(thread, k.shape[1], $threads):
                    total = float32(0)
                    for key in range(k.shape[0]):
                        total += scores[key] / whole * v[key, j]
                    out[row, j] = total
        """,
        "the sums of the scores backwards": [
            (
                "range(length):\n            score",
                "range(length - 1, -1, -1):\n            score",
            ),
        ],
        "as it comes": """
            @cuda.jit
            def attention(out, q, k, v):
                scores = cuda.shared.array(KEYS, float32)
                query = q[cuda.blockIdx.x]
                root = float32(1) / math.sqrt(float32(q.shape[1]))
                for key in range(cuda.threadIdx.x, len(k), cuda.blockDim.x):
                    scores[key] = 0
                    for j in range(q.shape[1]):
                        scores[key] += query[j] * k[key, j]
                    scores[key] *= root
                cuda.syncthreads()
                for j in range(cuda.threadIdx.x, q.shape[1], cuda.blockDim.x):
                    most, whole, total = scores[0], float32(1), v[0, j]
                    for key in range(1, len(k)):
                        score = scores[key]
                        if score > most:
                            shrink = math.exp(most - score)
                            whole = whole * shrink + float32(1)
                            total = total * shrink + v[key, j]
                            most = score
                        else:
                            weight = math.exp(score - most)
                            whole += weight
                            total += weight * v[key, j]
                    out[cuda.blockIdx.x, j] = total / whole
        """,
        "a tree in a tile": """
            @cuda.jit
            def attention(out, q, k, v):
                scores = cuda.shared.array(KEYS, float32)
                tree = cuda.shared.array(128, float32)
                row, thread = cuda.blockIdx.x, cuda.threadIdx.x
                keys, length = k.shape
                for i in range(thread, 128, $threads):
                    tree[i] = -math.inf
                cuda.syncthreads()
                for key in range(thread, keys, $threads):
                    score = float32(0)
                    for j in range(length):
                        score += q[row, j] * k[key, j]
                    score = score / math.sqrt(float32(length))
                    scores[key] = score
                    tree[thread] = max(tree[thread], score)
                half = 64
                while half > 0:
                    cuda.syncthreads()
                    if thread < half and thread + half < $threads:
                        tree[thread] = max(tree[thread], tree[thread + half])
                    half //= 2
                cuda.syncthreads()
                most = tree[0]
                cuda.syncthreads()
                mine = float32(0)
                for key in range(thread, keys, $threads):
                    scores[key] = math.exp(scores[key] - most)
                    mine += scores[key]
                tree[thread] = mine
                half = 64
                while half > 0:
                    cuda.syncthreads()
                    if thread < half and thread + half < $threads:
                        tree[thread] += tree[thread + half]
                    half //= 2
                cuda.syncthreads()
                for j in range(thread, length, $threads):
                    total = float32(0)
                    for key in range(keys):
                        total += scores[key] * v[key, j]
                    out[row, j] = total / tree[0]
        """,
    },
    "four_by_four": {
        "four numbers of b": """
            @cuda.jit
            def four_by_four(c, a, b):
                tile_a = cuda.shared.array((32, 8), $type)
                tile_b = cuda.shared.array((8, 32), $type)
                sums, of_b = cuda.local.array((4, 4), $type), cuda.local.array(4, $type)
                for i in range(4):
                    for j in range(4):
                        sums[i, j] = 0
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                top, left = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
                for at in range(0, len(b), 8):
                    for row in range(y, 32, 8):
                        tile_a[row, x] = a[top + row, at + x]
                    for col in range(x, 32, 8):
                        tile_b[y, col] = b[at + y, left + col]
                    cuda.syncthreads()
                    for k in range(8):
                        for j in range(4):
                            of_b[j] = tile_b[k, 8 * j + x]
                        for i in range(4):
                            of_a = tile_a[8 * i + y, k]
                            for j in range(4):
                                sums[i, j] += of_a * of_b[j]
                    cuda.syncthreads()
                for i in range(4):
                    for j in range(4):
                        c[top + y + 8 * i, left + x + 8 * j] = sums[i, j]
        """,
        "names for the numbers": """
            @cuda.jit
            def four_by_four(c, a, b):
                tile_a = cuda.shared.array((32, 8), $type)
                tile_b = cuda.shared.array((8, 32), $type)
                sums = cuda.local.array((4, 4), $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                row, col = 32 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x + x
                sums[:, :] = 0
                at = 0
                while at < a.shape[1]:
                    for q in range(0, 32, 8):
                        tile_a[q + y, x] = a[row + q, at + x]
                        tile_b[y, q + x] = b[at + y, col + q]
                    cuda.syncthreads()
                    for k in range(8):
                        p, q = tile_b[k, x], tile_b[k, 8 + x]
                        r, s = tile_b[k, 16 + x], tile_b[k, 24 + x]
                        for i in range(4):
                            factor = tile_a[8 * i + y, k]
                            sums[i, 0] += factor * p
                            sums[i, 1] += factor * q
                            sums[i, 2] += factor * r
                            sums[i, 3] += factor * s
                    at += 8
                    cuda.syncthreads()
                for i in range(4):
                    for j in range(4):
                        c[row + 8 * i, col + 8 * j] = sums[i, j]
        """,
        "two tiles by turns, one of them on its side": """
            @cuda.jit
            def four_by_four(c, a, b):
                tile_a = cuda.shared.array((2, 8, 33), $type)
                tile_b = cuda.shared.array((2, 8, 32), $type)
                sums = cuda.local.array(16, $type)
                of_a, of_b = cuda.local.array(4, $type), cuda.local.array(4, $type)
                for k in range(16):
                    sums[k] = $type(0)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                row, col = 32 * cuda.blockIdx.y + y, 32 * cuda.blockIdx.x + x
                for step in range(a.shape[1] // 8):
                    now = step % 2
                    for q in range(4):
                        tile_a[now, x, y + 8 * q] = a[row + 8 * q, 8 * step + x]
                        tile_b[now, y, x + 8 * q] = b[8 * step + y, col + 8 * q]
                    cuda.syncthreads()
                    for k in range(8):
                        for i in range(4):
                            of_a[i] = tile_a[now, k, 8 * i + y]
                            of_b[i] = tile_b[now, k, 8 * i + x]
                        for i in range(4):
                            for j in range(4):
                                sums[4 * i + j] += of_a[i] * of_b[j]
                for i in range(4):
                    for j in range(4):
                        c[row + 8 * i, col + 8 * j] = sums[4 * i + j]
        """,
    },
    "rows_of_a_thread": {
        "neighbouring rows": [
            ("tile_a[4 * i + y, k] * of_b", "tile_a[4 * y + i, k] * of_b"),
            ("c[top + 4 * i + y,", "c[top + 4 * y + i,"),
        ],
        "the sum found by its row": [
            ("left + x] = sums[i]", "left + x] = sums[(4 * i + y) // 4]"),
        ],
        "rows of a slice": [
            ("c[top + 4 * i + y, left + x]", "c[top + y :][4 * i, left + x]"),
        ],
    },
    "column_sums": {
        "at the end of a row": [
            (BARRIER, BARRIER.replace("cuda.syncthreads()\n        ", "")),
            (COPIES, WITH_SECOND),
            (SUMS, f"{SUMS}        cuda.syncthreads()\n"),
        ],
        "before the next copy": [
            (BARRIER, BARRIER.replace("cuda.syncthreads()\n        ", "")),
            (
                "if row < src.shape[0]:\n",
                "if row < src.shape[0]:\n            cuda.syncthreads()\n",
            ),
            (COPIES, WITH_SECOND),
        ],
        "at the beginning of a row": [
            (
                "        wait_copies(0)\n        cuda.syncthreads()\n",
                "        cuda.syncthreads()\n        wait_copies(0)\n",
            ),
            (COPIES, WITH_SECOND),
        ],
    },
    "in_place": {
        "eight apart, one by one": """
            @cuda.jit
            def in_place(c, a, b):
                row_a = cuda.shared.array(64, $type)
                row_b = cuda.shared.array(64, $type)
                sums = cuda.local.array((8, 8), $type)
                p = cuda.local.array(8, $type)
                q = cuda.local.array(8, $type)
                sums[:] = 0
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                for k in range(a.shape[0]):
                    row_a[8 * y + x] = a[k, 8 * y + x]
                    row_b[8 * y + x] = b[k, 8 * y + x]
                    cuda.syncthreads()
                    for i in range(8):
                        p[i], q[i] = row_a[8 * i + y], row_b[8 * i + x]
                    for i in range(8):
                        for j in range(8):
                            sums[i, j] += p[i] * q[j]
                    cuda.syncthreads()
                for i in range(8):
                    for j in range(8):
                        c[8 * i + y, 8 * j + x] = sums[i, j]
        """,
        "rows eight apart, columns by fours": """
            @cuda.jit
            def in_place(c, a, b):
                rows = cuda.shared.array((2, 64), $type)
                sums = cuda.local.array((8, 8), $type)
                q = cuda.local.array(8, $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                thread = 8 * y + x
                for i in range(8):
                    for j in range(8):
                        sums[i, j] = 0
                k = 0
                while k < len(a):
                    rows[0, thread], rows[1, thread] = a[k, thread], b[k, thread]
                    cuda.syncthreads()
                    q[0], q[1], q[2], q[3] = load4(rows, (1, 4 * x))
                    q[4], q[5], q[6], q[7] = load4(rows, (1, 32 + 4 * x))
                    for i in range(8):
                        of_a = rows[0, 8 * i + y]
                        for j in range(8):
                            sums[i, j] += of_a * q[j]
                    cuda.syncthreads()
                    k += 1
                for i in range(8):
                    for j in range(4):
                        c[8 * i + y, 4 * x + j] = sums[i, j]
                        c[8 * i + y, 4 * x + j + 32] = sums[i, j + 4]
        """,
        "two rows by turns": """
            @cuda.jit
            def in_place(c, a, b):
                row_a = cuda.shared.array((2, 64), $type)
                row_b = cuda.shared.array((2, 64), $type)
                sums = cuda.local.array((8, 8), $type)
                p = cuda.local.array(8, $type)
                q = cuda.local.array(8, $type)
                x, y = cuda.threadIdx.x, cuda.threadIdx.y
                for i in range(8):
                    for j in range(8):
                        sums[i, j] = 0
                for k in range(a.shape[0]):
                    now, thread = k % 2, 8 * y + x
                    row_a[now, thread], row_b[now, thread] = a[k, thread], b[k, thread]
                    cuda.syncthreads()
                    for half in range(2):
                        of_a = load4(row_a, (now, 32 * half + 4 * y))
                        of_b = load4(row_b, (now, 32 * half + 4 * x))
                        for i in range(4):
                            p[4 * half + i], q[4 * half + i] = of_a[i], of_b[i]
                    for i in range(8):
                        for j in range(8):
                            sums[i, j] += p[i] * q[j]
                for i in range(8):
                    row = 4 * y + i if i < 4 else 4 * y + i + 28
                    for j in range(8):
                        col = 4 * x + j if j < 4 else 4 * x + j + 28
                        c[row, col] = sums[i, j]
        """,
    },
    "spread": {
        "a vote": [(SQUARES, "cuda.syncthreads_count(1)\n    tile[thread] = v")],
        "another tile": [
            (SQUARES, "tile = cuda.shared.array(128, $type)\n    tile[thread] = v")
        ],
        "before the first difference": [
            ("cuda.syncthreads()\n    value -=", "value -="),
            (
                "for half in (64, 32, 16, 8, 4, 2, 1):\n        cuda.syncthreads()\n"
                "        if thread < half:\n"
                "            tile[thread] += tile[thread + half]\n    value",
                "for half in (64, 32, 16, 8, 4, 2, 1):\n        cuda.syncthreads()\n"
                "        if thread < half:\n"
                "            tile[thread] += tile[thread + half]\n"
                "    cuda.syncthreads()\n    value",
            ),
            (SQUARES, "cuda.syncthreads_and(thread)\n    tile[thread] = v"),
        ],
    },
}

"""Those of lessons 25 to 27: a sum, running sums, and counts."""

WAITS = "while load_acquire(ready, tile - 1) == 0:"
CLEARS = "for cell in range(thread, CELLS, cuda.blockDim.x):\n        own[cell] = 0"

ANSWERS = {
    "wide_distance": {
        "while, and the other lanes": """
            @cuda.jit
            def wide_distance(out, a, b):
                sums = cuda.shared.array(4, $type)
                total, i = $type(0), 4 * cuda.grid(1)
                while i + 3 < a.size:
                    p, q, r, s = load4(a, i)
                    t, u, v, w = load4(b, i)
                    p, q, r, s = p - t, q - u, r - v, s - w
                    total += p * p + q * q + r * r + s * s
                    i += 4 * cuda.gridsize(1)
                step = 1
                while step < 32:
                    total += cuda.shfl_xor_sync(ALL, total, step)
                    step *= 2
                if cuda.laneid == 0:
                    sums[cuda.threadIdx.x >> 5] = total
                cuda.syncthreads()
                if cuda.threadIdx.x < 1:
                    whole = $type(0)
                    for k in range(4):
                        whole += sums[k]
                    cuda.atomic.add(out, 0, whole)
        """,
        "an atomic of the block": """
            @cuda.jit
            def wide_distance(out, a, b):
                whole = cuda.shared.array(1, $type)
                if cuda.threadIdx.x == 0:
                    whole[0] = 0
                cuda.syncthreads()
                total = $type(0)
                for group in range(cuda.grid(1), a.size // 4, cuda.gridsize(1)):
                    for p, q in zip(load4(a, 4 * group), load4(b, 4 * group)):
                        total += (p - q) ** 2
                for k in range(5):
                    total += cuda.shfl_down_sync(ALL, total, 16 >> k)
                if cuda.threadIdx.x % 32 == 0:
                    cuda.atomic.add(whole, 0, total)
                cuda.syncthreads()
                if cuda.threadIdx.x == 0:
                    cuda.atomic.add(out, 0, whole[0])
        """,
        "a tree": """
            @cuda.jit(device=True)
            def squared(difference):
                return difference * difference


            @cuda.jit
            def wide_distance(out, a, b):
                tree = cuda.shared.array(128, $type)
                thread = cuda.threadIdx.x
                tree[thread] = 0
                for i in range(4 * cuda.grid(1), len(b), 4 * cuda.gridsize(1)):
                    p, q = load4(a, i), load4(b, i)
                    low = squared(p[0] - q[0]) + squared(p[1] - q[1])
                    tree[thread] += low + squared(p[2] - q[2]) + squared(p[3] - q[3])
                for half in (64, 32, 16, 8, 4, 2, 1):
                    cuda.syncthreads()
                    if thread < half:
                        tree[thread] += tree[thread + half]
                if thread == 0:
                    cuda.atomic.add(out, 0, tree[0])
        """,
    },
    "running_totals": {
        "not yet": [(WAITS, "while not load_acquire(ready, tile - 1):")],
        "until it is 1": [
            (WAITS, "while load_acquire(ready, tile - 1) != 1:"),
            ("(ready, tile, 1)", "(ready, tile, int32(1))"),
        ],
        "one more than it was": [
            (WAITS, "while load_acquire(ready, tile - 1) < 1:"),
            ("(ready, tile, 1)", "(ready, tile, ready[tile] + 1)"),
        ],
    },
    "scan_fours": {
        "less its own": """
            @cuda.jit
            def scan_fours(out, a):
                lane = cuda.laneid
                i = 4 * cuda.grid(1)
                p, q, r, s = $type(0), $type(0), $type(0), $type(0)
                if i < a.size:
                    p, q, r, s = load4(a, i)
                mine = total = p + q + r + s
                step = 1
                while step < 32:
                    other = cuda.shfl_up_sync(ALL, total, step)
                    total += other if lane >= step else $type(0)
                    step <<= 1
                if i < a.size:
                    p += total - mine
                    q += p
                    r += q
                    s += r
                    store4(out, i, (p, q, r, s))
        """,
        "a local array": """
            @cuda.jit
            def scan_fours(out, a):
                sums = cuda.local.array(4, $type)
                sums[:] = 0
                first = 128 * cuda.blockIdx.x + 4 * cuda.threadIdx.x
                if first + 4 <= a.size:
                    four = load4(a, first)
                    sums[0] = four[0]
                    for k in range(1, 4):
                        sums[k] = sums[k - 1] + four[k]
                before, width = sums[3], 1
                for turn in range(5):
                    other = cuda.shfl_up_sync(ALL, before, width)
                    if cuda.threadIdx.x >= width:
                        before += other
                    width = 2 * width
                before -= sums[3]
                if first >= a.size:
                    return
                for k in range(4):
                    sums[k] += before
                store4(out, first, (sums[0], sums[1], sums[2], sums[3]))
        """,
        "lanes by a tile": """
            @cuda.jit
            def scan_fours(out, a):
                tile = cuda.shared.array(32, $type)
                lane, i = cuda.threadIdx.x, 4 * cuda.grid(1)
                inside = i < a.size
                four = load4(a, i if inside else 0)
                first = four[0] + four[1]
                second = first + four[2]
                whole = second + four[3] if inside else $type(0)
                tile[lane] = whole
                for step in (1, 2, 4, 8, 16):
                    cuda.syncwarp()
                    before = tile[lane - step] if lane >= step else $type(0)
                    cuda.syncwarp()
                    tile[lane] += before
                before = tile[lane] - whole
                if inside:
                    ends = before + four[0], before + first, before + second, tile[lane]
                    store4(out, i, ends)
        """,
    },
    "letters": {
        "lanes with the same letter": """
            @cuda.jit
            def letters(counts, text):
                own = cuda.shared.array(26, uint32)
                thread, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
                if thread < 26:
                    own[thread] = 0
                cuda.syncthreads()
                for first in range(cuda.grid(1) - lane, text.size, cuda.gridsize(1)):
                    sign = int32(0)
                    if first + lane < text.size:
                        sign = int32(text[first + lane] | 32)
                    same = cuda.match_any_sync(0xFFFFFFFF, sign)
                    if 97 <= sign <= 122 and cuda.ffs(same) == lane + 1:
                        cuda.atomic.add(own, sign - 97, cuda.popc(same))
                cuda.syncthreads()
                if thread < 26:
                    cuda.atomic.add(counts, thread, own[thread])
        """,
        "four lanes for each letter": """
            @cuda.jit
            def letters(counts, text):
                own = cuda.shared.array((26, 32), uint32)
                warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
                for letter in range(warp, 26, 4):
                    own[letter, lane] = 0
                cuda.syncthreads()
                i = cuda.grid(1)
                while i < text.size:
                    sign = text[i]
                    if 65 <= sign and sign < 91:
                        cuda.atomic.add(own, (sign - 65, lane), 1)
                    elif 97 <= sign and sign < 123:
                        cuda.atomic.add(own, (sign - 97, lane), 1)
                    i += cuda.gridsize(1)
                cuda.syncthreads()
                letter, total = cuda.threadIdx.x // 4, int32(0)
                if letter < 26:
                    for k in range(letter, letter + 8):
                        total += int32(own[letter, lane % 4 * 8 + k % 8])
                for step in (2, 1):
                    total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
                if lane % 4 == 0 and letter < 26:
                    cuda.atomic.add(counts, letter, total)
        """,
        "a device function, and four warps for each letter": """
            @cuda.jit(device=True)
            def letter_of(sign):
                if sign >= 97:
                    sign -= 32
                return sign - 65 if 65 <= sign < 91 else -1


            @cuda.jit
            def letters(counts, text):
                own = cuda.shared.array(SIZE, uint32)
                sums = cuda.shared.array(26, uint32)
                thread = cuda.threadIdx.x
                cell = thread
                while cell < SIZE:
                    own[cell] = 0
                    cell += 128
                if thread < 26:
                    sums[thread] = 0
                cuda.syncthreads()
                start, stride = cuda.grid(1), cuda.gridsize(1)
                for i in range(start, text.size, stride):
                    letter = letter_of(int32(text[i]))
                    if letter >= 0:
                        cuda.atomic.add(own, 32 * letter + thread % 32, 1)
                cuda.syncthreads()
                letter, part = thread % 32, thread // 32
                if letter < 26:
                    total = uint32(0)
                    for k in range(8 * part, 8 * part + 8):
                        total += own[32 * letter + (letter + k) % 32]
                    cuda.atomic.add(sums, letter, total)
                cuda.syncthreads()
                if thread < 26:
                    cuda.atomic.add(counts, thread, sums[thread])
        """,
    },
    "remainders": {
        "slices": [
            (CLEARS, "own[3 * thread : 3 * thread + 3] = 0"),
        ],
        "a line that clears": [
            (CLEARS, "for k in range(thread, 256, 96): own[k] = 0"),
            (
                "cuda.syncthreads()\n    if thread < 64:",
                "cuda.syncthreads_or(0)\n    if thread < 64:",
            ),
        ],
        "thread by thread": [
            (
                CLEARS,
                "own[thread] = own[thread + 96] = 0\n"
                "    if thread < 64: own[thread + 192] = 0",
            ),
        ],
    },
    "sixteen_at_once": {
        "every second thread adds up": [
            (
                "if thread < 64:\n",
                "if thread % 2 == 0:\n        thread //= 2\n",
            )
        ],
        "a loop over the words": """
            @cuda.jit
            def sixteen_at_once(counts, words):
                own = cuda.shared.array((64, 32), uint32)
                thread, lane = cuda.threadIdx.x, cuda.laneid
                for k in range(thread // 32, 64, 4):
                    own[k, lane] = 0
                cuda.syncthreads()
                i = 4 * cuda.grid(1)
                while i < words.size:
                    for word in load4(words, i):
                        for byte in range(4):
                            value = (word >> (8 * byte)) % 256 // 4
                            cuda.atomic.add(own, (value, lane), 1)
                    i += 4 * cuda.gridsize(1)
                cuda.syncthreads()
                if thread >= 64:
                    return
                total = uint32(0)
                for turn in range(32):
                    total += own[thread, thread + turn & 31]
                cuda.atomic.add(counts, thread, total)
        """,
        "two lanes for each count": """
            @cuda.jit
            def sixteen_at_once(counts, words):
                own = cuda.shared.array(CELLS, uint32)
                sums = cuda.shared.array(64, uint32)
                thread, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
                for cell in range(thread, CELLS, 128):
                    own[cell] = 0
                cuda.syncthreads()
                for group in range(cuda.grid(1), words.size // 4, cuda.gridsize(1)):
                    p, q, r, s = load4(words, 4 * group)
                    for shift in (26, 18, 10, 2):
                        cuda.atomic.add(own, (p >> shift & 63) * 32 + lane, 1)
                        cuda.atomic.add(own, (q >> shift & 63) * 32 + lane, 1)
                        cuda.atomic.add(own, (r >> shift & 63) * 32 + lane, 1)
                        cuda.atomic.add(own, (s >> shift & 63) * 32 + lane, 1)
                cuda.syncthreads()
                value, first = thread // 2, 16 * (thread % 2)
                total = int32(0)
                for k in range(first, first + 16):
                    total += int32(own[32 * value + (value + k) % 32])
                total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 1)
                if thread % 2 == 0:
                    sums[value] = total
                cuda.syncthreads()
                if thread < 64:
                    cuda.atomic.add(counts, thread, sums[thread])
        """,
        "a device function for a word": """
            @cuda.jit(device=True)
            def count(own, word, lane):
                for _ in range(4):
                    cuda.atomic.add(own, (word & 255) >> 2 << 5 | lane, 1)
                    word >>= 8


            @cuda.jit
            def sixteen_at_once(counts, words):
                own = cuda.shared.array(CELLS, uint32)
                thread = cuda.threadIdx.x
                for k in range(CELLS // 128):
                    own[128 * k + thread] = 0
                cuda.syncthreads()
                for i in range(4 * cuda.grid(1), words.size, 4 * cuda.gridsize(1)):
                    four = load4(words, i)
                    count(own, four[0], thread & 31)
                    count(own, four[1], thread & 31)
                    count(own, four[2], thread & 31)
                    count(own, four[3], thread & 31)
                cuda.syncthreads()
                total = uint32(0)
                cell, half = thread % 64, thread // 64
                for k in range(16 * half, 16 * half + 16):
                    total += own[32 * cell + (cell + k) % 32]
                cuda.syncthreads()
                own[thread] = total
                cuda.syncthreads()
                if half == 0:
                    cuda.atomic.add(counts, cell, total + own[64 + thread])
        """,
    },
}

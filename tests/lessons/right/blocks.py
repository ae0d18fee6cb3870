"""Those of lessons 13 to 15 and 19: tiles, banks, barriers, blocks."""

ANSWERS = {
    "reverse": {
        "by the end": [
            (
                "j = a.size - first - count + thread",
                "j = a.size - (first + count) + thread",
            )
        ],
        "by the other end": [
            (
                "j = a.size - first - count + thread",
                "j = thread + (a.size - count - first)",
            )
        ],
        "by the last": [
            (
                "j = a.size - first - count + thread",
                "j = a.size - 1 - (first + count - 1 - thread)",
            )
        ],
    },
    "pool": {
        "the element alone first": [
            (
                "found = tile[thread]\n        for k in range(1, REACH + 1):",
                "found = tile[thread + REACH]\n        for k in range(REACH):",
            ),
        ],
        "a clamp on both sides": [
            (
                "if first + cell < a.size:\n"
                "            tile[cell] = a[max(first + cell, 0)]",
                "tile[cell] = a[min(max(first + cell, 0), a.size - 1)]",
            ),
        ],
        "a name for the index": [
            (
                "tile[cell] = a[max(first + cell, 0)]",
                "here = max(first + cell, 0)\n            tile[cell] = a[here]",
            ),
        ],
    },
    "turn_rows": {
        "the size first": [("[$skip * size:]", "[size * $skip:]")],
        "by the other array": [("[$skip * size:]", "[$skip * wide.size:]")],
        "to its end": [("[$skip * size:]", "[$skip * size:($skip + 1) * size]")],
    },
    "sort_records": {
        "two comparisons": [
            (
                "before = (tile[other] == key) & (other < col)\n"
                "        place += before | (tile[other] < key)",
                "if tile[other] < key or (tile[other] == key and other < col):\n"
                "            place += 1",
            ),
        ],
        "a name of the block": [
            (
                "row, col = cuda.blockIdx.x, cuda.threadIdx.x",
                "row = cuda.blockIdx.x\n    col = cuda.grid(1) - row * size",
            )
        ],
        "both sides": [
            (
                "before = (tile[other] == key) & (other < col)\n"
                "        place += before | (tile[other] < key)",
                "its = tile[other]\n"
                "        place += (its <= key) if other < col else (its < key)",
            ),
        ],
    },
    "life": {
        "a sum of nine": [
            ("around -= alive\n", ""),
            (
                "around in (2, 3) if alive else around in $born",
                "around - alive in (2, 3) if alive else around in $born",
            ),
        ],
        "a return": [
            (
                "if row < rows and col < cols:",
                "if row >= rows or col >= cols:\n        return\n    if True:",
            )
        ],
        "columns first": [
            (
                "for dy in range(3):\n        for dx in range(3):",
                "for dx in range(3):\n        for dy in range(3):",
            ),
        ],
    },
    "turn_float64": {
        "a matrix of its own": [
            (
                "if y < rows and x < cols:",
                "one = a[cuda.blockIdx.x]\n    if y < rows and x < cols:",
            ),
            ("= a[cuda.blockIdx.x, y, x]", "= one[y, x]"),
        ],
        "a swizzle": [
            ("(32, 33)", "(32, 32)"),
            ("tile[y, x] = a", "tile[y, x ^ y] = a"),
            ("= tile[x, y]", "= tile[x, y ^ x]"),
        ],
        "by columns": [
            ("tile[y, x] = a", "tile[x, y] = a"),
            ("= tile[x, y]", "= tile[y, x]"),
        ],
    },
    "half_block": {
        "a flat tile": [
            ("(16, 16), $type)", "256, $type)"),
            ("tile[y, x ^ y]", "tile[16 * y + (x ^ y)]"),
            ("tile[x, y ^ x]", "tile[16 * x + (y ^ x)]"),
        ],
        "a rotation": [
            ("tile[y, x ^ y]", "tile[y, (x + y) % 16]"),
            ("tile[x, y ^ x]", "tile[x, (y + x) % 16]"),
        ],
        "a condition before": [
            (
                "if left + y < cols and top + x < rows:",
                "inside = left + y < cols and top + x < rows\n    if inside:",
            ),
        ],
    },
    "swizzle": {
        "a rotation": [
            ("tile[row, lane ^ row] = a", "tile[row, (lane + row) % 32] = a"),
            ("so_far = tile[lane, lane]", "so_far = tile[lane, lane % 32]"),
            ("tile[lane, k ^ lane])", "tile[lane, (k + lane) % 32])"),
            ("tile[lane, k ^ lane] =", "tile[lane, (k + lane) % 32] ="),
            ("= tile[row, lane ^ row]", "= tile[row, (lane + row) % 32]"),
        ],
        "from nothing": [
            (
                "so_far = tile[lane, lane]\n        for k in range(1, 32):",
                "so_far = tile[lane, 0 ^ lane]\n        for k in range(32):",
            ),
        ],
        "a cell in a name": [
            (
                "so_far = $op(so_far, tile[lane, k ^ lane])\n"
                "            tile[lane, k ^ lane]",
                "cell = k ^ lane\n            so_far = $op(tile[lane, cell], so_far)\n"
                "            tile[lane, cell]",
            ),
        ],
    },
    "bitonic": {
        "loops of shifts": [
            (
                "run = 2\n    while run <= 64:\n        step = run // 2",
                "for k in range(1, 7):\n        run = 1 << k\n        step = run >> 1",
            ),
            ("        run *= 2\n", ""),
        ],
        "the upper thread": [
            ("if thread < other:", "if not thread & step:"),
        ],
        "the direction in a name": [
            (
                "if ($wrong_way) == (thread & run == 0):",
                "up = thread & run == 0\n                if up == ($wrong_way):",
            ),
        ],
    },
    "shift": {
        "a condition": [
            (
                "taken = a[(thread + $step) % a.size]",
                "taken = a[(thread + $step) % len(a)]",
            )
        ],
        "from the end": [
            ("a[(thread + $step) % a.size]", "a[(thread + $step) % a.size - a.size]")
        ],
        "the block's size": [("% a.size]", "% cuda.blockDim.x]")],
    },
    "early_return": {
        "a name for the condition": [
            (
                "if i < a.size:\n        tile",
                "mine = i < a.size\n    if mine:\n        tile",
            ),
            ("if i < a.size:\n        a[i]", "if mine:\n        a[i]"),
        ],
        "by the count": [
            ("if i < a.size:\n        tile", "if thread < here:\n        tile"),
            ("if i < a.size:\n        a[i]", "if thread < here:\n        a[i]"),
        ],
        "a clamp": [
            (
                "if i < a.size:\n        tile[thread] = a[i]",
                "tile[thread] = a[min(i, a.size - 1)]",
            ),
        ],
    },
    "largest": {
        "a barrier that says how many": [
            (
                "while half > 0:\n        cuda.syncthreads()",
                "while half > 0:\n        cuda.syncthreads_count(1)",
            ),
        ],
        "a barrier that votes": [("cuda.syncthreads()", "cuda.syncthreads_or(thread)")],
        "a barrier that asks": [("cuda.syncthreads()", "cuda.syncthreads_and(1)")],
    },
    "block_scan": {
        "a condition around the sum": [
            ("tile[thread] += taken", "tile[thread] = tile[thread] + taken"),
        ],
        "its own sum in a register": [
            (
                "tile[thread] = a[i] if i < a.size else $type(0)",
                "total = a[i] if i < a.size else $type(0)\n    tile[thread] = total",
            ),
            ("tile[thread] += taken", "total += taken\n        tile[thread] = total"),
            ("out[i] = tile[thread]", "out[i] = total"),
        ],
        "steps as powers": [
            (
                "step = 1\n    while step < $block:",
                "for k in range(30):\n        step = 1 << k\n"
                "        if step >= $block:\n"
                "            break",
            ),
            ("        step *= 2\n", ""),
        ],
    },
    "relay": {
        "by the round": [
            ("    turn = 0\n", ""),
            (
                "i = first + thread",
                "turn = first // 64 % 2\n        i = first + thread",
            ),
            ("        turn = 1 - turn\n", ""),
        ],
        "a flip of bits": [("turn = 1 - turn", "turn ^= 1")],
        "one row of cells": [
            ("(2, 64), $type)", "128, $type)"),
            ("tile[turn, thread]", "tile[64 * turn + thread]"),
            (
                "tile[turn, right] $sign tile[turn, left]",
                "tile[64 * turn + right] $sign tile[64 * turn + left]",
            ),
        ],
    },
    "scan": {
        "a register": [
            ("tile[thread] += taken", "own += taken\n            tile[thread] = own"),
            ("carry + tile[thread]", "carry + own"),
        ],
        "while": [
            (
                "for first in range(0, a.size, $block):\n        i = first + thread",
                "first = -$block\n    while first + $block < a.size:\n"
                "        first += $block\n        i = thread + first",
            ),
        ],
        "the carry in the first cell": [
            (
                "        cuda.syncthreads()\n        carry += tile[$last]",
                "        cuda.syncthreads()\n        last = tile[$block - 1]\n"
                "        carry = last + carry",
            ),
        ],
    },
    "equalise": {
        "while": [
            (
                "for other in range(level + 1):\n        at_most += counts[other]",
                "other = level\n    while other >= 0:\n"
                "        at_most += counts[other]\n"
                "        other -= 1",
            ),
        ],
        "the block's size": [
            (
                "range(level, a.size, $levels):\n        cuda",
                "range(level, len(a), cuda.blockDim.x):\n        cuda",
            ),
        ],
        "a product in a name": [
            (
                "counts[level] = $last * at_most // a.size",
                "share = at_most * $last\n    counts[level] = share // a.size",
            ),
        ],
    },
    "dot": {
        "by warps": [
            (
                "half = $half\n    while half > 0:\n        cuda.syncthreads()",
                "half = $block >> 1\n    while half:\n        cuda.syncthreads()",
            ),
        ],
        "a product in a name": [
            ("total += a[i] * b[i]", "product = b[i] * a[i]\n        total += product"),
        ],
        "while": [
            (
                "for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):\n"
                "        total += a[i] * b[i]",
                "i = cuda.grid(1)\n    while i < b.size:\n"
                "        total += a[i] * b[i]\n"
                "        i += 4 * $block",
            ),
        ],
    },
    "highest": {
        "the value from before": [
            (
                "cuda.atomic.$update(out, 0, tile[0])",
                "before = cuda.atomic.$update(out, 0, tile[0])",
            ),
        ],
        "a name for the cell": [
            (
                "cuda.atomic.$update(out, 0, tile[0])",
                "cell = 0\n        cuda.atomic.$update(out, cell, tile[cell])",
            ),
        ],
        "a variable": [
            (
                "cuda.atomic.$update(out, 0, tile[0])",
                "found = tile[thread]\n        cuda.atomic.$update(out, 0, found)",
            ),
        ],
    },
    "message": {
        "a new value for the flag": [
            ("cuda.atomic.add(flag, 0, 1)", "cuda.atomic.exch(flag, 0, 1)"),
        ],
        "equal to 0": [
            ("cuda.atomic.add(flag, 0, 0) < 1", "cuda.atomic.add(flag, 0, 0) == 0"),
        ],
        "the product by the reader's side": [
            ("box[i] = $times * a[i]", "box[i] = a[i] * $times"),
        ],
    },
    "sums_of_all": {
        "the fence by all threads, too": [
            ("cuda.syncthreads()\n    if column", "cuda.threadfence()\n    "
             "cuda.syncthreads()\n    if column"),
        ],
        "by the rows of the parts": [
            ("range(cuda.gridDim.x)", "range(parts.shape[0])"),
        ],
        "counting from one": [
            ("cuda.atomic.add(finished, 0, 1)", "cuda.atomic.add(finished, 0, 1) + 1"),
            ("ticket == cuda.gridDim.x - 1", "ticket == cuda.gridDim.x"),
        ],
    },
    "last_block": {
        "set back for the next launch, by the number of parts": [
            ("cuda.gridDim.x - 1", "len(parts) - 1"),
            (
                "out[0] = whole",
                "out[0] = whole\n            cuda.atomic.exch(finished, 0, 0)",
            ),
        ],
        "beginning with the first part": [
            (
                "whole = $type(0)\n            for i in range(parts.size):",
                "whole = parts[0]\n            for i in range(1, parts.size):",
            ),
        ],
        "counting from one": [
            (
                "ticket = cuda.atomic.add(finished, 0, 1)",
                "ticket = cuda.atomic.add(finished, 0, 1) + 1",
            ),
            ("ticket == cuda.gridDim.x - 1", "ticket == cuda.gridDim.x"),
        ],
    },
}

"""Those of lesson 35: tiles over an edge, and sums in pieces."""

ANSWERS = {
    "rows_of_any_length": {
        "what is left of the row": (
            ("inside = at + x < length", "inside = x < length - at"),
        ),
        "the end of the row": (
            ("inside = at + x < length", "inside = first + at + x < first + length"),
        ),
        "the other way round": (
            ("inside = at + x < length", "inside = not (at + x >= length)"),
        ),
    },
    "sums_in_pieces": {
        "a tree from the near ones": """
            @cuda.jit
            def sums_in_pieces(parts, a, pieces):
                sums = cuda.shared.array(64, $type)
                x, piece, row = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
                each = ((a.shape[1] + 63) // 64 + pieces - 1) // pieces
                total = $type(0)
                for tile in range(each):
                    at = 64 * (piece * each + tile) + x
                    if at < a.shape[1]:
                        total += a[row, at]
                sums[x] = total
                step = 1
                while step < 64:
                    cuda.syncthreads()
                    if x < 32 // step:
                        sums[2 * step * x] += sums[2 * step * x + step]
                    step *= 2
                cuda.syncthreads()
                if x == 0:
                    parts[row, piece] = sums[0]
        """,
        "two warps": """
            @cuda.jit
            def sums_in_pieces(parts, a, pieces):
                sums = cuda.shared.array(2, $type)
                x, piece, row = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
                length = -(-(-(-a.shape[1] // 64)) // pieces) * 64
                total, at = $type(0), piece * length + x
                while at < a.shape[1] and at < piece * length + length:
                    total += a[row, at]
                    at += 64
                for step in (16, 8, 4, 2, 1):
                    total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
                if x % 32 == 0:
                    sums[x // 32] = total
                cuda.syncthreads()
                if x == 0:
                    parts[row, piece] = sums[0] + sums[1]
        """,
        "atomics in the block": """
            @cuda.jit
            def sums_in_pieces(parts, a, pieces):
                whole = cuda.shared.array(1, $type)
                x, piece, row = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockIdx.y
                tiles = (a.shape[1] + 63) // 64
                length = (tiles + pieces - 1) // pieces * 64
                if x == 0:
                    whole[0] = 0
                cuda.syncthreads()
                total = $type(0)
                for k in range(0, length, 64):
                    at = piece * length + k + x
                    total += a[row, at] if at < a.shape[1] else $type(0)
                cuda.atomic.add(whole, 0, total)
                cuda.syncthreads()
                if x == 0:
                    parts[row, piece] = whole[0]
        """,
    },
}

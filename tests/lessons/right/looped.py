"""Those of lesson 36: loops that are written otherwise."""

ANSWERS = {
    "lean_loop": {
        "an index without a sign": """
            @cuda.jit
            def lean_loop(out, a):
                col = uint32(cuda.grid(1))
                if col >= out.size:
                    return
                row, rows, total = uint32(0), uint32(a.shape[0]), $start
                while row < rows:
                    total = $step
                    row = uint32(row + uint32(1))
                out[col] = total
        """,
        "a break": """
            @cuda.jit
            def lean_loop(out, a):
                col = cuda.grid(1)
                if col < out.size:
                    row, total = 0, $start
                    while True:
                        if row >= len(a):
                            break
                        total = $step
                        row += 1
                    out[col] = total
        """,
        "64 bits without a sign": """
            @cuda.jit
            def lean_loop(out, a):
                col = uint64(cuda.grid(1))
                row, rows, total = uint64(0), uint64(a.shape[0]), $start
                if col < out.size:
                    while row < rows:
                        total = $step
                        row += uint64(1)
                    out[col] = total
        """,
    },
}

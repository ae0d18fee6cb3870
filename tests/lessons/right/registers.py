"""More of lessons 02 to 12: what threads keep in registers."""

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
}

"""More of lesson 29: places that are counted by votes."""

ANSWERS = {
    "ranks_by_ballot": {
        "the lanes that differ": [
            ("peers = uint32(ALL)", "others = uint32(0)"),
            (
                "peers &= ones if mine else ~ones",
                "others |= ~ones if mine else ones",
            ),
            ("uint32(peers & cuda", "uint32(~others & cuda"),
        ],
        "the first lane leads": [("range(4)", "(3, 2, 1, 0)")],
        "by matching": [
            (
                "    peers = uint32(ALL)\n"
                "    for k in range(4):\n"
                "        mine = digit >> k & 1\n"
                "        ones = uint32(cuda.ballot_sync(ALL, mine))\n"
                "        peers &= ones if mine else ~ones\n",
                "    peers = uint32(cuda.match_any_sync(ALL, int32(digit & 15)))\n",
            ),
        ],
    },
    "stable_partition": {
        "a vote of the others": [
            (
                "before, total = cuda.popc(uint32(votes & cuda.lanemask_lt())), 0",
                "early = cuda.popc(uint32(~votes & cuda.lanemask_lt()))\n"
                "    before, total = lane - early, 0",
            ),
        ],
        "warp by warp": [
            (
                "for k in range(8):\n        if k < warp:\n"
                "            before += counts[k]\n        total += counts[k]",
                "for k in range(warp):\n        before += counts[k]\n"
                "    for k in range(8):\n        total += counts[k]",
            ),
        ],
        "one store": [
            (
                "if late:\n"
                "        out[min(first + 256, a.size) - total + before] = value\n"
                "    elif i < a.size:\n"
                "        out[first + thread - before] = value",
                "place = first + thread - before\n"
                "    if late:\n"
                "        place = min(first + 256, a.size) - total + before\n"
                "    if i < a.size:\n"
                "        out[place] = value",
            ),
        ],
    },
}

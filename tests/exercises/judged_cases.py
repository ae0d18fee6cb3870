"""Changes of a specimen's answer, and the reason that the judge gives for each."""

BARRIER = "cuda.syncthreads()"
GUARD = "if i < a.size:\n        out"
ALWAYS = "if True:\n        out"
STORE = "tile[t] = a[i]"
SPARE = "if i < a.size: a[i] = 0"
SUM = "tile[t] + tile[t + 1]"
EARLY = "if i >= a.size:\n        return\n    "

CASES = {  # what is changed in the answer, and the reason
    "nothing": (None, []),
    "a construct that no kernel may have": ("refused", [SUM, "sorted(a)[i]"]),
    "a name that does not exist": ("refused", [SUM, "tiles[t]"]),
    "too much shared memory": ("refused", ["+ 1", "+ 60000"]),
    "no barrier": ("race", [BARRIER, "pass"]),
    "no barrier, and no guard": ("race", [BARRIER, "pass", GUARD, ALWAYS]),
    "a return before the barrier": ("barrier", [STORE, f"{EARLY}{STORE}"]),
    "a barrier in a branch": ("barrier", [BARRIER, f"if i < a.size: {BARRIER}"]),
    "lanes that are there by chance": (
        "barrier",
        [BARRIER, f"mask = cuda.activemask() | 1\n    {BARRIER}; cuda.syncwarp(mask)"],
    ),
    "no guard": ("bounds", [GUARD, ALWAYS]),
    "an index of -1": ("bounds", ["tile[t] = a[i] if", "tile[t] = a[i - 1] if"]),
    "an index from the end": (
        None,
        ["tile[t] = a[i] if", "tile[t] = a[i - a.size] if"],
    ),
    "an index from the end, and its mirror": (
        None,
        [
            GUARD,
            GUARD.replace("out", "j = a.size - i\n        out"),
            "out[i]",
            "out[-j]",
        ],
    ),
    "a cell that nobody writes": ("uninitialised", ["if t == 0:", "if t == 99:"]),
    "the output is read": ("uninitialised", [SUM, f"out[i] * 0 + {SUM}"]),
    "a shuffle from lanes that left": (
        "uninitialised",
        [SUM, f"{SUM} + 0 * cuda.shfl_down_sync(1, tile[t], 1)"],
    ),
    "an endless loop": ("timeout", [GUARD, "while i < a.size:\n        out"]),
    "the input is written": ("writes_input", [GUARD, f"{SPARE}\n    {GUARD}"]),
    "constants": ("constant", ["a[i] if i < a.size else 0", "0", SUM, "7"]),
    "a constant of a kernel that loads": ("wrong", [SUM, "7"]),
    "a size that is known": ("tail", [GUARD, GUARD.replace(":", " and a.size > 63:")]),
    "a bound that the listed sizes keep": (
        "larger",
        [GUARD, GUARD.replace("out", "if i < 300:\n            out")],
    ),
    "a difference": ("wrong", [SUM, "tile[t] - tile[t + 1]"]),
    "an error of a thread": ("wrong", [SUM, f"{SUM}\n        assert i < 9"]),
    "loads without the tile": ("over_budget:loads", [SUM, f"{SUM} + 0 * a[i]"]),
    "two barriers": ("over_budget:barriers", [BARRIER, f"{BARRIER}\n    {BARRIER}"]),
    "idle turns": (
        "over_budget:work",
        [SUM, f"{SUM}\n        for k in range(30):\n            t += k * i"],
    ),
}

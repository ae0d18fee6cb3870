"""Random kernels on a GPU and in the emulator.

    python -m tests.on_gpu.random_kernels 2500 --first 5000 --out part.json
    python -m tests.on_gpu.random_kernels --join part.json other.json
    python -m tests.on_gpu.random_kernels --show 5017       # or --shrink 5017

Each kernel runs in the emulator in two orders and in a plain launch, with the same
inputs; all arrays must be equal bit for bit. Without a GPU the emulator is compared
with itself. Kernels are compiled as Numba does by default, which contracts a
product and a sum to one operation (FMA): not modelled, but most of the data are halves
and quarters, whose products are exact. `--join` writes to `tests/recorded/`.
"""

import argparse
import json
from collections import Counter
from datetime import date
from functools import partial
from pathlib import Path

from helpers import device
from helpers.measuring.timing import versions
from tests.on_gpu.worker_pool import answers
from tests.paths import RECORDED
from tests.specimens.random_kernels.launches import faults
from tests.specimens.random_kernels.program import program
from tests.specimens.random_kernels.shrink import shrunk

COMMAND = "python -m tests.on_gpu.random_kernels"
STICKY = "CudaAPIError", "CUDA_ERROR"  # after these a process's context is of no use


def main():
    given = arguments()
    if given.join:
        text = dumped(joined(given.join))
        return (RECORDED / "random_kernels.json").write_text(text, encoding="utf-8")
    if given.show is not None:
        return print(program(given.show, given.without).text)
    if given.shrink is not None:
        return print_smaller(program(given.shrink, given.without))
    seeds = range(given.first, given.first + given.count)
    ask = partial(answer, without=given.without)
    found = {}
    for seed, told in answers(ask, seeds, given.processes, given.seconds):
        found[seed] = told
        if len(found) % 100 == 0:
            bad = sum(bool(one["faults"]) for one in found.values())
            print(f"{len(found)} kernels, {bad} differ", flush=True)
    result = summary(found)
    print(as_text(result))
    if given.out:
        Path(given.out).write_text(dumped(result), encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=600)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=540, help="begin none after")
    parser.add_argument("--without", type=names, default=(), help="features, by commas")
    parser.add_argument("--out", help="a JSON file")
    parser.add_argument("--join", nargs="+", metavar="FILE")
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--shrink", type=int, metavar="SEED")
    return parser.parse_args()


def print_smaller(failing):
    """Print each smaller program that fails, the least one last."""
    for smaller in shrunk(failing):
        print(f"\n{smaller}\n{smaller.count(chr(10)):,} lines", flush=True)


def names(text):
    return tuple(text.split(","))


def answer(seed, without=()):
    """What one kernel's launches gave, and whether the process can go on."""
    made = program(seed, without)
    found = faults(made)
    return {
        "faults": found,
        "features": sorted(made.features),
        "values": 2 * sum(array.size for array in made.arrays()),
        "broken": any(word in text for text in found for word in STICKY),
    }


def summary(found):
    """What was run and what differs, with the features of the kernels that do."""
    differ = {seed: one["faults"] for seed, one in sorted(found.items())}
    differ = {str(seed): faults for seed, faults in differ.items() if faults}
    kernels = Counter(name for one in found.values() for name in one["features"])
    return {
        "command": COMMAND,
        "gpu": device.name,
        "date": date.today().isoformat(),
        "versions": versions(),
        "seeds": [min(found), max(found)] if found else [],
        "kernels": len(found),
        "launches": 3 * len(found),
        "values": sum(one["values"] for one in found.values()),
        "features": dict(sorted(kernels.items())),
        "differ": differ,
        "suspects": suspects(found, kernels),
    }


def suspects(found, kernels):
    """Features that are commoner among the kernels that differ, most so first."""
    bad = {seed: one for seed, one in found.items() if one["faults"]}
    with_it = Counter(name for one in bad.values() for name in one["features"])
    usual = len(bad) / max(1, len(found))
    more = {name: with_it[name] - usual * kernels[name] for name in with_it}
    return {
        name: [with_it[name], kernels[name], *seeds_of(name, bad)]
        for name in sorted(more, key=more.get, reverse=True)
        if more[name] > 1
    }


def seeds_of(name, bad):
    return [seed for seed, one in sorted(bad.items()) if name in one["features"]][:5]


def as_text(result):
    """A short summary: counts, suspects with seeds, and what the first seeds tell."""
    lines = [
        f"{result['kernels']:,} kernels on {result['gpu']}, {result['launches']:,} "
        f"launches, {result['values']:,} values, {len(result['differ'])} kernels differ"
    ]
    for name, (bad, all_, *seeds) in list(result["suspects"].items())[:25]:
        lines.append(f"  {bad:4} of {all_:4} with {name}: seeds {seeds}")
    kinds = {}
    for seed, told in result["differ"].items():
        kinds.setdefault(told[0][:60], []).append((seed, told))
    for same in list(kinds.values())[:60]:
        seed, told = same[0]
        lines.append(f"{len(same):4} like seed {seed}: {' | '.join(told)[:400]}")
    return "\n".join(lines)


def joined(files):
    """Several runs as one record."""
    parts = [json.loads(Path(file).read_text(encoding="utf-8")) for file in files]
    total = {**parts[-1], "seeds": [], "differ": {}}
    for key in ("kernels", "launches", "values"):
        total[key] = sum(part[key] for part in parts)
    features = sum((Counter(part["features"]) for part in parts), Counter())
    total["features"] = dict(features)
    for part in parts:
        total["differ"] |= part["differ"]
        of_several = isinstance(part["seeds"][0], list)
        total["seeds"] += part["seeds"] if of_several else [part["seeds"]]
    total.pop("suspects", None)
    return total


def dumped(result):
    return json.dumps(result, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    main()

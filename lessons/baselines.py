"""Records what others reach, on a machine with an NVIDIA GPU, CuPy and nvcc.

    python -m lessons.baselines             all groups
    python -m lessons.baselines journeys    one of them, beside what was recorded before

cuBLAS, kernels in CUDA C++ and those of the lessons, all in one process and by turns;
the results become `helpers/recorded/<gpu>/baselines.json`. Each result is checked
first. What fails is named and left out, and the file is written after each group. The
rungs of ladders are not among them: `python -m lessons.ladders` records those.
"""

import argparse
import ast
import os
import sys
import time
from functools import cached_property
from pathlib import Path

os.environ["NVIDIA_TF32_OVERRIDE"] = "0"    # before cuBLAS is loaded

import numpy as np
from numba import cuda, uint32

from thirty_two_lanes.core.device import device
from helpers.measuring import store
from helpers.measuring.timing import circumstances, summary
from lessons.journeys import journeys

COMMAND = "python -m lessons.baselines"
LESSONS = Path(__file__).resolve().parent
COLD_BYTES = 2**30      # more than any L2 cache holds, and than the host queues meanwhile
ROUNDS = 30
SOURCE = LESSONS / "baselines.cu"


def main(arguments=None):
    """Measure, group by group, and write what there is; return the exit status."""
    known = groups()
    chosen = parser(known).parse_args(arguments).groups or list(known)
    if not device.has_gpu:
        print("baselines are recorded on a GPU, and there is none", file=sys.stderr)
        return 1
    bench = Bench(keep=set(chosen) != set(known))
    for name in chosen:
        bench.attempt(f"group {name}", lambda name=name: known[name](bench))
        bench.write()
    return 1 if bench.failed else 0


def parser(known):
    """The command line."""
    new = argparse.ArgumentParser(COMMAND, description="Records what others reach.")
    new.add_argument("groups", nargs="*", choices=[*known, []], metavar="group")
    return new


class Bench:
    """Pieces of work that take turns on the GPU, and their results so far."""

    def __init__(self, keep=False, quiet=False):
        self.quiet = quiet
        # what other groups recorded on this GPU before stays
        before = store.read(store.file_of(device.name, "baselines")) if keep else {}
        self.baselines, self.failed = dated(before), []
        self.compiler = before.get("compiler", "")

    @cached_property
    def cupy(self):
        import cupy

        return cupy

    @cached_property
    def cold(self):
        return self.cupy.empty(COLD_BYTES, np.uint8)

    @cached_property
    def kernels(self):
        self.compiler, found = compiled(self.cupy)
        return found

    def attempt(self, name, work):
        """Do some work, or report why it failed and go on."""
        try:
            return work()
        except Exception as error:
            self.failed.append(f"{name}: {error}")
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)

    def run(self, works):
        """Check each work, then measure all by turns: {name: (launch, check, sizes)}."""
        good = {}
        for name, (launch, right, sizes) in works.items():
            if self.attempt(name, lambda r=right, go=launch: self.verify(go, r)):
                good[name] = launch, sizes
        times = {name: [] for name in good}
        for turn in range(ROUNDS + 3):
            for name, (launch, _) in good.items():
                took = self.time_us(launch)
                if turn >= 3:       # the clocks are up
                    times[name].append(took)
        for name, (_, sizes) in good.items():
            values = {**summary(times[name]), **sizes}
            self.baselines[name] = values
            if not self.quiet:
                print(f"{name}: {values['median_us']:,.1f} µs")

    def verify(self, launch, right):
        launch()
        self.cupy.cuda.Device().synchronize()
        if not right():
            raise ValueError("the result is wrong")
        return True

    def time_us(self, launch):
        """The time of one launch with cold caches, on the default stream."""
        start, end = (self.cupy.cuda.Event() for _ in range(2))
        self.cold.fill(0)       # while it runs, the host queues what follows
        start.record()
        launch()
        end.record()
        end.synchronize()
        return 1000 * self.cupy.cuda.get_elapsed_time(start, end)

    def write(self):
        found = {
            "command": COMMAND,
            "compiler": self.compiler,
            "failed": self.failed,
            "baselines": self.baselines,
        }
        values = self.circumstances() | found
        store.write(store.file_of(device.name, "baselines"), values)

    def circumstances(self):
        """Where, when and with which versions all this is measured."""
        here = circumstances()
        return here | {"versions": here["versions"] | self.versions()}

    def versions(self):
        runtime = self.cupy.cuda.runtime
        return {
            "cupy": self.cupy.__version__,
            "cuda": runtime.runtimeGetVersion(),
            "driver": runtime.driverGetVersion(),
            "cpu": processor(),
        }


def dated(found):
    """What was recorded before, each with its day."""
    known = found.get("baselines", {})
    return {name: {"date": found["date"]} | values for name, values in known.items()}


def processor():
    """The CPU on which loops are timed, by its own name."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    names = [it.partition(":")[2].strip() for it in lines if it.startswith("model name")]
    return names[0] if names else "unknown"


def compiled(cupy):
    """The twins in CUDA C++: by nvcc, or where there is none by NVRTC."""
    source = SOURCE.read_text("utf-8")
    names = "naive_64", "naive_32", "tiled_64", "tiled_32"
    for backend, options in (("nvcc", ("-O3",)), ("nvrtc", ())):
        try:
            module = cupy.RawModule(code=source, backend=backend, options=options)
            found = {name: module.get_function(name) for name in names}
        except Exception as error:
            print(f"{backend}: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        return " ".join([backend, *options]), found
    raise RuntimeError("neither nvcc nor NVRTC compiles the kernels")


def lesson_kernels(lesson):
    """What a lesson defines: its imports, kernels, functions and capital names."""
    file = next(LESSONS.glob(f"{lesson}_*.py"))
    wanted = ast.ImportFrom, ast.Import, ast.FunctionDef, ast.Assign
    tree = ast.parse(file.read_text("utf-8"))
    tree.body = [
        node
        for node in tree.body
        if isinstance(node, wanted)
        and (not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]).isupper())
    ]
    names = {"__name__": file.stem}
    exec(compile(tree, str(file), "exec"), names)   # noqa: S102
    return names


# ---------------------------------------------------------------- the works


def products(n, bench):
    """Products of n × n matrices."""
    cupy, ours, loops = bench.cupy, lesson_kernels("23"), lesson_kernels("36")
    a, b = (cupy.random.random((n, n), dtype=np.float32) for _ in range(2))
    c = cupy.zeros_like(a)
    expected = cupy.matmul(a.astype(np.float64), b.astype(np.float64))
    arguments = [cuda.as_cuda_array(it) for it in (c, a, b)]
    stream, launch = cuda.default_stream(), ((n // 32, n // 32), (32, 32))

    def right():
        good = bool(cupy.allclose(c, expected, rtol=1e-4, atol=0))
        c.fill(np.nan)
        return good

    def numba(kernel):
        return lambda: kernel[launch[0], launch[1], stream](*arguments)

    def native(name, size):
        values = (c, a, b, size(n), size(n), size(n))
        return lambda: bench.kernels[name](*launch, values)

    works = {
        "cuBLAS": lambda: cupy.dot(a, b, out=c),
        "Numba naive plain": numba(ours["multiply"]),
        "Numba naive": numba(loops["make_while"](uint32)),
        "CUDA C++ naive": native("naive_32", np.uint32),
        "CUDA C++ naive, 64-bit": native("naive_64", np.int64),
        "Numba tiled plain": numba(ours["make_tiled"](32)),
        "Numba tiled": numba(loops["make_tiled"](uint32)),
        "CUDA C++ tiled": native("tiled_32", np.uint32),
        "CUDA C++ tiled, 64-bit": native("tiled_64", np.int64),
    }
    sizes = {"flops": 2 * n**3}
    return {f"{name} {n}": (work, right, sizes) for name, work in works.items()}


def ragged(bench, m=228, k=240, n=112):
    """The library's product of matrices whose sides are no multiples of a tile."""
    cupy = bench.cupy
    a = cupy.random.random((m, k), dtype=np.float32)
    b = cupy.random.random((k, n), dtype=np.float32)
    c = cupy.zeros((m, n), np.float32)
    expected = cupy.matmul(a.astype(np.float64), b.astype(np.float64))

    def right():
        return bool(cupy.allclose(c, expected, rtol=1e-4, atol=0))

    name, sizes = f"cuBLAS {m} × {k} × {n}", {"flops": 2 * m * k * n}
    return {name: (lambda: cupy.dot(a, b, out=c), right, sizes)}


def cpu(bench, n=1024, runs=3):
    """Three loops on one core, compiled: in each order, and over each layout of b."""
    random, ours = np.random.default_rng(0), lesson_kernels("23")
    a, b = random.random((2, n, n), dtype=np.float32)
    works = {
        f"CPU {n}": (ours["multiply_on_cpu"], b),
        f"CPU {n}, b by columns": (ours["multiply_on_cpu"], np.asfortranarray(b)),
        f"CPU {n}, rows only": (ours["multiply_by_rows"], b),
    }
    for name, (multiply, factor) in works.items():
        c, times = np.full_like(a, np.nan), []
        for _ in range(1 + runs):   # the first compiles
            start = time.perf_counter()
            multiply(c, a, factor)
            times.append(1e6 * (time.perf_counter() - start))
        if not np.allclose(c, a @ b, rtol=1e-3):
            raise ValueError(f"the result of {name} is wrong")
        bench.baselines[name] = {**summary(times[1:]), "flops": 2 * n**3}


def there_and_back(bench):
    """Loops on the CPU, and a kernel between two copies."""
    ours = lesson_kernels("01")
    found = journeys(ours, (ours["N"], ours["MANY"]))
    bench.baselines |= found
    for name, values in found.items():
        print(f"{name}: {values['median_us']:,.1f} µs")


def whole_sums(bench, n=2**24, blocks=528):
    """The sum of as many ints by each way in which blocks can meet, and its parts alone."""
    cupy, ours = bench.cupy, lesson_kernels("20")
    a = cupy.random.randint(0, 100, n).astype(np.int32)
    out, finished, parts = (cupy.zeros(size, np.int32) for size in (1, 1, blocks))
    stream = cuda.default_stream()

    def go(kernel, *arguments, blocks=blocks):
        views = [cuda.as_cuda_array(it) for it in arguments]
        launch = kernel[blocks, 256, stream]
        return lambda: launch(*views)

    def right(found):
        good = int(found.sum()) == int(a.sum())
        for it in out, finished, parts:
            it.fill(0)
        return good

    first, second = (
        go(ours["sum_parts"], parts, a),
        go(ours["sum_parts"], out, parts, blocks=1),
    )
    works = {
        "parts alone": (first, parts),
        "an atomic of each block": (go(ours["sum_by_atomics"], out, a), out),
        "a second launch": (lambda: (first(), second()), out),
        "the last block": (go(ours["sum_by_last"], out, parts, finished, a), out),
        "a barrier of the grid": (go(ours["sum_after_all"], out, parts, a), out),
    }
    sizes = {"bytes": 4 * n}
    return {
        f"whole sum, {name}": (work, lambda found=found: right(found), sizes)
        for name, (work, found) in works.items()
    }


def groups() -> dict:
    """What is measured together: its name, and a function of a Bench."""
    return {
        "ragged": lambda bench: bench.run(
            ragged(bench) | ragged(bench, 1025, 1025, 1025)
        ),
        "1024": lambda bench: bench.run(products(1024, bench)),
        "CPU": cpu,
        "journeys": there_and_back,
        "meetings": lambda bench: bench.run(whole_sums(bench)),
    }


if __name__ == "__main__":
    sys.exit(main())

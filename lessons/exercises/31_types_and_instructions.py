"""Exercises of lesson 31: which types has a line, and which instructions?"""

from math import ceil

import numpy as np

from helpers.exercises.arguments import numbers
from helpers.exercises import sources
from helpers.exercises.exercise import Fix, Out, Predict, SpeedUp, Write
from thirty_two_lanes.frontend.inference import typed_ir
from thirty_two_lanes.frontend.argument_types import argument_types


class WhichType(Predict):
    """In a kernel `v` is a `float32`, `n` a `uint32`, and `i` is `cuda.grid(1)`, an
    `int64`. Which types do these expressions have in Numba?

    $lines

    Answer with a dictionary from the expression, a string, to the name of its type.
    """

    stars, points = 1, 3
    options = "float32", "float64", "int64", "uint32", "uint64"
    choices = {
        "expressions": (
            ("v * 2.5", "v ** 2", "v * i", "n + 1", "uint32(i)"),
            ("v / 3", "math.sqrt(v)", "max(v, 0)", "n - 1", "uint32(n // 7)"),
            ("1 / v", "float32(v * 2.5)", "v * n", "n * n", "v * float32(n)"),
        )
    }

    hints = {
        "wrong": (
            "Which two types meet in the expression, and which third one can hold "
            "both?",
            "A plain `1` is an int64, and `2.5` a float64. A float32 that meets an "
            "int64, a uint32 or a float64 makes a float64; two integers make one of "
            "64 bits, unsigned if both are. But a conversion gives what it is called, "
            "and a root or a whole power, such as `v ** 2`, keeps the float's type.",
            "Put the expression into a kernel of one line, with `x` of float32, and "
            "see what `emulate` warns of, or the types that `assemble` shows.",
        )
    }

    @property
    def lines(self):
        return ", ".join(f"`{it}`" for it in self.expressions)

    def truth(self):
        lines = [f"r{k} = {it}" for k, it in enumerate(self.expressions)]
        total = " + ".join(f"r{k}" for k in range(len(lines)))
        start = ["def typed(out, x, n):", "i = cuda.grid(1)", "v = x[i]"]
        text = "\n    ".join([*start, *lines, f"out[0] = {total}"])
        kernel = sources.kernel_of(f"@cuda.jit\n{text}", "typed")
        x = np.zeros(1, np.float32)
        types = argument_types(kernel, [x, x, np.uint32(1)])
        found = typed_ir(kernel.py_func, types).types
        return {
            it: str(found[f"r{k}"]) for k, it in enumerate(self.expressions)
        }

    def belief(self, floats, integers):
        """What somebody predicts who goes by the letter that is there."""
        return {
            it: floats if "v" in it else integers for it in self.expressions
        }

    why = (
        "Both sides of an operator count: a plain number is an int64 or a float64, "
        "and a conversion by name, or a power, has a rule of its own."
    )
    wrong = {
        "as in arrays of NumPy": lambda self: self.belief("float32", "uint32"),
        "as in Python": lambda self: self.belief("float64", "int64"),
        "a float64 wherever there is a float": lambda self: self.belief(
            "float64", "uint32"
        ),
        "64 bits for whole numbers alone": lambda self: self.belief(
            "float32", "int64"
        ),
    }


class NoFloat64(Fix):
    """The kernel gives what it should: 0 below 0, 1 above 1, and a smooth step in
    between. But `assemble` finds float64 in it, from a single number. Which one? Change
    one line.
    """

    stars, points, any_block = 1, 2, True
    choices = {
        "slip": ("float32(0)", "float32(3)", "float32(1)", "float32(2)"),
    }
    even, ragged = (256, 512), (1, 63, 130)
    lines, budget, work = 1, {"lines": 1, "float64": 0}, 2

    def inputs(self, rng, n):
        x = rng.uniform(-1, 2, n).astype(np.float32)
        return {"out": Out(n), "x": x, "n": np.uint32(n)}

    def launch(self, n):
        return ceil(n / 128), 128

    def spec(self, x):
        t = np.clip(x, 0, 1)
        return t * t * (3 - 2 * t)

    @property
    def bare(self):
        return self.slip.removeprefix("float32(").removesuffix(")")

    @property
    def line(self):
        if self.bare in "01":
            return "t = min(max(x[i], float32(0)), float32(1))"
        return "out[i] = t * t * (float32(3) - float32(2) * t)"

    @property
    def slipped(self):
        return self.bare.join(self.line.rsplit(self.slip, 1))

    @property
    def pointed(self):
        return f"{self.bare}.0".join(self.line.rsplit(self.slip, 1))

    @property
    def cast(self):
        name, value = self.slipped.split(" = ")
        return f"{name} = float32({value})"

    fault = "$line", "$slipped"
    answer = """
        @cuda.jit
        def no_float64(out, x, n):
            \"\"\"Each thread computes the smooth step of its element.\"\"\"
            i = uint32(cuda.grid(1))
            if i < n:
                t = min(max(x[i], float32(0)), float32(1))
                out[i] = t * t * (float32(3) - float32(2) * t)
    """
    wrong = {
        "no guard": ("bounds", "if i < n:", "if True:"),
        "a guard that keeps one out": ("wrong", "i < n", "i + uint32(1) < n"),
        "another number": ("wrong", "float32(3)", "float32(2)"),
        "the wrong function inside": ("wrong", "min(max(", "max(max("),
        "no clamp": (
            "wrong",
            "min(max(x[i], float32(0)), float32(1))",
            "x[i]",
        ),
        "with a point": ("over_budget:float64", "$line", "$pointed"),
        "a cast of the result": ("over_budget:float64", "$line", "$cast"),
        "moved elsewhere": (
            "over_budget:lines",
            "t = min(",
            "u = x[i]\n        t = min(",
        ),
        "both lines": (
            "over_budget:lines",
            """
            @cuda.jit
            def no_float64(out, x, n):
                \"\"\"Each thread computes the smooth step of its element.\"\"\"
                i = uint32(cuda.grid(1))
                if i < n:
                    u = max(x[i], float32(0))
                    t = min(u, float32(1))
                    v = float32(3) - float32(2) * t
                    out[i] = t * t * v
            """,
        ),
    }
    hints = {
        "over_budget:float64": (
            "Ask `assemble` for the type of `t`. Which line is the first with float64?",
            "A Python number beside a `float32` makes the expression float64, a whole "
            "number too, and also within `min` and `max`.",
            "One number of the kernel stands there without its `float32(…)`.",
        ),
    }


class Fahrenheit(SpeedUp):
    """Convert temperatures from Celsius to $scale. The kernel is right, but it
    computes in float64, divides, and spends many instructions on 64-bit addresses
    and indices. `n` is the number of elements, a `uint32`.
    """

    stars, points = 2, 3
    choices = {"scale": ("Fahrenheit", "Rømer"), "threads": (128, 256)}
    even, ragged = (512, 1024), (1, 31, 257, 5000)
    budget = {"float64": 0, "calls": 0, "instructions": 20}
    work = 2

    def inputs(self, rng, n):
        celsius = numbers(rng, np.float32, -40, 125, n)
        return {"out": Out(n), "celsius": celsius, "n": np.uint32(n)}

    def launch(self, n):
        return ceil(n / self.threads), self.threads

    def spec(self, celsius):
        return celsius * self.times / self.by + self.zero

    @property
    def times(self):
        return {"Fahrenheit": 9, "Rømer": 21}[self.scale]

    @property
    def by(self):
        return {"Fahrenheit": 5, "Rømer": 40}[self.scale]

    @property
    def zero(self):
        return {"Fahrenheit": 32, "Rømer": 7.5}[self.scale]

    given = """
        @cuda.jit
        def fahrenheit(out, celsius, n):
            \"\"\"Each thread that has a temperature converts it.\"\"\"
            i = cuda.grid(1)
            if i < n:
                out[i] = celsius[i] * $times / $by + $zero
    """
    answer = """
        @cuda.jit
        def fahrenheit(out, celsius, n):
            \"\"\"Each thread that has a temperature converts it.\"\"\"
            i = uint32(cuda.grid(1))
            if i < n:
                out[i] = celsius[i] * float32($times / $by) + float32($zero)
    """
    wrong = {
        "no guard": ("bounds", "if i < n:", "if True:"),
        "the guard lets one too many in": ("bounds", "i < n", "i <= n"),
        "the guard keeps one out": ("wrong", "i < n", "i + uint32(1) < n"),
        "1,024 at most": ("tail", "i < n:", "i < n and i < 1024:"),
        "the quotient upside down": ("wrong", "$times / $by", "$by / $times"),
        "the zero is left out": ("wrong", " + float32($zero)", ""),
        "the zero is scaled as well": (
            "wrong",
            "celsius[i] * float32($times / $by) + float32($zero)",
            "(celsius[i] + float32($zero)) * float32($times / $by)",
        ),
        "converts in place": (
            "writes_input",
            "out[i] = celsius[i]",
            "celsius[i] = celsius[i] * float32(1)\n        out[i] = celsius[i]",
        ),
        "a factor without a type": (
            "over_budget:float64",
            "float32($times / $by)",
            "($times / $by)",
        ),
        "narrow too late": (
            "over_budget:float64",
            "celsius[i] * float32($times / $by) + float32($zero)",
            "float32(celsius[i] * ($times / $by) + $zero)",
        ),
        "divides": (
            "over_budget:calls",
            "float32($times / $by)",
            "float32($times) / float32($by)",
        ),
        "an index of 64 bits": (
            "over_budget:instructions",
            "uint32(cuda.grid(1))",
            "cuda.grid(1)",
        ),
    }
    hints = {
        "over_budget:float64": (
            "Which numbers of the last line have no type of their own?",
            "A Python number is a float64, and what it is combined with becomes one.",
            "Write each constant as `float32(…)`. What is inside the brackets may be "
            "computed: it is known before the kernel starts.",
        ),
        "over_budget:calls": (
            "What does the line divide, and by what?",
            "No instruction divides two floats: the compiler calls a routine for it.",
            "The quotient of two constants is a constant. Multiply by it.",
        ),
        "over_budget:instructions": (
            "Which type has `i`, and how many instructions of the report compute where "
            "something is?",
            "An `int64` takes two registers, and each access asks whether the index is "
            "below zero.",
            "Make `i` a `uint32` once, where it is computed.",
        ),
    }


class Calendar(Write):
    """Split a time in seconds into hours, minutes and seconds; here, an hour has $hour
    minutes and a minute $minute seconds. All numbers are `uint32`, `n` is how many there
    are.
    """

    stars, points = 2, 4
    choices = {"minute": (60, 90, 100), "hour": (60, 50)}
    even, ragged = (512, 256), (1, 31, 129, 2000)
    budget, work = {"instructions": 32}, 2

    def inputs(self, rng, n):
        time = rng.integers(0, 2**32, n).astype(np.uint32)
        time[n // 2 :: 100] = 2**32 - 1
        outputs = {
            name: Out(n, np.uint32) for name in ("hours", "minutes", "seconds")
        }
        return {**outputs, "time": time, "n": np.uint32(n)}

    def launch(self, n):
        return ceil(n / 128), 128

    def spec(self, time):
        minutes, seconds = np.divmod(time, self.minute)
        hours, minutes = np.divmod(minutes, self.hour)
        return hours, minutes, seconds

    answer = """
        @cuda.jit
        def calendar(hours, minutes, seconds, time, n):
            \"\"\"Each thread splits one time.\"\"\"
            i = uint32(cuda.grid(1))
            if i < n:
                minute = uint32(time[i] // uint32($minute))
                hour = uint32(minute // uint32($hour))
                hours[i] = hour
                minutes[i] = minute - hour * uint32($hour)
                seconds[i] = time[i] - minute * uint32($minute)
    """
    wrong = {
        "no guard": ("bounds", "if i < n:", "if True:"),
        "the guard lets one too many in": ("bounds", "i < n", "i <= n"),
        "the remainders swapped": (
            "wrong",
            "minutes[i] =",
            "seconds[i] =",
            "seconds[i] = time",
            "minutes[i] = time",
        ),
        "float32 on the way": (
            "wrong",
            "uint32(time[i] // uint32($minute))",
            "uint32(float32(time[i]) / float32($minute))",
        ),
        "signed on the way": (
            "wrong",
            "time[i] // uint32($minute)",
            "int32(time[i]) // int32($minute)",
        ),
        "forgets the seconds": (
            "wrong",
            "seconds[i] = time[i]",
            "minute = time[i]",
        ),
        "takes the time itself apart": (
            "writes_input",
            "seconds[i] = time[i] - minute * uint32($minute)",
            "time[i] -= minute * uint32($minute)\n        seconds[i] = time[i]",
        ),
        "an index of 64 bits": (
            "over_budget:instructions",
            "uint32(cuda.grid(1))",
            "cuda.grid(1)",
        ),
        "a division for each output": (
            "over_budget:instructions",
            """
            @cuda.jit
            def calendar(hours, minutes, seconds, time, n):
                \"\"\"Each thread splits one time, as it would be in Python.\"\"\"
                i = uint32(cuda.grid(1))
                if i < n:
                    hours[i] = time[i] // ($minute * $hour)
                    minutes[i] = time[i] // $minute % $hour
                    seconds[i] = time[i] % $minute
            """,
        ),
        "a division of floats": (
            "over_budget:instructions",
            "time[i] // uint32($minute)",
            "time[i] / $minute",
        ),
    }
    hints = {
        "over_budget:instructions": (
            "How often does your kernel divide, a remainder included?",
            "Dividing a whole number by a constant takes a product and a shift. A "
            "remainder takes that quotient again, a product and a difference.",
            "Keep each quotient in a variable, and get the remainder from it with a "
            "product and a difference; let each index and number be a `uint32`.",
        ),
    }

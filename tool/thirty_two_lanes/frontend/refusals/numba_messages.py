"""Patterns in the messages of Numba's errors, and the sentence that replaces each."""

_SHAPE = (
    "the shape of a shared or local array must be a number known when the kernel is "
    "compiled: a literal, or a global or closure variable on its own. Compute "
    "`TILE + 1` outside the kernel and give it a name; an argument of the kernel is "
    "not known yet"
)
_ELEMENTWISE = (
    "in a kernel, an operator takes one element of an array, not the whole array: "
    "`c[i] = a[i] + b[i]`"
)
_OPERATORS = (
    r"add|subtract|multiply|(?:true_|floor_)?divide|remainder|power|negative|bitwise_\w+"
)
_NO_TRY = (
    "`try`, `with` and `yield` do not exist in kernels: test for the case with `if`"
)
_OPERATOR = r"\b(?:i?add|i?sub|i?mul|truediv|floordiv|mod|pow|lt|le|gt|ge|eq|ne)\("

# (pattern, sentence): names that are wrong, which are looked for first
NAMES = [
    (
        r"(?:module|type object) '([\w.]+)' has no attribute '(\w+)'",
        r"`\1` has no `\2`: is it spelt right?",
    ),
    (
        r"Variable '(\w+)' is not defined",
        r"`\1` has no value yet at this line: give it one before it is used",
    ),
    (r"name '(\w+)' is not defined", r"there is no `\1`: is it spelt right?"),
]

# all else, looked for where the source does not explain the error
SENTENCES = [
    (r"TypingError: (`\w+` takes [^\n]*)", r"\1"),  # an intrinsic's own words
    (
        r"OptionalType\(|'NoneType' object has no attribute 'args'|"
        r"'Optional' object has no attribute 'dtype'",
        "Numba does not take a value that may be None here: write `x + 0` for a "
        "number, unpack a tuple (`a, b = x`), or pass the array itself",
    ),
    (
        r"truth value of an array with more than one",
        "Numba cannot compile a method of a module's array: give the array a name of "
        "its own outside the kernel, `A = module.A`, or pass it as an argument",
    ),
    (
        r">>> (?:i?(?:add|sub|mul|truediv|floordiv|mod|pow)|lt|le|gt|ge|neg)"
        r"\([^\n]*\bnone\b",
        "this line computes with a variable that is still None: begin with a number, "
        "and remember in another variable whether there is a value",
    ),
    (
        r"DictType|LiteralStrKeyDict|\A[^>]*built-in function hash>",
        "dictionaries do not exist in kernels: use a tuple or an array",
    ),
    (
        r"<(?:intrinsic|function) ((?:shfl|match)\w*_sync)",
        r"`cuda.\1` passes numbers of the types int32, int64, float32 and float64: "
        r"convert the value first, as in `int32(x)`",
    ),
    (
        r"<(?:intrinsic|function) ((?:all|any|eq|ballot)_sync)",
        r"`cuda.\1(mask, condition)` takes a mask of 32 bits and a condition or a "
        r"whole number, not a float",
    ),
    (
        r"<intrinsic (syncthreads_(?:and|or|count))",
        r"`cuda.\1` takes a whole number, not a condition or a float: "
        r"`1 if condition else 0`",
    ),
    (
        r"<intrinsic (grid|gridsize)|argument can only be 1, 2, 3",
        r"`cuda.grid` takes the number of axes, written out: 1, 2 or 3",
    ),
    (
        r"stubs\.atomic\.(and_|or_|xor|exch|inc|dec|cas)\b",
        r"`cuda.atomic.\1` works on whole numbers of 32 or 64 bits only (`inc` and "
        r"`dec`: unsigned): give the array such a type",
    ),
    (
        r"stubs\.atomic\.(\w+)",
        r"`cuda.atomic.\1` works on numbers of 32 or 64 bits only: give the array such "
        r"a type",
    ),
    (
        r"\A(?:(?!>>>).)*>>> [^\n]*(?:\[str\]|unicode_type)|"
        r"Cannot cast (?:\S*str|unicode)",
        "this line has a string, and strings can only be printed in a kernel: "
        '`print("thread", i)`',
    ),
    (
        r"getiter with parameters",
        "`for` iterates over `range(n)`, an array or a tuple, not over a number: write "
        "`range(…)`",
    ),
    (
        r"(?:truth|not_)\(array",
        "a whole array is neither true nor false: test one of its elements; or are the "
        "arguments of the launch in another order than the kernel's?",
    ),
    (
        r"setattr: \(array",
        "a kernel cannot set an attribute of an array: store into its elements",
    ),
    (
        r"getitem\(type\(CUDADispatcher\(<function (\w+)",
        r"kernels are launched by the host, not by a kernel: make `\1` a device "
        r"function (`@cuda.jit(device=True)`) and call it",
    ),
    (
        r"Invalid use of type\(CUDADispatcher\(<function (\w+)",
        r"`\1` does not take values of the types that this line passes",
    ),
    (
        r"Invalid use of \w+(?:\([^)]*\))? with parameters",
        "this line calls a number or an array as if it were a function: write an "
        "index in `[…]`, and `a.size` or `cuda.laneid` without parentheses",
    ),
    (
        r"Cannot bind .* to signature '\((.*?)\)'",
        r"this call passes the wrong number of arguments; the function takes: \1",
    ),
    (
        r">>> (?:i?lshift|i?rshift|i?and_|i?or_|i?xor|invert)\(",
        "bit operators work on whole numbers, and this line has a float: `/` makes "
        "one, `//` divides whole numbers, and `int32(…)` converts",
    ),
    (
        r"printing unimplemented",
        "`print` in a kernel takes strings and numbers: print the elements that you "
        "want to see",
    ),
    (
        r"print\(\) function implementation does not support keyword",
        "`print` in a kernel takes no `end=`, `sep=` or `file=`: leave them out",
    ),
    (
        r"maximum recursion depth",
        "Numba cannot compile a function that calls itself with other types each time: "
        "use a loop",
    ),
    (r"Int value is too large", "this number does not fit into 64 bits"),
    (
        r"Cannot unify (.+?) and (.+?) for '\$",
        r"this line gives \1 on one path and \2 on another: give both the same type",
    ),
    (
        r"Type of variable '.*?' cannot be determined",
        "Numba cannot infer the type of what this line computes: split it in two, and "
        "give each variable its value before it is used",
    ),
    (
        r"getitem\((?:Literal)?Tuple\(",
        "a tuple of different types needs an index that is a literal: `t[0]`",
    ),
    (
        r"slice indices must be integers",
        "a slice of a tuple needs literals as its ends: `t[1:3]`",
    ),
    (
        r"'(?:Integer|Float|Boolean|IntegerLiteral)' object has no attribute 'dtype'",
        "this line uses a number as an array: are the arguments in the right order?",
    ),
    (
        r"<function (?:shared|local)\.array.*?>>> array\([^,\n]*\)\s",
        "a shared or local array needs a type: `cuda.shared.array(8, float32)`",
    ),
    (r"<function (?:shared|local)\.array|function (?:shared|local)\.array", _SHAPE),
    (
        r"Dim3",
        "`cuda.threadIdx` and the like have three parts: use `.x`, `.y` or `.z`",
    ),
    (
        r"[gs]etitem\(array\(\w+, (\d)d[^)]*\), UniTuple\(\w+ x (\d)\)",
        r"this line gives \2 indices to a \1-dimensional array: did you mean an array "
        r"of another shape?",
    ),
    (
        r"[gs]etitem\(array\([^)]*\), (?:Literal\[)?bool",
        "an index must be a whole number, and this one is a condition, true or false: "
        "test it with `if` above this line",
    ),
    (
        r"setitem\((?:\w+ )?array\(Record",
        "an element of this array is a record: store into its fields, as in "
        "`a[i].x = 1`",
    ),
    (
        r"setitem\((?:Uni|Named)?\w*Tuple\(",
        "the items of a tuple cannot be changed: pass an array",
    ),
    (
        r"[gs]etitem\(none",
        "this line indexes None: pass an array for it",
    ),
    (
        r"tuple index out of range",
        "a tuple has no item at this index: `a.shape` has one number for each axis of "
        "`a`",
    ),
    (
        r"[gs]etitem\(array\([^)]*\), (?:float|UniTuple\(float|Tuple\([^)]*float)",
        "an index must be a whole number, and this one is a float: `//` divides whole "
        "numbers, `int(…)` rounds toward zero",
    ),
    (
        r"[gs]etitem\(array\(\w+, (\d)d[^)]*\), Tuple\(",
        r"this line gives too many indices to a \1-dimensional array: did you mean an "
        r"array of another shape?",
    ),
    (
        r"setitem\(readonly array",
        "this array is read-only: a global array is a constant of the kernel, so pass "
        "it as an argument; of an argument, pass a copy (`array.copy()`)",
    ),
    (
        r"setitem\(array\(\w+, (\d)d, \w\), [^\n]*, array\(",
        "this line stores a whole array where one number fits: give each array as many "
        "indices as it has axes",
    ),
    (
        r"setitem\(array\(([^,]+), \d+d[^)]*\), "
        r"(?:\w+|Literal\[int\]\(\d+\)|UniTuple[^)]*\)), (?!array)",
        r"what this line stores does not fit into an array of \1: an element is one "
        r"number of that type",
    ),
    (
        r"[gs]etitem\((?:Literal\[)?(?:u?int|float|bool|complex|none)\d*",
        "this line indexes a number, not an array: are the arguments of the launch in "
        "the right order?",
    ),
    (
        _OPERATOR + r"(?:[^\n]*, )?UniTuple\(\w+ x (\d)\)",
        r"this line uses \1 numbers as one: unpack them first, as in "
        r"`x, y = cuda.grid(2)`",
    ),
    (
        r">>> (?:i?(?:add|sub|mul|truediv|floordiv|mod|pow)|lt|le|gt|ge|eq|ne|neg)"
        r"\([^\n]*array\(",
        _ELEMENTWISE,
    ),
    (rf"ufunc '(?:{_OPERATORS})'", _ELEMENTWISE),
    (
        r"<class 'range'>\) found for signature:\s*>>> range\((?!array)",
        "`range` takes one, two or three whole numbers: `range(n)`, "
        "`range(start, stop)` or `range(start, stop, step)`",
    ),
    (
        r"<built-in function len>",
        "`len` takes an array or a tuple, and this line passes something else: is it a "
        "number?",
    ),
    (
        r"<built-in function (min|max)>|^>>> (min|max)\(",
        "`min` and `max` take two numbers or more: for the elements of an array, write "
        "a loop",
    ),
    (
        r"Only accept returning of array",
        "a device function can return an array only if that is one of its arguments: "
        "let it store into an array that is passed",
    ),
    (
        r"Cannot cast (?:Uni|Named)?\w*Tuple",
        "this line uses several numbers as one: unpack them first, as in "
        "`x, y = cuda.grid(2)`",
    ),
    (
        r">>> array_(\w+)\(",
        r"`.\1(…)` takes no such values in a kernel: write the loop over the elements",
    ),
    (
        r">>> (?:zip|enumerate|reversed)\(",
        "`zip` and `enumerate` take arrays, tuples and `range(…)`, not a number",
    ),
    (
        r">>> (?!setitem|getitem)(\w+)\(array\(",
        r"`\1` takes one number, not a whole array: give the array an index",
    ),
    (
        r"wrong tuple length for .*?expected (\d+), got (\d+)",
        r"this line unpacks \2 values into \1 names: write one name for each value",
    ),
    (
        r"failed to unpack \S*(?:int|float)",
        "this line unpacks one number as if it were several: `cuda.grid(1)` is one "
        "number, `cuda.grid(2)` two",
    ),
    (
        r"grid(?:size)?\(\) missing 1 required",
        "`cuda.grid` needs the number of axes: 1, 2 or 3",
    ),
    (
        r"(\w+)\(\) missing \d+ required positional arguments?: ([^\n]*)",
        r"this call of `\1` lacks \2",
    ),
    (
        r"((?:load|store|copy)\d\w*)\(\) takes \d+ positional arguments? but",
        r"this call of `\1` passes too many values: an index of several axes is one "
        r"tuple, `(row, col)`, and so are values to be stored",
    ),
    (
        r"(\w+)\(\) takes \d+ positional arguments? but",
        r"this call of `\1` passes too many values",
    ),
    (
        r"function (?:zeros|empty|ones|full|arange|array|sum|max|min)\b",
        "kernels cannot make or add up whole arrays with NumPy: loop over their "
        "elements, and use `cuda.local.array` for a thread's own array",
    ),
    (
        r"NRT required|build_list|list\(",
        "this line needs a new list or array, which kernels cannot make: give each "
        "array as many indices as it has axes, and use `cuda.local.array` for a "
        "thread's own array",
    ),
    (
        r"not supported between instances of 'Array'",
        "`min` and `max` take numbers, not a whole array: loop over its elements",
    ),
    (r"set_try_|exception_match|SETUP_|BEFORE_WITH|terminator_types", _NO_TRY),
    (
        r"'JITCUDACodegen' object has no attribute",
        "a function that calls itself cannot be compiled here: use a loop",
    ),
    (r"STORE_GLOBAL", "a kernel cannot change a global: store into an array"),
    (
        r"pyobject",
        "an array of Python objects cannot go to a GPU: give it a type such as "
        "`np.float32`",
    ),
    (r"KeyError: ([\w.]+)", r"Numba cannot compile \1 for a GPU"),
    (
        r"(?:ufunc '|function 'numpy\.)"
        r"(sqrt|sin|cos|tan|exp|log|floor|ceil|fabs|log2|log10|exp2|tanh|arctan2)'",
        r"`np.\1` on one number does not exist in kernels: use `math.\1`",
    ),
    (
        r"ufunc 'absolute'|function 'numpy\.abs'",
        "`np.abs` on one number does not exist in kernels: use `abs`",
    ),
    (
        r"(?:ufunc '|unsupported NumPy function 'numpy\.)(\w+)'",
        r"`np.\1` on one number does not exist in kernels: write it with operators "
        r"or `math`",
    ),
    (
        r"Untyped global name '(\w+)':.*?<class 'function'>",
        r"`\1` is a plain Python function: put `@cuda.jit(device=True)` above it, and "
        r"kernels can call it",
    ),
    (
        r"OverloadSelector.*?(?:List|Set|Dict)",
        "lists, sets and dictionaries do not exist in kernels: use a tuple or an array",
    ),
    (
        r"Untyped global name '(\w+)':.*?(?:<class '(?:\w+\.)*(\w+)'>|$)",
        r"a kernel cannot use the global `\1` (\2): only numbers, tuples, arrays, "
        r"functions and modules",
    ),
    (
        r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'",
        r"`\2` has no `\1` in a kernel: check its spelling, or write it out",
    ),
    (
        r"Unknown attribute '(\w+)' of type (?:Literal\[)?(\w+)",
        r"values of type \2 have no `\1` in a kernel",
    ),
    (r"(?:try|with|yield|raise).*(?:not supported|unsupported)", _NO_TRY),
    (
        r"Cannot unify (.+?) and (.+?) for '([\w.]+)'",
        r"`\3` is \1 on one path and \2 on another: give it one type",
    ),
    (
        r"[Nn]o implementation of function Function\(<built-in function (\w+)>\) found "
        r"for signature:\s*>>> (\w+\([^\n]*\))",
        r"Numba has no `\1` for these types: \2",
    ),
    (
        r"[Nn]o implementation of function (?:Function\()?<(?:built-in )?function "
        r"(\w+)",
        r"Numba has no `\1` for the types given here",
    ),
    (
        r"[Nn]o implementation of function Function\(<class '(?:[\w.]+\.)?(\w+)'>\)",
        r"`\1` does not take values of the types that this line passes",
    ),
    (
        r"Signature mismatch: \d+ argument types given",
        "this line passes a function or an operator values that it does not take in a "
        "kernel: check their number and their types",
    ),
    (
        r"Compilation is falling back|[Uu]se of unsupported opcode \((\w+)\)",
        r"kernels cannot use this part of Python (\1)",
    ),
]

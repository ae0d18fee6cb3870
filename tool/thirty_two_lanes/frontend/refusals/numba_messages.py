"""What the messages of Numba's errors are replaced by.

A row has a pattern, which may go on in the next line, and its sentence, indented. The
first pattern that is found in a message gives the sentence.
"""

from thirty_two_lanes.frontend.refusals.table import by_pattern

NO_TRY = (
    "`try`, `with` and `yield` do not exist in kernels: test for the case with `if`"
)

# names that are wrong, which are looked for first
NAMES = by_pattern(
    r"""
(?:module|type object) '([\w.]+)' has no attribute '(\w+)'
    `\1` has no `\2`: is it spelt right?
Variable '(\w+)' is not defined
    `\1` has no value yet at this line: give it one before it is used
name '(\w+)' is not defined
    there is no `\1`: is it spelt right?
"""
)

# all else, looked for where the source does not explain the error
SENTENCES = by_pattern(
    r"""
TypingError: (`\w+` takes [^\n]*)
    \1
has no attribute 'get_function_type'
    Numba cannot compile a function with `yield` for a GPU: write its loop in the place
    of this line
OptionalType\(|'NoneType' object has no attribute 'args'|
'Optional' object has no attribute 'dtype'
    Numba does not take a value that may be None here: write `x + 0` for a number,
    unpack a tuple (`a, b = x`), or pass the array itself
truth value of an array with more than one
    Numba cannot compile a method of a module's array: give the array a name of its
    own outside the kernel, `A = module.A`, or pass it as an argument
>>> (?:i?(?:add|sub|mul|truediv|floordiv|mod|pow)|lt|le|gt|ge|neg)\([^\n]*\bnone\b
    this line computes with a variable that is still None: begin with a number, and
    remember in another variable whether there is a value
DictType|LiteralStrKeyDict|\A[^>]*built-in function hash>|
OverloadSelector.*?(?:List|Set|Dict)
    lists, sets and dictionaries do not exist in kernels: use a tuple or an array
<(?:intrinsic|function) ((?:shfl|match)\w*_sync)
    `cuda.\1` passes numbers of the types int32, int64, float32 and float64: convert
    the value first, as in `int32(x)`
<(?:intrinsic|function) ((?:all|any|eq|ballot)_sync|syncthreads_(?:and|or|count))
    `cuda.\1` takes whole numbers: for a condition write `1 if condition else 0`
<intrinsic (grid|gridsize)|argument can only be 1, 2, 3
    `cuda.grid` takes the number of axes, written out: 1, 2 or 3
stubs\.atomic\.(and_|or_|xor|exch|inc|dec|cas)\b
    `cuda.atomic.\1` works on whole numbers of 32 or 64 bits only (`inc` and `dec`:
    unsigned): give the array such a type
stubs\.atomic\.(\w+)
    `cuda.atomic.\1` works on numbers of 32 or 64 bits only: give the array such a
    type
\A(?:(?!>>>).)*>>> [^\n]*(?:\[str\]|unicode_type)|Cannot cast (?:\S*str|unicode)
    this line has a string, and strings can only be printed in a kernel:
    `print("thread", i)`
getiter with parameters
    `for` iterates over `range(n)`, an array or a tuple, not over a number: write
    `range(…)`
(?:truth|not_)\(array
    a whole array is neither true nor false: test one of its elements; or are the
    arguments of the launch in another order than the kernel's?
setattr: \(array
    a kernel cannot set an attribute of an array: store into its elements
getitem\(type\(CUDADispatcher\(<function (\w+)
    kernels are launched by the host, not by a kernel: make `\1` a device function
    (`@cuda.jit(device=True)`) and call it
Invalid use of \w+(?:\([^)]*\))? with parameters
    this line calls a number or an array as if it were a function: write an index in
    `[…]`, and `a.size` or `cuda.laneid` without parentheses
Cannot bind .* to signature '\((.*?)\)'
    this call passes the wrong number of arguments; the function takes: \1
>>> (?:i?lshift|i?rshift|i?and_|i?or_|i?xor|invert)\(
    bit operators work on whole numbers, and this line has a float: `/` makes one,
    `//` divides whole numbers, and `int32(…)` converts
printing unimplemented
    `print` in a kernel takes strings and numbers: print the elements that you want
    to see
print\(\) function implementation does not support keyword
    `print` in a kernel takes no `end=`, `sep=` or `file=`: leave them out
maximum recursion depth
    Numba cannot compile a function that calls itself with other types each time:
    use a loop
Int value is too large
    this number does not fit into 64 bits
Cannot unify (.+?) and (.+?) for '([A-Za-z]\w*)(?:\.\d+)?'
    `\3` is \1 on one path and \2 on another: give it one type, or use two names
Cannot unify (.+?) and (.+?) for '
    this line gives \1 on one path and \2 on another: give both the same type
Type of variable '.*?' cannot be determined
    Numba cannot infer the type of what this line computes: split it in two, and
    give each variable its value before it is used
getitem\((?:Literal)?Tuple\(
    a tuple of different types needs an index that is a literal: `t[0]`
slice indices must be integers
    a slice of a tuple needs literals as its ends: `t[1:3]`
<function (?:shared|local)\.array.*?>>> array\([^,\n]*\)\s
    a shared or local array needs a type: `cuda.shared.array(8, float32)`
<function (?:shared|local)\.array|function (?:shared|local)\.array
    the shape of a shared or local array must be a number known when the kernel is
    compiled: a literal, or a global or closure variable on its own, such as `TILE`
    after `TILE = 32` above the kernel; what belongs to a launch is not known yet
Dim3
    `cuda.threadIdx` and the like have three parts: use `.x`, `.y` or `.z`
[gs]etitem\(array\([^)]*\), (?:Literal\[)?bool
    an index must be a whole number, and this one is a condition, true or false:
    test it with `if` above this line
setitem\((?:\w+ )?array\(Record
    an element of this array is a record: store into its fields, as in `a[i].x = 1`
setitem\((?:Uni|Named)?\w*Tuple\(
    the items of a tuple cannot be changed: pass an array
tuple index out of range
    a tuple has no item at this index: `a.shape` has one number for each axis of `a`
[gs]etitem\(array\([^)]*\), (?:float|UniTuple\(float|Tuple\([^)]*float)
    an index must be a whole number, and this one is a float: `//` divides whole
    numbers, `int(…)` rounds toward zero
[gs]etitem\(array\(\w+, (\d)d[^)]*\), (?:Uni)?Tuple\(
    this line gives too many indices to a \1-dimensional array: did you mean an
    array of another shape?
setitem\(readonly array
    this array is read-only: a global array is a constant of the kernel, so pass it
    as an argument; of an argument, pass a copy (`array.copy()`)
setitem\(array\(\w+, (\d)d, \w\), [^\n]*, array\(
    this line stores a whole array where one number fits: give each array as many
    indices as it has axes
setitem\(array\(([^,]+), \d+d[^)]*\),
 (?:\w+|Literal\[int\]\(\d+\)|UniTuple[^)]*\)), (?!array)
    what this line stores does not fit into an array of \1: an element is one number
    of that type
[gs]etitem\((?:Literal\[)?(?:u?int|float|bool|complex|none)\d*|
'(?:Integer|Float|Boolean|IntegerLiteral)' object has no attribute 'dtype'
    this line indexes a number or None, not an array: are the arguments of the launch
    in the right order?
\b(?:i?add|i?sub|i?mul|truediv|floordiv|mod|pow|lt|le|gt|ge|eq|ne)\(
(?:[^\n]*, )?UniTuple\(\w+ x \d\)|Cannot cast (?:Uni|Named)?\w*Tuple
    this line uses several numbers as one: unpack them first, as in `x, y =
    cuda.grid(2)`
>>> (?:i?(?:add|sub|mul|truediv|floordiv|mod|pow)|lt|le|gt|ge|eq|ne|neg)\(
[^\n]*array\(|
ufunc '(?:add|subtract|multiply|(?:true_|floor_)?divide|
remainder|power|negative|bitwise_\w+)'
    in a kernel, an operator takes one element of an array, not the whole array:
    `c[i] = a[i] + b[i]`
<class 'range'>\) found for signature:\s*>>> range\((?!array)
    `range` takes one, two or three whole numbers: `range(n)`, `range(start, stop)`
    or `range(start, stop, step)`
<built-in function len>
    `len` takes an array or a tuple, and this line passes something else: is it a
    number?
<built-in function (min|max)>|^>>> (min|max)\(
    `min` and `max` take two numbers or more: for the elements of an array, write a
    loop
Only accept returning of array
    a device function, and what makes a view of an array, can return an array only if
    that is one of its arguments: store into an array that is passed, and give an array
    its index directly
>>> array_(\w+)\(
    `.\1(…)` takes no such values in a kernel: write the loop over the elements
>>> (?:zip|enumerate|reversed)\(
    `zip` and `enumerate` take arrays, tuples and `range(…)`, not a number
>>> (?!setitem|getitem)(\w+)\(array\(
    `\1` takes one number, not a whole array: give the array an index
wrong tuple length for .*?expected (\d+), got (\d+)
    this line unpacks \2 values into \1 names: write one name for each value
failed to unpack \S*(?:int|float)
    this line unpacks one number as if it were several: `cuda.grid(1)` is one
    number, `cuda.grid(2)` two
grid(?:size)?\(\) missing 1 required
    `cuda.grid` needs the number of axes: 1, 2 or 3
(\w+)\(\) missing \d+ required positional arguments?: ([^\n]*)
    this call of `\1` lacks \2
((?:load|store|copy)\d\w*)\(\) takes \d+ positional arguments? but
    this call of `\1` passes too many values: an index of several axes is one tuple,
    `(row, col)`, and so are values to be stored
(\w+)\(\) takes \d+ positional arguments? but
    this call of `\1` passes too many values
function (?:zeros|empty|ones|full|arange|array|sum|max|min)\b
    kernels cannot make or add up whole arrays with NumPy: loop over their elements,
    and use `cuda.local.array` for a thread's own array
NRT required|build_list|list\(
    this line needs a new list or array, which kernels cannot make: give each array
    as many indices as it has axes, and use `cuda.local.array` for a thread's own
    array
set_try_|exception_match|SETUP_|BEFORE_WITH|terminator_types|
(?:try|with|yield|raise).*(?:not supported|unsupported)
    {no_try}
'JITCUDACodegen' object has no attribute
    a function that calls itself cannot be compiled here: use a loop
STORE_GLOBAL
    a kernel cannot change a global: store into an array
pyobject
    an array of Python objects cannot go to a GPU: give it a type such as
    `np.float32`
(?:ufunc '|function 'numpy\.)
(sqrt|sin|cos|tan|exp|log|floor|ceil|fabs|log2|log10|exp2|tanh|arctan2)'
    `np.\1` on one number does not exist in kernels: use `math.\1`
ufunc 'absolute'|function 'numpy\.abs'
    `np.abs` on one number does not exist in kernels: use `abs`
(?:ufunc '|unsupported NumPy function 'numpy\.)(\w+)'
    `np.\1` on one number does not exist in kernels: write it with operators or
    `math`
Untyped global name '(\w+)':.*?<class 'function'>
    `\1` is a plain Python function: put `@cuda.jit(device=True)` above it, and
    kernels can call it
Untyped global name '(\w+)':.*?(?:<class '(?:\w+\.)*(\w+)'>|$)
    a kernel cannot use the global `\1` (\2): only numbers, tuples, arrays,
    functions and modules
Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'
    `\2` has no `\1` in a kernel: check its spelling, or write it out
Unknown attribute '(\w+)' of type (?:Literal\[)?(\w+)
    values of type \2 have no `\1` in a kernel
[Nn]o implementation of function (?:Function\()?
<(?:(?:built-in )?function |class '(?:[\w.]+\.)?)(\w+)
    `\1` does not take values of the types that this line passes
Signature mismatch: \d+ argument types given
    this line passes a function or an operator values that it does not take in a
    kernel: check their number and their types
Compilation is falling back|[Uu]se of unsupported opcode \((\w+)\)
    kernels cannot use this part of Python (\1)
""",
    no_try=NO_TRY,
)

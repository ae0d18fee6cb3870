"""What submissions may try, each as the cells of a notebook.

None of them earns a point, and a right answer in another cell keeps its own.

In one file: whoever adds an attack sees which there are.
"""

HEAD = """\
import math
import numpy as np
from numba import cuda, float32
from helpers import emulate, exercise
"""
RIGHT = """\
@cuda.jit
def mirror(out, a):
    rows, cols = a.shape
    col, row = cuda.grid(2)
    if row < rows and col < cols:
        out[row, cols - 1 - col] = a[row, col]
"""
WRONG = RIGHT.replace("cols - 1 - col", "col")
CHECK = 'task = exercise("mirror")\ntask.check(mirror)'

PATCHES = {  # of what might judge, before a wrong kernel is handed over
    "numpy.testing": "np.testing.assert_allclose = lambda *a, **k: None",
    "numpy's comparisons": "np.array_equal = np.allclose = lambda *a, **k: True",
    "numpy's equality": "np.equal = np.not_equal = lambda *a, **k: True",
    "helpers.check": "import helpers; helpers.check = lambda *a, **k: None",
    "the judge": """\
import helpers.exercises.judging as it
it.LOOKS = (); it.judge = lambda *a, **k: None""",
    "the verdict": """\
import helpers.exercises.verdict as it
it.Verdict.points = 2""",
    "the budget": """\
import helpers.exercises.budgets as it
it.keeps_its_budget = lambda case: None""",
    "numba's jit": """\
real = cuda.jit
def jit(f):
    made = real(f); made.points = 2; return made
cuda.jit = jit""",
    "the packing": """\
import helpers.grading.sandbox.collecting as it
it.packed = lambda answer: {"points": 2, "value": True}""",
    "json": """\
import json
json.dumps = lambda *a, **k: '{"points": 2}'""",
    "marshal and pickle": """\
import marshal, pickle
marshal.loads = pickle.loads = lambda *a: 2""",
    "inspect": """\
import inspect
inspect.getsourcelines = lambda f: (["def mirror(out, a):\\n", "    pass\\n"], 1)""",
    "sys.stdout": """\
import sys
class Yes:
    def write(self, text): return len(text)
    def flush(self): pass
sys.stdout = sys.stderr = Yes()""",
    "builtins": """\
import builtins
builtins.AssertionError = type("Never", (Exception,), {})
builtins.isinstance = lambda *a: True""",
    "isinstance of the builder": """\
import helpers.exercises.rebuilding as it
it.require = lambda *a: None""",
}
KERNELS = {  # handed over in the place of a kernel
    "an object that is equal to all": """\
class Yes:
    def __eq__(self, other): return True
    def __call__(self, *a): return True
mirror = Yes()""",
    "a plain function": "def mirror(out, a):\n    out[:] = a[:, ::-1]",
    "a kernel that imports": """\
@cuda.jit
def mirror(out, a):
    import os
    os.system("touch /tmp/broken_into")""",
    "a kernel with a default that runs": """\
@cuda.jit
def mirror(out, a, x=__import__("os").getpid()):
    out[0, 0] = x""",
    "a decorator that runs": """\
def evil(f):
    import os
    return f
@cuda.jit
@evil
def mirror(out, a):
    out[0, 0] = 1""",
    "a kernel of 50,000 lines": """\
exec(compile("@cuda.jit\\ndef mirror(out, a):\\n" + "    out[0, 0] = 1\\n" * 50_000,
             "<long>", "exec"))""",
    "a source of 50,000 lines": """\
import linecache
text = "@cuda.jit\\ndef mirror(out, a):\\n" + "    out[0, 0] = 1\\n" * 50_000
linecache.cache["<long>"] = (len(text), None, text.splitlines(True), "<long>")
exec(compile(text, "<long>", "exec"))""",
    "parentheses without end": """\
import linecache
text = ("@cuda.jit\\ndef mirror(out, a):\\n    out[0, 0] = "
        + "(" * 5_000 + "1" + ")" * 5_000)
linecache.cache["<deep>"] = (len(text), None, text.splitlines(True), "<deep>")
def f(out, a): pass
f.__code__ = f.__code__.replace(co_filename="<deep>", co_firstlineno=1)
mirror = cuda.jit(f)""",
    "a code object made by hand": WRONG
    + """
f = mirror.py_func
f.__code__ = f.__code__.replace(co_code=b"\\xff" * len(f.__code__.co_code))""",
    "an array of answers": """\
ANSWERS = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
@cuda.jit
def mirror(out, a):
    answers = cuda.const.array_like(ANSWERS)
    col, row = cuda.grid(2)
    if row < a.shape[0] and col < a.shape[1]:
        out[row, col] = answers[row, col]""",
    "an array subclass": """\
class Yes(np.ndarray):
    def __eq__(self, other): return True
ANSWERS = np.zeros((64, 64), np.float32).view(Yes)
@cuda.jit
def mirror(out, a):
    out[0, 0] = cuda.const.array_like(ANSWERS)[0, 0]""",
    "an object array": """\
ANSWERS = np.array([object()] * 4)
@cuda.jit
def mirror(out, a):
    out[0, 0] = ANSWERS[0]""",
    "a kernel that does not end": """\
@cuda.jit
def mirror(out, a):
    i = 0
    while out[0, 0] != 3.25:
        i += 1
    out[0, 0] = i""",
    "a kernel that calls itself": """\
@cuda.jit(device=True)
def more(n):
    return more(n) + 1
@cuda.jit
def mirror(out, a):
    out[0, 0] = more(1)""",
    "a shape whose size wraps around to that of the array": """\
@cuda.jit
def mirror(out, a):
    beyond = a.reshape((2**62 + a.size // 4, 4))
    total = 0.0
    for i in range(9000):
        total += beyond[1_000_000_000 * (i > 6000), 0]
    out[0, 0] = total""",
    "shared memory of negative sizes": """\
SIZES = -2, -8
@cuda.jit
def mirror(out, a):
    mine = cuda.shared.array(SIZES, float32)
    total = 0.0
    for i in range(9000):
        total += mine[1_000_000_000 * (i > 6000), 0]
    out[0, 0] = total""",
    "a name that looks alike": WRONG.replace("mirror", "mirrоr"),
    "the name twice, right and then wrong": RIGHT + "\n" + WRONG,
    "the number of a line without end": f"""\
@cuda.jit
def mirror(out, a):
    out[0, 0] = float('Line {"9" * 4_900}')""",
    "tuples of tuples": "@cuda.jit\ndef mirror(out, a):\n    t = 1, 2\n"
    + "".join(f"    t{n + 1} = t{n} + t{n}\n" for n in range(21)).replace("t0", "t")
    + "    out[0, 0] = t21[0]",
    "another module as numpy": """\
import os
@cuda.jit
def mirror(out, a):
    out[0, 0] = os.getpid()""",
    "points in the value": "mirror = {'points': 2, 'reason': None}",
    "a text": "mirror = 'points: 2'",
    "an endless text": "mirror = 'x' * 10_000_000",
    "nested without end": """\
mirror = ()
for _ in range(100_000):
    mirror = (mirror,)""",
    "a function that nobody calls, and no program can write again": f"""\
import json, os
names = {{"cuda": {{"module": "numba.cuda"}}}}
right = {{"name": "mirror", "source": {RIGHT!r}, "options": {{}}, "names": names}}
more = {{"name": "f", "source": "x = 0x" + "f" * 5_000}}
answers = {{"mirror": {{"kernel": [right, more]}}}}
os.write(902, json.dumps({{"cell": 1, "error": "", "answers": answers}}).encode()
              + b'\\n"done"\\n'); os._exit(0)""",
    "a number without end": "mirror = 10 ** 100_000",
    "a context whose text Numba runs": """\
import numba
@cuda.jit
def mirror(out, a):
    with numba.objmode(y='__import__("os").abort()'):
        y = 1
    out[0, 0] = y""",
    "a named tuple of names that are one to Python": """\
class Pair(tuple): _fields = ("a", "ａ")
mirror = Pair((1, 2))""",
    "half of a character": "mirror = '\\ud800' * 3\nraise ValueError(mirror)",
}
RUNS = {  # what a cell does to the process, the machine or the others
    "os._exit": "import os; os._exit(0)",
    "sys.exit": "import sys; sys.exit(0)",
    "an abort": "import os; os.abort()",
    "a segmentation fault": "import ctypes; ctypes.string_at(0)",
    "a stack overflow": """\
import sys
sys.setrecursionlimit(10**9)
def f(): return f()
f()""",
    "SIGINT ignored": """\
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
while True: time.sleep(1)""",
    "a loop without end": "while True: pass",
    "a loop that catches all": """\
while True:
    try:
        while True: pass
    except BaseException: pass""",
    "a loop at import": """\
open("evil.py", "w").write("while True: pass")
import sys; sys.path.insert(0, "."); import evil""",
    "a fork bomb": """\
import os
while True:
    try: os.fork()
    except OSError: pass""",
    "much output": "import sys\nfor _ in range(300):\n    print('x' * 2**20)",
    "much memory": "held = bytearray(3 * 2**30)",
    "a large file": """\
with open("large", "wb") as file:
    for _ in range(10_000): file.write(bytes(2**20))""",
    "many files": "for i in range(200_000): open(f'f{i}', 'w').write('x')",
    "many files without bytes": """\
import os
for i in range(10**7): os.symlink("x", str(i))""",
    "messages in sockets": """\
import os, socket
held = [os.fork()]
while True:
    try: held += socket.socketpair()
    except OSError: continue
    held[-1].setblocking(False)
    try:
        while True: held[-1].send(bytes(2**16))
    except OSError: pass""",
    "folders within folders": """\
import os
for _ in range(3000): os.mkdir("d"); os.chdir("d")""",
    "memory that processes share": """\
import mmap, os
held = []
while True:
    held.append(mmap.mmap(-1, 2**26)); held[-1].write(bytes(2**26))
    held[-1].madvise(mmap.MADV_DONTNEED)""",
    "files of the course, leased": """\
import fcntl, os
for inner, _, names in os.walk("/grading/course"):
    for name in names:
        file = os.open(os.path.join(inner, name), os.O_RDONLY)
        try: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError: os.close(file)
        else: os._exit(3)""",
    "what the machine has a number of": """\
import ctypes, platform
libc, of = ctypes.CDLL(None), ctypes.c_ulong()
io_setup = {"x86_64": 206, "aarch64": 0}[platform.machine()]
assert libc.syscall(io_setup, 60_000, ctypes.byref(of)) == -1""",
    "a socket of the machine's host": """\
import socket
try: socket.socket(40, socket.SOCK_STREAM).bind((2**32 - 1, 9999))
except OSError: pass
else: import os; os._exit(3)""",
    "a daemon": """\
import os, time
if not os.fork():
    os.setpgrp()
    if not os.fork():
        time.sleep(3600)
    os._exit(0)""",
    "a thread": """\
import threading
def run():
    while True: pass
threading.Thread(target=run).start()""",
    "its parent": """\
import os, signal
os.kill(os.getppid(), signal.SIGKILL)""",
    "all processes": "import os, signal; os.kill(-1, signal.SIGKILL)",
    "its parent, stopped": """\
import os, signal
os.kill(os.getppid(), signal.SIGSTOP)""",
    "its parent, by any signal": """\
import os, signal
for number in range(1, signal.NSIG):
    try: os.kill(os.getppid(), number)
    except OSError: pass""",
    "answers in its parent's place": """\
import os
for process in {1, os.getppid()}:
    for number in (0, 1, 900, 901):
        try: to = os.open(f"/proc/{process}/fd/{number}", os.O_WRONLY)
        except OSError: continue
        os.write(to, b'{"ended": "done", "messages": [], "seconds": 1.0, '
                     b'"cpu_seconds": 1.0, "waited_seconds": 1.0}\\n')""",
    "no answers in its parent's place": """\
import os
for process in {1, os.getppid()}:
    for number in (1, 901):
        try: to = os.open(f"/proc/{process}/fd/{number}", os.O_WRONLY)
        except OSError: continue
        os.write(to, b"3\\n")""",
    "its parent's memory": """\
import os
for name in ("mem", "maps", "environ", "fd"):
    try: open(f"/proc/{os.getppid()}/{name}", "r+b")
    except OSError: pass
    else: os._exit(3)""",
    "file descriptors": """\
import os
for descriptor in range(20):
    try: os.close(descriptor)
    except OSError: pass""",
    "all file descriptors": "import os; os.closerange(0, 2000)",
    "lines to every descriptor": """\
import os
for descriptor in range(3, 1000):
    try: os.write(descriptor, b'{"cell": 1, "error": "", "answers": {}}\\n"done"\\n')
    except OSError: pass""",
    "lines nested without end": """\
import os
line = b'{"cell": 1, "error": "", "answers": {"mirror": ' + b"[" * 900
os.write(902, line + b"]" * 900 + b"}}\\n")""",
    "bytes that are no text": "import os; os.write(902, b'\\xff' * 2**21)",
    "classes without end": """\
import json, os
kinds = [{"named tuple": f"A{n}", "fields": []} for n in range(24_000)]
answer = {"value": {"tuple": [{"tuple": kinds[n::8]} for n in range(8)]}}
line = {"cell": 1, "error": "", "answers": {"mirror": answer}}
os.write(902, json.dumps(line).encode() + b'\\n"done"\\n'); os._exit(0)""",
    "lines that are no messages": """\
import os
os.write(902, b'3\\n[]\\n{"cell": [], "error": 3, "answers": 4}\\nnull\\n')""",
    "a module for the next one": """\
import os, sys
for folder in {"/", "..", "/grading/course", "/dev/shm", *sys.path}:
    try:
        for name in ("csv", "cmath", "antigravity", "helpers", "this"):
            with open(os.path.join(folder, name + ".py"), "w") as file:
                file.write("import os; os._exit(3)")
    except OSError: pass""",
    "limits of its parent": """\
import os, resource
for what, change in {
    "files": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (9, 9)),
    "processors": lambda: os.sched_setaffinity(os.getppid(), [0]),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
}.items():
    try: change()
    except OSError: pass
    else: os._exit(3)""",
    "the folder of all": """\
import os
os.mkdir("../left"); os.chmod("../left", 0); os.chmod("..", 0o555)""",
    "the machine's settings": """\
import os
for name in ("kernel/core_pattern", "vm/overcommit_memory"):
    try: os.close(os.open("/proc/sys/" + name, os.O_WRONLY))
    except OSError: pass
    else: os._exit(3)""",
    "memory that outlives it": """\
import ctypes
libc = ctypes.CDLL(None)
for key in range(1, 9):
    assert libc.shmget(key, 2**28, 0o1600) == -1""",
    "a namespace of its own": """\
import ctypes
assert ctypes.CDLL(None).unshare(0x10000000) == -1""",
    "threads without end": """\
import threading, time
while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()""",
    "threads without end, of a name that is a count": """\
import ctypes, threading, time
ctypes.CDLL(None).prctl(15, b"Threads:\\t1", 0, 0, 0)
threading.stack_size(2**15)
for _ in range(2_000): threading.Thread(target=time.sleep, args=(60,)).start()
time.sleep(60)""",
    "computing without end, and its limit ignored": """\
import resource, signal
for it in (signal.SIGXCPU, signal.SIGPROF, signal.SIGALRM):
    signal.signal(it, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_CPU, (1, 3))
while True: pass""",
    "a module on the path of its own": """\
import sys
open("json.py", "w").write("def dumps(x): return 'null'")
sys.path.insert(0, "."); sys.modules.pop("json"); import json""",
}
EXCUSES = {  # by which a cell may want not to be graded, and no 0
    "a module that is not here, by its word": """\
raise ModuleNotFoundError("No module named 'torch'")""",
    "a module that is not here": "import torch",
    "a module that is not here, in a message": """\
import os
os.write(902, b'{"cell": 1, "answers": {}, '
              b'"error": "ModuleNotFoundError: No module named \\'torch\\'"}\\n')""",
    "its own end": "import os; os.kill(os.getpid(), 9)",
    "its own end, by the number of a thread": """\
import os, threading
it = threading.Thread(target=lambda: os.kill(threading.get_native_id(), 9))
it.start(); it.join()""",
    "its own end, by what it started": """\
import os, time
if not os.fork(): os.kill(os.getppid(), 9)
time.sleep(9)""",
    "a limit of its own, at which the kernel kills": """\
import resource
resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
while True: pass""",
    "notes without a beginning": "import os; os.ftruncate(902, 0); os._exit(0)",
    "notes of one character": "import os; os.pwrite(902, b'x', 0); os._exit(0)",
    "notes that are longer as an answer": """\
import os
os.write(902, b'\\x01' * (2**22 - 9)); os._exit(0)""",
    "a program of no memory": """\
import os, resource
resource.setrlimit(resource.RLIMIT_AS, (4096, 4096))
os.execv("/bin/true", ["true"])""",
    "sleep": "import time; time.sleep(60)",
    "sleep in each cell": """\
import time
while True:
    try: time.sleep(60)
    except BaseException: pass""",
    "sleep, as who waits for a disk": """\
import ctypes, platform, time
clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
if not ctypes.CDLL(None).syscall(clone, 0x4011, 0, 0, 0, 0): time.sleep(60)""",
    "a stop": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "programs without end, each for a moment": """\
import os
for _ in range(8):
    if not os.fork():
        while True:
            os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
while True: pass""",
    "processes without end that nobody collects": """\
import os, signal, time
for _ in range(8):
    if not os.fork():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            if not os.fork():
                end = time.monotonic() + 3
                while time.monotonic() < end: pass
                os._exit(0)
            try: os.wait()
            except OSError: pass
while True: pass""",
    "memory of many processes": """\
import os, time
for _ in range(20):
    if not os.fork(): held = b"x" * (400 * 2**20); time.sleep(20)
time.sleep(20)""",
}
ONLY_ALONE = (  # without a sandbox they end or stop processes of this machine
    *("a fork bomb", "its parent", "all processes", "its parent, stopped"),
    *("its parent, by any signal", "answers in its parent's place"),
    *("no answers in its parent's place", "many files without bytes"),
    *("memory that processes share", "messages in sockets"),
    *("a large file", "many files", "much memory", "a module for the next one"),
    *("the folder of all", "threads without end", "memory of many processes"),
    "threads without end, of a name that is a count",
)
SLOW = (  # each takes seconds, most of them until a limit is met
    "a source of 50,000 lines",
    "a kernel that does not end",
    "tuples of tuples",
    "a stack overflow",
    "SIGINT ignored",
    "a loop without end",
    "a loop that catches all",
    "programs without end, each for a moment",
    "processes without end that nobody collects",
    "a loop at import",
    "many files",
    "much memory",
    "a shape whose size wraps around to that of the array",
    "a limit of its own, at which the kernel kills",
    "computing without end, and its limit ignored",
    *("sleep", "sleep in each cell", "sleep, as who waits for a disk", "a stop"),
)
